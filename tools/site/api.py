#!/usr/bin/env python3
"""The API reference of the site: Doxygen's own pages of include/dimwise, and a check that every public name has a comment.

    python3 tools/site/api.py FOLDER       # writes FOLDER/index.html

Any warning of Doxygen is an error. Why no kept tool: Doxygen 1.9.4 (Debian 12) does not parse some C++20, so that it reads a copy of the
headers (`simplified`), in which lines have other numbers; and it demands a comment of each name, where in this project

 * one comment is for the names below it up to the next empty line,
 * the comment of a type is for its data, its types and the functions of CALLS.

Standard library only.
"""

import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
# Namespaces that users do not name; `kernels` is left out in the Doxyfile.
INNER = r"(?:\S+::)?(?:detail(?:::\S+)?|op|fn|rule)"
HIDDEN = re.compile(rf"^namespace (?P<name>{INNER}) \{{\n(?:[^\n]*\n\}}$|.*?^\}}  // namespace (?P=name)$)", re.M | re.S)
# Specialisations outside of dimwise, modules that are rejected, and inherited constructors.
UNPARSED = re.compile(r"^template <[^\n]*>\n(?:(?:  requires [^\n]*\n)?struct (?:std|dimwise::detail)::|DIMWISE_DETAIL_TAKES\().*?^\};$"
                      r"|^  using [^\n]*>::\w+;$|(?<=^class kv_cache) : public detail::refused_module.*?^\}(?=;$)", re.M | re.S)
# A parameter that rejects a call.
VERDICT = re.compile(r",\s*class Verdict = DIMWISE_DETAIL_VERDICT\((?:[^()]|\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\))*\)")
# Overloads that only name an error.
REJECTING = re.compile(r"^\s*(\[\[.*\]\] )?(Error|Verdict|detail::already_refused) (operator\S+|\w+)\(|DIMWISE_DETAIL_REFUSED\(|= delete;"
                       r"|requires refused<|already_refused& value\)|const Given&\.\.\.\) -> ")
# Every module has them: what they do is in the comment of the module or of the function object.
CALLS = re.compile(r"operator\(\)|(\w+_)?formula|initialise_parameters|each_child|check|visible|queries|keys|scale|residual|~\w+")
UNDOCUMENTED = re.compile(r"(?P<file>\S+?):(?P<line>\d+): warning: (?:Member (?P<name>operator\(\)|[^\s(]+).* \((?P<kind>[\w ]+)\) of (?P<outer>\w+) (?P<type>.*)"
                          r"|Compound (?P<compound>.*)) is not documented\.")


def simplified(text):
    """-> a header as Doxygen reads it"""
    text = UNPARSED.sub("\n", HIDDEN.sub("\n", text))
    text = re.sub(r"^#define DIMWISE_DETAIL_(?:[^\n]*\\\n)*.*\n", "", text, flags=re.M)  # the Doxyfile has those that declare names
    text = re.sub(r"^DIMWISE_DETAIL_MISUSED\w*\(.*\)\n", "", text, flags=re.M)  # would take the comment of the name above to the one below
    text = VERDICT.sub("", text)
    text = re.sub(r"^(namespace no_adl \{|\}  // namespace no_adl)$", "", text, flags=re.M)
    text = re.sub(r"^(struct \w+);$", r"\1 {};", text, flags=re.M)  # never defined, but a name that users write
    text = re.sub(r"^( *)///   (?=\S| )", r"\1///       ", text, flags=re.M)  # Markdown's code
    return with_shared_comments(without_rejecting(with_file_comment(text)))


def has_public_names(text):
    """Whether users call anything of a header as Doxygen reads it: after the comment of the file another one follows, or a name without one."""
    code = re.sub(r"//[^\n]*|^#.*$|^(?:inline )?namespace [\w:]+ \{$|^\}$|\bDIMWISE_DETAIL_TEXT_(?:BEGIN|END)\b", "", text, flags=re.M)
    return bool(code.strip())


def with_file_comment(text):
    """The first sentence of the comment at the head of a header as the comment of the file."""
    first, *lines = text.split("\n")
    for number, line in enumerate(lines):
        if not line.startswith("// ") or line.startswith("// Layer:"):
            break
        lines[number] = "/" + re.sub(r"^// \S+ -- ", "// ", line)
    return "\n".join(["/// \\file", *lines])


def without_rejecting(text):
    """Declarations of overloads that only name an error, left out."""
    lines = text.split("\n")
    while (found := next((number for number, line in enumerate(lines) if REJECTING.search(line)), None)) is not None:
        first = last = found
        while first > 0 and not re.search(r"^\s*(//.*)?$|^#|[;{}:]$|^DIMWISE_\w+\(\w+\)$", lines[first - 1]):
            first -= 1
        while not re.search(r"[;}]\s*(//.*)?$", lines[last]) or sum(line.count("{") - line.count("}") for line in lines[first:last + 1]):
            last += 1
        del lines[first:last + 1]
    return "\n".join(lines)


def with_shared_comments(text):
    """A comment before each name that it is for: those that follow one another without an empty line or another comment."""
    out, shared, depth, begins, before = [], {}, 0, True, ""
    for line in text.split("\n"):
        words = line.strip()
        if words.startswith("///"):
            shared[depth] = [*(shared[depth] if before.startswith("///") else []), line]
        elif words.startswith("//") and before.startswith("///"):  # a comment for the next maintainer
            words = before
        elif not words or re.match(r"//|#(?!define)|\}|\w+:$", words):
            shared.pop(depth, None)
        elif begins and depth in shared and not before.startswith("///") and not re.match(r" +[^()]*;", line):  # data have comments of their own
            out += shared[depth]
        out.append(line)
        code = re.sub(r"//.*", "", words).strip()
        depth += sum(code.count(one) for one in "{(") - sum(code.count(one) for one in "})")
        begins = not code or code[-1] in ";{}:" or re.fullmatch(r"DIMWISE_\w+\(\w+\)|#define .*", code) is not None
        before = words
    return "\n".join(out)


def is_demanded(warning):
    """Whether a warning of Doxygen is a breach here."""
    found = UNDOCUMENTED.match(warning)
    if not found:
        return True
    in_type = found["outer"] not in (None, "namespace", "file")
    if in_type:
        return found["kind"] == "function" and not CALLS.fullmatch(found["name"]) and "=default" not in warning and "<" not in found["type"]
    return "<" not in (found["compound"] or "")  # a specialisation has the comment of its template


def problems_of(root, site):
    """Writes the pages into the folder `site`; -> warnings"""
    with tempfile.TemporaryDirectory() as place:
        folder = pathlib.Path(place).resolve()
        for path in (root / "include").rglob("*.hpp"):
            text = simplified(path.read_text(encoding="utf-8"))
            if not has_public_names(text):
                continue
            copy = folder / path.relative_to(root)
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_text(text, encoding="utf-8")
        for name in ("api.css", "api.dox", "api_layout.xml"):
            shutil.copy(root / "tools/site" / name, folder)
        settings = (root / "tools/site/Doxyfile").read_text(encoding="utf-8") + f"HTML_OUTPUT = {site.resolve()}\n"
        done = subprocess.run(["doxygen", "-"], cwd=folder, input=settings, text=True, capture_output=True)
    warnings = [line.replace(f"{folder}/", "") for line in done.stderr.splitlines() if line.strip()]
    return [line for line in warnings if is_demanded(line)]


def add_names(site):
    """What a screen reader says of each page: its language, and what the field is for, which a script makes."""
    for page in site.glob("*.html"):
        text = page.read_text(encoding="utf-8")
        page.write_text(text.replace("<html xmlns", '<html lang="en" xmlns', 1), encoding="utf-8")
    script = site / "menu.js"
    script.write_text(script.read_text(encoding="utf-8").replace('id="MSearchField"', 'id="MSearchField" aria-label="Search"'), encoding="utf-8")


def main():
    if len(sys.argv) != 2 or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    if not shutil.which("doxygen"):
        sys.exit("doxygen is missing; bash tools/setup.sh site installs it")
    site = pathlib.Path(sys.argv[1])
    problems = problems_of(ROOT, site)
    add_names(site)
    print("\n".join(problems) or f"the API: {sys.argv[1]}/index.html")
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
