#!/usr/bin/env python3
"""Runs clang-tidy with .clang-tidy on one file that includes every header, and on the file that chooses the kernels. Every
check that .clang-tidy switches off has its reason there.

    python3 tools/check_tidy.py
    python3 tools/check_tidy.py --self-test

Ends with 77, and says why, where clang-tidy-14 is not installed. Standard library only.
"""

import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
TOOL = "clang-tidy-14"  # another version has other checks
SKIPPED = 77


def without_reason(config):
    """-> the checks that are switched off without a line `# <check>  <reason>`"""
    switched_off = re.findall(r"^\s+-([a-z]+-[\w*-]+)", config, re.MULTILINE)
    return [check for check in switched_off if not re.search(rf"^# {re.escape(check)}\s+\S", config, re.MULTILINE)]


def complaints(sources, flags):
    """-> the lines in which clang-tidy names a check, or all that it says where it cannot read a file"""
    command = [TOOL, "--quiet", f"--config-file={ROOT / '.clang-tidy'}", *map(str, sources), "--", "-std=c++20", *flags]
    done = subprocess.run(command, capture_output=True, text=True)
    named = sorted(set(line for line in done.stdout.splitlines() if re.search(r": (warning|error): ", line)))
    return named or ([done.stdout + done.stderr] if done.returncode else [])


def check():
    problems = [f".clang-tidy: {name} is switched off without a reason" for name in without_reason((ROOT / ".clang-tidy").read_text(encoding="utf-8"))]
    include = ROOT / "include"
    with tempfile.TemporaryDirectory() as place:
        everything = pathlib.Path(place) / "everything.cpp"
        headers = sorted(path.relative_to(include).as_posix() for path in include.rglob("*.hpp"))
        everything.write_text("".join(f"#include <{name}>\n" for name in headers))
        sources = [everything, ROOT / "src/kernels.cpp"]
        # With lists that the library has not, its functions are inline (support/library.hpp): one that is not is found.
        problems += complaints(sources, [f"-I{include}", "-DDIMWISE_COMPILED_KERNELS", "-D_GLIBCXX_DEBUG"])
    return problems


def self_test():
    failed = 0
    configs = {  # .clang-tidy: the checks without a reason
        "# misc-x   a reason\nChecks: >-\n  -*,\n  misc-*,\n  -misc-x\n": [],
        "# misc-xy   a reason\nChecks: >-\n  -*,\n  -misc-x,\n  -misc-y-z\n": ["misc-x", "misc-y-z"],
    }
    sources = {  # a file: what clang-tidy must say of it
        "int one() { return 1; }\n": "",
        "int One() { return 1; }\n": "readability-identifier-naming",
        "int* none() { return 0; }\n": "modernize-use-nullptr",
        "int one() { return 1 }\n": "clang-diagnostic-error",
        "#include <dimwise/a.hpp>\n": "dimwise/a.hpp:1:5: error: invalid case style",
    }
    for config, expected in configs.items():
        if without_reason(config) != expected:
            failed += 1
            print(f"FAILED self-test: {without_reason(config)}, not {expected}")
    with tempfile.TemporaryDirectory() as place:
        path = pathlib.Path(place) / "a.cpp"
        header = pathlib.Path(place) / "include/dimwise/a.hpp"
        header.parent.mkdir(parents=True)
        header.write_text("int One();\n")
        for source, expected in sources.items():
            path.write_text(source)
            said = "\n".join(complaints([path], [f"-I{place}/include"]))
            if bool(said) != bool(expected) or expected not in said:
                failed += 1
                print(f"FAILED self-test {source!r}: expected {expected!r}, not {said!r}")
    count = len(configs) + len(sources)
    print(f"{count - failed} passed, {failed} failed")
    return failed


def main():
    if sys.argv[1:] not in ([], ["--self-test"]):
        sys.exit(__doc__)
    if not shutil.which(TOOL):
        print(f"skipped: {TOOL} is not installed (bash tools/setup.sh tests)")
        sys.exit(SKIPPED)
    if sys.argv[1:]:
        sys.exit(1 if self_test() else 0)
    problems = check()
    if problems:
        sys.exit("\n".join(problems))
    print("clang-tidy has nothing to say of the headers")


if __name__ == "__main__":
    main()
