"""The program dimwise-errors, as the scripts of this project call it.

The environment variable DIMWISE_ERRORS names it, as the tests do; without it src/programs/errors/errors.cpp is compiled into build/tools once,
and again when it changes. It needs CLI11 (bash tools/setup.sh notebook). Why no kept tool: CMake builds the program for the tests, and scripts
that a user calls without a build folder need it as well. Standard library only. Not a program.
"""

import bisect
import functools
import hashlib
import itertools
import json
import os
import pathlib
import re
import subprocess
import sys

import compile_fail
import compilers

SEPARATOR = "-- the next text --\n"  # no line of a compiler


@functools.cache
def program():
    """-> its path"""
    if os.environ.get("DIMWISE_ERRORS"):
        return os.environ["DIMWISE_ERRORS"]
    root = compilers.ROOT
    sources = [root / "include/dimwise/version.hpp"]
    for folder in ("src/programs/errors", "include/dimwise/support"):
        sources += sorted((root / folder).rglob("*.[hc]pp"))
    key = hashlib.sha256(b"\0".join(path.read_bytes() for path in sources)).hexdigest()[:16]
    place = root / "build/tools" / f"dimwise-errors-{key}"
    found = compilers.find_compilers()
    if not place.exists() and not found:
        sys.exit("dimwise-errors cannot be compiled: no compiler was found")
    if not place.exists():
        with compilers.written(place) as made:
            code, text = found[0].run([compilers.STANDARD, "-O1", "-Iinclude", "src/programs/errors/errors.cpp", "-o", str(made)], root)
        if code != 0:
            sys.exit(f"src/programs/errors/errors.cpp does not compile; bash tools/setup.sh notebook installs what it needs:\n{text}")
    return str(place)


def run(text, *options):
    done = subprocess.run([program(), *options], input=text.encode("utf-8", "surrogateescape"), capture_output=True)
    if done.returncode != 0:
        sys.exit(f"dimwise-errors ends with {done.returncode}: {done.stderr.decode('utf-8', 'replace')}")
    return done.stdout.decode("utf-8", "surrogateescape")


def translate(text, colour=False):
    """What a compiler printed -> the same with the errors of dimwise in words"""
    return run(text, *(["--colour"] if colour else []))


def read_all(texts):
    """-> of each text the errors of dimwise in it, as `dimwise-errors --json` describes them"""
    texts = [text if text.endswith("\n") else text + "\n" for text in texts]
    firsts = list(itertools.accumulate((text.count("\n") + 1 for text in texts), initial=1))  # lines
    found = [[] for _ in texts]
    for one in map(json.loads, run(SEPARATOR.join(texts), "--json").splitlines()):
        found[bisect.bisect(firsts, one["input_line"]) - 1].append(one)
    return found


def said(error):
    return f"{error['message']} ({error['rule']})"


@functools.cache
def table():
    """-> {id: its entry in include/dimwise/support/diagnostics}"""
    return {one["id"]: one for one in json.loads(run("", "--list"))}


def records_of_mistakes(file=None, pattern="", only=None):
    """-> what tools/compile_fail.py --json wrote there, of the cases that match, or of now in the plain variant; `only`: these cases"""
    if file:
        records = json.loads(pathlib.Path(file).read_text(encoding="utf-8"))
        return [one for one in records if re.search(pattern, one["case"]) and (only is None or one["case"] in only)]
    cases = [case for case in compile_fail.load(compilers.ROOT, pattern) if only is None or case.name in only]
    harness = compile_fail.Harness(compilers.ROOT, compilers.find_compilers(), "dimwise/dimwise.hpp", use_pch=True, stores=True)
    return compile_fail.run(harness, cases, compilers.JOBS, variants=("plain",))[2]
