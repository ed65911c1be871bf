"""Lines of code that fit any page: each is an element that wraps with an indentation, and a comment behind code wraps as a whole.

Rows of text with aligned columns (tables of shapes, carets below code) do not wrap: `--cols`, the length of the longest one, lets the style
sheet choose a smaller font on a narrow page. Used by tools/site/hooks.py. Standard library only. Not a program.
"""

import html
import re

BLOCK = re.compile(r"(<pre\b)([^>]*>(?:<span></span>)?<code\b[^>]*>)(.*?)(</code></pre>)", re.S)
BESIDE = re.compile(r'^(.*\S.*)<span class="(c1|c)">([^<]*</span>)$')
ALIGNED = re.compile(r"\S {2,}\S|^ *\|? *[\^~-]+( +[\^~-]+)*$")
MOST = 90  # letters of a row that is worth keeping whole


def words_of(line):
    return html.unescape(re.sub(r"<[^>]*>", "", line))


def aligned(rows):
    """The numbers of the rows whose columns belong together: those with gaps or carets, and the row above carets."""
    found = {number for number, row in enumerate(rows) if ALIGNED.search(row) and len(row) <= MOST}
    return found | {number - 1 for number in found if number and re.fullmatch(r" *\|? *[\^~-]+( +[\^~-]+)*", rows[number]) and len(rows[number - 1]) <= MOST}


def fitted(content):
    """The HTML of a page with the lines of its blocks of code as elements."""
    def block(found):
        lines = found[3].split("\n")
        if lines and not lines[-1].strip():
            lines.pop()
        rows = [words_of(line) for line in lines]
        is_code = '<span class="' in re.sub(r'<span class="w">', "", found[3])
        kept = set() if is_code else aligned(rows)
        out = []
        for number, (line, row) in enumerate(zip(lines, rows)):
            indentation = len(row) - len(row.lstrip())
            style = f' style="--in:{indentation}"' if 0 < indentation <= 24 and number not in kept else ""
            line = BESIDE.sub(r'\1<span class="\2 dw-beside">\3', line) if is_code else line
            out.append(f'<span class="dw-line{" dw-row" if number in kept else ""}"{style}>{line}\n</span>')
        cols = max((len(rows[number]) for number in kept), default=0)
        start = found[1] + (f' style="--cols:{cols}"' if cols else "")
        return start + found[2] + "".join(out) + found[4]

    return BLOCK.sub(block, content)
