#!/usr/bin/env python3
"""Removes each rule, each condition of a rule and each entry of the marks table in turn, and shows which test dies.

    python3 tools/mutate.py                     # every mutant; writes tests/mutation/results.tsv and docs/reference/mutation.md
    python3 tools/mutate.py --filter reduce     # mutants whose line "file:line: text" matches; writes nothing
    python3 tools/mutate.py --tests asserts     # only the kinds of tests whose name matches; writes nothing
    python3 tools/mutate.py --list              # the mutants
    python3 tools/mutate.py --survivors FILE    # also write the survivors there, one per line
    python3 tools/mutate.py --new               # only those that the results lack; the others keep their killers
    python3 tools/mutate.py --check             # the results are about today's mutants; a sample of them dies as they say
    python3 tools/mutate.py --page              # writes the page again from the results
    python3 tools/mutate.py --self-test

A mutant is a copy of include/ with one change:

    an `if constexpr` branch never taken; a `constexpr bool`, a returned bool, a concept or a requires-clause that is
    always true or always false; one operand of an `||` or `&&` left out; the other arm of a `conditional_t` or `list_if`;
    an effect in the table of marks that becomes `keep`.

A test kills it by not compiling any more, or, for a mistake of tests/compile_fail, by another error or none. Tests run in
this order, and the first to die is named: the static_asserts of tests/shape, tests/mutation and tests/expr/numbers, the rule's own file before the
others; the mistakes and the corrected twins of tests/compile_fail, all in one translation unit; those with extents known
when the program runs; the programs of tests/equations. All on g++.

A line of tests/mutation/results.tsv has four fields, with tabs between them: the file, the change, its killer or "survives",
and the argument why no program can tell the mutant from the library. The arguments are written by hand, and kept. A survivor
without one NEEDS a TEST, and the exit code is 1. What has an argument is tried on the static_asserts and the mistakes only.
The whole run takes a quarter of an hour, so the tests of every day run --check. Standard library only.
"""

import argparse
import collections
import concurrent.futures
import os
import pathlib
import queue
import re
import shutil
import sys
import tempfile
import time

import compile_fail
import compilers
from united import united

PAGE = "docs/reference/mutation.md"
RESULTS = "tests/mutation/results.tsv"
SURVIVES = "survives"
SAMPLE = 40  # mutants that --check tries again
TABLE = "dimwise/shape/marks_table.hpp"
MARKS = ("raw", "score", "masked_for", "biased_for", "normalised", "weighted", "log_normalised", "rotated", "indexed")
# Files, and the declarations whose conditions count; None for all.
SOURCES = (
    ("dimwise/shape/rules/*.hpp", None),
    ("dimwise/expr/*mask*.hpp", r"requires\(|constexpr bool|concept|conditional_t"),
    ("dimwise/expr/numbers.hpp", None),
    ("dimwise/shape/shape.hpp", r"valid_shape|checked_shape|repetition|all_dimensions"),
    ("dimwise/shape/verdict.hpp", r"hides_in_composite|any_position|any_alternative|alternatives|any_feature|any_choice|any_exclusive_choice|any_batch|all_parallel|refuses_mark|indexed_meets|taken_meets"),
    ("dimwise/dim/derived.hpp", r"divisible|related|extents_differ|is_prime_of|is_out_of|merged_abilities"),
)

# Files of static_asserts that are not called like the rule.
OWN = {"dim": "dim/derived.hpp", "numbers": "expr/numbers.hpp", "marks": "marks_table.hpp", "masks": "expr/position_masks.hpp", "shape": "shape/shape.hpp"}


class Mutant:
    def __init__(self, file, start, end, replacement, text, source, what):
        self.file, self.start, self.end, self.replacement = file, start, end, replacement
        self.line = text.count("\n", 0, start) + 1
        self.source, self.what = source, what

    def apply(self, text):
        return text[:self.start] + self.replacement + text[self.end:]

    @property
    def where(self):
        return f"{self.file}:{self.line}"

    def __str__(self):
        return f"{self.where}: {self.what}"


# --- reading conditions -----------------------------------------------------------------------------------------------

PAIRS = {"(": ")", "[": "]", "{": "}"}


def blanked(text):
    """The text with comments and strings blanked, every other character at its place."""
    blank = lambda found: re.sub(r"[^\n]", " ", found[0])
    return re.sub(r"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"", blank, text, flags=re.DOTALL)


def closing(text, at):
    """-> the place of the bracket that closes the one at `at`"""
    depth, opening = 0, text[at]
    for place in range(at, len(text)):
        if text[place] == opening:
            depth += 1
        elif text[place] == PAIRS[opening]:
            depth -= 1
            if depth == 0:
                return place
    raise ValueError(f"no bracket closes {text[at:at + 40]!r}")


def first_outside(text, start, stops, angles=False):
    """-> the first place from `start` on, outside brackets (and <…> with `angles`), where one of `stops` stands"""
    place, depth = start, 0
    while place < len(text):
        if depth == 0 and text[place] in stops:
            return place
        if text[place] in PAIRS:
            place = closing(text, place)
        elif angles and text[place] == "<":
            depth += 1
        elif angles and text[place] == ">" and depth > 0:
            depth -= 1
        place += 1
    return len(text)


def trimmed(text, start, end):
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return start, end


def operands(text, start, end, operator):
    """-> [(start, end)] of the operands at the outermost level; one where there is no such operator"""
    found, begin, place = [], start, start
    while place < end:
        if text[place] in PAIRS:
            place = closing(text, place)
        elif text.startswith(operator, place):
            found.append((begin, place))
            place += len(operator) - 1
            begin = place + 1
        place += 1
    return [trimmed(text, *span) for span in [*found, (begin, end)]]


def is_fold(text, spans):
    return any(text[a:b] == "..." for a, b in spans)


def parts(text, start, end):
    """-> [(start, end, replacement)]: operands of || that never hold, operands of && that always do, and theirs"""
    start, end = trimmed(text, start, end)
    question = first_outside(text[:end], start, "?")
    if question < end:  # c ? a : b
        colon = first_outside(text[:end], question + 1, ":")
        while text[colon:colon + 2] == "::":
            colon = first_outside(text[:end], colon + 2, ":")
        arms = [(question + 1, colon), (colon + 1, end)]
        found = [(*trimmed(text, start, question), value) for value in ("true", "false")]
        return found + parts(text, start, question) + [part for arm in arms for part in parts(text, *arm)]
    for operator, left_out in (("||", "false"), ("&&", "true")):
        spans = operands(text, start, end, operator)
        if len(spans) == 1:
            continue
        if is_fold(text, spans):
            return []
        return [found for span in spans for found in [(*span, left_out), *parts(text, *span)]]
    inner = start
    while inner < end and text[inner] in "! ":
        inner += 1
    if inner < end and text[inner] == "(" and closing(text, inner) == end - 1:
        return parts(text, inner + 1, end - 1)
    return []


def conditions(text):
    """-> [(start, end, [replacement of the whole])] of every condition, in a text without comments"""
    found = []
    for match in re.finditer(r"\bif constexpr \(", text):
        found.append((match.end(), closing(text, match.end() - 1), ["false"]))
    for match in re.finditer(r"\bconstexpr bool [\w:<>.,\s]*?=(?!=)", text):
        found.append((match.end(), first_outside(text, match.end(), ";"), ["true", "false"]))
    for match in re.finditer(r"\bconcept \w+\s*=", text):
        found.append((match.end(), first_outside(text, match.end(), ";"), ["true"]))
    for match in re.finditer(r"\brequires\(", text):
        last = closing(text, match.end() - 1)
        if not text[last + 1:].lstrip().startswith("{"):  # else the parameters of a requires-expression
            found.append((match.end(), last, ["true"]))
    for match in re.finditer(r"\bconst(?:eval|expr) bool \w+\(", text):
        body = text.find("{", closing(text, match.end() - 1))
        last = closing(text, body)
        for returned in re.finditer(r"\breturn ", text[body:last]):
            at = body + returned.end()
            found.append((at, first_outside(text, at, ";"), ["true", "false"]))
    for match in re.finditer(r"\b(?:conditional_t|list_if)<", text):
        found.append((match.end(), first_outside(text, match.end(), ",", angles=True), ["true", "false"]))
    return sorted((*trimmed(text, a, b), values) for a, b, values in found)


def shown(text, start, end):
    return re.sub(r"\s+", " ", text[start:end].strip())


def mutants_of_rules(file, text, wanted):
    code, found = blanked(text), []
    for start, end, values in conditions(code):
        line = code[code.rfind("\n", 0, start) + 1:end]
        if wanted and not re.search(wanted, line) and not re.search(wanted, code[max(0, start - 80):end]):
            continue
        whole = shown(text, start, end)
        if whole not in ("true", "false"):
            for value in values:
                found.append(Mutant(file, start, end, value, text, whole, f"`{whole}` is always {value}"))
        for a, b, value in parts(code, start, end):
            part = shown(text, a, b)
            what = f"`{part}` is always {value}, in `{whole}`"
            found.append(Mutant(file, a, b, value, text, part, what))
    unique = {(m.start, m.end, m.replacement): m for m in reversed(found)}
    return sorted(unique.values(), key=lambda m: (m.start, -m.end, m.replacement))


def mutants_of_table(file, text):
    code, found = blanked(text), []
    for row in re.finditer(r"constexpr mark_row (?:marks_row<op::)?(\w+)>? = \{", code):
        last = closing(code, row.end() - 1)
        body = code[row.end():last]
        for entry in re.finditer(r"\.(\w+) = (drop|refuse|weaken|by_rule)", body):
            start = row.end() + entry.start(2)
            found.append(Mutant(file, start, start + len(entry[2]), "keep", text, entry[2],
                                f"`{row[1]}`: {entry[2]} of `{entry[1]}` becomes keep"))
        if not body.lstrip().startswith("."):
            for mark, entry in zip(MARKS, re.finditer(r"\b(drop|refuse|weaken|by_rule)\b", body)):
                start = row.end() + entry.start()
                found.append(Mutant(file, start, start + len(entry[1]), "keep", text, entry[1],
                                    f"`{row[1]}`: {entry[1]} of `{mark}` becomes keep"))
    return found


def all_mutants(include):
    found = []
    for pattern, wanted in SOURCES:
        for path in sorted(include.glob(pattern)):
            found += mutants_of_rules(path.relative_to(include).as_posix(), path.read_text(encoding="utf-8"), wanted)
    table = include / TABLE
    if table.exists():
        text = table.read_text(encoding="utf-8")
        found += mutants_of_table(TABLE, text)
        found += mutants_of_rules(TABLE, text, r"effects|conditional_t|list_if|sizeof")
    return found


# --- the tests, each kind in one translation unit ---------------------------------------------------------------------

class Stage:
    """A kind of tests: compiles them, and says which of them die."""

    def __init__(self, name, source, flags, dies_by_any_error, only="", slow=False):
        self.name, self.source, self.flags, self.by_any, self.only, self.slow = name, source, flags, dies_by_any_error, only, slow
        self.baseline = None

    def concerns(self, mutant):
        return mutant.file.endswith(self.only)

    def run(self, compiler, tree, root, place):
        path = place / "tests.cpp"
        path.write_text(self.source, encoding="utf-8")
        limit = ["-Wfatal-errors"] if self.by_any else ["-fmax-errors=0"]
        flags = [compilers.STANDARD, f"-I{tree}", "-Itests", "-DDIMWISE_PLAIN_ONLY", "-w", "-fsyntax-only", *limit]
        return compiler.run([*flags, *self.flags, str(path)], root, timeout=600)

    @staticmethod
    def errors(text):
        """-> {test file: [error type or text]}"""
        found = {}
        for name, line in re.findall(r"^(tests/[^\s:]+):\d+:(?:\d+:)? (?:fatal )?error: (.*)$", text, flags=re.MULTILINE):
            found.setdefault(name, []).append(compile_fail.error_type(line) or line)
        return found

    def dead(self, compiler, tree, root, place):
        """-> (the test that dies or "", the compiler's text)"""
        code, text = self.run(compiler, tree, root, place)
        if self.by_any:
            if code == 0:
                return "", text
            at = re.search(r"^(tests/[^\s:]+:\d+):(?:\d+:)? (?:fatal )?error:", text, flags=re.MULTILINE)
            at = at or re.search(r"(tests/[^\s:]+:\d+):(?:\d+:)?   required from here", text)
            at = at or re.search(r"(tests/(?:shape|mutation|compile_fail|equations)/[^\s:]+:\d+)", text)
            return (at[1] if at else f"{self.name}, which does not compile"), text
        now = self.errors(text)
        for name in sorted({*self.baseline, *now}):
            if self.baseline.get(name) != now.get(name):
                return name, text
        return "", text


def load_stages(root, compiler, tree, out, wanted=""):
    """-> the stages whose tests pass on the unchanged tree"""
    tests = root / "tests"
    asserts = sorted([*tests.glob("shape/*.test.cpp"), *tests.glob("mutation/*.test.cpp"), *tests.glob("expr/numbers.test.cpp")])
    whole = [path for path in asserts if "<dimwise/dimwise.hpp>" in path.read_text(encoding="utf-8")]
    asserts = [path for path in asserts if path not in whole]
    programs = [*whole, *sorted(tests.glob("equations/*.test.cpp"))]
    cases = [case for case in compile_fail.load(root, "") if not case.problems]
    stages = []

    def mistakes(name, variant, fixed):
        chosen = [case.path for case in cases if variant in case.variants]
        flags = [] if variant == "plain" else [f"-D{variant.upper()}"]
        source = united(chosen, root, "mistake")
        stages.append(Stage(name, source, flags + (["-DFIXED"] if fixed else []), fixed, slow=fixed or variant != "plain"))

    # A rule's own tests first: they take a fraction of a second.
    for stem in sorted({path.name.split(".")[0] for path in [*asserts, *whole]}):
        own = [path for path in [*asserts, *whole] if path.name.startswith(stem + ".")]
        rule = OWN.get(stem, f"rules/{stem}.hpp")
        if any(tree.glob(f"dimwise/**/{rule}")):
            stages.append(Stage(f"the static_asserts of {stem}", united(own, root), [], True, rule))
    if asserts:
        stages.append(Stage("the static_asserts", united(asserts, root), [], True))
    if cases:
        mistakes("the mistakes", "plain", False)
        mistakes("the corrected twins", "plain", True)
        mistakes("the mistakes, extents at run time", "dynamic", False)
        mistakes("the corrected twins, extents at run time", "dynamic", True)
    if programs:
        stages.append(Stage("the programs", united(programs, root, "program"), [], True, slow=True))
    stages, good = [stage for stage in stages if re.search(wanted, stage.name)], []
    with tempfile.TemporaryDirectory() as folder:
        for stage in stages:
            began = time.monotonic()
            code, text = stage.run(compiler, tree, root, pathlib.Path(folder))
            stage.baseline = stage.errors(text)
            if stage.by_any and code != 0:
                out(f"FAILED {stage.name} do not compile on the unchanged tree:\n{text[:2000]}")
                continue
            out(f"{stage.name}: {stage.source.count('#line 1 ')} files, {time.monotonic() - began:.1f} s")
            good.append(stage)
    return good, len(good) == len(stages)


# --- running ----------------------------------------------------------------------------------------------------------

def stillborn(text):
    """The change itself is no C++: an error in a header that no test led to."""
    first = re.search(r"^(\S+?):\d+:(?:\d+:)? (?:fatal )?error: (.*)$", text, flags=re.MULTILINE)
    return bool(first) and not first[1].startswith("tests/") and not re.search(r"required |In instantiation|In substitution|in .constexpr. expansion", text)


class Runner:
    def __init__(self, root, include, stages, compiler, jobs, argued):
        self.root, self.include, self.stages, self.compiler, self.argued = root, include, stages, compiler, argued
        self.places = queue.Queue()
        self.folder = tempfile.TemporaryDirectory()
        for number in range(jobs):
            place = pathlib.Path(self.folder.name) / str(number)
            shutil.copytree(include, place / "include")
            self.places.put(place)

    def judge(self, mutant):
        """-> (killer or "", why it is no mutant or "")"""
        place = self.places.get()
        path = place / "include" / mutant.file
        original = (self.include / mutant.file).read_text(encoding="utf-8")
        try:
            path.write_text(mutant.apply(original), encoding="utf-8")
            is_argued = (mutant.file, mutant.what) in self.argued
            for stage in self.stages:
                if not stage.concerns(mutant) or (stage.slow and is_argued):
                    continue
                killer, text = stage.dead(self.compiler, place / "include", self.root, place)
                if killer and stillborn(text):
                    return "", text
                if killer:
                    return killer, ""
            return "", ""
        finally:
            path.write_text(original, encoding="utf-8")
            self.places.put(place)


class Results:
    """What is known of mutants, by (file, change): the killers, "" for a survivor; and the arguments for survivors."""

    def __init__(self, text=""):
        self.killers, self.arguments = {}, {}
        for line in text.splitlines():
            if line.startswith("#") or not line.strip():
                continue
            file, what, killer, argument = line.split("\t")
            self.killers.setdefault((file, what), []).append("" if killer == SURVIVES else killer)
            if argument:
                self.arguments[file, what] = argument

    def __str__(self):
        lines = ["# file, change, killer, argument; see tools/mutate.py"]
        for (file, what), killers in self.killers.items():
            argument = self.arguments.get((file, what), "")
            lines += [f"{file}\t{what}\t{killer or SURVIVES}\t{'' if killer else argument}" for killer in killers]
        return "\n".join(lines) + "\n"

    def unargued(self):
        return [mutant for mutant, killers in self.killers.items() if "" in killers and mutant not in self.arguments]

    def updated(self, results):
        """-> the results of a run, [(mutant, killer)], with the arguments of this"""
        new = Results()
        for mutant, killer in results:
            new.killers.setdefault((mutant.file, mutant.what), []).append(killer)
        new.arguments = self.arguments
        return new


def kind(killer):
    """What killed a mutant, for the page."""
    if killer.startswith("tests/compile_fail/") or "mistakes" in killer or "twins" in killer:
        return "a case of `tests/compile_fail`: another error, none, or a twin that does not compile"
    if killer.startswith("tests/equations/") or killer == "the programs":
        return "a program of `tests/equations` that does not compile"
    return "a `static_assert` of `tests/shape`, `tests/mutation` or `tests/expr`"


def page(results):
    killers = [killer for found in results.killers.values() for killer in found]
    kinds = collections.Counter(kind(killer) for killer in killers if killer)
    argued = sum(found.count("") for mutant, found in results.killers.items() if mutant in results.arguments)
    alive = killers.count("") - argued
    rows = [*kinds.most_common(), ("nothing; an argument says why no program can tell", argued), ("nothing: NEEDS TEST", alive)]
    table = "\n".join(f"| {name} | {count} |" for name, count in rows if count)
    killed = len(killers) - killers.count("")
    return f"""# Mutation run

<!-- generated: python3 tools/mutate.py; do not edit -->

A mutant is a copy of the library with one change in a rule or in the table of marks: a branch that is never taken, a
condition that is always true or always false, an operand of `||` or `&&` left out, the other arm of a choice between
types, a mark that is kept where it should end or be refused. A test kills the mutant if it fails. A mutant that survives
shows a condition that no test needs.

| killed by | mutants |
|---|---|
{table}

{killed} killed, {argued} argued, {alive} survive.

`{RESULTS}` lists every mutant with the first test that killed it, or the argument.

| you want | command |
|---|---|
| the whole run, a quarter of an hour or more | `python3 tools/mutate.py` |
| the mutants that the list lacks | `python3 tools/mutate.py --new` |
| the mutants of one rule | `python3 tools/mutate.py --filter reduce` |
| what every test run does: today's mutants against the list, and a sample killed again | `python3 tools/mutate.py --check` |
"""


def run(root, include, mutants, stages, compiler, jobs, argued, out):
    """-> [(mutant, killer)], [(mutant, text)] of changes that are no C++"""
    runner = Runner(root, include, stages, compiler, jobs, argued)
    results, invalid = [], []
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for number, (mutant, (killer, wrong)) in enumerate(zip(mutants, pool.map(runner.judge, mutants))):
            if wrong:
                invalid.append((mutant, wrong))
            else:
                results.append((mutant, killer))
            out(f"{number + 1}/{len(mutants)} {'no C++   ' if wrong else 'killed   ' if killer else 'SURVIVED '}{mutant}" + (f"  <- {killer}" if killer else ""))
    return results, invalid


def check(root, include, mutants, compiler, jobs, out):
    """-> (passed, failed): the results are about these mutants, some that they call killed are, and the page counts them."""
    known = Results((root / RESULTS).read_text(encoding="utf-8"))
    today = collections.Counter((mutant.file, mutant.what) for mutant in mutants)
    then = collections.Counter({key: len(killers) for key, killers in known.killers.items()})
    # A whole run takes longer than a day's tests: the results may lag behind the rules, and it is said by how much.
    untried, gone = (today - then).total(), (then - today).total()
    problems = [f"{RESULTS} lacks {untried} of {today.total()} mutants"] if 2 * untried > today.total() else []
    if untried or gone:
        out(f"{untried} of {today.total()} mutants are newer than {RESULTS}, which lists {gone} that are none any more: "
            "python3 tools/mutate.py --new tries them")
    problems += [f"{file}: {what}: survives in {RESULTS} and NEEDS TEST" for file, what in known.unargued()]
    if (root / PAGE).read_text(encoding="utf-8") != page(known):
        problems.append(f"{PAGE} does not count what {RESULTS} holds; python3 tools/mutate.py --page writes it")
    for problem in problems:
        out(f"FAILED {problem}")
    # Those whose killer is a static_assert: the others take too long for every day.
    quick = [m for m in mutants if known.killers.get((m.file, m.what), [""])[0].startswith(("tests/shape/", "tests/mutation/"))]
    sample = quick[::max(1, len(quick) // SAMPLE)]
    stages, good = load_stages(root, compiler, include, out, "static_asserts")
    results, invalid = run(root, include, sample, stages, compiler, jobs, {}, lambda text: None)
    alive = [mutant for mutant, killer in results if not killer]
    for mutant in alive:
        out(f"FAILED {mutant}: lives, and {RESULTS} calls it killed")
    killed = sum(1 for killers in known.killers.values() for killer in killers if killer)
    out(f"counted: {killed} mutants killed and {then.total() - killed} argued by the whole run of {RESULTS}; "
        f"{len(results) - len(alive)} of {len(sample)} tried again are killed")
    failed = len(problems) + len(alive) + len(invalid) + (not good)
    return len(results) - len(alive) + (not problems), failed


# --- the tool's own tests ---------------------------------------------------------------------------------------------

SELF_RULE = """#pragma once
template <class T> struct answer { using type = T; };
struct yes; struct no_small; struct no_odd;
template <int N> consteval auto judge() {
  if constexpr (N < 3 || N == 100) {
    return answer<no_small>{};
  } else if constexpr (N % 2 == 1 && (N != 7 || N == 8)) {  // if constexpr (in a comment)
    return answer<no_odd>{};
  } else {
    return answer<yes>{};
  }
}
template <int... N> constexpr bool all_even = ((N % 2 == 0) && ...);
"""
SELF_TABLE = """#pragma once
enum class effect { keep, drop, refuse };
struct mark_row { effect raw = effect::keep; effect score = effect::keep; };
using enum effect;
template <int> inline constexpr mark_row marks_row{};
namespace op { constexpr int sum = 1; }
template <> inline constexpr mark_row marks_row<op::sum> = {.raw = refuse, .score = drop};
"""
SELF_TEST = """#include <dimwise/shape/rules/one.hpp>
#include <dimwise/shape/marks_table.hpp>
template <int N, class T> constexpr bool says = __is_same(typename decltype(judge<N>())::type, T);
static_assert(says<1, no_small>);
static_assert(says<5, no_odd> && says<7, yes>);
static_assert(says<4, yes> && says<8, yes> && says<100, no_small>);
static_assert(all_even<2, 4> && !all_even<2, 3>);
static_assert(marks_row<op::sum>.raw == refuse);
"""
SELF_EXPECTED = {  # mutated text -> survives
    "`N < 3 || N == 100` is always false": False,
    "`N < 3` is always false, in `N < 3 || N == 100`": False,
    "`N == 100` is always false, in `N < 3 || N == 100`": False,
    "`N % 2 == 1 && (N != 7 || N == 8)` is always false": False,
    "`N % 2 == 1` is always true, in `N % 2 == 1 && (N != 7 || N == 8)`": False,
    "`(N != 7 || N == 8)` is always true, in `N % 2 == 1 && (N != 7 || N == 8)`": False,
    "`N != 7` is always false, in `N % 2 == 1 && (N != 7 || N == 8)`": False,
    "`N == 8` is always false, in `N % 2 == 1 && (N != 7 || N == 8)`": True,
    "`((N % 2 == 0) && ...)` is always true": False,
    "`((N % 2 == 0) && ...)` is always false": False,
    "`sum`: refuse of `raw` becomes keep": False,
    "`sum`: drop of `score` becomes keep": True,
}


def self_test(compiler):
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        files = {"include/dimwise/shape/rules/one.hpp": SELF_RULE, f"include/{TABLE}": SELF_TABLE, "tests/shape/one.test.cpp": SELF_TEST}
        for name, text in files.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text, encoding="utf-8")
        (root / "tests/compile_fail").mkdir()
        report = []
        stages, good = load_stages(root, compiler, root / "include", report.append)
        results, invalid = run(root, root / "include", all_mutants(root / "include"), stages, compiler, 2, {}, lambda text: None)
        survived = {mutant.what: not killer for mutant, killer in results}
        for what in sorted({*SELF_EXPECTED, *survived}):
            if survived.get(what) != SELF_EXPECTED.get(what):
                failed += 1
                print(f"FAILED self-test {what}: expected to survive: {SELF_EXPECTED.get(what)}, did: {survived.get(what)}")
        killers = {killer for _, killer in results if killer}
        if not good or invalid or "tests/shape/one.test.cpp:4" not in killers:
            failed += 1
            print(f"FAILED self-test: stages good: {good}, no C++: {invalid}, killers: {killers}")
        # --check: the results of this run; with a mutant fewer; with one called killed that lives; another page.
        known = Results().updated(results)
        known.arguments = {mutant: "8 is even." for mutant in known.unargued()}
        good, survivor = str(known), next(line for line in str(known).splitlines() if SURVIVES in line)
        if len(known.arguments) != 2 or str(Results(good)) != good or "10 killed, 2 argued, 0 survive" not in page(known):
            failed += 1
            print(f"FAILED self-test results:\n{good}\n{page(known)}")
        written = {"": (good, page(known)),
                   "survives in": (good.replace("8 is even.", ""), page(known)),
                   "lacks 12 of 12 mutants": ("", page(Results())),
                   "does not count": (good, page(Results())),
                   "lives, and": (good.replace(survivor, survivor.replace(SURVIVES, "tests/shape/one.test.cpp:4").replace("8 is even.", "")), "")}
        for expected, (lines, text) in written.items():
            for name, content in ((RESULTS, lines), (PAGE, text)):
                (root / name).parent.mkdir(parents=True, exist_ok=True)
                (root / name).write_text(content, encoding="utf-8")
            report = []
            _, bad = check(root, root / "include", all_mutants(root / "include"), compiler, 2, report.append)
            if (bad > 0) != bool(expected) or expected not in "\n".join(report):
                failed += 1
                print(f"FAILED self-test check: expected {expected or 'a pass'!r}, the report was:\n" + "\n".join(report))
    print(f"{len(SELF_EXPECTED) + 7 - failed} passed, {failed} failed")
    return failed


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--filter", default="", metavar="REGEX")
    parser.add_argument("--tests", default="", metavar="REGEX")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--survivors", metavar="FILE")
    parser.add_argument("--jobs", type=int, default=max(2, os.cpu_count() or 2))
    parser.add_argument("--new", action="store_true")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--page", action="store_true")
    parser.add_argument("--self-test", action="store_true")
    arguments = parser.parse_args()

    gcc = [compiler for compiler in compilers.find_compilers() if not compiler.is_clang]
    if not gcc:
        sys.exit("no g++ found; bash tools/setup.sh tests installs it")
    if arguments.self_test:
        sys.exit(1 if self_test(gcc[0]) else 0)
    root, began = compilers.ROOT, time.monotonic()
    known = Results((root / RESULTS).read_text(encoding="utf-8"))
    if arguments.page:
        (root / PAGE).write_text(page(known), encoding="utf-8")
        return
    with tempfile.TemporaryDirectory() as folder:  # a copy: the tree may change while this runs
        include = pathlib.Path(folder) / "include"
        shutil.copytree(root / "include", include)
        mutants = [mutant for mutant in all_mutants(include) if re.search(arguments.filter, str(mutant))]
        if arguments.list:
            print("\n".join(map(str, mutants)))
            print(f"{len(mutants)} mutants")
            return
        say = lambda text: print(text, flush=True)
        if arguments.check:
            passed, failed = check(root, include, mutants, gcc[0], arguments.jobs, say)
            print(f"{passed} passed, {failed} failed")
            sys.exit(1 if failed else 0)
        listed = {key: list(killers) for key, killers in known.killers.items()} if arguments.new else {}
        kept = {mutant: listed[mutant.file, mutant.what].pop(0) for mutant in mutants if listed.get((mutant.file, mutant.what))}
        kept = {mutant: killer for mutant, killer in kept.items() if killer or (mutant.file, mutant.what) in known.arguments}
        stages, good = load_stages(root, gcc[0], include, say, arguments.tests)
        results, invalid = run(root, include, [mutant for mutant in mutants if mutant not in kept], stages, gcc[0],
                               arguments.jobs, known.arguments, say)
        tried = dict(results)
        results = [(mutant, kept.get(mutant, tried.get(mutant, ""))) for mutant in mutants if mutant in kept or mutant in tried]
    survivors = [mutant for mutant, killer in results if not killer]
    needed = [mutant for mutant in survivors if (mutant.file, mutant.what) not in known.arguments]
    if arguments.survivors:
        pathlib.Path(arguments.survivors).write_text("".join(f"{mutant}\n" for mutant in needed), encoding="utf-8")
    if not arguments.filter and not arguments.tests and good:
        new = known.updated(results)
        (root / RESULTS).write_text(str(new), encoding="utf-8")
        (root / PAGE).write_text(page(new), encoding="utf-8")
    for mutant, text in invalid:
        print(f"FAILED {mutant}: the change is no C++:\n{text[:600]}")
    for mutant in needed:
        print(f"NEEDS TEST {mutant}")
    print(f"{time.monotonic() - began:.0f} s")
    print(f"{len(results) - len(survivors)} killed, {len(survivors)} survived")
    sys.exit(1 if needed or invalid or not good else 0)


if __name__ == "__main__":
    main()
