#!/usr/bin/env python3
"""Options of the compiler: those that give wrong results or no program are one error, which says what to leave out; others compile.

    python3 tests/options/compiler_options.py g++ [clang++ ...]
"""

import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
INCLUDE = ROOT / "include"
REJECTED = {  # option: what its only error says
    "-ffast-math": "compile without -ffast-math",
    "-Ofast": "compile without -ffast-math",
    "-ffinite-math-only": "compile without -ffast-math",
    "-fno-exceptions": "compile without -fno-exceptions",
}
HEADERS = ("dimwise.hpp", "shape.hpp", "nn.hpp", "grad.hpp", "viz.hpp", "dim/error.hpp")
# With them g++ compares fewer addresses in constants, there is no typeid, and the library's headers differ.
ACCEPTED = ("-fsanitize=undefined", "-fno-rtti", "-std=c++23", "-D_GLIBCXX_DEBUG")
TRAINING = ROOT / "benchmarks/compile_time/training.cpp"


def compiled(compiler, option, *arguments):
    return subprocess.run([compiler, "-std=c++20", "-fsyntax-only", f"-I{INCLUDE}", option, *arguments],
                          capture_output=True, text=True, check=False)


def main():
    passed = failed = 0
    with tempfile.TemporaryDirectory() as place:
        source = pathlib.Path(place) / "x.cpp"
        for compiler in sys.argv[1:] or sys.exit(__doc__):
            for option, expected in REJECTED.items():
                for header in HEADERS if option in ("-ffast-math", "-fno-exceptions") else HEADERS[:1]:
                    source.write_text(f"#include <dimwise/{header}>\nint main() {{}}\n")
                    run = compiled(compiler, option, source)
                    errors = [line for line in run.stderr.splitlines() if " error: " in line]
                    errors = [line for line in errors if "fatal error" not in line]  # where the compilation ends
                    if run.returncode != 0 and len(errors) == 1 and expected in errors[0]:
                        passed += 1
                    else:
                        failed += 1
                        print(f"FAILED: {compiler} {option} {header}: one error with \"{expected}\" was expected:",
                              *run.stderr.splitlines()[:8], sep="\n  ")
            for option in ACCEPTED:
                run = compiled(compiler, option, "-DTRAINS", TRAINING)
                passed += run.returncode == 0
                failed += run.returncode != 0
                if run.returncode != 0:
                    print(f"FAILED: {compiler} {option} {TRAINING.name}:", *run.stderr.splitlines()[-8:], sep="\n  ")
    print(f"{passed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
