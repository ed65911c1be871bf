#!/usr/bin/env python3
"""What dimwise-errors (tools/dimwise_errors.py) says of every mistake, and that it leaves all other text alone.

    python3 tools/check_sentences.py                                # the texts of docs/errors.md
    python3 tools/check_sentences.py --texts build/mistakes.json    # those that tools/compile_fail.py --json wrote: all cases
    python3 tools/check_sentences.py --print [--filter REGEX]       # shows them
    python3 tools/check_sentences.py --self-test

Demanded of each text, whichever compiler printed it: one error in the case's own file; a sentence of its own, which names the operation
and dimensions of the error, and the rule; the id; the same from all compilers; nothing else changed, before it or behind it.
A text without errors of dimwise passes byte for byte. Each error of the library has sentences and a cure. Standard library only.
"""

import argparse
import json
import pathlib
import re
import signal
import subprocess
import sys

import compilers
import dimwise_errors
import errors_page

# Sentences about what is no operation: a tensor's type, a loss, a cache.
NO_OPERATION = ("R1_tensor", "R1_element", "R3_view", "R3_stored", "R4_extent", "R7_tensor_of_bool", "R7_mask_has_no", "R7_scores_change",
                "R10_cache", "R13_sinusoid", "R15", "R17", "R18_element", "R21", "R22_gradient", "R22_batches")
BEFORE = "[ 50%] Building CXX object app.cpp.o\napp.cpp:3:1: warning: unused variable 'x' [-Wunused-variable]\n    3 | int x;\n      | ^~~\n"
INCLUDED = "In file included from include/dimwise/dimwise.hpp:6,\n                 from app.cpp:5:\n"
BEHIND = "make[1]: *** [app.cpp.o] Error 1\n\tat the end\n"

TABLES = (  # an error and its shapes
    ("ERROR_R1_contracted_dimension_is_not_in_both<dimwise::op::contract, dimwise::over<dimwise::about<key, dimwise::extent<5>>>, "
     "dimwise::lhs<batch, seq, d_k>, dimwise::rhs<d_k, key, dimwise::score<d_k>>>",
     "  named                        key[5]\n  left        batch  seq  d_k  -\n"
     "  right                   d_k  key[5]  score<d_k>\n                               ^^^^^^"),
    ("ERROR_R12_weight_sums_over_heads_that_are_gone<dimwise::op::contract, dimwise::over<heads, d_v>, dimwise::lhs<seq, d_v>, "
     "dimwise::rhs<heads, d_v>>",
     "  named            d_v  heads\n  left        seq  d_v  -\n  right            d_v  heads\n                        ^^^^^"),
    ("ERROR_R3_view_and_tensor_differ_in_type<dimwise::shape<seq, batch>, dimwise::shape<batch, seq>>",
     "  shape       -      seq  batch\n  tensor      batch  seq  -\n              ^^^^^       ^^^^^"),
    ("ERROR_R17_dimension_occurs_twice<dimwise::shape<d_model, seq, d_model>>",
     "  shape       d_model  seq  d_model\n              ^^^^^^^       ^^^^^^^"),
    ("ERROR_R1_operation_names_its_dimension<dimwise::op::mean, dimwise::number_arguments<0>>",
     "  given       the number 0\n              ^^^^^^^^^^^^"),
    ("ERROR_R7_given_mask_is_a_tensor_of_bool<dimwise::op::where, dimwise::operand_shape<>>", "  operand     one number\n              ^^^^^^^^^^"))


def texts_of_page(root):
    """-> [(case's name, variant, compiler, text)]"""
    found = []
    for section in re.split(r"^### ", (root / errors_page.PAGE).read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]:
        case = re.search(r"`tests/compile_fail/(\S+)\.cpp`", section)
        for compiler, text in re.findall(r"<summary>(\S+)</summary>\n\n```text\n(.*?)```", section, flags=re.DOTALL):
            found.append((case[1], "plain", compiler, text))
    return found


def texts_of_run(path):
    return [(one["case"], one["variant"], one["compiler"], one["text"].rstrip("\n") + "\n")
            for one in json.loads(path.read_text(encoding="utf-8"))]


def facts_of(text):
    found = [dimwise_errors.parse(text[match.start():])[0] for match in dimwise_errors.ERROR.finditer(text)]
    return dimwise_errors.Facts(max(found, key=lambda one: len(one.arguments)), "") if found else None


def judge(case, text):
    """-> (the sentence, what is wrong)"""
    # With a precompiled header, the texts lack the lines that say who includes the library.
    included = re.sub(r"^(?=include/dimwise/.*: note: )", INCLUDED, text, flags=re.MULTILINE)
    told, problems = dimwise_errors.translate(BEFORE + included + BEHIND), []
    if not told.startswith(BEFORE) or not told.endswith(BEHIND):
        problems.append("what stands before or behind the error is changed")
    said = told[len(BEFORE):len(told) - len(BEHIND)].splitlines()
    heads = [line for line in said if " error: " in line]
    if len(heads) != 1:
        return "", problems + [f"{len(heads)} errors, must be 1"]
    place, sentence = heads[0].split(" error: ", 1)
    facts = facts_of(text)
    if facts is None:
        return "", problems + ["the compiler names no ERROR_R..."]
    if not re.fullmatch(rf"tests/compile_fail/{re.escape(case)}\.cpp:\d+:(\d+:)?", place):
        problems.append(f"the place is {place}")
    if not any(line.strip() == facts.id for line in said):
        problems.append(f"{facts.id} is not named")
    if not sentence.endswith(f"({re.match(r'ERROR_(R[0-9]+)', facts.id)[1]})"):
        problems.append("the sentence does not name the rule")
    word = f"`{facts.operation}`"
    if not re.match(rf"ERROR_({'|'.join(NO_OPERATION)})", facts.id) and facts.operation and \
            dimwise_errors.OPERATIONS.get(facts.operation, word) not in sentence:
        problems.append(f"the sentence does not name the operation {facts.operation}")
    if not facts.sentence()[1]:
        problems.append("no sentence of this error has the facts that are there")
    dims = {str(one) for over in facts.overs for one in over} | {str(one) for _, items in facts.rows for one in items}
    dims |= {str(part) for _, items in facts.rows for one in items if dimwise_errors.is_mark(one) for part in one.arguments}
    if dims and not any(dim in sentence for dim in dims):
        problems.append(f"the sentence names none of {', '.join(sorted(dims))}")
    rest = [line for line in said if re.match(r"\d+ errors? generated\.|.*: In .*:$", line)]
    if any("ERROR_" in line and line.strip() != facts.id or "included from" in line for line in said) or len(said) > 24 + len(rest):
        problems.append("what the compiler printed stands there still")
    return sentence, problems


def check(texts, out=print):
    failed, sentences = 0, {}
    for case, variant, compiler, text in texts:
        sentence, problems = judge(case, text)
        other = text.replace("ERROR_R", "OTHER_R")
        if dimwise_errors.translate(BEFORE + other + BEHIND) != BEFORE + other + BEHIND:
            problems.append("the text without the error's name does not pass unchanged")
        shapes = dimwise_errors.read(text.splitlines())
        sentences.setdefault((case, variant), {})[compiler] = "\n".join([sentence, *(shapes[2].table(dimwise_errors.Colours(False)) if shapes else [])])
        if problems:
            failed += 1
            out(f"FAILED {case} ({variant}, {compiler}): {'; '.join(problems)}\n  {sentence}")
    for (case, variant), said in sentences.items():
        if len(set(said.values())) > 1:
            failed += 1
            out(f"FAILED {case} ({variant}): the sentences or shapes differ:\n" + "\n".join(f"  {name}: {one}" for name, one in said.items()))
    return failed


def check_table(root, out=print):
    declared = {name for _, found in errors_page.ids(root) for name, _ in found}
    failed = 0
    for what, table in (("sentence", dimwise_errors.SENTENCES), ("cure", dimwise_errors.CURES)):
        for name in sorted(declared ^ set(table)):
            failed += 1
            out(f"FAILED {name}: " + (f"has no {what}" if name in declared else f"has a {what}, and is no error of the library"))
    return failed


def check_program(out=print):
    """The program itself: bytes, streams, exit codes."""
    program = [sys.executable, str(pathlib.Path(dimwise_errors.__file__))]
    error = ("a.cpp:3:9: error: 'struct dimwise::ERROR_R1_dimension_is_not_in_the_operand<dimwise::op::sum, dimwise::over<"
             "dimwise::about<my::key, dimwise::extent<5> > >, dimwise::operand_shape<my::seq> >'\n    3 |   sum<key>(x);\n      |   ~~~~~~~~^~~\n")
    said = b"a.cpp:3:9: error: `sum` names key, but its operand has seq (R1)\n"
    odd = b"\xff\xfe no text\r\n\r\n\x1b[1mbold\x1b[0m\n  ^\nthe last line has no end"
    coloured = error.replace("a.cpp:3:9:", "\x1b[01m\x1b[Ka.cpp:3:9:\x1b[m\x1b[K").replace("error:", "\x1b[01;31m\x1b[Kerror: \x1b[m\x1b[K").replace("\x1b[K '", "\x1b[K'")
    shell = "printf '%s' \"$1\" >&2; printf 'to stdout ERROR_R1_x<int>\\n'; "
    tests = [  # name, arguments, input, (exit code, what stdout begins with, what stderr begins with)
        ("reads", [], error.encode() + odd, (0, said, b"")),
        ("reads colours", [], coloured.encode(), (0, said, b"")),
        ("odd bytes", [], odd, (0, odd, b"")),
        ("nothing", [], b"", (0, b"", b"")),
        ("runs", ["sh", "-c", shell + "exit 3", "sh", error], b"", (3, b"to stdout ERROR_R1_x<int>\n", said)),
        ("succeeds", ["sh", "-c", "exit 0"], b"", (0, b"", b"")),
        ("killed", ["sh", "-c", "kill -TERM $$"], b"", (128 + signal.SIGTERM, b"", b"")),
        ("no such command", ["./no-such-compiler"], b"", (127, b"", b"dimwise-errors: ./no-such-compiler: ")),
        ("no such option", ["--colour"], b"", (1, b"", b"dimwise-errors: unknown option --colour"))]
    failed = 0
    for name, arguments, given, (code, to_stdout, to_stderr) in tests:
        done = subprocess.run([*program, *arguments], input=given, capture_output=True)
        whole = name in ("odd bytes", "nothing", "killed", "succeeds")
        same = [found == expected if whole or not expected else found.startswith(expected)
                for found, expected in ((done.stdout, to_stdout), (done.stderr, to_stderr))]
        if done.returncode != code or not all(same) or (name == "reads" and not done.stdout.endswith(odd)) or b"\x1b[1;31m" in done.stdout:
            failed += 1
            out(f"FAILED the program, {name}: exit code {done.returncode}, stdout {done.stdout!r}, stderr {done.stderr!r}")
    if "\033[1;31m" not in dimwise_errors.translate(error, colour=True):
        failed += 1
        out("FAILED colours: the culprit has none")
    return failed, len(tests) + 1


def self_test(root):
    """Each demand, broken once, is noticed."""
    texts = [one for one in texts_of_page(root) if "mask_does_not_serve" in one[3]]
    name = "ERROR_R7_mask_does_not_serve_this_dimension"
    kept, failed = dimwise_errors.SENTENCES[name], 0
    for what, sentences, expected in (
            ("good", kept[1:], ""), ("none", (), "no sentence of this error"),
            ("no operation", ("it goes over {over}",), "does not name the operation"), ("no dimension", ("{op} is wrong",), "names none of"),
            ("missing facts", ("{op} {weighted}",), "no sentence of this error")):
        dimwise_errors.SENTENCES[name] = (kept[0], *sentences)
        report = []
        if (check(texts, report.append) == 0) != (expected == "") or expected not in "\n".join(report):
            failed += 1
            print(f"FAILED self-test {what}: {report}")
    del dimwise_errors.SENTENCES[name]
    if check_table(root, lambda line: None) != 1:
        failed += 1
        print("FAILED self-test: an error without sentence was not noticed")
    dimwise_errors.SENTENCES[name] = kept
    for what, (case, variant, compiler, text), expected in (
            ("another file", ("no/case", *texts[0][1:]), "the place is"),
            ("two errors", (*texts[0][:3], texts[0][3] * 2), "2 errors")):
        report = []
        if check([(case, variant, compiler, text)], report.append) == 0 or expected not in "\n".join(report):
            failed += 1
            print(f"FAILED self-test {what}: {report}")
    for error, expected in TABLES:
        table = "\n".join(facts_of(error).table(dimwise_errors.Colours(False)))
        if table != expected:
            failed += 1
            print(f"FAILED self-test shapes of {error}:\n{table}")
    print(f"{8 + len(TABLES) - failed} passed, {failed} failed")
    return failed


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--texts", metavar="FILE")
    parser.add_argument("--print", action="store_true")
    parser.add_argument("--filter", default="", metavar="REGEX")
    parser.add_argument("--self-test", action="store_true")
    arguments = parser.parse_args()
    root = compilers.ROOT
    if arguments.self_test:
        sys.exit(1 if self_test(root) else 0)
    texts = texts_of_run(pathlib.Path(arguments.texts)) if arguments.texts else texts_of_page(root)
    texts = [one for one in texts if re.search(arguments.filter, one[0])]
    if not texts:
        sys.exit("no texts of mistakes")
    if arguments.print:
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
        for _, _, compiler, text in texts:
            print(dimwise_errors.translate(text, colour=dimwise_errors.wanted(sys.stdout)))
        return
    failed = check(texts) + check_table(root)
    of_program, tests = check_program()
    failed += of_program
    print(f"counted: {len(texts)} texts of {len({one[:2] for one in texts})} mistakes, {tests} runs of the program")
    print(f"{max(0, len(texts) + tests - failed)} passed, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
