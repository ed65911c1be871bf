#!/usr/bin/env python3
"""What the example 23_train_gpt promises beside its text: one line for each mistake, and a resumed training that is the
same to the bit as an uninterrupted one, also after Ctrl-C.

    python3 tests/examples/train_gpt.py build/dev/examples/23_train_gpt

The last line is "N passed, M failed". Standard library only.
"""

import pathlib
import signal
import subprocess
import sys
import tempfile

SMALL = ["--batch", "2", "--layers", "1", "--letters", "5"]
SHORT = ["--length", "16"]


class Example:
    def __init__(self, program, folder):
        self.program = program
        self.folder = pathlib.Path(folder)
        self.text = self.folder / "text.txt"
        self.text.write_text("In the beginning was the word. " * 20, encoding="ascii")
        self.passed = 0
        self.failed = 0

    def run(self, *arguments, text=None):
        length = [] if "--length" in arguments else SHORT
        return subprocess.run([self.program, str(text or self.text), *SMALL, *length, *arguments], cwd=self.folder,
                              capture_output=True, text=True, errors="replace", timeout=600, check=False)

    def check(self, name, holds, shown=""):
        self.passed += bool(holds)
        self.failed += not holds
        if not holds:
            print(f"FAILED {name}: {shown}")

    def refused(self, name, expected, *arguments, text=None):
        result = self.run(*arguments, text=text)
        lines = result.stderr.strip().splitlines()
        self.check(name, result.returncode == 1 and len(lines) == 1 and expected in lines[0],
                   f"exit code {result.returncode}: {result.stderr!r}")


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    with tempfile.TemporaryDirectory() as folder:
        example = Example(pathlib.Path(sys.argv[1]).resolve(), folder)
        empty = example.folder / "empty.txt"
        empty.write_bytes(b"")
        example.refused("no file", "cannot be read", "--steps", "1", text=example.folder / "none.txt")
        example.refused("an empty text", "is empty", "--steps", "1", text=empty)
        example.refused("a short text", "has 620 bytes, and a batch takes 1000", "--steps", "1", "--length", "1000")
        example.refused("no state", "none.safetensors", "--steps", "1", "--resume", "--state", "none.safetensors")
        usage = example.run("--stepz", "1")
        example.check("a wrong option", usage.returncode > 1 and "--stepz" in usage.stderr, usage.stderr)

        whole = example.run("--steps", "6", "--state", "whole.safetensors", "--report", "training.html", "--sample-every", "3",
                            "--attention", "weights.svg")
        example.check("a training", whole.returncode == 0 and "step 6 of 6: loss" in whole.stdout, whole.stdout)
        example.check("a curve", (example.folder / "loss.svg").read_text(encoding="utf-8").startswith("<svg"))
        weights = (example.folder / "weights.svg").read_text(encoding="utf-8")
        example.check("a picture of the attention", weights.startswith("<svg") and ">heads 5<" in weights, weights[:200])
        page = (example.folder / "training.html").read_text(encoding="utf-8")
        example.check("a page of the training",
                      "The training has ended: all steps are done. Step 6 of 6: loss " in page and page.count("<svg") == 4 and
                      "after step 3" in page and "after step 6" in page, page[:2000])
        example.refused("no folder for the page", "training_report: none/x.html", "--steps", "1", "--report", "none/x.html")

        # Ctrl-C in the midst of a long training; the rest of its steps, and the same steps without a stop.
        command = [example.program, str(example.text), *SMALL, *SHORT, "--steps", "100000", "--state", "stopped.safetensors"]
        with subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, text=True) as stopped:
            for line in stopped.stdout:
                if line.startswith("step 20 "):
                    break
            stopped.send_signal(signal.SIGINT)
            rest = stopped.stdout.read()
        last = [line for line in rest.splitlines() if line.startswith("stopped after step ")]
        example.check("Ctrl-C", stopped.returncode == 130 and len(last) == 1, rest)
        steps = int(last[0].split()[3].rstrip(";")) if last else 0
        # The schedule depends on the number of steps: both trainings have the same.
        saved = (example.folder / "stopped.safetensors").read_bytes()
        again = example.run("--steps", "100000", "--state", "again.safetensors", "--stop-after", str(steps))
        example.check("the same steps without a stop", (example.folder / "again.safetensors").read_bytes() == saved,
                      again.stdout)
        example.run("--steps", "100000", "--state", "stopped.safetensors", "--resume", "--stop-after", str(steps + 3))
        example.run("--steps", "100000", "--state", "again.safetensors", "--stop-after", str(steps + 3))
        example.check("resumed and uninterrupted trainings",
                      (example.folder / "stopped.safetensors").read_bytes() ==
                      (example.folder / "again.safetensors").read_bytes())
    print(f"{example.passed} passed, {example.failed} failed")
    sys.exit(example.failed > 0)


if __name__ == "__main__":
    main()
