"""The pages of compile errors: one for each rule, and the index of docs/errors.md that leads to them.

Used by tools/site/hooks.py. Why no kept tool: a plugin that adds pages (gen-files, which Debian 12 lacks) would still
need this to divide the page and to find what leads to its parts. Standard library only. Not a program.
"""

import dataclasses
import re

RULE = re.compile(r"^## (R\d+): (.*)\n", re.M)
LAST = "## The compilers\n"


@dataclasses.dataclass
class Page:
    name: str  # R7
    title: str  # R7: what the rule says, for the navigation
    text: str


def others(found):
    """A long list of mistakes, which hides the next error, as one line that opens; words in it are searched"""
    count = found[1].count("\n")
    if count <= 4:
        return found[0]
    return f'<details class="dw-others" markdown="1">\n<summary>{count} other mistakes with this error</summary>\n\n{found[1]}\n</details>\n'


def pages(text):
    """build/errors.md with its pictures -> the page of each rule"""
    text, _, compilers = text.partition(LAST)
    parts = RULE.split(text)
    found = []
    for name, said, errors in zip(parts[1::3], parts[2::3], parts[3::3]):
        errors = re.sub(r"^###", "##", errors, flags=re.M)
        errors = re.sub(r"^Other mistakes with this error:\n\n((?:\* .*\n)+)", others, errors, flags=re.M)
        shown = f"# {name}: {said}\n\n[All errors by symptom](../errors.md)\n{errors}\n"
        found.append(Page(name, f"{name}: {said}".replace("`", ""), shown + (f"{LAST}{compilers}" if compilers else "")))
    return found


def drawings(text):
    """The page of a rule -> {id: the message and the drawing of that error}"""
    parts = re.split(r"^## (ERROR_\w+)\n", text, flags=re.M)
    found = {one: re.search(r'<p class="dw-said">.*?</div>\n', rest, re.S) for one, rest in zip(parts[1::2], parts[2::2])}
    return {one: drawing[0] for one, drawing in found.items() if drawing}


def with_drawings(markdown, drawn):
    """A page with a drawing behind each block of code that has a refused line. `drawn`: see `drawings`"""
    def block(found):
        errors = dict.fromkeys(one for one in re.findall(r"ERROR_R\d+_\w+", found[0]) if one in drawn)
        return found[0] + "".join(f"\n<details><summary>An example of <code>{one.replace('_', '_<wbr>')}</code></summary>\n{drawn[one]}</details>\n" for one in errors)

    return re.sub(r"^```cpp\n.*?^```\n", block, markdown, flags=re.M | re.S)


def index(markdown, rules):
    """docs/errors.md, with links from its symptoms to the rules and with the list of all errors. `rules`: [(page, text)]"""
    def linked(row):
        before, rule, after, _ = row[0].rsplit("|", 3)
        return "|".join([before, re.sub(r"R\d+", r"[\g<0>](errors/\g<0>.md)", rule), after, ""])

    def errors_of(page, text):
        said = re.search(r"^# (.*)", text)[1]
        rows = [f'* <a id="{one.lower()}"></a>[`{one}`]({page}#{one.lower()}): {title}'
                for one, title in re.findall(r"^## (ERROR_R\d+\w*)\n\n(.*)", text, flags=re.M)]
        return f"### [{said}]({page})\n\n" + "\n".join(rows) + "\n"

    markdown = re.sub(r"^\|(?=[^|\n]*\|[ R\d,]+\|).*\|$", linked, markdown, flags=re.M)
    # The list by symptom is what a reader looks for first.
    first, *parts = re.split(r"^(?=## )", markdown, flags=re.M)
    parts.sort(key=lambda part: not part.startswith("## By symptom"))
    return first + "".join(part.rstrip("\n") + "\n\n" for part in parts) + "## By rule\n\n" + "\n".join(errors_of(page, text) for page, text in rules)
