#!/usr/bin/env python3
"""A program of two files without CMake: one file compiles the implementation, the other one sees declarations only.

    one_implementation.py <folder to build in> <compiler>…
"""

import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
SEPARATE = "-DDIMWISE_SEPARATE_IMPLEMENTATION"
IMPLEMENTATION = "-DDIMWISE_IMPLEMENTATION"
CHOICES = {"kernels": [], "plain": ["-DDIMWISE_PLAIN_ONLY"]}


def run(*command):
    return subprocess.run(list(map(str, command)), capture_output=True, text=True)


def compiled(place, compiler, name, source, flags):
    output = place / f"{name}.o"
    made = run(compiler, "-std=c++20", "-O0", *flags, f"-I{ROOT / 'include'}", "-c", HERE / source, "-o", output)
    if made.returncode:
        sys.exit(f"{source} {' '.join(flags)}: {compiler} fails\n{made.stderr}")
    return output


def failures_of(place, compiler, choice):
    flags = CHOICES[choice]
    main = compiled(place, compiler, f"{choice}_main", "main.cpp", [*flags, IMPLEMENTATION])
    other = compiled(place, compiler, f"{choice}_other", "other.cpp", [*flags, SEPARATE])
    program = place / f"{choice}_program"
    linked = run(compiler, main, other, "-o", program)
    if linked.returncode or (found := run(program)).returncode:
        yield f"{choice}: no program\n{linked.stderr or found.stderr}"
    if not re.search("undefined (reference|symbol).*dimwise::", run(compiler, other, "-o", program).stderr):
        yield f"{choice}: links without an implementation"
    sizes = [main.stat().st_size, other.stat().st_size]
    if sizes[1] * 2 > sizes[0]:
        yield f"{choice}: the file without the implementation has {sizes[1]} bytes, the other one {sizes[0]}"


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    failures = []
    for compiler in sys.argv[2:]:
        place = pathlib.Path(sys.argv[1]) / pathlib.Path(compiler).name
        place.mkdir(parents=True, exist_ok=True)
        failures += [f"{compiler}, {problem}" for choice in CHOICES for problem in failures_of(place, compiler, choice)]
    sys.exit("\n".join(failures) or 0)


if __name__ == "__main__":
    main()
