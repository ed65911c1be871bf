#!/usr/bin/env python3
"""Every link of a built site leads somewhere, and nothing is fetched from elsewhere.

    python3 tools/check_site.py build/site
    python3 tools/check_site.py --self-test

Each href and src leads to a file of the site, each # to an id of that page; scripts, styles, images and fonts are files of the site, in
style sheets, too. Links to other sites are counted, and not followed. Standard library only.
"""

import html.parser
import pathlib
import re
import sys
import tempfile
import urllib.parse

FETCHED = {"script", "img", "iframe", "source", "video", "audio", "embed", "image", "use", "object"}
FETCHED_LINKS = {"stylesheet", "icon", "preload", "prefetch", "preconnect", "dns-prefetch", "manifest", "modulepreload"}


class Page(html.parser.HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.ids, self.links, self.fetched, self.twice, self.style = set(), [], [], [], False
        self.styles = []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        name = given.get("id") or (given.get("name") if tag == "a" else None)
        if name:
            if name in self.ids:
                self.twice.append(name)
            self.ids.add(name)
        fetched = tag in FETCHED or (tag == "link" and FETCHED_LINKS & set((given.get("rel") or "").split()))
        for key in ("href", "src", "xlink:href", "data", "poster"):
            if given.get(key) is not None and (key != "data" or tag == "object"):
                (self.fetched if fetched else self.links).append(given[key])
        for one in (given.get("srcset") or "").split(","):
            if one.strip():
                self.fetched.append(one.split()[0])
        if given.get("style"):
            self.styles.append(given["style"])
        self.style = tag == "style"

    def handle_data(self, data):
        if self.style:
            self.styles.append(data)

    def handle_endtag(self, tag):
        self.style = False


def urls_of(style):
    style = re.sub(r"/\*.*?\*/", "", style, flags=re.S)
    return [one.strip("'\" ") for one in re.findall(r"url\(([^)]*)\)", style)] + re.findall(r"@import\s+[\"']([^\"']+)", style)


def check(root):
    """-> ([problem], number of links, number of links to other sites)"""
    pages = {path: Page(path.read_text(encoding="utf-8")) for path in sorted(root.rglob("*.html"))}
    problems, counted, elsewhere, known = [], 0, 0, set()

    def look(path, link, fetched):
        nonlocal counted, elsewhere
        counted += 1
        place = (path if link.startswith("#") else path.parent, link, fetched)
        if place in known:  # the navigation of every page
            return
        known.add(place)
        said = f"{path.relative_to(root)}: {link}"
        parts = urllib.parse.urlsplit(link)
        if parts.scheme == "data":
            return
        if parts.scheme or parts.netloc:
            elsewhere += 1
            if fetched or parts.scheme not in ("http", "https", "mailto"):
                problems.append(f"{said} is fetched from elsewhere" if fetched else f"{said} is of the kind {parts.scheme or 'of the page'}")
            return
        target = path
        if parts.path:
            base = root if parts.path.startswith("/") else path.parent
            target = (base / urllib.parse.unquote(parts.path).lstrip("/")).resolve()
            target = target / "index.html" if target.is_dir() else target
            if not target.is_file() or root not in target.parents:
                problems.append(f"{said} leads to no file of the site")
                return
        if parts.fragment and target.suffix == ".html" and urllib.parse.unquote(parts.fragment) not in pages[target].ids:
            problems.append(f"{said} leads to no id of {target.relative_to(root)}")

    for path, page in pages.items():
        problems += [f"{path.relative_to(root)}: the id {name} occurs twice" for name in page.twice]
        for link in page.links:
            look(path, link, False)
        for link in page.fetched + [url for style in page.styles for url in urls_of(style)]:
            look(path, link, True)
    for path in sorted(root.rglob("*.css")):
        for link in urls_of(path.read_text(encoding="utf-8")):
            look(path, link, True)
    return problems + ([] if pages else [f"{root} has no pages"]), counted, elsewhere


SELF_TESTS = {  # name: (page, what must be reported)
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


def self_test():
    failed = 0
    with tempfile.TemporaryDirectory() as place:
        (pathlib.Path(place) / "outside.html").write_text("")
        for name, (text, expected) in SELF_TESTS.items():
            root = (pathlib.Path(place) / name).resolve()
            root.mkdir()
            (root / "a.html").write_text(text)
            (root / "b.html").write_text('<p id="there"></p>')
            (root / "p.svg").write_text("")
            (root / "s.css").write_text("/* url(https://example.org) */ p{background:url(p.svg)}")
            problems = check(root)[0]
            if len(problems) != bool(expected) or expected not in "".join(problems):
                failed += 1
                print(f"FAILED self-test {name}: {problems}")
        (root / "s.css").write_text("@import 'https://example.org/x.css';")
        if "s.css" not in "".join(check(root)[0]) or not check(pathlib.Path(place).resolve() / "nothing")[0]:
            failed += 1
            print("FAILED self-test: a style sheet's import, or a site without pages")
    print(f"{len(SELF_TESTS) + 1 - failed} passed, {failed} failed")
    return failed


def main():
    if sys.argv[1:] == ["--self-test"]:
        sys.exit(1 if self_test() else 0)
    if len(sys.argv) != 2 or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    problems, counted, elsewhere = check(pathlib.Path(sys.argv[1]).resolve())
    for problem in problems:
        print(f"FAILED {problem}")
    print(f"{counted} links, {elsewhere} to other sites; {len(problems)} failed")
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
