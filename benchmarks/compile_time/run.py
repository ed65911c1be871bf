#!/usr/bin/env python3
"""What dimwise costs a compiler: user seconds, peak memory, and the instantiations that CI holds to a budget.

    python3 benchmarks/compile_time/run.py             # measures, prints, writes docs/reference/compile_time.md
    python3 benchmarks/compile_time/run.py --dry-run   # measures and prints only
    python3 benchmarks/compile_time/run.py --check     # also fails where g++ exceeds the budget below

Each figure is the median of several runs (--runs) that alternate between the inputs, so that a busy moment of the
machine does not fall on one of them. User seconds count the work of the compiler, not its waiting. Standard library
only.
"""

import argparse
import datetime
import json
import os
import pathlib
import platform
import re
import statistics
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
PAGE = ROOT / "docs/reference/compile_time.md"
sys.path.insert(0, str(ROOT / "tools"))
import compilers  # noqa: E402

FEW, MANY = 10, 110
INPUTS = {  # name: (file, flags)
    "empty": ("empty.cpp", ["-O0"]),
    "shape": ("shape_include.cpp", ["-O0"]),
    "few": ("contractions.cpp", ["-O0", f"-DCOUNT={FEW}"]),
    "many": ("contractions.cpp", ["-O0", f"-DCOUNT={MANY}"]),
    "all": ("dimwise_include.cpp", ["-O0"]),
    "attention": ("attention.cpp", ["-O0"]),
    "plain": ("attention.cpp", ["-O0", "-DDIMWISE_PLAIN_ONLY"]),
    "optimised_empty": ("empty.cpp", ["-O2"]),
    "optimised_attention": ("attention.cpp", ["-O2"]),
    "optimised_caller": ("attention.cpp", ["-O2", "-DDIMWISE_COMPILED_KERNELS"]),
    "xtensor": ("xtensor_include.cpp", ["-O0"]),
    "caller": ("dimwise_include.cpp", ["-O0", "-DDIMWISE_COMPILED_KERNELS"]),
    "one": ("eight_attentions.cpp", ["-O0", "-DDIMWISE_COMPILED_KERNELS", "-DONE"]),
    "optimised_caller_one": ("eight_attentions.cpp", ["-O2", "-DDIMWISE_COMPILED_KERNELS", "-DONE"]),
    "eight": ("eight_attentions.cpp", ["-O0", "-DDIMWISE_COMPILED_KERNELS"]),
    "optimised_eight": ("eight_attentions.cpp", ["-O2", "-DDIMWISE_COMPILED_KERNELS"]),
    "optimised_one": ("eight_attentions.cpp", ["-O2", "-DONE"]),
    "forward": ("training.cpp", ["-O0", "-DDIMWISE_COMPILED_KERNELS"]),
    "training": ("training.cpp", ["-O0", "-DDIMWISE_COMPILED_KERNELS", "-DTRAINS"]),
    "optimised_forward": ("training.cpp", ["-O2", "-DDIMWISE_COMPILED_KERNELS"]),
    "optimised_training": ("training.cpp", ["-O2", "-DDIMWISE_COMPILED_KERNELS", "-DTRAINS"]),
    "decoder": ("decoder.cpp", ["-O0", "-DDIMWISE_COMPILED_KERNELS"]),
    "linked_decoder": ("decoder.cpp", ["-O0", "-DDIMWISE_COMPILED_KERNELS", "-DDIMWISE_COMPILED_MODELS"]),
    "optimised_decoder": ("decoder.cpp", ["-O2", "-DDIMWISE_COMPILED_KERNELS"]),
    "optimised_linked_decoder": ("decoder.cpp", ["-O2", "-DDIMWISE_COMPILED_KERNELS", "-DDIMWISE_COMPILED_MODELS"]),
}
# In multiples of `#include <xtensor/xtensor.hpp>`: (what, input, subtracted, aimed at).
MULTIPLES = [
    ("`#include <dimwise/dimwise.hpp>`", "caller", None, 1.0),
    ("one causal multi-head attention, the whole file, `-O0`", "one", None, 0.8),
    ("the same at `-O2`", "optimised_caller_one", None, 0.9),
    ("eight different causal multi-head attentions, `-O0`, above the include", "eight", "caller", 2.9),
    ("the same at `-O2`", "optimised_eight", "caller", 5.7),
    ("one of them, header-only, `-O2`, above the include", "optimised_one", "caller", 4.5),
    ("a training step of a small GPT, the whole file, `-O0`", "training", None, 3.0),
    ("the same at `-O2`", "optimised_training", None, 4.0),
]
# Two inputs, at -O0 and at -O2; nothing is subtracted. A GPT's loss, and a step of its training.
TRAINING = ("forward", "training", "optimised_forward", "optimised_training")
# A decoder that the file compiles, and one of dimwise::models.
MODELS = ("linked_decoder", "decoder", "optimised_linked_decoder", "optimised_decoder")
BUDGET = {"shape": 0.15, "contraction": 0.0025, "plain": 2.0}  # seconds, g++
MEMORY = {"plain": 400 * 10**6}  # bytes, g++


def measure(compiler, name):
    """-> (user seconds, peak memory in bytes) of one run"""
    file, flags = INPUTS[name]
    command = [compiler.command, compilers.STANDARD, *flags, "-I", str(ROOT / "include"), "-c", str(HERE / file),
               "-o", os.devnull]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    complaints = process.stderr.read()
    # wait4 counts the compiler proper, too: the driver has waited for it.
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise RuntimeError(f"{' '.join(command)}\n{complaints}")
    return usage.ru_utime, usage.ru_maxrss * 1024


def figures(compiler, runs):
    """-> {row: (seconds, bytes)}; a row whose input does not compile is missing"""
    samples = {name: [] for name in INPUTS}
    for _ in range(runs):
        for name in [name for name in INPUTS if samples[name] is not None]:
            try:
                samples[name].append(measure(compiler, name))
            except RuntimeError as problem:
                print(f"{compiler.name}: {INPUTS[name][0]} does not compile:\n{problem}", file=sys.stderr)
                samples[name] = None
    middle = {name: tuple(statistics.median(column) for column in zip(*rows)) for name, rows in samples.items() if rows}

    def above(name, base="empty"):
        return (middle[name][0] - middle[base][0], middle[name][1]) if name in middle and base in middle else None

    rows = {"shape": above("shape"), "all": above("all"), "attention": above("attention"),
            "optimised_attention": above("optimised_attention", "optimised_empty"), "many": above("many"),
            "optimised_caller": middle.get("optimised_caller"), "plain": middle.get("plain"),
            **{name: middle.get(name) for name in (*TRAINING, *MODELS)}}
    if "few" in middle and "many" in middle:
        rows["contraction"] = ((middle["many"][0] - middle["few"][0]) / (MANY - FEW), None)
    if "xtensor" in middle:
        rows["multiples"] = [(middle[name][0] - (middle[base][0] if base else 0)) / middle["xtensor"][0]
                             for _, name, base, _ in MULTIPLES if name in middle]
    return {name: value for name, value in rows.items() if value}


def multiples(found, results):
    lines = ["| what | aimed at | " + " | ".join(compiler.name for compiler in found) + " |",
             "| --- | --- |" + " --- |" * len(found)]
    for i, (title, _, _, aim) in enumerate(MULTIPLES):
        cells = [f"{results[compiler.name]['multiples'][i]:.1f}" for compiler in found]
        lines.append(f"| {title} | {aim} | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def pairs(found, results, what, names):
    lines = ["| what | " + " | ".join(compiler.name for compiler in found) + " |", "| --- |" + " --- |" * len(found)]
    for flag, first, second in (("-O0", *names[:2]), ("-O2", *names[2:])):
        cells = []
        for compiler in found:
            (one, _), (other, memory) = results[compiler.name][first], results[compiler.name][second]
            cells.append(f"{one:.1f} s, {other:.1f} s, {memory / 2**20:.0f} MiB: {other / one:.1f} ×")
        lines.append(f"| {what.format(flag)} | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def table(found, results):
    rows = [("`#include <dimwise/shape.hpp>`", "shape"),
            (f"one contraction, as types (the difference between {FEW} and {MANY} different ones)", "contraction"),
            (f"`#include <dimwise/shape.hpp>` and {MANY} contractions", "many"),
            ("`#include <dimwise/dimwise.hpp>`", "all"),
            ("`attention.cpp`: the include and multi-head attention, `-O0`", "attention"),
            ("`attention.cpp`, `-O2`: mostly kernels", "optimised_attention"),
            ("`attention.cpp`, `-O2`, for the kernels of `dimwise::dimwise`, nothing subtracted", "optimised_caller"),
            ("`attention.cpp` with the scalar path only, `-O0`, nothing subtracted", "plain")]

    def cell(value):
        if value is None:
            return "does not compile"
        seconds, memory = value
        if memory is None:
            return f"{1000 * seconds:.2f} ms"
        return f"{seconds:.2f} s, {memory / 2**20:.0f} MiB"

    lines = ["| what | " + " | ".join(compiler.name for compiler in found) + " |", "| --- |" + " --- |" * len(found)]
    for title, key in rows:
        lines.append(f"| {title} | " + " | ".join(cell(results[compiler.name].get(key)) for compiler in found) + " |")
    return "\n".join(lines) + "\n"


def instantiations():
    """-> the table of benchmarks/compile_time/budget.json"""
    budget = json.loads((HERE / "budget.json").read_text(encoding="utf-8"))
    lines = ["| program | instantiations |", "| --- | --- |"]
    lines += [f"| {name} | {count} |" for name, count in budget["instantiations"].items()]
    return budget["compiler"], "\n".join(lines)


def processor():
    try:
        return re.search(r"model name\s*:\s*(.*)", pathlib.Path("/proc/cpuinfo").read_text()).group(1)
    except (OSError, AttributeError):
        return platform.machine()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--compiler", action="append", metavar="COMMAND", help="repeatable; default: all")
    parser.add_argument("--dry-run", action="store_true", help="do not write the page")
    parser.add_argument("--check", action="store_true", help="fail where g++ exceeds the budget")
    arguments = parser.parse_args()

    found = compilers.find_compilers(arguments.compiler)
    counted_by, counts = instantiations()
    results = {compiler.name: figures(compiler, arguments.runs) for compiler in found}
    page = f"""# Compile time

```sh
python3 benchmarks/compile_time/run.py
```

This command writes this page. User seconds above an empty file, and the compiler's peak memory; {'one run' if arguments.runs == 1 else f'medians of {arguments.runs} runs'} on
{processor()}, {datetime.date.today()}. The inputs are in `benchmarks/compile_time/`; the flags are `{compilers.STANDARD} -O0 -c` unless
stated.

{table(found, results)}
{", ".join(f"{compiler.name}: {compiler.version}" for compiler in found)}.

The budget that `--check` enforces for g++: the include of shapes ≤ {BUDGET['shape']} s, a contraction ≤
{1000 * BUDGET['contraction']} ms, attention in one translation unit with the scalar path ≤ {BUDGET['plain']:.0f} s and
{MEMORY['plain'] / 10**6:.0f} MB.

## In multiples of an include

`#include <xtensor/xtensor.hpp>` is 1, on the same machine in the same run. Kernels are compiled elsewhere, unless the row says
header-only.

{multiples(found, results)}
The aim of `attention.cpp` at `-O2` on g++-12: 3 s and 600 MB. Header-only programs compile every
kernel.

## Training

A file that computes the loss of a GPT, and the same file with a training step: gradients and AdamW. Kernels are compiled
elsewhere.

{pairs(found, results, "`training.cpp`, `{}`: the loss, a step", TRAINING)}
The aim is 1.5 ×. Each statement is compiled for tracked elements, and for each gradient formula.

## Models

A file that reads a decoder of any architecture and computes logits. With `dimwise::models` it compiles no model; with `dimwise::io` it
compiles the model that it uses.

{pairs(found, results, "`decoder.cpp`, `{}`: with `dimwise::models`, with `dimwise::io`", MODELS)}
## Instantiations

```sh
python3 benchmarks/compile_time/instantiations.py
```

This command counts the classes and functions of dimwise that a program instantiates. It fails if they exceed this table by more than
3 %, and then names the largest contributors. The count does not depend on the machine, so CI checks it.
Counted by {counted_by}; each operation of `benchmarks/compile_time/operations.cpp` above the shared part.

{counts}
"""
    print(page)
    complete = all(len(rows) == 17 and len(rows["multiples"]) == len(MULTIPLES) for rows in results.values())
    if arguments.dry_run:
        pass
    elif complete:
        PAGE.parent.mkdir(parents=True, exist_ok=True)
        PAGE.write_text(page, encoding="utf-8")
        print(f"written: {PAGE.relative_to(ROOT)}")
    else:
        sys.exit("something does not compile: the page is left as it was")
    if arguments.check:
        over = [f"{compiler.name}: {name} takes {results[compiler.name][name][0]:.4f} s, the budget is {limit} s"
                for compiler in found if not compiler.is_clang
                for name, limit in BUDGET.items() if results[compiler.name][name][0] > limit]
        over += [f"{compiler.name}: {name} takes {results[compiler.name][name][1]} bytes, the budget is {limit}"
                 for compiler in found if not compiler.is_clang
                 for name, limit in MEMORY.items() if results[compiler.name][name][1] > limit]
        if over:
            sys.exit("\n".join(over))


if __name__ == "__main__":
    main()
