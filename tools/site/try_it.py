"""Links that open a program of the site in the playground, where tools/playground.sh has built it.

A block of C++ with `main` is a whole program, and so is the page of an exercise or example that the playground lists. Why no kept tool: links of this
kind are made for Compiler Explorer, which fetches the headers; the playground reads a program from the address and has the headers.
"""

import base64
import json
import pathlib
import re
import zlib

PLAYGROUND = pathlib.Path(__file__).resolve().parents[2] / "build/playground/site"
BLOCK = re.compile(r"^```cpp\n(.*?)^```$\n?", re.M | re.S)
# Headers that the playground lacks, or compiles slowly: it has neither threads nor xtensor.
LACKING = re.compile(r"#include <(dimwise/(models|text|tensor/xtensor|eval/tbb)|(?!dimwise/)\w+/)")


def is_built():
    return (PLAYGROUND / "index.html").is_file()


def listed():
    """The names of the programs that the playground lists."""
    return {one["id"] for path in PLAYGROUND.glob("programs.*.json") for one in json.loads(path.read_text(encoding="utf-8"))}


def fragment(program):
    """The same as `fragmentOf` of tools/playground/page/fragment.mjs."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    return "#code=" + base64.urlsafe_b64encode(packer.compress(program.encode()) + packer.flush()).decode().rstrip("=")


def is_program(text):
    return "int main(" in text and "#include <dimwise/" in text and not LACKING.search(text)


def link(address):
    return f'\n<p class="dw-try"><a href="{address}">Try it</a></p>\n\n'


def with_links(markdown, playground):
    """A page with a link below each whole program; `playground` is the way from the page to the playground."""
    return BLOCK.sub(lambda found: found[0] + (link(playground + fragment(found[1])) if is_program(found[1]) else ""), markdown)


def with_direct_links(markdown, playground):
    """A page whose links named "playground" open it, rather than the page about it."""
    return re.sub(r"\[(playground(?: in the browser)?)\]\([\w./]*playground\.md\)", rf'<a href="{playground}">\1</a>', markdown)


def with_link_to(markdown, path, playground):
    """The page of a file of the sources, with a link if the playground lists the program."""
    found = re.fullmatch(r"examples/(exercises/|mistakes/|)(\w+)\.cpp", path)
    name = found and ("mistake_" if found[1] == "mistakes/" else "") + found[2]
    if name not in listed():
        return markdown
    title, rest = markdown.split("\n", 1)
    return title + "\n" + link(f"{playground}#program={name}") + rest
