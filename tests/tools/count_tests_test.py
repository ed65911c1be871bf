"""tools/count_tests.py: what each kind of test counts for."""

import unittest
import xml.etree.ElementTree

import support  # noqa: F401  the path to the tools

import count_tests

TESTS = (("run", "test cases:  6 |  6 passed | 0 failed | 2 skipped", (6, 0, 2)), ("fail", "test cases: 6 | 4 passed | 2 failed", (4, 2, 0)),
              ("fail", "test cases: 6 | 6 passed | 0 failed\nleak!", (6, 1, 0)), ("run", "1 passed, 0 failed\n12 passed, 0 failed\n", (12, 0, 0)),
              ("fail", "12 passed, 3 failed, 1 skipped", (12, 3, 1)), ("run", "whatever", (1, 0, 0)), ("fail", "", (0, 1, 0)),
              ("notrun", "Unable to find executable", (0, 1, 0)), ("disabled", "", (0, 0, 1)))


class CountTests(unittest.TestCase):
    def test_each_kind(self):
        for status, output, expected in TESTS:
            with self.subTest(status, output=output):
                test = xml.etree.ElementTree.Element("testcase", status=status)
                xml.etree.ElementTree.SubElement(test, "system-out").text = output
                self.assertEqual(count_tests.count(test)[0], expected)


if __name__ == "__main__":
    unittest.main()
