"""Many sources in one translation unit, and what a compiler says of it, source by source.

Most of what a small source costs is its includes: together, hundreds of them cost as much as a few dozen alone. Each becomes
a namespace of its own, with its lines counted as in its file, so that a compiler prints what it would print of the file
alone, but for the name of the namespace. Why no kept tool: in CMake's unity builds, files share one namespace, and end at the first
error. Standard library only. As a program, it writes the source that test files share (cmake/united.cmake): united.py INTO FILE...
"""

import os
import pathlib
import re
import sys

# Who includes what, and where an instantiation comes from: g++ prints these lines before the error that they belong to.
INCLUDED = re.compile(r"In file included from |\s+from \S+:\d+[,:]")
CONTEXT = re.compile(r"\S+: (In|At) |\S+:\d+(?::\d+)?:   (recursively )?required |\S+:\d+(?::\d+)?:   in .constexpr. expansion")
PRIMARY = re.compile(r"(?:(\S+?):\d+(?::\d+)?|\S+): (fatal error|internal compiler error|error|warning): ")
GENERATED = re.compile(r"\d+ (?:warnings?|errors?)(?: and \d+ errors?)? generated\.$|compilation terminated\.$")


def includes(text):
    """-> the lines #include of a source"""
    return re.findall(r"^\s*#\s*include\s*[<\"][^>\"]+[>\"]", text, flags=re.MULTILINE)


def outermost(text):
    """-> the named namespaces of a source that are in no other"""
    found, depth = {}, 0
    for line in re.findall(r"^(?:namespace .*\{$|\}  // namespace)", text, flags=re.MULTILINE):
        if line.startswith("}"):
            depth -= 1
            continue
        name = re.match(r"namespace (\w+) \{", line)
        if depth == 0 and name:
            found[name[1]] = True
        depth += 1
    return found


def united(files, root=None, wrap="unit"):
    """One source of many: each file in a namespace of its own, lines counted as in the file, which is named from the root; includes
    before the first file that has them, so that those before it do not use them; macros until the end of their file."""
    known, source = set(), ""
    for number, path in enumerate(files):
        text = path.read_text(encoding="utf-8")
        body, head, macros = [], "", set()
        for line in text.splitlines():
            found = re.match(r"\s*#\s*include\s*([<\"][^>\"]+[>\"])", line)
            if found:
                folders = path.parents if root else [path.parent]
                places = (folder / found[1].strip('"') for folder in folders if found[1][0] == '"')
                beside = next((place for place in places if place.exists()), None)  # or in a folder above
                include = f'#include "{beside.resolve()}"' if beside else f"#include {found[1]}"
                head += "" if include in known else include + "\n"
                known.add(include)
                line = ""
            macros.update(re.findall(r"^\s*#\s*define\s+(\w+)", line))
            body.append(line)
        # The file goes on in a namespace of what it includes.
        head += "".join(f"namespace {name} {{}}\n" for name in outermost(text))
        shared = "".join(f"namespace {name} {{ using namespace ::{name}; }}\n" for name in outermost(text))
        body += [f"#undef {macro}" for macro in sorted(macros)]
        name = os.path.relpath(path, root) if root else path
        # Without a #line of their own, includes would be said to be those of the file before.
        source += f'#line 1 "includes"\n{head}namespace {wrap}_{number} {{\n{shared}#line 1 "{name}"\n' + "\n".join(body) + "\n}\n"
    return source


def as_alone(text, root, wrap="unit"):
    """What a compiler prints of one of the sources, as it would of its file alone; without the lines about includes."""
    lines = [line for line in text.splitlines() if not INCLUDED.match(line)]
    text = re.sub(rf"\b{wrap}_\d+::", "", "\n".join(lines)).replace(f"{root}/", "")
    return re.sub(r"[^/\s]+/\.\./", "", text)


class Diagnostic:
    """An error or a warning with its context and notes."""

    def __init__(self, lines, found):
        self.lines, self.kind, self.place = lines, found[2], found[1] or ""

    def sources(self, names):
        """-> those of the names that the diagnostic mentions as a place"""
        text = "\n".join(self.lines)
        return {name for name in re.findall(r"(?:^|[\s(])([^\s:(]+):\d+", text, flags=re.MULTILINE) if name in names}


def diagnostics(text):
    """-> [Diagnostic] of everything that a compiler printed"""
    found, pending = [], []
    for line in text.splitlines():
        if GENERATED.match(line):
            continue
        primary = PRIMARY.match(line)
        if primary:
            found.append(Diagnostic([*pending, line], primary))
            pending = []
        elif INCLUDED.match(line) or CONTEXT.match(line):
            pending.append(line)
        elif found:
            found[-1].lines += [*pending, line]
            pending = []
        else:
            pending.append(line)
    return found


if __name__ == "__main__":
    into = pathlib.Path(sys.argv[1])
    into.parent.mkdir(parents=True, exist_ok=True)
    into.write_text(united([pathlib.Path(name) for name in sys.argv[2:]]), encoding="utf-8")
