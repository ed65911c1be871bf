"""tests/docs/check.py: each kind of block, right and wrong."""

import unittest

from support import project

import check as check_docs
import compilers

FENCE = "```"
PRINTS = "#include <cstdio>\n\nint main() { std::puts(\"1\"); }"
PAGES = {  # name: (page, number of passes, what the report must say; "" for no failure)
    "fragment": (f"{FENCE}cpp\nint n = answer();\n{FENCE}\n", 1, ""),
    "declaration": (f"{FENCE}cpp\ntemplate <class T> struct box {{ T t; }};\n{FENCE}\n", 1, ""),
    "include": (f"{FENCE}cpp\n#include <vector>\n\nstd::vector<int> v(3);\n{FENCE}\n", 1, ""),
    "program": (f"{FENCE}cpp\nint main() {{ return 0; }}\n{FENCE}\n", 1, ""),
    "failing_program": (f"{FENCE}cpp\nint main() {{ return 3; }}\n{FENCE}\n", 0, "ends with code 3"),
    "output": (f"{FENCE}cpp\n{PRINTS}\n{FENCE}\n\nIt prints\n\n{FENCE}text\n1\n{FENCE}\n", 1, ""),
    "other_output": (f"{FENCE}cpp\n{PRINTS}\n{FENCE}\n\n{FENCE}text\n2\n{FENCE}\n", 0, "+1"),
    "hidden_output": (f"{FENCE}cpp\n{PRINTS}\n{FENCE}\n\n{FENCE}sh\n{FENCE}\n{FENCE}text\n1\n{FENCE}\n", 0, "should follow"),
    "no_output": (f"{FENCE}cpp\nint main() {{}}\n{FENCE}\n\n{FENCE}text\n1\n{FENCE}\n", 0, "-1"),
    "output_of_fragments": (f"{FENCE}cpp\nconst int n = answer();\nstd::cout << n;\n{FENCE}\n\n{FENCE}text\n42\n{FENCE}\n\n"
                            f"{FENCE}cpp\n#include <stdexcept>\nconst int n = 1;\nstd::cout << n << '\\n';\n"
                            f"throw std::runtime_error(\"no\");\n{FENCE}\n\n{FENCE}text\n1\nno\n{FENCE}\n\n"
                            f"{FENCE}cpp\nstd::vector<int> v;\n{FENCE}\n\nbeside\n\n{FENCE}text\nno output\n{FENCE}\n", 3, ""),
    "other_output_of_fragment": (f"{FENCE}cpp\nstd::cout << 1;\n{FENCE}\n\n{FENCE}text\n1\n{FENCE}\n"
                                 f"{FENCE}cpp\nstd::cout << 2;\n{FENCE}\n\n{FENCE}text\n1\n{FENCE}\n", 1, "fragment.md:9: "),
    "fragments_that_do_not_compile": (f"{FENCE}cpp\nint m = 0;\n{FENCE}\n\n{FENCE}text\n{FENCE}\n{FENCE}cpp\nint n = m;\n{FENCE}\n"
                                      f"\n{FENCE}text\n{FENCE}\n", 0, "compile.md:8:9: error"),
    "refused": (f"{FENCE}cpp\n  // refused: ERROR_R1_no n;  // ERROR_R1_no\nint n = 1;\n{FENCE}\n", 2, ""),
    "not_refused": (f"{FENCE}cpp\n// refused: int m;   // ERROR_R1_no\nint n = 1;\n{FENCE}\n", 1, "line 2 should give one error"),
    "refused_otherwise": (f"{FENCE}cpp\nint n;\n// refused: n = m;   // ERROR_R1_no\n{FENCE}\n", 1, "not declared"),
    "refused_in_a_program": (f"{FENCE}cpp\nint main() {{\n  // refused: m;  // ERROR_R1_no\n}}\n{FENCE}\n", 1, "are for fragments"),
    "table": (f"{FENCE}cpp\nint n = 0;\n{FENCE}\n\n{check_docs.TABLE}\n| a | b |\n|---|---|\n| `n + 1` | `no code` |\n"
              "| `int m = n`, `n \\| 1` | |\n", 1, ""),
    "other_table": (f"{FENCE}cpp\nint n = 0;\n{FENCE}\n\n{check_docs.TABLE}\n| a |\n|---|\n| `n` |\n| `m` |\n", 0, "other_table.md:9:"),
    "row_without_code": (f"{FENCE}cpp\nint n = 0;\n{FENCE}\n\n{check_docs.TABLE}\n| a |\n|---|\n| n |\n", 0, "row has no code"),
    "table_alone": (f"{check_docs.TABLE}\n| a |\n|---|\n| `1` |\n", 0, "no fragment before this table"),
    "wrong_fragment": (f"text\n\n{FENCE}cpp\n\nint n = nothing();\n{FENCE}\n", 0, "wrong_fragment.md:5"),
    "marked": (f"<!-- no-compile: a sketch -->\n{FENCE}cpp\nno code\n{FENCE}\n", 0, ""),
    "marked_without_reason": (f"<!-- no-compile: -->\n{FENCE}cpp\nno code\n{FENCE}\n", 0, "FAILED"),
    "other_language": (f"{FENCE}sh\nno code\n{FENCE}\n", 0, ""),
    "copy": (f"<!-- BEGIN EXAMPLE: x.cpp:one -->\n{FENCE}cpp\nint a;\n  int b;\n{FENCE}\n{check_docs.END['EXAMPLE']}\n", 1, ""),
    "old_copy": (f"<!-- BEGIN EXAMPLE: x.cpp:one -->\n{FENCE}cpp\nint a;\n{FENCE}\n{check_docs.END['EXAMPLE']}\n", 0,
                 "is not what x.cpp holds"),
    "no_region": (f"<!-- BEGIN EXAMPLE: x.cpp:two -->\n{check_docs.END['EXAMPLE']}\n", 0, "has no single region"),
    "no_file": (f"<!-- BEGIN EXAMPLE: y.cpp -->\n{check_docs.END['EXAMPLE']}\n", 0, "does not exist"),
    "old_error": (f"<!-- BEGIN ERROR: bad {{compiler}} -->\n{FENCE}text\nold\n{FENCE}\n{check_docs.END['ERROR']}\n", 0,
                  "is not what bad holds"),
    "no_case": (f"<!-- BEGIN ERROR: good g++-12 -->\n{check_docs.END['ERROR']}\n", 0, "has no case good"),
    "other_compiler": (f"<!-- BEGIN ERROR: bad g++-1 -->\n{check_docs.END['ERROR']}\n", 1, ""),
    "no_end": ("<!-- BEGIN EXAMPLE: x.cpp -->\n", 0, "no line"),
}


class CheckDocs(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.compiler = compilers.find_compilers()[0]

    def folder(self, name):
        """-> a project with that page"""
        return project(self, {
            "tests/docs/prelude.hpp": "#include <iostream>\n#include <vector>\ninline int answer() { return 42; }\n",
            "x.cpp": "// file\n  // [one]\n  int a;\n    int b;\n  // [/one]\n", "tests/compile_fail/bad.cpp": "int main() { nonsense }\n",
            f"{name}.md": PAGES[name][0].replace("{compiler}", self.compiler.name)})

    def test_each_page(self):
        for name, (_, passes, expected) in PAGES.items():
            with self.subTest(name):
                root, report = self.folder(name), []
                passed, failed = check_docs.check_files(root, [root / f"{name}.md"], self.compiler, False, 1, report.append)
                self.assertIn(expected, "\n".join(report))
                self.assertEqual((passed, failed > 0), (passes, expected != ""), report)

    def test_fragments_of_several_pages(self):
        """What is compiled together is judged as each fragment is alone."""
        names = ("fragment", "declaration", "include", "wrong_fragment", "table", "other_table", "not_refused", "refused")
        root = self.folder("fragment")
        for name in names:
            (root / f"{name}.md").write_text(PAGES[name][0] * 2, encoding="utf-8")
        report = []
        passed, failed = check_docs.check_files(root, [root / f"{name}.md" for name in names], self.compiler, False, 2, report.append)
        wanted = [(PAGES[name][1], sum(1 for _ in check_docs.blocks(PAGES[name][0])) + ("refused" in name) - PAGES[name][1]) for name in names]
        self.assertEqual((passed, failed), tuple(2 * sum(numbers) for numbers in zip(*wanted)), report)
        for name in names:
            self.assertEqual(any(f" {name}.md:" in text for text in report), PAGES[name][2] != "", name)

    def test_update(self):
        for name, wanted in (("old_copy", PAGES["copy"][0]), ("old_error", "bad.cpp:1:14: error:")):
            root = self.folder(name)
            check_docs.check_files(root, [root / f"{name}.md"], self.compiler, True, 1, lambda text: None)
            text = (root / f"{name}.md").read_text()
            self.assertIn(wanted, text)
            self.assertNotIn("\nold\n", text)


if __name__ == "__main__":
    unittest.main()
