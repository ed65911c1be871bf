"""The part of the page "See attention" that computes, where examples/live/explore.sh has compiled the model, and the report of the same
model, where tools/site.sh has found 24_induction.

Used by tools/site/hooks.py. Why no kept tool: pages of MkDocs do not depend on what was built, and this one does. Standard library only. Not a program.
"""

import pathlib

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "examples/live/explore.js"
PROGRAM = ROOT / "build/explore/explore.wasm"
REPORT = ROOT / "build/explore/report.html"
PLACE = "<!-- the site puts the page here -->"
REPORT_PLACE = "<!-- the site puts the report here -->"


def files():
    return ([SCRIPT, PROGRAM] if PROGRAM.is_file() else []) + ([REPORT] if REPORT.is_file() else [])


def with_report(markdown):
    button = '<p><a class="md-button" href="../assets/report.html">Open the report</a></p>' if REPORT.is_file() else ""
    return markdown.replace(REPORT_PLACE, button)


def with_page(markdown):
    if not PROGRAM.is_file():
        return markdown.replace(PLACE, "(This copy of the site was built without emscripten, so the page does not compute.)")
    _, page = SCRIPT.with_suffix(".html").read_text(encoding="utf-8").split("\n", 1)  # without its comment
    return markdown.replace(PLACE, page.rstrip("\n"))
