#!/usr/bin/env python3
"""Compares cmake/headers.cmake, the list of headers that are installed, with the tree, and looks for the files that headers
name as their tests and benchmarks. A header that uses DIMWISE_CONFIGURATION includes the header that defines it: otherwise its
namespace would get that name itself. What X_definitions.hpp defines is declared by X.hpp and compiled by src/library.cpp.

    python3 tools/check_headers.py             # fails when the two differ
    python3 tools/check_headers.py --update    # writes the list from the tree
    python3 tools/check_headers.py --self-test
"""

import pathlib
import re
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
LIST = "cmake/headers.cmake"
NAMED = re.compile(r"\b(?:tests|benchmarks)/[\w./*-]*[\w/*]")  # in a header's comment, behind "Tests:"
CONFIGURATION = "kernels/configuration.hpp"
LIBRARY = "src/library.cpp"
DEFINITIONS = "_definitions.hpp"
SET = re.compile(r"set\(dimwise_headers\s(.*?)\)", re.DOTALL)


def tree(root):
    return sorted(path.relative_to(root).as_posix() for path in (root / "include").rglob("*.hpp"))


def missing_tests(root):
    """-> one line per file that a header names and that is not there"""
    problems = []
    for name in tree(root):
        for line in (root / name).read_text(encoding="utf-8").splitlines():
            comment, found, named = line.partition("Tests:")
            if found and comment.startswith("//"):
                problems += [f"{name}: there is no {path}" for path in NAMED.findall(named) if not any(root.glob(path.rstrip("/")))]
    return problems


def missing_configuration(root):
    """-> one line per header that uses the macro and does not include its definition"""
    texts = {name: (root / name).read_text(encoding="utf-8") for name in tree(root) if not name.endswith(CONFIGURATION)}
    return [f"{name}: uses DIMWISE_CONFIGURATION without #include <dimwise/{CONFIGURATION}>" for name, text in texts.items()
            if re.search(r"^[^/]*\bDIMWISE_CONFIGURATION\b", text, re.MULTILINE) and f"#include <dimwise/{CONFIGURATION}>" not in text]


def missing_definitions(root):
    """-> one line per X_definitions.hpp that X.hpp does not end with, or that the library does not compile"""
    library = (root / LIBRARY).read_text(encoding="utf-8") if (root / LIBRARY).exists() else ""
    problems = []
    for name in tree(root):
        if name.endswith(DEFINITIONS):
            line = f"#include <{name.removeprefix('include/')}>\n"
            header = root / (name.removesuffix(DEFINITIONS) + ".hpp")
            end = f"\n#if DIMWISE_DETAIL_DEFINES_LIBRARY\n{line}#endif\n"
            if not header.exists() or not header.read_text(encoding="utf-8").endswith(end):
                problems.append(f"{name}: {header.name} does not end with its #include")
            if line not in library:
                problems.append(f"{name}: {LIBRARY} does not compile it")
    return problems


def check(root):
    """-> one line per difference"""
    body = SET.search((root / LIST).read_text(encoding="utf-8"))
    if not body:
        return [f"{LIST}: expected set(dimwise_headers ...)"]
    listed, in_tree = body.group(1).split(), tree(root)
    problems = [f"{name} is in the tree but not in {LIST}" for name in in_tree if name not in listed]
    problems += [f"{name} is in {LIST} but not in the tree" for name in listed if name not in in_tree]
    problems += [f"{name} is listed twice" for name in sorted(set(listed)) if listed.count(name) > 1]
    if not problems and listed != sorted(listed):
        problems.append(f"{LIST} is not sorted")
    return problems + missing_tests(root) + missing_configuration(root) + missing_definitions(root)


def update(root):
    text = (root / LIST).read_text(encoding="utf-8")
    names = "\n    ".join(tree(root))
    (root / LIST).write_text(SET.sub(f"set(dimwise_headers\n    {names})", text, count=1), encoding="utf-8")


def self_test():
    failed = 0
    cases = {  # the list: what must be said; "" for nothing
        "include/a.hpp\n include/b/c.hpp": "",
        "include/a.hpp": "include/b/c.hpp is in the tree",
        "include/a.hpp\n include/b/c.hpp\n include/d.hpp": "include/d.hpp is in cmake",
        "include/a.hpp\n include/a.hpp\n include/b/c.hpp": "listed twice",
        "include/b/c.hpp\n include/a.hpp": "not sorted",
    }
    with tempfile.TemporaryDirectory() as place:
        root = pathlib.Path(place)
        (root / "include/b").mkdir(parents=True)
        (root / "cmake").mkdir()
        for name in ("include/a.hpp", "include/b/c.hpp"):
            (root / name).touch()
        for names, expected in cases.items():
            (root / LIST).write_text(f"# a comment\nset(dimwise_headers\n    {names})\n")
            said = "\n".join(check(root))
            update(root)
            if bool(said) != bool(expected) or expected not in said or check(root):
                failed += 1
                print(f"FAILED self-test {names!r}: expected {expected!r}, not {said!r}; after --update: {check(root)}")
        (root / "tests/c").mkdir(parents=True)
        (root / "tests/a.test.cpp").touch()
        named = {  # the line of a header: what must be said
            "// Tests: tests/a.test.cpp, tests/c/": "",
            "// R1. Tests: tests/*.test.cpp. Benchmark: measured": "",
            "// Tests: tests/b.test.cpp": "include/a.hpp: there is no tests/b.test.cpp",
            "// Tests: tests/a.test.cpp, tests/d/ (all)": "include/a.hpp: there is no tests/d/",
            "// Tests: tests/a.test.cpp. Benchmark: benchmarks/a.cpp": "include/a.hpp: there is no benchmarks/a.cpp",
            "inline namespace DIMWISE_CONFIGURATION {}":
                "include/a.hpp: uses DIMWISE_CONFIGURATION without #include <dimwise/kernels/configuration.hpp>",
            "#include <dimwise/kernels/configuration.hpp>\ninline namespace DIMWISE_CONFIGURATION {}": "",
        }
        for line, expected in named.items():
            (root / "include/a.hpp").write_text(line + "\n")
            said = "\n".join(check(root))
            if said != expected:
                failed += 1
                print(f"FAILED self-test {line!r}: expected {expected!r}, not {said!r}")
        (root / "src").mkdir()
        (root / "include/a_definitions.hpp").touch()
        update(root)
        end = "\n#if DIMWISE_DETAIL_DEFINES_LIBRARY\n#include <a_definitions.hpp>\n#endif\n"
        defined = {  # the header and the library: what must be said
            (end, "#include <a_definitions.hpp>\n"): "",
            (end, ""): "include/a_definitions.hpp: src/library.cpp does not compile it",
            ("", "#include <a_definitions.hpp>\n"): "include/a_definitions.hpp: a.hpp does not end with its #include",
        }
        for (header, library), expected in defined.items():
            (root / "include/a.hpp").write_text(header)
            (root / LIBRARY).write_text(library)
            said = "\n".join(check(root))
            if said != expected:
                failed += 1
                print(f"FAILED self-test {header!r}: expected {expected!r}, not {said!r}")
    count = len(cases) + len(named) + len(defined)
    print(f"{count - failed} passed, {failed} failed")
    return failed


def main():
    if sys.argv[1:] == ["--self-test"]:
        sys.exit(1 if self_test() else 0)
    if sys.argv[1:] == ["--update"]:
        update(ROOT)
    elif sys.argv[1:]:
        sys.exit(__doc__)
    problems = check(ROOT)
    if problems:
        sys.exit("\n".join(problems) + "\nTo write the list from the tree: python3 tools/check_headers.py --update")
    print(f"{len(tree(ROOT))} headers, all listed")


if __name__ == "__main__":
    main()
