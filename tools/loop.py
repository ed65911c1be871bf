#!/usr/bin/env python3
"""The tests of one rule, by one compiler, in under a minute: edit a header of shape/rules, run this, read one line.

    python3 tools/loop.py contract                                     # tests/shape/contract*, tests/mutation/contract*, …
    python3 tools/loop.py include/dimwise/shape/rules/contract.hpp     # the same
    python3 tools/loop.py contract --compiler clang++-14

Runs the static_asserts of tests/shape and tests/mutation whose file begins with that name; the cases of tests/compile_fail
with that name in their path, in every variant; and, in the plain variant, those that expect an error which the header
returns. What it leaves to the whole run: values, the other compilers, modules and pages. Standard library only.
"""

import argparse
import concurrent.futures
import os
import pathlib
import re
import sys
import time

import compile_fail
import compilers


def asserts(root, name):
    return sorted(path for folder in ("shape", "mutation") for path in (root / "tests" / folder).glob("*.test.cpp")
                  if path.name.startswith(name))


def cases(root, name):
    """-> (those of that name, others that expect an error of the rule)"""
    returned = {found for path in (root / "include").rglob(f"{name}.hpp")
                for found in re.findall(r"ERROR_R\d+\w*", path.read_text(encoding="utf-8"))}
    mine, others = [], []
    for case in compile_fail.load(root, ""):
        expected = {found for text, _ in case.expectations for found in re.findall(r"ERROR_R\d+\w*", text)}
        if name in case.name:
            mine.append(case)
        elif expected & returned:
            others.append(case)
    return mine, others


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("name", help="of a rule, or its header")
    parser.add_argument("--compiler", metavar="COMMAND", help="default: the first of " + ", ".join(compilers.PROMISED))
    parser.add_argument("--jobs", type=int, default=max(2, os.cpu_count() or 2))
    arguments = parser.parse_args()
    root, began = compilers.ROOT, time.monotonic()
    name = pathlib.Path(arguments.name).name.split(".")[0]
    found = compilers.find_compilers([arguments.compiler] if arguments.compiler else None)[:1]
    if not found:
        sys.exit("no compiler found; bash tools/setup.sh tests installs them")
    files, (mine, others) = asserts(root, name), cases(root, name)
    if not files and not mine:
        sys.exit(f"no test in tests/shape, tests/mutation or tests/compile_fail is called {name}")

    passed, failed = 0, 0
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        flags = [compilers.STANDARD, "-Iinclude", "-Itests", "-fsyntax-only"]
        for path, (code, text) in zip(files, pool.map(lambda path: found[0].run([*flags, str(path)], root), files)):
            passed, failed = passed + (code == 0), failed + (code != 0)
            if code != 0:
                print(f"FAILED {path.relative_to(root)}\n{text}")
    if failed == 0:  # else the cases would say the same, at length
        harness = compile_fail.Harness(root, found, "dimwise/dimwise.hpp", use_pch=True)
        for some, variants in ((mine, compile_fail.VARIANTS), (others, ("plain",))):
            good, bad, _ = compile_fail.run(harness, some, arguments.jobs, variants=variants)
            passed, failed = passed + good, failed + bad
    print(f"{len(files)} files of static_asserts, {len(mine)} mistakes called {name} and {len(others)} with its errors: "
          f"{time.monotonic() - began:.0f} s with {found[0].name}")
    print(f"{passed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
