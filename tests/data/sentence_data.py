#!/usr/bin/env python3
"""Makes the folder from which tests/data/sentences.dwpack is packed: folders of sentence-transformers and Model2Vec with drawn weights, and
the vectors of texts in float64.

    python3 tests/data/sentence_data.py FOLDER
    python3 tests/data/pack_data.py FOLDER tests/data/sentences.dwpack

The transformer is that of bert_data.py, whose formulas share nothing with the library. Dense and Normalize, and the selection of tokens for
static embeddings, follow UKPLab/sentence-transformers and MinishLab/model2vec: a mean without special tokens; Model2Vec leaves out unknown
words, and reads 512 tokens of at most 512 median lengths of a token. Every case has the ids and the vector of each text. Standard library only.
"""

import array
import json
import math
import pathlib
import random
import statistics
import struct
import sys

import bert_data
from safetensors_file import write

D, WORDS = bert_data.D, bert_data.WORDS
TEXTS = ["the cat sat on the mat.", "a happy dog is running", "A sunny day, unhappy cats"]
# Without tokens, with unknown words, longer than 512 tokens, longer than 512 median lengths.
STATIC_TEXTS = [*TEXTS, "", "elephants", "the elephant sat", "a " * 500 + "the cat " * 30, "person day " * 200]
FEATURES, CLUSTERS = 10, 7
CLASSES = {"Tanh": ("torch.nn.modules.activation.Tanh", math.tanh), "Identity": ("torch.nn.modules.linear.Identity", lambda x: x),
           "GELU": ("torch.nn.modules.activation.GELU", lambda x: x * (1 + math.erf(x / math.sqrt(2))) / 2),
           "ReLU": ("torch.nn.modules.activation.ReLU", lambda x: max(x, 0.0)),
           "SiLU": ("torch.nn.modules.activation.SiLU", lambda x: x / (1 + math.exp(-x))),
           "Sigmoid": ("torch.nn.modules.activation.Sigmoid", lambda x: 1 / (1 + math.exp(-x)))}
# A Dense: outputs, bias, activation, residual. None is Normalize.
CASES = {
    "labse": {"pooling": "cls", "modules": [(D, True, "Tanh", False), None]},
    "two-dense": {"pooling": "mean", "modules": [(40, False, "Identity", False), (16, False, "Identity", False), None],
                  "settings": {"similarity_fn_name": "dot", "truncate_dim": 12, "prompts": {"query": "a ", "document": "the "}}},
    "any-order": {"pooling": "mean", "modules": [None, (40, True, "GELU", False), (40, False, "ReLU", True), None, (16, True, "SiLU", True),
                                                 (16, True, "Sigmoid", False)],
                  "settings": {"similarity_fn_name": "manhattan"}},
}


def numbers_of(draw, *extents, size=0.4):
    return list(extents), array.array("f", [draw.gauss(0, size) for _ in range(math.prod(extents))])


def f32(drawn):
    return "F32", drawn[0], drawn[1].tobytes()


def rows_of(drawn):
    (count, width), numbers = drawn
    return [list(numbers[i * width:(i + 1) * width]) for i in range(count)]


def product(matrix, x):
    return [math.fsum(w * a for w, a in zip(row, x)) for row in rows_of(matrix)]


def normalized(x):
    size = math.sqrt(math.fsum(a * a for a in x))
    return [a / max(size, 1e-12) for a in x]


def put(path, settings):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(settings, indent=1) + "\n")


def modules_of(types):
    return [{"idx": i, "name": str(i), "path": path, "type": "sentence_transformers.models." + name} for i, (path, name) in enumerate(types)]


def golden_of(ids, vectors):
    golden = {}
    for k, (one, vector) in enumerate(zip(ids, vectors)):
        golden[f"text.{k}.input_ids"] = ("I64", [len(one)], array.array("q", one).tobytes())
        golden[f"text.{k}.vector"] = ("F64", [len(vector)], array.array("d", vector).tobytes())
    return golden


def with_dense(folder, case, seed):
    """a BERT, a pooling, and the modules after it"""
    draw, bert = random.Random(seed), bert_data.drawn()
    write(folder / "model.safetensors", {n: ("F32", e, w.tobytes()) for n, (e, w) in bert.items()})
    put(folder / "config.json", bert_data.config())
    put(folder / "tokenizer.json", bert_data.tokenizer())
    flag = {"cls": "pooling_mode_cls_token", "mean": "pooling_mode_mean_tokens"}[case["pooling"]]
    put(folder / "1_Pooling/config.json", {"word_embedding_dimension": D, flag: True})
    types, layers, width = [("", "Transformer"), ("1_Pooling", "Pooling")], [], D
    for i, module in enumerate(case["modules"], 2):
        if module is None:
            types.append((f"{i}_Normalize", "Normalize"))
            layers.append(normalized)
            continue
        outputs, bias, activation, residual = module
        name, f = CLASSES[activation]
        types.append((f"{i}_Dense", "Dense"))
        settings = {"in_features": width, "out_features": outputs, "bias": bias, "activation_function": name}
        put(folder / f"{i}_Dense/config.json", settings | ({"use_residual": True} if residual else {}))
        arrays = {"linear.weight": numbers_of(draw, outputs, width)}
        if bias:
            arrays["linear.bias"] = numbers_of(draw, outputs)
        if residual and outputs != width:
            arrays["residual.weight"] = numbers_of(draw, outputs, width)
        write(folder / f"{i}_Dense/model.safetensors", {n: f32(a) for n, a in arrays.items()})

        def layer(x, arrays=arrays, f=f, residual=residual, outputs=outputs):
            y = product(arrays["linear.weight"], x)
            if "linear.bias" in arrays:
                y = [a + b for a, b in zip(y, arrays["linear.bias"][1])]
            y = [f(a) for a in y]
            if residual:
                y = [a + b for a, b in zip(y, x if outputs == len(x) else product(arrays["residual.weight"], x))]
            return y

        layers.append(layer)
        width = outputs
    put(folder / "modules.json", modules_of(types))
    if "settings" in case:
        put(folder / "config_sentence_transformers.json", case["settings"])
    model, ids, vectors = bert_data.Model(bert), [bert_data.word_pieces(text) for text in TEXTS], []
    for one in ids:
        x = model.features(one, [0] * len(one))
        y = x[0] if case["pooling"] == "cls" else [math.fsum(column) / len(x) for column in zip(*x)]
        for layer in layers:
            y = layer(y)
        vectors.append(y)
    return TEXTS, ids, vectors


def bag_of(text, as_model2vec):
    """-> the ids of a text without special tokens"""
    unknown = WORDS.index("[UNK]")
    if as_model2vec:
        text = text[:512 * int(statistics.median(len(word) for word in WORDS))]
    ids = bert_data.word_pieces(text)[1:-1]
    return [i for i in ids if i != unknown][:512] if as_model2vec else ids


def static(folder, name, seed):
    """tables of floats, halves and bytes; clusters with weights"""
    draw, as_model2vec = random.Random(seed), name != "static-embedding"
    count = CLUSTERS if name == "model2vec-clusters" else len(WORDS)
    table = rows_of(numbers_of(draw, count, FEATURES, size=1.0))
    weights, mapping = [1.0] * len(WORDS), list(range(len(WORDS)))
    inner = folder if as_model2vec else folder / "0_StaticEmbedding"
    inner.mkdir(parents=True, exist_ok=True)
    flat = [a for row in table for a in row]
    if name == "model2vec-clusters":
        body = struct.pack(f"<{len(flat)}e", *flat)
        table = [list(struct.unpack("<10e", body[20 * i:20 * i + 20])) for i in range(count)]
        mapping = [draw.randrange(CLUSTERS) for _ in WORDS]
        weights = [draw.uniform(0.1, 2.0) for _ in WORDS]
        arrays = {"embeddings": ("F16", [count, FEATURES], body), "weights": ("F64", [len(WORDS)], array.array("d", weights).tobytes()),
                  "mapping": ("I32", [len(WORDS)], array.array("i", mapping).tobytes())}
    elif name == "model2vec-bytes":
        table = [[round(40 * a) for a in row] for row in table]
        arrays = {"embeddings": ("I8", [count, FEATURES], array.array("b", [a for row in table for a in row]).tobytes())}
    else:
        key = "embeddings" if as_model2vec else "embedding.weight"
        arrays = {key: ("F32", [count, FEATURES], array.array("f", flat).tobytes())}
    write(inner / "model.safetensors", arrays)
    put(inner / "tokenizer.json", bert_data.tokenizer())
    normalizes = name != "model2vec-clusters"
    if as_model2vec:
        put(folder / "config.json", {"architectures": ["StaticModel"], "hidden_dim": FEATURES, "normalize": normalizes}
            | ({} if name == "model2vec-bytes" else {"model_type": "model2vec"}))
    else:
        put(folder / "modules.json", modules_of([("0_StaticEmbedding", "StaticEmbedding"), ("1_Normalize", "Normalize")]))
    ids, vectors = [bag_of(text, as_model2vec) for text in STATIC_TEXTS], []
    for one in ids:
        columns = zip(*([weights[i] * a for a in table[mapping[i]]] for i in one))
        mean = [math.fsum(column) / len(one) for column in columns] if one else [0.0] * FEATURES
        vectors.append(normalized(mean) if normalizes else mean)
    return STATIC_TEXTS, ids, vectors


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    place, cases = pathlib.Path(sys.argv[1]), []
    names = [*CASES, "model2vec", "model2vec-clusters", "model2vec-bytes", "static-embedding"]
    for seed, name in enumerate(names, 21):
        folder = place / name
        folder.mkdir(parents=True, exist_ok=True)
        texts, ids, vectors = with_dense(folder, CASES[name], seed) if name in CASES else static(folder, name, seed)
        write(folder / "golden.safetensors", golden_of(ids, vectors))
        files = sorted(path for path in folder.rglob("*") if path.is_file())
        cases.append({"name": name, "texts": texts, "files": [{"file": str(path.relative_to(place))} for path in files]})
    manifest = {"format": 1, "suite": "sentences", "origin": "tests/data/sentence_data.py", "count": len(cases), "cases": cases}
    (place / "manifest.json").write_text(json.dumps(manifest, indent=1) + "\n")


if __name__ == "__main__":
    main()
