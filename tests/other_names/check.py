#!/usr/bin/env python3
"""Every name of another library in tensor/other_names.hpp gives one error in the user's line, with the dimwise names.

    python3 tests/other_names/check.py                     # every promised compiler that is installed
    python3 tests/other_names/check.py --compiler g++      # repeatable
    python3 tests/other_names/check.py --print             # the uses that are compiled

The names are read from the table of the header, so a name that is added there is checked. Each is used on a tensor, on an
expression and inside another formula; the operations that its error names must exist. Standard library only.
"""

import argparse
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))
import compilers  # noqa: E402  (the folder of the tools is known only now)

HEADER = ROOT / "include/dimwise/tensor/other_names.hpp"
ERROR = "ERROR_R1_operation_has_another_name"
# Rules without a function: operators.
OPERATORS = {"elementwise", "divide", "compare"}
PRELUDE = """#include <dimwise/dimwise.hpp>
#include <dimwise/grad.hpp>
struct seq : dimwise::position_dim<5> {};
struct d_model : dimwise::feature_dim<8> {};
using namespace dimwise;
extern tensor<float, seq, d_model> x;
extern tensor_view<const float, seq, d_model> view_of_x;
"""
USES = {
    "DATA": ("auto y = x.{0};", "tensor y = (x + x).{0};", "auto y = x.{0} + x;", "auto y = x.{0}(0);", "auto y = x.{0}[0];",
             "tensor y = softmax<seq>(x.{0});", "int y = x.{0};", "if (x.{0} == 2) {{}}"),
    "MEMBER": ("auto y = x.{0}(1);", "x.{0}();", "tensor y = (x + x).{0}(1);", "auto y = view_of_x.{0}({{1, 2}});",
               "auto y = x.{0}(1) * x;", "float y = x.{0}<seq>(1);", "auto y = x.{0}(1).{0}(2);"),
    "FUNCTION": ("auto y = {0}(x, 1);", "tensor y = {0}(x + x) * x;", "auto y = softmax<seq>({0}(x, view_of_x.T));"),
    "SCOPED": ("auto y = dimwise::{0}(x, 1);", "auto y = {0}({{x, x}}, 1);", "auto y = {0}({{x, x}});", "tensor y = {0}(x, {{2, 3}});"),
}
KINDS = {"DATA": ["DATA"], "MEMBER": ["MEMBER"], "FUNCTION": ["MEMBER", "FUNCTION"], "SCOPED": ["MEMBER", "FUNCTION", "SCOPED"]}


def table(text):
    """-> [(kind, name, [operations])]; `size` is declared by itself, for tensors have a `size()`"""
    rows = re.findall(r"^  (SCOPED|FUNCTION|MEMBER|DATA)\((\w+), ([\w:, ]+)\)", text, flags=re.MULTILINE)
    return [(kind, name, operations.replace("op::", "").split(", ")) for kind, name, operations in rows]


def uses(rows):
    """-> [(a statement, name, [operations])]"""
    found = [(use.format(name), *(("T", ["permute"]) if "view_of_x.T" in use else (name, operations)))
             for kind, name, operations in rows for each in KINDS[kind] for use in USES[each]]
    return found + [(use.format("size"), "size", ["extent_of", "size_of"])
                    for use in USES["MEMBER"] if use != "x.{0}();"]


def source(statements, operations):
    """-> the text of a translation unit, and the line of each statement"""
    lines = PRELUDE.splitlines() + [f"using dimwise::{operation};" for operation in operations]
    first = len(lines) + 1
    lines += [f"void step_{i}() {{ {statement} }}" for i, statement in enumerate(statements)]
    return "\n".join(lines) + "\n", first


def expected(name, operations):
    names = r",\s*".join(rf"(?:\w+::)*{operation}" for operation in operations)
    return rf"{ERROR}<(?:\w+::)*{name},\s*(?:\w+::)*use_instead<{names}>\s*>"


def check(compiler, rows):
    """-> (passed, [what is wrong])"""
    wanted = uses(rows)
    operations = sorted({operation for _, _, some in rows for operation in some} - OPERATORS)
    wrong, passed = [], 0
    text, first = source([statement for statement, _, _ in wanted], operations)
    flags = [compilers.STANDARD, "-Iinclude", "-DDIMWISE_COMPILED_KERNELS", "-fsyntax-only", compiler.no_limit]
    _, said = compiler.run(flags, ROOT, source=text)
    # A note belongs to the error before it: clang names a deleted function's error there.
    whole = re.split(r"^(?=\S+:\d+:\d+: (?:fatal )?error: )", said, flags=re.MULTILINE)
    of_line = {}
    for part in whole[1:]:
        place, line = re.match(r"([^\s:]+):(\d+):", part).groups()
        of_line.setdefault(int(line) if place == "<stdin>" else 0, []).append(part)
    for part in of_line.pop(0, []):
        wrong.append(f"{compiler.name}: an error outside of the user's lines: {part.splitlines()[0]}")
    for i, (statement, name, some) in enumerate(wanted):
        found = of_line.pop(first + i, [])
        if len(found) != 1:
            wrong.append(f"{compiler.name}: {len(found)} errors, must be 1: {statement}")
        elif not re.search(expected(name, some), found[0]):
            wrong.append(f"{compiler.name}: does not name {name} and {', '.join(some)}: {statement}: {found[0].splitlines()[0]}")
        else:
            passed += 1
    for line, found in of_line.items():
        wrong.append(f"{compiler.name}: {text.splitlines()[line - 1]}: {found[0].splitlines()[0]}")
    return passed, wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--compiler", action="append", metavar="COMMAND")
    parser.add_argument("--print", action="store_true")
    arguments = parser.parse_args()
    rows = table(HEADER.read_text(encoding="utf-8"))
    if len(rows) < 100 or len({name for _, name, _ in rows}) != len(rows):
        sys.exit(f"other_names: the table has {len(rows)} rows, some of them twice or not read")
    if arguments.print:
        print("\n".join(statement for statement, _, _ in uses(rows)))
        return
    failed, passed = [], 0
    for compiler in compilers.find_compilers(arguments.compiler):
        right, wrong = check(compiler, rows)
        passed, failed = passed + right, failed + wrong
    for text in failed:
        print("FAILED", text)
    print(f"{passed} passed, {len(failed)} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
