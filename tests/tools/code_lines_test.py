"""tools/site/code_lines.py: lines of code that fit any page."""

import html
import re
import unittest

import support  # noqa: F401  # the path to the tools

import code_lines

MESSAGE = """a.cpp:12:28: error: `softmax` goes over seq (R7)
   12 |   std::cout << softmax<seq>(masked(s, m));
      |                ~~~~~~~~~~~~^~~~~~~~~~~~~~
  fix: Make the mask for the dimension that is reduced: for a softmax over `key`, `causal<seq, key>`, which names the
       queries first. If the mask is right, name its
  note: another line, that is too long for a line with what stands below it and is apart
  ERROR_R7_mask_does_not_serve_this_dimension
"""
TABLE = "lm_head.weight                                      vocab[96] d_embedding[64]                  F32\nwte                 vocab[96]\n"


def fitted(text):
    return code_lines.fitted(f"<pre><code>{html.escape(text, quote=False)}</code></pre>")


class CodeLines(unittest.TestCase):
    def test_no_letter_is_lost(self):
        for text in (MESSAGE, TABLE, "one\n\n  two\n", "x\n"):
            self.assertEqual(html.unescape(re.sub(r"<[^>]*>", "", fitted(text))), text)

    def test_what_carets_mark_is_underlined(self):
        self.assertIn("std::cout &lt;&lt; <u>softmax&lt;seq&gt;(masked(s, m))</u>;", fitted(MESSAGE))
        self.assertEqual(fitted(MESSAGE).count("dw-carets"), 1)

    def test_a_printed_sentence_is_one_element(self):
        sentences = re.findall(r'<span class="dw-sentence".*?\n</span></span>', fitted(MESSAGE), re.S)
        self.assertEqual(len(sentences), 1)
        self.assertIn("fix: Make", sentences[0])
        self.assertIn("queries first", sentences[0])
        self.assertNotIn("note:", sentences[0])
        self.assertNotIn("ERROR_", sentences[0])

    def test_long_rows_scroll_together(self):
        self.assertEqual(fitted(TABLE).count('<span class="dw-rows" tabindex="0">'), 1)
        self.assertTrue(fitted(TABLE).endswith("</span></span></code></pre>"))
        self.assertNotIn("dw-rows", fitted("seq   d_k\n  1     2\n"))

    def test_rows_below_one_another_have_one_size(self):
        self.assertEqual(re.findall(r"--cols:(\d+)", fitted("seq   d_k\n  1     2\n\nwords\n" + TABLE)), ["9", "9", "98", "98"])


if __name__ == "__main__":
    unittest.main()
