#!/usr/bin/env python3
"""Compiles the C++ in README.md and docs/**/*.md, and compares what was copied from the sources.

    python3 tools/check_docs.py                  # check
    python3 tools/check_docs.py --update         # copy the regions again, then check
    python3 tools/check_docs.py README.md        # some files only
    python3 tools/check_docs.py --self-test

What a compiler says stands between <!-- BEGIN ERROR: contract/not_shared g++-12 --> and <!-- END ERROR -->: the text
of that case of tests/compile_fail (contract/not_shared:equal for a variant). A copy, too; without that compiler it
is not checked.

Three kinds of code blocks that begin with ```cpp:

 1. Between <!-- BEGIN EXAMPLE: examples/01_x.cpp:region --> and <!-- END EXAMPLE -->: a copy. It must equal the part
    of that file between the comments // [region] and // [/region], or without ":region" the whole file, less
    indentation. The file itself is compiled where it belongs.
 2. With a main(): a whole program; compiled, linked and run.
 3. All others: fragments. tests/docs/prelude.hpp is put before them, and they are compiled as the body of a function
    or, where that fails, as declarations in a namespace. Lines that begin with #include are moved to the top.

A block whose previous line is <!-- no-compile: reason --> is left alone. Standard library only.
"""

import argparse
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import textwrap

import compile_fail
import compilers

BEGIN = re.compile(r"^<!-- BEGIN (?P<kind>EXAMPLE|ERROR): (?P<what>[^\s:]+)(?::(?P<part>[\w-]+))?"
                   r"(?: (?P<compiler>\S+))? -->$")
END = {"EXAMPLE": "<!-- END EXAMPLE -->", "ERROR": "<!-- END ERROR -->"}
SKIP = re.compile(r"^<!-- no-compile: \S.* -->$")
FLAGS = [compilers.STANDARD, "-Iinclude"]
PRELUDE = "tests/docs/prelude.hpp"


class Problem(Exception):
    pass


def region_of(root, file, region):
    """-> the text that stands in the source now"""
    path = root / file
    if not path.is_file():
        raise Problem(f"{file} does not exist")
    lines = path.read_text(encoding="utf-8").splitlines()
    if region:
        first = [n for n, line in enumerate(lines) if line.strip() == f"// [{region}]"]
        last = [n for n, line in enumerate(lines) if line.strip() == f"// [/{region}]"]
        if len(first) != 1 or len(last) != 1 or last[0] < first[0]:
            raise Problem(f"{file} has no single region between // [{region}] and // [/{region}]")
        lines = lines[first[0] + 1:last[0]]
    # Other regions may begin or end inside this one: their marks are no part of the text.
    lines = [line for line in lines if not re.fullmatch(r"\s*// \[/?[\w-]+\]", line)]
    return textwrap.dedent("\n".join(lines)).strip("\n") + "\n"


def error_of(root, case, variant, name):
    """-> what the compiler of that name says to a case of tests/compile_fail; None without that compiler"""
    cases = [found for found in compile_fail.load(root, "") if found.name == case]
    if not cases or (variant or "plain") not in cases[0].variants:
        raise Problem(f"tests/compile_fail has no case {case}" + (f" with the variant {variant}" if variant else ""))
    installed = [compiler for compiler in compilers.find_compilers() if compiler.name == name]
    if not installed:
        return None
    harness = compile_fail.Harness(root, installed, "dimwise/dimwise.hpp", use_pch=False)
    return harness.compile(cases[0], variant or "plain", installed[0], fixed=False)[1]


def wanted_block(root, begin):
    """-> the lines of the block that should stand there; None if that cannot be known here"""
    if begin["kind"] == "ERROR":
        text, language = error_of(root, begin["what"], begin["part"], begin["compiler"]), "text"
    else:
        text = region_of(root, begin["what"], begin["part"])
        language = {".hpp": "cpp", ".cpp": "cpp", ".sh": "sh"}.get(pathlib.Path(begin["what"]).suffix, "text")
    return None if text is None else [f"```{language}", *text.splitlines(), "```"]


def copies(root, name, text, update):
    """Checks, or with `update` rewrites, the copied blocks; -> (text, [problem], number of copies)"""
    lines, out, problems, count = text.splitlines(), [], [], 0
    number = 0
    while number < len(lines):
        begin = BEGIN.match(lines[number])
        out.append(lines[number])
        number += 1
        if not begin:
            continue
        count += 1
        if END[begin["kind"]] not in lines[number:]:
            problems.append(f"{name}:{number}: no line {END[begin['kind']]} follows")
            continue
        end = lines.index(END[begin["kind"]], number)
        block = lines[number:end]
        try:
            wanted = wanted_block(root, begin)
            if wanted is not None and update:
                block = wanted
            elif wanted is not None and block != wanted:
                problems.append(f"{name}:{number}: is not what {begin['what']} holds or gives now; to copy it again: "
                                "python3 tools/check_docs.py --update")
        except Problem as problem:
            problems.append(f"{name}:{number}: {problem}")
        out += [*block, lines[end]]
        number = end + 1
    return "\n".join(out) + "\n", problems, count


def blocks(text):
    """-> (line number, code) of each block that is to be compiled"""
    lines, found, inside_copy, number = text.splitlines(), [], False, 0
    while number < len(lines):
        line = lines[number]
        number += 1
        inside_copy = (inside_copy or bool(BEGIN.match(line))) and line not in END.values()
        fence = re.match(r"^(\s*)(`{3,})(\w*)", line)
        if not fence:
            continue
        start = number
        while number < len(lines) and lines[number].strip() != fence[2]:
            number += 1
        number += 1
        before = next((lines[n].strip() for n in range(start - 2, -1, -1) if lines[n].strip()), "")
        if fence[3] == "cpp" and not inside_copy and not SKIP.match(before):
            found.append((start + 1, textwrap.dedent("\n".join(lines[start:number - 1])) + "\n"))
    return found


class Checker:
    def __init__(self, root, compiler):
        self.root, self.compiler, self.pch = root, compiler, []
        if (root / "include/dimwise/dimwise.hpp").exists():
            self.pch, _ = compiler.precompile("dimwise/dimwise.hpp", FLAGS, root, ["include"])

    def compile(self, source, arguments, folder):
        path = pathlib.Path(folder) / "block.cpp"
        path.write_text(source, encoding="utf-8")
        return self.compiler.run([*self.pch, *FLAGS, str(path), *arguments], self.root)

    def check(self, name, line, code):
        """-> what is wrong with a block; "" if nothing"""
        at = f'#line {line} "{name}"\n'
        with tempfile.TemporaryDirectory() as folder:
            if re.search(r"\bint main\(", code):
                program = os.path.join(folder, "block")
                result, text = self.compile(at + code, ["-o", program], folder)
                if result != 0:
                    return text
                try:
                    ran = subprocess.run([program], capture_output=True, text=True, timeout=60, cwd=folder)
                except subprocess.TimeoutExpired:
                    return "the program does not end within 60 seconds"
                if ran.returncode == 0:
                    return ""
                return f"the program ends with code {ran.returncode}:\n{ran.stdout}{ran.stderr}"
            # #include lines move to the top; an empty line stays in their place, so that line numbers stay right.
            includes = "".join(f"{row}\n" for row in code.splitlines() if row.startswith("#include"))
            body = re.sub(r"^#include.*$", "", code, flags=re.MULTILINE)
            head = f'{includes}#include "{self.root / PRELUDE}"\nnamespace docs {{\n'
            result, text = self.compile(f"{head}void block() {{\n{at}{body}}}\n}}\n", ["-fsyntax-only"], folder)
            if result == 0:
                return ""
            other, second = self.compile(f"{head}namespace block {{\n{at}{body}}}\n}}\n", ["-fsyntax-only"], folder)
            if other == 0:
                return ""
            # Which of the two was meant? The one with less to complain about.
            return min(text, second, key=lambda answer: answer.count("error:"))


def check_files(root, files, compiler, update, jobs, out=print):
    """-> (passed, failed)"""
    passed, failed, work = 0, 0, []
    checker = Checker(root, compiler)
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for path in files:
            name = os.path.relpath(path, root)
            text = path.read_text(encoding="utf-8")
            new, problems, count = copies(root, name, text, update)
            if update and new != text:
                path.write_text(new, encoding="utf-8")
                out(f"{name}: updated")
            for problem in problems:
                out(f"FAILED {problem}")
            failed += len(problems)
            passed += count - len(problems)
            work += [(name, line, pool.submit(checker.check, name, line, code)) for line, code in blocks(new)]
        for name, line, future in work:
            problem = future.result()
            passed, failed = passed + (not problem), failed + bool(problem)
            if problem:
                out(f"FAILED {name}:{line}: {compiler.name} says:\n" + textwrap.indent(problem.rstrip("\n"), "  | "))
    return passed, failed


# --- the checker's own tests ------------------------------------------------------------------------------------------

FENCE = "```"
SELF_TESTS = {  # name: (page, number of passes, what the report must say; "" for no failure)
    "fragment": (f"{FENCE}cpp\nint n = answer();\n{FENCE}\n", 1, ""),
    "declaration": (f"{FENCE}cpp\ntemplate <class T> struct box {{ T t; }};\n{FENCE}\n", 1, ""),
    "include": (f"{FENCE}cpp\n#include <vector>\n\nstd::vector<int> v(3);\n{FENCE}\n", 1, ""),
    "program": (f"{FENCE}cpp\nint main() {{ return 0; }}\n{FENCE}\n", 1, ""),
    "failing_program": (f"{FENCE}cpp\nint main() {{ return 3; }}\n{FENCE}\n", 0, "ends with code 3"),
    "wrong_fragment": (f"text\n\n{FENCE}cpp\n\nint n = nothing();\n{FENCE}\n", 0, "wrong_fragment.md:5"),
    "marked": (f"<!-- no-compile: a sketch -->\n{FENCE}cpp\nno code\n{FENCE}\n", 0, ""),
    "marked_without_reason": (f"<!-- no-compile: -->\n{FENCE}cpp\nno code\n{FENCE}\n", 0, "FAILED"),
    "other_language": (f"{FENCE}sh\nno code\n{FENCE}\n", 0, ""),
    "copy": (f"<!-- BEGIN EXAMPLE: x.cpp:one -->\n{FENCE}cpp\nint a;\n  int b;\n{FENCE}\n{END['EXAMPLE']}\n", 1, ""),
    "old_copy": (f"<!-- BEGIN EXAMPLE: x.cpp:one -->\n{FENCE}cpp\nint a;\n{FENCE}\n{END['EXAMPLE']}\n", 0,
                 "is not what x.cpp holds"),
    "no_region": (f"<!-- BEGIN EXAMPLE: x.cpp:two -->\n{END['EXAMPLE']}\n", 0, "has no single region"),
    "no_file": (f"<!-- BEGIN EXAMPLE: y.cpp -->\n{END['EXAMPLE']}\n", 0, "does not exist"),
    "old_error": (f"<!-- BEGIN ERROR: bad {{compiler}} -->\n{FENCE}text\nold\n{FENCE}\n{END['ERROR']}\n", 0,
                  "is not what bad holds"),
    "no_case": (f"<!-- BEGIN ERROR: good g++-12 -->\n{END['ERROR']}\n", 0, "has no case good"),
    "other_compiler": (f"<!-- BEGIN ERROR: bad g++-1 -->\n{END['ERROR']}\n", 1, ""),
    "no_end": ("<!-- BEGIN EXAMPLE: x.cpp -->\n", 0, "no line"),
}


def self_test(compiler):
    failed = 0
    with tempfile.TemporaryDirectory() as place:
        root = pathlib.Path(place)
        (root / "tests/docs").mkdir(parents=True)
        (root / PRELUDE).write_text("inline int answer() { return 42; }\n")
        (root / "x.cpp").write_text("// file\n  // [one]\n  int a;\n    int b;\n  // [/one]\n")
        (root / "tests/compile_fail").mkdir()
        (root / "tests/compile_fail/bad.cpp").write_text("int main() { nonsense }\n")
        for name, (page, passes, expected) in SELF_TESTS.items():
            path, report = root / f"{name}.md", []
            path.write_text(page.replace("{compiler}", compilers.find_compilers()[0].name))
            passed, bad = check_files(root, [path], compiler, False, 1, report.append)
            text = "\n".join(report)
            if passed != passes or (bad > 0) != bool(expected) or expected not in text:
                failed += 1
                print(f"FAILED self-test {name}: {passed} passed, {bad} failed, the report was:\n{text}")
        updated = root / "old_copy.md", root / "old_error.md"
        check_files(root, updated, compiler, True, 1, lambda text: None)
        texts = [path.read_text() for path in updated]
        if texts[0] != SELF_TESTS["copy"][0] or "bad.cpp:1:14: error:" not in texts[1] or "old" in texts[1]:
            failed += 1
            print(f"FAILED self-test update: {texts}")
    print(f"{len(SELF_TESTS) + 1 - failed} passed, {failed} failed")
    return failed


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", type=pathlib.Path)
    parser.add_argument("--update", action="store_true")
    parser.add_argument("--compiler", metavar="COMMAND", help="default: the first of " + ", ".join(compilers.PROMISED))
    parser.add_argument("--jobs", type=int, default=max(2, os.cpu_count() or 2))
    parser.add_argument("--self-test", action="store_true")
    arguments = parser.parse_args()

    found = compilers.find_compilers([arguments.compiler] if arguments.compiler else None)
    if not found:
        sys.exit("no compiler found; bash tools/setup.sh tests installs them")
    if arguments.self_test:
        sys.exit(1 if self_test(found[0]) else 0)
    root = compilers.ROOT
    files = [path.resolve() for path in arguments.files]
    files = files or [path for path in (root / "README.md", *sorted((root / "docs").rglob("*.md"))) if path.exists()]
    passed, failed = check_files(root, files, found[0], arguments.update, arguments.jobs)
    print(f"{passed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
