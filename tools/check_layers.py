#!/usr/bin/env python3
"""An include may only point down. Names every line that points up, sideways, or to a third party it may not meet.

    python3 tools/check_layers.py               # checks include/dimwise
    python3 tools/check_layers.py --self-test   # plants one breach of each kind in a temporary tree; all must be found

A header's layer is its folder (include/dimwise/<layer>/...) or, beside the folders, its name
(include/dimwise/<layer>.hpp). Standard library only.
"""

import pathlib
import re
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent

# layer -> the layers it may include besides itself
BELOW = {
    "support": set(),
    "dim": {"support"},
    "shape": {"support", "dim"},
    "tensor": {"support", "dim", "shape"},
    "expr": {"support", "dim", "shape", "tensor"},
    "kernels": {"support"},
}
BELOW["eval"] = {*BELOW["expr"], "expr", "kernels"}
BELOW["nn"] = {*BELOW["eval"], "eval"}
BELOW["grad"] = {*BELOW["nn"], "nn"}
BELOW["io"] = {*BELOW["nn"], "nn"}  # a checkpoint is bound to the parameters of a module
BELOW["models"] = {*BELOW["io"], "io"}
BELOW["text"] = {*BELOW["io"], "io"}
BELOW["viz"] = {*BELOW["eval"], "eval"}  # what is shown of an expression are its values
# headers beside the layers: who may be included by whom is said below
EVERYWHERE = {"version.hpp"}  # may be included by every header, includes nothing
UMBRELLA = "dimwise.hpp"      # includes everything, is included by no header

# third party -> the files that may include it (a prefix of the path below include/dimwise/)
# Files compiled for one architecture take C's functions: std's inline ones would leak from them as weak symbols.
C_HEADERS = ("math.h",)
THIRD_PARTIES = {
    "boost/hana": ("shape/", "shape.hpp", "nn/", "grad/gradient.hpp"),
    "xtensor/": ("tensor/xtensor.hpp",),
    "xtl/": ("tensor/xtensor.hpp",),
    "xsimd/": ("kernels/simd.hpp",),
    "oneapi/tbb/": ("eval/tbb.hpp",),
    "nlohmann/": ("io/", "text/"),
    "utf8proc.h": ("text/unicode.hpp",),
    "zip.h": ("io/npz.hpp",),
    "fcntl.h": ("io/file_bytes.hpp", "support/file_draft.hpp"),  # POSIX: files mapped into memory
    "dirent.h": ("support/file_draft.hpp",),
    "sys/file.h": ("support/file_draft.hpp",),
    "sys/mman.h": ("io/file_bytes.hpp", "tensor/large_pages.hpp"),
    "sys/stat.h": ("io/file_bytes.hpp", "support/file_draft.hpp"),
    "unistd.h": ("io/file_bytes.hpp", "support/file_draft.hpp", "viz/colours_definitions.hpp"),  # the latter: is this a terminal?
    "sys/single_threaded.h": ("tensor/counted.hpp",),  # of the GNU C library: is there one thread?
    "immintrin.h": ("kernels/",),
    "arm_neon.h": ("kernels/",),
}
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')


def layer_of(file):
    """-> the layer of a path below include/dimwise/, or None for version.hpp and the umbrella."""
    first = file.split("/")[0].removesuffix(".hpp")
    return first if first in BELOW else None


def breach(file, opening, target):
    """-> what is wrong with `#include target` in `file`; "" if nothing."""
    layer = layer_of(file)
    if layer is None and file not in {*EVERYWHERE, UMBRELLA}:
        return "this header belongs to no layer"
    if opening == '"':
        return f'"{target}": own headers are written <dimwise/...>'
    if target.startswith("dimwise/"):
        other = target.removeprefix("dimwise/")
        if file == UMBRELLA or other in EVERYWHERE:
            return ""
        if other == UMBRELLA:
            return f"<{target}>: the umbrella is for users; name the headers that are needed"
        if file in EVERYWHERE:
            return f"<{target}>: {file} includes nothing"
        if layer_of(other) is None:
            return f"<{target}>: this header belongs to no layer"
        if layer_of(other) != layer and layer_of(other) not in BELOW[layer]:
            allowed = ", ".join(name for name in BELOW if name in BELOW[layer]) or "no other layer"
            return f"<{target}>: {layer} may include {allowed}, not {layer_of(other)}"
        return ""
    for party, allowed in THIRD_PARTIES.items():
        if target.startswith(party):
            return "" if file.startswith(allowed) else f"<{target}>: only {', '.join(allowed)} may include {party}"
    if target in C_HEADERS:
        return ""
    if "/" in target or "." in target:
        return f"<{target}>: neither the standard library nor a third party of this library"
    return ""


def check(root):
    """-> one line per breach"""
    base = root / "include/dimwise"
    found = []
    for path in sorted(base.rglob("*.hpp")):
        file = path.relative_to(base).as_posix()
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            include = INCLUDE.match(line)
            problem = include and breach(file, *include.groups())
            if problem:
                found.append(f"{path.relative_to(root)}:{number}: {problem}")
    return found


PLANTED = {  # file: (an include in it, whether it is a breach)
    "support/a.hpp": ("<dimwise/dim/b.hpp>", True),
    "support/b.hpp": ("<vector>", False),
    "support/version_user.hpp": ("<dimwise/version.hpp>", False),
    "dim/deep/er/c.hpp": ("<dimwise/shape/c.hpp>", True),
    "dim/d.hpp": ("<boost/hana/type.hpp>", True),
    "dim/umbrella_user.hpp": ("<dimwise/shape.hpp>", True),
    "shape/e.hpp": ("<boost/hana/type.hpp>", False),
    "shape/f.hpp": ("<boost/mp11.hpp>", True),
    "shape.hpp": ("<dimwise/tensor/a.hpp>", True),
    "tensor/xtensor.hpp": ("<xtensor/xtensor.hpp>", False),
    "tensor/other.hpp": ("<xtensor/xtensor.hpp>", True),
    "expr/g.hpp": ("<dimwise/kernels/a.hpp>", True),
    "expr/h.hpp": ("<dimwise/tensor.hpp>", False),
    "kernels/i.hpp": ("<dimwise/shape/a.hpp>", True),
    "kernels/simd.hpp": ("<xsimd/xsimd.hpp>", False),
    "kernels/j.hpp": ("<xsimd/xsimd.hpp>", True),
    "eval/k.hpp": ("<xsimd/xsimd.hpp>", True),
    "eval/l.hpp": ("<dimwise/kernels/j.hpp>", False),
    "eval/m.hpp": ("<dimwise/nn/a.hpp>", True),
    "nn/n.hpp": ("<dimwise/eval/a.hpp>", False),
    "io/o.hpp": ("<dimwise/grad/a.hpp>", True),
    "io/p.hpp": ("<dimwise/nn/a.hpp>", False),
    "io/q.hpp": ("<nlohmann/json.hpp>", False),
    "nn/r.hpp": ("<dimwise/io/a.hpp>", True),
    "nn/s.hpp": ("<nlohmann/json.hpp>", True),
    "text/unicode.hpp": ("<utf8proc.h>", False),
    "io/v.hpp": ("<utf8proc.h>", True),
    "text/w.hpp": ("<dimwise/models/a.hpp>", True),
    "models/t.hpp": ("<dimwise/io/a.hpp>", False),
    "io/u.hpp": ("<dimwise/models/a.hpp>", True),
    "viz/p.hpp": ("<dimwise/eval/a.hpp>", False),
    "viz/q.hpp": ("<dimwise/nn/a.hpp>", True),
    "tensor/q.hpp": ("<dimwise/dimwise.hpp>", True),
    "tensor/r.hpp": ('"storage.hpp"', True),
    "loose.hpp": ("<vector>", True),
    "dimwise.hpp": ("<dimwise/nn/a.hpp>", False),
    "version.hpp": ("<dimwise/support/a.hpp>", True),
}


def self_test():
    failed = 0
    with tempfile.TemporaryDirectory() as place:
        root = pathlib.Path(place)
        for file, (include, _) in PLANTED.items():
            path = root / "include/dimwise" / file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(f"#pragma once\n// #include <dimwise/nn/comment.hpp>\n# include {include}\n")
        report = check(root)
        for file, (include, is_breach) in PLANTED.items():
            found = any(line.startswith(f"include/dimwise/{file}:3: ") for line in report)
            if found != is_breach:
                failed += 1
                print(f"FAILED self-test: {include} in {file} is {'not found' if is_breach else 'called a breach'}")
    print(f"{len(PLANTED) - failed} passed, {failed} failed")
    return failed


def main():
    if sys.argv[1:] == ["--self-test"]:
        sys.exit(1 if self_test() else 0)
    if sys.argv[1:]:
        sys.exit(__doc__)
    found = check(ROOT)
    if found:
        sys.exit("\n".join(found) + "\nThe table of layers: ARCHITECTURE.md, and the top of tools/check_layers.py")
    print("every include points down")


if __name__ == "__main__":
    main()
