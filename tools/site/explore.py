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
TEXTS = ("abcdabc", "the cat saw the cat saw", "qwertyqwerty")


def files():
    return ([SCRIPT, PROGRAM] if PROGRAM.is_file() else []) + ([REPORT] if REPORT.is_file() else [])


def choice(name, label, options):
    listed = "".join(f'<option value="{value}"{" selected" if is_first else ""}>{words}</option>' for value, words, is_first in options)
    return f'<label for="dw-{name}">{label}</label> <select id="dw-{name}">{listed}</select>'


def with_report(markdown):
    button = '<p><a class="md-button" href="../assets/report.html">Open the report</a></p>' if REPORT.is_file() else ""
    return markdown.replace(REPORT_PLACE, button)


def with_page(markdown):
    if not PROGRAM.is_file():
        return markdown.replace(PLACE, "(This copy of the site was built without emscripten, so the page does not compute.)")
    buttons = " ".join(f'<button type="button" data-text="{text}">{text}</button>' for text in TEXTS)
    page = f"""<div id="dw-explore">
<p><label for="dw-text">Text</label> <input id="dw-text" type="text" value="{TEXTS[0]}" maxlength="200" spellcheck="false" autocomplete="off"> {buttons}</p>
<p>{choice("layer", "Layer", [("0", "1", False), ("1", "2", True)])} {choice("head", "Head", [("0", "1", True), ("1", "2", False)])}
{choice("mask", "Mask", [("causal", "causal", True), ("window", "the last 4 keys", False), ("none", "none", False)])}</p>
<p id="dw-status" role="status">Loading the model, 0.5 MB …</p>
<div id="dw-steps"></div>
</div>
<script id="dw-explore-script" type="module" src="../assets/explore.js"></script>"""
    return markdown.replace(PLACE, page)
