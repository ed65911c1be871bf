#!/usr/bin/env python3
"""Compiles the module of an installed dimwise with clang 19, a program that imports it, and one with a shape mistake, which has one error.

    check.py <folder to build in> <prefix of the installed dimwise> [<clang++>]

The commands are those of docs/howto/use_from_cmake.md, and they see nothing of this source tree: the program is copied to the folder. The
headers of others that the library includes must all stand in the module's global fragment: one that is missing would be exported as a part
of dimwise. Exits with 77 without clang 19.
"""

import pathlib
import re
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
MODULE = ROOT / "src/dimwise.cppm"
FLAGS = ["-std=c++20", "-DDIMWISE_COMPILED_KERNELS"]
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


def run(folder, *command):
    return subprocess.run(list(map(str, command)), cwd=folder, capture_output=True, text=True)


def must(folder, *command):
    done = run(folder, *command)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}")


def the_one(prefix, name):
    found = list(prefix.rglob(name))
    if len(found) != 1:
        sys.exit(f"one {name} was expected in {prefix}, not {len(found)}")
    return found[0]


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    if missing := missing_headers():
        sys.exit(f"{MODULE.relative_to(ROOT)} lacks, before `export module`: {', '.join(missing)}")
    compiler = shutil.which(sys.argv[3] if len(sys.argv) > 3 else "clang++-19")
    if compiler is None:
        print("skipped: clang++-19 is not installed")
        sys.exit(SKIPPED)
    folder, prefix = (pathlib.Path(word).resolve() for word in sys.argv[1:3])
    module, library = the_one(prefix, MODULE.name), the_one(prefix, "libdimwise.a")
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copy(HERE / "attention.cpp", folder)
    flags = [*FLAGS, f"-I{module.parent.parent}"]
    must(folder, compiler, *flags, "--precompile", module, "-o", "dimwise.pcm")
    must(folder, compiler, *flags, "-c", "dimwise.pcm", "-o", "dimwise.o")
    must(folder, compiler, *flags, "-fmodule-file=dimwise=dimwise.pcm", "attention.cpp", "dimwise.o", library, "-o", "attention")
    must(folder, folder / "attention")
    mistake = run(folder, compiler, *flags, "-fmodule-file=dimwise=dimwise.pcm", "-DMISTAKE", "-fsyntax-only", "attention.cpp")
    errors = re.findall(r"^.*error: .*$", mistake.stderr, re.M)
    if len(errors) != 1 or "ERROR_R" not in mistake.stderr:
        sys.exit(f"one error of the library was expected:\n{mistake.stderr}")


if __name__ == "__main__":
    main()
