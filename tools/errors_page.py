#!/usr/bin/env python3
"""Writes docs/errors.md: what every compile error means, its cure, wrong and right code, what the compilers print.

    python3 tools/errors_page.py            # compiles the cases of tests/compile_fail and writes the page
    python3 tools/errors_page.py --check    # fails when an id has no cure, a cure no id, or the page is not the one
                                            # that would be written (texts of compilers that are absent are not compared)
    python3 tools/errors_page.py --check --texts build/mistakes.json   # with what tools/compile_fail.py --json wrote
    python3 tools/errors_page.py --dry-run  # prints the page

Compared are the ids, their meanings, cures and code, and the texts of the compilers but for lines of the library's headers.
The meaning is the comment above the id in include/dimwise/support/errors.hpp, the code and the texts are those of the
first case in tests/compile_fail that expects that id, the cures are
those of tools/dimwise_errors.py. Standard library only.
"""

import argparse
import difflib
import json
import os
import pathlib
import re
import sys
import textwrap

import compile_fail
import compilers
import dimwise_errors
from dimwise_errors import CURES

ERRORS = "include/dimwise/support/errors.hpp"
PAGE = "docs/errors.md"

HEAD = f"""# Compile errors

<!-- generated: python3 tools/errors_page.py; do not edit -->

One mistake gives one error. Its name begins with `ERROR_` and the rule's id; its arguments are the operation, the
dimensions that it named (`over<about<D, extent<64>>>`), and the dimensions and marks of its operands (`lhs`, `rhs`,
`operand_shape`, or `declared` and `computed`). [How to read an error](howto/read_an_error.md) takes one apart.

This page lists every error: what it means, what to do, its picture, a wrong line and its corrected twin, and what each
compiler prints. The picture is what [`dimwise-errors`](howto/read_an_error.md#readable-messages-from-dimwise-errors) says: equal dimensions are
below one another, `^` marks the culprit, `-` is where a shape lacks it. The code is that of `tests/compile_fail`, the
texts are what the compilers printed when the page was written.
The names that the code uses (`q`, `k`, `v`, `d_k`, …) are declared in `tests/compile_fail/prelude.hpp`.
"""
PICTURE = "<!-- picture -->"
NOTE = "<!-- no-compile: a case of tests/compile_fail, where the mistake must fail and its twin must compile -->"


def ids(root):
    """-> [(rule's line, [(id, meaning)])]"""
    rules, comment = [], []
    for line in (root / ERRORS).read_text(encoding="utf-8").splitlines():
        rule = re.match(r"// (R\d+)\s+(.*)", line)
        if rule:
            rules.append((f"{rule[1]}: {rule[2]}", []))
        elif line.startswith("/// "):
            comment.append(line[4:])
        elif re.match(r"struct ERROR_\w+;", line):
            rules[-1][1].append((line[len("struct "):-1], " ".join(comment)))
            comment = []
        elif not line.startswith("template"):
            comment = []
    return rules


def is_true(condition, macros):
    """Evaluates what stands after #if: defined, !, &&, ||, brackets."""
    text = re.sub(r"defined\s*\(?\s*(\w+)\s*\)?", lambda name: str(name[1] in macros), condition)
    text = text.replace("&&", " and ").replace("||", " or ").replace("!", " not ")
    if not re.fullmatch(r"(?:True|False|and|or|not|[()\s])*", text):
        raise ValueError(f"#if {condition}: only defined, !, && and || are understood")
    return bool(eval(text))  # words checked above


def preprocessed(source, macros):
    """The lines of a case that a compiler sees with these macros."""
    lines, stack = [], []  # stack of [branch taken now, some branch was taken]
    for line in source.splitlines():
        directive = re.match(r"#\s*(ifdef|ifndef|if|elif|else|endif)\b\s*(.*?)\s*(?://.*)?$", line)
        if not directive:
            if all(taken for taken, _ in stack):
                lines.append(line)
            continue
        word, rest = directive.groups()
        if word in ("ifdef", "ifndef", "if"):
            now = is_true(rest, macros) if word == "if" else (rest in macros) == (word == "ifdef")
            stack.append([now, now])
        elif word == "endif":
            stack.pop()
        else:
            now = not stack[-1][1] and (word == "else" or is_true(rest, macros))
            stack[-1] = [now, stack[-1][1] or now]
    return lines


def shown(source, macros):
    """-> the code of a case as a user would write it, without its head."""
    lines = [line for line in preprocessed(source, macros)
             if not re.match(r"//\s*(MISTAKE|RULE|EXPECT|FROM|VARIANTS|SPDX)|#include|// SPDX", line)]
    text = re.sub(r"\[\[maybe_unused\]\] ", "", "\n".join(lines)).replace("RESULT ", "tensor ")
    return re.sub(r"\n{3,}", "\n\n", text).strip("\n")


def code_blocks(source):
    """-> the wrong code and the right code."""
    blocks = []
    for title, macros in (("Wrong", set()), ("Right", {"FIXED"})):
        blocks.append(f"{title}:\n\n{NOTE}\n```cpp\n{shown(source, macros)}\n```\n")
    return "\n".join(blocks)


def texts_of(root, cases, found, jobs, file):
    """-> {case name: {compiler name: text}}, as compile_fail recorded them in that file, or of now"""
    if file:
        records = json.loads(file.read_text(encoding="utf-8"))
    else:
        harness = compile_fail.Harness(root, found, "dimwise/dimwise.hpp", use_pch=True)
        records = compile_fail.run(harness, cases, jobs, variants=("plain",))[2]
    texts, names = {}, {case.name for case in cases}
    for record in records:
        if record["variant"] == "plain" and record["case"] in names:
            texts.setdefault(record["case"], {})[record["compiler"]] = record["text"].rstrip("\n")
    return texts


def entry(root, name, meaning, cases, texts, uses):
    lines = [f"### {name}", "", meaning, "", f"Cure: {CURES[name]}", ""]
    if not uses:
        lines += ["No operation of this version returns it.", ""]
    if not cases:
        return "\n".join(lines)
    first = cases[0]
    lines += [f"`tests/compile_fail/{first.name}.cpp`: {first.mistake}", "", *picture(texts[first.name]), code_blocks(first.path.read_text(encoding="utf-8"))]
    for compiler, text in texts[first.name].items():
        lines += ["<details>", f"<summary>{compiler}</summary>", "", "```text", text, "```", "", "</details>", ""]
    if len(cases) > 1:
        lines += ["Other mistakes with this error:", ""]
        lines += [f"* `{case.name}`: {case.mistake}" for case in cases[1:]] + [""]
    return "\n".join(lines)


def picture(texts):
    """-> the block with the shapes of what a compiler said, as dimwise-errors shows them; the site has a drawing there"""
    facts = dimwise_errors.read(next(iter(texts.values())).splitlines())[2]
    if not facts.rows + facts.overs + facts.others:
        sys.exit(f"{facts.id}: the case that the page shows has no shapes; FROM in its head makes another one the first")
    return [PICTURE, "```text", *textwrap.wrap(facts.said(), 100, break_on_hyphens=False), "", *facts.table(dimwise_errors.Colours(False)), "```", ""]


def wrapped(text):
    """Prose at 120 columns; everything that must stay on its line is left alone."""
    out, code = [], False
    for line in text.splitlines():
        code ^= line.startswith("```")
        if code or len(line) <= 120 or re.match(r"[`<#|]{3}|<", line):
            out.append(line)
        else:
            out += textwrap.wrap(line, 120, break_long_words=False, break_on_hyphens=False,
                                 subsequent_indent="  " if line.startswith("* ") else "")
    return "\n".join(out) + "\n"


def write_page(root, found, jobs, file=None):
    of_id = {}
    for case in compile_fail.load(root, ""):
        name = re.search(r"ERROR_R\d+\w*", " ".join(text for text, _ in case.expectations))
        if name and not case.problems:
            of_id.setdefault(name[0], []).append(case)
    for mistakes in of_id.values():
        mistakes.sort(key=lambda case: not case.origin)  # what was made before is the best example
    texts = texts_of(root, [cases[0] for cases in of_id.values()], found, jobs, file)
    sources = "\n".join(path.read_text(encoding="utf-8") for path in sorted((root / "include").rglob("*.hpp"))
                        if path != root / ERRORS)
    page = [HEAD]
    for rule, errors in ids(root):
        page.append(f"## {rule}\n")
        for name, meaning in errors:
            page.append(entry(root, name, meaning, of_id.get(name, []), texts, name in sources))
    without = [name for _, errors in ids(root) for name, _ in errors if name not in of_id]
    versions = "\n".join(f"* {compiler.name}: {compiler.version}" for compiler in found)
    page.append(f"## The compilers\n\n{versions}\n")
    return wrapped("\n".join(page)), without


def comparable(page, absent):
    """A page without the texts of compilers that are not here, without versions and line numbers of the library."""
    for name in absent:
        page = re.sub(rf"<details>\n<summary>{re.escape(name)}</summary>\n.*?</details>\n\n?", "", page, flags=re.DOTALL)
    page = page.split("## The compilers")[0]
    page = re.sub(r"\bauto:\d+", "auto", page)  # g++ counts the parameters of all generic lambdas before
    return re.sub(r"(include/[\w/]+\.hpp):\d+(?::\d+)?|^ *\d+ \|", r"\1", page, flags=re.MULTILINE)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--dry-run", action="store_true")
    parser.add_argument("--texts", type=pathlib.Path, metavar="FILE")
    parser.add_argument("--jobs", type=int, default=max(2, os.cpu_count() or 2))
    arguments = parser.parse_args()

    root = compilers.ROOT
    declared = {name for _, errors in ids(root) for name, _ in errors}
    problems = [f"{name} has no cure in tools/dimwise_errors.py" for name in sorted(declared - CURES.keys())]
    problems += [f"{name} is not declared in {ERRORS}" for name in sorted(CURES.keys() - declared)]
    if problems:
        sys.exit("\n".join(problems))
    found = compilers.find_compilers()
    page, without = write_page(root, found, arguments.jobs, arguments.texts)
    if arguments.dry_run:
        print(page, end="")
    elif arguments.check:
        path = root / PAGE
        absent = {"g++-12", "clang-14", "clang-19"} - {compiler.name for compiler in found}
        old = path.read_text(encoding="utf-8") if path.exists() else ""
        if comparable(old, absent) != comparable(page, absent):
            for line in difflib.unified_diff(comparable(old, absent).splitlines(), comparable(page, absent).splitlines(),
                                             f"{PAGE} as it is", "as it would be written", lineterm="", n=1):
                print(line)
            sys.exit(f"{PAGE} is not what the cases give now; to write it again: python3 tools/errors_page.py")
        print(f"{len(declared)} errors, {PAGE} is up to date")
    else:
        (root / PAGE).write_text(page, encoding="utf-8")
        print(f"{PAGE}: {len(declared)} errors, {len(declared) - len(without)} with a case")
        for name in without:
            print(f"without a case: {name}")


if __name__ == "__main__":
    main()
