"""tools/errors_page.py: the code of a case as the page shows it, and what cannot be shown."""

import shutil
import unittest

from support import project

import errors_page

CASE = "// MISTAKE: m\n#include <a>\n#ifdef FIXED\nRESULT x = 1;\n#else\n[[maybe_unused]] int x;\n#endif\n"


class ErrorsPage(unittest.TestCase):
    @unittest.skipUnless(shutil.which("unifdef"), "unifdef is not installed")
    def test_code(self):
        path = project(self, {"case.cpp": CASE}) / "case.cpp"
        self.assertEqual(errors_page.shown(path, True), "tensor x = 1;")
        self.assertEqual(errors_page.shown(path, False), "int x;")

    def test_an_error_without_shapes(self):
        self.assertRaises(ValueError, errors_page.picture, None)

    def test_errors_without_texts(self):
        self.assertRaises(ValueError, errors_page.page, [])


if __name__ == "__main__":
    unittest.main()
