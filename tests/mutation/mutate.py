#!/usr/bin/env python3
"""Removes each rule, each condition of a rule and each entry of the marks table in turn; a test must fail.

    python3 tests/mutation/mutate.py                   # every mutant, a quarter of an hour or more: the test mutation of the preset nightly
    python3 tests/mutation/mutate.py --filter reduce   # mutants whose line "file:line: change" matches
    python3 tests/mutation/mutate.py --list

A mutant is a copy of include/ with one change: a branch never taken; a condition always true or always false; one operand of `||` or
`&&` left out; the other arm of `conditional_t` or `list_if`; an effect of the marks table that becomes `keep`. A test kills it by not
compiling, or, for a case of tests/compile_fail, by another error or none. tests/mutation/equivalent.tsv has the file and the change of
each mutant that no program can tell from the library, and why. A mutant that survives without such a line, and a line without such a
mutant, is a failure. build/mutation.tsv has the results: file, change, the first test that failed.

Why no kept tool: Mull and Dextool are in no registry of Debian 12, and mutate what runs, not what is constant at compile time.
"""

import argparse
import collections
import concurrent.futures
import pathlib
import queue
import re
import shutil
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools"))

import compile_fail  # noqa: E402
import compilers  # noqa: E402
from united import united  # noqa: E402

TABLE = "dimwise/shape/marks_table"  # .hpp, and the folder
MARKS = ("raw", "score", "masked_for", "biased_for", "normalised", "weighted", "log_normalised", "rotated", "indexed")
# Files, and the declarations whose conditions count.
SOURCES = {
    "dimwise/shape/rules/**/*.hpp": "", "dimwise/expr/masks/*mask*.hpp": r"requires\(|constexpr bool|concept|conditional_t", "dimwise/expr/elements/numbers.hpp": "",
    "dimwise/shape/shape.hpp": r"valid_shape|checked_shape|repetition|all_dimensions",
    "dimwise/shape/verdict.hpp": r"hides_in_composite|any_position|any_alternative|alternatives|any_feature|any_choice|any_exclusive_choice|any_batch|all_parallel|refuses_mark|indexed_meets|taken_meets",
    "dimwise/dim/derived.hpp": r"divisible|related|extents_differ|is_prime_of|is_out_of|merged_abilities",
    f"{TABLE}.hpp": r"effects|conditional_t|list_if|sizeof", f"{TABLE}/*.hpp": r"effects|conditional_t|list_if|sizeof"}
# Where a condition begins, how it ends, and what replaces it. A function `constexpr bool` is searched for its returns.
CONDITIONS = ((r"\bif constexpr \(", ")", ("false",)), (r"\bconstexpr bool [\w:<>.,\s]*?=(?!=)", ";", ("true", "false")),
              (r"\bconcept \w+\s*=", ";", ("true",)), (r"\brequires\(", ")", ("true",)), (r"\breturn ", ";", ("true", "false")),
              (r"\b(?:conditional_t|list_if)<", ",", ("true", "false")))
# Tests that are tried first for a file that is not called like them.
OWN = {"dim": "dim/derived.hpp", "numbers": "expr/elements/numbers.hpp", "marks": TABLE, "masks": "expr/masks/position_masks.hpp", "shape": "shape/shape.hpp"}
Mutant = collections.namedtuple("Mutant", "file start end replacement line what")


def blanked(text):
    """The text with comments and strings blanked, every other character at its place."""
    return re.sub(r"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"", lambda found: re.sub(r"[^\n]", " ", found[0]), text, flags=re.S)


def find(text, start, end, wanted, angles=False):
    """-> the first place outside brackets, and outside <…> with `angles`, where one of `wanted` begins; `end` if there is none"""
    brackets, depth, at = 0, 0, start
    while at < end:
        if brackets == depth == 0 and any(text.startswith(one, at) and (one != ":" or "::" not in text[at - 1:at + 2]) for one in wanted):
            return at
        brackets += (text[at] in "([{") - (text[at] in ")]}")
        if angles and brackets == 0:
            depth += (text[at] == "<") - (text[at] == ">" and depth > 0)
        at += 1
    return end


def trimmed(text, start, end):
    part = text[start:end]
    return start + len(part) - len(part.lstrip()), end - len(part) + len(part.rstrip())


def parts(text, start, end):
    """-> [(start, end, replacement)] of the operands of ||, && and ?: in a condition, and of theirs"""
    start, end = trimmed(text, start, end)
    if (question := find(text, start, end, "?")) < end:
        colon = find(text, question + 1, end, ":")
        condition = trimmed(text, start, question)
        return [(*condition, value) for value in ("true", "false")] + [
            part for span in ((start, question), (question + 1, colon), (colon + 1, end)) for part in parts(text, *span)]
    for operator, left_out in (("||", "false"), ("&&", "true")):
        spans, at = [], start
        while (stop := find(text, at, end, [operator])) < end:
            spans.append(trimmed(text, at, stop))
            at = stop + 2
        spans.append(trimmed(text, at, end))
        if len(spans) > 1:
            is_fold = any(text[a:b] == "..." for a, b in spans)
            return [] if is_fold else [found for span in spans for found in [(*span, left_out), *parts(text, *span)]]
    inner = start + len(text[start:end]) - len(text[start:end].lstrip("! "))
    if inner < end and text[inner] == "(" and find(text, inner + 1, end, ")") == end - 1:
        return parts(text, inner + 1, end - 1)
    return []


def mutants_of(file, text, wanted):
    code, found = blanked(text), {}

    def add(start, end, replacement, what):
        found.setdefault((start, end, replacement), Mutant(file, start, end, replacement, text.count("\n", 0, start) + 1, what))

    def shown(start, end):
        return " ".join(text[start:end].split())

    bodies = [(found.start(), find(code, (body := code.index("{", found.end())) + 1, len(code), "}"))
              for found in re.finditer(r"\bconst(?:eval|expr) bool \w+\(", code)]
    places = [(*trimmed(code, match.end(), find(code, match.end(), len(code), stop, stop == ",")), values, match)
              for pattern, stop, values in CONDITIONS for match in re.finditer(pattern, code)]
    for start, end, values, match in sorted(places, key=lambda place: place[:2]):
        if match[0] == "return " and not any(first < start < last for first, last in bodies):
            continue
        if match[0] == "requires(" and code[end:].lstrip(" )\n").startswith("{"):
            continue  # the parameters of a requires-expression
        if not re.search(wanted, code[code.rfind("\n", 0, start) + 1:end]) and not re.search(wanted, code[max(0, start - 80):end]):
            continue
        whole = shown(start, end)
        for value in values if whole not in ("true", "false") else ():
            add(start, end, value, f"`{whole}` is always {value}")
        for a, b, value in parts(code, start, end):
            add(a, b, value, f"`{shown(a, b)}` is always {value}, in `{whole}`")
    for row in re.finditer(r"\bROW\((\w+),", code) if file.startswith(TABLE) else ():
        for mark, entry in zip(MARKS, re.finditer(r"\b(keep|drop|refuse|weaken|by_rule)\b", code[row.end():])):
            if entry[1] != "keep":
                add(row.end() + entry.start(), row.end() + entry.end(), "keep", f"`{row[1]}`: {entry[1]} of `{mark}` becomes keep")
    return sorted(found.values())


def all_mutants(include):
    return [mutant for pattern, wanted in SOURCES.items() for path in sorted(include.glob(pattern))
            for mutant in mutants_of(path.relative_to(include).as_posix(), path.read_text(encoding="utf-8"), wanted)]


class Stage:
    """A kind of tests in one translation unit. `fails`: any error is a failure; else an error that the unchanged tree has not, or one less."""

    def __init__(self, name, files, flags=(), fails=True, only="", slow=False):
        self.name, self.source, self.flags, self.fails, self.only, self.slow = name, united(files, compilers.ROOT, "mistake"), flags, fails, only, slow
        self.baseline = None

    def run(self, compiler, include, place):
        """-> (the first test that fails or "", what the compiler prints)"""
        (place / "tests.cpp").write_text(self.source, encoding="utf-8")
        code, text = compiler.run([compilers.STANDARD, f"-I{include}", "-Itests", "-DDIMWISE_PLAIN_ONLY", "-w", "-fsyntax-only", *self.flags,
                                   "-Wfatal-errors" if self.fails else "-fmax-errors=0", str(place / "tests.cpp")], compilers.ROOT, timeout=600)
        if self.fails:
            at = re.search(r"(tests/[^\s:]+:\d+):(?:\d+:)?(?: (?:fatal )?error:|   required from here)|(tests/[^\s:]+:\d+)", text)
            return ("" if code == 0 else (at[1] or at[2]) if at else self.name), text
        errors = {}
        for file, line in re.findall(r"^(tests/[^\s:]+):\d+:(?:\d+:)? (?:fatal )?error: (.*)$", text, flags=re.M):
            errors.setdefault(file, []).append(compile_fail.error_type(line) or line)
        self.baseline = errors if self.baseline is None else self.baseline
        return next((file for file in sorted({*errors, *self.baseline}) if errors.get(file) != self.baseline.get(file)), ""), text


def load_stages(include):
    tests = compilers.ROOT / "tests"
    asserts = sorted([*tests.glob("shape/**/*.test.cpp"), *tests.glob("mutation/*.test.cpp"), *tests.glob("expr/elements/numbers.test.cpp")])
    whole = [path for path in asserts if "<dimwise/dimwise.hpp>" in path.read_text(encoding="utf-8")]
    rules = {stem: OWN.get(stem, f"rules/{stem}.hpp") for stem in sorted({path.name.split(".")[0] for path in asserts})}
    stages = [Stage(f"the static_asserts of {stem}", [path for path in asserts if path.name.startswith(f"{stem}.")], only=rule)
              for stem, rule in rules.items() if any(include.glob(f"dimwise/**/{rule}"))]
    stages.append(Stage("the static_asserts", [path for path in asserts if path not in whole]))
    cases = [case for case in compile_fail.load(compilers.ROOT, "") if not case.problems]
    for variant, flags in (("plain", []), ("dynamic", ["-DDYNAMIC"])):
        files = [case.path for case in cases if variant in case.variants]
        stages += [Stage(f"the mistakes, {variant}", files, flags, fails=False, slow=variant != "plain"),
                   Stage(f"their corrected twins, {variant}", files, [*flags, "-DFIXED"], fails=False, slow=True)]
    return [*stages, Stage("the programs", [*whole, *sorted(tests.glob("equations/*.test.cpp"))], slow=True)]


def killer_of(mutant, include, places, stages, compiler, equivalent):
    """-> the first test that fails, or "" """
    place = places.get()
    path, original = place / "include" / mutant.file, (include / mutant.file).read_text(encoding="utf-8")
    try:
        path.write_text(original[:mutant.start] + mutant.replacement + original[mutant.end:], encoding="utf-8")
        for stage in stages:
            if stage.only in mutant.file and not (stage.slow and (mutant.file, mutant.what) in equivalent):
                killer, text = stage.run(compiler, place / "include", place)
                first = re.search(r"^(\S+?):\d+:(?:\d+:)? (?:fatal )?error: ", text, flags=re.M)
                if killer and first and not first[1].startswith("tests/") and not re.search(r"required |In instantiation|In substitution|expansion", text):
                    return f"FAILED: this is no C++: {text[:300]}"
                if killer:
                    return killer
        return ""
    finally:
        path.write_text(original, encoding="utf-8")
        places.put(place)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--filter", default="", metavar="REGEX")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--jobs", type=int, default=compilers.JOBS)
    arguments = parser.parse_args()
    compiler = next(one for one in compilers.find_compilers() if not one.is_clang)
    lines = (compilers.ROOT / "tests/mutation/equivalent.tsv").read_text(encoding="utf-8").splitlines()[1:]
    equivalent = {tuple(line.split("\t")[:2]) for line in lines}
    with tempfile.TemporaryDirectory() as folder:  # a copy: the tree may change while this runs
        include, places = pathlib.Path(folder) / "include", queue.Queue()
        shutil.copytree(compilers.ROOT / "include", include)
        every = all_mutants(include)
        mutants = [mutant for mutant in every if re.search(arguments.filter, f"{mutant.file}:{mutant.line}: {mutant.what}")]
        if arguments.list:
            print("\n".join(f"{mutant.file}:{mutant.line}: {mutant.what}" for mutant in mutants))
            return
        for number in range(arguments.jobs):
            places.put(pathlib.Path(folder) / str(number))
            shutil.copytree(include, pathlib.Path(folder) / str(number) / "include")
        stages = [stage for stage in load_stages(include) if any(stage.only in mutant.file for mutant in mutants)]
        for stage in stages:
            killer, text = stage.run(compiler, include, pathlib.Path(folder))
            if killer:
                sys.exit(f"{stage.name} fail on the unchanged tree:\n{text[:2000]}\n0 passed, 1 failed")
        with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
            killers = list(pool.map(lambda mutant: killer_of(mutant, include, places, stages, compiler, equivalent), mutants))
    results = compilers.ROOT / "build/mutation.tsv"
    results.parent.mkdir(exist_ok=True)
    results.write_text("".join(f"{mutant.file}\t{mutant.what}\t{killer or 'survives'}\n" for mutant, killer in zip(mutants, killers)), encoding="utf-8")
    alive = {(mutant.file, mutant.what) for mutant, killer in zip(mutants, killers) if not killer}
    problems = [f"FAILED {mutant.file}:{mutant.line}: {mutant.what}: {killer or 'survives, and no argument says why'}" for mutant, killer in zip(mutants, killers)
                if killer.startswith("FAILED") or (not killer and (mutant.file, mutant.what) not in equivalent)]
    tried = {(mutant.file, mutant.what) for mutant in mutants}
    stale = equivalent - {(mutant.file, mutant.what) for mutant in every} | equivalent & tried - alive
    problems += [f"FAILED tests/mutation/equivalent.tsv: {file}: {what}: no such mutant survives" for file, what in sorted(stale)]
    print("\n".join(problems))
    print(f"{len(mutants) - sum(not killer for killer in killers)} killed, {len(alive & equivalent)} equivalent")
    print(f"{len(mutants) - len(problems)} passed, {len(problems)} failed")
    sys.exit(1 if problems or not mutants else 0)


if __name__ == "__main__":
    main()
