"""Writes the workloads as ONNX models, and a list of them, for onnxruntime.js. Needs the package onnx.

    bench_attention --list | python3 benchmarks/rivals/onnxruntime_models.py <folder>

W2: the node MultiHeadAttention. W1, W4, W5: the node Attention with its weights inside, which the runtime packs. W3: the node
Attention of opset 23, over keys and values that are given.
"""

import json
import pathlib
import sys

import numpy
import onnx
import rival_times
from onnx import helper, numpy_helper

MICROSOFT = "com.microsoft"
random = numpy.random.default_rng(1)


def weight(name, *shape, scale=0.05):
    return numpy_helper.from_array((random.standard_normal(shape) * scale).astype(numpy.float32), name)


def constant(name, count, value):
    return numpy_helper.from_array(numpy.full(count, value, numpy.float32), name)


def attention(w, source, to):
    """-> the node that projects and attends, and its weights"""
    sizes = [w.heads * w.d_k, w.heads * w.d_k, w.heads * w.d_v]
    node = helper.make_node("Attention", [source, "w", "b"], [to], domain=MICROSOFT, num_heads=w.heads, unidirectional=w.causal,
                            qkv_hidden_sizes=sizes)
    return node, [weight("w", w.d_model, sum(sizes)), constant("b", sum(sizes), 0)]


def model_of(w):
    """-> nodes, inputs, outputs (name: extents), weights, opset"""
    if w.kind == 2:
        wide = [1, w.queries, w.heads * w.d_k]
        node = helper.make_node("MultiHeadAttention", ["q", "k", "v"], ["y"], domain=MICROSOFT, num_heads=w.heads, unidirectional=w.causal)
        return [node], {"q": wide, "k": wide, "v": wide}, {"y": wide}, [], 17
    if w.kind == 3:
        keys = [1, w.key_heads, w.keys, w.d_k]
        one = [1, w.heads, 1, w.d_k]
        return [helper.make_node("Attention", ["q", "k", "v"], ["y"])], {"q": one, "k": keys, "v": keys}, {"y": one}, [], 23
    wide = [1, w.queries, w.d_model]
    if w.heads == 1:
        node, weights = attention(w, "x", "y")
        return [node], {"x": wide}, {"y": [1, w.queries, w.d_v]}, weights, 17
    first, weights = attention(w, "x", "z")
    weights.append(weight("w_o", w.heads * w.d_v, w.d_model))
    if w.kind != 5:
        return [first, helper.make_node("MatMul", ["z", "w_o"], ["y"])], {"x": wide}, {"y": wide}, weights, 17
    weights += [weight("up", w.d_model, w.d_ff), weight("down", w.d_ff, w.d_model), constant("b_up", w.d_ff, 0), constant("zero", w.d_model, 0),
                constant("one", w.d_model, 1)]
    nodes = [
        first,
        helper.make_node("MatMul", ["z", "w_o"], ["o"]),
        helper.make_node("SkipLayerNormalization", ["o", "x", "one", "zero"], ["a"], domain=MICROSOFT, epsilon=1e-5),
        helper.make_node("MatMul", ["a", "up"], ["h"]),
        helper.make_node("BiasGelu", ["h", "b_up"], ["g"], domain=MICROSOFT),
        helper.make_node("MatMul", ["g", "down"], ["d"]),
        helper.make_node("SkipLayerNormalization", ["d", "a", "one", "zero"], ["y"], domain=MICROSOFT, epsilon=1e-5),
    ]
    return nodes, {"x": wide}, {"y": wide}, weights, 17


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for w in rival_times.workloads(sys.stdin):
        nodes, inputs, outputs, weights, opset = model_of(w)

        def described(tensors):
            return [helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, extents) for name, extents in tensors.items()]

        graph = helper.make_graph(nodes, "workload", described(inputs), described(outputs), weights)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset), helper.make_opsetid(MICROSOFT, 1)])
        model.ir_version = 8 if opset < 23 else 10
        (folder / f"{w.name}.onnx").write_bytes(model.SerializeToString())
        written.append({"name": w.name, "flops": w.flops, "inputs": inputs, "outputs": outputs})
    (folder / "models.json").write_text(json.dumps(written), encoding="utf-8")


if __name__ == "__main__":
    main()
