"""A drawing of a compile error: the shapes as rows of boxes, equal dimensions below one another and in one colour, the culprit outlined.

What is drawn is what dimwise-errors prints (`dimwise-errors --json`); classes and colours are those of the pictures of the
library (include/dimwise/viz/picture.hpp, colours.hpp). A box with a broken line is where a shape lacks the culprit. The site shows them.
Why no kept tool: Graphviz and Mermaid have no tables of shapes. Standard library only. Not a program.
"""

import html
import re

import errors_program

# No dimension has the colour of ink: it is the culprit's.
LETTER, HEIGHT, GAP, LABEL = 7.25, 26, 8, 92  # LETTER as in picture.hpp
MADE = ("merged", "summed", "prime", "out", "divided")
OWN_STYLE = """.dw .dimension{fill:var(--k);fill-opacity:.14;stroke:var(--k);stroke-width:1.2}.dw .noted{fill:var(--box);stroke:var(--line)}
.dw .culprit{stroke:var(--ink);stroke-width:2.8}.dw .lacking{fill:none;stroke:var(--ink);stroke-width:1.6;stroke-dasharray:4 4}
.dw .wrong{font-weight:700}
"""


def colours(names):
    """-> {word: 0 to 7}, as dimension_colours of colours.hpp gives them"""
    known = {}
    for word in re.findall(r"\w+", " ".join(names)):
        if word in known or word in MADE or word[0].isdigit():
            continue
        value = 2166136261
        for letter in word.encode():
            value = (value ^ letter) * 16777619 % 2**32
        colour = (value ^ (value >> 15)) % 8
        for _ in range(8):
            if colour not in known.values():
                break
            colour = (colour + 1) % 8
        known[word] = colour
    return known


def draw(error):
    """An error as `dimwise-errors --json` describes it -> SVG without a style sheet"""
    columns = [(one["name"], one["culprit"]) for one in error["columns"]]
    marks = {re.sub(r"\[\w+\]$", "", one["name"]) for one in error["columns"] if one["mark"]}
    rows = [(one["label"], one["cells"]) for one in error["rows"]]
    names = [re.sub(r"\[\w+\]$", "", name) for name, _ in columns]
    colour_of = colours(name for name in names if name not in marks)
    widths = [max(len(name), 5 if names.count(bare) == 1 else 8) * LETTER + 16 for (name, _), bare in zip(columns, names)]
    starts = [LABEL + sum(widths[:n]) + GAP * n for n in range(len(widths))]
    out, said = [], []
    for number, (label, cells) in enumerate(rows):
        y = 10 + number * (HEIGHT + GAP)
        out.append(f'<text x="10" y="{y + 17}" class="soft">{label}</text>')
        said.append(f"{label}: {', '.join(name for (name, _), cell in zip(columns, cells) if cell == 'present')}")
        for (name, culprit), bare, x, width, cell in zip(columns, names, starts, widths, cells):
            word = next((one for one in re.findall(r"\w+", bare) if one in colour_of), "")
            is_mark = bare in marks or not word
            box = f'x="{x:g}" y="{y}" width="{width:g}" height="{HEIGHT}" rx="5"'
            if cell == "present":
                kind = ("noted" if is_mark else f"dimension k{colour_of[word]}") + (" culprit" if culprit else "")
                out.append(f'<rect {box} class="{kind}"/><text x="{x + width / 2:g}" y="{y + 17}" '
                           f'class="middle{" strong" if culprit else ""}">{html.escape(name)}</text>')
            elif cell == "lacking":
                elsewhere = any(one == name and other == "present" for (one, _), other in zip(columns, cells))
                out.append(f'<rect {box} class="lacking"/><text x="{x + width / 2:g}" y="{y + 17}" '
                           f'class="middle wrong">{"not here" if elsewhere else "lacks"}</text>')
    bottom = 10 + len(rows) * (HEIGHT + GAP)
    for (name, culprit), x, width in zip(columns, starts, widths):
        if culprit:
            out.append(f'<path d="M{x + 4:g} {bottom}H{x + width - 4:g}" class="rule culprit"/>')
    marked = [name for name, culprit in columns if culprit]
    width, height = starts[-1] + widths[-1] + 12, bottom + 12
    return (f'<svg xmlns="http://www.w3.org/2000/svg" class="dw" role="img" width="{width:g}" height="{height}" viewBox="0 0 {width:g} {height}">'
            f"<title>{html.escape(errors_program.said(error))}</title><desc>{html.escape('; '.join(said) + '. Marked: ' + ', '.join(marked))}</desc>"
            f'<rect class="paper" width="100%" height="100%" rx="8"/>{"".join(out)}</svg>')


def style_sheet(root):
    """The style sheet of the library for a page of the site, whose scheme is an attribute of its body."""
    lines = (root / "include/dimwise/viz/pictures/picture.css").read_text(encoding="utf-8").splitlines()
    style = "\n".join(lines[1:-1]) + "\n"  # without the raw string's delimiters
    dark = re.compile(r"@media \(prefers-color-scheme:dark\)\{\.dw(\{.*?\})\}", re.S)
    if not dark.search(style):
        raise ValueError("include/dimwise/viz/pictures/picture.css has no colours for dark")
    return dark.sub(r'[data-md-color-scheme="slate"] .dw\1', style) + OWN_STYLE


def without_style(svg):
    return re.sub(r"<style>.*?</style>\n?", "", svg, flags=re.S)
