#!/usr/bin/env python3
"""Holds the compile time to a budget: template instantiations, counted by clang, which no busy machine changes.

    python3 benchmarks/compile_time/instantiations.py              # counts, and fails where a count is above its budget
    python3 benchmarks/compile_time/instantiations.py --show SCORES  # the largest contributors to one program
    python3 benchmarks/compile_time/instantiations.py --update     # writes the counts of today as the budget

Counted are the classes and functions of dimwise that one translation unit instantiates (clang's -ftime-trace): the whole
attention program of benchmarks/compile_time/attention.cpp, with the plain evaluator and with the library, and each operation
of benchmarks/compile_time/operations.cpp above what all of them share. The budget lies in
benchmarks/compile_time/budget.json, for one version of clang; a count may exceed it by 3 %. Standard library only.
"""

import argparse
import collections
import concurrent.futures
import json
import pathlib
import re
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools"))

import compilers  # noqa: E402

FOLDER = "benchmarks/compile_time"
BUDGET = f"{FOLDER}/budget.json"
COMPILER = "clang++-14"
SLACK = 0.03
SHOWN = 8
SHARED = "what all operations share"
SKIPPED = 77


def programs(root):
    """-> {name: (file, flags)}"""
    source = (root / FOLDER / "operations.cpp").read_text(encoding="utf-8")
    found = {"attention": ("attention.cpp", ["-DDIMWISE_PLAIN_ONLY"]), "attention, linked": ("attention.cpp", ["-DDIMWISE_COMPILED_KERNELS"]),
             SHARED: ("operations.cpp", ["-DDIMWISE_COMPILED_KERNELS"])}
    for name in re.findall(r"^#(?:el)?if defined OP_(\w+)$", source, flags=re.MULTILINE):
        found[name.lower()] = ("operations.cpp", ["-DDIMWISE_COMPILED_KERNELS", f"-DOP_{name}"])
    return found


def template_of(detail):
    """The template's name without its arguments and those of its class."""
    depth, name = 0, ""
    for place, letter in enumerate(detail):
        if letter == "<" and not name.endswith("operator"):
            depth += 1
        elif letter == ">" and depth > 0 and detail[place - 1] != "-":
            depth -= 1
        elif depth == 0:
            name += letter
    return name


def instantiated(compiler, root, file, flags):
    """-> Counter {template: instantiations} of dimwise's own templates"""
    with tempfile.TemporaryDirectory() as place:
        out = pathlib.Path(place) / "program.o"
        arguments = [compilers.STANDARD, "-O0", *flags, "-Iinclude", "-ftime-trace", "-ftime-trace-granularity=0", "-c",
                     f"{FOLDER}/{file}", "-o", str(out)]
        code, text = compiler.run(arguments, root)
        if code != 0:
            sys.exit(f"{file} {' '.join(flags)} does not compile:\n{text[:3000]}")
        trace = json.loads(out.with_suffix(".json").read_text(encoding="utf-8"))
    count = collections.Counter()
    for event in trace["traceEvents"]:
        detail = event.get("args", {}).get("detail", "")
        if event["name"] in ("InstantiateClass", "InstantiateFunction") and detail.startswith(("dimwise::", "model::")):
            count[template_of(detail)] += 1
    return count


def measure(compiler, root, chosen, jobs):
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        return dict(zip(chosen, pool.map(lambda program: instantiated(compiler, root, *program), chosen.values())))


def sizes(counted):
    """-> {name: number of instantiations}; an operation's is what it adds to the shared ones"""
    shared = counted.get(SHARED, collections.Counter())
    own = {name: count - shared if name not in (SHARED, "attention", "attention, linked") else count for name, count in counted.items()}
    return {name: sum(count.values()) for name, count in own.items()}, own


def judge(numbers, own, budget, out):
    """-> (passed, failed)"""
    failed = 0
    for name, number in numbers.items():
        limit = budget.get(name)
        if limit is None:
            failed += 1
            out(f"FAILED {name}: {number} instantiations, and no budget; benchmarks/compile_time/instantiations.py --update writes one")
        elif number > limit * (1 + SLACK):
            failed += 1
            out(f"FAILED {name}: {number} instantiations, the budget is {limit} and {SLACK:.0%} more; the largest contributors:")
            for template, count in own[name].most_common(SHOWN):
                out(f"  {count:6} {template}")
        else:
            out(f"{name:28} {number:6} of {limit}")
    for name in sorted(budget.keys() - numbers.keys()):
        failed += 1
        out(f"FAILED {name}: has a budget, but is no program any more")
    return len(numbers) - failed, failed


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--compiler", default=COMPILER)
    parser.add_argument("--show", metavar="NAME")
    parser.add_argument("--update", action="store_true")
    parser.add_argument("--jobs", type=int, default=compilers.JOBS)
    arguments = parser.parse_args()
    root = compilers.ROOT
    try:
        compiler = compilers.Compiler(arguments.compiler)
    except OSError:
        print(f"skipped: {arguments.compiler} is not installed, and the budget is its count")
        sys.exit(SKIPPED)
    chosen = programs(root)
    if arguments.show:
        name = arguments.show.lower()
        wanted = {key: chosen[key] for key in {SHARED, name} & chosen.keys()}
        numbers, own = sizes(measure(compiler, root, wanted, arguments.jobs))
        print(f"{name}: {numbers[name]} instantiations")
        for template, count in own[name].most_common(30):
            print(f"  {count:6} {template}")
        return
    numbers, own = sizes(measure(compiler, root, chosen, arguments.jobs))
    path = root / BUDGET
    if arguments.update:
        path.write_text(json.dumps({"compiler": compiler.version, "instantiations": numbers}, indent=1) + "\n", encoding="utf-8")
        print(f"written: {BUDGET}")
    budget = json.loads(path.read_text(encoding="utf-8"))
    if budget["compiler"].split(".")[0] != compiler.version.split(".")[0]:
        print(f"skipped: the budget is for {budget['compiler']}, and this is {compiler.version}")
        sys.exit(SKIPPED)
    passed, failed = judge(numbers, own, budget["instantiations"], print)
    print(f"{passed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
