"""The rivals of bench_embeddings: ONNX Runtime and PyTorch, with the same weights and texts.

    python3 benchmarks/rivals/embeddings.py make FOLDER                       weights, texts, the ONNX model
    python3 benchmarks/rivals/embeddings.py torch FOLDER THREADS SECONDS
    node benchmarks/rivals/onnxruntime_embeddings.js FOLDER THREADS SECONDS   (NODE_PATH reaches onnxruntime-node)

The shape is that of all-MiniLM-L6-v2: 6 layers, 384 features, 12 heads, 1536 hidden features; weights and ids are drawn. Both rivals get padded batches
and a mask, or each text in a call of its own (_single). The ONNX model has the fused nodes to which ONNX Runtime's optimizer for BERT turns a model. PyTorch
runs its fused TransformerEncoder, which packs padded batches itself (nested tensors). `make` needs numpy and onnx.
"""

import json
import pathlib
import sys
import time

LAYERS, D, HEADS, HIDDEN, VOCAB, LONGEST, EPSILON = 6, 384, 12, 1536, 30522, 512, 1e-12
BATCHES = {"one_16": [16], "one_128": [128], "one_512": [512], "short_32x16": [16] * 32, "long_8x256": [256] * 8,
           "mixed_32": [8 + 31 * i % 249 for i in range(32)]}


def names():
    """-> {name: extents} of BertModel"""
    e = "embeddings."
    made = {e + "word_embeddings.weight": (VOCAB, D), e + "position_embeddings.weight": (LONGEST, D), e + "token_type_embeddings.weight": (2, D),
            e + "LayerNorm.weight": (D,), e + "LayerNorm.bias": (D,)}
    for i in range(LAYERS):
        at = f"encoder.layer.{i}."
        for part, out, into in (("attention.self.query", D, D), ("attention.self.key", D, D), ("attention.self.value", D, D),
                                ("attention.output.dense", D, D), ("intermediate.dense", HIDDEN, D), ("output.dense", D, HIDDEN)):
            made[f"{at}{part}.weight"], made[f"{at}{part}.bias"] = (out, into), (out,)
        for part in ("attention.output.LayerNorm", "output.LayerNorm"):
            made[f"{at}{part}.weight"], made[f"{at}{part}.bias"] = (D,), (D,)
    return made


def make(folder):
    import numpy as np
    import onnx
    from onnx import TensorProto, helper, numpy_helper

    folder.mkdir(parents=True, exist_ok=True)
    draw = np.random.default_rng(1)
    weights = {name: (draw.standard_normal(extents) * 0.05 + name.endswith("LayerNorm.weight")).astype(np.float32)
               for name, extents in names().items()}
    header, at = {}, 0
    for name, w in weights.items():
        header[name] = {"dtype": "F32", "shape": list(w.shape), "data_offsets": [at, at + w.nbytes]}
        at += w.nbytes
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(folder / "model.safetensors", "wb") as file:
        file.write(len(text).to_bytes(8, "little") + text)
        for w in weights.values():
            file.write(w.tobytes())
    (folder / "config.json").write_text(json.dumps({
        "model_type": "bert", "architectures": ["BertModel"], "vocab_size": VOCAB, "hidden_size": D, "num_hidden_layers": LAYERS,
        "num_attention_heads": HEADS, "intermediate_size": HIDDEN, "hidden_act": "gelu", "max_position_embeddings": LONGEST,
        "layer_norm_eps": EPSILON, "type_vocab_size": 2, "pad_token_id": 0}))
    (folder / "batches.json").write_text(json.dumps([
        {"name": name, "ids": [draw.integers(1000, VOCAB, n).tolist() for n in lengths]} for name, lengths in BATCHES.items()]))

    ms, nodes, inits = "com.microsoft", [], []

    def constant(name, value):
        inits.append(numpy_helper.from_array(np.ascontiguousarray(value), name))
        return name

    def weight(name):
        return constant(name, weights[name])

    def node(kind, inputs, outputs, domain="", **settings):
        nodes.append(helper.make_node(kind, inputs, outputs, domain=domain, **settings))
        return outputs[0]

    e = "embeddings."
    x = node("EmbedLayerNormalization", ["ids", "segments"] + [weight(e + part) for part in (
        "word_embeddings.weight", "position_embeddings.weight", "token_type_embeddings.weight", "LayerNorm.weight", "LayerNorm.bias")] + ["mask"],
        ["x", "mask_index"], ms, epsilon=EPSILON)
    for i in range(LAYERS):
        at = f"encoder.layer.{i}."
        qkv = np.concatenate([weights[f"{at}attention.self.{part}.weight"].T for part in ("query", "key", "value")], axis=1)
        bias = np.concatenate([weights[f"{at}attention.self.{part}.bias"] for part in ("query", "key", "value")])
        y = node("Attention", [x, constant(at + "qkv", qkv), constant(at + "qkv_bias", bias), "mask"], [at + "a"], ms, num_heads=HEADS)
        y = node("MatMul", [y, constant(at + "o", weights[at + "attention.output.dense.weight"].T)], [at + "b"])
        norm = at + "attention.output.LayerNorm."
        x = node("SkipLayerNormalization", [y, x, weight(norm + "weight"), weight(norm + "bias"), weight(at + "attention.output.dense.bias")],
                 [at + "c"], ms, epsilon=EPSILON)
        y = node("MatMul", [x, constant(at + "up", weights[at + "intermediate.dense.weight"].T)], [at + "d"])
        y = node("BiasGelu", [y, weight(at + "intermediate.dense.bias")], [at + "e"], ms)
        y = node("MatMul", [y, constant(at + "down", weights[at + "output.dense.weight"].T)], [at + "f"])
        norm = at + "output.LayerNorm."
        x = node("SkipLayerNormalization", [y, x, weight(norm + "weight"), weight(norm + "bias"), weight(at + "output.dense.bias")], [at + "g"], ms,
                 epsilon=EPSILON)
    seen = node("Cast", ["mask"], ["seen"], to=TensorProto.FLOAT)
    row = node("Unsqueeze", [seen, constant("axis", np.array([1]))], ["row"])
    total = node("MatMul", [row, x], ["total"])  # the sum over the tokens: its direction is that of the mean
    flat = node("Squeeze", [total, "axis"], ["flat"])
    node("LpNormalization", [flat], ["vectors"], axis=1, p=2)
    ids = [helper.make_tensor_value_info(name, TensorProto.INT32, ["batch", "seq"]) for name in ("ids", "segments", "mask")]
    graph = helper.make_graph(nodes, "bert", ids, [helper.make_tensor_value_info("vectors", TensorProto.FLOAT, ["batch", D])], inits)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17), helper.make_opsetid(ms, 1)])
    model.ir_version = 8
    onnx.save(model, str(folder / "model.onnx"))


def run_torch(folder, threads, budget):
    import torch

    torch.set_num_threads(threads)
    data = (folder / "model.safetensors").read_bytes()
    size = int.from_bytes(data[:8], "little")
    header = json.loads(data[8:8 + size])
    memory = torch.frombuffer(bytearray(data[8 + size:]), dtype=torch.float32)
    w = {name: memory[one["data_offsets"][0] // 4:one["data_offsets"][1] // 4].reshape(one["shape"]) for name, one in header.items()}
    layers = torch.nn.TransformerEncoder(torch.nn.TransformerEncoderLayer(D, HEADS, HIDDEN, activation="gelu", layer_norm_eps=EPSILON,
                                                                          batch_first=True), LAYERS, enable_nested_tensor=True)
    with torch.no_grad():
        for i, layer in enumerate(layers.layers):
            at = f"encoder.layer.{i}."
            layer.self_attn.in_proj_weight.copy_(torch.cat([w[f"{at}attention.self.{part}.weight"] for part in ("query", "key", "value")]))
            layer.self_attn.in_proj_bias.copy_(torch.cat([w[f"{at}attention.self.{part}.bias"] for part in ("query", "key", "value")]))
            for to, name in ((layer.self_attn.out_proj, "attention.output.dense"), (layer.norm1, "attention.output.LayerNorm"),
                             (layer.linear1, "intermediate.dense"), (layer.linear2, "output.dense"), (layer.norm2, "output.LayerNorm")):
                to.weight.copy_(w[f"{at}{name}.weight"])
                to.bias.copy_(w[f"{at}{name}.bias"])
    layers.eval()
    clock = time.process_time if threads == 1 else time.perf_counter
    e = "embeddings."
    with torch.inference_mode():
        for batch in json.loads((folder / "batches.json").read_text()):

            def inputs(texts):
                most = max(map(len, texts))
                ids = torch.tensor([text + [0] * (most - len(text)) for text in texts])
                seen = torch.tensor([[1.0] * len(text) + [0.0] * (most - len(text)) for text in texts])
                return ids, seen, None if seen.min() == 1 else seen == 0

            def vectors(ids, seen, hidden):
                most = ids.shape[1]
                x = w[e + "word_embeddings.weight"][ids] + w[e + "position_embeddings.weight"][:most] + w[e + "token_type_embeddings.weight"][0]
                x = torch.nn.functional.layer_norm(x, (D,), w[e + "LayerNorm.weight"], w[e + "LayerNorm.bias"], EPSILON)
                x = layers(x, src_key_padding_mask=hidden)
                return torch.nn.functional.normalize((x * seen[:, :x.shape[1], None]).sum(1))

            for peer, calls in (("torch", [inputs(batch["ids"])]), ("torch_single", [inputs([text]) for text in batch["ids"]])):
                if peer == "torch_single" and len(calls) == 1:
                    continue
                first = float(vectors(*calls[0])[0, 0])
                times, end = [], time.perf_counter() + budget
                while len(times) < 3 or time.perf_counter() < end:
                    begin = clock()
                    for call in calls:
                        vectors(*call)
                    times.append(clock() - begin)
                print(f"{peer} {batch['name']} {threads} {sorted(times)[len(times) // 2] * 1e3:.3f} {first:.5f}", flush=True)


if __name__ == "__main__":
    if len(sys.argv) == 3 and sys.argv[1] == "make":
        make(pathlib.Path(sys.argv[2]))
    elif len(sys.argv) == 5 and sys.argv[1] == "torch":
        run_torch(pathlib.Path(sys.argv[2]), int(sys.argv[3]), float(sys.argv[4]))
    else:
        sys.exit(__doc__)
