#!/usr/bin/env python3
"""Tests the program conformance itself: what is wrong must fail, by name.

    python3 tests/conformance/program.py PROGRAM
"""

import itertools
import json
import math
import pathlib
import struct
import subprocess
import sys
import tempfile

import generate
from generate import Array, Suite

X = Array("float32", [2, 3], [-1.0, 2.0, -3.0, 4.0, 0.0, 6.0])
Y = Array("float32", [2, 3], [0.0, 2.0, 0.0, 4.0, 0.0, 6.0])


def changed(array, at, value):
    values = list(array.values)
    values[at] = value
    return Array(array.dtype, array.shape, values)


def relu(folder, x=X, y=Y, op="Relu", attributes=None):
    suite = Suite(folder, "program")
    suite.add("relu", op, attributes or {}, [("x", x)], [("y", y)])
    suite.write()
    return folder / "cases" / "relu"


def npy(file, header, body):
    header = header.encode("latin1")
    file.write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + body)


def edit(folder, change):
    manifest = json.loads((folder / "manifest.json").read_text())
    change(manifest)
    (folder / "manifest.json").write_text(json.dumps(manifest))


def main():
    program = sys.argv[1]
    problems = []

    def expect(what, make, code, *phrases):
        with tempfile.TemporaryDirectory() as place:
            folder = pathlib.Path(place) / "suite"
            made = make(folder)
            result = subprocess.run([program, *(made if isinstance(made, list) else [str(folder)])], capture_output=True, text=True, timeout=120)
            printed = result.stdout + result.stderr
            for phrase in phrases:
                if phrase not in printed:
                    problems.append(f"{what}: expected \"{phrase}\" in\n{printed}")
            if result.returncode != code:
                problems.append(f"{what}: expected exit code {code}, not {result.returncode}\n{printed}")

    def right(folder):
        relu(folder)

    expect("a right result", right, 0, "1 passed, 0 failed, 0 skipped")

    # --- results ---
    expect("a wrong value", lambda f: relu(f, y=changed(Y, 3, 4.5)), 1, "FAILED program/relu: y: largest error 0.5 at [1,0]", "4, 4.5 expected",
           "[fast]", "[plain]", "0 passed, 1 failed, 0 skipped")
    expect("a NaN expected", lambda f: relu(f, y=changed(Y, 0, float("nan"))), 1, "largest error inf at [0,0]")
    expect("an infinity expected", lambda f: relu(f, y=changed(Y, 1, float("inf"))), 1, "largest error inf at [0,1]")
    expect("another shape", lambda f: relu(f, y=Array("float32", [3, 2], Y.values)), 0, "1 passed")  # both are six elements in a row
    expect("fewer elements", lambda f: relu(f, y=Array("float32", [2, 2], Y.values[:4])), 1, "y: has the shape [6], [2,2] expected")

    def more_outputs(folder):
        suite = Suite(folder, "program")
        suite.add("relu", "Relu", {}, [("x", X)], [("y", Y), ("z", Y)])
        suite.write()

    expect("an output that no runner computes", more_outputs, 1, "z: was not computed")

    def in_float64(folder):
        relu(folder)
        generate.write_npy(folder / "exact.npy", Array("float64", [2, 3], [0.0, 2.00001, 0.0, 4.0, 0.0, 6.0]))

        def add(manifest):
            manifest["cases"][0]["outputs_f64"] = [{"name": "y", "dtype": "float64", "shape": [2, 3], "file": "exact.npy"}]
            manifest["cases"][0]["torch_fp32_max_abs_err"] = {"y": 1e-7}
        edit(folder, add)

    expect("an error within the tolerance, but beyond that of float32", in_float64, 1, "in float64", "0 passed, 1 failed")

    # --- cases ---
    expect("an operator without a runner", lambda f: relu(f, op="Conv"), 1, "no runner for Conv")
    expect("an element type that the operator does not compute in", lambda f: relu(f, x=Array("int64", [2, 3], [1] * 6)), 1,
           "holds int64, which is not read as float32")
    expect("an attribute of another type", lambda f: relu(f, op="Gelu", attributes={"approximate": 7}), 1, "threw:")

    def no_cases(folder):
        folder.mkdir()
        (folder / "manifest.json").write_text("{}")

    def no_json(folder):
        folder.mkdir()
        (folder / "manifest.json").write_text("{ nothing")

    expect("a folder that is not there", lambda f: None, 1, "manifest.json: expected a readable manifest", "0 passed, 1 failed, 0 skipped")
    expect("a manifest without cases", no_cases, 1, "expected a list \"cases\"")
    expect("a manifest that is no JSON", no_json, 1, "manifest.json: expected JSON")
    expect("two folders, one of them missing", lambda f: (right(f), [str(f), str(f) + ".no"])[1], 1, "1 passed, 1 failed, 0 skipped")
    expect("no folder", lambda f: [], 2, "usage:")

    # --- verdicts of files ---
    def safetensors(body, verdict, spec="accept"):
        def make(folder):
            folder.mkdir()
            (folder / "x.safetensors").write_bytes(body)
            case = {"name": "x", "file": "x.safetensors", "rule": "a rule", "spec": spec, "reference": verdict}
            (folder / "manifest.json").write_text(json.dumps({"suite": "files", "cases": [case]}))
        return make

    empty = struct.pack("<Q", 2) + b"{}"
    expect("a file that is accepted", safetensors(empty, "accept"), 0, "1 passed")
    expect("a file that should be refused", safetensors(empty, "reject"), 1, "is accepted, the reference refuses it: a rule")
    expect("a file that should be accepted", safetensors(empty[:-1], "accept"), 1, "is refused, the reference accepts it")
    expect("a file of which nothing is said", safetensors(empty[:-1], "accept", "unspecified"), 0, "1 passed")

    # --- language models: every setting that the library has is taken; what they give, the suites compare ---
    def zeros(arrays):
        header, data = {}, b""
        for name, shape in arrays.items():
            size = 4 * math.prod(shape)
            header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [len(data), len(data) + size]}
            data += bytes(size)
        text = json.dumps(header).encode()
        return struct.pack("<Q", len(text)) + text + data

    def language_model(architecture, config, arrays):
        def make(folder):
            folder.mkdir()
            (folder / "config.json").write_text(json.dumps(config))
            (folder / "weights.safetensors").write_bytes(zeros(arrays))
            (folder / "golden.safetensors").write_bytes(zeros({}))
            model = {"name": "m", "dir": ".", "architecture": architecture, "config": "config.json", "weights": "weights.safetensors",
                     "golden": "golden.safetensors", "prompts": 0, "torch_fp32_max_abs_err": 0, "tol": {"logits_atol": 0, "logits_rtol": 0}}
            (folder / "manifest.json").write_text(json.dumps({"suite": "lm", "models": [model]}))
        return make

    def llama(activation, attention_bias, mlp_bias, tied):
        config = {"model_type": "llama", "vocab_size": 3, "hidden_size": 4, "num_attention_heads": 2, "intermediate_size": 5, "num_hidden_layers": 1,
                  "hidden_act": activation, "attention_bias": attention_bias, "mlp_bias": mlp_bias, "tie_word_embeddings": tied}
        arrays = {"model.embed_tokens.weight": [3, 4], "model.norm.weight": [4]}
        layer = "model.layers.0."
        arrays.update({layer + "input_layernorm.weight": [4], layer + "post_attention_layernorm.weight": [4]})
        for name, inputs, outputs, bias in [("self_attn.q", 4, 4, attention_bias), ("self_attn.k", 4, 4, attention_bias),
                                            ("self_attn.v", 4, 4, attention_bias), ("self_attn.o", 4, 4, attention_bias),
                                            ("mlp.gate", 4, 5, mlp_bias), ("mlp.up", 4, 5, mlp_bias), ("mlp.down", 5, 4, mlp_bias)]:
            arrays[layer + name + "_proj.weight"] = [outputs, inputs]
            if bias:
                arrays[layer + name + "_proj.bias"] = [outputs]
        if not tied:
            arrays["lm_head.weight"] = [3, 4]
        return language_model("LlamaForCausalLM", config, arrays)

    def gpt2(activation, tied, prefix):
        config = {"model_type": "gpt2", "vocab_size": 3, "n_positions": 6, "n_embd": 4, "n_head": 2, "n_layer": 1, "activation_function": activation,
                  "tie_word_embeddings": tied}
        arrays = {"wte.weight": [3, 4], "wpe.weight": [6, 4]}
        for norm in ("h.0.ln_1", "h.0.ln_2", "ln_f"):
            arrays.update({norm + ".weight": [4], norm + ".bias": [4]})
        for name, inputs, outputs in [("attn.c_attn", 4, 12), ("attn.c_proj", 4, 4), ("mlp.c_fc", 4, 16), ("mlp.c_proj", 16, 4)]:
            arrays.update({f"h.0.{name}.weight": [inputs, outputs], f"h.0.{name}.bias": [outputs]})
        arrays = {prefix + name: shape for name, shape in arrays.items()}
        if not tied:
            arrays["lm_head.weight"] = [3, 4]
        return language_model("GPT2LMHeadModel", config, arrays)

    for activation in ("silu", "swish", "gelu", "gelu_new", "gelu_pytorch_tanh", "relu"):
        for biases in itertools.product((False, True), repeat=2):
            for tied in (False, True):
                expect(f"a LLaMA with {activation}, {biases}, {tied}", llama(activation, *biases, tied), 0, "1 passed, 0 failed")
        for tied in (False, True):
            expect(f"a GPT-2 with {activation}, {tied}", gpt2(activation, tied, "transformer."), 0, "1 passed, 0 failed")
    expect("an activation that is not known", llama("tanh", False, False, True), 1, "hidden_act is \"tanh\", the model's type has silu or swish")

    # --- files ---
    def with_file(change):
        def make(folder):
            change(relu(folder) / "in.x.npy")
        return make

    def cut(file):
        file.write_bytes(file.read_bytes()[:-1])

    def longer(file):
        file.write_bytes(file.read_bytes() + b"\0\0\0\0")

    header = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }"
    body = struct.pack("<6f", *X.values)
    expect("a truncated file", with_file(cut), 1, "in.x.npy: expected the elements of its shape, [2, 3] F32; the file has 23 bytes")
    expect("a file that is too long", with_file(longer), 1, "the file has 28 bytes after the header")
    expect("a file that is missing", with_file(pathlib.Path.unlink), 1, "in.x.npy: the file cannot be opened")
    expect("a file of another format", with_file(lambda f: f.write_bytes(b"\x93NUMPY\x04\x00" + b"\0" * 64)), 1, "expected a .npy file of format 1.0")
    expect("a header longer than the file", with_file(lambda f: f.write_bytes(b"\x93NUMPY\x01\x00\xff\xff{")), 1, "expected a header of 65535 bytes")
    columns = struct.pack("<6f", *(X.values[3 * row + column] for column in range(3) for row in range(2)))
    expect("elements in Fortran order", with_file(lambda f: npy(f, header.replace("False", "True"), columns)), 0, "1 passed, 0 failed")
    expect("big-endian elements", with_file(lambda f: npy(f, header.replace("<f4", ">f4"), body)), 1, "expected an element type that is known")
    expect("extents whose product overflows", with_file(lambda f: npy(f, header.replace("(2, 3)", "(4294967296, 4294967296, 4)"), b"")), 1,
           "expected the elements of its shape")
    expect("a negative extent", with_file(lambda f: npy(f, header.replace("(2, 3)", "(-2, 3)"), body)), 1, "expected an extent")
    expect("something behind the dictionary", with_file(lambda f: npy(f, header + "x", body)), 1, "expected nothing after the dictionary")
    expect("a key that is missing", with_file(lambda f: npy(f, "{'descr': '<f4', 'shape': (2, 3), }", body)), 1, "expected descr, fortran_order and shape")
    expect("a file that contradicts the manifest", with_file(lambda f: npy(f, header.replace("(2, 3)", "(3, 2)"), body)), 1,
           "expected \"float32\" [2,3] as the manifest says; the file holds float32 [3,2]")

    for problem in problems:
        print(problem)
    print(f"{len(problems)} problems")
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
