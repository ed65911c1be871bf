#!/usr/bin/env python3
"""What dimwise-errors promises beside its words: bytes that pass as they are, streams, exit codes, colours, JSON. tests/messages/translated.py
tries it on the text of every mistake.

    python3 tests/programs/errors.py build/dev/src/programs/dimwise-errors

The last line is "N passed, M failed". Standard library only.
"""

import json
import os
import signal
import subprocess
import sys
import tempfile

ERROR = ("a.cpp:3:9: error: 'struct dimwise::ERROR_R1_dimension_is_not_in_the_operand<dimwise::op::sum, dimwise::over<"
         "dimwise::about<my::key, dimwise::extent<5> > >, dimwise::operand_shape<my::seq> >'\n    3 |   sum<key>(x);\n      |   ~~~~~~~~^~~\n")
SAID = b"a.cpp:3:9: error: `sum` names key, but its operand has seq (R1)\n"
WHOLE = SAID + (b"    3 |   sum<key>(x);\n      |   ~~~~~~~~^~~\n  named            key[5]\n  operand     seq  -\n                   ^^^^^^\n"
                b"  fix: Name a dimension of the operand. An earlier step may have removed it: the error lists what the operand has.\n"
                b"  ERROR_R1_dimension_is_not_in_the_operand\n")
# Errors of clang 14 show the line without its number; those inside the library name the line that asked for them.
CLANG = "a.cpp:3:3: error: incomplete type 'dimwise::ERROR_R5_softmax_over_a_single_element<dimwise::op::softmax, dimwise::over<one>>'\n  softmax<one>(x);\n  ^~~~~~~\n1 error generated.\n"
OF_SOFTMAX = "error: 'ERROR_R5_softmax_over_a_single_element<dimwise::op::softmax, dimwise::over<one> >'\n    7 |   inside();\n      |   ^\n"
IN_CLANG = (f"include/dimwise/nn/x.hpp:7:3: {OF_SOFTMAX}b.cpp:2:4: note: in instantiation of function template specialization 'f' requested here\n"
            "    2 |   mine(x);\n      |   ^~~~\n")
IN_GCC = (f"In file included from a.cpp:1:\ninclude/dimwise/nn/x.hpp: In instantiation of 'f':\nb.cpp:2:4:   required from here\n"
          f"include/dimwise/nn/x.hpp:7:3: {OF_SOFTMAX}")
ODD = b"\xff\xfe no text\r\n\r\n\x1b[1mbold\x1b[0m\n  ^\nthe last line has no end"
COLOURED = (ERROR.replace("a.cpp:3:9:", "\x1b[01m\x1b[Ka.cpp:3:9:\x1b[m\x1b[K").replace("error:", "\x1b[01;31m\x1b[Kerror: \x1b[m\x1b[K")
            .replace("\x1b[K '", "\x1b[K'"))
PRINTS = "printf '%s' \"$1\" >&2; printf 'to stdout ERROR_R1_x<int>\\n'; "
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


def main():
    program = sys.argv[1]
    passed = failed = 0

    def check(name, holds, shown):
        nonlocal passed, failed
        passed, failed = passed + bool(holds), failed + (not holds)
        if not holds:
            print(f"FAILED {name}: {shown}")

    def run(*arguments, text=b""):
        return subprocess.run([program, *arguments], input=text, capture_output=True, timeout=60, check=False)

    for name, arguments, text, expected in (  # (exit code, stdout, stderr), each whole
            ("reads", [], ERROR.encode() + ODD, (0, WHOLE + ODD, b"")),
            ("reads colours", [], COLOURED.encode(), (0, WHOLE, b"")),
            ("a warning is not an error", [], ERROR.replace("error", "warning").encode(), (0, ERROR.replace("error", "warning").encode(), b"")),
            ("odd bytes", [], ODD, (0, ODD, b"")),
            ("nothing", [], b"", (0, b"", b"")),
            ("runs", ["sh", "-c", PRINTS + "exit 3", "sh", ERROR], b"", (3, b"to stdout ERROR_R1_x<int>\n", WHOLE)),
            ("runs behind --", ["--", "sh", "-c", PRINTS + "exit 3", "sh", ERROR], b"", (3, b"to stdout ERROR_R1_x<int>\n", WHOLE)),
            ("gives the compiler its options", ["printf", "%s", "--json"], b"", (0, b"--json", b"")),
            ("succeeds", ["sh", "-c", "exit 0"], b"", (0, b"", b"")),
            ("killed", ["sh", "-c", "kill -TERM $$"], b"", (128 + signal.SIGTERM, b"", b"")),
            ("no such command", ["./no-such-compiler"], b"", (127, b"", b"dimwise-errors: ./no-such-compiler: No such file or directory\n"))):
        done = run(*arguments, text=text)
        check(name, (done.returncode, done.stdout, done.stderr) == expected, f"exit code {done.returncode}, {done.stdout!r}, {done.stderr!r}")

    for name, text, begins in (("clang 14", CLANG, "a.cpp:3:3: error: `softmax` goes over one, which has a single element: every weight would be 1 (R5)\n  softmax<one>(x);\n  ^~~~~~~\n"),
                               ("inside the library", IN_CLANG, "b.cpp:2:4: error: `softmax` goes over one, which has a single element: every weight would be 1 (R5)\n    2 |   mine(x);\n")):
        done = run(text=text.encode())
        check(name, done.stdout.decode().startswith(begins), done.stdout)
    with tempfile.TemporaryDirectory() as folder:  # the program's line, where a compiler shows that of the library alone
        path = os.path.join(folder, "b.cpp")
        with open(path, "w", encoding="utf-8") as file:
            file.write("int a;\n  mine(x);\n")
        done = run(text=IN_GCC.replace("b.cpp", path).encode())
        check("a line that is not shown", b"\n    2 |   mine(x);\n" in done.stdout, done.stdout)

    # An error that names no operation is one of what the program's line calls.
    unnamed = "a.cpp:1:5: error: 'ERROR_R15_run_time_extents_are_given_once<dimwise::over<seq> >'\n    1 |     dimwise::some_function(x);\n      |     ^~~~~~\n"
    done = run(text=unnamed.encode())
    check("what the line calls", b"error: `some_function` takes one extent for each run-time dimension of seq (R15)\n" in done.stdout, done)

    done = run("--no-such-option")
    check("no such option", done.returncode > 100 and b"--no-such-option" in done.stderr, done)
    for option in (["--list"], []):  # a full disk is a failure
        with open("/dev/full", "wb") as full:
            done = subprocess.run([program, *option], input=b"a line\n", stdout=full, stderr=subprocess.PIPE, timeout=60, check=False)
        check(f"a full disk {option}", done.returncode == 1 and b"the output cannot be written" in done.stderr, done)
    for option in ("--help", "--version"):
        done = run(option)
        check(option, done.returncode == 0 and b"dimwise" in done.stdout, done)
    check("no colours", b"\x1b[1;31m" not in run(text=ERROR.encode()).stdout, "colours in a pipe")
    done = run("--colour", text=ERROR.encode())
    check("colours", b"\x1b[1;31mkey[5]\x1b[0m" in done.stdout, done.stdout)

    found = [json.loads(line) for line in run("--json", text=b"make: x\n" + ERROR.encode() + ODD).stdout.splitlines()]
    check("JSON", len(found) == 1 and found[0]["id"] == "ERROR_R1_dimension_is_not_in_the_operand" and found[0]["input_line"] == 2 and
          (found[0]["file"], found[0]["line"], found[0]["rule"]) == ("a.cpp", 3, "R1") and found[0]["columns"][1] == {"name": "key[5]", "culprit": True, "mark": False} and
          found[0]["rows"][1] == {"label": "operand", "cells": ["present", "lacking"]}, found)
    check("the parts of JSON", found[0]["column"] == 9 and found[0]["causes"] and found[0]["fix"], found)
    table = json.loads(run("--list").stdout)
    check("list", len(table) > 100 and all(one["fix"] and one["causes"] and one["title"] for one in table), len(table))
    for error, expected in TABLES:
        found = json.loads(run("--json", text=f"a.cpp:1:1: error: {error}\n".encode()).stdout)
        check(error, "\n".join(found["table"]) == expected, "\n".join(found["table"]))
    print(f"{passed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
