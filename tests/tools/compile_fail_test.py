"""tools/compile_fail.py: each demand of the harness, broken once, is reported; cases compiled together give the reports of each alone."""

import re
import unittest

from support import project

import compile_fail
import compilers

# As in support/errors.hpp, g++ does not repeat the line of a declaration whose file it does not find.
HEADER = """#pragma once
#line 3 "dimwise/dimwise.hpp"
template <class... Facts> struct ERROR_R1_wrong;
template <class V = ERROR_R1_wrong<int, char>> V bad();
template <class T> struct trait { static constexpr int value = 1; };
template <int N> constexpr int checked() { static_assert(N > 0, "ERROR_R1_wrong"); return N; }
"""
HEAD = "// MISTAKE: m\n// RULE: R1\n// EXPECT: ERROR_R1_wrong\n// VARIANTS: unused\n#include <dimwise/dimwise.hpp>\n"
GOOD = "#ifndef FIXED\nint main() { auto r = bad(); }\n#else\nint main() {}\n#endif\n"
CASES = {  # name: (source, what the report must say; "" for a pass)
    "good": (HEAD + GOOD, ""),
    "compiles": (HEAD + "int main() {}\n", "compiles, but must not"),
    "two_errors": (HEAD + GOOD.replace("bad();", "bad(); auto s = bad();"),
                   "2 errors, must be 1"),
    "too_long": (HEAD + "template <int N> struct deep { static constexpr int v = deep<N - 1>::v; };\n"
                 "template <> struct deep<0> { static constexpr int v = sizeof(ERROR_R1_wrong<int>); };\n"
                 + GOOD.replace("auto r = bad()", "return deep<9>::v"), "must be at most 10"),
    "wrong_rule": (HEAD.replace("RULE: R1", "RULE: R2") + GOOD, "do not name R2"),
    "longer_rule": (HEAD.replace("RULE: R1", "RULE: R11") + GOOD, "do not name R11"),
    "wrong_text": (HEAD.replace("EXPECT: ERROR_R1_wrong", "EXPECT: something else") + GOOD, "nothing matches EXPECT"),
    "bad_twin": (HEAD + "int main() { auto r = bad(); }\n", "the corrected twin does not compile"),
    "bad_twin_of_variant": (HEAD + "#if !defined FIXED || defined UNUSED\nint main() { auto r = bad(); }\n#else\n"
                            "int main() {}\n#endif\n", "the corrected twin does not compile"),
    "differs": (HEAD + "#ifdef __clang__\nusing fact = char;\n#else\nusing fact = int;\n#endif\n#ifndef FIXED\n"
                "int main() { auto r = bad<ERROR_R1_wrong<fact>>(); }\n#else\nint main() {}\n#endif\n",
                "differs between the compilers"),
    "no_head": ("int main() {}\n", "its header is wrong"),
    # What would be judged wrongly together: a header that another case includes, an error that a unit prints once, what is no
    # code for a namespace, macros.
    "includes": (HEAD + "#include <map>\n" + GOOD, ""),
    "forgets_include": (HEAD + GOOD.replace("int main() {}", "int main() { std::map<int, int> m; }"), "the corrected twin does not compile"),
    "once": (HEAD + GOOD.replace("auto r = bad()", "return checked<0>()"), ""),
    "once_again": (HEAD + GOOD.replace("auto r = bad()", "return checked<0>()"), ""),
    "once_and_another": (HEAD + GOOD.replace("auto r = bad()", "auto r = bad(); return checked<0>()"), "2 errors, must be 1"),
    "fatal": (HEAD + GOOD.replace("int main() { auto", "#include <no_such_header_of_R1>\nint main() { auto"), "nothing matches EXPECT"),
    "specialises": (HEAD + "struct mine;\ntemplate <> struct trait<mine> { static constexpr int value = 2; };\n" + GOOD, ""),
    "macro": (HEAD + "#define CALL bad()\n" + GOOD.replace("bad()", "CALL"), ""),
    "same_macro": (HEAD + "#define CALL checked<1>()\n" + GOOD.replace("bad()", "CALL"), "compiles, but must not"),
}

class CompileFail(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.compilers = compilers.find_compilers()

    def setUp(self):
        self.root = project(self, {"include/dimwise/dimwise.hpp": HEADER, **{f"tests/compile_fail/{name}.cpp": source for name, (source, _) in CASES.items()}})

    def reports(self, *patterns):
        """-> the report of the cases of each pattern, in harnesses that know of no case that is compiled alone"""
        for pattern in patterns:
            report = []
            harness = compile_fail.Harness(self.root, self.compilers, "dimwise/dimwise.hpp", use_pch=True)
            compile_fail.run(harness, compile_fail.load(self.root, pattern), compilers.JOBS, report.append)
            yield "\n".join(report).strip()

    def test_each_demand(self):
        alone = {}
        for name, text in zip(CASES, self.reports(*(f"^{name}$" for name in CASES))):
            expected = CASES[name][1]
            if name != "differs" or len({compiler.family for compiler in self.compilers}) > 1:
                with self.subTest(name):
                    self.assertIn(expected, text)
                    self.assertEqual(text == "", expected == "", text)
            alone[name] = text
        # All at once, which compiles them together. So do two without one that ends every unit.
        for pattern, text in zip(("", "include"), self.reports("", "include")):
            sections = re.split(r"^(?=FAILED )", text + "\n", flags=re.M)
            for name in (name for name in alone if re.search(pattern, name)):
                with self.subTest(name, pattern=pattern):
                    self.assertEqual("".join(one for one in sections if re.match(rf"FAILED {name}\b", one)).strip(), alone[name])

    def test_a_right_source_is_compiled_without_a_word(self):
        # A warning about the command line would belong to no case, and each case of a unit would be compiled alone.
        for compiler in self.compilers:
            with self.subTest(compiler.name):
                self.assertEqual(compiler.run(["-fsyntax-only"], self.root, source="int main() {}\n"), (0, ""))

    def test_right_answers_are_stored(self):
        cases, calls = ("good", "includes", "two_errors", "bad_twin"), []

        def report():
            calls.clear()
            harness, found = compile_fail.Harness(self.root, self.compilers, "dimwise/dimwise.hpp", use_pch=True, stores=True), []
            for compiler in self.compilers:
                run = type(compiler).run
                compiler.run = lambda arguments, cwd, source=None, compiler=compiler, run=run: (
                    calls.append(arguments[-1]) if "-fsyntax-only" in arguments and not source else None) or run(compiler, arguments, cwd, source=source)
            try:
                answer = compile_fail.run(harness, compile_fail.load(self.root, f"^({'|'.join(cases)})$"), 2, found.append)
            finally:
                for compiler in self.compilers:
                    del compiler.run
            return answer, "\n".join(found)

        first = report()
        self.assertEqual(first[0][:2], (4, 4))
        again = report()
        self.assertEqual((again[0][:2], again[1]), (first[0][:2], first[1]))
        self.assertEqual(sorted(map(str, again[0][2])), sorted(map(str, first[0][2])))
        alone = {re.search(r"(\w+)\.cpp$", call)[1] for call in calls}
        self.assertNotIn("good", alone)
        self.assertLessEqual({"two_errors", "bad_twin"}, alone)  # what is wrong is compiled each time
        # A case that has changed is compiled again.
        path = self.root / "tests/compile_fail/good.cpp"
        path.write_text(CASES["good"][0].replace("auto r = bad()", "auto r = 1"), encoding="utf-8")
        self.assertIn("FAILED good (plain)", report()[1])

    def test_each_case_rotates_to_one_clang(self):
        clangs = [compiler for compiler in self.compilers if compiler.is_clang]
        if len(clangs) < 2:
            self.skipTest("fewer than two clangs are installed")
        table = self.root / "include/dimwise/support/diagnostics/rules.hpp"
        table.parent.mkdir(parents=True)
        table.write_text('{.id = "ERROR_R1_wrong", .example = "good"}', encoding="utf-8")
        cases = {case.name: case for case in compile_fail.load(self.root, "")}
        harness, everywhere = (compile_fail.Harness(self.root, self.compilers, "no_header", use_pch=True, rotates=rotates) for rotates in (True, False))
        chosen = {name: harness.compilers_of(case) for name, case in cases.items() if name != "good"}
        self.assertEqual(harness.compilers_of(cases["good"]), self.compilers)
        self.assertTrue(all(everywhere.compilers_of(case) == self.compilers for case in cases.values()))
        for found in chosen.values():
            self.assertEqual(sum(compiler.is_clang for compiler in found), 1)
            self.assertEqual([compiler for compiler in found if not compiler.is_clang], [one for one in self.compilers if not one.is_clang])
        self.assertEqual({compiler for found in chosen.values() for compiler in found}, set(self.compilers))
        report = []
        harness = compile_fail.Harness(self.root, self.compilers, "dimwise/dimwise.hpp", use_pch=True, rotates=True)
        _, _, records = compile_fail.run(harness, [cases["good"], cases["includes"]], 2, report.append, ("plain",))
        self.assertEqual(report, [])
        self.assertEqual(len(records), len(self.compilers) + len(chosen["includes"]))

    def test_error_type(self):
        self.assertEqual({compile_fail.error_type(text) for text in (
            "error: 'void dimwise::ERROR_R5_x<lhs<my::d_k, extent<64> >, 3ul> y' has",
            "error: variable has incomplete type 'ERROR_R5_x<lhs<(anonymous namespace)::d_k, extent<64>>, 3>'")}, {"ERROR_R5_x<lhs<d_k,extent<64>>,3>"})

    def test_lines_that_say_who_includes(self):
        chains = {"dimwise/deep.hpp": ["dimwise/deep.hpp", "dimwise/all.hpp"], "dimwise/other.hpp": ["dimwise/other.hpp", "dimwise/all.hpp"]}
        lines = ("a.cpp: In function 'f':", "a.cpp:1:2: error: x", "include/dimwise/deep.hpp:3:4:   required from here",
                 "include/dimwise/deep.hpp:3:4: note: declared here", "include/dimwise/deep.hpp:9:4: note: y", "dimwise/other.hpp:3: note: z")
        self.assertEqual([compile_fail.include_lines(lines[:count], chains) for count in (3, 4, 5, 6)], [0, 2, 2, 3])
        self.assertEqual(compile_fail.include_lines(lines, {}), 0)


if __name__ == "__main__":
    unittest.main()
