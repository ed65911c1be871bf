#!/usr/bin/env python3
"""Writes the page of all compile errors, which the site shows below docs/errors.md: what each means, its causes and its fix, wrong and
right code, and what the compilers print.

    python3 tools/errors_page.py                              # writes build/errors.md; compiles the examples of the errors
    python3 tools/errors_page.py --texts build/mistakes.json  # with the texts that tools/compile_fail.py --json wrote

The entries are those of include/dimwise/support/diagnostics (`dimwise-errors --list`), the code and the texts those of the case in
tests/compile_fail that an entry names as its example. unifdef (Debian) takes the wrong and the right code out of a case.
Why no kept tool: the entries are C++ constants, and the texts are those of several compilers.
"""

import argparse
import pathlib
import re
import subprocess
import sys
import textwrap

import compile_fail
import compilers
import errors_program

PAGE = compilers.ROOT / "build/errors.md"
PICTURE = "<!-- picture -->"
NOTE = "<!-- no-compile: a case of tests/compile_fail, where the mistake must fail and its twin must compile -->"


def rules(root):
    """-> {"R7": what the rule says}"""
    text = (root / "include/dimwise/support/errors.hpp").read_text(encoding="utf-8")
    return dict(re.findall(r"^// (R\d+)\s+(.*)", text, re.MULTILINE))


def shown(path, is_fixed):
    """-> the code of a case as a user would write it: without its head, its variants and the other of mistake and twin."""
    done = subprocess.run(["unifdef", "-DFIXED" if is_fixed else "-UFIXED", "-UEQUAL", "-UUNUSED", "-UDYNAMIC", str(path)], capture_output=True, text=True)
    if done.returncode > 1:  # 1: something was left out
        raise ValueError(f"unifdef does not read {path}: {done.stderr}")
    lines = [line for line in done.stdout.splitlines() if not re.match(r"//\s*(MISTAKE|RULE|EXPECT|FROM|LINES|VARIANTS|SPDX)|#include|// SPDX", line)]
    text = re.sub(r"\[\[maybe_unused\]\] ", "", "\n".join(lines)).replace("RESULT ", "tensor ")
    text = re.sub(r"\bEXTENT\((\w+)\)", r"\1", text)
    for name in re.findall(r"^#define (\w+)$", text, re.M):  # a variant fills it
        text = re.sub(rf"^#define {name}$| ?\b{name}\b", "", text, flags=re.M)
    left = re.search(r"^#.*|\b(EXTENT|RESULT|FIXED)\b", text, re.M)
    if left:
        raise ValueError(f"{path}: a reader would see {left[0]}, which is of the tests")
    return re.sub(r"\n{3,}", "\n\n", text).strip("\n")


def code_blocks(path):
    """-> the wrong code and the right code."""
    return "\n".join(f"{title}:\n\n{NOTE}\n```cpp\n{shown(path, title == 'Right')}\n```\n" for title in ("Wrong", "Right"))


def picture(error):
    """-> the block with the shapes of what a compiler said, as dimwise-errors shows them; the site has a drawing there"""
    if error is None or not error["rows"]:
        raise ValueError("the example of an error has no shapes")
    return [PICTURE, "```text", *textwrap.wrap(errors_program.said(error), 100, break_on_hyphens=False), "", *error["table"], "```", ""]


def entry(one, mistakes, texts, error):
    """The section of an error. `mistakes`: {case's name: case} of this error, `texts`: {compiler: text} of its example"""
    example = mistakes[one["example"]]
    lines = [f"### {one['id']}", "", one["title"], "", "Likely causes:", "", *[f"* {cause}" for cause in one["causes"]], "", f"Fix: {one['fix']}", "",
             f"`tests/compile_fail/{example.name}.cpp`: {example.mistake}", "", *picture(error), code_blocks(example.path)]
    for compiler, text in texts.items():
        lines += ["<details>", f"<summary>{compiler}</summary>", "", "```text", text, "```", "", "</details>", ""]
    others = [case for name, case in mistakes.items() if name != example.name]
    if others:
        lines += ["Other mistakes with this error:", "", *[f"* `{case.name}`: {case.mistake}" for case in others], ""]
    return "\n".join(lines)


def page(records):
    """-> the text of the page, of the records of compile_fail"""
    root, cases, texts = compilers.ROOT, {}, {}
    for case in compile_fail.load(root, ""):
        name = re.search(r"ERROR_R\d+\w*", " ".join(text for text, _ in case.expectations))
        if name and not case.problems:
            cases.setdefault(name[0], {})[case.name] = case
    for one in records:
        if one["variant"] == "plain":
            texts.setdefault(one["case"], {})[one["compiler"]] = one["text"].rstrip("\n")
    table = errors_program.table().values()
    absent = [one["id"] for one in table if one["example"] not in texts or one["example"] not in cases.get(one["id"], {})]
    if absent:
        raise ValueError("no compiler printed the error of the example of " + ", ".join(absent))
    errors = errors_program.read_all([next(iter(texts[one["example"]].values())) + "\n" for one in table])
    known, said, parts = rules(root), set(), []
    for one, found in zip(table, errors):
        if one["rule"] not in said:
            parts.append(f"## {one['rule']}: {known[one['rule']]}\n")
            said.add(one["rule"])
        parts.append(entry(one, cases[one["id"]], texts[one["example"]], next(iter(found), None)))
    versions = {one["compiler"]: one["version"] for one in records}
    parts.append("## The compilers\n\n" + "\n".join(f"* {name}: {version}" for name, version in versions.items()) + "\n")
    return "\n".join(parts) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--texts", type=pathlib.Path, metavar="FILE")
    parser.add_argument("--output", type=pathlib.Path, default=PAGE, metavar="FILE")
    arguments = parser.parse_args()
    examples = {one["example"] for one in errors_program.table().values()}
    try:
        text = page(errors_program.records_of_mistakes(arguments.texts, only=examples))
    except ValueError as problem:
        sys.exit(str(problem))
    arguments.output.parent.mkdir(parents=True, exist_ok=True)
    arguments.output.write_text(text, encoding="utf-8")
    print(f"{arguments.output}: {len(errors_program.table())} errors")


if __name__ == "__main__":
    main()
