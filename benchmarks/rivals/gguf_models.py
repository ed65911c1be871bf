"""Writes the language models of bench_generation as GGUF files with drawn weights, for llama_cpp.mjs.

    python3 benchmarks/rivals/gguf_models.py <folder> [model ...]

One file for each model and storage: <model>.gguf, and <model>_<storage>.gguf. Every matrix is stored so, norms and biases in float.
Where a storage has blocks of 32 numbers, each has a scale and drawn bits: only the speed is meant.
"""

import pathlib
import struct
import sys

import numpy
from generation_shapes import random, wanted, weights

TEXT, FLOATS = 8, 0
STORAGES = {"": 0, "_f16": 1, "_bf16": 30, "_int8": 8, "_int4": 2}  # ggml's numbers; the last two are q8_0 and q4_0
BLOCKS = {8: 32, 2: 16}  # bytes of 32 numbers behind their scale


def stored(numbers, how):
    if how == 1:
        return numbers.astype("<f2").tobytes()
    if how == 30:
        return (numbers.view(numpy.uint32) >> 16).astype("<u2").tobytes()
    if how in BLOCKS:
        blocks = random.integers(0, 256, (numbers.size // 32, 2 + BLOCKS[how]), dtype=numpy.uint8)
        blocks[:, :2] = numpy.array([2e-4 if how == 8 else 3e-3], "<f2").view(numpy.uint8)
        return blocks.tobytes()
    return numbers.astype("<f4").tobytes()


def text(value):
    return struct.pack("<Q", len(value.encode())) + value.encode()


def setting(value):
    if isinstance(value, list):
        texts = isinstance(value[0], str)
        return struct.pack("<IIQ", 9, TEXT if texts else 5, len(value)) + b"".join(text(v) if texts else struct.pack("<i", v) for v in value)
    if isinstance(value, str):
        return struct.pack("<I", TEXT) + text(value)
    return struct.pack("<If", 6, value) if isinstance(value, float) else struct.pack("<II", 4, value)


def settings(name, s):
    kind = s.kind
    yield from {"general.architecture": kind, "general.name": name, f"{kind}.context_length": s.longest, f"{kind}.embedding_length": s.width,
                f"{kind}.block_count": s.layers, f"{kind}.feed_forward_length": s.hidden, f"{kind}.attention.head_count": s.heads,
                f"{kind}.vocab_size": s.words}.items()
    yield (f"{kind}.attention.layer_norm_epsilon" if kind == "gpt2" else f"{kind}.attention.layer_norm_rms_epsilon"), 1e-5
    if kind == "llama":
        yield "llama.rope.dimension_count", s.width // s.heads
    # Ids alone are read and written, but there is no model without words.
    yield from {"tokenizer.ggml.model": "gpt2", "tokenizer.ggml.pre": "gpt-2", "tokenizer.ggml.tokens": [f"w{i}" for i in range(s.words)],
                "tokenizer.ggml.token_type": [1] * s.words, "tokenizer.ggml.merges": ["w 0"], "tokenizer.ggml.bos_token_id": s.words - 1,
                "tokenizer.ggml.eos_token_id": s.words - 1}.items()


def tensors(s, how):
    """-> name, extents (ggml's order: the contiguous one first), storage, bytes"""
    def matrix(name, rows, columns):
        return f"{name}.weight", (columns, rows), how, stored(weights(rows, columns), how)

    def vector(name, count, value, of="weight"):
        return f"{name}.{of}", (count,), FLOATS, stored(numpy.full(count, value, numpy.float32), FLOATS)

    def norm(name):
        yield vector(name, s.width, 1)
        if s.kind == "gpt2":
            yield vector(name, s.width, 0, "bias")

    yield matrix("token_embd", s.words, s.width)
    yield from norm("output_norm")
    if s.kind == "gpt2":
        yield "position_embd.weight", (s.width, s.longest), FLOATS, stored(weights(s.longest, s.width), FLOATS)
        maps = {"attn_qkv": (3 * s.width, s.width), "attn_output": (s.width, s.width), "ffn_up": (s.hidden, s.width), "ffn_down": (s.width, s.hidden)}
    else:
        maps = {**{f"attn_{part}": (s.width, s.width) for part in ("q", "k", "v", "output")}, "ffn_gate": (s.hidden, s.width),
                "ffn_up": (s.hidden, s.width), "ffn_down": (s.width, s.hidden)}
    for layer in range(s.layers):
        begin = f"blk.{layer}."
        for name in ("attn_norm", "ffn_norm"):
            yield from norm(begin + name)
        for name, (rows, columns) in maps.items():
            yield matrix(begin + name, rows, columns)
            if s.kind == "gpt2":
                yield vector(begin + name, rows, 0, "bias")


def write(path, name, s, how):
    def whole(size):
        return (size + 31) // 32 * 32

    facts, held = list(settings(name, s)), list(tensors(s, how))
    head = struct.pack("<4sIQQ", b"GGUF", 3, len(held), len(facts)) + b"".join(text(key) + setting(value) for key, value in facts)
    at = 0
    for tensor, extents, storage, data in held:
        head += text(tensor) + struct.pack(f"<I{len(extents)}QIQ", len(extents), *extents, storage, at)
        at += whole(len(data))
    with open(path, "wb") as file:
        file.write(head.ljust(whole(len(head)), b"\0"))
        for _, _, _, data in held:
            file.write(data.ljust(whole(len(data)), b"\0"))


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for name, s in wanted(sys.argv[2:]):
        for suffix, how in STORAGES.items() if s.kind != "bert" else ():
            write(folder / f"{name}{suffix}.gguf", name, s, how)


if __name__ == "__main__":
    main()
