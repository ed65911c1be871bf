#!/usr/bin/env python3
"""Each header is compiled alone: what it uses, it includes.

    python3 tools/check_stand_alone.py                               # every header of include/
    python3 tools/check_stand_alone.py --compiler clang++-14 include/dimwise/nn.hpp
    python3 tools/check_stand_alone.py --self-test

Most of what a header costs is what it includes, and that is the same for many. So a few headers are precompiled, and each header
is compiled behind the largest of these that it always includes, directly or by another one. That hides nothing: what a header
includes may be used by it. Kernels are compiled ones here: without them a header includes more. Headers in which that is
another choice are compiled as the headers alone, too. Standard library only.
"""

import argparse
import concurrent.futures
import os
import pathlib
import re
import sys
import tempfile

import check_layers
import compilers

HEADERS_ALONE = [compilers.STANDARD, "-Wall", "-Wextra", "-Werror", "-Iinclude"]
FLAGS = [*HEADERS_ALONE, "-DDIMWISE_COMPILED_KERNELS"]
CHOICE = re.compile(r"^\s*#\s*(el)?if.*DIMWISE_(COMPILED_KERNELS|DETAIL_(DEFINES|HAS)_LIBRARY)", re.MULTILINE)
PRECOMPILED = 16
OF_STANDARD, OF_PACKAGE = 3000, 30000  # the lines that a header of the standard library counts for, and one of a package


def always_included(text):
    """-> the names of the headers that a text includes outside of every #if"""
    names, depth = [], 0
    for line in text.splitlines():
        if directive := re.match(r"\s*#\s*(if|endif)", line):
            depth += {"if": 1, "endif": -1}[directive[1]]
        elif not depth and (include := check_layers.INCLUDE.match(line)):
            names.append(include[2])
    return names


def bases(texts, names):
    """-> {name: the header to precompile for it, or None}. `texts`: those of all headers of the project. Each base saves most
    beside those before it, and more than it costs."""
    included = {}  # by each header, directly or by another one

    def all_included(name):
        if name not in included:
            included[name] = set()
            for one in always_included(texts.get(name, "")):
                included[name] |= {one, *all_included(one)}
        return included[name]

    def lines(name):
        return texts[name].count("\n") if name in texts else OF_PACKAGE if "/" in name else OF_STANDARD

    cost = {None: 0, **{name: sum(map(lines, {name, *all_included(name)})) for name in texts}}
    users = {base: [name for name in names if base in included[name]] for base in texts}
    behind = dict.fromkeys(names)

    def saves(base):
        return sum(max(0, cost[base] - cost[behind[name]]) for name in users[base]) - 2 * cost[base]

    for _ in range(PRECOMPILED):
        best = max(texts, key=saves)
        if saves(best) <= 0:
            break
        behind.update({name: best for name in users[best] if cost[best] > cost[behind[name]]})
    return behind


def check(root, paths, compiler, jobs, out=print):
    """-> (passed, failed)"""
    texts = {path.relative_to(root / "include").as_posix(): path.read_text(encoding="utf-8") for path in (root / "include").rglob("*.hpp")}
    behind = bases(texts, [path.relative_to(root / "include").as_posix() for path in paths])
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        made = sorted({base for base in behind.values() if base})
        precompiled = dict(zip(made, pool.map(lambda base: compiler.precompile(base, FLAGS, root, ["include"])[0], made)))

        def says(name):
            source = pathlib.Path(folder) / name.replace("/", "-").replace(".hpp", ".cpp")
            source.write_text(f"#include <{name}>\n", encoding="utf-8")
            ways = [[*precompiled.get(behind[name], []), *FLAGS], *([HEADERS_ALONE] if CHOICE.search(texts[name]) else [])]
            return "".join(text or f"it ends with code {code}\n" * bool(code) for code, text in
                           (compiler.run([*way, "-fsyntax-only", str(source)], root) for way in ways))

        answers = dict(zip(behind, pool.map(says, behind)))
    failed = {name: text for name, text in answers.items() if text}
    for name, text in failed.items():
        out(f"FAILED {name}: does not compile alone:\n{text}")
    return len(answers) - len(failed), len(failed)


def self_test(compiler):
    headers = {  # the header: its text, and whether it compiles alone
        "base.hpp": ("#pragma once\n#include <vector>\n" + "// a long one\n" * 3000 + "struct base { std::vector<int> v; };\n", True),
        "good.hpp": ("#pragma once\n#include <base.hpp>\ninline base b;\n", True),
        "by_another.hpp": ("#pragma once\n#include <good.hpp>\ninline std::vector<base> bs;\n", True),
        "forgets.hpp": ("#pragma once\ninline base* b;\n", False),
        "forgets_std.hpp": ("#pragma once\n#include <good.hpp>\ninline std::map<int, base> m;\n", False),
        "sometimes.hpp": ("#pragma once\n#if 0\n#include <base.hpp>\n#endif\ninline base* b;\n", False),
        "forgets_in_a_choice.hpp": ("#pragma once\n#ifndef DIMWISE_COMPILED_KERNELS\ninline base* b;\n#endif\n", False),
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
        behind = bases({name: text for name, (text, _) in headers.items()}, list(headers))
        if behind["good.hpp"] != "base.hpp" or behind["forgets.hpp"]:
            failed += 1
            print(f"FAILED self-test: these are compiled behind others: {behind}")
    print(f"{len(headers) + 1 - failed} passed, {failed} failed")
    return failed


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("headers", nargs="*", type=pathlib.Path)
    parser.add_argument("--compiler", metavar="COMMAND", help="default: a promised one, clang where it is installed")
    parser.add_argument("--jobs", type=int, default=max(2, os.cpu_count() or 2))
    parser.add_argument("--self-test", action="store_true")
    arguments = parser.parse_args()
    found = compilers.find_compilers([arguments.compiler] if arguments.compiler else None)
    if not found:
        sys.exit("no compiler found; bash tools/setup.sh tests installs them")
    compiler = compilers.quickest(found)
    if arguments.self_test:
        sys.exit(1 if self_test(compiler) else 0)
    root = compilers.ROOT
    paths = [path.resolve() for path in arguments.headers] or sorted((root / "include").rglob("*.hpp"))
    passed, failed = check(root, paths, compiler, arguments.jobs)
    print(f"{passed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
