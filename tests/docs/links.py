#!/usr/bin/env python3
"""Every link of a built site leads somewhere, and nothing is fetched from elsewhere.

    python3 tests/docs/links.py build/site

Each href and src leads to a file of the site, each # to an id of that page; scripts, styles, images and fonts are files of the site, also
those of style sheets. Links to other sites are counted, not followed; the pages of Doxygen (`api/`) are targets only: Doxygen checks its own.
Why no kept tool: linkchecker of Debian 12 takes more than eight minutes for what this reads in five seconds, and does not look for what is
fetched from elsewhere. Standard library only.
"""

import html.parser
import pathlib
import re
import sys
import urllib.parse

FETCHED = {"script", "img", "iframe", "source", "video", "audio", "embed", "image", "use", "object"}
FETCHED_LINKS = {"stylesheet", "icon", "preload", "prefetch", "preconnect", "dns-prefetch", "manifest", "modulepreload"}


def urls_of(style):
    style = re.sub(r"/\*.*?\*/", "", style, flags=re.S)
    return [one.strip("'\" ") for one in re.findall(r"url\(([^)]*)\)", style)] + re.findall(r"@import\s+[\"']([^\"']+)", style)


class Page(html.parser.HTMLParser):
    """The ids of a page, those that occur twice, its links, and what it fetches."""

    def __init__(self, text):
        super().__init__()
        self.ids, self.twice, self.links, self.fetched, self.in_style = set(), [], [], [], False
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        name = given.get("id") or (given.get("name") if tag == "a" else None)
        self.twice += [name] if name in self.ids else []
        self.ids |= {name} - {None}
        fetches = tag in FETCHED or (tag == "link" and FETCHED_LINKS & set((given.get("rel") or "").split()))
        for key in ("href", "src", "xlink:href", "poster", *(["data"] if tag == "object" else [])):
            if given.get(key) is not None:
                (self.fetched if fetches else self.links).append(given[key])
        self.fetched += [one.split()[0] for one in (given.get("srcset") or "").split(",") if one.strip()] + urls_of(given.get("style") or "")
        self.in_style = tag == "style"

    def handle_data(self, data):
        self.fetched += urls_of(data) if self.in_style else []

    def handle_endtag(self, tag):
        self.in_style = False


class Site:
    def __init__(self, root):
        self.root = root
        self.pages = {path: Page(path.read_text(encoding="utf-8")) for path in sorted(root.rglob("*.html"))}
        self.checked = {path for path in self.pages if path.relative_to(root).parts[0] != "api"}

    def wrong(self, path, link, is_fetched):
        """-> what is wrong with a link of a page or style sheet; "" if nothing"""
        parts = urllib.parse.urlsplit(link)
        if parts.scheme == "data":
            return ""
        if parts.scheme or parts.netloc:
            if is_fetched:
                return "is fetched from elsewhere"
            return "" if parts.scheme in ("http", "https", "mailto") else f"is of the kind {parts.scheme or 'of the page'}"
        target = path
        if parts.path:
            base = self.root if parts.path.startswith("/") else path.parent
            target = (base / urllib.parse.unquote(parts.path).lstrip("/")).resolve()
            target = target / "index.html" if target.is_dir() else target
            if not target.is_file() or self.root not in target.parents:
                return "leads to no file of the site"
        is_program = re.match(r"(program|code)=", parts.fragment)  # the playground reads it
        if parts.fragment and not is_program and target.suffix == ".html" and urllib.parse.unquote(parts.fragment) not in self.pages[target].ids:
            return f"leads to no id of {target.relative_to(self.root)}"
        return ""

    def check(self):
        """-> ([problem], number of links, number of links to other sites)"""
        problems = [f"{path.relative_to(self.root)}: the id {name} occurs twice" for path in self.checked for name in self.pages[path].twice]
        links = [(path, link, False) for path in self.checked for link in self.pages[path].links]
        links += [(path, link, True) for path in self.checked for link in self.pages[path].fetched]
        links += [(path, link, True) for path in self.root.rglob("*.css") for link in urls_of(path.read_text(encoding="utf-8"))]
        # The navigation of every page of a folder has the same links.
        for path, link, is_fetched in {(path if link.startswith("#") else path.parent, link, is_fetched): (path, link, is_fetched)
                                       for path, link, is_fetched in links}.values():
            wrong = self.wrong(path, link, is_fetched)
            problems += [f"{path.relative_to(self.root)}: {link} {wrong}"] if wrong else []
        elsewhere = sum(1 for _, link, _ in links if urllib.parse.urlsplit(link).netloc)
        return problems + ([] if self.pages else [f"{self.root} has no pages"]), len(links), elsewhere


def main():
    if len(sys.argv) != 2 or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    problems, counted, elsewhere = Site(pathlib.Path(sys.argv[1]).resolve()).check()
    for problem in problems:
        print(f"FAILED {problem}")
    print(f"{counted} links, {elsewhere} to other sites; {len(problems)} failed")
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
