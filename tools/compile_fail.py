#!/usr/bin/env python3
"""Mistakes must not compile, each with one short error that names the rule; their corrected twins must compile.

    python3 tools/compile_fail.py                          # every case, every promised compiler that is installed
    python3 tools/compile_fail.py --filter contract        # cases whose path matches a regular expression
    python3 tools/compile_fail.py --show dim/not_shared    # the errors of one case, as a user sees them
    python3 tools/compile_fail.py --list
    python3 tools/compile_fail.py --compiler g++-12 --variants plain equal
    python3 tools/compile_fail.py --json build/errors.json # also record every text, for the errors page
    python3 tools/compile_fail.py --rotate                 # of several clangs one for each case; all for the examples of errors

One mistake per file in tests/compile_fail/**/*.cpp, which begins with lines of this form:

    // MISTAKE: the query heads are 64 wide, the key heads 32.      one sentence
    // RULE: R1
    // EXPECT: ERROR_R1_.*d_k                                       a regular expression, matches a line; one or more
    // EXPECT(clang): ...   EXPECT(dynamic): ...                    only for one compiler family (gcc, clang) or variant
    // FROM: title of the row in the collection of bugs             optional
    // LINES(clang): 22      more lines than 10, where clang says how it came to a function of the user's; optional
    // VARIANTS: equal unused dynamic                               optional; besides the plain one (distinct extents)

The file is compiled with -DEQUAL, -DUNUSED or -DDYNAMIC for its variants, and with -DFIXED for the corrected twin,
which must compile in every variant. Demanded of each variant, on each compiler:

    1. it does not compile;                   4. the rule's id stands in the first 4 lines;
    2. there is exactly one "error:" line;    5. every EXPECT matches;
    3. at most 10 lines are printed           6. the type ERROR_R..<...> reads the same on all compilers.
       to a user of g++ (clang: 10 as well);

g++ says who includes a header before its first note. A precompiled header hides those lines, so their number is read from `g++ -H`.

Cases with the same prelude are compiled together (tools/united.py): what the library costs is paid once for many. Nothing
depends on it. A case of which the compiler prints anything but one error in the case's own lines is compiled alone, and so
is one that is about to fail. An error in a header is printed once in a translation unit, so a case that causes one leaves
the unit before the others are judged. Right answers are stored beside the precompiled header, which is made anew when a header of the
library changes: a case is compiled again only if it or a header of the tests has changed, and a wrong answer is never stored.
Why no kept tool: `clang -verify` and lit know one compiler's messages, one file at a time. Standard library only.
"""

import argparse
import concurrent.futures
import hashlib
import json
import os
import pathlib
import re
import shlex
import signal
import sys
import zlib

import compilers
import united

MAX_LINES = 10
# The error line, the user's line with its marker, and what follows: clang names a deleted constructor's types there.
FIRST_LINES = 4
VARIANTS = ("plain", "equal", "unused", "dynamic")
TOGETHER = 100  # at most so many cases in a translation unit
WRAP = "mistake"
ONE_LINE = {"MISTAKE": "mistake", "RULE": "rule", "FROM": "origin"}  # lines of a head -> members of a case


def headers_of(path):
    """-> the headers of the library that a source includes, itself or by a prelude, in their order"""
    found = []
    for include in united.includes(path.read_text(encoding="utf-8")):
        name = re.search(r"[<\"](.*)[>\"]", include)[1]
        beside = path.parent / name
        found += headers_of(beside) if '"' in include and beside.exists() else [name]
    return tuple(dict.fromkeys(name for name in found if name.startswith("dimwise/")))


class Case:
    def __init__(self, path, folder):
        self.path = path
        self.name = path.relative_to(folder).with_suffix("").as_posix()
        self.mistake, self.rule, self.origin = "", "", ""
        self.variants = ["plain"]
        self.lines = {}         # compiler family -> how many lines it may print
        self.expectations = []  # (regular expression, condition or "")
        self.problems = []
        text = path.read_text(encoding="utf-8")
        self.includes = sorted(united.includes(text))
        # Two preludes declare the same names; the library's headers go together.
        self.preludes = tuple((path.parent / include.split('"')[1]).resolve() for include in self.includes if '"' in include)
        self.headers = headers_of(path)
        self.has_macros = bool(re.search(r"^\s*#\s*(define|undef|pragma)", text, flags=re.MULTILINE))
        for line in text.splitlines():
            head = re.match(r"//\s*([A-Z]+)(?:\((\w+)\))?:\s*(.*?)\s*$", line)
            if not head:
                continue
            word, condition, text = head.groups()
            if word in ONE_LINE:
                setattr(self, ONE_LINE[word], text)
            elif word == "LINES":
                self.lines[condition] = int(text)
            elif word == "VARIANTS":
                self.variants += text.lower().split()
            elif word == "EXPECT":
                self.expectations.append((text, condition or ""))
        if not self.mistake:
            self.problems.append("no line // MISTAKE: ...")
        if not re.fullmatch(r"R\d+", self.rule):
            self.problems.append("no line // RULE: R<number>")
        if not self.expectations:
            self.problems.append("no line // EXPECT: ...")
        for variant in self.variants:
            if variant not in VARIANTS:
                self.problems.append(f"unknown variant {variant!r}; there are {', '.join(VARIANTS[1:])}")
        for text, condition in self.expectations:
            if condition not in ("", "gcc", "clang", *VARIANTS):
                self.problems.append(f"EXPECT({condition}): neither a compiler family nor a variant")
            try:
                re.compile(text)
            except re.error as problem:
                self.problems.append(f"EXPECT: {text}: {problem}")


def examples(root):
    """-> the names of the cases that stand for an error in the tables"""
    tables = (root / "include/dimwise/support/diagnostics").glob("*.hpp")
    return {case for table in tables for case in re.findall(r'\.example = "([^"]+)"', table.read_text(encoding="utf-8"))}


def error_type(text):
    """The first ERROR_R..<...> of a message, without spaces, quotes and namespaces; "" if there is none."""
    start = re.search(r"\bERROR_R\d+\w*", text)
    if not start:
        return ""
    end, depth = start.end(), 0
    if text[end:end + 1] == "<":
        for end in range(start.end(), len(text)):
            depth += {"<": 1, ">": -1}.get(text[end], 0)
            if depth == 0:
                end += 1
                break
    name = re.sub(r"\s|['\"`\u2018\u2019]", "", text[start.start():end])
    name = re.sub(r"\{anonymous\}::|\(anonymousnamespace\)::|\b[A-Za-z_]\w*::", "", name)
    return re.sub(r"\b(\d+)(?:u|l)+\b", r"\1", name, flags=re.IGNORECASE)


def include_lines(lines, chains):
    """How many lines g++ prints to say who includes the headers that it names; it does not repeat a part of a chain."""
    count, last, told = 0, "", set()
    for line in lines:
        found = re.match(r"(?:include/)?([^\s:|]+):\d+(?::\d+)?: (?:fatal )?(?:error|note): ", line)
        if found and found[1] != last:
            last = found[1]
            for header in chains.get(last, ()):
                if header in told:
                    break
                told.add(header)
                count += 1
    return count


def judge(case, variant, compiler, text, code, chains):
    """-> what is wrong with the compiler's answer to the mistake. `chains`: who includes a header, by its name"""
    # Without the lines that say who includes what: a precompiled header has others than a user's compiler prints.
    lines = [line for line in text.splitlines() if not united.INCLUDED.match(line)]
    problems = []
    if code == 0:
        return ["compiles, but must not"]
    errors = sum(1 for line in lines if re.search(r"\b(?:fatal )?error: ", line))
    if errors != 1:
        problems.append(f"{errors} errors, must be 1")
    most = case.lines.get(compiler.family, MAX_LINES)
    if (printed := len(lines) + include_lines(lines, chains)) > most:
        problems.append(f"{printed} lines, must be at most {most}")
    said = [line for line in lines if not re.match(r".*: In (instantiation|function|member)", line)]
    if not re.search(rf"(?<![A-Za-z0-9]){case.rule}(?![0-9])", "\n".join(said[:FIRST_LINES])):
        problems.append(f"the first {FIRST_LINES} lines do not name {case.rule}")
    for pattern, condition in case.expectations:
        if condition in ("", compiler.family, variant) and not any(re.search(pattern, line) for line in lines):
            problems.append(f"nothing matches EXPECT: {pattern}")
    return problems


class Harness:
    def __init__(self, root, found, header, use_pch, standard=(compilers.STANDARD,), says="", stores=False, rotates=False):
        """`says`: a header whose errors are those of the case that they mention; where two cases cause one, the second has none.
        `stores`: right answers are stored, and taken from the store. `rotates`: of several clangs one judges a case that is no
        example of an error"""
        self.root, self.compilers, self.says = root, found, says
        self.clangs = [compiler for compiler in found if compiler.is_clang] if rotates else []
        self.examples = examples(root) if rotates else set()
        # Cases that cannot be compiled with others: as mistakes, as twins.
        self.loners = {(compiler.name, fixed): set() for compiler in found for fixed in (False, True)}
        self.flags = [*standard, "-Iinclude"]
        if use_pch:  # fast: kernels as a library, because no mistake is theirs and each case would instantiate them
            self.flags.append("-DDIMWISE_COMPILED_KERNELS")
        self.pch, self.known_chains = {}, {}
        for compiler in found:
            self.pch[compiler.name] = []
            if use_pch and (root / "include" / header).exists():
                use, reason = compiler.precompile(header, self.flags, root, ["include"])
                if reason:
                    print(f"note: {compiler.name} cannot precompile <{header}>, so this takes longer:\n{reason}")
                self.pch[compiler.name] = use
        self.stores = stores and use_pch
        # What answers depend on besides the case and the library: preludes, and how texts are made.
        shared = [*sorted((root / "tests").rglob("*.hpp")), pathlib.Path(__file__), pathlib.Path(united.__file__)] if self.stores else []
        self.shared = b"\0".join(path.read_bytes() for path in shared)

    def chains(self, case, compiler):
        """-> {a header: it and those that include it}, for a user's program with the case's headers, compiled with g++"""
        if compiler.is_clang:
            return {}
        if case.headers not in self.known_chains:
            source = "".join(f"#include <{header}>\n" for header in case.headers)
            _, text = compiler.run([*self.flags, "-H", "-E", "-o", os.devnull], self.root, source=source)
            above, known = [], {}
            for dots, name in re.findall(r"^(\.+) (?:include/)?(\S+)", text, flags=re.MULTILINE):
                above = [*above[:len(dots) - 1], name]
                known.setdefault(name, above[::-1])
            self.known_chains[case.headers] = known
        return self.known_chains[case.headers]

    def compilers_of(self, case):
        """-> the compilers that judge a case; a case has the same clang in every run, until its name changes"""
        if len(self.clangs) < 2 or case.name in self.examples:
            return self.compilers
        chosen = self.clangs[zlib.crc32(case.name.encode()) % len(self.clangs)]
        return [compiler for compiler in self.compilers if compiler is chosen or not compiler.is_clang]

    def arguments(self, variant, fixed):
        macros = [] if variant == "plain" else [f"-D{variant.upper()}"]
        macros += ["-DFIXED"] if fixed else []
        return [*self.flags, *macros, "-fsyntax-only"]

    def compile(self, case, variant, compiler, fixed, pch=True):
        extra = self.pch[compiler.name] if pch else []
        return compiler.run([*extra, *self.arguments(variant, fixed), os.path.relpath(case.path, self.root)], self.root)

    def command(self, case, variant, compiler, fixed):
        return shlex.join([compiler.command, *self.arguments(variant, fixed), os.path.relpath(case.path, self.root)])

    def compile_together(self, cases, variant, compiler, fixed):
        source = united.united([case.path for case in cases], self.root, WRAP)
        return compiler.run([*self.pch[compiler.name], compiler.no_limit, *self.arguments(variant, fixed)], self.root, source=source)

    def stored(self, case, variant, compiler, fixed):
        """-> the file of a right answer, which may not exist; None where nothing is stored. Its name has all that the answer depends on
        but the headers of the library, on which the precompiled header's depends"""
        if not self.stores or not self.pch[compiler.name]:
            return None
        key = hashlib.sha256(b"\0".join([case.name.encode(), variant.encode(), case.path.read_bytes(), self.shared]))
        folder = pathlib.Path(self.pch[compiler.name][1]).parent / ("twins" if fixed else "mistakes")
        return folder / f"{key.hexdigest()[:32]}.json"

    def store(self, case, variant, compiler, fixed, answer):
        path = self.stored(case, variant, compiler, fixed)
        if path and not path.exists():
            with compilers.written(path) as private:
                private.write_text(json.dumps(answer), encoding="utf-8")

    def answers(self, cases, variant, compiler, fixed):
        """-> {case's name: (exit code, text)} of the cases that need not be compiled, or not alone"""
        known = {}
        for case in cases:
            path = self.stored(case, variant, compiler, fixed)
            if path and path.exists():
                known[case.name] = tuple(json.loads(path.read_text(encoding="utf-8")))
        rest = [case for case in cases if case.name not in known]
        return {**known, **self.answers_together(rest, variant, compiler, fixed)}

    def answers_together(self, cases, variant, compiler, fixed):
        """-> {case's name: (exit code, text)} of the cases that need not be compiled alone"""
        loners = self.loners[compiler.name, fixed]
        rest = [case for case in cases if case.name not in loners]
        while len(rest) > 1:
            code, text = self.compile_together(rest, variant, compiler, fixed)
            if code == 0:
                return {case.name: (0, "") for case in rest} if fixed else {}
            named = {os.path.relpath(case.path, self.root): case for case in rest}
            said, strangers, harmful = {}, code != 1, set()
            for one in united.diagnostics(text):
                mentioned = one.sources(named)
                strangers = strangers or not mentioned
                for name in mentioned:
                    said.setdefault(name, []).append(one)
                # Printed once, and not for the next case that causes it; a fatal one ends everything.
                place = os.path.relpath(self.root / one.place, self.root)
                if fixed or len(mentioned) > 1 or place not in {*named, self.says} or one.kind not in ("error", "warning"):
                    harmful |= mentioned
            if strangers or (fixed and not harmful):
                half = len(rest) // 2
                return {**self.answers_together(rest[:half], variant, compiler, fixed),
                        **self.answers_together(rest[half:], variant, compiler, fixed)}
            if not harmful:
                return {named[name].name: (code, united.as_alone("\n".join(one.lines), self.root, WRAP)
                                           + ("\n1 error generated." if compiler.is_clang else ""))
                        for name, (one, *others) in said.items() if not others and one.kind == "error"}
            loners |= {named[name].name for name in harmful}
            rest = [case for name, case in named.items() if name not in harmful]
        return {}

    def check(self, case, variant, known):
        """`known`: answers by (compiler's name, variant, fixed). -> (problems: [(what, command, text)], records for --json)"""
        problems, records, types = [], [], {}
        for compiler in self.compilers_of(case):
            answer = known.get((compiler.name, variant, False), {}).get(case.name)
            if not answer or judge(case, variant, compiler, answer[1], answer[0], self.chains(case, compiler)):
                code, text = self.compile(case, variant, compiler, fixed=False)
                answer = code, united.as_alone(text, self.root)
            code, text = answer
            command = self.command(case, variant, compiler, fixed=False)
            wrong = judge(case, variant, compiler, text, code, self.chains(case, compiler))
            problems += [(f"{compiler.name}: {problem}", command, text) for problem in wrong]
            if not wrong:
                self.store(case, variant, compiler, False, answer)
            types[compiler.name] = error_type(text)
            records.append({"case": case.name, "variant": variant, "compiler": compiler.name, "version": compiler.version, "text": text})
            if case.name not in known.get((compiler.name, variant, True), {}):
                code, text = self.compile(case, variant, compiler, fixed=True)
                if code != 0:
                    problems.append((f"{compiler.name}: the corrected twin does not compile",
                                     self.command(case, variant, compiler, fixed=True), text))
                    continue
            self.store(case, variant, compiler, True, (0, ""))
        if len(set(types.values())) > 1:
            if known:  # before it is said, each alone
                return self.check(case, variant, {})
            readable = "\n".join(f"    {name:9} {text or '(no ERROR_R..<...>)'}" for name, text in types.items())
            problems.append(("the error's type differs between the compilers:\n" + readable, "", ""))
        return problems, records


def units(cases):
    """-> [[case]] that may be compiled together: with the same preludes, those with the fewest includes first"""
    groups = {}
    for case in sorted(cases, key=lambda case: (len(case.includes), case.includes)):
        if not case.has_macros:
            groups.setdefault(case.preludes, []).append(case)
    return [group[start:start + TOGETHER] for group in groups.values() for start in range(0, len(group), TOGETHER)]


def load(root, pattern):
    folder = root / "tests/compile_fail"
    cases = [Case(path, folder) for path in sorted(folder.rglob("*.cpp"))]
    return [case for case in cases if re.search(pattern, case.name)]


def run(harness, cases, jobs, out=print, variants=VARIANTS):
    """-> (passed, failed, records); a variant of a case is one test."""
    passed, failed, records = 0, 0, []
    good = [case for case in cases if not case.problems]
    for case in cases:
        if case.problems:
            failed += 1
            out(f"FAILED {case.name}: its header is wrong:\n  " + "\n  ".join(case.problems))
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        asked = []
        for variant in variants:
            for compiler in harness.compilers:
                for unit in units([case for case in good if variant in case.variants and compiler in harness.compilers_of(case)]):
                    asked += [(compiler.name, variant, fixed, pool.submit(harness.answers, unit, variant, compiler, fixed))
                              for fixed in (False, True)]
        known = {}
        for name, variant, fixed, future in asked:
            known.setdefault((name, variant, fixed), {}).update(future.result())
        started = [(case, variant, pool.submit(harness.check, case, variant, known))
                   for case in good for variant in case.variants if variant in variants]
        for case, variant, future in started:
            problems, found = future.result()
            records += found
            if not problems:
                passed += 1
                continue
            failed += 1
            out(f"FAILED {case.name} ({variant}): {case.mistake}")
            last = None
            for what, command, text in problems:
                out(f"  {what}")
                if command and command != last:
                    out(f"    repeat: {command}")
                    out("".join(f"    | {line}\n" for line in text.splitlines()[:40]).rstrip("\n"))
                last = command
    return passed, failed, records


def show(harness, name):
    cases = [case for case in load(harness.root, "") if case.name == name.removesuffix(".cpp")]
    if not cases:
        sys.exit(f"no case is called {name}; --list shows them")
    for variant in cases[0].variants:
        for compiler in harness.compilers:
            print(f"$ {harness.command(cases[0], variant, compiler, fixed=False)}")
            print(harness.compile(cases[0], variant, compiler, fixed=False, pch=False)[1])


def main():
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # --list | head
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--compiler", action="append", metavar="COMMAND", help="repeatable; default: " +
                        ", ".join(compilers.PROMISED))
    parser.add_argument("--filter", default="", metavar="REGEX")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--show", metavar="CASE")
    parser.add_argument("--variants", nargs="+", choices=VARIANTS, default=VARIANTS)
    parser.add_argument("--json", metavar="FILE")
    parser.add_argument("--rotate", action="store_true")
    parser.add_argument("--jobs", type=int, default=compilers.JOBS)
    arguments = parser.parse_args()

    cases = load(compilers.ROOT, arguments.filter)
    if arguments.list:
        for case in cases:
            print(f"{case.rule:4} {case.name:44} {' '.join(case.variants):30} {case.mistake}")
        return
    found = compilers.find_compilers(arguments.compiler)
    if not found:
        sys.exit("no compiler found; bash tools/setup.sh tests installs them")
    harness = Harness(compilers.ROOT, found, "dimwise/dimwise.hpp", use_pch=not arguments.show, stores=True, rotates=arguments.rotate)
    if arguments.show:
        show(harness, arguments.show)
        return
    if not cases:
        sys.exit(f"no case in tests/compile_fail matches {arguments.filter!r}")
    print("compilers: " + ", ".join(compiler.version for compiler in found))
    passed, failed, records = run(harness, cases, arguments.jobs, variants=arguments.variants)
    if arguments.json:
        pathlib.Path(arguments.json).parent.mkdir(parents=True, exist_ok=True)
        pathlib.Path(arguments.json).write_text(json.dumps(records, indent=1) + "\n", encoding="utf-8")
    rows = len({case.origin for case in cases if case.origin})
    print(f"counted: {len(cases)} mistakes in {passed + failed} variants, {rows} of them rows of the collection of bugs: "
          f"{passed} refused for the right rule, and their corrected twins accepted, by {len(found)} compilers"
          + (", most by one clang" if len(harness.clangs) > 1 else ""))
    print(f"{passed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
