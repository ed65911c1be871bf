#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""The course: small programs that do not compile, or give a wrong result, until you fix them.

    python3 examples/exercises/run.py              # your progress, the next exercise and its error
    python3 examples/exercises/run.py watch        # the same whenever you save a file; Ctrl-C quits
    python3 examples/exercises/run.py hint         # a hint for the next exercise; `hint 7` for another one
    python3 examples/exercises/run.py try 7        # tries one exercise
    python3 examples/exercises/run.py list         # all exercises, and which of them pass
    python3 examples/exercises/run.py verify       # tries all of them; the exit code is 0 if all pass
    python3 examples/exercises/run.py solution 7   # shows a solution
    python3 examples/exercises/run.py reset 7      # restores the original; your version is renamed

Edit the copies in the folder `course` (--folder names another one). Only `reset` overwrites your edits. The first try compiles a
precompiled header, which takes as long as about twenty tries; it is compiled again when the library changes. --compiler selects a
compiler, as the environment variable CXX does. Needs g++ 12 or clang 14 and the headers of Boost, xtensor and xsimd
(bash tools/setup.sh notebook). Standard library only.
"""

import argparse
import hashlib
import json
import os
import pathlib
import re
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import textwrap
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(ROOT / "tools"))
sys.dont_write_bytecode = True

import compilers  # noqa: E402
import errors_program  # noqa: E402

SUPPORT = "examples/exercises/support"
HEADER = "exercise.hpp"
# The scalar path only: no kernels to compile or link.
FLAGS = [compilers.STANDARD, "-DDIMWISE_PLAIN_ONLY", "-Iinclude", f"-I{SUPPORT}"]
RUN_SECONDS = 20


class Exercise:
    """An exercise, described by the first lines of its file."""

    def __init__(self, path):
        self.path, self.stem = path, path.stem
        self.number = int(self.stem[:2])
        text = path.read_text(encoding="utf-8")
        head = [line[2:].strip() for line in text.split("\n#include", 1)[0].splitlines()]
        self.title = re.sub(r"^\d+\s+", "", head[0])
        self.lesson = " ".join(line for line in head[1:] if not re.match(r"(FAILS|FROM):", line)).strip()
        self.fails = next((line[len("FAILS: "):] for line in head if line.startswith("FAILS: ")), "")
        self.bug = next((line[len("FROM: "):] for line in head if line.startswith("FROM: ")), "")
        self.solution = path.parent / "solutions" / path.name

    def hint(self):
        head = self.solution.read_text(encoding="utf-8").split("\n#include", 1)[0]
        return re.sub(r"\s*\n//\s*", " ", head.split("HINT: ", 1)[1]).strip()


def exercises(folder=HERE):
    return [Exercise(path) for path in sorted(folder.glob("[0-9][0-9]_*.cpp"))]


class Workshop:
    """Compiles and runs single files, with a precompiled header."""

    def __init__(self, command=""):
        wanted = command or os.environ.get("CXX", "")
        if wanted and not shutil.which(wanted):
            sys.exit(f"there is no compiler {wanted}")
        found = compilers.find_compilers([wanted] if wanted else None)
        if not found:
            sys.exit("no compiler found: install g++ 12 or clang 14, or name one with --compiler")
        self.compiler = found[-1]  # clang if installed: it compiles these programs in half the time of g++
        slow = threading.Timer(1, print, ["compiling the precompiled header, once; a try takes less time"], {"flush": True})
        slow.daemon = True
        slow.start()
        self.use, reason = self.compiler.precompile(HEADER, FLAGS, ROOT, ["include", SUPPORT])
        slow.cancel()
        if reason:
            sys.exit(f"{self.compiler.name} cannot compile the library; bash tools/setup.sh notebook installs what it needs:\n{reason}")
        # A new precompiled header invalidates earlier results.
        self.key = pathlib.Path(self.use[1]).parent.name

    def attempt(self, path, runs=True):
        """-> (the stage: compile, run or passed; the output, with the compiler's own errors). Without `runs`, a program that
        compiles has passed."""
        with tempfile.TemporaryDirectory() as folder:
            program = pathlib.Path(folder) / "exercise"
            shown = os.path.relpath(path, ROOT)
            wanted = ["-o", str(program)] if runs else ["-fsyntax-only"]
            code, text = self.compiler.run([*self.use, *FLAGS, shown, *wanted], ROOT)
            if code != 0:
                return "compile", text
            if not runs:
                return "passed", text
            try:
                done = subprocess.run([str(program)], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                      timeout=RUN_SECONDS)
            except subprocess.TimeoutExpired:
                return "run", f"{shown}: does not end within {RUN_SECONDS} seconds\n"
            text = done.stdout.decode("utf-8", "replace")
            if done.returncode == 0:
                return "passed", text
            return "run", text or f"{shown}: it exits with code {done.returncode}\n"


class Course:
    """The learner's folder: copies of the exercises, and which of them pass in their current version."""

    def __init__(self, folder, originals=HERE):
        self.folder, self.originals = pathlib.Path(folder), originals
        self.notes = self.folder / ".progress.json"
        self.all = exercises(originals)
        self.folder.mkdir(parents=True, exist_ok=True)
        try:
            self.state = json.loads(self.notes.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            self.state = {}
        given = self.state.setdefault("given", {})
        self.state.setdefault("passed", {})
        for one in self.all:
            mine, original = self.mine(one), digest(one.path)
            # A newer original replaces only unedited copies.
            if not mine.exists() or (given.get(one.stem) == digest(mine) != original):
                shutil.copyfile(one.path, mine)
            if digest(mine) == original:
                given[one.stem] = original
        self.save()

    def save(self):
        private = self.notes.with_suffix(".new")
        private.write_text(json.dumps(self.state, indent=1) + "\n", encoding="utf-8")
        os.replace(private, self.notes)

    def mine(self, one):
        return self.folder / one.path.name

    def touched(self, one):
        return digest(self.mine(one)) != digest(one.path)

    def passed(self, one, key):
        return self.state["passed"].get(one.stem) == f"{key} {digest(self.mine(one))}"

    def attempt(self, one, workshop):
        before = digest(self.mine(one))
        how, text = workshop.attempt(self.mine(one))
        if how == "passed":
            self.state["passed"][one.stem] = f"{workshop.key} {before}"
        else:
            self.state["passed"].pop(one.stem, None)
        self.save()
        return how, text

    def next(self, key):
        return next((one for one in self.all if not self.passed(one, key)), None)

    def reset(self, one):
        """-> the path of the learner's version, or None if it was not edited"""
        mine, kept = self.mine(one), None
        if self.touched(one):
            number = 1
            while (kept := mine.with_name(f"{mine.name}.kept-{number}")).exists():
                number += 1
            os.rename(mine, kept)
        shutil.copyfile(one.path, mine)
        self.state["passed"].pop(one.stem, None)
        self.save()
        return kept


def digest(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


# --- output -----------------------------------------------------------------------------------------------------------

class Screen:
    def __init__(self, colour):
        self.colour = colour

    def paint(self, code, text):
        return f"\033[{code}m{text}\033[0m" if self.colour else text

    def bold(self, text):
        return self.paint("1", text)

    def error(self, text):
        """The errors as dimwise-errors prints them, each once; at most 24 lines."""
        told = only_causes(errors_program.translate(text, self.colour)).splitlines()
        told = [line for line in told if not re.fullmatch(r"\d+ errors? generated\.", line)]
        more = len(told) - 24
        return "\n".join(told[:24] + ([f"... {more} more lines"] if more > 0 else []))


def only_causes(told):
    """The errors without repetitions: a template that is instantiated twice gives each error twice, and an error of dimwise in it
    makes the compiler report that no function matches."""
    blocks = re.split(r"^(?=\S+:\d+:(?:\d+:)?\S* \S*error:)", told, flags=re.MULTILINE)
    blocks = list(dict.fromkeys(block.rstrip("\n") for block in blocks if block.strip()))
    causes = [block for block in blocks if re.search(r"\bERROR_R\d", block)]
    return "\n".join(causes or blocks)


def bar(done, count, width=35):
    full = done * width // count
    return f"[{'#' * full}{'-' * (width - full)}] {done} of {count}"


def show_progress(course, workshop, screen):
    done = sum(course.passed(one, workshop.key) for one in course.all)
    print(f"{bar(done, len(course.all))}")


def show_attempt(course, one, workshop, screen):
    """Tries an exercise and prints the result. -> whether it passed"""
    mine = os.path.relpath(course.mine(one))
    print(f"\n{screen.bold(f'{one.number:02}  {one.title}')}   {mine}\n")
    print(textwrap.fill(one.lesson, min(110, shutil.get_terminal_size().columns), break_on_hyphens=False) + "\n")
    began = time.monotonic()
    how, text = course.attempt(one, workshop)
    if how == "passed":
        print(f"{screen.paint('32', 'It passes.')} ({time.monotonic() - began:.1f} s)")
        return True
    thrown = how == "run" and text.startswith("an exception was thrown")
    print(("It does not compile:" if how == "compile" else
           "It compiles, but throws an exception when it runs:" if thrown else "It compiles, but its result is wrong:") + "\n")
    print(screen.error(text))
    print(f"\nEdit {mine}. `run.py hint` prints a hint.")
    return False


def show_list(course, workshop, screen):
    coming = course.next(workshop.key)
    for one in course.all:
        state = "passes" if course.passed(one, workshop.key) else "next" if one is coming else "edited" if course.touched(one) else ""
        line = f"{one.number:02}  {one.title:44} {state}"
        print((screen.bold(line) if one is coming else line).rstrip())
    show_progress(course, workshop, screen)


def finished(course, screen):
    print(f"\nAll {len(course.all)} exercises pass. Continue with `docs/tutorial/train_a_gpt.md`.")


def step(course, workshop, screen):
    """Tries exercises until one fails. -> whether all pass"""
    while (one := course.next(workshop.key)) is not None:
        show_progress(course, workshop, screen)
        if not show_attempt(course, one, workshop, screen):
            return False
        print()
    show_progress(course, workshop, screen)
    finished(course, screen)
    return True


def watch(course, workshop, screen):
    """Tries again whenever a file of the folder changes."""
    def saved():
        times = {}
        for one in course.all:
            try:
                times[one.stem] = course.mine(one).stat().st_mtime_ns
            except OSError:  # some editors write a new file, then rename it
                pass
        return times

    while True:
        seen = saved()
        if step(course, workshop, screen):
            return
        print("Waiting until you save. Enter `hint`, `list` or `quit`.", flush=True)
        while saved() == seen:
            if not sys.stdin.isatty():
                time.sleep(0.2)
                continue
            if not select.select([sys.stdin], [], [], 0.2)[0]:
                continue
            word = sys.stdin.readline()
            if word.strip() in ("q", "quit") or not word:
                return
            if word.strip() in ("h", "hint"):
                print(textwrap.fill(course.next(workshop.key).hint(), 110))
            if word.strip() in ("l", "list"):
                show_list(course, workshop, screen)
        time.sleep(0.1)  # until the file is completely written
        print("\n" * 2)


def chosen(course, number, workshop=None):
    if number is None:
        one = course.next(workshop.key)
        if one is None:
            sys.exit("all exercises pass; give the number of one")
        return one
    found = [one for one in course.all if one.number == number]
    if not found:
        sys.exit(f"there is no exercise {number}; there are 1 to {len(course.all)}")
    return found[0]


def main():
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", nargs="?", default="next",
                        choices=("next", "watch", "hint", "try", "list", "verify", "solution", "reset"))
    parser.add_argument("number", nargs="?", type=int, help="an exercise; default: the next one")
    parser.add_argument("--folder", default=str(ROOT / "course"))
    parser.add_argument("--compiler", default="", metavar="COMMAND")
    arguments = parser.parse_args()
    if arguments.command == "reset" and arguments.number is None:
        sys.exit("reset needs the number of an exercise")
    screen = Screen(sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb")
    course = Course(arguments.folder)
    if arguments.command == "reset":
        one = chosen(course, arguments.number)
        kept = course.reset(one)
        print(f"{os.path.relpath(course.mine(one))} is restored" +
              (f"; your version is {os.path.relpath(kept)}" if kept else ""))
        return 0
    workshop = Workshop(arguments.compiler)
    if arguments.command == "next":
        return 0 if step(course, workshop, screen) else 1
    if arguments.command == "watch":
        try:
            watch(course, workshop, screen)
        except KeyboardInterrupt:
            print()
        return 0
    if arguments.command == "list":
        show_list(course, workshop, screen)
        return 0
    if arguments.command == "verify":
        failed = [one for one in course.all if course.attempt(one, workshop)[0] != "passed"]
        for one in failed:
            print(f"{one.number:02}  {one.title:44} does not pass")
        show_progress(course, workshop, screen)
        return 1 if failed else 0
    one = chosen(course, arguments.number, workshop)
    if arguments.command == "hint":
        print(f"{one.number:02}  {one.title}\n\n{textwrap.fill(one.hint(), 110)}")
    elif arguments.command == "solution":
        print(one.solution.read_text(encoding="utf-8"), end="")
    elif arguments.command == "try":
        return 0 if show_attempt(course, one, workshop, screen) else 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
