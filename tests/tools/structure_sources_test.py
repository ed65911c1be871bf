"""tests/structure/sources.py: each rule, broken once in a copy of the project, is found."""

import pathlib
import shutil
import tempfile
import unittest

from support import ROOT, project

import sources

BREACHES = {  # what is appended to a file: what must be found
    ("include/dimwise/dim/error.hpp", "#include <dimwise/nn/layers/linear.hpp>"): "dim may include support",
    ("include/dimwise/dim/error.hpp", "#include <xsimd/xsimd.hpp>"): "only kernels/simd/architecture.hpp may include",
    ("include/dimwise/dim/error.hpp", "#include <dimwise/dimwise.hpp>"): "the umbrella is for users",
    ("include/dimwise/dim/error.hpp", '#include "error.hpp"'): "own headers are written",
    ("include/dimwise/dim/error.hpp", "#include <curses.h>"): "neither the standard library",
    ("include/dimwise/dim/error.hpp", "#include <sstream>"): "<sstream> is slow to compile",
    ("include/dimwise/models/decoders/qwen.hpp", "//\n" * 120): "qwen.hpp: has ",
    ("include/dimwise/loose.hpp", ""): "loose.hpp: belongs to no layer",
    ("include/dimwise/dim/error.hpp", "// Tests: tests/gone.test.cpp"): "there is no tests/gone.test.cpp",
    ("include/dimwise/dim/error.hpp", "int x;  // as gone/layout.hpp says"): "there is no header gone/layout.hpp",
    ("include/dimwise/dim/error.hpp", "namespace DIMWISE_CONFIGURATION {}"): "uses DIMWISE_CONFIGURATION without",
    ("include/dimwise/dim/x_definitions.hpp", ""): "x.hpp does not include it",
    ("docs/reference/operations.md", "\n| operation |\n|---|\n| `gone_x(x)` |"): "operations.md explains gone_x",
    ("docs/reference/operations.md", "\n| operation |\n|---|\n| `dimension(x)` |"): "no row for dimension",
    ("docs/reference/training.md", "\n| gradient of | |\n|---|---|\n| `sum(x)` | `tests/main.cpp` |"): "tests/main.cpp does not test sum",
    ("docs/reference/tensors.md", "R99"): "tensors.md names R99",
    ("README.md", "tools/gone.py"): "README.md names tools/gone.py",
    ("CONTRIBUTING.md", "`eval/gone.hpp`"): "CONTRIBUTING.md names eval/gone.hpp"}


class CheckSources(unittest.TestCase):
    def test_each_breach(self):
        with tempfile.TemporaryDirectory() as folder:
            copy = pathlib.Path(folder)
            for entry in ROOT.iterdir():
                if entry.name in ("include", "docs"):
                    shutil.copytree(entry, copy / entry.name)
                elif entry.suffix == ".md":
                    shutil.copy(entry, copy)
                elif entry.name != "build":
                    (copy / entry.name).symlink_to(entry)
            for (file, text), expected in BREACHES.items():
                before = (copy / file).read_text(encoding="utf-8") if (copy / file).exists() else None
                (copy / file).write_text(f"{before or ''}\n{text}\n", encoding="utf-8")
                with self.subTest(file=file, text=text):
                    self.assertIn(expected, "\n".join([*sources.check_headers(copy), *sources.check_pages(copy, None)]))
                if before is None:
                    (copy / file).unlink()
                else:
                    (copy / file).write_text(before, encoding="utf-8")

    def test_table_of_layers(self):
        table = "| `dim` | names | support | - |\n| `support` | lists | - | - |\n| `shape` | shapes | dim | - |\n"
        self.assertEqual({"dim", "support"}, sources.layers_below("shape", table))
        self.assertEqual(set(), sources.layers_below("support", table))
        self.assertNotIn(sources.layers_below("io", table), sources.BELOW.values())

    def test_heads_of_tools(self):
        root = project(self, {"tools/bare.py": "", "tools/told.sh": "# Why no kept tool: …\n", "tools/page/part.mjs": ""})
        self.assertEqual(["tools/bare.py"], [problem.split(":")[0] for problem in sources.check_tools(root)])

    def test_lines_of_tools(self):
        head = "# Why no kept tool: …\n"
        root = project(self, {"tools/long.sh": head + "true\n\n" * 1999, "tools/playground/build.py": head})
        self.assertEqual([], list(sources.check_tools(root)))
        (root / "tools/site").mkdir()
        (root / "tools/site/more.py").write_text(head, encoding="utf-8")
        self.assertEqual(["tools"], [problem.split(":")[0] for problem in sources.check_tools(root)])

    def test_test_cases_that_start_threads(self):
        sources_of_tests = {
            "itself": 'TEST_CASE("sums") {\n  ranks::run_threads(2, f);\n}\n',
            "function": 'void each() {\n  std::thread t;\n}\nTEST_CASE("sums") {\n  each();\n}\n',
            "header": '#include "on_threads.hpp"\nTEST_CASE("sums") {\n  on_threads(f);\n}\n',
            "in_the_suite": 'TEST_CASE("sums" * support::threads) {\n  ranks::run_threads(2, f);\n}\n',
            "none": '#include "on_threads.hpp"\n// Not on_threads.\nTEST_CASE("sums") {\n  f();\n}\n',
            "a_program": 'void* operator new(std::size_t);\nTEST_CASE("sums") {\n  std::thread t;\n}\n'}
        root = project(self, {"tests/ranks/on_threads.hpp": "void on_threads(f) {\n  run_threads(2, f);\n}\n",
                              **{f"tests/ranks/{name}.test.cpp": text for name, text in sources_of_tests.items()}})
        found = "\n".join(sources.check_threads(root))
        for name in sources_of_tests:
            with self.subTest(name=name):
                self.assertEqual(f"{name}.test.cpp: starts threads" in found, name in ("itself", "function", "header"), found)


if __name__ == "__main__":
    unittest.main()
