#!/usr/bin/env python3
"""Packs a folder of conformance data (manifest.json + .npy files) into one file.

    python3 tests/data/pack_data.py FOLDER OUTPUT.dwpack [--set KEY=TEXT ...] [--only KEY=TEXT]
    python3 tests/data/pack_data.py --list FILE.dwpack          # what is inside, one line per array

The container, all numbers little-endian:

    offset 0    8 bytes   the letters DWPACK1 and a newline
    offset 8    8 bytes   u64: length of the header in bytes
    offset 16   header    JSON, UTF-8
    then        arrays    raw elements in C order, each at the next multiple of 64; the file ends with the last array

The header is {"manifest": ..., "arrays": {NAME: {"dtype", "shape", "offset", "bytes"}}}; offsets count from the start
of the file. NAME is the path of the .npy file without "cases/" and ".npy", for example "single_head/weight.W_query".
The manifest is the folder's own, whole, except that {"file": "cases/x/y.npy"} becomes {"array": "x/y"}, and that
pointers to other files (the same numbers as .safetensors) are left out. Arrays with the same bytes are stored once.
Files of other formats ({"file": "files/x.safetensors"}, those of a model in {"dir": ...}, and all files of {"folder": ...})
are stored whole, as an array of uint8 that has their path as its name.

--set writes a text into the manifest, for example --set origin.document="where the numbers come from".

--only packs the cases in which KEY is TEXT, for example --only kind=encoder.

Standard library only. tests/support/pack.hpp reads the files.
"""

import argparse
import ast
import json
import math
import pathlib
import signal
import struct
import sys

MAGIC = b"DWPACK1\n"
ALIGNMENT = 64
# .npy type string -> (our name, bytes per element)
DTYPES = {
    "<f8": ("float64", 8), "<f4": ("float32", 4), "<f2": ("float16", 2),
    "<i8": ("int64", 8), "<i4": ("int32", 4), "<i2": ("int16", 2), "|i1": ("int8", 1),
    "<u8": ("uint64", 8), "<u4": ("uint32", 4), "<u2": ("uint16", 2), "|u1": ("uint8", 1),
    "|b1": ("bool", 1),
}


def fail(message):
    sys.exit(f"pack_data: {message}")


def read_npy(path):
    """-> (dtype, shape, bytes in C order); refuses what this project's data never contains."""
    data = path.read_bytes()
    if data[:6] != b"\x93NUMPY":
        fail(f"{path}: not a .npy file")
    if data[6] == 1:
        start, length = 10, struct.unpack("<H", data[8:10])[0]
    else:
        start, length = 12, struct.unpack("<I", data[8:12])[0]
    head = ast.literal_eval(data[start:start + length].decode("latin1"))
    if head["descr"] not in DTYPES:
        fail(f"{path}: element type {head['descr']} is not supported")
    if head["fortran_order"] and len(head["shape"]) > 1:
        fail(f"{path}: Fortran order is not supported")
    dtype, width = DTYPES[head["descr"]]
    body = data[start + length:]
    if len(body) != width * math.prod(head["shape"]):
        fail(f"{path}: {len(body)} bytes of elements, shape {head['shape']} of {dtype} needs "
             f"{width * math.prod(head['shape'])}")
    return dtype, list(head["shape"]), body


def array_name(file):
    return file.removeprefix("cases/").removesuffix(".npy")


def pack(folder, output, settings, only):
    manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    if only:
        key, equals, text = only.partition("=")
        manifest["cases"] = [case for case in manifest["cases"] if case.get(key) == text]
        if not equals or not manifest["cases"]:
            fail(f"--only {only}: expected KEY=TEXT of some cases")
    for setting in settings:
        key, equals, text = setting.partition("=")
        if not equals:
            fail(f"--set {setting}: expected KEY=TEXT")
        *outer, last = key.split(".")
        place = manifest
        for word in outer:
            place = place[word]
        place[last] = text

    arrays, blobs, offsets = {}, [], {}
    position = 0  # relative to the first array

    def store(entry):
        nonlocal position
        name = array_name(entry["file"])
        dtype, shape, body = read_npy(folder / entry["file"])
        if (dtype, shape) != (entry["dtype"], entry["shape"]):
            fail(f"{entry['file']}: holds {dtype} {shape}, the manifest says {entry['dtype']} {entry['shape']}")
        if body not in offsets:
            padding = -position % ALIGNMENT
            blobs.append(b"\0" * padding + body)
            offsets[body] = position + padding
            position += padding + len(body)
        arrays[name] = {"dtype": dtype, "shape": shape, "offset": offsets[body], "bytes": len(body)}
        return {**{key: value for key, value in entry.items() if key != "file"}, "array": name}

    def store_bytes(file):
        nonlocal position
        body = (folder / file).read_bytes()
        padding = -position % ALIGNMENT
        blobs.append(b"\0" * padding + body)
        arrays[file] = {"dtype": "uint8", "shape": [len(body)], "offset": position + padding, "bytes": len(body)}
        position += padding + len(body)

    def walk(node):
        if isinstance(node, list):
            return [walk(item) for item in node]
        if not isinstance(node, dict):
            return node
        if str(node.get("file", "")).endswith(".npy"):
            return store(node)
        if "dir" in node:
            for value in node.values():
                if (folder / node["dir"] / str(value)).is_file():
                    store_bytes(f"{node['dir']}/{value}")
        elif "folder" in node:
            for file in sorted((folder / node["folder"]).iterdir()):
                store_bytes(f"{node['folder']}/{file.name}")
        elif "file" in node:
            store_bytes(node["file"])
        return {key: walk(value) for key, value in node.items() if key != "safetensors"}

    manifest = walk(manifest)

    # The offsets are part of the header, so its length decides where the arrays start: repeat until that is stable.
    start = 0
    while True:
        placed = {name: {**entry, "offset": entry["offset"] + start} for name, entry in arrays.items()}
        header = json.dumps({"manifest": manifest, "arrays": placed}, separators=(",", ":"), ensure_ascii=False)
        header = header.encode("utf-8")
        needed = -(-(16 + len(header)) // ALIGNMENT) * ALIGNMENT
        if needed == start:
            break
        start = needed
    with output.open("wb") as file:
        file.write(MAGIC + struct.pack("<Q", len(header)) + header)
        file.write(b"\0" * (start - 16 - len(header)))
        for blob in blobs:
            file.write(blob)
    print(f"{output}: {len(manifest.get('cases', manifest.get('models')))} cases, {len(arrays)} arrays, {output.stat().st_size // 1024} KiB")


def show(path):
    data = path.read_bytes()
    if data[:8] != MAGIC:
        fail(f"{path}: does not start with DWPACK1")
    length = struct.unpack("<Q", data[8:16])[0]
    for name, entry in json.loads(data[16:16 + length])["arrays"].items():
        print(f"{entry['dtype']:8} {str(entry['shape']):20} {name}")


def main():
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # --list | head
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=pathlib.Path)
    parser.add_argument("output", nargs="?", type=pathlib.Path)
    parser.add_argument("--list", metavar="FILE", type=pathlib.Path)
    parser.add_argument("--set", action="append", default=[], metavar="KEY=TEXT")
    parser.add_argument("--only", metavar="KEY=TEXT")
    arguments = parser.parse_args()
    if arguments.list:
        show(arguments.list)
    elif arguments.folder and arguments.output:
        pack(arguments.folder, arguments.output, arguments.set, arguments.only)
    else:
        parser.error("give FOLDER and OUTPUT, or --list FILE")


if __name__ == "__main__":
    main()
