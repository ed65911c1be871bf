#!/usr/bin/env python3
"""Counts test cases in the JUnit files that CTest wrote; the last line is "N passed, N failed" (and ", N skipped").

    python3 tools/count_tests.py [--extra-failed N] RESULT.xml...
    python3 tools/count_tests.py --self-test

A CTest test counts for what it reports itself: doctest's "test cases: 6 | 6 passed | 0 failed | 0 skipped", or a last
line "6 passed, 0 failed" of one of our scripts. One that reports nothing is one case. One that CTest calls failed has
failed at least once, whatever it reports. The exit code is 0 only if something passed and nothing failed.

What a test says in a line "counted: ..." is printed again before the last line, with the number of programs that must
compile and of equations whose values matched (unit.equations). Why a test was left out is printed, too. Standard library
only.
"""

import argparse
import re
import sys
import xml.etree.ElementTree

DOCTEST = re.compile(r"test cases:\s*\d+\s*\|\s*(\d+) passed\s*\|\s*(\d+) failed\s*(?:\|\s*(\d+) skipped)?")
OURS = re.compile(r"^(\d+) passed, (\d+) failed(?:, (\d+) skipped)?$", re.MULTILINE)


def count(test):
    """-> (passed, failed, skipped) of one <testcase>"""
    status = test.get("status")
    output = re.sub(r"\x1b\[[0-9;]*m", "", test.findtext("system-out") or "")
    reports = DOCTEST.findall(output) or OURS.findall(output)[-1:]
    if status in ("notrun", "disabled"):
        # CTest does not run a test whose program was not built: that is a failure, unless it was skipped on purpose.
        reason = " ".join(child.get("message", "") for child in test)
        return (0, 0, 1) if status == "disabled" or "SKIP" in reason else (0, 1, 0)
    if not reports:
        return (0, 1, 0) if status == "fail" else (1, 0, 0)
    passed, failed, skipped = (sum(int(row[part] or 0) for row in reports) for part in range(3))
    if status == "fail" and failed == 0:
        failed = 1
    return passed, failed, skipped


COUNTED = re.compile(r"^counted: .+$", re.MULTILINE)


def said(test):
    """-> the lines "counted: ..." of one <testcase>"""
    output = re.sub(r"\x1b\[[0-9;]*m", "", test.findtext("system-out") or "")
    lines = COUNTED.findall(output)
    if test.get("name") == "unit.equations":
        passed, failed, _ = count(test)
        lines.append(f"counted: {passed} equations and programs of {passed + failed} give the right values")
    return lines


def reason(test):
    """Why a <testcase> was not run: the last line that it printed, else what CTest says."""
    output = [line for line in (test.findtext("system-out") or "").splitlines() if line.strip()]
    told = " ".join(child.get("message", "") for child in test).strip()
    return output[-1] if output else told or "disabled"


SELF_TESTS = [  # (status, what the test printed, what must be counted)
    ("run", "[doctest] test cases:  6 |  6 passed | 0 failed | 2 skipped\n", (6, 0, 2)),
    ("fail", "[doctest] test cases:  6 |  4 passed | 2 failed | 0 skipped\n", (4, 2, 0)),
    ("fail", "[doctest] test cases:  6 |  6 passed | 0 failed | 0 skipped\nleak!\n", (6, 1, 0)),
    ("fail", "[doctest] run with --help\nSegmentation fault\n", (0, 1, 0)),
    ("run", "1 passed, 0 failed\n12 passed, 0 failed\n", (12, 0, 0)),
    ("fail", "12 passed, 3 failed, 1 skipped\n", (12, 3, 1)),
    ("run", "whatever an example prints\n", (1, 0, 0)),
    ("fail", "", (0, 1, 0)),
    ("notrun", "Unable to find executable", (0, 1, 0)),
    ("disabled", "", (0, 0, 1)),
]


def self_test():
    failed = 0
    for status, output, expected in SELF_TESTS:
        test = xml.etree.ElementTree.Element("testcase", name="x", status=status)
        xml.etree.ElementTree.SubElement(test, "system-out").text = output
        if count(test) != expected:
            failed += 1
            print(f"FAILED self-test {status} {output!r}: expected {expected}, not {count(test)}")
    test = xml.etree.ElementTree.fromstring(
        '<testcase name="unit.equations" status="run"><system-out>x\ncounted: 3 things\n'
        'test cases: 6 | 5 passed | 1 failed</system-out></testcase>')
    if said(test) != ["counted: 3 things", "counted: 5 equations and programs of 6 give the right values"]:
        failed += 1
        print(f"FAILED self-test said: {said(test)}")
    test = xml.etree.ElementTree.fromstring(
        '<testcase name="x" status="notrun"><skipped message="SKIP_RETURN_CODE=77"/><system-out>skipped: no clang\n'
        '</system-out></testcase>')
    if reason(test) != "skipped: no clang" or count(test) != (0, 0, 1):
        failed += 1
        print(f"FAILED self-test reason: {reason(test)}, {count(test)}")
    print(f"{len(SELF_TESTS) + 2 - failed} passed, {failed} failed")
    return failed


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", nargs="*")
    parser.add_argument("--extra-failed", type=int, default=0, help="failures outside of CTest, such as a broken build")
    parser.add_argument("--self-test", action="store_true")
    arguments = parser.parse_args()
    if arguments.self_test:
        sys.exit(1 if self_test() else 0)
    total, counted = [0, arguments.extra_failed, 0], []
    for path in arguments.results:
        for test in xml.etree.ElementTree.parse(path).getroot().iter("testcase"):
            counts = count(test)
            print(f"{test.get('name'):36} {counts[0]:5} passed {counts[1]:5} failed" +
                  (f" {counts[2]:5} skipped: {reason(test)}" if counts[2] else ""))
            counted += [line for line in said(test) if line not in counted]
            total = [a + b for a, b in zip(total, counts)]
    print("\n".join(counted))
    print(f"{total[0]} passed, {total[1]} failed" + (f", {total[2]} skipped" if total[2] else ""))
    sys.exit(1 if total[1] or not total[0] else 0)


if __name__ == "__main__":
    main()
