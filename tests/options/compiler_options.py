#!/usr/bin/env python3
"""Options of the compiler that give wrong results or no program are one error of the library, which says what to leave out.

    python3 tests/options/compiler_options.py g++ [clang++ ...]
"""

import pathlib
import subprocess
import sys
import tempfile

INCLUDE = pathlib.Path(__file__).resolve().parent.parent.parent / "include"
REJECTED = {  # option: what its only error says
    "-ffast-math": "compile without -ffast-math",
    "-Ofast": "compile without -ffast-math",
    "-ffinite-math-only": "compile without -ffast-math",
    "-fno-exceptions": "compile without -fno-exceptions",
}
HEADERS = ("dimwise.hpp", "shape.hpp", "nn.hpp", "grad.hpp", "viz.hpp", "dim/error.hpp")


def main():
    passed = failed = 0
    with tempfile.TemporaryDirectory() as place:
        source = pathlib.Path(place) / "x.cpp"
        for compiler in sys.argv[1:] or sys.exit(__doc__):
            for option, expected in REJECTED.items():
                for header in HEADERS if option in ("-ffast-math", "-fno-exceptions") else HEADERS[:1]:
                    source.write_text(f"#include <dimwise/{header}>\nint main() {{}}\n")
                    run = subprocess.run([compiler, "-std=c++20", "-fsyntax-only", f"-I{INCLUDE}", option, source],
                                         capture_output=True, text=True, check=False)
                    errors = [line for line in run.stderr.splitlines() if " error: " in line]
                    errors = [line for line in errors if "fatal error" not in line]  # where the compilation ends
                    if run.returncode != 0 and len(errors) == 1 and expected in errors[0]:
                        passed += 1
                    else:
                        failed += 1
                        print(f"FAILED: {compiler} {option} {header}: one error with \"{expected}\" was expected:",
                              *run.stderr.splitlines()[:8], sep="\n  ")
    print(f"{passed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
