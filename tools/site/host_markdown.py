"""Markdown as a Git host reads it, made into what Python-Markdown reads in the same way.

Used by tools/site/hooks.py. Why no kept tool: Debian 12 has no CommonMark for MkDocs. Standard library only. Not a program.
"""

import re

FENCE = re.compile(r"^ *(`{3,}).*?^ *\1 *$", re.M | re.S)


def outside_of_code(text, change):
    """`change` applied to what is between the code blocks."""
    out, at = [], 0
    for block in FENCE.finditer(text):
        out += [change(text[at:block.start()]), block[0]]
        at = block.end()
    return "".join([*out, change(text[at:])])


def for_python_markdown(text):
    """What a Git host reads otherwise than Python-Markdown: a pipe in the code of a table, a list right below a paragraph."""
    def change(part):
        part = re.sub(r"^\|.*\|$", lambda row: re.sub(r"`[^`]*`", lambda span: span[0].replace("\\|", "|"), row[0]), part, flags=re.M)
        return part.replace("<details>", '<details markdown="1">')

    return in_lists(outside_of_code(text, change))


def in_lists(text):
    """What belongs to the item of a list begins four columns to the right of it, and a list below an empty line. A line of a text that begins
    with a number and a full stop, other than 1, begins no list."""
    out, width, fence, apart, is_counted = [], 0, "", False, False
    for line in text.splitlines():
        number = re.match(r" *(\d+)\. +(?=\S)", line)
        if number and not fence and number[1] != "1" and not is_counted and out and out[-1].strip():
            line = line.replace(".", "\\.", 1)
        item = re.match(r"(\*|-|\d+\.) +(?=\S)", line)
        begins_text = line.strip() and not line.startswith(" ") and out and not out[-1].strip()
        is_counted = bool(number) or (is_counted and not item and not begins_text)
        ticks = re.match(r"`{3,}", line)
        if fence or ticks:
            fence, width = ("" if fence and ticks and ticks[0] == fence else fence or ticks[0]), 0
        elif item:
            if (not width or apart) and out and out[-1].strip():
                out.append("")
            width, apart = len(item[0]), False
        elif width and line.startswith(" " * width):
            line = "    " + line[width:]
            apart = apart or not out[-1].strip()
        elif line.strip() and out and not out[-1].strip():
            width = 0
        out.append(line)
    return "\n".join(out) + "\n"
