#!/usr/bin/env python3
"""The tutorials on trained models, followed word by word in an empty folder: their commands, what they print, and their
fragments as programs. Needs npm and a network; without them it ends with code 77, which says that it was left out.

    python3 tests/tutorials/tutorials.py build/dev/src/programs g++ build/dev/src/libdimwise.a [FLAG...]
    python3 tests/tutorials/tutorials.py --self-test

The commands that install packages and build the programs are left out: the programs are given. The last line is
"N passed, M failed". Standard library only.
"""

import difflib
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGES = ["from_a_checkpoint_to_text", "semantic_search"]
PROGRAMS = "build/release/src/programs/"
BUILDS = re.compile(r"^(bash tools/setup\.sh|cmake) ")
SKIPPED = 77
# What a fragment computes and does not print.
SHOWN = {"const float cosine": ('std::printf("%.4f\\n", static_cast<double>(cosine));', "0.6946\n")}


class NotToBeHad(Exception):
    """A model cannot be fetched here."""


def steps(text):
    """-> (kind, lines, what it prints or None) of each block of commands or code; a ```text block right behind one is what it
    prints"""
    found, end = [], 0
    for block in re.finditer(r"^```(\w+)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
        if block[1] == "text" and found and not text[end:block.start()].strip():
            found[-1] = (*found[-1][:2], block[2])
        elif block[1] in ("sh", "cpp"):
            found.append((block[1], block[2], None))
        end = block.end()
    # A command within a sentence, `bash src/programs/get_model.sh …`, comes before the block behind it.
    return found


def commands(text, programs):
    """-> the block as it is run: with the given programs and the project's scripts"""
    lines = [line for line in text.splitlines() if not BUILDS.match(line)]
    text = "\n".join(lines).replace(PROGRAMS, f"{programs}/")
    return re.sub(r"\bbash (tools|src)/", rf"bash {ROOT}/\1/", text)


class Tutorial:
    def __init__(self, folder, programs, compiler, flags):
        self.folder, self.programs, self.compiler, self.flags = folder, programs, compiler, flags
        self.passed = self.failed = 0

    def check(self, name, wanted, printed):
        same = wanted is None or wanted == printed
        self.passed += same
        self.failed += not same
        if not same:
            print(f"FAILED {name}:")
            print("\n".join(difflib.unified_diff(wanted.splitlines(), printed.splitlines(), "page", "printed", lineterm="")))

    def fail(self, name, text):
        self.failed += 1
        print(f"FAILED {name}:\n{text}")

    def run(self, name, text, wanted):
        if not (script := commands(text, self.programs)).strip():
            return
        ran = subprocess.run(["bash", "-euc", script], cwd=self.folder, capture_output=True, text=True, timeout=600)
        if ran.returncode and ("cannot be fetched" in ran.stderr or "npm is not installed" in ran.stderr):
            raise NotToBeHad(ran.stderr.strip())
        if ran.returncode:
            self.fail(name, f"{script}\nends with code {ran.returncode}: {ran.stdout}{ran.stderr}")
        else:
            self.check(name, wanted, ran.stdout)

    def compile_and_run(self, name, code):
        lines = code.splitlines()
        included = "".join(f"{line}\n" for line in lines if line.startswith("#include"))
        rest = "\n".join(line for line in lines if not line.startswith("#include"))
        wanted = None
        for word, (line, value) in SHOWN.items():
            if word in rest:
                rest, wanted = f"{rest}\n{line}", value
        source = self.folder / "own.cpp"
        source.write_text(f'{included}#include <cstdio>\n#include "{ROOT}/tests/docs/prelude.hpp"\nnamespace docs {{\nvoid run() {{\n{rest}\n}}\n}}\n'
                          "int main() { docs::run(); }\n", encoding="utf-8")
        program = self.folder / "own"
        made = subprocess.run([self.compiler, "-std=c++20", f"-I{ROOT}/include", str(source), "-o", str(program), *self.flags],
                              capture_output=True, text=True, timeout=900)
        if made.returncode:
            self.fail(name, made.stderr[:4000])
            return
        ran = subprocess.run([str(program)], cwd=self.folder, capture_output=True, text=True, timeout=600)
        if ran.returncode:
            self.fail(name, f"the program ends with code {ran.returncode}: {ran.stdout}{ran.stderr}")
        else:
            self.check(name, wanted, ran.stdout)

    def follow(self, page):
        text = (ROOT / f"docs/tutorial/{page}.md").read_text(encoding="utf-8")
        found = steps(text)
        # A page gets models by a block of its own or within a sentence.
        for model in dict.fromkeys(re.findall(r"`(bash src/programs/get_model\.sh \w+)`", text)):
            self.run(f"{page}: {model}", model, None)
        for number, (kind, code, prints) in enumerate(found, 1):
            name = f"{page}, block {number}"
            if kind == "sh":
                self.run(name, code, prints)
            else:
                self.compile_and_run(name, code)


def self_test():
    page = ("```sh\nbash tools/setup.sh tests\nbuild/release/src/programs/p m \\\n  x\n```\n\n```text\nout\n```\n\nWords.\n\n"
            "```cpp\nint i;\n```\nMore.\n```text\nnot of it\n```\n")
    expected = [("sh", "bash tools/setup.sh tests\nbuild/release/src/programs/p m \\\n  x\n", "out\n"), ("cpp", "int i;\n", None)]
    failures = [name for name, holds in {
        "blocks": steps(page) == expected,
        "commands": commands(expected[0][1], "/bin") == "/bin/p m \\\n  x",
        "tools": commands("bash src/programs/get_model.sh m\ncmake --preset release\n", "/bin") == f"bash {ROOT}/src/programs/get_model.sh m",
    }.items() if not holds]
    for name in failures:
        print(f"FAILED self-test: {name}")
    print(f"{3 - len(failures)} passed, {len(failures)} failed")
    return len(failures)


def main():
    if sys.argv[1:] == ["--self-test"]:
        sys.exit(1 if self_test() else 0)
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    passed = failed = 0
    for page in PAGES:
        with tempfile.TemporaryDirectory() as folder:
            tutorial = Tutorial(pathlib.Path(folder), pathlib.Path(sys.argv[1]).resolve(), sys.argv[2], sys.argv[3:])
            try:
                tutorial.follow(page)
            except NotToBeHad as reason:
                print(f"left out: {reason}")
                sys.exit(SKIPPED)
            passed, failed = passed + tutorial.passed, failed + tutorial.failed
    print(f"{passed} passed, {failed} failed")
    sys.exit(1 if failed or not passed else 0)


if __name__ == "__main__":
    main()
