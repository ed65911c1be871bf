"""Writes the models of bench_generation as ONNX files with drawn weights, and a list of them, for onnxruntime_generation.js.

    python3 benchmarks/rivals/onnx_generation_models.py <folder> [model ...]

Language models have the node GroupQueryAttention, whose cache is input and output at once. _int8 and _int4: MatMulNBits with blocks of
32 numbers and activations of 8 bits, the fastest that the runtime has for them. Needs the package onnx.
"""

import json
import pathlib
import sys

import numpy
import onnx
from generation_shapes import PROMPT, WRITTEN, random, wanted, weights
from onnx import TensorProto, helper, numpy_helper

MICROSOFT = "com.microsoft"
BITS = {"": 0, "_int8": 8, "_int4": 4}


class Graph:
    def __init__(self, bits):
        self.bits, self.nodes, self.held, self.inputs, self.outputs, self.count = bits, [], [], [], [], 0

    def name(self):
        self.count += 1
        return f"t{self.count}"

    def constant(self, numbers):
        self.held.append(numpy_helper.from_array(numbers, self.name()))
        return self.held[-1].name

    def full(self, count, value):
        return self.constant(numpy.full(count, value, numpy.float32))

    def node(self, kind, inputs, outputs=None, domain="", **how):
        outputs = outputs or [self.name()]
        self.nodes.append(helper.make_node(kind, inputs, outputs, domain=domain, **how))
        return outputs[0]

    def linear(self, x, k, n, bias=None):
        if self.bits:
            blocks = random.integers(0, 256, (n, k // 32, 4 * self.bits), dtype=numpy.uint8)
            inputs = [x, self.constant(blocks), self.full(n * k // 32, 2e-4 if self.bits == 8 else 3e-3)]
            y = self.node("MatMulNBits", inputs, domain=MICROSOFT, K=k, N=n, bits=self.bits, block_size=32, accuracy_level=4)
        else:
            y = self.node("MatMul", [x, self.constant(weights(k, n))])
        return self.node("Add", [y, self.full(n, 0)]) if bias else y

    def take(self, name, kind, extents):
        self.inputs.append(helper.make_tensor_value_info(name, kind, extents))
        return name

    def give(self, name, extents):
        self.outputs.append(helper.make_tensor_value_info(name, TensorProto.FLOAT, extents))

    def write(self, path):
        graph = helper.make_graph(self.nodes, "model", self.inputs, self.outputs, self.held)
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17), helper.make_opsetid(MICROSOFT, 1)], ir_version=8), str(path))


def language_model(s, bits):
    g, wide, gpt = Graph(bits), s.width // s.heads, s.kind == "gpt2"
    ids, at = (g.take(name, TensorProto.INT64, [1, "n"]) for name in ("ids", "at"))
    lengths = [g.take(name, TensorProto.INT32, [1]) for name in ("last", "length")]
    room = [1, s.heads, PROMPT + WRITTEN, wide]

    def norm(x):
        if gpt:
            return g.node("LayerNormalization", [x, g.full(s.width, 1), g.full(s.width, 0)], axis=-1, epsilon=1e-5)
        return g.node("SimplifiedLayerNormalization", [x, g.full(s.width, 1)], axis=-1, epsilon=1e-5, stash_type=1)

    turns = numpy.outer(numpy.arange(room[2]), 10000.0**(-numpy.arange(wide // 2) * 2 / wide)).astype(numpy.float32)
    rotary = [] if gpt else [g.constant(numpy.cos(turns)), g.constant(numpy.sin(turns))]
    x = g.node("Gather", [g.constant(weights(s.words, s.width)), ids])
    if gpt:
        x = g.node("Add", [x, g.node("Gather", [g.constant(weights(s.longest, s.width)), at])])
    for layer in range(s.layers):
        past = [g.take(f"past_{part}{layer}", TensorProto.FLOAT, room) for part in "kv"]
        present = [f"present_{part}{layer}" for part in "kv"]
        for name in present:
            g.give(name, room)
        qkv = g.linear(norm(x), s.width, 3 * s.width, gpt)
        attended = g.node("GroupQueryAttention", [qkv, "", "", *past, *lengths, *rotary], [g.name(), *present], MICROSOFT,
                          num_heads=s.heads, kv_num_heads=s.heads, do_rotary=0 if gpt else 1)
        x = g.node("Add", [x, g.linear(attended, s.width, s.width, gpt)])
        h = norm(x)
        if gpt:
            u = g.node("FastGelu", [g.linear(h, s.width, s.hidden, True)], domain=MICROSOFT)
        else:
            gate = g.linear(h, s.width, s.hidden)
            u = g.node("Mul", [g.node("Mul", [gate, g.node("Sigmoid", [gate])]), g.linear(h, s.width, s.hidden)])
        x = g.node("Add", [x, g.linear(u, s.hidden, s.width, gpt)])
    last = g.node("Gather", [norm(x), g.constant(numpy.array([-1]))], axis=1)
    g.node("Identity", [g.linear(last, s.width, s.words)], ["logits"])
    g.give("logits", [1, 1, s.words])
    return g


def encoder(s, length):
    """-> the vector of one text of this length, or, without one, of texts of different lengths with padding"""
    g = Graph(0)
    extents = [1, length] if length else ["b", "n"]
    ids = g.take("ids", TensorProto.INT64, extents)
    lengths = [] if length else [g.take("lengths", TensorProto.INT32, ["b"])]

    def add_and_norm(a, b):
        return g.node("SkipLayerNormalization", [a, b, g.full(s.width, 1), g.full(s.width, 0)], domain=MICROSOFT, epsilon=1e-12)

    positions = g.constant(weights(1, length, s.width)) if length else g.node(
        "Gather", [g.constant(weights(s.longest, s.width)), g.take("at", TensorProto.INT64, extents)])
    x = add_and_norm(g.node("Gather", [g.constant(weights(s.words, s.width)), ids]), positions)
    for _ in range(s.layers):
        attended = g.node("Attention", [x, g.constant(weights(s.width, 3 * s.width)), g.full(3 * s.width, 0), *lengths], domain=MICROSOFT,
                          num_heads=s.heads)
        x = add_and_norm(g.linear(attended, s.width, s.width, True), x)
        u = g.node("BiasGelu", [g.linear(x, s.width, s.hidden), g.full(s.hidden, 0)], domain=MICROSOFT)
        x = add_and_norm(g.linear(u, s.hidden, s.width, True), x)
    if length:
        mean = g.node("ReduceMean", [x], axes=[1], keepdims=0)
    else:  # the share of each token in the vector of its text: [b, 1, n] x [b, n, width]
        shares = g.take("shares", TensorProto.FLOAT, ["b", 1, "n"])
        mean = g.node("Squeeze", [g.node("MatMul", [shares, x]), g.constant(numpy.array([1]))])
    g.node("LpNormalization", [mean], ["vector"], axis=-1, p=2)
    g.give("vector", [extents[0], s.width])
    return g


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for name, s in wanted(sys.argv[2:]):
        lengths = {"_128": PROMPT, "_16": 16, "_texts": None}
        for suffix, how in (lengths if s.kind == "bert" else BITS).items():
            (encoder(s, how) if s.kind == "bert" else language_model(s, how)).write(folder / f"{name}{suffix}.onnx")
            length = how if s.kind == "bert" else PROMPT
            written.append({**s._asdict(), "name": name, "suffix": suffix, "prompt": length, "written": WRITTEN})
    (folder / "models.json").write_text(json.dumps(written), encoding="utf-8")


if __name__ == "__main__":
    main()
