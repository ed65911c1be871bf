"""Lines of code that fit any page: each is an element that wraps with an indentation, and a comment behind code wraps as a whole.

Rows of text with aligned columns (tables of shapes, carets below code) do not wrap: `--cols`, the length of the longest one of its kind, lets the
style sheet choose a smaller font on a narrow page. Lines of code that a compiler repeats are of the kind `dw-excerpt`. Used by tools/site/hooks.py.
Why no kept tool: Pygments makes an element of each line (`linespans`), but does not tell CSS its indentation or which rows have columns in common.
Standard library only. Not a program.
"""

import html
import re

BLOCK = re.compile(r"(<pre\b)([^>]*>(?:<span></span>)?<code\b[^>]*>)(.*?)(</code></pre>)", re.S)
BESIDE = re.compile(r'^(.*\S.*)<span class="(c1|c)">([^<]*</span>)$')
REFUSED = re.compile(r'^(<span class="(c1|c)">//[^<]*?\S)( +)(//[^<]*</span>)$')  # a line in a comment, and its error
ALIGNED = re.compile(r"\S {2,}\S|^ *\|? *[\^~-]+( +[\^~-]+)*$")
EXCERPT = re.compile(r" *\d* *\| ")
MOST = 110  # letters of a row that is worth keeping whole


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
        kinds = {number: "dw-row dw-excerpt" if EXCERPT.match(rows[number]) else "dw-row" for number in kept}
        cols = {kind: max(len(rows[number]) for number in kept if kinds[number] == kind) for kind in set(kinds.values())}
        out = []
        for number, (line, row) in enumerate(zip(lines, rows)):
            indentation = len(row) - len(row.lstrip())
            style = f' style="--in:{indentation}"' if 0 < indentation <= 24 else ""
            if number in kept:
                style = f' style="--cols:{cols[kinds[number]]}"'
            if is_code:
                line = REFUSED.sub(r'\1</span>\3<span class="\2 dw-beside">\4', BESIDE.sub(r'\1<span class="\2 dw-beside">\3', line))
            out.append(f'<span class="{" ".join(["dw-line", *([kinds[number]] if number in kept else [])])}"{style}>{line}\n</span>')
        return found[1] + found[2] + "".join(out) + found[4]

    return BLOCK.sub(block, content)
