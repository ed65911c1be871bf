#!/usr/bin/env python3
"""An operation that was added without one of its steps does not compile: it never runs the code of another operation.

    python3 tests/half_way/check.py                     # every operation, without each of its steps
    python3 tests/half_way/check.py --filter product    # operations whose name matches

Each operation below is added to a copy of the headers by the steps of CONTRIBUTING.md ("Add an operation", "Add a kernel"). With
all steps, the program in its folder compiles, and its exit status says that its values and gradients are right. Without any one
of them the compiler says what is missing. Standard library only.
"""

import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
HERE = pathlib.Path(__file__).resolve().parent
COMPILER = os.environ.get("CXX", "g++")


class Step:
    """Text before or after an anchor of a header, and what the compiler says without it."""

    def __init__(self, header, anchor, text, without, before=False):
        self.header, self.anchor, self.text, self.without, self.before = header, anchor, text, without, before

    def apply(self, content):
        if content.count(self.anchor) != 1:
            sys.exit(f"half_way: {self.header} has {content.count(self.anchor)} times: {self.anchor!r}")
        new = self.text + self.anchor if self.before else self.anchor + self.text
        return content.replace(self.anchor, new)


NAMES, MARKS, RULE = "shape/marks_table/operations.hpp", "shape/marks_table/rows.hpp", "shape/rules/reduce.hpp"
NODES, WORDS, LOOPS = "expr/rows/nodes.hpp", "expr/rows/reduce.hpp", "eval/loops/rows.hpp"
CUMULATIVE = "expr/rows/cumulative.hpp"
LOOPS_BACKWARD = "eval/loops/backward_rows.hpp"


def names_and_marks(name):
    return [
        Step(NAMES, "struct cumsum;\n", f"struct {name};\n", f"{name}"),
        Step(
            MARKS,
            "  ROW(outer, ",
            f"  ROW({name}, refuse, refuse, refuse, keep, drop, drop, keep, keep, keep, refuse) \\\n",
            "no row in the table of marks",
            before=True,
        ),
    ]


# The program, whether it is linked and run, and the steps.
OPERATIONS = {
    # A row becomes a row.
    "running_product": (
        "row.cpp",
        True,
        [
            *names_and_marks("running_product"),
            Step(
                RULE,
                "template <class Over, class Shape>\nusing cumsum =",
                "template <class Over, class Shape>\nusing running_product = "
                "accepted<detail::make_shape_t<detail::dims_t<Shape>, detail::kept_marks_t<op::running_product, Shape>>>;\n",
                "running_product",
                before=True,
            ),
            Step(
                NODES,
                '  ROW(cumsum, "cumsum", operand) ',
                '  ROW(running_product, "running_product", operand) \\\n',
                "running_product",
                before=True,
            ),
            Step(
                CUMULATIVE,
                "struct cumsum : cumulative_word<",
                "struct running_product : over_dimensions<op::running_product> {\n"
                "  using over_dimensions<op::running_product>::judge;\n"
                "  template <class D, operand X>\n"
                "  static auto judge(list<D>, const X&) -> rule::running_product<list<D>, shape_of<X>>;\n"
                "  template <class Verdict, class D, operand X>\n"
                "  static auto make(list<D>, const X& x) {\n"
                "    return make_rows<typename Verdict::shape, rows::running_product, list<D>>(x);\n"
                "  }\n"
                "};\n",
                "running_product",
                before=True,
            ),
            Step(CUMULATIVE, "DIMWISE_DETAIL_OPERATION(cumsum)\n", "DIMWISE_DETAIL_OPERATION(running_product)\n", "running_product"),
            Step(
                LOOPS,
                "    kernels::quantised_row(row, to, from);\n",
                "  } else if constexpr (std::is_same_v<How, rows::running_product>) {\n"
                "    C product = 1;\n"
                "    kernels::for_each_element(row, [&](auto t, auto f) { to[t] = product *= from[f]; });\n",
                "no reference loop",
            ),
            Step(
                LOOPS_BACKWARD,
                "// Cumulative sums from the end: the rest of a whole sum would lose the digits of small numbers, and be NaN after an\n",
                "// The sum of g y behind an element, over the element, which is not 0.\n"
                "template <class C>\n"
                "void row_back(rows::running_product, const back_row& row, C* to, const C* g, const C* x, C) {\n"
                "  C product = 1;\n  C all = 0;\n"
                "  each_in_row(row, [&](auto, auto i, auto j) { all += g[i] * (product *= x[j]); });\n"
                "  product = 1;\n"
                "  each_in_row(row, [&](auto t, auto i, auto j) {\n"
                "    to[t] = all / x[j];\n"
                "    all -= g[i] * (product *= x[j]);\n"
                "  });\n"
                "}\n",
                "row_back",
                before=True,
            ),
        ],
    ),
    # A row becomes one number.
    "product": (
        "reduction.cpp",
        True,
        [
            *names_and_marks("product"),
            Step(NODES, '  TOTAL(logsumexp, "logsumexp", formula) ', '  TOTAL(product, "product", operand) \\\n', "product", before=True),
            Step(
                WORDS,
                "struct max : extreme_word",
                "struct product : total_word<op::product, totals::product> {};\n",
                "product",
                before=True,
            ),
            Step(WORDS, "DIMWISE_DETAIL_OPERATION(sum)\n", "DIMWISE_DETAIL_OPERATION(product)\n", "product"),
            Step(
                LOOPS,
                "  } else if constexpr (is_in<How, selections>) {\n",
                "  } else if constexpr (std::is_same_v<How, totals::product>) {\n"
                "    C product = C(1);\n"
                "    visit([&](C x, std::size_t) { product *= x; });\n"
                "    return product;\n",
                "no reference loop",
                before=True,
            ),
            Step(
                LOOPS_BACKWARD,
                "  } else if constexpr (std::is_same_v<How, totals::max> || least) {",
                "  } else if constexpr (std::is_same_v<How, totals::product>) {\n"
                "    C product = 1;\n"
                "    each_in_row(row, [&](auto, auto, auto j) { product *= x[j]; });\n"
                "    each_in_row(row, [&](auto t, auto, auto j) { to[t] = g * product / x[j]; });\n",
                "no gradient loop",
                before=True,
            ),
        ],
    ),
    # A function of elements, with a kernel.
    "cube": (
        "function.cpp",
        True,
        [
            Step(
                "expr/elements/functions.hpp",
                "// The nearest number of 16 bits:",
                'struct cube {\n  static constexpr const char* name = "cube";\n  template <class T>\n'
                "  constexpr T operator()(T x) const {\n    return x * x * x;\n  }\n};\n\n",
                "cube",
                before=True,
            ),
            Step(
                "expr/elements/derivative.hpp",
                "// Of several arguments.\n",
                "template <std::size_t, class T>\nT partial_of(cube, T x) {\n  return T(3) * x * x;\n}\n",
                "partial_of|cube",
                before=True,
            ),
            Step(
                "expr/elements/elementwise.hpp",
                "DIMWISE_DETAIL_FUNCTION(square, fn::square)\n",
                "DIMWISE_DETAIL_FUNCTION(cube, fn::cube)\n",
                "cube",
            ),
            Step(
                "kernels/dispatch/table.hpp",
                "#define DIMWISE_DETAIL_OTHER_FUNCTIONS(F) ",
                "F(cube) ",
                None,  # no kernel: the reference loop
            ),
            Step(
                "kernels/math.hpp",
                "/// `max(x, 0)`; keeps NaN.\n",
                "struct cube_of {\n  template <class Batch>\n  Batch operator()(const Batch& x) const {\n    return x * x * x;\n  }\n};\n",
                "cube_of",
                before=True,
            ),
            Step(
                "kernels/math_gradient.hpp",
                "    case function::negate:\n",
                "    case function::cube:\n      return broadcast<Arch>(3.0F) * x * x;\n",
                "enumeration value .cube. not handled",
                before=True,
            ),
        ],
    ),
    # Rows that a kernel is said to have.
    "row_kernel": (
        "row_kernel.cpp",
        False,
        [
            Step(
                "eval/kernels/rows.hpp",
                "rows::standardize, rows::root_mean_square>;",
                "\ntemplate <>\ninline constexpr bool has_row_kernel<rows::cumsum> = true;\n",
                None,
            ),
            Step(
                "eval/kernels/rows.hpp",
                "  } else if constexpr (std::is_same_v<How, rows::root_mean_square>) {\n    table",
                "  } else if constexpr (std::is_same_v<How, rows::cumsum>) {\n    (void)call;\n",
                "names no kernel",
                before=True,
            ),
        ],
    ),
    # A kind of plan.
    "plan_kind": (
        "plan_kind.cpp",
        True,
        [
            Step("eval/context.hpp", "///< the same for few queries: keys and values are read once\n", "  sparse,\n", None),
            Step(
                "eval/context.hpp",
                '      return "decode";\n',
                '    case plan_kind::sparse:\n      return "sparse";\n',
                "enumeration value .sparse. not handled",
            ),
        ],
    ),
}


def headers_with(steps, folder):
    """The headers that the steps change, where the compiler looks first."""
    changed = {}
    for step in steps:
        path = ROOT / "include/dimwise" / step.header
        changed[step.header] = step.apply(changed.get(step.header, path.read_text()))
    for header, content in changed.items():
        to = pathlib.Path(folder) / "dimwise" / header
        to.parent.mkdir(parents=True, exist_ok=True)
        to.write_text(content)


def compiled(program, steps, runs):
    with tempfile.TemporaryDirectory() as folder:
        headers_with(steps, folder)
        end = ["-o", f"{folder}/program"] if runs else ["-fsyntax-only"]
        command = [COMPILER, "-std=c++20", "-O0", f"-I{folder}", f"-I{ROOT}/include", str(HERE / program), *end]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode == 0 and runs:
            ran = subprocess.run([f"{folder}/program"], capture_output=True, text=True, check=False)
            return ran.returncode == 0, ran.stdout + ran.stderr
        return done.returncode == 0, done.stderr


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--filter", default="")
    args = parser.parse_args()
    passed, failed = 0, []
    for name, (program, runs, steps) in OPERATIONS.items():
        if not re.search(args.filter, name):
            continue
        right, text = compiled(program, steps, runs)
        if right:
            passed += 1
        else:
            failed.append(f"{name}: with all steps: {text[-2000:]}")
        for i, step in enumerate(steps):
            if step.without is None:
                continue
            compiles, text = compiled(program, steps[:i] + steps[i + 1 :], False)
            errors = "\n".join(line for line in text.splitlines() if "error:" in line)
            if not compiles and re.search(step.without, errors):
                passed += 1
            else:
                what = "compiles" if compiles else f"says {errors[:600]}"
                failed.append(f"{name}: without step {i + 1} in {step.header} it {what}, not {step.without!r}")
    for text in failed:
        print("FAILED", text)
    print(f"{passed} passed, {len(failed)} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
