"""Tables that fit their page: long names break between their parts, and on a phone (tools/site/site.css) the rows of a table of text are stacked, each
cell below the head of its column. A table of numbers scrolls there, and its first column stays.

Used by tools/site/hooks.py. Why no kept tool: MkDocs sets no width. Standard library only. Not a program.
"""

import html
import re

PHONE, CHARACTER, PADDING = 350, 6.2, 10  # pixels: the room on a phone, a character in a table there, both sides of a cell
ROW, CELL = r"<tr\b.*?</tr>", r"<t([hd])\b[^>]*>(.*?)</t\1>"


def breakable(words):  # long names, paths and calls break between their parts, and nowhere else
    return re.sub(r"[^\s<>]{18,}", lambda one: re.sub(r"(?<=\w)(?:/|_|::)(?=\w)|[(,=](?=[^\s),])|&lt;(?=\w)", r"\g<0><wbr>", one[0]), words[0])


def text(cell, gap=""):  # what stands for a <wbr>
    return html.unescape(re.sub(r"<[^>]*>", "", cell.replace("<wbr>", gap))).strip()


def kind(cell):  # a number and its unit stay together, and a text does not become a narrow tower
    size = len(text(cell))
    return "dw-short" if 0 < size < 10 else "dw-long" if size > 60 else "dw-text" if size > 14 else ""


def narrowest(cell):  # the width in pixels below which a cell is torn, or a tower
    longest = len(text(cell)) if kind(cell) == "dw-short" else max(map(len, text(cell, " ").split()), default=0)
    return PADDING + max(longest * CHARACTER, {"dw-text": 64, "dw-long": 100}.get(kind(cell), 0))


def is_number(cell):
    return kind(cell) == "dw-short" and "<code" not in cell or text(cell)[:1] in tuple("0123456789−–")


def table(found):
    shown = re.sub(r">[^<]+<", breakable, found[0])
    rows = [[cell for _, cell in re.findall(CELL, row, re.S)] for row in re.findall(ROW, shown, re.S)]
    heads, wide = list(map(text, rows[0])), sum(max(map(narrowest, column)) for column in zip(*rows)) > PHONE
    after = [cell for row in rows[1:] for cell in row[1:]]
    stacked = wide and (2 * sum(map(is_number, after)) < len(after) or any(kind(cell) == "dw-long" for cell in after))

    def row(found):
        columns = iter(heads)

        def cell(one):
            said = f' data-head="{html.escape(next(columns, ""))}"' if stacked else ""
            return f'<td class="{kind(one[2])}"{said}>{one[2]}</td>' if one[1] == "d" else one[0]

        return re.sub(CELL, cell, found[0], flags=re.S)

    return f'<div class="dw-table{" dw-stacked" if stacked else ""}" tabindex="0">{re.sub(ROW, row, shown, flags=re.S)}</div>'


def fitted(content):
    return re.sub(r"<table>.*?</table>", table, content, flags=re.S)
