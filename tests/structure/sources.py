#!/usr/bin/env python3
"""Rules of this project about its own text that no packaged tool knows.

    python3 tests/structure/sources.py

 * An include points down the table of layers, which ARCHITECTURE.md has as well; a third party is included by its own headers alone.
 * A header that uses DIMWISE_CONFIGURATION includes its definition; X_definitions.hpp is included by X.hpp and by implementation.hpp, or by
   another definitions header.
 * At most 14 headers stand in a folder of include/dimwise, and 14 sources in one of src and tests; tests/compile_fail has a file for each mistake.
 * A header of a family of architectures has at most 120 lines: what families share is in models/common, decoder, encoder, encoder_decoder.
 * A test case that starts threads is in the suite `threads` (tests/support/threads.hpp).
 * The head of a program or module in tools says why no packaged tool serves; the modules of the playground's page are one program. Without the
   playground, a page of its own, tools has at most 2000 lines of Python and shell that are not empty.
 * A file that a header, CONTRIBUTING.md, README.md or ARCHITECTURE.md names exists; so does a header that a comment of a header names,
   and a path to one in CONTRIBUTING.md and ARCHITECTURE.md.
 * The reference pages name every public function and module, no other, and only rules that exist; docs/reference/training.md has a row
   for each operation, and the test file of the row names it.

Why no kept tool: include-what-you-use and Doxygen know neither layers nor pages. Standard library only.
"""

import collections
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools"))

import compilers  # noqa: E402

# layer -> the layers that it may include besides itself
BELOW = {"support": set(), "dim": {"support"}, "shape": {"support", "dim"}, "tensor": {"support", "dim", "shape"}, "kernels": {"support"}}
BELOW["expr"] = {*BELOW["tensor"], "tensor"}
BELOW["eval"] = {*BELOW["expr"], "expr", "kernels"}
BELOW["viz"] = BELOW["nn"] = {*BELOW["eval"], "eval"}
BELOW["grad"] = BELOW["io"] = {*BELOW["nn"], "nn"}
BELOW["models"] = BELOW["text"] = {*BELOW["io"], "io"}
BELOW["ranks"] = {*BELOW["grad"], "grad", "io"}
UMBRELLA, VERSION, IMPLEMENTATION = "dimwise.hpp", "version.hpp", "implementation.hpp"
# third party -> the headers that may include it
THIRD_PARTIES = {
    "boost/hana": ("shape/hana.hpp", "nn/hana.hpp"), "xtensor/": ("tensor/xtensor.hpp",), "xtl/": ("tensor/xtensor.hpp",),
    "xsimd/": ("kernels/simd/architecture.hpp",), "immintrin.h": ("kernels/",), "arm_neon.h": ("kernels/",), "oneapi/tbb/": ("eval/tbb.hpp",),
    "nlohmann/": ("io/", "text/"), "utf8proc.h": ("text/unicode.hpp",), "pcre2.h": ("text/components/regex.hpp", "text/components/regex_syntax.hpp"), "zip.h": ("io/npz.hpp",), "mpi.h": ("ranks/mpi.hpp",),
    "fcntl.h": ("io/files/bytes", "support/files/file_draft"), "dirent.h": ("support/files/file_draft",), "sys/file.h": ("support/files/file_draft",),
    "sys/mman.h": ("io/files/bytes", "tensor/memory/large_pages.hpp"), "sys/stat.h": ("io/files/bytes", "support/files/file_draft"),
    "unistd.h": ("io/files/bytes", "support/files/file_draft", "viz/colours_definitions.hpp"), "sys/single_threaded.h": ("tensor/memory/counted.hpp",),
    # Files compiled for one architecture take C's functions: std's inline ones would leak from them as weak symbols.
    "math.h": ("",)}
# Headers that dimwise.hpp and grad.hpp do not include where the library is compiled once: each costs every file of a user 3 to 15 % of the
# include. What needs them is in X_definitions.hpp.
HEAVY = {"algorithm", "any", "atomic", "chrono", "cmath", "complex", "condition_variable", "filesystem", "format", "fstream",
         "functional", "future", "iomanip", "iostream", "iterator", "locale", "map", "memory", "memory_resource", "mutex", "numeric",
         "ostream", "random", "ranges", "regex", "set", "sstream", "thread", "unordered_map", "unordered_set"}
# The pages that may explain the names of a namespace; names that users do not write.
PAGES = {"no_adl": ("operations", "tensors", "caches", "modules", "dimensions"), "nn": ("modules", "caches")}
INTERNAL = {"detail", "a_stack_is_made_by_of_and_then_initialised"}
# What starts threads in a test; a program that replaces `operator new` has no suite of the preset `threads`.
STARTS_THREADS = ("std::thread", "racing_executor", "run_threads", "ranks::run")
MOST_SOURCES = 14  # in a folder
MOST_TOOLS = 2000  # lines of tools, without empty ones
MOST_LINES, FAMILIES = 120, ("models/decoders/", "models/encoders/", "models/encoder_decoders/")
HEADER = re.compile(r"(?<![\w./<-])[a-z][\w/]*\.hpp\b")  # in a comment, from any folder on
FILE = re.compile(r"\b(?:tools|docs|benchmarks|include|tests|cmake)/[\w/.-]+\.(?:py|sh|md|hpp|cpp|cmake)\b")


def layer_of(file):
    first = file.split("/")[0].removesuffix(".hpp")
    return first if first in BELOW else None


def wrong_include(file, opening, target):
    """-> what is wrong with an include of a header, a path below include/dimwise; "" if nothing"""
    if opening == '"':
        return "own headers are written <dimwise/…>"
    other = target.removeprefix("dimwise/")
    if other == target:
        party = next((name for name in THIRD_PARTIES if target.startswith(name)), None)
        if party:
            return "" if file.startswith(THIRD_PARTIES[party]) else f"only {', '.join(THIRD_PARTIES[party])} may include {party}"
        return "neither the standard library nor a known third party" if "/" in target or "." in target else ""
    if file == VERSION or other == UMBRELLA:
        return "version.hpp includes nothing, and the umbrella is for users"
    if file in (UMBRELLA, IMPLEMENTATION) or other == VERSION or layer_of(other) in {layer_of(file), *BELOW[layer_of(file)]} - {None}:
        return ""
    return f"{layer_of(file)} may include {', '.join(sorted(BELOW[layer_of(file)]))}"


def heavy_includes(texts):
    """-> what is wrong with the standard headers that a user of dimwise.hpp, grad.hpp and the compiled library includes"""
    reached, left = {UMBRELLA, "grad.hpp"}, [UMBRELLA, "grad.hpp"]
    while left:
        file = left.pop()
        for target in re.findall(r"^\s*#\s*include\s*<([^>]+)>", texts[file], re.M):
            other = target.removeprefix("dimwise/")
            if target in HEAVY:
                yield f"{file}: <{target}>: {UMBRELLA} or grad.hpp reaches this header, and <{target}> is slow to compile: include it in a definitions header"
            if other != target and other not in reached and not other.endswith(("_definitions.hpp", "implementation.hpp")):
                reached.add(other)
                left.append(other)


def check_headers(root):
    texts = {path.relative_to(root / "include/dimwise").as_posix(): path.read_text(encoding="utf-8")
             for path in sorted((root / "include").rglob("*.hpp"))}
    known = {*texts, *(path.relative_to(root).as_posix() for folder in ("examples", "src", "tests") for path in (root / folder).rglob("*.hpp"))}
    ends = {file[start:] for file in known for start in (0, *(slash.end() for slash in re.finditer("/", file)))}
    for file, text in texts.items():
        if layer_of(file) is None and file not in (UMBRELLA, VERSION, IMPLEMENTATION):
            yield f"{file}: belongs to no layer"
            continue
        for number, line in enumerate(text.splitlines(), 1):
            include = re.match(r'\s*#\s*include\s*([<"])([^>"]+)', line)
            if include and (problem := wrong_include(file, *include.groups())):
                yield f"{file}:{number}: <{include[2]}>: {problem}"
            if line.startswith("#line ") and line != f'#line {number + 1} "dimwise/{file}"':
                yield f"{file}:{number}: the next line is {number + 1} of dimwise/{file}"
            yield from (f"{file}:{number}: there is no header {name}" for name in HEADER.findall(line.partition("//")[2])
                        if name not in ends and name.removeprefix("dimwise/") not in ends)
            if line.startswith("//") and "Tests:" in line:
                yield from (f"{file}:{number}: there is no {name}" for name in re.findall(r"\b(?:tests|benchmarks)/[\w./*-]*[\w/*]", line)
                            if not any(root.glob(name.rstrip("/"))))
        own = "kernels/dispatch/configuration.hpp"
        if file != own and re.search(r"^[^/]*\bDIMWISE_CONFIGURATION\b", text, re.M) and f"#include <dimwise/{own}>" not in text:
            yield f"{file}: uses DIMWISE_CONFIGURATION without #include <dimwise/{own}>"
        if file.startswith(FAMILIES) and text.count("\n") > MOST_LINES:
            yield f"{file}: has {text.count(chr(10))} lines, more than {MOST_LINES}: share what other families read alike"
        if file.endswith("_definitions.hpp"):
            line, header = f"#include <dimwise/{file}>\n", file.replace("_definitions", "")
            by_others = any(line in other for name, other in texts.items() if name.endswith("_definitions.hpp"))
            by_header = f"\n#if DIMWISE_DETAIL_DEFINES_LIBRARY\n{line}#endif\n" in texts.get(header, "") and line in texts[IMPLEMENTATION]
            if not by_others and not by_header:
                yield f"{file}: {header} does not include it, or {IMPLEMENTATION} lacks it"

    yield from heavy_includes(texts)
    sources = (path.relative_to(root).as_posix() for folder in ("src", "tests") for path in (root / folder).rglob("*.?pp"))
    files = (*texts, *(file for file in sources if not file.startswith("tests/compile_fail/")))
    folders = collections.Counter(pathlib.PurePosixPath(file).parent.as_posix() for file in files)
    yield from (f"{folder}: has {count} sources, more than {MOST_SOURCES}: make folders that name families"
                for folder, count in folders.items() if count > MOST_SOURCES)


def threaded_cases(text):
    """-> the test cases of a source that start threads, themselves or by what the source defines before them; each with its body"""
    names = {*STARTS_THREADS}
    text = re.sub(r"^(?:#|using ).*\n|//.*", "", text, flags=re.M)
    for definition in re.split(r"^(?=[^\s}])", text, flags=re.M):
        if any(re.search(rf"\b{name}\b", definition) for name in names):
            defined = re.search(r"(?:struct|class) (\w+)|(\w+)\(", definition)
            if definition.startswith("TEST_CASE"):
                yield definition
            elif defined:
                names.add(defined[1] or defined[2])


def included(path, root):
    """-> the text of a test source, after those of the headers of the tests that it includes"""
    text = path.read_text(encoding="utf-8")
    places = [place for name in re.findall(r'^#include "([^"]+)"', text, flags=re.M) for place in (path.parent / name, root / "tests" / name)]
    return "".join(place.read_text(encoding="utf-8") for place in dict.fromkeys(places) if place.is_file()) + text


def check_threads(root):
    for path in sorted((root / "tests").rglob("*.test.cpp")):
        text = included(path, root)
        for case in threaded_cases(text) if "void* operator new" not in text else ():
            head = case.split("{", 1)[0]
            if "support::threads" not in head:
                yield f"{path.relative_to(root)}: starts threads: write `* support::threads` after the name of {head.strip()}"


def offered(compiler, root, namespace):
    """-> the names that an editor offers after `dimwise::<namespace>::`, however they are declared"""
    line = f"auto name = dimwise::{namespace}::"
    source = f"#include <dimwise/dimwise.hpp>\n#include <dimwise/nn.hpp>\n{line}\n;\n"
    _, text = compiler.run([compilers.STANDARD, "-Iinclude", "-fsyntax-only", "-Xclang", f"-code-completion-at=-:3:{len(line) + 1}"], root,
                           source=source)
    return set(re.findall(r"^COMPLETION: (\w+)", text, flags=re.M)) - INTERNAL


def named(text):
    """-> the identifiers in the code of a page"""
    return set(re.findall(r"[A-Za-z_]\w*", "\n".join(re.findall(r"^```\w*\n.*?^```|`[^`\n]+`", text, flags=re.M | re.S))))


def rows(text, head):
    """-> [(names that are called in the first cell, last cell)] of the tables with that head"""
    for table in re.findall(rf"^\| {head} \|.*\n\|[-| ]+\n((?:\|.*\n)*)", text, flags=re.M):
        for row in table.splitlines():
            cells = re.split(r"(?<!\\)\|", row)
            yield {name for span in re.findall(r"`([^`]+)`", cells[1]) for name in re.findall(r"^(\w+)[<({]", span)}, cells[-2].strip(" `")


def layers_below(layer, text):
    """-> the layers that a layer may include by the table of ARCHITECTURE.md"""
    cell = re.search(rf"^\| `{layer}` \|[^|]*\| ([^|]*) \|", text, re.M)
    direct = re.findall(r"[a-z]+", cell[1]) if cell else [f"no row for {layer}"]
    return {*direct}.union(*(layers_below(below, text) for below in direct if cell))


def check_pages(root, compiler):
    texts = {path.stem: path.read_text(encoding="utf-8") for path in (root / "docs/reference").glob("*.md")}
    identifiers = set(re.findall(r"[A-Za-z_]\w*", " ".join(path.read_text(encoding="utf-8") for path in (root / "include").rglob("*.hpp"))))
    listed = {page: set().union(*(names for names, _ in rows(texts[page], head))) for page, head in (("operations", "operation"), ("modules", "module"))}
    yield from (f"{page}.md explains {name}, which no header has" for page, names in listed.items() for name in sorted(names - identifiers))
    for namespace, pages in PAGES.items() if compiler else ():
        there = offered(compiler, root, namespace)
        yield from [] if there else [f"dimwise::{namespace} has no names"]
        yield from (f"{pages[0]}.md lacks {name} of dimwise::{namespace}" for name in sorted(there.difference(*(named(texts[page]) for page in pages))))
    gradients = list(rows(texts["training"], "gradient of"))
    yield from (f"training.md has no row for {name}" for name in sorted(listed["operations"].difference(*(names for names, _ in gradients))))
    for names, file in gradients:
        source = (root / file).read_text(encoding="utf-8") if (root / file).is_file() else ""
        yield from (f"training.md: {file} does not test {name}, or operations.md lacks it" for name in sorted(names)
                    if name not in named(texts["operations"]) or not re.search(rf"\b{name}\b", source))
    rules = set(re.findall(r"^// (R\d+) ", (root / "include/dimwise/support/errors.hpp").read_text(encoding="utf-8"), re.M))
    yield from (f"{page}.md names {rule}, which does not exist" for page, text in texts.items() for rule in sorted(set(re.findall(r"\bR\d{1,2}\b", text)) - rules))
    for page in ("ARCHITECTURE.md", "CONTRIBUTING.md"):
        paths = re.findall(r"(?<![\w./<-])[a-z]\w*/[\w/]*\.hpp\b", (root / page).read_text(encoding="utf-8"))
        yield from (f"{page} names {path}, which does not exist" for path in sorted(set(paths))
                    if not any((root / base / path).exists() for base in (".", "include", "include/dimwise")))
    yield from (f"ARCHITECTURE.md: the table of layers differs in {layer}" for layer, below in BELOW.items()
                if below != layers_below(layer, (root / "ARCHITECTURE.md").read_text(encoding="utf-8")))
    for page in ("CONTRIBUTING.md", "README.md", "ARCHITECTURE.md", "tests/CMakeLists.txt"):
        yield from (f"{page} names {name}, which does not exist" for name in sorted(set(FILE.findall((root / page).read_text(encoding="utf-8"))))
                    if not (root / name).exists() and not (root / page).parent.joinpath(name).exists())


def check_tools(root):
    lines = [line for path in (root / "tools").rglob("*.*") if path.suffix in (".py", ".sh") and path.parent.name != "playground"
             for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
    if len(lines) > MOST_TOOLS:
        yield f"tools: has {len(lines)} lines, more than {MOST_TOOLS}: share what tools do alike, or use a packaged one"
    for path in sorted((root / "tools").rglob("*")):
        if path.suffix in (".mjs", ".py", ".sh") and path.parent.name != "page" and "Why no kept tool" not in path.read_text(encoding="utf-8"):
            yield f"{path.relative_to(root)}: the head does not say why no packaged tool serves (\"Why no kept tool: …\")"


def main():
    clang = next((compiler for compiler in compilers.find_compilers() if compiler.is_clang), None)
    found = [*check_headers(compilers.ROOT), *check_threads(compilers.ROOT), *check_pages(compilers.ROOT, clang), *check_tools(compilers.ROOT)]
    print("\n".join(found) or ("every header and page keeps the rules" + ("" if clang else "; without clang, missing names were not looked for")))
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
