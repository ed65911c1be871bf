#!/usr/bin/env python3
"""Compiles the C++ in README.md and docs/**/*.md, and compares what was copied from the sources.

    python3 tests/docs/check.py                  # check
    python3 tests/docs/check.py --update         # copy the regions again, then check
    python3 tests/docs/check.py README.md        # some files only
    python3 tests/docs/check.py --library build/dev/src/libdimwise.a    # with kernels that are compiled already

What a compiler says stands between <!-- BEGIN ERROR: contract/not_shared g++-12 --> and <!-- END ERROR -->: the text
of that case of tests/compile_fail (contract/not_shared:equal for a variant). A copy, too; without that compiler it
is not checked.

Three kinds of code blocks that begin with ```cpp:

 1. Between <!-- BEGIN EXAMPLE: examples/01_x.cpp:region --> and <!-- END EXAMPLE -->: a copy. It must equal the part
    of that file between the comments // [region] and // [/region], or without ":region" the whole file, less
    indentation. The file itself is compiled where it belongs.
 2. With a main(): a whole program; compiled, linked and run.
 3. All others: fragments. tests/docs/prelude.hpp is put before them, and they are compiled as the body of a function
    or, where that fails, as declarations in a namespace. Lines that begin with #include are moved to the top. Fragments
    with the same #include lines are compiled together first.

What code prints is compared with the page. The ```text block behind a program is what it prints: a program that prints needs
one before the next block of another language. A fragment with a ```text block right behind it is run, and prints that; if it
throws, what the exception says is printed. Fragments that are run are one program for each page, and each defines what it uses.

Behind <!-- compiled: the first column --> stands a table. Each piece of code in its first column is compiled as a statement
behind the fragment before the table, which declares what the statements use.

In a fragment, a line "// refused: code  // ERROR_R1_words" must not compile: without "// refused:" it gives that error.

A block whose previous line is <!-- no-compile: reason --> is left alone. Standard library only.
"""

import argparse
import concurrent.futures
import dataclasses
import difflib
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import textwrap

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools"))

import compile_fail  # noqa: E402
import compilers  # noqa: E402

BEGIN = re.compile(r"^<!-- BEGIN (?P<kind>EXAMPLE|ERROR): (?P<what>[^\s:]+)(?::(?P<part>[\w-]+))?"
                   r"(?: (?P<compiler>\S+))? -->$")
END = {"EXAMPLE": "<!-- END EXAMPLE -->", "ERROR": "<!-- END ERROR -->"}
SKIP = re.compile(r"^<!-- no-compile: \S.* -->$")
REFUSED = re.compile(r"^( *)// refused: (.*?) *// (ERROR_\w+)$", flags=re.MULTILINE)
TABLE = "<!-- compiled: the first column -->"
FLAGS = [compilers.STANDARD, "-Iinclude", "-Wno-unused-result"]  # a statement may be an expression
PRELUDE = "tests/docs/prelude.hpp"
TOGETHER = 30  # at most so many fragments in a translation unit


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
    # Other regions may begin or end inside this one: their marks are not part of the text.
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
                                "python3 tests/docs/check.py --update")
        except Problem as problem:
            problems.append(f"{name}:{number}: {problem}")
        out += [*block, lines[end]]
        number = end + 1
    return "\n".join(out) + "\n", problems, count


@dataclasses.dataclass
class Block:
    line: int  # of its first line of code
    code: str
    prints: str | None = None  # the ```text block that belongs to it
    is_run: bool = False  # that block stands right behind it
    rows: list = dataclasses.field(default_factory=list)  # (line, statement) of the table behind it

    @property
    def is_program(self):
        return re.search(r"\bint main\(", self.code) is not None

    @property
    def seems_declared(self):
        """Whether it seems to be declarations, which the body of a function cannot hold. What is tried first depends on it."""
        return re.search(r"^(template|namespace)\b|^\w[\w:<>,&* ]* \w+\([^;]*\) \{$", self.code, flags=re.MULTILINE) is not None


def statements(lines, number):
    """-> (line number, code) for each piece of code in the first column of the table whose head is lines[number]"""
    found = []
    for at in range(number + 2, len(lines)):
        cells = re.split(r"(?<!\\)\|", lines[at])
        if len(cells) < 3 or cells[0].strip():
            break
        spans = re.findall(r"`([^`]+)`", cells[1])
        found += [(at + 1, span.replace("\\|", "|")) for span in spans] or [(at + 1, 'static_assert(false, "this row has no code")')]
    return found or [(number + 1, 'static_assert(false, "this table has no rows")')]


def blocks(text):
    """-> the blocks that are to be compiled"""
    lines, found, inside_copy, number, last = text.splitlines(), [], False, 0, None
    while number < len(lines):
        line = lines[number]
        number += 1
        inside_copy = (inside_copy or bool(BEGIN.match(line))) and line not in END.values()
        if line == TABLE:
            found += [] if last else [Block(number, 'static_assert(false, "there is no fragment before this table");\n')]
            found[-1].rows += statements(lines, number)
        fence = re.match(r"^(\s*)(`{3,})(\w*)", line)
        if not fence:
            continue
        start = number
        while number < len(lines) and lines[number].strip() != fence[2]:
            number += 1
        number += 1
        code = textwrap.dedent("\n".join(lines[start:number - 1])) + "\n"
        behind = next((n for n in range(start - 2, -1, -1) if lines[n].strip()), -1)
        if fence[3] == "text" and last:
            last.is_run = re.fullmatch(r"\s*`{3,}", lines[behind]) is not None
            last.prints = code
        last = None
        if fence[3] == "cpp" and not inside_copy and not SKIP.match(lines[behind].strip() if behind >= 0 else ""):
            last = Block(start + 1, code)
            found.append(last)
    return found


def differs(wanted, printed):
    """-> the difference between what a page says and what its code prints; "" if there is none"""
    pair = [[line.rstrip() for line in text.strip("\n").splitlines()] for text in (wanted, printed)]
    return "" if pair[0] == pair[1] else "\n".join(["it prints something else than the page says:", *difflib.unified_diff(
        *pair, "page", "printed", lineterm="", n=1)])


class Checker:
    def __init__(self, root, compiler, library=None):
        self.root, self.compiler, self.pch = root, compiler, []
        self.flags, self.linked = ([*FLAGS, "-DDIMWISE_COMPILED_KERNELS"], [str(library)]) if library else (FLAGS, [])
        if (root / "include/dimwise/dimwise.hpp").exists():
            self.pch, _ = compiler.precompile("dimwise/dimwise.hpp", self.flags, root, ["include"])

    def compile(self, source, *arguments):
        return self.compiler.run([*self.pch, *self.flags, *arguments], self.root, source=source)

    def run(self, source):
        """-> (what is wrong with a program, what it prints)"""
        with tempfile.TemporaryDirectory() as folder:
            program = os.path.join(folder, "block")
            result, text = self.compile(source, "-o", program, "-x", "none", *self.linked)
            if result != 0:
                return text, ""
            try:
                ran = subprocess.run([program], capture_output=True, text=True, timeout=60, cwd=folder)
            except subprocess.TimeoutExpired:
                return "the program does not end within 60 seconds", ""
            return (f"the program ends with code {ran.returncode}:\n{ran.stdout}{ran.stderr}" if ran.returncode else ""), ran.stdout

    def head(self, codes):
        """What stands before fragments: their #include lines, the prelude."""
        rows = dict.fromkeys(row for code in codes for row in code.splitlines() if row.startswith("#include"))
        return "".join(f"{row}\n" for row in rows) + f'#include "{self.root / PRELUDE}"\nnamespace docs {{\n'

    @staticmethod
    def body(name, block):
        # An empty line stays in the place of each #include, so that line numbers stay right.
        rows = "".join(f'#line {line} "{name}"\n{{ {code}; }}\n' for line, code in block.rows)
        return f'#line {block.line} "{name}"\n' + re.sub(r"^#include.*$", "", block.code, flags=re.MULTILINE) + rows

    def fragment(self, name, block, declared, number=""):
        """-> a fragment as declarations in a namespace, or as the body of a function"""
        return f"{'namespace' if declared else 'void'} a_fragment{number}{'' if declared else '()'} {{\n{self.body(name, block)}}}\n"

    def check(self, name, block):
        """-> what is wrong with a block; "" if nothing"""
        if block.is_program:
            problem, printed = self.run(f'#line {block.line} "{name}"\n{block.code}')
            if problem or block.prints is None:
                return problem or (f"a ```text block should follow; the program prints:\n{printed}" if printed else "")
            return differs(block.prints, printed) if block.is_run or printed else ""
        head, texts = self.head([block.code]), []
        for declared in sorted((False, True), key=lambda one: one != block.seems_declared):
            result, text = self.compile(head + self.fragment(name, block, declared) + "}\n", "-fsyntax-only")
            if result == 0:
                return ""
            texts.append(text)
        # Which of the two was meant? The one with less to complain about.
        return min(texts, key=lambda answer: answer.count("error:"))

    def check_together(self, name, found):
        """-> what is wrong with each of the fragments of a page that are run"""
        mark = "\x1e\n"  # ends what a fragment prints
        source = "#include <cstdio>\n#include <exception>\n#include <iostream>\n" + self.head([block.code for block in found])
        for block in found:
            source += f"void fragment_{block.line}() {{\n{self.body(name, block)}}}\n"
        calls = "".join(f"  docs::fragment_{block.line},\n" for block in found)
        source += ('}\n#line 1 "the calls"\nint main() {\n  std::cout.sync_with_stdio(true);\n  for (void (*run)() : {\n' + calls + "  }) {\n"
                   "    try { run(); } catch (const std::exception& e) { std::cout << e.what() << '\\n'; }\n"
                   '    std::cout << "\\x1e\\n" << std::flush;\n  }\n}\n')
        problem, printed = self.run(source)
        if problem:
            return [problem] + ["see above"] * (len(found) - 1)
        return [differs(block.prints, text) for block, text in zip(found, printed.split(mark), strict=False)]

    def check_refused(self, name, found):
        """-> what is wrong with the fragments of a page that hold lines which must not compile"""
        source = "#include <iostream>\n" + self.head([block.code for block in found])
        for block in found:
            if block.is_program:
                return ["lines that are refused are for fragments"] * len(found)
            wrong = dataclasses.replace(block, code=REFUSED.sub(r"\1\2", block.code))
            source += f"void fragment_{block.line}() {{\n{self.body(name, wrong)}}}\n"
        _, text = self.compile(source + "}\n", "-fsyntax-only")
        problems = []
        for block in found:
            missing = []
            for match in REFUSED.finditer(block.code):
                line = block.line + block.code.count("\n", 0, match.start())
                errors = re.findall(rf"^{re.escape(name)}:{line}:\d+: error: (.*)", text, flags=re.MULTILINE)
                missing += [] if len(errors) == 1 and re.search(rf"\b{match[3]}\b", errors[0]) else [
                    f"line {line} should give one error, {match[3]}; it gives:\n" + "\n".join(errors)]
            problems.append("\n".join(missing))
        return problems

    def check_fragments(self, found):
        """-> [(page, line, what is wrong)] of fragments with the same #include lines, given with their pages. They are compiled
        together, which costs what the headers cost once; a fragment in whose lines there is an error is compiled alone."""
        rest = found
        while len(rest) > 1:
            source = self.head([rest[0][1].code])
            for number, (name, block) in enumerate(rest):
                source += self.fragment(name, block, block.seems_declared, number)
            result, text = self.compile(source + "}\n", "-fsyntax-only", self.compiler.no_limit)
            if result == 0:
                break
            wrong = set()
            for page, line in re.findall(r"^(\S+?):(\d+):(?:\d+:)? (?:fatal )?error: ", text, flags=re.MULTILINE):
                wrong.add((page, max((block.line for name, block in rest if name == page and block.line <= int(line)), default=0)))
            right = [(name, block) for name, block in rest if (name, block.line) not in wrong]
            rest = [] if len(right) == len(rest) else right
        else:
            rest = []
        return [(name, block.line, "" if (name, block) in rest else self.check(name, block)) for name, block in found]

    def check_page(self, name, found):
        """-> for each job of a page but its fragments that are not run, a function that gives [(line, what is wrong)]"""
        together = [block for block in found if block.is_run and not block.is_program]
        jobs = [lambda block=block: [(block.line, self.check(name, block))] for block in found if block.is_program]
        if together:
            jobs.append(lambda: list(zip([block.line for block in together], self.check_together(name, together), strict=True)))
        refused = [block for block in found if REFUSED.search(block.code)]
        if refused:
            jobs.append(lambda: list(zip([block.line for block in refused], self.check_refused(name, refused), strict=True)))
        return jobs


def check_files(root, files, compiler, update, jobs, out=print, library=None):
    """-> (passed, failed)"""
    passed, failed, work, fragments = 0, 0, [], {}
    checker = Checker(root, compiler, library)
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
            found = blocks(new)
            work += [pool.submit(lambda name=name, job=job: [(name, *one) for one in job()]) for job in checker.check_page(name, found)]
            for block in found:
                if not block.is_program and not block.is_run:
                    included = tuple(sorted(row for row in block.code.splitlines() if row.startswith("#include")))
                    fragments.setdefault(included, []).append((name, block))
        work += [pool.submit(checker.check_fragments, same[start:start + TOGETHER]) for same in fragments.values()
                 for start in range(0, len(same), TOGETHER)]
        for future in work:
            for name, line, problem in future.result():
                passed, failed = passed + (not problem), failed + bool(problem)
                if problem:
                    out(f"FAILED {name}:{line}: {compiler.name} says:\n" + textwrap.indent(problem.rstrip("\n"), "  | "))
    return passed, failed


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", type=pathlib.Path)
    parser.add_argument("--update", action="store_true")
    parser.add_argument("--compiler", metavar="COMMAND", help="default: a promised one, clang where it is installed")
    parser.add_argument("--library", type=pathlib.Path, metavar="FILE", help="the compiled kernels; default: the headers alone")
    parser.add_argument("--jobs", type=int, default=compilers.JOBS)
    arguments = parser.parse_args()

    found = compilers.find_compilers([arguments.compiler] if arguments.compiler else None)
    if not found:
        sys.exit("no compiler found; bash tools/setup.sh tests installs them")
    compiler = next((compiler for compiler in found if compiler.is_clang), found[0])  # reads a precompiled header fastest
    root = compilers.ROOT
    files = [path.resolve() for path in arguments.files]
    files = files or [path for path in (root / "README.md", *sorted((root / "docs").rglob("*.md"))) if path.exists()]
    passed, failed = check_files(root, files, compiler, arguments.update, arguments.jobs,
                                 library=arguments.library and arguments.library.resolve())
    print(f"{passed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
