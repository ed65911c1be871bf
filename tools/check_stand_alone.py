#!/usr/bin/env python3
"""Each header is compiled alone: what it uses, it includes.

    python3 tools/check_stand_alone.py                               # every header of include/
    python3 tools/check_stand_alone.py --compiler clang++-14 include/dimwise/nn.hpp
    python3 tools/check_stand_alone.py --self-test

Most of what a header costs is what it includes, and that is the same for many. So a few headers are precompiled, and each header
is compiled behind the largest of these that it includes, directly or by another one. That hides nothing: what a header
includes may be used by it. Kernels are compiled ones here: without them a header includes more. Standard library only.
"""

import argparse
import concurrent.futures
import functools
import os
import pathlib
import re
import sys
import tempfile

import compilers

FLAGS = [compilers.STANDARD, "-DDIMWISE_COMPILED_KERNELS", "-Wall", "-Wextra", "-Werror", "-Iinclude"]
INCLUDE = re.compile(r"^\s*#\s*include\s*<([^>]+)>", re.MULTILINE)
PRECOMPILED = 16
STANDARD, PACKAGED = 3000, 30000  # the lines that a header of the standard library counts for, and one of a package


class Headers:
    def __init__(self, root, paths):
        self.root = root
        self.names = [path.relative_to(root / "include").as_posix() for path in paths]
        self.texts = {path.relative_to(root / "include").as_posix(): path.read_text(encoding="utf-8")
                      for path in (root / "include").rglob("*.hpp")}

    @functools.lru_cache(maxsize=None)
    def included(self, name):
        """-> the names of all that a header includes, directly or by another one"""
        found, coming = set(), INCLUDE.findall(self.texts.get(name, ""))
        while coming:
            one = coming.pop()
            if one not in found:
                found.add(one)
                coming += INCLUDE.findall(self.texts.get(one, ""))
        return found

    @functools.lru_cache(maxsize=None)
    def cost(self, name):
        return sum(self.texts[one].count("\n") if one in self.texts else PACKAGED if "/" in one else STANDARD
                   for one in {name, *self.included(name)})

    def base(self, name, bases):
        """-> that of the bases which saves most for the header; None where it includes none of them"""
        return max((one for one in bases if one != name and one in self.included(name)), key=self.cost, default=None)

    def bases(self, count):
        """-> the headers to precompile: each saves most beside those before it, and more than it costs"""
        chosen = []
        while len(chosen) < count:
            saved = {name: self.cost(self.base(name, chosen)) if chosen and self.base(name, chosen) else 0 for name in self.names}

            def saves(candidate):
                return sum(max(0, self.cost(candidate) - saved[name]) for name in self.names
                           if name != candidate and candidate in self.included(name)) - 2 * self.cost(candidate)

            best = max(self.names, key=saves)
            if saves(best) <= 0:
                break
            chosen.append(best)
        return chosen


def check(root, paths, compiler, jobs, out=print):
    """-> (passed, failed)"""
    headers = Headers(root, paths)
    bases = headers.bases(PRECOMPILED)
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        made = dict(zip(bases, pool.map(lambda one: compiler.precompile(one, FLAGS, root, ["include"]), bases)))

        def compiled(number, name):
            source = pathlib.Path(folder) / f"{number}.cpp"
            source.write_text(f"#include <{name}>\n", encoding="utf-8")
            use, _ = made.get(headers.base(name, bases), ([], ""))
            return compiler.run([*use, *FLAGS, "-fsyntax-only", str(source)], root)

        answers = list(pool.map(compiled, range(len(headers.names)), headers.names))
    failed = 0
    for name, (code, text) in zip(headers.names, answers):
        if code or text:
            failed += 1
            out(f"FAILED {name}: does not compile alone:\n{text}")
    return len(answers) - failed, failed


def self_test(compiler):
    headers = {  # the header: its text, and whether it compiles alone
        "base.hpp": ("#pragma once\n#include <vector>\n" + "// a long one\n" * 3000 + "struct base { std::vector<int> v; };\n", True),
        "good.hpp": ("#pragma once\n#include <base.hpp>\ninline base b;\n", True),
        "by_another.hpp": ("#pragma once\n#include <good.hpp>\ninline std::vector<base> bs;\n", True),
        "forgets.hpp": ("#pragma once\ninline base* b;\n", False),
        "forgets_std.hpp": ("#pragma once\n#include <good.hpp>\ninline std::map<int, base> m;\n", False),
        "warns.hpp": ("#pragma once\n#include <base.hpp>\ninline int f() { int unused = 0; return 1; }\n", False),
    }
    failed = 0
    with tempfile.TemporaryDirectory() as place:
        root = pathlib.Path(place)
        (root / "include").mkdir()
        for name, (text, _) in headers.items():
            (root / "include" / name).write_text(text)
        paths = [root / "include" / name for name in headers]
        report = []
        check(root, paths, compiler, 2, report.append)
        for name, (_, good) in headers.items():
            if any(line.startswith(f"FAILED {name}:") for line in report) == good:
                failed += 1
                print(f"FAILED self-test {name}: the report was {report}")
        if "base.hpp" not in Headers(root, paths).bases(PRECOMPILED):
            failed += 1
            print("FAILED self-test: base.hpp is not precompiled")
    print(f"{len(headers) + 1 - failed} passed, {failed} failed")
    return failed


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("headers", nargs="*", type=pathlib.Path)
    parser.add_argument("--compiler", metavar="COMMAND", help="default: a promised one, clang where it is installed")
    parser.add_argument("--jobs", type=int, default=max(2, os.cpu_count() or 2))
    parser.add_argument("--self-test", action="store_true")
    arguments = parser.parse_args()
    compiler = compilers.quickest(compilers.find_compilers([arguments.compiler] if arguments.compiler else None))
    if arguments.self_test:
        sys.exit(1 if self_test(compiler) else 0)
    root = compilers.ROOT
    paths = [path.resolve() for path in arguments.headers] or sorted((root / "include").rglob("*.hpp"))
    passed, failed = check(root, paths, compiler, arguments.jobs)
    print(f"{passed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
