#!/usr/bin/env python3
"""Compiles the module src/dimwise.cppm with clang 19, a program that imports it, and one with a shape mistake, which has one error.

    check.py <folder to build in> <compiled library of dimwise> [<clang++>]

The headers of others that the library includes must all stand in the module's global fragment: one that is missing would be exported as a
part of dimwise. Exits with 77 without clang 19.
"""

import pathlib
import re
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
MODULE = ROOT / "src/dimwise.cppm"
FLAGS = ["-std=c++20", "-DDIMWISE_COMPILED_KERNELS", f"-I{ROOT / 'include'}"]
SKIPPED = 77
# Included in the library alone, or where the compilation ends.
ELSEWHERE = re.compile(r"_definitions\.hpp$|^dimwise/implementation\.hpp$|kernels/dispatch/\w*implementation\.hpp$")
NO_HEADER = {"the_compilation_ends_here"}


def foreign_headers(file, seen, found):
    """Adds the headers of others that `file` and what it includes name."""
    if file in seen:
        return
    seen.add(file)
    for name in re.findall(r"^\s*#\s*include\s*<([^>]+)>", (ROOT / "include" / file).read_text(encoding="utf-8"), re.M):
        if not name.startswith("dimwise/"):
            found.add(name)
        elif name.endswith(".hpp") and not ELSEWHERE.search(name):
            foreign_headers(name, seen, found)


def missing_headers():
    text = MODULE.read_text(encoding="utf-8")
    fragment = set(re.findall(r"^#include <([^>]+)>", text.split("export module")[0], re.M))
    seen, found = set(), set()
    for name in re.findall(r"^#include <(dimwise/[^>]+)>", text, re.M):
        foreign_headers(name, seen, found)
    return sorted(found - fragment - NO_HEADER)


def run(*command):
    return subprocess.run(list(map(str, command)), capture_output=True, text=True)


def must(*command):
    done = run(*command)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}")
    return done


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    if missing := missing_headers():
        sys.exit(f"{MODULE.relative_to(ROOT)} lacks, before `export module`: {', '.join(missing)}")
    compiler = shutil.which(sys.argv[3] if len(sys.argv) > 3 else "clang++-19")
    if compiler is None:
        print("skipped: clang++-19 is not installed")
        sys.exit(SKIPPED)
    place = pathlib.Path(sys.argv[1])
    place.mkdir(parents=True, exist_ok=True)
    compiled = place / "dimwise.pcm"
    must(compiler, *FLAGS, "-x", "c++-module", MODULE, "--precompile", "-o", compiled)
    must(compiler, *FLAGS, "-c", compiled, "-o", place / "dimwise.o")
    use = [*FLAGS, f"-fmodule-file=dimwise={compiled}"]
    must(compiler, *use, "-c", HERE / "attention.cpp", "-o", place / "attention.o")
    must(compiler, place / "attention.o", place / "dimwise.o", sys.argv[2], "-o", place / "attention")
    must(place / "attention")
    mistake = run(compiler, *use, "-DMISTAKE", "-fsyntax-only", HERE / "attention.cpp")
    errors = re.findall(r"^.*error: .*$", mistake.stderr, re.M)
    if len(errors) != 1 or "ERROR_R" not in mistake.stderr:
        sys.exit(f"one error of the library was expected:\n{mistake.stderr}")


if __name__ == "__main__":
    main()
