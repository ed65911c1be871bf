"""benchmarks/compile_time/instantiations.py: a count above its budget fails and names its contributors."""

import collections
import unittest

import support  # noqa: F401  the path to the tools

import instantiations

SHARED = instantiations.SHARED
COUNTED = {SHARED: collections.Counter({"dimwise::tensor": 10}), "attention": collections.Counter({"dimwise::tensor": 50}),
           "scores": collections.Counter({"dimwise::tensor": 12, "dimwise::detail::join": 30})}
GOOD = {SHARED: 10, "attention": 50, "scores": 32}


class Instantiations(unittest.TestCase):
    def test_budgets(self):
        numbers, own = instantiations.sizes(COUNTED)
        lowered = {**GOOD, "scores": 31}  # 3 % above 31 is below 32
        for budget, expected in ((GOOD, ""), (lowered, "FAILED scores: 32 instantiations, the budget is 31"), (lowered, "    30 dimwise::detail::join"),
                                 ({**GOOD, "attention": 49}, ""), ({SHARED: 10, "attention": 50}, "FAILED scores: 32 instantiations, and no budget"),
                                 ({**GOOD, "gone": 1}, "FAILED gone: has a budget")):
            with self.subTest(budget):
                report = []
                _, failed = instantiations.judge(numbers, own, budget, report.append)
                self.assertEqual(failed > 0, expected != "")
                self.assertIn(expected, "\n".join(report))

    def test_template_of(self):
        for detail, expected in (("dimwise::detail::join<dimwise::list<int>, char>", "dimwise::detail::join"),
                                 ("dimwise::tensor<float, a>::data<b>", "dimwise::tensor::data"), ("dimwise::f<(a)->b>", "dimwise::f")):
            self.assertEqual(instantiations.template_of(detail), expected)


if __name__ == "__main__":
    unittest.main()
