#!/usr/bin/env python3
"""Prints the table of docs/reference/marks.md: what each operation does with each mark.

    python3 tools/marks_table.py      # also: cmake --build --preset dev --target marks

The operations are those that include/dimwise/shape/marks_table/operations.hpp declares, the effects those of the rows, which a compiler prints.
Why no kept tool: the table is made of C++ constants. Standard library only.
"""

import pathlib
import re
import subprocess
import sys
import tempfile

import compilers

MARKS = ("raw", "score", "masked_for", "biased_for", "normalised", "weighted", "log_normalised", "rotated", "indexed", "partial")
TEXTS = ("sets", "needs", "note")
EFFECTS = {"keep": "keep", "drop": "end", "refuse": "**refuse**", "weaken": "weaken", "by_rule": "rule"}
SYMBOLS = {"elementwise": "`+ - *`", "divide": "`/`", "compare": "`a < b`", "maximum": "`max(a, b)`", "minimum": "`min(a, b)`",
           "assign": "assignment to a declared type"}
# Those of masks and of caches, which the page leaves out.
LEFT_OUT = {"padding", "allow", "block", "whole_rows", "mask_and", "mask_or", "causal", "window", "prefix", "document", "append", "linear_attention"}


def operations(root):
    """-> the names of the rows, in the order of the header"""
    header = (root / "include/dimwise/shape/marks_table/operations.hpp").read_text(encoding="utf-8")
    declared = re.findall(r"^struct (\w+);", header, flags=re.M)
    if not LEFT_OUT <= set(declared):
        sys.exit(f"marks_table: no operation is called {' or '.join(LEFT_OUT.difference(declared))}")
    return [name for name in declared if name not in LEFT_OUT]


def program(names):
    """-> a program that prints a line of words and texts, divided by tabs, for each operation"""
    switch = "".join(f'    case effect::{name}: return "{word}";\n' for name, word in EFFECTS.items())
    cells = "".join(f" << word(row.{mark}) << '\\t'" for mark in MARKS) + " << '\\t'".join(f" << row.{text}" for text in TEXTS)
    rows = "".join(f'  print("{name}", marks_row<dimwise::op::{name}>);\n' for name in names)
    return f"""#include <dimwise/shape/marks_table.hpp>
#include <iostream>
using namespace dimwise::detail;
const char* word(effect f) {{
  switch (f) {{
{switch}  }}
  return "?";
}}
void print(const char* name, const mark_row& row) {{ std::cout << name << '\\t'{cells} << '\\n'; }}
int main() {{
{rows}}}
"""


def table(root=compilers.ROOT):
    """-> the table as Markdown"""
    with tempfile.TemporaryDirectory() as folder:
        made = str(pathlib.Path(folder) / "rows")
        compiler = next(iter(compilers.find_compilers()), None) or sys.exit("marks_table: no compiler was found")
        code, text = compiler.run([compilers.STANDARD, "-Iinclude", "-Werror=switch", "-o", made], root, source=program(operations(root)))
        if code != 0:
            sys.exit(f"marks_table: an operation has no row:\n{text}")
        printed = subprocess.run([made], capture_output=True, text=True, check=True).stdout
    lines = [f"| operation | {' | '.join(MARKS + TEXTS)} |", "|---" * (1 + len(MARKS + TEXTS)) + "|"]
    for row in printed.splitlines():
        name, *cells = row.split("\t")
        texts = [re.sub(rf"\b({'|'.join(MARKS)}|exp|sigmoid|scaled)\b", r"`\1`", cell) for cell in cells[len(MARKS):]]
        lines.append(f"| {' | '.join([SYMBOLS.get(name, f'`{name}`'), *cells[:len(MARKS)], *texts])} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    print(table(), end="")
