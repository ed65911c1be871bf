#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""The course: small programs that do not compile, or compute something wrong, until you mend them.

    python3 examples/exercises/run.py              # where you are, the next exercise, and what is wrong with it
    python3 examples/exercises/run.py watch        # the same again whenever you save a file; Ctrl-C ends it
    python3 examples/exercises/run.py hint         # of the next exercise; `hint 7` of another one
    python3 examples/exercises/run.py try 7        # one exercise
    python3 examples/exercises/run.py list         # all exercises, and which of them pass
    python3 examples/exercises/run.py verify       # tries all of them again; ends with 0 where all pass
    python3 examples/exercises/run.py solution 7   # shows how it can be done
    python3 examples/exercises/run.py reset 7      # begins again; what you wrote is kept beside it

The exercises are copied to the folder `course` (--folder names another one); you edit the copies there, and nothing but `reset`
writes over what you edited. The first try makes a precompiled header, which takes as long as some twenty tries; it is made
again when the library changes. --compiler chooses a compiler, as the environment variable CXX does. Needs g++ 12 or clang 14
and the headers of Boost, xtensor and xsimd (bash tools/setup.sh notebook). Standard library only.
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
# The plain evaluator alone: no kernels to compile or to link.
FLAGS = [compilers.STANDARD, "-DDIMWISE_PLAIN_ONLY", "-Iinclude", f"-I{SUPPORT}"]
RUN_SECONDS = 20


class Exercise:
    """What a file says about itself in its first lines."""

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
        self.compiler = found[-1]  # clang, where it is: it takes half the time of g++ for a program that computes
        slow = threading.Timer(1, print, ["making the precompiled header, once: this takes longer than a try"], {"flush": True})
        slow.daemon = True
        slow.start()
        self.use, reason = self.compiler.precompile(HEADER, FLAGS, ROOT, ["include", SUPPORT])
        slow.cancel()
        if reason:
            sys.exit(f"{self.compiler.name} cannot compile the library; bash tools/setup.sh notebook installs what it needs:\n{reason}")
        # Whatever changes the precompiled header changes what was tried with it.
        self.key = pathlib.Path(self.use[1]).parent.name

    def attempt(self, path, runs=True):
        """-> (how far it came: compile, run or passed; what was printed, errors as the compiler says them). Without `runs`, what
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
                return "run", f"{shown}: no end within {RUN_SECONDS} seconds\n"
            text = done.stdout.decode("utf-8", "replace")
            if done.returncode == 0:
                return "passed", text
            return "run", text or f"{shown}: it ended with code {done.returncode}\n"


class Course:
    """The learner's folder: copies of the exercises, and which of them passed as they are now."""

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
            # A newer original replaces a copy that nobody has touched, and no other.
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
        """-> where the learner's version was kept, or None where there was nothing to keep"""
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


# --- what is shown ----------------------------------------------------------------------------------------------------

class Screen:
    def __init__(self, colour):
        self.colour = colour

    def paint(self, code, text):
        return f"\033[{code}m{text}\033[0m" if self.colour else text

    def bold(self, text):
        return self.paint("1", text)

    def error(self, text):
        """An error of dimwise in words; others as they are, the first lines."""
        told = errors_program.translate(text, self.colour).splitlines()
        told = [line for line in told if not re.fullmatch(r"\d+ errors? generated\.", line)]
        more = len(told) - 24
        return "\n".join(told[:24] + ([f"... {more} more lines"] if more > 0 else []))


def bar(done, count, width=35):
    full = done * width // count
    return f"[{'#' * full}{'-' * (width - full)}] {done} of {count}"


def show_progress(course, workshop, screen):
    done = sum(course.passed(one, workshop.key) for one in course.all)
    print(f"{bar(done, len(course.all))}")


def show_attempt(course, one, workshop, screen):
    """Tries it and shows what came out. -> whether it passed"""
    mine = os.path.relpath(course.mine(one))
    print(f"\n{screen.bold(f'{one.number:02}  {one.title}')}   {mine}\n")
    print(textwrap.fill(one.lesson, min(110, shutil.get_terminal_size().columns), break_on_hyphens=False) + "\n")
    began = time.monotonic()
    how, text = course.attempt(one, workshop)
    if how == "passed":
        print(f"{screen.paint('32', 'It passes.')} ({time.monotonic() - began:.1f} s)")
        return True
    print({"compile": "It does not compile:", "run": "It compiles, and does not do what it should:"}[how] + "\n")
    print(screen.error(text))
    print(f"\nEdit {mine}. `run.py hint` says more.")
    return False


def show_list(course, workshop, screen):
    coming = course.next(workshop.key)
    for one in course.all:
        state = "passes" if course.passed(one, workshop.key) else "next" if one is coming else "edited" if course.touched(one) else ""
        line = f"{one.number:02}  {one.title:44} {state}"
        print((screen.bold(line) if one is coming else line).rstrip())
    show_progress(course, workshop, screen)


def finished(course, screen):
    print(f"\nAll {len(course.all)} exercises pass. `docs/tutorial/train_a_gpt.md` goes on from here.")


def step(course, workshop, screen):
    """The next exercise, and those behind it that pass already. -> whether all pass"""
    while (one := course.next(workshop.key)) is not None:
        show_progress(course, workshop, screen)
        if not show_attempt(course, one, workshop, screen):
            return False
        print()
    show_progress(course, workshop, screen)
    finished(course, screen)
    return True


def watch(course, workshop, screen):
    """Tries again whenever a file of the folder is saved."""
    def saved():
        times = {}
        for one in course.all:
            try:
                times[one.stem] = course.mine(one).stat().st_mtime_ns
            except OSError:  # some editors write a new file and rename it
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
        time.sleep(0.1)  # until the file is whole
        print("\n" * 2)


def chosen(course, number, workshop=None):
    if number is None:
        one = course.next(workshop.key)
        if one is None:
            sys.exit("all exercises pass; say which one, by its number")
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
        sys.exit("reset takes the number of an exercise")
    screen = Screen(sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb")
    course = Course(arguments.folder)
    if arguments.command == "reset":
        one = chosen(course, arguments.number)
        kept = course.reset(one)
        print(f"{os.path.relpath(course.mine(one))} is as it was at first" +
              (f"; what you wrote is kept as {os.path.relpath(kept)}" if kept else ""))
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
