#!/usr/bin/env python3
"""Each exercise fails for the reason that it states, each solution passes, and the runner loses nothing that a learner wrote.

    python3 tests/exercises/check.py                       # with each promised compiler; the programs of one of them run, too
    python3 tests/exercises/check.py --compiler clang++-19
    python3 tests/exercises/check.py --rotate              # with that one, and with one of the others for each exercise
    python3 tests/exercises/check.py --times               # seconds of each try, of processor time
    python3 tests/exercises/check.py --update              # writes the reasons into the exercises
    python3 tests/exercises/check.py --answers             # no wrong answer passes (wrong_answers.txt)

An exercise says `// FAILS: ERROR_R7_mask_..., line 24`, or, where it compiles, `// FAILS: when it runs, line 30`, `when it runs, R9`
(what is thrown names rules) or `when it runs, an exception of config.json` (what is thrown begins with an operation or a file). The line is that of the error's sentence. The runner (examples/exercises/run.py) is tried in a folder
of its own. Standard library only.
"""

import argparse
import concurrent.futures
import difflib
import os
import pathlib
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import threading

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path[:0] = [str(ROOT / "examples/exercises"), str(ROOT / "tools")]

import compilers  # noqa: E402
import errors_program  # noqa: E402
import run  # noqa: E402

ANSWERS = pathlib.Path(__file__).resolve().parent / "wrong_answers.txt"
BUGS = 10  # so many at least come from the collection of bugs


def reason(how, text):
    """What a try gave, as an exercise states it."""
    if how == "passed":
        return "it passes"
    if how == "run":
        place = re.search(r"\.cpp:(\d+): not as expected", text)
        rules = re.search(r"an exception was thrown: .*\((R\d+)[^()]*\)$", text, flags=re.MULTILINE)
        thrower = re.search(r"\Aan exception was thrown: ([\w.]+): ", text)
        return (f"when it runs, line {place[1]}" if place else f"when it runs, {rules[1]}" if rules else
                f"when it runs, an exception of {thrower[1]}" if thrower else text)
    told = errors_program.translate(text)
    places = re.findall(r"\.cpp:(\d+):(?:\d+:)? error: ", told)
    names = re.findall(r"^  (ERROR_R\w+)$", told, flags=re.MULTILINE)
    if len(places) != 1 or len(names) != 1 or len(re.findall(r" error: ", told)) != 1:
        return f"{len(re.findall(r' error: ', told))} errors:\n{told}"
    return f"{names[0]}, line {places[0]}"


def code_of(path):
    """The lines behind the head."""
    return path.read_text(encoding="utf-8").split("\n#include", 1)[1].splitlines()


def check_exercises(found, workshop, update, runs, pool):
    """-> the number of exercises that fail otherwise, or whose solutions do not pass. Without `runs`, what fails only when it runs
    has to compile."""
    failed = 0
    tries = [(one, pool.submit(workshop.attempt, one.path, runs), pool.submit(workshop.attempt, one.solution, runs)) for one in found]
    for one, unsolved, solved in tries:
        problems = []
        got = reason(*unsolved.result())
        fails = one.fails if runs or not one.fails.startswith("when it runs") else "it passes"
        if update and "\n" not in got:
            text = one.path.read_text(encoding="utf-8")
            one.path.write_text(re.sub(r"// FAILS: .*", f"// FAILS: {got}", text), encoding="utf-8")
        elif got != fails:
            problems.append(f"it says that it fails with {one.fails!r}, and gives {got}")
        how, text = solved.result()
        if how != "passed" or text:
            problems.append(f"the solution does not pass: {how}\n{text}")
        if not one.lesson or not one.hint() or len(one.title) > 44:
            problems.append("it has no lesson, no hint, or too long a title")
        changed = [line for line in difflib.ndiff(code_of(one.path), code_of(one.solution)) if line[0] in "+-"]
        if not 0 < len(changed) <= 6:  # a mistake is one or two lines
            problems.append(f"the solution differs in {len(changed)} lines")
        if problems:
            failed += 1
            print(f"FAILED {one.stem}, {workshop.compiler.name}: " + "\n  ".join(problems))
    return failed


def check_answers(found, workshop, pool):
    """-> how many wrong answers pass or cannot be tried, and exercises without two of them"""
    failed, tries = 0, []
    numbers = {one.number: one for one in found}
    with tempfile.TemporaryDirectory() as folder:
        for line in ANSWERS.read_text(encoding="utf-8").splitlines():
            if line.startswith("#") or int(line[:2]) not in numbers:
                continue
            number, text, replacement = line.split(" | ", 2)
            one = numbers[int(number)]
            head, code = one.path.read_text(encoding="utf-8").split("\n#include", 1)
            if code.count(text) != 1:
                failed += 1
                print(f"FAILED {one.stem}: it has {text!r} {code.count(text)} times")
                continue
            path = pathlib.Path(folder) / f"{one.stem}.{len(tries)}.cpp"
            path.write_text(f"{head}\n#include{code.replace(text, replacement)}", encoding="utf-8")
            tries.append((one, line, pool.submit(workshop.attempt, path)))
        for one, line, answer in tries:
            if answer.result()[0] == "passed":
                failed += 1
                print(f"FAILED {one.stem}: a wrong answer passes: {line}")
    for one in found:
        if sum(one is other for other, _, _ in tries) < 2:
            failed += 1
            print(f"FAILED {one.stem}: it has fewer than two wrong answers")
    print(f"counted: {len(tries)} wrong answers to {len(found)} exercises, by {workshop.compiler.name}")
    print(f"{len(tries) - failed} passed, {failed} failed")
    return failed


def check_list(found):
    problems = []
    if [one.number for one in found] != list(range(1, len(found) + 1)):
        problems.append("the numbers have gaps")
    if sum(bool(one.bug) for one in found) < BUGS:
        problems.append(f"fewer than {BUGS} exercises come from the collection of bugs")
    if {path.name for path in (run.HERE / "solutions").iterdir()} != {one.path.name for one in found}:
        problems.append("exercises and solutions are not the same files")
    for problem in problems:
        print(f"FAILED the list: {problem}")
    return len(problems)


def check_reasons():
    """`reason` tells what is wrong from what is right."""
    failed = 0
    for how, text, expected in (
            ("passed", "", "it passes"), ("run", "x/a.cpp:30: not as expected: y\n", "when it runs, line 30"),
            ("run", "an exception was thrown: append: no (R9, R10)\n", "when it runs, R9"),
            ("run", "an exception was thrown: config.json: two\n  lines\n", "when it runs, an exception of config.json"),
            ("run", "an exception was thrown\n", "an exception was thrown\n"),
            ("compile", "a.cpp:3:1: error: 'x' was not declared\n", "1 errors:\na.cpp:3:1: error: 'x' was not declared\n"),
            ("compile", "a.cpp:3:1: error: type 'dimwise::ERROR_R1_a<int>'\n", "ERROR_R1_a, line 3")):
        if reason(how, text) != expected:
            failed += 1
            print(f"FAILED reason({how!r}, {text!r}) is {reason(how, text)!r}")
    return failed


def check_causes():
    """The runner shows each error once, and no error that follows from one of dimwise."""
    failed = 0
    cause, other = "a.cpp:3:1: error: `f` (R1)\n   3 | f\n  ERROR_R1_a", "a.cpp:9:1: error: no matching function\n   9 | g"
    for told, expected in ((f"{cause}\n{cause}\n{other}\n", cause), (f"{other}\n{other}\n", other), ("no place\n", "no place")):
        if run.only_causes(told) != expected:
            failed += 1
            print(f"FAILED only_causes({told!r}) is {run.only_causes(told)!r}")
    return failed


def check_runner(workshop, command):
    """A learner's way: look, edit, pass, reset, and come back."""
    problems = []
    with tempfile.TemporaryDirectory() as place:
        folder = pathlib.Path(place) / "course"

        def call(*words):
            done = subprocess.run([sys.executable, "-B", str(run.HERE / "run.py"), *words, "--folder", str(folder),
                                   *(["--compiler", command] if command else [])],
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env={**os.environ, "NO_COLOR": "1"})
            return done.returncode, done.stdout

        def expect(what, answer, code, *texts):
            if answer[0] != code or not all(text in answer[1] for text in texts):
                problems.append(f"{what}: ended with {answer[0]}, expected {code} and {texts}:\n{answer[1]}")

        found = run.exercises()
        first, second = found[0], found[1]
        mine = folder / first.path.name
        expect("at first", call(), 1, "0 of", first.title, "It does not compile", " error: ", "fix: ", first.fails.split(",")[0])
        expect("hint", call("hint"), 0, first.hint()[:40])
        expect("solution", call("solution", "1"), 0, first.solution.read_text(encoding="utf-8"))
        expect("no such exercise", call("hint", "99"), 1, "there is no exercise 99")
        edited = first.solution.read_text(encoding="utf-8") + "// my own words\n"
        mine.write_text(edited, encoding="utf-8")
        expect("the first is solved", call(), 1, "It passes.", f"1 of {len(found)}", second.title)
        expect("list", call("list"), 0, "passes", "next", f"1 of {len(found)}")
        expect("try", call("try", "1"), 0, "It passes.")
        for number in (1, 2):
            expect("reset", call("reset", "1"), 0, f"kept-{number}")
            if mine.read_bytes() != first.path.read_bytes() or (folder / f"{mine.name}.kept-{number}").read_text(encoding="utf-8") != edited:
                problems.append("reset lost what was written")
            mine.write_text(edited, encoding="utf-8")
        expect("reset without a number", call("reset"), 1)
        # The originals change: a copy that was edited stays, one that was not follows.
        changed = pathlib.Path(place) / "originals"
        (changed / "solutions").mkdir(parents=True)
        for one in (first, second):
            (changed / one.path.name).write_text(one.path.read_text(encoding="utf-8") + "// newer\n", encoding="utf-8")
        run.Course(folder, changed)
        if mine.read_text(encoding="utf-8") != edited or not (folder / second.path.name).read_text(encoding="utf-8").endswith("// newer\n"):
            problems.append("newer exercises wrote over what was edited, or did not arrive")
        # A mistake of another sort, and a program that does not end well.
        mine.write_text("int main() { return x; }\n", encoding="utf-8")
        expect("a mistake of C++", call("try", "1"), 1, "It does not compile", "error: ", "x")
        mine.write_text("int main() { return 3; }\n", encoding="utf-8")
        expect("another exit code", call("try", "1"), 1, "exits with code 3")
    for problem in problems:
        print(f"FAILED the runner: {problem}")
    return len(problems)


def short_course(place, found):
    """-> the runner in a copy of the project, whose course has these exercises alone"""
    project = pathlib.Path(place) / "project"
    course = project / run.HERE.relative_to(ROOT)
    (course / "solutions").mkdir(parents=True)
    for name in ("build", "include", "src", "tools", "examples/exercises/support"):
        (project / name).symlink_to(ROOT / name)
    shutil.copy(run.HERE / "run.py", course)
    for one in found:
        shutil.copy(one.path, course)
        shutil.copy(one.solution, course / "solutions")
    return course / "run.py"


def check_watch(workshop, command):
    """The way from the first exercise to the last of a short course: the runner watches, and goes on whenever a file is saved."""
    found = run.exercises()[:6]
    problems = []
    with tempfile.TemporaryDirectory() as place:
        folder = os.path.join(place, "course")
        watching = subprocess.Popen([sys.executable, "-B", str(short_course(place, found)), "watch", "--folder", folder,
                                     *(["--compiler", command] if command else [])], stdin=subprocess.DEVNULL,
                                    stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env={**os.environ, "NO_COLOR": "1"})
        killer = threading.Timer(600, watching.kill)
        killer.start()

        def until_it_waits():
            lines = []
            for line in watching.stdout:
                lines.append(line)
                if line.startswith("Waiting until you save"):
                    break
            return "".join(lines)

        def solve(exercises):
            for one in exercises:
                shutil.copyfile(one.solution, pathlib.Path(folder) / one.path.name)

        # Two by two files, then the others at once.
        for coming, saved in ((found[0], found[:1]), (found[1], found[1:2]), (found[2], found[2:])):
            said = until_it_waits()
            if f"{coming.number:02}  {coming.title}" not in said or coming.fails.split(",")[0] not in said:
                problems.append(f"exercise {coming.number} was not shown:\n{said}")
            solve(saved)
        said = until_it_waits()
        missing = [one.title for one in found[2:] if f"{one.number:02}  {one.title}" not in said]
        if watching.wait() != 0 or missing or f"All {len(found)} exercises pass" not in said or "It compiles, but" in said:
            problems.append(f"the way to the last exercise ended with {watching.returncode}, without {missing}:\n{said}")
        killer.cancel()
    for problem in problems:
        print(f"FAILED watch: {problem}")
    return len(problems)


def show_times(found, workshop):
    def spent():
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        return used.ru_utime + used.ru_stime

    for one in found:
        times = []
        for path in (one.path, one.solution):
            before = spent()
            workshop.attempt(path)
            times.append(spent() - before)
        print(f"{one.stem:40} unsolved {times[0]:5.2f} s   solved {times[1]:5.2f} s", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--compiler", default="", metavar="COMMAND")
    parser.add_argument("--filter", default="", metavar="REGEX")
    parser.add_argument("--times", action="store_true")
    parser.add_argument("--update", action="store_true")
    parser.add_argument("--answers", action="store_true")
    parser.add_argument("--rotate", action="store_true")
    arguments = parser.parse_args()
    workshop = run.Workshop(arguments.compiler)  # the one that learners get
    found = [one for one in run.exercises() if re.search(arguments.filter, one.stem)]
    if arguments.times:
        show_times(found, workshop)
        return 0
    if arguments.answers:
        with concurrent.futures.ThreadPoolExecutor(compilers.JOBS) as pool:
            return 1 if check_answers(found, workshop, pool) else 0
    others = [] if arguments.compiler or arguments.update else compilers.find_compilers()
    others = [run.Workshop(one.command) for one in others if one.version != workshop.compiler.version]
    step = len(others) if arguments.rotate else 1
    shares = [(workshop, found), *((one, found[number % step::step]) for number, one in enumerate(others))]
    failed = check_reasons() + check_causes()
    with concurrent.futures.ThreadPoolExecutor(compilers.JOBS) as pool:
        # The longest first: what a learner does takes one core.
        learners = [] if arguments.filter else [pool.submit(check, workshop, arguments.compiler) for check in (check_watch, check_runner)]
        failed += sum(check_exercises(share, one, arguments.update, one is workshop, pool) for one, share in shares)
        failed += sum(learner.result() for learner in learners)
    if not arguments.filter:
        failed += check_list(found)
    print(f"counted: {len(found)} exercises and their solutions, {sum(bool(one.bug) for one in found)} of them from the collection of bugs, "
          f"by {', '.join(f'{one.compiler.name} ({len(share)})' for one, share in shares)}")
    print(f"{2 * sum(len(share) for _, share in shares) + 4 - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
