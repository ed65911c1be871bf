#!/usr/bin/env python3
"""A program on ranks alone, on threads, and on the processes of mpirun: its collectives, its attention, and ranks that fail, end, are late or differ.

    python3 tests/ranks/mpi/check.py build/dev/tests/ranks_program mpirun

The last line is "N passed, M failed". Standard library only.
"""

import os
import pathlib
import subprocess
import sys
import tempfile
import time

# Open MPI: more ranks than cores, and the user root of containers.
MPIRUN = ["--oversubscribe"]
ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
YIELDS = {"OMPI_MCA_mpi_yield_when_idle": "1"}  # a rank that waits leaves its core to the others, and to other tests
SECONDS = 120  # far above what a run takes: only a program that hangs takes as long

UNCHECKED = {"DIMWISE_RANKS_CHECKS": "0"}
SHORT = {"DIMWISE_RANKS_LIMIT": "1"}
# (mode, settings, code or None for any other than 0, texts of the output; {n} is the number of ranks)
COLLECTIVES = ("collectives", {}, 0, ["all right on {n} ranks"])
GRADIENTS = ("gradients", {}, 0, ["the gradients of one rank on {n} ranks"])
ATTENTION = ("attention", {}, 0, ["attention is right on {n} ranks"])
LAYERS = ("layers", {}, 0, ["all layers right on {n} ranks"])
TRAINING = ("training", {}, 0, ["all steps right on {n} ranks"])
STAGES = ("stages", {}, 0, ["all stages right on {n} ranks"])
SOUND = [COLLECTIVES, GRADIENTS, ATTENTION, LAYERS, TRAINING, STAGES]
THROWS = ("throws", {}, None, ["rank 1 of {n}: no such file"])
# Each rank waits for all others, and may notice one that waits for rank 1 as well before it notices rank 1.
CAUGHT = ("caught", {}, 0, ["caught: no such file", "caught: rank 1 in a reader: no such file (rank ", " waits for rank 1 in all_reduce of 3 float: gradient (all))"])
KILLED = ("killed", UNCHECKED, None, ["rank 1", "signal 9 (Killed)"])
LATE = ("late", UNCHECKED | SHORT, None, ["has waited 1 s for rank 1 in all_reduce of 3 float: gradient"])
ENTERS = ("enters", UNCHECKED, 0, ["caught: no such file", "caught: rank 1 in a reader: no such file (rank 3 waits for rank 1 in all_reduce of 400000 float: gradient (all))"])
ENDS = ("ends", {}, None, ["rank 1 has ended, and rank", "in all_reduce of 3 float: gradient"])
CASES = [
    ("collectives", UNCHECKED, 0, ["all right on {n} ranks"]),
    ("caught", UNCHECKED, *CAUGHT[2:]),
    ("freed", {}, 0, ["caught: no such file", "caught: rank 1 in a reader: no such file (rank 0 waits for rank 1 in permute of float (all))"]),
    ("rejoined", {}, 0, ["caught: no such file", "caught: rank 1 in a reader: no such file (rank 0 waits for rank 1 in permute of float (all))"]),
    ("elsewhere", {}, 0, ["caught: no such file", "caught: rank 1 in a reader: no such file (rank 0 waits for rank 1 in barrier (other))"]),
    ("code", {}, None, []),
    ("throws", UNCHECKED, None, ["rank 1 of {n}: no such file"]),
    ("killed", {}, None, ["rank 1", "signal 9 (Killed)"]),
    ("late", SHORT, None, ["has waited 1 s for rank 1 in all_reduce of 3 float: gradient"]),
    ("differs", {}, None, ["ranks call different collectives: rank", "all_reduce of 3 float: gradient", "rank 1 calls barrier: after the epoch"]),
    ("count", {}, None, ["all_reduce of 4 float: gradient", "rank 1 calls all_reduce of 3 float: gradient"]),
    ("count", UNCHECKED, None, ["ranks disagree: rank"]),
    ("shorter", UNCHECKED, None, ["ranks disagree: rank"]),
    ("ends", {}, None, ["all_reduce of 3 float: gradient", "rank 1 calls barrier: end of the program"]),
]


def run(command, settings):
    """-> code (None after SECONDS), output"""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("DIMWISE_RANKS")} | ROOT | YIELDS | settings
    try:
        done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", timeout=SECONDS)
    except subprocess.TimeoutExpired as expired:
        return None, (expired.stdout or b"").decode(errors="replace") if isinstance(expired.stdout, bytes) else (expired.stdout or "")
    return done.returncode, done.stdout


def problem_of(command, settings, wanted, texts):
    """-> what is wrong with a run; "" if nothing"""
    code, output = run(command, settings)
    if code is None:
        return f"did not end within {SECONDS} s\n{output}"
    if (code != wanted) if wanted is not None else code == 0:
        return f"ended with {code}\n{output}"
    missing = [text for text in texts if text not in output]
    return f"does not say {missing}\n{output}" if missing else ""


def checkpoint_problems(program, mpirun, place):
    """-> (name, problem) of files that 1, 2 and 4 ranks write and read, and of a rank that is killed while it writes"""
    def ways(n):
        return [*([*mpirun, *MPIRUN, "-n", str(n)] if mpirun else []), program], {} if mpirun else {"DIMWISE_RANKS": str(n)}

    for of in ("-stages", ""):
        files = {n: place / f"of_{n}{of}.safetensors" for n in (1, 2, 4)}
        for n, file in files.items():
            command, settings = ways(n)
            yield f"{n} ranks write{of}", problem_of([*command, f"write{of}", str(file)], settings, 0, [f"write{of}: all right on {n} ranks"])
        bodies = {file.read_bytes() for file in files.values() if file.exists()}
        yield f"the files are equal{of}", "" if len(bodies) == 1 and all(file.exists() for file in files.values()) else "they differ"
        for n, m in ((1, 2), (1, 4), (2, 4), (2, 1), (4, 1), (4, 2)):
            command, settings = ways(m)
            yield f"{m} ranks read{of} the file of {n}", problem_of([*command, f"read{of}", str(files[n])], settings, 0, [f"read{of}: all right on {m} ranks"])
    if mpirun:
        command, _ = ways(2)
        yield "the rank that writes is killed", problem_of([*command, "dies", str(files[2])], {}, None, ["rank 0", "signal 25 (File size limit exceeded)"])
        yield "the file is as it was", "" if {files[2].read_bytes()} == bodies else "it has changed"


def main():
    program, *mpirun = sys.argv[1:]
    runs = [("alone", [], {}, 1, SOUND),
            *((f"{n} threads", [], {"DIMWISE_RANKS": str(n)}, n, cases) for n, cases in ((2, SOUND), (4, [*SOUND, THROWS, ENDS, CAUGHT])))]
    if mpirun:
        runs += [(f"mpirun -n {n}", [*mpirun, *MPIRUN, "-n", str(n)], {}, n, cases)
                 for n, cases in ((1, SOUND), (2, [*SOUND, CAUGHT, *CASES]), (4, [*SOUND, THROWS, CAUGHT, ENTERS, KILLED, LATE]))]
    passed = failed = 0
    for name, launcher, settings, n, cases in runs:
        for mode, more, wanted, texts in cases:
            start = time.monotonic()
            problem = problem_of([*launcher, program, mode], settings | more, wanted, [text.replace("{n}", str(n)) for text in texts])
            label = " ".join([name, mode, *(f"{key}={value}" for key, value in more.items())])
            print(f"{label}: {'failed: ' + problem if problem else 'passed'} ({time.monotonic() - start:.1f} s)", flush=True)
            passed, failed = passed + (not problem), failed + bool(problem)
    with tempfile.TemporaryDirectory() as place:
        for name, problem in checkpoint_problems(program, mpirun, pathlib.Path(place)):
            print(f"{name}: {'failed: ' + problem if problem else 'passed'}", flush=True)
            passed, failed = passed + (not problem), failed + bool(problem)
    print(f"{passed} passed, {failed} failed")
    sys.exit(1 if failed or not passed else 0)


if __name__ == "__main__":
    main()
