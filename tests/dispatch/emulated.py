#!/usr/bin/env python3
"""Runs the checks of tests/dispatch on processors that this machine is not, under qemu-user.

    emulated.py x86 <processor> <program> <architecture>            # qemu-x86_64 -cpu <processor> <program> <architecture>
    emulated.py neon <folder to build in> <include folder> ...      # cross-compiled for aarch64, then qemu-aarch64

Ends with 77, and says why, where the emulator or the cross compiler is missing.
"""

import pathlib
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
SKIPPED = 77


def need(*programs):
    for program in programs:
        if not shutil.which(program):
            print(f"skipped: {program} is not installed (bash tools/setup.sh tests)")
            sys.exit(SKIPPED)


def run(*command):
    print("+", " ".join(map(str, command)), flush=True)
    code = subprocess.run(list(map(str, command))).returncode
    if code:
        sys.exit(f"{command[0]} ends with {code}" + (": an illegal instruction" if code in (-4, 132) else ""))


def x86(processor, program, architecture):
    need("qemu-x86_64")
    run("qemu-x86_64", "-cpu", processor, program, architecture)


def neon(place, *includes):
    need("aarch64-linux-gnu-g++", "qemu-aarch64")
    place = pathlib.Path(place)
    # Links to what is only headers: the rest of /usr/include belongs to this machine and not to the other one.
    links = place / "include"
    shutil.rmtree(links, ignore_errors=True)
    links.mkdir(parents=True)
    for package in ("boost", "xtensor", "xtl", "xsimd"):
        homes = [folder for folder in map(pathlib.Path, (*includes, "/usr/include")) if (folder / package).is_dir()]
        if not homes:
            sys.exit(f"no folder of headers holds {package}")
        (links / package).symlink_to(homes[0] / package)
    program = place / "dispatch_neon"
    library = [ROOT / "src" / name for name in ("library.cpp", "kernels.cpp", "kernels_native.cpp")]
    sources = [*library, ROOT / "tests/dispatch/main.cpp"]
    run("aarch64-linux-gnu-g++", "-std=c++20", "-O2", "-static", "-DDIMWISE_COMPILED_KERNELS", f"-I{ROOT / 'include'}", f"-isystem{links}",
        "-Wall", "-Wextra", "-Werror", *sources, "-o", program)
    run("qemu-aarch64", program, "arm64+neon")


def main():
    ways = {"x86": x86, "neon": neon}
    if len(sys.argv) < 3 or sys.argv[1] not in ways:
        sys.exit(__doc__)
    ways[sys.argv[1]](*sys.argv[2:])


if __name__ == "__main__":
    main()
