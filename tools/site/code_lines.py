"""Lines of code that fit any page: each is an element that wraps with an indentation, and a comment behind code wraps as a whole.

Rows of text with aligned columns (tables of shapes, carets below code) do not wrap: `--cols`, the length of the longest one of those below one another, lets the
style sheet choose a smaller font on a narrow page; rows that would be too small to read scroll together (`dw-rows`). A line of code that a compiler
repeats is of the kind `dw-excerpt`; what its carets mark is underlined, so that a narrow page leaves them out. A sentence that was printed on several
lines is a `dw-sentence`, which a narrow page divides anew. Used by tools/site/hooks.py.
Why no kept tool: Pygments makes an element of each line (`linespans`), but does not tell CSS its indentation or which rows have columns in common.
Standard library only. Not a program.
"""

import html
import itertools
import re

BLOCK = re.compile(r"(<pre\b)([^>]*>(?:<span></span>)?<code\b[^>]*>)(.*?)(</code></pre>)", re.S)
BESIDE = re.compile(r'^(.*\S.*)<span class="(c1|c)">([^<]*</span>)$')
REFUSED = re.compile(r'^(<span class="(c1|c)">//[^<]*?\S)( +)(//[^<]*</span>)$')  # a line in a comment, and its error
ALIGNED = re.compile(r"\S {2,}\S|^ *\|? *[\^~-]+( +[\^~-]+)*$")
EXCERPT = re.compile(r" *\d* *\| ")
CARETS = re.compile(r" *\d* *\|? *[\^~-]+( +[\^~-]+)*$")
MOST = 120  # letters of a row that is worth keeping whole
SMALL = 50  # letters of a row that a phone shows in a font that is read well
PRINTED = 72  # letters of a printed line, with the first word of the next one, if both are one sentence


def words_of(line):
    return html.unescape(re.sub(r"<[^>]*>", "", line))


def aligned(rows):
    """The numbers of the rows whose columns belong together: those with gaps or carets, and the row above carets."""
    found = {number for number, row in enumerate(rows) if ALIGNED.search(row) and len(row) <= MOST}
    return found | {number - 1 for number in found if number and CARETS.fullmatch(rows[number]) and len(rows[number - 1]) <= MOST}


def underlined(row, carets):
    """A line of code as HTML, what the carets below it mark underlined"""
    out, at = "", 0
    for run in re.finditer(r"[\^~-]+", carets[:len(row)]):
        out += f"{html.escape(row[at:run.start()], quote=False)}<u>{html.escape(row[run.start():run.end()], quote=False)}</u>"
        at = run.end()
    return out + html.escape(row[at:], quote=False)


def continues(before, row):
    """A line continues the sentence of the one before it: its first word, not that of an error, did not fit there, and it is indented or in the middle of it."""
    first = row.split()[:1]
    is_long = bool(first) and len(first[0]) < 40 and len(before) <= MOST + 15 and len(before) + 1 + len(first[0]) > PRINTED
    is_prose = before[:1].isalpha() and before.count(" ") > 7 and before[-1:] not in ".:;!?" and re.match(r"[`(]*[A-Za-z]\w*\W{0,3}$", "".join(first))
    return is_long and (row.startswith(" ") or bool(is_prose))


def grouped(rows, kinds, cols):
    """-> [[kind, number of the first line, number after the last one]] of all lines of a text; kind: rows, sentence or nothing"""
    groups = []
    for number, row in enumerate(rows):
        is_long = kinds[number] == "dw-row" and cols[number] > SMALL
        is_plain = kinds[number] == "" and not EXCERPT.match(row)
        if is_long and groups and groups[-1][0] == "rows":
            groups[-1][2] += 1
        elif is_plain and number and kinds[number - 1] == "" and not EXCERPT.match(rows[number - 1]) and continues(rows[number - 1], row):
            groups[-1][0], groups[-1][2] = "sentence", number + 1
        else:
            groups.append(["rows" if is_long else "", number, number + 1])
    return groups


def indented(row):
    indentation = len(row) - len(row.lstrip())
    return f' style="--in:{indentation}"' if 0 < indentation <= 24 else ""


def fitted(content):
    """The HTML of a page with the lines of its blocks of code as elements."""
    def block(found):
        lines = found[3].split("\n")
        if lines and not lines[-1].strip():
            lines.pop()
        rows = [words_of(line) for line in lines]
        is_code = '<span class="' in re.sub(r'<span class="w">', "", found[3])
        kept = set() if is_code else aligned(rows)
        kinds = ["" if number not in kept else "dw-excerpt" if EXCERPT.match(row) else "dw-row" for number, row in enumerate(rows)]
        runs = [list(run) for _, run in itertools.groupby(range(len(rows)), key=lambda number: kinds[number])]
        cols = {number: max(len(rows[one]) for one in run) for run in runs for number in run}  # rows below one another have one size
        out = []
        for number, (line, row, kind) in enumerate(zip(lines, rows, kinds)):
            is_caret = kind == "dw-excerpt" and CARETS.fullmatch(row)
            if kind == "dw-excerpt" and not is_caret and kinds[number + 1:number + 2] == ["dw-excerpt"] and CARETS.fullmatch(rows[number + 1]):
                line = underlined(row, rows[number + 1])
            if is_code:
                line = REFUSED.sub(r'\1</span>\3<span class="\2 dw-beside">\4', BESIDE.sub(r'\1<span class="\2 dw-beside">\3', line))
            classes = ["dw-line", *(["dw-row"] if kind else []), *([kind] if kind == "dw-excerpt" else []), *(["dw-carets"] if is_caret else [])]
            style = f' style="--cols:{cols[number]}"' if kind else indented(row)
            out.append(f'<span class="{" ".join(classes)}"{style}>{line}\n</span>')
        parts = []
        for kind, first, last in [] if is_code else grouped(rows, kinds, cols):
            begin = {"rows": '<span class="dw-rows" tabindex="0">', "sentence": f'<span class="dw-sentence"{indented(rows[first])}>'}.get(kind, "")
            parts.append(begin + "".join(out[first:last]) + ("</span>" if kind else ""))
        return found[1] + found[2] + "".join(parts or out) + found[4]

    return BLOCK.sub(block, content)
