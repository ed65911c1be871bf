"""tests/docs/links.py: each kind of link, right and wrong."""

import unittest

from support import project

import links

PAGES = {  # name: (page, what must be reported)
    "good": ('<a href="b.html#there">x</a><a id="here" href="#here">y</a><img src="p.svg"><a href="https://example.org">z</a>', ""),
    "no_file": ('<a href="c.html">x</a>', "no file"),
    "no_id": ('<a href="b.html#gone">x</a>', "no id"),
    "no_own_id": ('<a href="#gone">x</a>', "no id"),
    "outside": ('<a href="../outside.html">x</a>', "no file"),
    "script": ('<script src="https://example.org/x.js"></script>', "fetched from elsewhere"),
    "style": ('<link rel="stylesheet" href="//example.org/x.css">', "fetched from elsewhere"),
    "font": ("<style>@font-face{src:url(https://example.org/f.woff)}</style>", "fetched from elsewhere"),
    "inline": ('<p style="background:url(gone.png)">x</p>', "no file"),
    "image": ('<img src="gone.png">', "no file"),
    "twice": ('<p id="x"></p><p id="x"></p>', "occurs twice"),
}


class Links(unittest.TestCase):
    def problems(self, page, style="/* url(https://example.org) */ p{background:url(p.svg)}"):
        root = project(self, {"outside.html": "", "site/a.html": page, "site/b.html": '<p id="there"></p>', "site/p.svg": "", "site/s.css": style,
                              "site/api/x.html": '<a href="gone.html">x</a>'})
        return links.Site(root / "site").check()[0]

    def test_each_page(self):
        for name, (page, expected) in PAGES.items():
            with self.subTest(name):
                problems = self.problems(page)
                self.assertEqual(len(problems), bool(expected), problems)
                self.assertIn(expected, "".join(problems))

    def test_style_sheet(self):
        self.assertIn("s.css", "".join(self.problems("", "@import 'https://example.org/x.css';")))

    def test_no_pages(self):
        self.assertIn("no pages", "".join(links.Site(project(self, {"x.txt": ""})).check()[0]))


if __name__ == "__main__":
    unittest.main()
