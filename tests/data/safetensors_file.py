"""Writes a file of safetensors. Standard library only."""

import json
import struct


def write(path, arrays):
    """arrays: name -> (type, extents, bytes)"""
    header, at = {}, 0
    for name, (kind, extents, body) in arrays.items():
        header[name] = {"dtype": kind, "shape": extents, "data_offsets": [at, at + len(body)]}
        at += len(body)
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(struct.pack("<Q", len(text)) + text + b"".join(body for _, _, body in arrays.values()))
