#!/usr/bin/env python3
"""Pages and lists name what there is, and all of it.

    python3 tools/check_pages.py
    python3 tools/check_pages.py --self-test

    docs/reference/marks.md        is what tools/marks_table.cpp prints
    docs/reference/operations.md   (with the pages beside it) has every word that users call, and no other
    docs/reference/training.md     has a row for every operation of operations.md, and the file named there has the operation
    docs/reference/modules.md      (with the pages beside it) has every name of dimwise::nn, and no other
    docs/reference/*.md            name rules that exist
    .ci/run, CONTRIBUTING.md       name presets, scripts, options and files that exist
    tests/CMakeLists.txt           runs the self-test of every script that has one

Which words there are is asked of clang, which completes `dimwise::no_adl::` as it does in an editor: so it does not matter
how a word is declared. Standard library only.
"""

import argparse
import json
import pathlib
import re
import subprocess
import sys
import tempfile

import compilers

REFERENCE = "docs/reference"
# The pages where a word of that namespace may be explained.
PAGES = {"no_adl": ("operations", "tensors", "caches", "modules", "dimensions"),
         "nn": ("modules", "caches")}
TABLES = {"operations": "operation", "modules": "module"}  # page: head of the column of words
# No words for users: `detail` is a namespace, the others only name an error or a concept of the headers.
INTERNAL = {"nn": {"detail", "a_stack_is_made_by_of_and_then_initialised"}, "no_adl": {"detail"}}


def words(compiler, root, namespace):
    """-> the names that an editor offers behind `dimwise::<namespace>::`"""
    line = f"auto word = dimwise::{namespace}::"
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "words.cpp"
        path.write_text(f"#include <dimwise/dimwise.hpp>\n#include <dimwise/nn.hpp>\n{line}\n;\n", encoding="utf-8")
        _, text = compiler.run([compilers.STANDARD, f"-I{root / 'include'}", "-fsyntax-only", "-Xclang",
                                f"-code-completion-at={path}:3:{len(line) + 1}", str(path)], root)
    return {name for name in re.findall(r"^COMPLETION: (\w+)", text, flags=re.MULTILINE)}


def code(text):
    """-> the identifiers that stand in code on a page"""
    spans = re.findall(r"^```\w*\n.*?^```|`[^`\n]+`", text, flags=re.MULTILINE | re.DOTALL)
    return set(re.findall(r"[A-Za-z_]\w*", "\n".join(spans)))


def listed(text, head):
    """-> the words in the first column of the tables with that head: what is called, `word<…>(…)`"""
    found = set()
    for table in re.findall(rf"^\| {head} \|.*\n\|[-| ]+\n((?:\|.*\n)*)", text, flags=re.MULTILINE):
        for row in table.splitlines():
            for span in re.findall(r"`([^`]+)`", re.split(r"(?<!\\)\|", row)[1]):
                found |= set(re.findall(r"^(\w+)[<({]", span))
    return found


def check_words(root, compiler):
    problems, identifiers = [], set()
    for path in (root / "include").rglob("*.hpp"):
        identifiers |= set(re.findall(r"[A-Za-z_]\w*", path.read_text(encoding="utf-8")))
    texts = {name: (root / REFERENCE / f"{name}.md").read_text(encoding="utf-8") for names in PAGES.values() for name in names}
    for page, head in TABLES.items():
        found = listed(texts[page], head)
        problems += [f"{REFERENCE}/{page}.md has no table of words"] if not found else []
        problems += [f"{REFERENCE}/{page}.md explains {word}, which no header has" for word in sorted(found - identifiers)]
    for namespace, names in PAGES.items() if compiler else ():
        there = words(compiler, root, namespace) - INTERNAL[namespace]
        problems += [f"no words in dimwise::{namespace}"] if not there else []
        explained = set().union(*(code(texts[name]) for name in names))
        problems += [f"{REFERENCE}/{names[0]}.md, nor a page beside it, names {word} of dimwise::{namespace}"
                     for word in sorted(there - explained)]
    return problems


def check_gradients(root):
    """Each row of the table of gradients: the operations, what is sent, and the file that tests it."""
    page = f"{REFERENCE}/training.md"
    text = (root / page).read_text(encoding="utf-8")
    rows = listed(text, "gradient of")
    reference = (root / REFERENCE / "operations.md").read_text(encoding="utf-8")
    operations, named = listed(reference, "operation"), code(reference)
    problems = [f"{page} has no row for {word} of operations.md" for word in sorted(operations - rows)]
    problems += [f"{page} has a row for {word}, which operations.md has not" for word in sorted(rows - named)]
    for line in re.findall(r"^\| `.*\| `tests/[^`|]+` \|$", text, flags=re.MULTILINE):
        cells = re.split(r"(?<!\\)\|", line)
        file = cells[-2].strip().strip("`")
        source = (root / file).read_text(encoding="utf-8") if (root / file).is_file() else ""
        problems += [f"{page} says that {file} tests {word}; the file does not name it"
                     for span in re.findall(r"`([^`]+)`", cells[1]) for word in re.findall(r"^(\w+)[<({]", span)
                     if not re.search(rf"\b{word}\b", source)]
    return problems


def check_rules(root):
    there = set(re.findall(r"^// (R\d+) ", (root / "include/dimwise/support/errors.hpp").read_text(encoding="utf-8"), re.MULTILINE))
    return [f"{path.relative_to(root)} names {rule}, which include/dimwise/support/errors.hpp has not"
            for path in sorted((root / REFERENCE).glob("*.md"))
            for rule in sorted(set(re.findall(r"\bR\d{1,2}\b", path.read_text(encoding="utf-8"))) - there)]


def check_marks(root):
    gcc = [compiler for compiler in compilers.find_compilers() if not compiler.is_clang][:1]
    with tempfile.TemporaryDirectory() as folder:
        program = pathlib.Path(folder) / "marks_table"
        code, text = gcc[0].run([compilers.STANDARD, "-Iinclude", "tools/marks_table.cpp", "-o", str(program)], root)
        if code != 0:
            return [f"tools/marks_table.cpp does not compile:\n{text}"]
        done = subprocess.run([program, "include"], cwd=root, capture_output=True, text=True)
    if done.returncode != 0:
        return [done.stderr]
    page = f"{REFERENCE}/marks.md"
    same = (root / page).read_text(encoding="utf-8") == done.stdout
    return [] if same else [f"{page} is not what tools/marks_table.cpp prints now; CONTRIBUTING.md has the command"]


def check_lists(root):
    problems = []
    presets = json.loads((root / "CMakePresets.json").read_text(encoding="utf-8"))
    known = {preset["name"] for preset in presets["configurePresets"] if not preset.get("hidden")}
    for kind in ("buildPresets", "testPresets"):
        problems += [f"CMakePresets.json: {kind} has {preset['name']}, no preset to configure is {preset['configurePreset']}"
                     for preset in presets.get(kind, []) if not preset.get("hidden") and preset["configurePreset"] not in known]
    for preset in presets.get("workflowPresets", []):
        for step in preset["steps"]:
            kind = f"{step['type']}Presets"
            if step["name"] not in {one["name"] for one in presets.get(kind, [])}:
                problems.append(f"CMakePresets.json: the workflow {preset['name']} names {step['name']}, not in {kind}")
    for name in (".ci/run", "CONTRIBUTING.md", "README.md", "ARCHITECTURE.md", "CMakePresets.json", "tests/CMakeLists.txt"):
        if not (root / name).exists():
            continue
        text = (root / name).read_text(encoding="utf-8")
        for words_of_line in re.findall(r"tools/test\.sh((?: [a-z][\w-]*)+)", text):
            words = words_of_line.split()
            if len(words) > 1 or not any((root / "tests").rglob(f"*{words[0]}*")):  # one word may also be in the path of a test
                problems += [f"{name} names the preset {word}" for word in words if word not in known]
        problems += [f"{name} names the preset {word}" for word in re.findall(r"--preset ([a-z][\w-]*)", text) if word not in known]
        for file in sorted(set(re.findall(r"\b(?:tools|docs|benchmarks|include|tests|cmake)/[\w/.-]+\.(?:py|sh|md|hpp|cpp|cmake)\b", text))):
            beside = root / pathlib.Path(name).parent / file
            if not (root / file).exists() and not beside.exists():
                problems.append(f"{name} names {file}, which does not exist")
        for script, options in re.findall(r"python3 ((?:tools|benchmarks)/[\w/]+\.py)([^`\n|#]*)", text):
            source = (root / script).read_text(encoding="utf-8") if (root / script).exists() else ""
            problems += [f"{name} calls {script} with {option}, which it does not take"
                         for option in re.findall(r"(?<!\S)--[a-z-]+", options) if f'"{option}"' not in source]
    tests = (root / "tests/CMakeLists.txt").read_text(encoding="utf-8")
    for path in sorted((root / "tools").glob("*.py")):
        if '"--self-test"' in path.read_text(encoding="utf-8") and not re.search(rf"ITEMS[^)]*\b{path.stem}\b", tests):
            problems.append(f"tests/CMakeLists.txt does not run tools/{path.name} --self-test")
    return problems


def self_test():
    page = "| operation | shape |\n|---|---|\n| `f<D>(x)`, `g(x)` | `h(x)` |\n\n| other |\n|---|\n| `k(x)` |\n\n```cpp\nm(2);\n```\n"
    failed = []
    if listed(page, "operation") != {"f", "g"}:
        failed.append(f"listed: {listed(page, 'operation')}")
    if code(page) != {"f", "D", "x", "g", "h", "k", "m", "cpp"}:
        failed.append(f"code: {code(page)}")
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        files = {"CMakePresets.json": '{"configurePresets": [{"name": "dev"}], "testPresets": [{"name": "t", "configurePreset": "no"}],'
                                      '"workflowPresets": [{"name": "w", "steps": [{"type": "build", "name": "dev"}]}]}',
                 ".ci/run": "bash tools/test.sh dev gone\n", "CONTRIBUTING.md": "`python3 tools/a.py --new --old`, tools/b.py\n",
                 "tools/a.py": '"--new" "--self-test"', "tools/test.sh": "", "tests/CMakeLists.txt": "",
                 "include/dimwise/support/errors.hpp": "// R1  one\n", f"{REFERENCE}/x.md": "R1, R2\n"}
        for name, text in files.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text, encoding="utf-8")
        tables = {"operations": "| operation |\n|---|\n| `f(x)` |\n| `g(x)` |\n",
                  "training": "| gradient of | what | test |\n|---|---|---|\n| `f(x)`, `h(x)` | g | `tests/no.cpp` |\n"}
        for name, text in tables.items():
            (root / REFERENCE / f"{name}.md").write_text(text, encoding="utf-8")
        found = check_gradients(root)
        if len(found) != 4:
            failed.append(f"gradients: {found}")
        report = "\n".join(check_lists(root) + check_rules(root))
        for expected in ("no preset to configure is no", "the workflow w names dev", "names the preset gone", "with --old",
                         "names tools/b.py", "does not run tools/a.py", "names R2"):
            if expected not in report:
                failed.append(f"expected {expected!r} in {report}")
        if report.count("\n") != 6:
            failed.append(f"too much: {report}")
    for text in failed:
        print(f"FAILED self-test {text}")
    print(f"{10 - len(failed)} passed, {len(failed)} failed")
    return len(failed)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--self-test", action="store_true")
    if parser.parse_args().self_test:
        sys.exit(1 if self_test() else 0)
    root = compilers.ROOT
    clang = ([compiler for compiler in compilers.find_compilers() if compiler.is_clang] or [None])[0]
    if not clang:
        print("skipped: which words lack an explanation; no clang is installed")
    parts = {"words": check_words(root, clang), "gradients": check_gradients(root), "rules": check_rules(root), "marks": check_marks(root), "lists": check_lists(root)}
    for problem in sum(parts.values(), []):
        print(f"FAILED {problem}")
    failed = sum(map(len, parts.values()))
    print(f"{sum(not problems for problems in parts.values())} passed, {failed} failed" + (", 1 skipped" if not clang else ""))
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
