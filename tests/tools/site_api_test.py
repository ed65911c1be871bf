"""tools/site/api.py: what Doxygen shows of a header, and which names must have a comment."""

import shutil
import unittest

from support import ROOT, project

import api

HEADER = """// SPDX-License-Identifier: BSL-1.0
// dimwise/x.hpp -- an idea: what
// it is.
//
// Layer: dim.
namespace dimwise {
namespace detail {
void inner();
}  // namespace detail
namespace no_adl {
/// The sum of two words, `a<b>`.
///
///   word<D>(x):  [D]  ->  []
DIMWISE_DETAIL_OPERATION(word)
DIMWISE_DETAIL_OPERATION(other)
}  // namespace no_adl
/// A module.
template <class T>
struct module {
  tensor<T, int> weight;
  int bias;
  /// Gives it.
  const T& value() const;
  const T& other_value() const;
  module(const module&) = delete;

  template <class V>
    requires refused<V>
  V rejected_value(int) const;
};
}  // namespace dimwise
"""


@unittest.skipUnless(shutil.which("doxygen"), "doxygen is not installed")
class Api(unittest.TestCase):
    def pages(self, header):
        """-> (the text of all pages, problems)"""
        settings = {f"tools/site/{name}": (ROOT / f"tools/site/{name}").read_text() for name in ("Doxyfile", "api.css", "api.dox", "api_layout.xml")}
        root = project(self, {"include/dimwise/x.hpp": header, **settings})
        problems = api.problems_of(root, root / "api")
        return "".join(path.read_text() for path in (root / "api").glob("*.html")), problems

    def test_what_is_shown(self):
        shown, problems = self.pages(HEADER)
        self.assertEqual(problems, [])
        for part in ("an idea: what it is.", "word&lt;D&gt;(x):  [D]  -&gt;  []", "bias", "weight", "other_value", "A module."):
            self.assertIn(part, shown)
        for part in ("inner", "rejected_value", "delete"):
            self.assertNotIn(part, shown)

    def test_names_share_a_comment(self):
        shown, _ = self.pages(HEADER)
        self.assertGreaterEqual(shown.count("The sum of two words"), 2)

    def test_names_without_a_comment(self):
        for name, old, new in (("other(", "DIMWISE_DETAIL_OPERATION(other)", "\nDIMWISE_DETAIL_OPERATION(other)"),
                               ("other_value", "  const T& other_value", "\n  const T& other_value"), ("value()", "  /// Gives it.\n", ""),
                               ("dimwise::module", "/// A module.\n", "\n"), ("number", "/// A module.", "\ninline constexpr int number = 3;\n/// A module.")):
            problems = self.pages(HEADER.replace(old, new))[1]
            self.assertTrue(any(name in line for line in problems), f"{name}: {problems}")

    def test_a_warning_of_doxygen(self):
        self.assertIn("x.hpp", "".join(self.pages(HEADER.replace("two words", "two <D> words"))[1]))


if __name__ == "__main__":
    unittest.main()
