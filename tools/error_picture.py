"""A drawing of a compile error: the shapes as rows of boxes, equal dimensions below one another and in one colour, the culprit outlined.

What is drawn is what dimwise-errors prints (`dimwise-errors --json`); classes and colours are those of the pictures of the
library (include/dimwise/viz/picture.hpp, colours.hpp). A box with a broken line is where a shape lacks the culprit. The site shows them.
Why no kept tool: Graphviz and Mermaid have no tables of shapes. Standard library only. Not a program.
"""

import html
import re

import errors_program

# No dimension has the colour of ink: it is the culprit's.
LETTER, HEIGHT, GAP, LABEL, MARGIN = 7.25, 26, 8, 92, 12  # LETTER as in picture.hpp
WINDOW, PHONE = 660, 340  # widths of a page: beside two lists of links, and on a phone
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
        first = (value ^ (value >> 15)) % 8
        free = ((first + step) % 8 for step in range(8) if (first + step) % 8 not in known.values())
        known[word] = next(free, first)
    return known


def bands(widths, width):
    """Columns of these widths -> [[number of a column]], each list of columns so wide that its boxes end within `width`"""
    found, end = [[]], LABEL
    for number, one in enumerate(widths):
        if found[-1] and end + one > width - MARGIN:
            found.append([])
            end = LABEL
        found[-1].append(number)
        end += one + GAP
    return found


def draw(error, width=float("inf")):
    """An error as `dimwise-errors --json` describes it -> SVG without a style sheet. Columns beyond `width` are drawn again below."""
    columns = [(one["name"], one["culprit"]) for one in error["columns"]]
    marks = {re.sub(r"\[\w+\]$", "", one["name"]) for one in error["columns"] if one["mark"]}
    rows = [(one["label"], one["cells"]) for one in error["rows"]]
    names = [re.sub(r"\[\w+\]$", "", name) for name, _ in columns]
    colour_of = colours(name for name in names if name not in marks)
    widths = [max(len(name), 5 if names.count(bare) == 1 else 8) * LETTER + 16 for (name, _), bare in zip(columns, names)]
    said = [f"{label}: {', '.join(name for (name, _), cell in zip(columns, cells) if cell == 'present')}" for label, cells in rows]
    out, top, right = [], 10, 0
    for band in bands(widths, width):
        shown = [(label, cells) for label, cells in rows if any(cells[n] in ("present", "lacking") for n in band)]
        x = LABEL
        for n in band:
            out += column(columns[n], names[n], marks, colour_of, widths[n], x, top, [(cells[n], cells) for _, cells in shown], columns)
            right, x = max(right, x + widths[n]), x + widths[n] + GAP
        out += [f'<text x="10" y="{top + row * (HEIGHT + GAP) + 17}" class="soft">{label}</text>' for row, (label, _) in enumerate(shown)]
        top += len(shown) * (HEIGHT + GAP) + 12
    marked = [name for name, culprit in columns if culprit]
    wide = right + MARGIN
    return (f'<svg xmlns="http://www.w3.org/2000/svg" class="dw" role="img" width="{wide:g}" height="{top}" viewBox="0 0 {wide:g} {top}">'
            f"<title>{html.escape(errors_program.said(error))}</title><desc>{html.escape('; '.join(said) + '. Marked: ' + ', '.join(marked))}</desc>"
            f'<rect class="paper" width="100%" height="100%" rx="8"/>{"".join(out)}</svg>')


def column(one, bare, marks, colour_of, width, x, top, cells, columns):
    """The boxes of a dimension or mark, one for each shape, and the line below a culprit"""
    name, culprit = one
    word = next((part for part in re.findall(r"\w+", bare) if part in colour_of), "")
    is_mark = bare in marks or not word
    out = []
    for row, (cell, others) in enumerate(cells):
        y = top + row * (HEIGHT + GAP)
        box = f'x="{x:g}" y="{y}" width="{width:g}" height="{HEIGHT}" rx="5"'
        if cell == "present":
            kind = ("noted" if is_mark else f"dimension k{colour_of[word]}") + (" culprit" if culprit else "")
            out.append(f'<rect {box} class="{kind}"/><text x="{x + width / 2:g}" y="{y + 17}" '
                       f'class="middle{" strong" if culprit else ""}">{html.escape(name)}</text>')
        elif cell == "lacking":
            elsewhere = any(there == name and other == "present" for (there, _), other in zip(columns, others))
            out.append(f'<rect {box} class="lacking"/><text x="{x + width / 2:g}" y="{y + 17}" '
                       f'class="middle wrong">{"not here" if elsewhere else "lacks"}</text>')
    if culprit:
        out.append(f'<path d="M{x + 4:g} {top + len(cells) * (HEIGHT + GAP)}H{x + width - 4:g}" class="rule culprit"/>')
    return out


def draw_to_fit(error):
    """-> what the site shows: a drawing for a window, and a narrow one for a phone if the first is wider"""
    drawn = draw(error, WINDOW)
    wide, narrow = float(re.search(r'width="([\d.]+)"', drawn)[1]), draw(error, PHONE)
    kinds = (drawn.replace('class="dw"', 'class="dw dw-window"', 1), narrow.replace('class="dw"', 'class="dw dw-phone"', 1))
    return "".join(kinds) if wide > PHONE else drawn


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
