"""src/programs/convert_model.py: the bar of long work, which only a terminal sees."""

import io
import sys
import unittest
from unittest import mock

from support import ROOT

sys.path.append(str(ROOT / "src/programs"))
import convert_model  # noqa: E402


class Terminal(io.StringIO):
    def isatty(self):
        return True


class Bar(unittest.TestCase):
    def shown(self, stream, seconds):
        """-> what is written for four items that take `seconds` each"""
        times = iter(seconds * number for number in range(9))
        with mock.patch.object(convert_model.time, "monotonic", lambda: next(times)), mock.patch.object(sys, "stderr", stream):
            self.assertEqual(list(convert_model.with_bar(iter("abcd"), "writing")), list("abcd"))
        return stream.getvalue()

    def test_a_terminal(self):
        text = self.shown(Terminal(), 2)
        self.assertIn("\r\x1b[Kwriting [" + "#" * 12 + " " * 12 + "]  50 %", text)
        self.assertTrue(text.endswith("\r\x1b[K"), text)

    def test_short_work(self):
        self.assertEqual(self.shown(Terminal(), 0.1), "")

    def test_no_terminal(self):
        self.assertEqual(self.shown(io.StringIO(), 2), "")


if __name__ == "__main__":
    unittest.main()
