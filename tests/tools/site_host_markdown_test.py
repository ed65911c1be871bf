"""tools/site/host_markdown.py: tables and lists, before and after."""

import unittest

import support  # noqa: F401  the path to the tools

from host_markdown import for_python_markdown

PAGES = (  # what is done, the page, what it becomes
    (for_python_markdown, "| `a \\| b` | c \\| d |\n", "| `a | b` | c \\| d |\n"),
    (for_python_markdown, "text\n* one\n  more\n* two\n", "text\n\n* one\n    more\n* two\n"),
    (for_python_markdown, "1. one\n\n   ```cpp\n   * x;\n   ```\n   more\n2. two\n\nend\n  same\n",
     "1. one\n\n    ```cpp\n    * x;\n    ```\n    more\n\n2. two\n\nend\n  same\n"),
    (for_python_markdown, "* reads 110 and\n  115. A sum\n\ntext in\n12. and more\n\n1. one\n\n   more\n2. two\n",
     "* reads 110 and\n    115\\. A sum\n\ntext in\n12\\. and more\n\n1. one\n\n    more\n\n2. two\n"),
    (for_python_markdown, "```text\na\n* b\n  c\n<details>\n```\n<details>\n", '```text\na\n* b\n  c\n<details>\n```\n<details markdown="1">\n'),
)


class HostMarkdown(unittest.TestCase):
    def test_each_page(self):
        for change, page, expected in PAGES:
            self.assertEqual(change(page), expected)


if __name__ == "__main__":
    unittest.main()
