#!/usr/bin/env python3
"""How far dimwise-predict is off: parts of a transformer layer on 1, 2 and 4 ranks, measured by bench_ranks_steps and predicted from
rates that dimwise-predict measures on the same machine.

    python3 benchmarks/ranks/check_prediction.py --predict build/bench/src/programs/dimwise-predict --bench build/bench/benchmarks/bench_ranks_steps

writes prediction.json and prediction.md into the current folder (--out NAME: another name). --ranks 1,2,4,8: other numbers of ranks.
--seconds S: how long each step is measured. A rate is measured with as many ranks as compute at once: the ranks of the step, at most the
cores. More ranks than cores are predicted from the rates of all cores, and marked.

The steps run as threads of one process (DIMWISE_RANKS), and under mpirun if there is one (--backends threads: only there).

For a machine without compilers: --copy FOLDER copies this script, both programs, and the shared libraries that `ldd` lists for them but the
C library; call `python3 FOLDER/check_prediction.py` there. Programs that link MPI start only where Open MPI is installed: configure those
that are copied elsewhere with -DCMAKE_DISABLE_FIND_PACKAGE_MPI=ON. Standard library only.
"""

import argparse
import json
import os
import pathlib
import platform
import re
import shutil
import subprocess
import sys
import tempfile

CONTEXT, WIDTH, HEADS, HIDDEN = 2048, 512, 8, 2048


class WithoutMpi(Exception):
    pass


def cores():
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def command(backend, ranks, program, arguments):
    """-> (words, environment) that run a program on some ranks"""
    environment = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    environment.pop("DIMWISE_RANKS", None)
    words = [str(program), *map(str, arguments)]
    libraries = [str(program.parent / "lib"), environment.get("LD_LIBRARY_PATH", "")]
    if (program.parent / "lib").is_dir():  # a copy
        environment["LD_LIBRARY_PATH"] = ":".join(filter(None, libraries))
    if backend == "threads":
        return words, {**environment, "DIMWISE_RANKS": str(ranks)}
    return ["mpirun", "--oversubscribe", "--bind-to", "none", "-n", str(ranks), *words], environment


def run(backend, ranks, program, arguments):
    words, environment = command(backend, ranks, program, arguments)
    result = subprocess.run(words, env=environment, capture_output=True, text=True, timeout=600, check=False)
    if backend == "mpi" and "has no backend for them" in result.stderr:
        raise WithoutMpi(program.name)
    if result.returncode != 0:
        sys.exit(f"{' '.join(words)}: exit code {result.returncode}\n{result.stderr}")
    return result.stdout


def lines(text):
    return {entry["step"]: entry for entry in map(json.loads, text.splitlines())}


def check(options, backend):
    """-> a row for each step and number of ranks"""
    sizes = ["--layers", 1, "--d-model", WIDTH, "--heads", HEADS, "--hidden", HIDDEN, "--vocab", 1000, "--context", CONTEXT]
    rows, machines = [], {}
    with tempfile.TemporaryDirectory() as place:
        for ranks in options.ranks:
            busy = min(ranks, cores())
            file = pathlib.Path(place) / f"{busy}.json"
            if not file.exists():
                run(backend, busy, options.predict, [*sizes, "--measure", file, "--seconds", options.seconds / 4])
                machines[busy] = json.loads(file.read_text(encoding="utf-8"))
            predicted = lines(run("threads", 1, options.predict, [*sizes, "--machine", file, "--parts", "--ranks", ranks]))
            measured = lines(run(backend, ranks, options.bench, [options.seconds, CONTEXT, WIDTH, HEADS, HIDDEN]))
            for step, entry in measured.items():
                found, said = entry["seconds"], predicted[step]["seconds"]
                rows.append({"backend": backend, "step": step, "ranks": ranks, "oversubscribed": ranks > cores(), "measured_ms": 1e3 * found,
                             "predicted_ms": 1e3 * said, "off_percent": 100 * (said / found - 1)})
    return rows, machines


def table(rows):
    yield "| ranks as | step | ranks | measured ms | predicted ms | off |"
    yield "|---|---|---|---|---|---|"
    for row in rows:
        many = ", more than cores" if row["oversubscribed"] else ""
        yield (f"| {row['backend']} | {row['step']} | {row['ranks']}{many} | {row['measured_ms']:.2f} | {row['predicted_ms']:.2f} | "
               f"{row['off_percent']:+.0f} % |")


def copy_to(folder, programs):
    """copies what another machine needs"""
    (folder / "lib").mkdir(parents=True, exist_ok=True)
    system = re.compile(r"lib(c|m|dl|rt|pthread|resolv)\.so|ld-linux")
    for name, program in programs.items():
        shutil.copy2(program, folder / name)
        found = subprocess.run(["ldd", program], capture_output=True, text=True, check=True).stdout
        for library in re.findall(r"=> (/\S+)", found):
            if not system.match(pathlib.Path(library).name):
                shutil.copy2(library, folder / "lib")
    shutil.copy2(__file__, folder)
    print(*sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()), sep="\n")


def processor():
    try:
        for line in pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def main():
    here = pathlib.Path(__file__).resolve().parent
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--predict", type=pathlib.Path, default=here / "dimwise-predict")
    parser.add_argument("--bench", type=pathlib.Path, default=here / "bench_ranks_steps")
    parser.add_argument("--ranks", type=lambda text: [int(n) for n in text.split(",")], default=[1, 2, 4])
    parser.add_argument("--seconds", type=float, default=2)
    parser.add_argument("--backends", type=lambda text: text.split(","), default=["threads", "mpi"])
    parser.add_argument("--out", default="prediction")
    parser.add_argument("--copy", type=pathlib.Path)
    options = parser.parse_args()
    if any(HEADS % ranks != 0 for ranks in options.ranks):
        sys.exit(f"--ranks: numbers that divide the {HEADS} heads were expected")
    for program in (options.predict, options.bench):
        if not program.is_file():
            sys.exit(f"{program}: the program does not exist; --predict and --bench name them")
    options.predict, options.bench = options.predict.resolve(), options.bench.resolve()
    if options.copy:
        copy_to(options.copy, {"dimwise-predict": options.predict, "bench_ranks_steps": options.bench})
        return
    rows, machines = [], {}
    for backend in options.backends:
        if backend == "mpi" and not shutil.which("mpirun"):
            print("without mpirun: threads only", file=sys.stderr)
            continue
        try:
            found, rates = check(options, backend)
        except WithoutMpi as program:
            print(f"{program} does not link MPI: threads only", file=sys.stderr)
            continue
        rows += found
        machines[backend] = rates
    result = {"processor": processor(), "cores": cores(), "sizes": {"context": CONTEXT, "d_model": WIDTH, "heads": HEADS, "hidden": HIDDEN},
              "rates": machines, "rows": rows}
    pathlib.Path(options.out + ".json").write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    text = "\n".join([f"{result['processor']}, {result['cores']} cores", "", *table(rows), ""])
    pathlib.Path(options.out + ".md").write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
