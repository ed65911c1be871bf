#!/usr/bin/env python3
"""The public names of the headers as Markdown pages: what Doxygen reads, one page for each header.

    python3 tools/site/api.py --undocumented     # functions, types and concepts without a comment
    python3 tools/site/api.py --self-test

tools/site/hooks.py puts the pages into the site. Doxygen 1.9.4 sees the headers without `namespace detail`, and with the macros that
declare words spelled as plain functions (Doxyfile, PREDEFINED). Left out: what is deleted, the forms of a call that only name an error,
template parameters and conditions that name `detail` or a verdict. A comment is for the names below it up to the next empty line.
Any warning of Doxygen is an error. Standard library only.
"""

import argparse
import functools
import html
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import textwrap
import xml.etree.ElementTree as tree

ROOT = pathlib.Path(__file__).resolve().parents[2]
# Namespaces that users do not name; `kernels` is left out in the Doxyfile.
INNER = r"(?:\S+::)?detail(?:::\S+)?|op|fn|look|(?:\S+::)?rule"
HIDDEN = re.compile(rf"^namespace (?P<name>{INNER}) \{{\n(?:[^\n]*\n\}}$|.*?^\}}  // namespace (?P=name)$)", re.M | re.S)
# What Doxygen takes for something else.
STRANGE = re.compile(r"^template <[^\n]*>\n(?:  requires [^\n]*\n)?struct (?:std|dimwise::detail)::.*?^\};$|^  using [^\n]*>::\w+;$", re.M | re.S)


class Problem(Exception):
    pass


def simplified(text):
    """A header as Doxygen sees it: each line at its number."""
    def blank(found):
        return "\n" * found[0].count("\n")

    text = with_members(STRANGE.sub(blank, HIDDEN.sub(blank, text)))
    text = re.sub(r"^(namespace no_adl \{|\}  // namespace no_adl)$", "", text, flags=re.M)
    text = re.sub(r"^(struct \w+);$", r"\1 {};", text, flags=re.M)  # without a definition, and a name all the same
    return re.sub(r"^( *)///   (?=\S| )", r"\1///       ", text, flags=re.M)  # Markdown's code


def with_members(text):
    """BOOST_HANA_DEFINE_STRUCT(name, (type, member), …) as its members, in the same lines."""
    def members(found):
        pairs, depth = [], 0
        for letter in found[1]:
            depth -= letter == ")"
            if depth > 0:
                pairs[-1] += letter
            elif letter == "(":
                pairs.append("")
            depth += letter == "("
        lines = [" ".join(pair.rsplit(",", 1)[0].split()) + " " + pair.rsplit(",", 1)[1].strip() + ";" for pair in pairs]
        return " ".join(lines) + "\n" * found[0].count("\n")

    return re.sub(r"^ *BOOST_HANA_DEFINE_STRUCT\(\w+(.*?)\);$", members, text, flags=re.M | re.S)


def run_doxygen(root, folder):
    """-> the folder of the XML"""
    if not shutil.which("doxygen"):
        raise Problem("doxygen is missing; bash tools/setup.sh site installs it")
    for path in (root / "include").rglob("*.hpp"):
        copy = folder / path.relative_to(root)
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_text(simplified(path.read_text(encoding="utf-8")), encoding="utf-8")
    settings = (root / "tools/site/Doxyfile").read_text(encoding="utf-8") + "OUTPUT_DIRECTORY = .\n"
    done = subprocess.run(["doxygen", "-"], cwd=folder, input=settings, text=True, capture_output=True)
    said = done.stderr.replace(f"{folder}/", "").strip()
    if done.returncode != 0 or said:
        raise Problem(f"doxygen ends with {done.returncode}:\n{said}")
    return folder / "xml"


# --- from XML ---------------------------------------------------------------------------------------------------------

def plain(node):
    return re.sub(r"\s+", " ", "".join(node.itertext())).strip() if node is not None else ""


def code(node):
    """A piece of a declaration, with the spaces that this project has."""
    text = re.sub(r"< (?=\S)", "<", plain(node))
    text = re.sub(r"(?<=\S) >", ">", text)
    return re.sub(r"\bdimwise::|\bDIMWISE_\w+\s*", "", re.sub(r" ?([&*]+(?:\.\.\.)?) ?(?=\w)", r"\1 ", re.sub(r" (?=[&*]+(?:$|[),]))", "", text)))


def inline(node):
    """The content of a paragraph as HTML."""
    out = html.escape(node.text or "", quote=False)
    for child in node:
        words = inline(child)
        if child.tag in ("computeroutput", "bold", "emphasis"):
            tag = {"computeroutput": "code", "bold": "strong", "emphasis": "em"}[child.tag]
            words = f"<{tag}>{words}</{tag}>"
        elif child.tag == "ulink":
            words = f'<a href="{html.escape(child.get("url"))}">{words}</a>'
        elif child.tag in ("ndash", "mdash", "nonbreakablespace", "linebreak"):
            words = {"ndash": "–", "mdash": "—", "nonbreakablespace": "\u00a0", "linebreak": "<br>"}[child.tag]
        elif child.tag not in ("ref", "sp", "anchor"):
            raise Problem(f"a comment has <{child.tag}>, which tools/site/api.py does not know: {plain(node)[:80]}")
        out += words + html.escape(child.tail or "", quote=False)
    return out


def fenced(code):
    return f"\n```cpp\n{code}\n```\n"


def description(node):
    """-> Markdown: paragraphs as HTML, code fenced"""
    out = []
    for paragraph in node if node is not None else ():
        # A block within a paragraph ends what stands before it.
        part = tree.Element("para")
        part.text = paragraph.text

        def end():
            words = inline(part).strip()
            if words:
                out.append(f"<p>{words}</p>\n")

        if paragraph.tag != "para":
            raise Problem(f"a comment has <{paragraph.tag}>, which tools/site/api.py does not know")
        for child in paragraph:
            if child.tag in ("verbatim", "programlisting", "preformatted", "itemizedlist", "orderedlist"):
                end()
                part = tree.Element("para")
                part.text = child.tail
                if child.tag.endswith("list"):
                    items = "".join(f"<li>{' '.join(inline(one) for one in item)}</li>" for item in child)
                    out.append(f"<ul>{items}</ul>\n")
                else:
                    lines = [spaced(line) for line in child.findall("codeline")] or (child.text or "").strip("\n").split("\n")
                    out.append(fenced(textwrap.dedent("\n".join(line.rstrip() for line in lines))))
            else:
                part.append(child)
        end()
    return "\n".join(out)


def spaced(node):
    out = node.text or ""
    for child in node:
        out += (" " if child.tag == "sp" else spaced(child)) + (child.tail or "")
    return out


def parameters(node):
    """-> the template parameters that a user may name"""
    found = []
    for one in node.find("templateparamlist") if node.find("templateparamlist") is not None else ():
        kind, name, value = code(one.find("type")), code(one.find("declname")), code(one.find("defval"))
        if re.search(r"\bdetail::|Verdict|ERROR_", value) or name in ("Verdict", "Error") or (kind == "class" and not name and value):
            continue
        kind = re.sub(r"^detail::.*?(\.\.\.)?$", r"class\1", kind)
        found.append(kind + (f" {name}" if name else "") + (f" = {value}" if value else ""))
    return found


def head(node, keyword=""):
    """-> the declaration"""
    of = parameters(node)
    lines = [f"template <{', '.join(of)}>"] if of else []
    condition = plain(node.find("requiresclause"))
    condition = [one for one in re.split(r"\s*&&\s*", condition.strip("()")) if condition and not re.search(r"\bdetail::|Verdict|Error", one)]
    if condition and all(one.count("(") == one.count(")") for one in condition):
        lines.append("  requires " + (f"({' && '.join(condition)})" if len(condition) > 1 else condition[0]))
    kind = node.get("kind")
    if kind == "concept":
        return re.sub(r"(?<=>) concept", r"\nconcept", code(node.find("initializer")))
    if kind in ("struct", "class", "union"):
        return "\n".join([*lines, f"{keyword or kind} {short(code(node.find('compoundname')))}"])
    if kind == "enum":
        return f"enum class {code(node.find('name'))} {{ {', '.join(code(one.find('name')) for one in node.findall('enumvalue'))} }}"
    result, name = code(node.find("type")), code(node.find("name"))
    if kind == "typedef":
        return "\n".join([*lines, f"using {name} = {result}"])
    arguments = code(node.find("argsstring")) if kind == "function" else ""
    value = code(node.find("initializer")) if kind == "variable" else ""
    line = f"{result} {name}".strip() + re.sub(r"=(default)$", r" = \1", arguments)
    line += f" {value}" if value and "detail::" not in value and len(value) < 40 else ""
    if len(line) > 100 and kind == "function":
        start = line.index(name) + len(name) + 1
        line = line[:start] + "\n    " + line[start:]
    return "\n".join([*lines, line])


def short(name):
    return re.sub(r"^dimwise::", "", name)


def is_public(node):
    """Neither deleted, nor one that only names an error, nor private."""
    said = plain(node.find("argsstring")) + plain(node.find("initializer"))
    return (node.get("prot", "public") == "public" and not re.search(r"= ?delete|^\(\.\.\.\)|^\(\)= ?default", said)
            and not re.search(r"\brefused\s*<|!allowed", plain(node.find("requiresclause")))
            and not re.search(r"\balready_refused\b", said) and not re.search(r"^(Verdict|Error)$|\balready_refused\b|ERROR_", plain(node.find("type"))))


class Entry:
    """A name: a function, a type, a concept, a constant; those that share its comment; a type's members."""

    def __init__(self, node, name, keyword=""):
        self.node, self.name, self.keyword = node, name, keyword
        self.file, self.line = node.find("location").get("file"), int(node.find("location").get("line"))
        self.heads, self.names, self.members = [head(node)], [name], []
        parts = description(node.find("briefdescription")), description(node.find("detaileddescription"))
        self.text = "\n".join(part for part in parts if part)
        self.kind = node.get("kind")


def is_below(entry, source):
    """Whether it is directly below another name: no empty line, no comment, no beginning of a class."""
    at = entry.line - 2
    while at >= 0 and re.match(r"\s*(template <|requires\b|class \w+ = |[\w, .=]+>$)", source[at]):
        at -= 1
    return at >= 0 and not re.match(r"\s*($|//|namespace|.*\{$|\w+:$|#)", source[at])


def grouped(entries, sources, is_inside):
    """Names without a comment directly below others share their comment."""
    found = []
    for entry in sorted(entries, key=lambda one: (one.file, one.line)):
        last = found[-1] if found else None
        if last and last.file == entry.file and not entry.text and last.text and not (is_inside and entry.kind == "variable") and is_below(entry, sources(entry.file)):
            last.heads += [one for one in entry.heads if one not in last.heads]
            last.names += [one for one in entry.names if one not in last.names]
            last.members += entry.members
        else:
            found.append(entry)
    return found


def members_of(nodes):
    return [Entry(one, plain(one.find("name"))) for one in nodes if one.get("kind") != "friend" and "detail::" not in plain(one.find("name"))]


def read(root, xml):
    """-> {header: [Entry]}"""
    of_file, classes, parts = {}, {}, []
    for path in sorted(xml.glob("*.xml")):
        compound = tree.parse(path).getroot().find("compounddef")
        if compound is None or compound.get("kind") not in ("namespace", "class", "struct", "concept"):
            continue
        name = plain(compound.find("compoundname"))
        if any("refused" in plain(base) for base in compound.findall("basecompoundref")):
            continue  # stands for a type that is refused
        if not name.startswith("dimwise") or re.search(rf"::(?:{INNER})(::|$)|::ERROR_R", name):  # docs/errors.md has the errors
            continue
        members = [one for one in compound.iter("memberdef") if is_public(one)]
        if compound.get("kind") == "namespace":
            for one in members:
                entry = Entry(one, plain(one.find("name")))
                of_file.setdefault(entry.file, []).append(entry)
        elif "<" in name and not plain(compound.find("briefdescription")) + plain(compound.find("detaileddescription")):
            parts.append((name.split("<")[0].strip(), members))
        elif compound.get("prot", "public") == "public":
            entry = Entry(compound, short(name))
            entry.members = members_of(members)
            classes[name] = entry
            of_file.setdefault(entry.file, []).append(entry)
    for name, members in parts:  # a form of a type, described with the type
        if name in classes:
            classes[name].members += members_of(members)
    @functools.cache
    def sources(file):
        return (root / file).read_text(encoding="utf-8").splitlines()

    for file, entries in of_file.items():
        for entry in entries:
            entry.members = grouped(entry.members, sources, True)
        of_file[file] = grouped(entries, sources, False)
    return of_file


# Said once for all: a module's comment says what its call gives, a function object's what it does; the words of masks and biases that
# evaluation uses, and those of options that modules use.
CALLS = re.compile(r"operator\(\)|(\w+_)?formula|initialise_parameters|each_child|check|visible|queries|keys|scale|residual|~\w+")


def undocumented(of_file):
    """-> [(file, line, kind, name)] of functions, types and concepts; a type's members but for data, and what its comment names"""
    found = []
    for file, entries in sorted(of_file.items()):
        for entry in entries:
            outer = entry.name.rsplit("::", 1)[0]
            if not entry.text and not any(one.name == outer and one.text for one in entries):
                found.append((file, entry.line, entry.kind, entry.name))
            found += [(one.file, one.line, one.kind, f"{entry.name}::{one.name}") for one in entry.members
                      if not one.text and one.kind == "function" and not re.search("= default|detail::", one.heads[0]) and not CALLS.fullmatch(one.name)
                      and not re.search(rf"\b{re.escape(one.name)}\b\(", entry.text)]
    return found


# --- pages ------------------------------------------------------------------------------------------------------------

def opening(source):
    """The comment at the head of a header -> (its sentence, its smallest use)"""
    lines = []
    for line in source.splitlines()[1:]:
        if not line.startswith("//"):
            break
        lines.append(line[3:])
    text = "\n".join(lines)
    idea = re.split(r"\n\s*\n|\nLayer:", text.split(" -- ", 1)[-1])[0].replace("\n", " ")
    use = re.findall(r"(?:^  +\S.*\n?|^\n(?=  ))+", text + "\n", flags=re.M)
    return idea[:1].upper() + idea[1:], "\n".join(line[2:] for line in use[-1].strip("\n").splitlines()) if use else ""


def page_of(file):
    return "api/" + file.removeprefix("include/dimwise/").removesuffix(".hpp") + ".md"


def write_entry(entry, level, source_link):
    title = ", ".join(dict.fromkeys(entry.names))
    out = [f"{'#' * level} `{title}`\n", fenced(";\n".join(entry.heads) + ";")]
    out.append(entry.text)
    plain_members = [one for one in entry.members if not one.text]
    for member in (one for one in entry.members if one.text):
        out.append(fenced(";\n".join(member.heads) + ";"))
        out.append(member.text)
    if plain_members:
        out.append("<p>Further members:</p>\n")
        out.append(fenced("\n".join(f"{text};" for member in plain_members for text in member.heads)))
    if level == 2:
        out.append(f'<p class="dw-source"><a href="{source_link}#L{entry.line}">declared here</a></p>\n')
    return "\n".join(out)


def pages(root, of_file):
    """-> {page: Markdown}"""
    found, index = {}, {}
    for file, entries in sorted(of_file.items()):
        shown = [entry for entry in entries if entry.text]
        if not shown:
            continue
        name = file.removeprefix("include/")
        page = page_of(file)
        up = "../" * page.count("/")
        idea, use = opening((root / file).read_text(encoding="utf-8"))
        out = [f"# {name.removeprefix('dimwise/')}\n", f"<p>{html.escape(idea, quote=False)}</p>\n",
               fenced(f"#include <{name}>" + (f"\n\n{use}" if use else ""))]
        out += [write_entry(entry, 2, f"{up}../{file}") for entry in shown]
        found[page] = "\n".join(out)
        layer = name.split("/")[1] if name.count("/") > 1 else "all of it"
        words = ", ".join(f"`{one}`" for entry in shown for one in dict.fromkeys(entry.names) if "<" not in one)
        index.setdefault(layer, []).append(f"| [{name.removeprefix('dimwise/')}]({page.removeprefix('api/')}) | {html.escape(idea, quote=False)} | {words} |")
    lines = ["# API\n", "The public names, one page for each header. Doxygen reads the declarations and comments.",
             "[ARCHITECTURE.md](../../ARCHITECTURE.md) says what a layer is; [operations](../reference/operations.md) and",
             "[modules](../reference/modules.md) explain what is used most.\n"]
    for layer, rows in index.items():
        lines += [f"## {layer}\n", "| header | what it is | names |", "|---|---|---|", *rows, ""]
    found["api/index.md"] = "\n".join(lines)
    return found


def build(root):
    """-> ({page: Markdown}, {header: [Entry]})"""
    with tempfile.TemporaryDirectory() as folder:
        of_file = read(root, run_doxygen(root, pathlib.Path(folder).resolve()))
    return pages(root, of_file), of_file


HEADER = """// SPDX-License-Identifier: BSL-1.0
// dimwise/x.hpp -- an idea: what
// it is.
//
// Layer: dim.
//
//   use(it);
namespace dimwise {
namespace detail {
/// Nobody calls it.
void inner();
}  // namespace detail
namespace no_adl {
/// The sum of <b>two</b> words, `a<b>`.
///
///   word<D>(x):  [D]  ->  []
DIMWISE_DETAIL_OPERATION(word)
DIMWISE_DETAIL_OPERATION(other)

DIMWISE_DETAIL_OPERATION(unsaid)
}  // namespace no_adl
/// A module.
template <class T, class Verdict = detail::judged<T>>
struct module {
  BOOST_HANA_DEFINE_STRUCT(module, (tensor<T, int>, weight),
                           (int, bias));
  /// Gives it.
  const T& value() const;
  const T& other_value() const;
  module(const module&) = delete;

  void unsaid_here();
  template <class V>
    requires refused<V>
  V value(int) const;
};
}  // namespace dimwise
"""


def self_test():
    with tempfile.TemporaryDirectory() as place:
        root = pathlib.Path(place).resolve() / "root"
        (root / "include/dimwise").mkdir(parents=True)
        (root / "tools/site").mkdir(parents=True)
        (root / "tools/site/Doxyfile").write_text((ROOT / "tools/site/Doxyfile").read_text(encoding="utf-8"))
        header = root / "include/dimwise/x.hpp"
        header.write_text(HEADER.replace("<b>two</b>", "two"))
        made, of_file = build(root)
        page = made["api/x.md"]
        failed = [f"{part!r} is not on the page" for part in (
            "# x.hpp\n", "<p>An idea: what it is.</p>", "use(it);", "## `word, other`", "auto other(const X&... x);",
            "<p>The sum of two words, <code>a&lt;b&gt;</code>.</p>", "```cpp\nword<D>(x):  [D]  ->  []\n```", "template <class T>\nstruct module;",
            "const T& value() const;\nconst T& other_value() const;", "tensor<T, int> weight;\nint bias;\nvoid unsaid_here();", "x.hpp#L17") if part not in page]
        failed += [f"{part!r} is on the page" for part in ("inner", "Verdict", "delete", "refused", "V value", "`unsaid`") if part in page]
        if [one[3] for one in undocumented(of_file)] != ["unsaid", "module::unsaid_here"]:
            failed.append(f"without a comment: {undocumented(of_file)}")
        header.write_text(HEADER.replace("<b>two</b>", "<D>"))
        try:
            build(root)
            failed.append("a warning of Doxygen is no error")
        except Problem as problem:
            if "x.hpp:14" not in str(problem):
                failed.append(f"the warning is {problem}")
    for text in failed:
        print(f"FAILED self-test: {text}\n{page}")
    print(f"{19 - len(failed)} passed, {len(failed)} failed")
    return failed


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--undocumented", action="store_true")
    parser.add_argument("--print", metavar="PAGE")
    parser.add_argument("--self-test", action="store_true")
    arguments = parser.parse_args()
    if arguments.self_test:
        sys.exit(1 if self_test() else 0)
    try:
        made, of_file = build(ROOT)
    except Problem as problem:
        sys.exit(f"api: {problem}")
    if arguments.print:
        print(made[arguments.print])
    elif arguments.undocumented:
        found = undocumented(of_file)
        for file, line, kind, name in found:
            print(f"{file}:{line}: {kind} {name}")
        print(f"{len(found)} without a comment")
    else:
        print(f"{len(made)} pages, {sum(len(entries) for entries in of_file.values())} names")


if __name__ == "__main__":
    main()
