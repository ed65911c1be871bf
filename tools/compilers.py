"""What the scripts of this folder share: which compilers there are, how they are called, precompiled headers.

Why no kept tool: CMake precompiles for targets, and these scripts compile many small sources with several compilers. Standard library
only. Not a program.
"""

import contextlib
import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
# The compilers that this project promises, oldest first; those that are not installed are left out.
PROMISED = ("g++-12", "clang++-14", "clang++-19")
STANDARD = "-std=c++20"
# Compilers at once. CTest, which runs several tests at once, asks for one (tests/CMakeLists.txt).
JOBS = int(os.environ.get("DIMWISE_JOBS") or max(2, os.cpu_count() or 2))


@contextlib.contextmanager
def written(path):
    """A private path, renamed to `path` if the file is made: another run may be making the same."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=path.parent) as folder:
        private = pathlib.Path(folder) / path.name
        yield private
        if private.exists():
            os.replace(private, path)


class Compiler:
    def __init__(self, command):
        self.command = command
        version = subprocess.run([command, "--version"], capture_output=True, text=True, check=True).stdout
        self.version = version.splitlines()[0]
        self.is_clang = "clang" in version
        self.family = "clang" if self.is_clang else "gcc"
        self.no_limit = "-ferror-limit=0" if self.is_clang else "-fmax-errors=0"  # of errors
        number = re.search(r"(\d+)\.\d+", self.version.split("(")[-1] if not self.is_clang else self.version)
        self.name = f"{'clang' if self.is_clang else 'g++'}-{number.group(1) if number else '?'}"

    def run(self, arguments, cwd, timeout=300, source=None):
        """-> (exit code, everything that the compiler printed); C locale, no colours, no line wrapping. `source`: the text to compile, called <stdin>."""
        from_text = ["-x", "c++", "-"] if source is not None else []
        environment = {**os.environ, "LC_ALL": "C", "TERM": "dumb"}
        try:
            done = subprocess.run([self.command, *from_text, *arguments], cwd=cwd, env=environment, timeout=timeout,
                                  input=(source or "").encode(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        except subprocess.TimeoutExpired:
            return 124, f"no result within {timeout} seconds"
        return done.returncode, done.stdout.decode("utf-8", "replace")

    def precompile(self, header, flags, root, include_dirs):
        """Precompiles <header>; -> the arguments that use it, or [] (and a reason) if it does not compile."""
        key = hashlib.sha256(f"{self.version} {flags} {header}".encode())
        for folder in include_dirs:
            for path in sorted((root / folder).rglob("*.hpp")):
                key.update(path.relative_to(root).as_posix().encode() + b"\0" + path.read_bytes())
        store = root / "build/pch"
        place = store / f"{self.name}-{key.hexdigest()[:16]}"
        source = place / "pch.hpp"
        result = place / ("pch.pch" if self.is_clang else "pch.hpp.gch")
        use = ["-include-pch", str(result)] if self.is_clang else ["-include", str(source)]
        if result.exists():
            os.utime(place)
            return use, ""
        place.mkdir(parents=True, exist_ok=True)
        if not source.exists():
            source.write_text(f"#include <{header}>\n", encoding="utf-8")
        # Times of files are not part of a precompiled header's identity: the hash above is.
        # What the header itself instantiates is instantiated here, not by each program again.
        of_clang = ["-Xclang", "-fno-pch-timestamp", "-fpch-instantiate-templates"] if self.is_clang else []
        with written(result) as private:
            code, text = self.run([*flags, *of_clang, "-x", "c++-header", str(source), "-o", str(private)], root)
        if code != 0:
            return [], text
        for old in store.iterdir():
            if old.name.startswith(self.name) and old != place and time.time() - old.stat().st_mtime > 3600:
                shutil.rmtree(old, ignore_errors=True)
        return use, ""


def find_compilers(wanted=None):
    """The compilers of that list, or every promised one that is installed (g++ stands in for g++-12)."""
    if wanted:
        return [Compiler(command) for command in wanted]
    found = [Compiler(command) for command in PROMISED if shutil.which(command)]
    if not any(not compiler.is_clang for compiler in found) and shutil.which("g++"):
        found.insert(0, Compiler("g++"))
    return found
