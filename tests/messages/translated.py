#!/usr/bin/env python3
"""What dimwise-errors says of every mistake, and that it leaves all other text alone.

    python3 tests/messages/translated.py                                # compiles the cases of tests/compile_fail
    python3 tests/messages/translated.py --texts build/mistakes.json    # with the texts that tools/compile_fail.py --json wrote
    python3 tests/messages/translated.py --print [--filter REGEX]       # shows them
    python3 tests/messages/translated.py --self-test

Demanded of each text, whichever compiler printed it: one error in the case's own file; a message of its own, which names the operation
and dimensions of the error, and the rule; the id; the same from all compilers; nothing else changed, before it or after it. A text
without errors of dimwise passes byte for byte. tests/support/diagnostics.test.cpp checks the table itself, tests/programs the program's
streams and exit codes. Standard library only.
"""

import argparse
import pathlib
import re
import signal
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools"))

import errors_program  # noqa: E402

# Messages that are not about an operation: a tensor's type, a loss, a cache.
NO_OPERATION = ("R1_tensor", "R1_element", "R3_view", "R3_stored", "R4_extent", "R7_tensor_of_bool", "R7_mask_has_no", "R7_scores_change",
                "R10_cache", "R13_sinusoid", "R15", "R17", "R18_element", "R21", "R22_gradient", "R22_batches")
SPELLED = {"elementwise": "arithmetic", "assign": "the assignment", "divide": "the division", "compare": "the comparison",
         "mask_and": "`&` of masks", "mask_or": "`|` of masks"}
BEFORE = "[ 50%] Building CXX object app.cpp.o\napp.cpp:3:1: warning: unused variable 'x' [-Wunused-variable]\n    3 | int x;\n      | ^~~\n"
INCLUDED = "In file included from include/dimwise/dimwise.hpp:6,\n                 from app.cpp:5:\n"
AFTER = "make[1]: *** [app.cpp.o] Error 1\n\tat the end\n"


def translate_all(texts):
    return errors_program.run(errors_program.SEPARATOR.join(texts)).split(errors_program.SEPARATOR) if texts else []


def read(text):
    """-> the first error of dimwise in a text, None where it has none"""
    return next(iter(errors_program.read_all([text])[0]), None)


def whole(text):
    """A text among other output. With a precompiled header, it lacks the lines that say who includes the library."""
    return BEFORE + re.sub(r"^(?=include/dimwise/.*: note: )", INCLUDED, text.rstrip("\n") + "\n", flags=re.MULTILINE) + AFTER


def judge(case, error, told):
    """-> what is wrong with the translation of a text, and with the facts that were read from it"""
    if not told.startswith(BEFORE) or not told.endswith(AFTER):
        return ["the text before or after the error is changed"]
    message_lines, problems = told[len(BEFORE):len(told) - len(AFTER)].splitlines(), []
    heads = [line for line in message_lines if " error: " in line]
    if error is None:
        return ["the compiler names no ERROR_R..."]
    if len(heads) != 1:
        return [f"{len(heads)} errors, must be 1"]
    place, message = heads[0].split(" error: ", 1)
    if not re.fullmatch(rf"tests/compile_fail/{re.escape(case)}\.cpp:\d+:(\d+:)?", place):
        problems.append(f"the place is {place}")
    if message_lines[-1].strip() != error["id"] and not any(line.strip() == error["id"] for line in message_lines):
        problems.append(f"{error['id']} is not named")
    if not message.endswith(f"({re.match(r'ERROR_(R[0-9]+)', error['id'])[1]})"):
        problems.append("the message does not name the rule")
    operation = error["operation"]
    if operation and not re.match(rf"ERROR_({'|'.join(NO_OPERATION)})", error["id"]) and SPELLED.get(operation, f"`{operation}`") not in message:
        problems.append(f"the message does not name the operation {operation}")
    if not error["is_pattern"]:
        problems.append("no pattern of this error has the facts that are there")
    if error["dimensions"] and not any(one in message for one in error["dimensions"]):
        problems.append(f"the message names none of {', '.join(error['dimensions'])}")
    rest = [line for line in message_lines if re.match(r"\d+ errors? generated\.|.*: In .*:$", line)]
    if any("ERROR_" in line and line.strip() != error["id"] or "included from" in line for line in message_lines) or len(message_lines) > 24 + len(rest):
        problems.append("what the compiler printed is still there")
    return problems


def check(texts, out=print):
    """`texts`: [(case's name, variant, compiler, text)]. -> how many failed"""
    whole_texts = [whole(text) for *_, text in texts]
    others = [BEFORE + text.replace("ERROR_R", "OTHER_R") + AFTER for *_, text in texts]
    failed, same = 0, {}
    for (case, variant, compiler, _), error, told, other, unchanged in zip(
            texts, errors_program.read_all(whole_texts), translate_all(whole_texts), others, translate_all(others)):
        error = next(iter(error), None)
        problems = judge(case, error, told) + ([] if other == unchanged else ["the text without the error's name does not pass unchanged"])
        same.setdefault((case, variant), {})[compiler] = "\n".join([error["message"], *error["table"]]) if error else ""
        if problems:
            failed += 1
            out(f"FAILED {case} ({variant}, {compiler}): {'; '.join(problems)}\n{told[len(BEFORE):]}")
    for (case, variant), messages in same.items():
        if len(set(messages.values())) > 1:
            failed += 1
            out(f"FAILED {case} ({variant}): the messages or shapes differ:\n" + "\n".join(f"  {name}: {one}" for name, one in messages.items()))
    return failed


def self_test():
    """Each demand, broken once, is noticed."""
    error = ("tests/compile_fail/a/case.cpp:3:9: error: 'struct dimwise::ERROR_R1_dimension_is_not_in_the_operand<dimwise::op::sum, "
             "dimwise::over<dimwise::about<my::key, dimwise::extent<5> > >, dimwise::operand_shape<my::seq> >'\n    3 |   sum<key>(x);\n"
             "      |   ~~~~~~~~^~~\n")
    told = errors_program.translate(BEFORE + error + AFTER)
    known = read(error)
    failed = 0
    for name, case, fact, words, expected in (
            ("good", "a/case", {}, told, ""), ("another file", "b/case", {}, told, "the place is"),
            ("two errors", "a/case", {}, BEFORE + error * 2 + AFTER, "2 errors"), ("no pattern", "a/case", {"is_pattern": False}, told, "no pattern"),
            ("no operation", "a/case", {}, told.replace("`sum`", "it"), "does not name the operation"),
            ("no rule", "a/case", {}, told.replace(" (R1)", ""), "does not name the rule"),
            ("no dimension", "a/case", {"dimensions": ["x9"]}, told, "names none of"), ("no id", "a/case", {}, told.replace(f"  {known['id']}\n", ""), "is not named"),
            ("other text", "a/case", {}, told[1:], "is changed"), ("as it was", "a/case", {}, BEFORE + error + AFTER, "is still there")):
        problems = "; ".join(judge(case, {**known, **fact}, words))
        if bool(problems) != bool(expected) or expected not in problems:
            failed += 1
            print(f"FAILED self-test {name}: {problems}")
    report = []
    others = [("a/case", "plain", name, error.replace("my::seq", dim)) for name, dim in (("g++", "my::seq"), ("clang", "my::batch"))]
    if check(others, report.append) != 1 or "differ" not in "".join(report):
        failed += 1
        print(f"FAILED self-test: different messages are not noticed: {report}")
    print(f"{11 - failed} passed, {failed} failed")
    return failed


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--texts", type=pathlib.Path, metavar="FILE")
    parser.add_argument("--print", action="store_true")
    parser.add_argument("--filter", default="", metavar="REGEX")
    parser.add_argument("--self-test", action="store_true")
    arguments = parser.parse_args()
    if arguments.self_test:
        sys.exit(1 if self_test() else 0)
    records = errors_program.records_of_mistakes(arguments.texts, arguments.filter)
    texts = [(one["case"], one["variant"], one["compiler"], one["text"].rstrip("\n") + "\n") for one in records]
    if not texts:
        sys.exit("no texts of mistakes")
    if arguments.print:
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
        for *_, text in texts:
            print(errors_program.translate(text, colour=sys.stdout.isatty()))
        return
    failed = check(texts)
    print(f"counted: {len(texts)} texts of {len({one[:2] for one in texts})} mistakes")
    print(f"{max(0, len(texts) - failed)} passed, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
