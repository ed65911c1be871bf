#!/usr/bin/env python3
"""An inline function compiled for a newer machine must not be shared with files for an older one.

    python3 tools/check_symbols.py build/dev/src/CMakeFiles/dimwise_kernels_*.dir/*.o
    python3 tools/check_symbols.py --self-test

The linker keeps one copy of each weak symbol, from whichever file comes first. So every weak symbol that an object file
kernels_<architecture>.cpp.o defines must carry that file's architecture in its name; those that do not are listed.
Needs nm. Standard library only.
"""

import pathlib
import re
import subprocess
import sys

# file -> how the architecture that it is compiled for looks in a name: demangled, or as the compiler wrote it, because nm
# does not know the names that clang gives to constrained templates
OWN = {
    "sse2": r"\bxsimd::sse2\b|^_Z.*4sse2E",
    "sse4": r"\bxsimd::sse4_2\b|^_Z.*6sse4_2E",
    "avx2": r"\bxsimd::fma3<xsimd::avx2>|^_Z.*4fma3I\w*4avx2E",
    "avx512": r"\bxsimd::avx512bw\b|^_Z.*8avx512bwE",
}
# avx512vnni and avx512bf16 have the registers of avx512 and more instructions: the library's own namespace, which has the
# file's architecture, tells them apart.
OWN = {name: OWN.get(name, r"(?!)") + rf"|library_{name}(?![a-z])" for name in [*OWN, "avx512vnni", "avx512bf16"]}
FILE = re.compile(r"^kernels_(\w+)\.cpp\.o(bj)?$")
# Pointers to the runtime's own functions, the same in every file.
HARMLESS = re.compile(r"^DW\.ref\.__\w+_personality_v0$")
WEAK = "WVu"


def leaks(architecture, symbols):
    """-> the names of those weak symbols that other files could pick up; `symbols` is what `nm -C` prints"""
    found = []
    for line in symbols.splitlines():
        match = re.match(r"^[0-9a-fA-F]*\s+(\w) (.*)$", line)
        if match and match.group(1) in WEAK and not HARMLESS.match(match.group(2)) and not re.search(OWN[architecture], match.group(2)):
            found.append(match.group(2))
    return found


def self_test():
    own = "0000000000000000 W void dimwise::kernels::tile<xsimd::avx512bw>(float*)"
    cases = {  # what nm prints: whether it is a leak in kernels_avx512.cpp.o
        own: False,
        "0000000000000000 W float std::max<float>(float const&, float const&)": True,
        "0000000000000000 W xsimd::kernel::f<xsimd::sse2>(xsimd::batch<float, xsimd::sse2>)": True,
        "0000000000000000 W dimwise::kernels::larger(unsigned long, unsigned long)": True,
        "0000000000000000 V dimwise::kernels::detail::lane_index": True,
        "0000000000000000 u dimwise::kernels::counter": True,
        "0000000000000000 W _ZN7dimwise7kernels6decodeIN5xsimd8avx512bwETkNS0_8ExecutorEvv": False,
        "0000000000000000 W _ZN7dimwise7kernels6decodeIN5xsimd4sse2ETkNS0_8ExecutorEvv": True,
        "0000000000000000 T dimwise::kernels::table_avx512": False,
        "0000000000000000 t dimwise::kernels::local_thing()": False,
        "                 U memcpy": False,
        "0000000000000000 V DW.ref.__gxx_personality_v0": False,
    }
    failed = 0
    for text, wanted in cases.items():
        if bool(leaks("avx512", text)) != wanted:
            failed += 1
            print(f"FAILED self-test: {text} is {'not found' if wanted else 'called a leak'}")
    if not leaks("avx2", own):
        failed += 1
        print("FAILED self-test: another architecture's function is no leak")
    print(f"{len(cases) + 1 - failed} passed, {failed} failed")
    return failed


def main():
    if sys.argv[1:] == ["--self-test"]:
        sys.exit(1 if self_test() else 0)
    if not sys.argv[1:]:
        sys.exit(__doc__)
    problems = []
    for argument in sys.argv[1:]:
        path = pathlib.Path(argument)
        match = FILE.match(path.name)
        if not match or match.group(1) not in OWN:
            sys.exit(f"{path}: expected kernels_<architecture>.cpp.o with one of {', '.join(OWN)}")
        listed = subprocess.run(["nm", "--demangle", "--defined-only", str(path)], capture_output=True, text=True, check=True).stdout
        if not listed.strip():
            problems.append(f"{path}: nm finds no symbols")
        problems += [f"{path.name}: {name}" for name in leaks(match.group(1), listed)]
    if problems:
        sys.exit("\n".join(problems) + "\nWeak symbols without their file's architecture: make it a template parameter, or inline it always")
    print(f"{len(sys.argv) - 1} files: every weak symbol carries its architecture")


if __name__ == "__main__":
    main()
