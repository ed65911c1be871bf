"""tools/site/host_markdown.py: headings, tables, lists and formulas, before and after."""

import unittest

import support  # noqa: F401  the path to the tools

from host_markdown import for_python_markdown, heading_names, with_math

put = []
PAGES = (  # what is done, the page, what it becomes
    (heading_names, "# A `b<c>` d\n## A-b\n## [A b](x.md)\n```\n# no heading\n```\n### é_1, 2\n",
     "# A `b<c>` d {#a-bc-d}\n## A-b {#a-b}\n## [A b](x.md) {#a-b-1}\n```\n# no heading\n```\n### é_1, 2 {#é_1-2}\n"),
    (for_python_markdown, "| `a \\| b` | c \\| d |\n", "| `a | b` | c \\| d |\n"),
    (for_python_markdown, "text\n* one\n  more\n* two\n", "text\n\n* one\n    more\n* two\n"),
    (for_python_markdown, "1. one\n\n   ```cpp\n   * x;\n   ```\n   more\n2. two\n\nend\n  same\n",
     "1. one\n\n    ```cpp\n    * x;\n    ```\n    more\n\n2. two\n\nend\n  same\n"),
    (for_python_markdown, "```text\na\n* b\n  c\n<details>\n```\n<details>\n", '```text\na\n* b\n  c\n<details>\n```\n<details markdown="1">\n'),
    (lambda page: with_math(page, []), "`$x$` $5 and $6\n", "`$x$` $5 and $6\n"),
    (lambda page: with_math(page, put) + repr(put), "```math\na < b\n```\n`$x$` and $y_1$, $5\n```sh\n$a$\n```\n",
     '<div class="dw-math"><!--hidden 0--></div>\n\n`$x$` and <span class="dw-math"><!--hidden 1--></span>, $5\n```sh\n$a$\n```\n'
     "['a &lt; b', 'y_1']"),
)


class HostMarkdown(unittest.TestCase):
    def test_each_page(self):
        for change, page, expected in PAGES:
            self.assertEqual(change(page), expected)


if __name__ == "__main__":
    unittest.main()
