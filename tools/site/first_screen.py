"""The first screen of the site, from the beginning of README.md: the mistake, its error, the speed, and where each reader begins.

Used by tools/site/hooks.py. Why no kept tool: the theme makes such a page from a template of HTML, which would repeat README.md. Standard library only. Not a program.
"""

import re

START = re.compile(
    r"\A# (?P<name>\w+)\n\n(?P<claim>[^\n].*?)\n\n(?P<before>[^\n].*?)\n\n(?P<python>```python\n.*?^```)\n\n(?P<between>[^\n].*?)\n\n(?:<!--[^\n]*\n)?"
    r"(?P<code>```cpp\n.*?^```)\n\n(?P<error>```text\n.*?^```)\n\n(?P<speed>[^\n].*?)\n\n", re.M | re.S)

READERS = (
    ("write_attention", "Write attention", "From your formula to code that compiles only if its shapes are right."),
    ("teach", "Teach", "A course of small mistakes, in the browser, with notes for teachers."),
    ("run_a_model", "Run a model", "Read a folder from HuggingFace; generate, embed, classify."),
    ("train", "Train", "Gradients, losses, optimizers; a small GPT in one file."),
    ("contribute", "Contribute", "How the library is built, and how a rule is added."),
)


def brief(speed):
    """-> the beginning of the paragraph about the speed, up to the sentence with the link to the measurements, and the rest"""
    sentences = re.split(r"(?<=\.)\s+(?=[A-Z])", speed)
    last = next((number for number, sentence in enumerate(sentences) if "](" in sentence), 0)
    first, rest = (" ".join(part) for part in (sentences[:last + 1], sentences[last + 1:]))
    return re.sub(r"\d[\d.]* to [\d.]+ [%×]", r"**\g<0>**", first), rest


def made_from(markdown, playground, warn):
    """README.md with the first screen in the place of its beginning. `playground`: a link that opens the mistake, or empty"""
    found = START.match(markdown)
    if not found:
        warn("README.md does not begin as tools/site/first_screen.py expects")
        return markdown
    links = "[Start in thirty seconds](docs/tutorial/thirty_seconds.md){: .md-button } [See attention](docs/tutorial/see_attention.md){: .md-button }"
    if playground:
        links = f'<a class="md-button md-button--primary" href="{playground}">Try it in the browser</a> {links}'
    speed, more = brief(found["speed"])
    cards = "\n".join(f'<div class="dw-card" markdown="1">\n**[{title}](docs/start/{page}.md)**\n\n{words}\n</div>' for page, title, words in READERS)
    return f"""# {found["name"]}

<div class="dw-first" markdown="1">
<div markdown="1">
{found["claim"]}
{{: .dw-claim }}

{links}

{speed}
{{: .dw-speed }}
</div>
<div markdown="1">
{found["before"]}

{found["python"]}

{found["between"]}

{found["code"]}

{found["error"]}
</div>
</div>

<div class="dw-cards" markdown="1">
{cards}
</div>

{more}

{markdown[found.end():]}"""
