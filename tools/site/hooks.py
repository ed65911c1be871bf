"""What MkDocs does to the pages of docs/ (mkdocs.yml, hooks). The pages stay good on a Git host as they are; here

* README.md and the other pages at the top join them, README.md as the home page, whose beginning becomes a first screen with the mistake,
  its error, the speed and a link for each reader (tools/site/first_screen.py);
* a link to a file of the sources, and a path in code, lead to a page that shows the file;
* "API" leads to the pages of Doxygen, which tools/site/api.py writes beside them;
* formulas are drawn by KaTeX, a package of Debian that the site has a copy of;
* the name of a rule, as in "(R7)", leads to its page;
* docs/errors.md is an index of the rules' pages (tools/errors_page.py makes build/errors.md, tools/site/rule_pages.py divides it), and each
  error has a drawing of its shapes instead of the text, and a narrow one for a phone (tools/error_picture.py); SVG files are part of their page and follow its colours;
* code fits its page: lines wrap, rows of text whose columns are aligned get smaller, then scroll (tools/site/code_lines.py); names in code break
  between their parts;
* tables fit a phone: text is stacked there, a field below the other (tools/site/tables.py);
* whole programs have a link that opens them in the playground if it is built (tools/site/try_it.py);
* the page "See attention" computes if examples/live/explore.sh has compiled its model; the report of its model is a page if 24_induction is
  built (tools/site/explore.py);
* the table of marks is printed by tools/marks_table.py;
* pages that the navigation of mkdocs.yml lacks are put at the end of their folder's section.

What compilers print and the pages of sources are not searched; guides rank before reference pages, and those before pages about the
project (tools/site/search.py). A link that leads nowhere is a warning, and `strict` makes that an error.
Why no kept tool: Debian 12 packages no plugin of MkDocs for pages outside of docs/, for pages of sources, and for links to them.
"""

import functools
import html
import json
import logging
import pathlib
import posixpath
import re
import sys
import tempfile

from mkdocs.plugins import event_priority
from mkdocs.structure.files import File
from mkdocs.structure.nav import Link

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tools"), str(ROOT / "tools/site")]

import code_lines  # noqa: E402
import error_picture  # noqa: E402
import errors_page  # noqa: E402
import errors_program  # noqa: E402
import explore  # noqa: E402
import first_screen  # noqa: E402
import marks_table  # noqa: E402
import rule_pages  # noqa: E402
import search  # noqa: E402
import tables  # noqa: E402
import try_it  # noqa: E402
from host_markdown import FENCE, for_python_markdown, outside_of_code  # noqa: E402

log = logging.getLogger("mkdocs.site")
TOP = ("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md")
SECTIONS = {"start": "Start", "tutorial": "Tutorial", "howto": "How-to", "howto/recipes": "Recipes", "reference": "Reference", "explanation": "Explanation", "decisions": "Decisions"}
LANGUAGES = {".hpp": "cpp", ".cpp": "cpp", ".py": "python", ".sh": "sh", ".cmake": "cmake", ".json": "json", ".mjs": "js", ".yml": "yaml"}
LINK = re.compile(r"(!?\[(?:[^\]\[`]|`[^`]*`|\[[^\]]*\])*\]\()([^)\s]+)(\))")
SPAN = re.compile(r"`([\w./+-]+/[\w./+-]+)`")

KATEX = pathlib.Path("/usr/share/javascript/katex")

# What the theme of Debian 12 lacks for readers without a mouse or a screen. What scrolls has a tabindex for the same reason.
READABLE = (('role="dialog"', 'role="dialog" aria-label="Search"'), ('<div class="md-search__scrollwrap"', '<div class="md-search__scrollwrap" tabindex="0"'))

made = {}      # page: Markdown, of the pages that no file holds
folders = []   # temporary, as long as the build
hidden = {}    # page: [HTML that is not searched]


# --- which files there are --------------------------------------------------------------------------------------------

def in_site(path):
    """A path of the repository -> the page or file of the site, None where it is neither."""
    if (ROOT / path).is_dir():
        path = posixpath.join(path, "README.md")
    if path in TOP:
        return path
    return path.removeprefix("docs/") if path.startswith("docs/") else None


def in_repository(page):
    return page if page in TOP else f"docs/{page}"


def source_page(path):
    return f"source/{path}.md"


def is_source(path):
    """A file that has a page: text of the sources; not a case of a compile error, of which there are too many."""
    full = ROOT / path
    return (not path.startswith(("/", "..", "build/", "docs/")) and in_site(path) is None and full.is_file()
            and not re.match(r"tests/compile_fail/.+/", path) and full.suffix not in (".dwpack", ".safetensors", ".svg"))


def source_of(words):
    """What is in code on a page -> the file of the sources that it names; a header without `include/` or `include/dimwise/`, too"""
    for path in (words, f"include/{words}", f"include/dimwise/{words}"):
        if "." in words and is_source(path):
            return path
    return None


def target_of(page, link):
    """A link of a page -> (path of the repository, fragment); None where it leads elsewhere."""
    if re.match(r"[a-z]+:|#|//", link):
        return None
    path, _, fragment = link.partition("#")
    return posixpath.normpath(posixpath.join(posixpath.dirname(in_repository(page)), path)), fragment


def sources_of(page, text):
    """-> the files of the sources that a page links to or names"""
    text = FENCE.sub("", text)
    found = {target[0] for target in (target_of(page, link[2]) for link in LINK.finditer(text)) if target and is_source(target[0])}
    return found | {source for source in map(source_of, SPAN.findall(text)) if source}


# --- events of MkDocs -------------------------------------------------------------------------------------------------

def on_files(files, config):
    made.clear()
    hidden.clear()
    folder = tempfile.TemporaryDirectory(prefix="dimwise-site-")
    folders[:] = [folder]
    pages = {page: (ROOT / page).read_text(encoding="utf-8") for page in TOP}
    pages |= {file.src_uri: pathlib.Path(file.abs_src_path).read_text(encoding="utf-8") for file in files if file.is_documentation_page()}
    for path in sorted(set().union(*(sources_of(page, text) for page, text in pages.items()))):
        text = (ROOT / path).read_text(encoding="utf-8").rstrip("\n")
        ticks = "`" * (3 + max(map(len, re.findall(r"`+", text)), default=0))
        language = LANGUAGES.get(pathlib.Path(path).suffix, "text")
        made[source_page(path)] = f'# {path}\n\n{ticks}{{.{language} linenums="1"}}\n{text}\n{ticks}\n'
    made.update(rules_of(config))
    made["site.css"] = (ROOT / "tools/site/site.css").read_text(encoding="utf-8") + error_picture.style_sheet(ROOT)
    for name, text in made.items():
        path = pathlib.Path(folder.name) / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        files.append(File(name, folder.name, config["site_dir"], config["use_directory_urls"]))
    if not KATEX.is_dir():
        log.warning("%s is missing; bash tools/setup.sh site installs it", KATEX)
    for path in (*KATEX.glob("katex.min.*"), *KATEX.glob("fonts/*")):
        files.append(File(str(path.relative_to(KATEX.parent)), str(KATEX.parent), f"{config['site_dir']}/assets", False))
    for path in explore.files():
        files.append(File(path.name, str(path.parent), f"{config['site_dir']}/assets", False))
    for page in TOP:
        files.append(File(page, str(ROOT), config["site_dir"], config["use_directory_urls"]))
    complete_navigation(config["nav"], files)
    return files


def rules_of(config):
    """The pages of the rules, which also join the navigation; none if build/errors.md is missing."""
    if not errors_page.PAGE.is_file():
        log.warning("build/errors.md is missing; tools/site.sh makes it by tools/errors_page.py")
        return {}
    pages = rule_pages.pages(with_pictures(errors_page.PAGE.read_text(encoding="utf-8")))
    section = next(entry["Errors"] for entry in config["nav"] if isinstance(entry, dict) and "Errors" in entry)
    section += [{one.title: f"errors/{one.name}.md"} for one in pages if {one.title: f"errors/{one.name}.md"} not in section]
    return {f"errors/{one.name}.md": one.text for one in pages}


def complete_navigation(nav, files):
    listed = set(re.findall(r'"([^"]+\.md)"', json.dumps(nav)))

    def sections_of(entries):
        """-> {title: entries} of the sections, and of those in them"""
        found = {}
        for name, content in (pair for entry in entries if isinstance(entry, dict) for pair in entry.items()):
            found |= {name: content, **sections_of(content)} if isinstance(content, list) else {}
        return found

    sections = sections_of(nav)
    for file in sorted((file for file in files if file.is_documentation_page()), key=lambda file: file.src_uri):
        folder = posixpath.dirname(file.src_uri)
        folder = folder if folder in SECTIONS else folder.split("/")[0]
        content = sections.get(SECTIONS.get(folder))
        if file.src_uri in listed or folder == "source":
            continue
        if content is None:
            log.warning("%s is in no section of the navigation in mkdocs.yml", file.src_uri)
        else:
            content.append(file.src_uri)


def on_nav(nav, config, files):
    nav.items.insert(-1, Link("API", "api/files.html"))
    return nav


def links(text, page, files):
    def change(found):
        target = target_of(page, found[2])
        if target is None:
            return found[0]
        path, fragment = target
        there = in_site(path) or (source_page(path) if is_source(path) else None)
        if there is None or files.get_file_from_path(there) is None:
            log.warning("%s links to %s, which does not exist", in_repository(page), found[2])
            return found[0]
        relative = posixpath.relpath(there, posixpath.dirname(page) or ".")
        return found[1] + relative + (f"#{fragment}" if fragment else "") + found[3]

    return outside_of_code(text, lambda part: LINK.sub(change, part))


def on_page_markdown(markdown, page, config, files):
    name = page.file.src_uri
    if name.startswith("source/") or name == "README.md":
        page.meta["hide"] = ["navigation", "toc"]
    playground, mistake = posixpath.relpath("playground/index.html", posixpath.dirname(page.file.url) or "."), ""
    if name.startswith("source/"):
        return try_it.with_link_to(markdown, name[len("source/"):-len(".md")], playground)
    if try_it.is_built():
        mistake = f"{playground}#program=mistake_readme"
        markdown = try_it.with_links(markdown, playground)
        markdown = try_it.with_direct_links(markdown, mistake if name == "start/write_attention.md" else playground)
        if name == "howto/playground.md":
            button = f'<p><a class="md-button md-button--primary" href="{playground}">Open the playground</a></p>'
            markdown = markdown.replace("\n\n", f"\n\n{button}\n\n", 1)
    if name == "README.md":
        markdown = first_screen.made_from(markdown, mistake, log.warning)
    if name == "tutorial/see_attention.md":
        markdown = explore.with_page(markdown)
    if name.startswith("tutorial/"):
        markdown = rule_pages.with_drawings(markdown, {one: drawing for rule, text in made.items() if rule.startswith("errors/")
                                                       for one, drawing in rule_pages.drawings(text).items()})
    markdown = explore.with_report(markdown)
    if name == "reference/marks.md":
        markdown = markdown.replace("<!-- generated: tools/marks_table.py -->", marks_table.table())
    if name == "errors.md":
        markdown = rule_pages.index(markdown, [(page, text) for page, text in made.items() if page.startswith("errors/")])
    return for_python_markdown(links(markdown, name, files))


def with_pictures(text):
    """The drawing of each error, from what the first compiler of its section prints."""
    parts = re.split(rf"^{errors_page.PICTURE}\n```text\n(.*?)^```\n", text, flags=re.M | re.S)
    printed = [re.search(r"<summary>\S+</summary>\n\n```text\n(.*?)^```", rest, re.M | re.S)[1] for rest in parts[2::2]]
    out = [parts[0]]
    for told, rest, errors in zip(parts[1::2], parts[2::2], errors_program.read_all(printed)):
        sentence = " ".join(told.split("\n\n")[0].split())
        words = re.sub(r"`([^`]+)`", r"<code>\1</code>", html.escape(sentence, quote=False))
        out += [f'<p class="dw-said">{words}</p>\n<div class="dw-picture">{error_picture.draw_to_fit(errors[0])}</div>\n', rest]
    return "".join(out)


def on_page_content(content, page, config, files):
    name = page.file.src_uri
    put_away = hidden.setdefault(name, [])

    def away(found):
        put_away.append(found[0])
        return f"<!--hidden {len(put_away) - 1}-->"

    def code_link(found):
        source = None if found[1] else source_of(found[2])
        file = source and files.get_file_from_path(source_page(source))
        return f'<a href="{file.url_relative_to(page.file)}">{found[0]}</a>' if file else found[0]

    def picture(found):
        path = pathlib.Path(config["docs_dir"]) / posixpath.normpath(posixpath.join(posixpath.dirname(page.file.url), found[1]))
        svg = path.read_text(encoding="utf-8") if path.is_file() else ""
        width = float((re.search(r'<svg\b[^>]* (?:width="|viewBox="0 0 )([\d.]+)', svg) or [0, 0])[1])
        if not width:
            return found[0]
        shown = error_picture.without_style(svg) if 'class="dw"' in svg else found[0]
        if width <= error_picture.PHONE:
            return f'<div class="dw-picture">{shown}</div>'
        # Its text stays large enough to be read, so that it scrolls on a narrow page; its file shows it as it is.
        return (f'<div class="dw-figure" style="--wide: {width:g}px"><div class="dw-picture dw-wide" tabindex="0">{shown}</div>'
                f'<div class="dw-larger"><span class="dw-sideways">Scrolls sideways ·&nbsp;</span><a href="{found[1]}">Full size</a></div></div>')

    def error_links(found):
        def link(one):
            rule = files.get_file_from_path(f"errors/{one[1]}.md")
            known = rule and f"## {one[0]}\n" in made[f"errors/{one[1]}.md"]
            return f'<a class="dw-error" href="{rule.url_relative_to(page.file)}#{one[0].lower()}">{one[0]}</a>' if known else one[0]

        return found[0] if found[1] else re.sub(r"\bERROR_(R\d+)_\w+", link, found[0])

    def rule_links(text):
        """Text with a link from each rule, as in "(R7)", to its page; not inside links, code and headings."""
        def link(one):
            rule = one[0].startswith("R") and files.get_file_from_path(f"errors/{one[0]}.md")
            return f'<a href="{rule.url_relative_to(page.file)}">{one[0]}</a>' if rule else one[0]

        return re.sub(r"<(a|code|pre|h[1-6]|svg|details)\b.*?</\1>|<[^>]*>|(?<![\w-])R\d+\b", link, text, flags=re.S)

    content = code_lines.fitted(content)
    if name.startswith("source/"):
        title, code = content.split("</h1>", 1)
        return f"{title}</h1>{away([code])}"
    if not name.startswith("errors"):
        content = rule_links(re.sub(r"(<a\b[^>]*>\s*|<summary>[^<]*)?<code\b[^>]*>.*?</code>", error_links, content, flags=re.S))
    content = re.sub(r"(<a\b[^>]*>\s*)?<code>([\w./+-]+)</code>", code_link, content)
    content = re.sub(r'<img alt="[^"]*" src="([^"]+\.svg)"\s*/?>', picture, content)
    content = tables.fitted(content)
    if 'class="arithmatex"' in content:
        at = posixpath.relpath("assets/katex", posixpath.dirname(page.file.url) or ".")
        content += f'<link rel="stylesheet" href="{at}/katex.min.css"><script src="{at}/katex.min.js"></script><script>{script("math.js")}</script>'
    return re.sub(r'<details>.*?</details>|<(span|div) class="arithmatex">.*?</\1>', away, content, flags=re.S)


def whole_names(output):
    """A page whose names in code, within a text, break between their parts: at a slash, an underscore or `::`, and not at a hyphen"""
    def code(found):
        words = found[1]
        if len(words) > 60 or re.search(r"\s", words):
            return found[0]
        parts = re.split(r"(?<=/)(?=\w)|(?<=\w_)(?=\w)|(?<=::)(?=\w)|(?<==)(?=\w)", words) if len(words) > 18 else [words]
        return "<code>" + "<wbr>".join(f'<span class="dw-name">{one}</span>' for one in parts) + "</code>"

    return re.sub(r"(?<!</span>)<code>([^<]+)</code>", code, output)


@functools.cache
def script(name):
    """A script of the pages, without the comment at its head."""
    return re.sub(r"\A(//.*\n)+", "", (ROOT / "tools/site" / name).read_text(encoding="utf-8")).rstrip("\n")


def readable(output):
    for old, new in READABLE:
        output = output.replace(old, new, 1)
    return output


def on_post_template(output_content, template_name, config):
    return readable(output_content) if template_name == "404.html" else output_content


def on_post_page(output, page, config):
    put_away = hidden.get(page.file.src_uri, [])
    output = readable(output.replace("</head>", f"<script>{script('search.js')}</script></head>", 1))
    if page.file.src_uri.startswith("errors"):  # long names break between words
        output = re.sub(r"(?<=>)\s*ERROR_R\w+", lambda found: found[0].replace("_", "_<wbr>"), output)
    output = re.sub(r'(class="dw-error"[^>]*>)(\w+)(?=<)(?!<wbr>)', lambda found: found[1] + found[2].replace("_", "_<wbr>"), output)
    output = whole_names(output)
    output = re.sub(r"<!--hidden (\d+)-->", lambda found: put_away[int(found[1])], output)
    return output.replace('<div class="arithmatex">', '<div class="arithmatex" tabindex="0">')  # it scrolls


@event_priority(-100)  # behind the plugin that writes the index
def on_post_build(config):
    search.finish(pathlib.Path(config["site_dir"]), log.warning)
    for folder in folders:
        folder.cleanup()
