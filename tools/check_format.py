#!/usr/bin/env python3
"""Every C++ file is formatted by clang-format-19, as .clang-format says.

    python3 tools/check_format.py              # checks; exit code 77 (skipped) without clang-format-19
    python3 tools/check_format.py --fix        # formats
    python3 tools/check_format.py --self-test

The tool leaves comments alone, so long comment lines are counted: there may be as many as LONG_LINES, a number that only
falls. Heads of compile-fail cases are exempt: each of their lines is one sentence or one pattern. Standard library only.
"""

import argparse
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import compilers

VERSION = 19
COLUMNS = 120
LONG_LINES = 7  # lower it when lines were wrapped


def find_tool():
    for name in (f"clang-format-{VERSION}", "clang-format"):
        if shutil.which(name):
            said = subprocess.run([name, "--version"], capture_output=True, text=True, check=True).stdout
            if f"version {VERSION}." in said:
                return name
    return ""


def sources(root):
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", "*.hpp", "*.cpp"], cwd=root,
                            capture_output=True, text=True)
    if listed.returncode == 0:
        found = [root / name for name in listed.stdout.splitlines()]
    else:  # an archive without history
        found = [path for folder in ("benchmarks", "examples", "include", "src", "tests", "tools")
                 for ending in ("cpp", "hpp") for path in (root / folder).rglob(f"*.{ending}")]
    return sorted(path for path in found if path.exists())


def long_lines(path):
    """-> the numbers of the lines that are too long"""
    head = re.compile(r"// (MISTAKE|EXPECT|FROM)\b") if "compile_fail" in path.parts else None
    return [number for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
            if len(line) > COLUMNS and not (head and head.match(line))]


def unformatted(tool, files, root):
    """-> {file: line of the first difference}"""
    found = {}
    command = [tool, "--dry-run", "--ferror-limit=0", *map(str, files)]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True)
    for name, line in re.findall(r"^(.+?):(\d+):\d+: warning: code should be clang-formatted", done.stderr, re.MULTILINE):
        found.setdefault(name, int(line))
    if done.returncode != 0:
        found[f"{tool} ends with code {done.returncode}: {done.stderr[-500:]}"] = 0
    return found


def check(tool, root, allowed, out=print):
    """-> (passed, failed)"""
    files = sources(root)
    bad = unformatted(tool, files, root)
    for name, line in bad.items():
        out(f"FAILED {name}:{line}: is not formatted; python3 tools/check_format.py --fix formats it")
    long = [f"{path.relative_to(root)}:{line}" for path in files for line in long_lines(path)]
    if len(long) > allowed:
        out(f"FAILED {len(long)} lines are longer than {COLUMNS} columns, {allowed} may be: wrap the new ones")
        out("\n".join(f"  {line}" for line in long))
    elif len(long) < allowed:
        out(f"note: {len(long)} lines are longer than {COLUMNS} columns: lower LONG_LINES, which is {allowed}")
    failed = len(bad) + (len(long) > allowed)
    return len(files) - len(bad), failed


def self_test(tool):
    cases = {"good": ("int a;\n", 0, ""), "bad": ("int  a ;\n", 0, "bad.cpp:1: is not formatted"),
             "long": ("// " + "x " * 60 + "x\n", 0, "1 lines are longer"), "allowed": ("// " + "x " * 60 + "x\n", 1, "")}
    failed = 0
    for name, (source, allowed, expected) in cases.items():
        with tempfile.TemporaryDirectory() as place:
            root, report = pathlib.Path(place), []
            shutil.copy(compilers.ROOT / ".clang-format", root)
            (root / "src").mkdir()
            (root / f"src/{name}.cpp").write_text(source, encoding="utf-8")
            _, bad = check(tool, root, allowed, report.append)
            if (bad > 0) != bool(expected) or expected not in "\n".join(report):
                failed += 1
                print(f"FAILED self-test {name}: expected {expected or 'a pass'!r}, the report was: {report}")
    print(f"{len(cases) - failed} passed, {failed} failed")
    return failed


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--fix", action="store_true")
    parser.add_argument("--self-test", action="store_true")
    arguments = parser.parse_args()
    tool, root = find_tool(), compilers.ROOT
    if not tool:
        print(f"skipped: clang-format-{VERSION} is not installed")
        sys.exit(77)
    if arguments.self_test:
        sys.exit(1 if self_test(tool) else 0)
    if arguments.fix:
        subprocess.run([tool, "-i", *map(str, sources(root))], cwd=root, check=True)
    passed, failed = check(tool, root, LONG_LINES)
    print(f"{passed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
