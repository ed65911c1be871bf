#!/usr/bin/env python3
"""The message that clang prints for every mistake in C++26: that of dimwise-errors, and nothing else.

    python3 tests/messages/in_clang.py                                # every mistake, plain variant, by the newest clang (from 17)
    python3 tests/messages/in_clang.py --texts build/mistakes.json    # with the texts of C++20 that tools/compile_fail.py --json wrote
    python3 tests/messages/in_clang.py --examples                     # of each error the mistake that stands for it in the table
    python3 tests/messages/in_clang.py --filter contract
    python3 tests/messages/in_clang.py --self-test

Demanded of each mistake: one error; its message is the one that dimwise-errors makes of the text of C++20, with the
rule, letter by letter; dimwise-errors makes the same message and shapes of both texts, with the place in the case's own file.
Constructors print it with DIMWISE_MESSAGES_IN_CONSTRUCTORS; without it they are one error, as in C++20. The corrected twins compile,
a program that asks by calls does with DIMWISE_ERRORS_ARE_TYPES, and one that has tensors in the types of the standard library does as
it is. Exit code 77 where no such compiler is installed. Standard library only.
"""

import argparse
import concurrent.futures
import json
import pathlib
import re
import shutil
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools"))

import compile_fail  # noqa: E402
import compilers  # noqa: E402
import errors_program  # noqa: E402
import translated  # noqa: E402

STANDARD = "-std=c++2c"
SAYS = "include/dimwise/support/error_messages.hpp"
IN_CONSTRUCTORS = "-DDIMWISE_MESSAGES_IN_CONSTRUCTORS"
CLANGS = [f"clang++-{version}" for version in range(30, 16, -1)]
CORRECT = (("examples/17_asking_the_rules.cpp", "-DDIMWISE_ERRORS_ARE_TYPES"), ("tests/tensor/standard_types.test.cpp", "-O0"))
SAID = re.compile(r"error: static assertion failed: (.*)")


def judge_all(answers, of_types):
    """`answers`: {case's name: (exit code, text of C++26)}; `of_types`: {case's name: text of C++20}. -> {case's name: what is wrong}"""
    texts = [text for _, text in answers.values()]
    known, found = (map(first, errors_program.read_all(all)) for all in ([of_types[name] for name in answers], texts))
    told = translated.translate_all([translated.whole(text) for text in texts])
    return {name: judge(name, *answers[name], of_types[name], *facts) for name, *facts in zip(answers, known, found, told, strict=True)}


def judge(case, code, text, of_types, known, found, told):
    """`known`, `found`: the facts in the texts of C++20 and C++26; `told`: the translation of the latter. -> what is wrong with it"""
    errors = re.findall(r".*\b(?:fatal )?error: .*", text)
    if code == 0 or len(errors) != 1:
        return [f"{len(errors)} errors, must be 1"]
    if known is None or found is None:
        return ["dimwise-errors does not read it"]
    said, wanted = SAID.search(errors[0]), errors_program.said(known)
    problems = translated.judge(case, found, told)
    if not said or said[1] != wanted:
        problems.append(f"the compiler says\n    {said[1] if said else errors[0]}\n  and not\n    {wanted}")
    if errors_program.said(found) != wanted:
        problems.append(f"dimwise-errors says of it\n    {errors_program.said(found)}\n  and not\n    {wanted}")
    # Of a requirement clang spells default arguments, too: vector<float, allocator<float>>.
    if "due to requirement" not in of_types and found["table"] != known["table"]:
        problems.append("the shapes are others than in C++20")
    return problems


def first(errors):
    return next(iter(errors), None)


def judge_constructor(code, text):
    """-> what is wrong where a constructor is rejected and need not print a message: one error, of a deleted function"""
    errors = re.findall(r".*\b(?:fatal )?error: .*", text)
    return [] if code and len(errors) == 1 and translated.read(text) else [f"as a type: {len(errors)} errors, must be 1"]


def texts_of_types(cases, compiler, jobs, file):
    """-> {case's name: text} of C++20, of the compiler if it is among them, else of another clang; all compilers' texts give one message"""
    if not file:
        harness = compile_fail.Harness(compilers.ROOT, [compiler], "dimwise/dimwise.hpp", use_pch=True)
        return {name: text for name, (_, text) in compiled(harness, cases, compiler, jobs).items()}
    texts = {}
    # The last is taken. A clang spells types as clangs do: those of g++ have no default arguments.
    for record in sorted(json.loads(file.read_text(encoding="utf-8")), key=lambda one: (one["compiler"] == compiler.name, "clang" in one["compiler"])):
        if record["variant"] == "plain":
            texts[record["case"]] = record["text"]
    return texts


def compiled(harness, cases, compiler, jobs, fixed=False, wrong=lambda answers: ()):
    """-> {case's name: (exit code, text)}: of a unit of many cases; alone where that gives no answer, or one that is `wrong`"""
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        known = {}
        for answers in pool.map(lambda unit: harness.answers(unit, "plain", compiler, fixed), compile_fail.units(cases)):
            known.update(answers)
        alone = set(wrong(known))
        rest = [case for case in cases if case.name not in known or case.name in alone]
        found = pool.map(lambda case: harness.compile(case, "plain", compiler, fixed), rest)
        return {**known, **{case.name: answer for case, answer in zip(rest, found)}}


SELF_TEST = """include/dimwise/support/error_messages.hpp:7:17: error: static assertion failed: SAID
    7 |   static_assert(false, detail::message_of<ERROR_R1_dimension_is_not_in_the_operand>());
      |                 ^~~~~
tests/compile_fail/a/case.cpp:3:9: note: in instantiation of template class 'dimwise::ERROR' requested here
    3 |   sum<key>(x);
      |   ^
1 error generated.
"""


def self_test():
    """Each demand, broken once, is noticed."""
    error = "ERROR_R1_dimension_is_not_in_the_operand<dimwise::op::sum, dimwise::over<key>, dimwise::operand_shape<seq>>"
    said = "`sum` names key, but its operand has seq (R1)"
    good = SELF_TEST.replace("ERROR'", error + "'").replace("SAID", said)
    types = f"tests/compile_fail/a/case.cpp:3:9: error: incomplete type 'dimwise::{error}'\n    3 |   sum<key>(x);\n      |   ^\n"
    failed = 0
    for name, text, expected in (
            ("good", good, ""), ("two errors", good + good, "2 errors"), ("other words", good.replace("names key", "names kex"), "the compiler says"),
            ("no rule", good.replace(" (R1)", ""), "the compiler says"), ("no type", re.sub(r"'dimwise::ERROR.*'", "'it'", good).replace("ERROR_R1", "X"), "does not read"),
            ("another type", good.replace("<seq>>", "<batch>>"), "dimwise-errors says"), ("another place", good.replace("a/case", "b/case"), "the place is"),
            ("as before", types, "the compiler says")):
        problems = "\n".join(judge_all({"a/case": (1, text)}, {"a/case": types})["a/case"])
        if bool(problems) != bool(expected) or expected not in problems:
            failed += 1
            print(f"FAILED self-test {name}: {problems}")
    print(f"{8 - failed} passed, {failed} failed")
    return failed


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--compiler", metavar="COMMAND")
    parser.add_argument("--filter", default="", metavar="REGEX")
    parser.add_argument("--examples", action="store_true")
    parser.add_argument("--texts", type=pathlib.Path, metavar="FILE")
    parser.add_argument("--jobs", type=int, default=compilers.JOBS)
    parser.add_argument("--self-test", action="store_true")
    arguments = parser.parse_args()
    if arguments.self_test:
        sys.exit(1 if self_test() else 0)
    command = arguments.compiler or next((one for one in CLANGS if shutil.which(one)), None)
    if not command:
        print("no clang from 17 is installed: left out")
        sys.exit(77)
    compiler, root = compilers.Compiler(command), compilers.ROOT
    cases = compile_fail.load(root, arguments.filter)
    if arguments.examples:
        cases = [case for case in cases if case.name in compile_fail.examples(root)]
    harness, everywhere = (
        compile_fail.Harness(root, [compiler], "dimwise/dimwise.hpp", use_pch=True, standard=(STANDARD, *flags), says=SAYS)
        for flags in ((), (IN_CONSTRUCTORS,)))
    of_types = texts_of_types(cases, compiler, arguments.jobs, arguments.texts)
    failed = 0

    def not_said(answers):
        return [name for name, problems in judge_all(answers, of_types).items() if problems]

    def not_refused(answers):
        constructors = {name: answer for name, answer in answers.items() if not SAID.search(answer[1])}
        said = {name: answer for name, answer in answers.items() if name not in constructors}
        return [*not_said(said), *(name for name, answer in constructors.items() if judge_constructor(*answer))]

    found = compiled(harness, cases, compiler, arguments.jobs, wrong=not_refused)
    constructors = [case for case in cases if not SAID.search(found[case.name][1])]
    as_types = {case.name: problems for case in constructors if (problems := judge_constructor(*found[case.name]))}
    found.update(compiled(everywhere, constructors, compiler, arguments.jobs, wrong=not_said))
    for name, problems in judge_all(found, of_types).items():
        problems = as_types.get(name, []) + problems
        if problems:
            failed += 1
            print(f"FAILED {name}: " + "; ".join(problems))
    twins = compiled(harness, cases, compiler, arguments.jobs, fixed=True)
    refused = [(name, text) for name, (code, text) in twins.items() if code != 0]
    for file, flag in CORRECT:
        code, text = compiler.run([STANDARD, "-Iinclude", "-Iexamples/support", flag, "-fsyntax-only", file], root)
        refused += [(file, text)] if code else []
    for name, text in refused:
        failed += 1
        print(f"FAILED {name}: correct code does not compile:\n{text}")
    print(f"counted: {len(cases)} mistakes that {compiler.version} explains in a message, {len(constructors)} of them of constructors, "
          "and their corrected twins")
    print(f"{2 * len(cases) + len(CORRECT) - failed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
