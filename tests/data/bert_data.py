#!/usr/bin/env python3
"""Makes the folder from which tests/data/bert.dwpack is packed: a tiny BERT with drawn weights, and its numbers in float64.

    python3 tests/data/bert_data.py FOLDER
    python3 tests/data/pack_data.py FOLDER tests/data/bert.dwpack

Weights are drawn from a seed and rounded to float32; everything else is computed here in Python's floats, which are
float64, by loops that follow the formulas of Devlin et al. 2019 and share nothing with the library. The vocabulary is a
WordPiece of a few words. Of every text golden.safetensors has its ids, the features of all words, the mean over words,
the first word, BERT's own pooling (a map and tanh of the first word) and the cosines of the means.
Standard library only.
"""

import array
import json
import math
import pathlib
import random
import sys

from safetensors_file import write

LAYERS, D, HEADS, HIDDEN, LONGEST, EPSILON = 2, 24, 4, 40, 32, 1e-12
WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "the", "cat", "dog", "sat", "on", "mat", "run", "##ning", "##s",
         "a", "sun", "##ny", "day", "is", "happy", "person", ".", ",", "un"]
TEXTS = ["the cat sat on the mat.", "a happy dog is running", "the", "A sunny day, unhappy cats"]
IDS = [[2, 5, 6, 8, 9, 5, 10, 21, 3], [2, 14, 19, 7, 18, 11, 12, 3], [2, 5, 3], [2, 14, 15, 16, 17, 22, 1, 6, 13, 3]]


def word_pieces(text):
    """-> the ids of a text: lower case, punctuation apart, the longest pieces from the left"""
    for sign in ".,":
        text = text.replace(sign, f" {sign} ")
    found = [WORDS.index("[CLS]")]
    for word in text.lower().split():
        pieces, at = [], 0
        while at < len(word):
            for end in range(len(word), at, -1):
                piece = ("##" if at else "") + word[at:end]
                if piece in WORDS:
                    pieces.append(WORDS.index(piece))
                    at = end
                    break
            else:
                pieces = [WORDS.index("[UNK]")]
                break
        found += pieces
    return [*found, WORDS.index("[SEP]")]


def tokenizer():
    special = [{"id": i, "content": w, "single_word": False, "lstrip": False, "rstrip": False, "normalized": False,
                "special": True} for i, w in enumerate(WORDS[:5])]
    return {"version": "1.0", "truncation": None, "padding": None, "added_tokens": special,
            "normalizer": {"type": "BertNormalizer", "clean_text": True, "handle_chinese_chars": True,
                           "strip_accents": None, "lowercase": True},
            "pre_tokenizer": {"type": "BertPreTokenizer"},
            "post_processor": {"type": "TemplateProcessing",
                               "single": [{"SpecialToken": {"id": "[CLS]", "type_id": 0}},
                                          {"Sequence": {"id": "A", "type_id": 0}},
                                          {"SpecialToken": {"id": "[SEP]", "type_id": 0}}],
                               "pair": [], "special_tokens": {}},
            "decoder": {"type": "WordPiece", "prefix": "##", "cleanup": True},
            "model": {"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##",
                      "max_input_chars_per_word": 100, "vocab": {w: i for i, w in enumerate(WORDS)}}}


def config():
    return {"architectures": ["BertModel"], "model_type": "bert", "vocab_size": len(WORDS), "hidden_size": D,
            "num_hidden_layers": LAYERS, "num_attention_heads": HEADS, "intermediate_size": HIDDEN, "hidden_act": "gelu",
            "max_position_embeddings": LONGEST, "type_vocab_size": 2, "layer_norm_eps": EPSILON, "pad_token_id": 0,
            "position_embedding_type": "absolute"}


def drawn():
    """-> the weights by HuggingFace's names: (extents, numbers)"""
    draw = random.Random(5)
    weights = {}

    def add(name, *extents, mean=0.0, size=0.3):
        numbers = array.array("f", [draw.gauss(mean, size) for _ in range(math.prod(extents))])
        weights[name] = (list(extents), numbers)

    def norm(name):
        add(name + ".weight", D, mean=1)
        add(name + ".bias", D)

    def linear(name, outputs, inputs):
        add(name + ".weight", outputs, inputs)
        add(name + ".bias", outputs)

    add("embeddings.word_embeddings.weight", len(WORDS), D, size=1)
    add("embeddings.position_embeddings.weight", LONGEST, D)
    add("embeddings.token_type_embeddings.weight", 2, D)
    norm("embeddings.LayerNorm")
    for i in range(LAYERS):
        at = f"encoder.layer.{i}."
        for part in ("query", "key", "value"):
            linear(f"{at}attention.self.{part}", D, D)
        linear(at + "attention.output.dense", D, D)
        norm(at + "attention.output.LayerNorm")
        linear(at + "intermediate.dense", HIDDEN, D)
        linear(at + "output.dense", D, HIDDEN)
        norm(at + "output.LayerNorm")
    linear("pooler.dense", D, D)
    return weights


class Model:
    def __init__(self, weights):
        self.weights = weights

    def row(self, name, i):
        (_, width), numbers = self.weights[name]
        return list(numbers[i * width:(i + 1) * width])

    def linear(self, name, x):
        (outputs, inputs), w = self.weights[name + ".weight"]
        bias = self.weights[name + ".bias"][1]
        return [math.fsum([bias[o], *(w[o * inputs + i] * x[i] for i in range(inputs))]) for o in range(outputs)]

    def norm(self, name, x):
        mean = math.fsum(x) / len(x)
        deviation = math.sqrt(math.fsum((v - mean) ** 2 for v in x) / len(x) + EPSILON)
        scale, bias = self.weights[name + ".weight"][1], self.weights[name + ".bias"][1]
        return [(v - mean) / deviation * g + b for v, g, b in zip(x, scale, bias)]

    def attention(self, at, rows):
        width = D // HEADS
        q, k, v = ([self.linear(f"{at}attention.self.{part}", x) for x in rows] for part in ("query", "key", "value"))
        out = [[0.0] * D for _ in rows]
        for h in range(HEADS):
            features = range(h * width, (h + 1) * width)
            for i in range(len(rows)):
                scores = [math.fsum(q[i][f] * k[j][f] for f in features) / math.sqrt(width) for j in range(len(rows))]
                powers = [math.exp(s - max(scores)) for s in scores]
                for f in features:
                    out[i][f] = math.fsum(p * v[j][f] for j, p in enumerate(powers)) / math.fsum(powers)
        return [self.linear(at + "attention.output.dense", x) for x in out]

    def features(self, ids, parts):
        e = "embeddings."
        x = [self.norm(e + "LayerNorm", [a + b + c for a, b, c in zip(
            self.row(e + "word_embeddings.weight", w), self.row(e + "position_embeddings.weight", i),
            self.row(e + "token_type_embeddings.weight", s))]) for i, (w, s) in enumerate(zip(ids, parts))]
        for i in range(LAYERS):
            at = f"encoder.layer.{i}."
            x = [self.norm(at + "attention.output.LayerNorm", [a + b for a, b in zip(r, o)])
                 for r, o in zip(x, self.attention(at, x))]
            gelu = [[0.5 * u * (1 + math.erf(u / math.sqrt(2))) for u in self.linear(at + "intermediate.dense", r)] for r in x]
            x = [self.norm(at + "output.LayerNorm", [a + b for a, b in zip(r, self.linear(at + "output.dense", g))])
                 for r, g in zip(x, gelu)]
        return x


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    place = pathlib.Path(sys.argv[1]) / "tiny-bert"
    place.mkdir(parents=True, exist_ok=True)
    weights = drawn()
    write(place / "model.safetensors", {n: ("F32", e, w.tobytes()) for n, (e, w) in weights.items()})
    (place / "config.json").write_text(json.dumps(config(), indent=1))
    (place / "tokenizer.json").write_text(json.dumps(tokenizer(), separators=(",", ":")))
    model, golden, means = Model(weights), {}, []

    def store(name, kind, extents, numbers):
        golden[name] = (kind, extents, array.array("d" if kind == "F64" else "q", numbers).tobytes())

    for k, (text, ids) in enumerate(zip(TEXTS, IDS)):
        if word_pieces(text) != ids:
            sys.exit(f"bert_data: {text!r} has the ids {word_pieces(text)}, {ids} were expected")
        x = model.features(ids, [0] * len(ids))
        means.append([math.fsum(r[f] for r in x) / len(x) for f in range(D)])
        store(f"text.{k}.input_ids", "I64", [len(ids)], ids)
        store(f"text.{k}.features", "F64", [len(ids), D], [v for r in x for v in r])
        store(f"text.{k}.mean", "F64", [D], means[-1])
        store(f"text.{k}.first", "F64", [D], x[0])
        store(f"text.{k}.mapped", "F64", [D], [math.tanh(v) for v in model.linear("pooler.dense", x[0])])
    pair = IDS[2] + IDS[0][1:]
    parts = [0] * len(IDS[2]) + [1] * (len(IDS[0]) - 1)
    store("pair.input_ids", "I64", [len(pair)], pair)
    store("pair.segments", "I64", [len(pair)], parts)
    store("pair.features", "F64", [len(pair), D], [v for r in model.features(pair, parts) for v in r])
    cosine = lambda a, b: math.fsum(x * y for x, y in zip(a, b)) / math.hypot(*a) / math.hypot(*b)
    store("cosines", "F64", [len(TEXTS)] * 2, [cosine(a, b) for a in means for b in means])
    write(place / "golden.safetensors", golden)
    manifest = {"suite": "bert", "origin": {"engine": "tests/data/bert_data.py, Python's floats (float64)"},
                "models": [{"name": "tiny-bert", "dir": "tiny-bert", "config": "config.json", "weights": "model.safetensors",
                            "tokenizer": "tokenizer.json", "golden": "golden.safetensors", "texts": TEXTS}]}
    (place.parent / "manifest.json").write_text(json.dumps(manifest, indent=1))


if __name__ == "__main__":
    main()
