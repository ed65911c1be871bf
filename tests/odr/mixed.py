#!/usr/bin/env python3
"""Links pairs of files that chose their kernels alike or differently: alike they are a program, else the linker refuses them.

    mixed.py <folder to build in> <compiler> [<library of compiled kernels>]
"""

import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
SYMBOL = "dimwise_is_compiled_with_the_same_kernels_in_all_files"

# A file for each half of a program: the whole library in use, or the choice alone.
WHOLE = (HERE / "main.cpp", HERE / "other.cpp")
CHOICE = ("int other(); int main() { return other(); }", "int other() { return 0; }")


def run(*command):
    return subprocess.run(list(map(str, command)), capture_output=True, text=True)


class Builder:
    def __init__(self, place, compiler, kernels):
        self.place, self.compiler, self.kernels = pathlib.Path(place), compiler, kernels
        self.place.mkdir(parents=True, exist_ok=True)
        self.failures = []

    def compiled(self, name, source, flags):
        output = self.place / f"{name}.o"
        if isinstance(source, str):
            path = self.place / f"{name}.cpp"
            path.write_text(f"#include <dimwise/kernels/dispatch/active.hpp>\n{source}\n")
            source = path
        made = run(self.compiler, "-std=c++20", "-O0", *flags, f"-I{ROOT / 'include'}", "-c", source, "-o", output)
        if made.returncode:
            sys.exit(made.stderr)
        return output

    def check(self, one, other, alike):
        program = self.place / "program"
        for pair in ((one, other), (other, one)):
            linked = run(self.compiler, *pair, *self.kernels, "-o", program)
            names = " ".join(path.name for path in pair)
            if alike and (linked.returncode or run(program).returncode):
                self.failures.append(f"{names}: no program\n{linked.stderr}")
            if not alike and (linked.returncode == 0 or SYMBOL not in linked.stderr):
                self.failures.append(f"{names}: linked, or refused for another reason\n{linked.stderr}")

    def pairs(self, kind, sources, choices):
        halves = {name: [self.compiled(f"{kind}_{name}_{i}", source, flags) for i, source in enumerate(sources)] for name, flags in choices.items()}
        for first, (one, _) in halves.items():
            for second, (_, other) in halves.items():
                self.check(one, other, first == second)


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    builder = Builder(sys.argv[1], sys.argv[2], sys.argv[3:])
    choices = {"plain": ["-DDIMWISE_PLAIN_ONLY"]}
    if builder.kernels:
        choices["compiled"] = ["-DDIMWISE_COMPILED_KERNELS"]
        builder.pairs("whole", WHOLE, choices)
    choices["headers"] = []
    if "x86_64" in run(builder.compiler, "-dumpmachine").stdout:
        choices["headers"] = ["-march=x86-64"]
        choices["headers_avx"] = ["-march=x86-64", "-mavx"]
        choices["headers_avx2"] = ["-march=x86-64", "-mavx2", "-mfma"]
    builder.pairs("choice", CHOICE, choices)
    sys.exit("\n".join(builder.failures) or 0)


if __name__ == "__main__":
    main()
