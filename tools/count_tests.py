#!/usr/bin/env python3
"""Counts test cases in the JUnit files that CTest wrote; the last line is "N passed, N failed" (and ", N skipped").

    python3 tools/count_tests.py [--extra-failed N] RESULT.xml...

Why no kept tool: for CTest's own count a doctest program of a thousand cases is one test. A test counts for what it reports, doctest's
"test cases: …" or a last line "N passed, N failed"; without a report it is one case. A test that CTest calls failed has failed at
least once, and one that could not run has, too. Lines "counted: …" of a test are printed again before the last line.
"""

import argparse
import re
import sys
import xml.etree.ElementTree

DOCTEST = re.compile(r"test cases:\s*\d+\s*\|\s*(\d+) passed\s*\|\s*(\d+) failed\s*(?:\|\s*(\d+) skipped)?")
OURS = re.compile(r"^(\d+) passed, (\d+) failed(?:, (\d+) skipped)?$", re.M)


def count(test):
    """-> ((passed, failed, skipped), what it printed) of one <testcase>"""
    status, output = test.get("status"), re.sub(r"\x1b\[[0-9;]*m", "", test.findtext("system-out") or "")
    told = " ".join(child.get("message", "") for child in test)
    if status in ("notrun", "disabled"):
        return ((0, 0, 1) if status == "disabled" or "SKIP" in told else (0, 1, 0)), output.strip() or told.strip() or "disabled"
    reports = DOCTEST.findall(output) or OURS.findall(output)[-1:] or [(status != "fail", 0, 0)]
    passed, failed, skipped = (sum(int(row[part] or 0) for row in reports) for part in range(3))
    return (passed, max(failed, int(status == "fail")), skipped), output


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("results", nargs="*")
    parser.add_argument("--extra-failed", type=int, default=0, help="failures outside of CTest, such as a broken build")
    arguments = parser.parse_args()
    total, counted = [0, arguments.extra_failed, 0], []
    for test in (test for path in arguments.results for test in xml.etree.ElementTree.parse(path).getroot().iter("testcase")):
        (passed, failed, skipped), output = count(test)
        print(f"{test.get('name'):36} {passed:5} passed {failed:5} failed" + (f" {skipped:5} skipped: {output.splitlines()[-1]}" if skipped else ""))
        counted += re.findall(r"^counted: .+$", output, re.M)
        if test.get("name") == "unit.equations":
            counted.append(f"counted: {passed} equations and programs of {passed + failed} give the right values")
        total = [total[0] + passed, total[1] + failed, total[2] + skipped]
    print("\n".join(dict.fromkeys(counted)))
    print(f"{total[0]} passed, {total[1]} failed" + (f", {total[2]} skipped" if total[2] else ""))
    sys.exit(1 if total[1] or not total[0] else 0)


if __name__ == "__main__":
    main()
