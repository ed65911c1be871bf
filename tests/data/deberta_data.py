#!/usr/bin/env python3
"""Makes the folder from which tests/data/deberta.dwpack is packed: tiny DeBERTa 2 and 3 with drawn weights, their features and scores in float64.

    python3 tests/data/deberta_data.py FOLDER
    python3 tests/data/pack_data.py FOLDER tests/data/deberta.dwpack

Weights are drawn from a seed and rounded to float32; everything else is computed here in Python's floats, which are float64, by loops that follow the
formulas of He et al. 2021 and 2023 (conventions of huggingface/transformers) and share nothing with the library. Standard library only.
"""

import array
import json
import math
import pathlib
import random
import sys

from safetensors_file import write

VOCAB, D, HEADS, LAYERS, HIDDEN, EPSILON = 30, 24, 3, 3, 32, 1e-6
HEAD = D // HEADS
TEXTS = [[1, 17, 2], [1, 5, 9, 22, 4, 2, 28, 11, 5, 2], [1, 3, 8, 8, 20, 13, 27, 6, 2, 19, 10, 29, 4, 16, 7, 25, 12, 21, 24, 2]]
TYPES = [[0] * 3, [0] * 6 + [1] * 4, [0] * 9 + [1] * 11]
USUAL = {"model_type": "deberta-v2", "vocab_size": VOCAB, "hidden_size": D, "num_hidden_layers": LAYERS, "num_attention_heads": HEADS,
         "intermediate_size": HIDDEN, "hidden_act": "gelu", "max_position_embeddings": 24, "layer_norm_eps": EPSILON, "pad_token_id": 0,
         "relative_attention": True, "pooler_hidden_size": D, "pooler_dropout": 0, "initializer_range": 0.02}
CASES = {
    # As the files of DeBERTa 3: distances up to 4 are exact, those from 11 on and above share the last bucket.
    "deberta-v3": {"seed": 61, "labels": ["entailment", "neutral", "contradiction"], "config": {
        "architectures": ["DebertaV2ForSequenceClassification"], "position_buckets": 8, "max_relative_positions": 12, "share_att_key": True,
        "pos_att_type": "p2c|c2p", "norm_rel_ebd": "layer_norm", "position_biased_input": False, "type_vocab_size": 0,
        "pooler_hidden_act": "gelu"}},
    # Without buckets: distances above 6 have the first or the last row.
    "deberta-v2-own-maps": {"seed": 62, "labels": ["O", "B", "I", "E"], "config": {
        "architectures": ["DebertaV2ForTokenClassification"], "max_relative_positions": 6, "share_att_key": False, "pos_att_type": ["c2p", "p2c"],
        "type_vocab_size": 2}},
    "deberta-v2-masked": {"seed": 63, "labels": [], "config": {
        "architectures": ["DebertaV2ForMaskedLM"], "position_buckets": 6, "max_relative_positions": -1, "share_att_key": True,
        "pos_att_type": ["c2p"], "norm_rel_ebd": "layer_norm", "position_biased_input": False, "type_vocab_size": 0}},
    # Without scores of distances: pos_att_type changes the scale alone.
    "deberta-v2-absolute": {"seed": 64, "labels": ["one"], "config": {
        "architectures": ["DebertaV2ForSequenceClassification"], "relative_attention": False, "pos_att_type": ["p2c"], "type_vocab_size": 2,
        "pooler_hidden_act": "tanh"}},
    # As the two largest files of DeBERTa 2: the features of neighbours are mixed after the first layer.
    "deberta-v2-convolution": {"seed": 65, "labels": ["one", "two"], "config": {
        "architectures": ["DebertaV2ForSequenceClassification"], "position_buckets": 8, "max_relative_positions": -1, "share_att_key": True,
        "pos_att_type": "p2c|c2p", "norm_rel_ebd": "layer_norm", "position_biased_input": False, "type_vocab_size": 0,
        "pooler_hidden_act": "gelu", "conv_kernel_size": 3, "conv_act": "gelu"}},
    "deberta-v2-wide-convolution": {"seed": 66, "labels": ["one", "two"], "config": {
        "architectures": ["DebertaV2ForSequenceClassification"], "relative_attention": False, "pos_att_type": [], "type_vocab_size": 0,
        "pooler_hidden_act": "gelu", "conv_kernel_size": 5}},
}


def gelu(x):
    return x * (1 + math.erf(x / math.sqrt(2))) / 2


def rows(drawn):
    (count, width), numbers = drawn
    return [numbers[i * width:(i + 1) * width] for i in range(count)]


def dot(x, y):
    return math.fsum(a * b for a, b in zip(x, y))


class Model:
    """A case of CASES. Weights: extents and numbers by HuggingFace's names."""

    def __init__(self, name):
        self.case, self.config = CASES[name], USUAL | CASES[name]["config"]
        self.draw, self.weights = random.Random(self.case["seed"]), {}
        c = self.config
        self.kinds = c["pos_att_type"].split("|") if isinstance(c["pos_att_type"], str) else c["pos_att_type"]
        self.most = c.get("max_relative_positions", -1)
        self.most = c["max_position_embeddings"] if self.most < 1 else self.most
        self.span = c["position_buckets"] if c.get("position_buckets", -1) > 0 else self.most
        at = "deberta.embeddings."
        self.add(at + "word_embeddings.weight", VOCAB, D)
        if c.get("position_biased_input", True):
            self.add(at + "position_embeddings.weight", c["max_position_embeddings"], D)
        if c["type_vocab_size"]:
            self.add(at + "token_type_embeddings.weight", c["type_vocab_size"], D)
        self.add_norm(at + "LayerNorm")
        if c["relative_attention"]:
            self.add("deberta.encoder.rel_embeddings.weight", 2 * self.span, D, size=1.0)
            if c.get("norm_rel_ebd") == "layer_norm":
                self.add_norm("deberta.encoder.LayerNorm")
        for i in range(LAYERS):
            at = f"deberta.encoder.layer.{i}."
            maps = ["query_proj", "key_proj", "value_proj"]
            if not c.get("share_att_key", False) and c["relative_attention"]:
                maps += ["pos_key_proj", "pos_query_proj"]
            for one in maps:
                self.add_map(f"{at}attention.self.{one}", D, D)
            self.add_map(at + "attention.output.dense", D, D)
            self.add_norm(at + "attention.output.LayerNorm")
            self.add_map(at + "intermediate.dense", HIDDEN, D)
            self.add_map(at + "output.dense", D, HIDDEN)
            self.add_norm(at + "output.LayerNorm")
        if c.get("conv_kernel_size", 0):
            self.add("deberta.encoder.conv.conv.weight", D, D, c["conv_kernel_size"])
            self.add("deberta.encoder.conv.conv.bias", D)
            self.add_norm("deberta.encoder.conv.LayerNorm")
        kind = c["architectures"][0]
        if kind.endswith("ForSequenceClassification"):
            self.add_map("pooler.dense", D, D)
        if self.case["labels"]:
            self.add_map("classifier", len(self.case["labels"]), D)
        else:
            self.add_map("cls.predictions.transform.dense", D, D)
            self.add_norm("cls.predictions.transform.LayerNorm")
            self.add("cls.predictions.bias", VOCAB)

    def add(self, name, *extents, mean=0.0, size=0.4):
        self.weights[name] = (list(extents), array.array("f", [self.draw.gauss(mean, size) for _ in range(math.prod(extents))]))

    def add_map(self, name, outputs, inputs):
        self.add(name + ".weight", outputs, inputs)
        self.add(name + ".bias", outputs)

    def add_norm(self, name):
        self.add(name + ".weight", D, mean=1.0)
        self.add(name + ".bias", D)

    def map(self, name, x):
        return [dot(row, x) + b for row, b in zip(rows(self.weights[name + ".weight"]), self.weights[name + ".bias"][1])]

    def norm(self, name, x):
        mean = math.fsum(x) / len(x)
        factor = 1 / math.sqrt(math.fsum((a - mean) ** 2 for a in x) / len(x) + EPSILON)
        return [(a - mean) * factor * s + b for a, s, b in zip(x, self.weights[name + ".weight"][1], self.weights[name + ".bias"][1])]

    def row_of(self, query, key):
        """-> the row of the table of distances"""
        d = query - key
        middle = self.config.get("position_buckets", -1) // 2
        if self.config.get("position_buckets", -1) > 0 and abs(d) > middle:
            bucket = middle + math.ceil(math.log(abs(d) / middle) / math.log((self.most - 1) / middle) * (middle - 1))
            d = bucket if d > 0 else -bucket
        return min(max(d + self.span, 0), 2 * self.span - 1)

    def heads_of(self, name, x):
        y = self.map(name, x)
        return [y[h * HEAD:(h + 1) * HEAD] for h in range(HEADS)]

    def attention(self, at, text):
        q, k, v = ([self.heads_of(f"{at}self.{part}_proj", x) for x in text] for part in ("query", "key", "value"))
        scale = 1 / math.sqrt(HEAD * (1 + len(self.kinds)))
        used = self.kinds if self.config["relative_attention"] else []
        if used:
            table = rows(self.weights["deberta.encoder.rel_embeddings.weight"])
            if self.config.get("norm_rel_ebd") == "layer_norm":
                table = [self.norm("deberta.encoder.LayerNorm", x) for x in table]
            before = "" if self.config["share_att_key"] else "pos_"
            far_k = [self.heads_of(f"{at}self.{before}key_proj", x) for x in table] if "c2p" in used else None
            far_q = [self.heads_of(f"{at}self.{before}query_proj", x) for x in table] if "p2c" in used else None
        result = []
        for i in range(len(text)):
            joined = []
            for h in range(HEADS):
                scores = []
                for j in range(len(text)):
                    score = dot(q[i][h], k[j][h])
                    if "c2p" in used:
                        score += dot(q[i][h], far_k[self.row_of(i, j)][h])
                    if "p2c" in used:
                        score += dot(k[j][h], far_q[self.row_of(i, j)][h])
                    scores.append(score * scale)
                most = max(scores)
                shares = [math.exp(s - most) for s in scores]
                joined += [math.fsum(s * v[j][h][f] for j, s in enumerate(shares)) / math.fsum(shares) for f in range(HEAD)]
            result.append(self.map(at + "output.dense", joined))
        return result

    def features(self, ids, types):
        at = "deberta.embeddings."
        parts = [[rows(self.weights[at + "word_embeddings.weight"])[i] for i in ids]]
        if at + "position_embeddings.weight" in self.weights:
            parts.append(rows(self.weights[at + "position_embeddings.weight"]))
        if at + "token_type_embeddings.weight" in self.weights:
            parts.append([rows(self.weights[at + "token_type_embeddings.weight"])[t] for t in types])
        text = [self.norm(at + "LayerNorm", [math.fsum(column) for column in zip(*one)]) for one in zip(*parts)]
        begun = text
        for i in range(LAYERS):
            at = f"deberta.encoder.layer.{i}."
            attended = self.attention(at + "attention.", text)
            text = [self.norm(at + "attention.output.LayerNorm", [a + b for a, b in zip(x, y)]) for x, y in zip(text, attended)]
            fed = [self.map(at + "output.dense", [gelu(a) for a in self.map(at + "intermediate.dense", x)]) for x in text]
            text = [self.norm(at + "output.LayerNorm", [a + b for a, b in zip(x, y)]) for x, y in zip(text, fed)]
            if i == 0 and self.config.get("conv_kernel_size", 0):
                text = self.convolution(begun, text)
        return text

    def convolution(self, begun, text):
        at, taps = "deberta.encoder.conv.", self.config["conv_kernel_size"]
        weight, bias = self.weights[at + "conv.weight"][1], self.weights[at + "conv.bias"][1]
        active = gelu if self.config.get("conv_act") == "gelu" else math.tanh
        result = []
        for i, x in enumerate(text):
            near = [(t, begun[i + t - taps // 2]) for t in range(taps) if 0 <= i + t - taps // 2 < len(text)]
            mixed = [bias[o] + math.fsum(weight[(o * D + c) * taps + t] * y[c] for t, y in near for c in range(D)) for o in range(D)]
            result.append(self.norm(at + "LayerNorm", [a + active(b) for a, b in zip(x, mixed)]))
        return result

    def scores(self, x):
        kind = self.config["architectures"][0]
        if kind.endswith("ForTokenClassification"):
            return [self.map("classifier", one) for one in x]
        if kind.endswith("ForMaskedLM"):
            table, at = rows(self.weights["deberta.embeddings.word_embeddings.weight"]), "cls.predictions."
            hidden = [self.norm(at + "transform.LayerNorm", [gelu(a) for a in self.map(at + "transform.dense", one)]) for one in x]
            return [[dot(row, one) + b for row, b in zip(table, self.weights[at + "bias"][1])] for one in hidden]
        active = math.tanh if self.config["pooler_hidden_act"] == "tanh" else gelu
        return [self.map("classifier", [active(a) for a in self.map("pooler.dense", x[0])])]


def write_suite(suite, cases_of, model_of):
    """Writes the folder of the command line: a folder for each case, and the manifest."""
    place, cases = pathlib.Path(sys.argv[1]), []
    for name, case in cases_of.items():
        model, folder, golden = model_of(name), place / name, {}
        folder.mkdir(parents=True, exist_ok=True)
        config = dict(model.config)
        if case["labels"]:
            config["id2label"] = {str(i): label for i, label in enumerate(case["labels"])}
        (folder / "config.json").write_text(json.dumps(config, indent=1, sort_keys=True) + "\n")
        write(folder / "model.safetensors", {key: ("F32", extents, numbers.tobytes()) for key, (extents, numbers) in model.weights.items()})
        largest = 0.0
        for k, (ids, types) in enumerate(zip(TEXTS, TYPES)):
            x = model.features(ids, types)
            scores = model.scores(x)
            for key, table in (("last_hidden_f64", x), ("scores_f64", scores)):
                flat = [a for row in table for a in row]
                largest = max(largest, *(abs(a) for a in flat))
                golden[f"text.{k}.{key}"] = ("F64", [len(table), len(table[0])], array.array("d", flat).tobytes())
            golden[f"text.{k}.input_ids"] = ("I64", [len(ids)], array.array("q", ids).tobytes())
            golden[f"text.{k}.token_type_ids"] = ("I64", [len(ids)], array.array("q", types).tobytes())
        print(f"{name}: largest number {largest:.2f}")
        write(folder / "golden.safetensors", golden)
        cases.append({"name": name, "folder": name, "model_type": config.get("model_type", ""), "class": config["architectures"][0], "kind": "encoder"})
    manifest = {"format": 1, "suite": suite, "origin": f"tests/data/{suite}_data.py", "count": len(cases), "cases": cases}
    (place / "manifest.json").write_text(json.dumps(manifest, indent=1) + "\n")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    write_suite("deberta", CASES, Model)
