#!/usr/bin/env python3
"""Makes the folder from which tests/data/gte.dwpack is packed: tiny GTE encoders with drawn weights, their features and scores in float64.

    python3 tests/data/gte_data.py FOLDER
    python3 tests/data/pack_data.py FOLDER tests/data/gte.dwpack

Weights are drawn from a seed and rounded to float32; everything else is computed in Python's floats, which are float64, by the formulas of Zhang et
al. 2024 (conventions of the code beside the checkpoints, Alibaba-NLP/new-impl). Shares with deberta_data.py how files are written. Standard library only.
"""

import math
import random
import sys

from deberta_data import D, EPSILON, HEAD, HEADS, HIDDEN, LAYERS, VOCAB, Model, dot, gelu, rows, write_suite

USUAL = {"model_type": "new", "vocab_size": VOCAB, "hidden_size": D, "num_hidden_layers": LAYERS, "num_attention_heads": HEADS,
         "intermediate_size": HIDDEN, "hidden_act": "gelu", "max_position_embeddings": 24, "layer_norm_eps": EPSILON, "pad_token_id": 0,
         "layer_norm_type": "layer_norm", "position_embedding_type": "rope", "logn_attention_scale": False, "pack_qkv": True}
CASES = {
    "gte": {"seed": 71, "labels": ["one"], "config": {
        "architectures": ["NewForSequenceClassification"], "type_vocab_size": 2, "rope_theta": 500.0,
        "rope_scaling": {"type": "ntk", "factor": 2.0}}},
    "gte-multilingual": {"seed": 72, "labels": ["O", "B", "I"], "config": {
        "architectures": ["NewForTokenClassification"], "type_vocab_size": 1, "rope_theta": 20.0,
        "rope_scaling": {"type": "ntk", "factor": 8.0, "mixed_b": None}}},
    "gte-separate": {"seed": 73, "labels": [], "config": {
        "architectures": ["NewForMaskedLM"], "type_vocab_size": 0, "rope_theta": 100.0, "rope_scaling": None, "pack_qkv": False}},
}


class Gte(Model):
    """A case of CASES. Weights: extents and numbers by the names of the checkpoints."""

    def __init__(self, name):
        self.case, self.config = CASES[name], USUAL | CASES[name]["config"]
        self.draw, self.weights = random.Random(self.case["seed"]), {}
        scaling = self.config["rope_scaling"] or {"factor": 1.0}
        by = scaling["factor"]
        self.angles = [1 / (self.config["rope_theta"] * by) ** (2 * i / HEAD) / by ** (2 / HEAD) for i in range(HEAD // 2)]
        kind = self.config["architectures"][0]
        self.add("new.embeddings.word_embeddings.weight", VOCAB, D)
        if self.config["type_vocab_size"]:
            self.add("new.embeddings.token_type_embeddings.weight", self.config["type_vocab_size"], D)
        self.add_norm("new.embeddings.LayerNorm")
        for i in range(LAYERS):
            at = f"new.encoder.layer.{i}."
            if self.config["pack_qkv"]:
                self.add_map(at + "attention.qkv_proj", 3 * D, D)
            else:
                for one in "qkv":
                    self.add_map(f"{at}attention.{one}_proj", D, D)
            self.add_map(at + "attention.o_proj", D, D)
            self.add_norm(at + "attn_ln")
            self.add(at + "mlp.up_gate_proj.weight", 2 * HIDDEN, D)
            self.add_map(at + "mlp.down_proj", D, HIDDEN)
            self.add_norm(at + "mlp_ln")
        if kind.endswith("ForSequenceClassification"):
            self.add_map("new.pooler.dense", D, D)
        if self.case["labels"]:
            self.add_map("classifier", len(self.case["labels"]), D)
        else:
            self.add_map("lm_head.dense", D, D)
            self.add_norm("lm_head.norm")
            self.add("lm_head.decoder.bias", VOCAB)

    def add(self, name, *extents, mean=0.0, size=0.25):
        super().add(name, *extents, mean=mean, size=size)

    def turned(self, x, position):
        half, y = HEAD // 2, []
        for h in range(HEADS):
            head = x[h * HEAD:(h + 1) * HEAD]
            for i in range(HEAD):
                angle = position * self.angles[i % half]
                y.append(head[i] * math.cos(angle) + (head[i + half] * -math.sin(angle) if i < half else head[i - half] * math.sin(angle)))
        return y

    def attention(self, at, text):
        if self.config["pack_qkv"]:
            packed = [self.map(at + "qkv_proj", x) for x in text]
            q, k, v = ([x[part * D:(part + 1) * D] for x in packed] for part in range(3))
        else:
            q, k, v = ([self.map(f"{at}{part}_proj", x) for x in text] for part in "qkv")
        q, k = ([self.turned(x, i) for i, x in enumerate(part)] for part in (q, k))
        result = []
        for x in q:
            joined = []
            for h in range(HEADS):
                head = slice(h * HEAD, (h + 1) * HEAD)
                shares = [math.exp(dot(x[head], y[head]) / math.sqrt(HEAD)) for y in k]
                joined += [math.fsum(s * y[head][f] for s, y in zip(shares, v)) / math.fsum(shares) for f in range(HEAD)]
            result.append(self.map(at + "o_proj", joined))
        return result

    def features(self, ids, types):
        at = "new.embeddings."
        text = [rows(self.weights[at + "word_embeddings.weight"])[i] for i in ids]
        if self.config["type_vocab_size"]:
            kinds = rows(self.weights[at + "token_type_embeddings.weight"])
            text = [[a + b for a, b in zip(x, kinds[t % len(kinds)])] for x, t in zip(text, types)]
        text = [self.norm(at + "LayerNorm", x) for x in text]
        for i in range(LAYERS):
            at = f"new.encoder.layer.{i}."
            text = [self.norm(at + "attn_ln", [a + b for a, b in zip(x, y)]) for x, y in zip(text, self.attention(at + "attention.", text))]
            fed = []
            for x in text:
                both = [dot(row, x) for row in rows(self.weights[at + "mlp.up_gate_proj.weight"])]
                fed.append(self.map(at + "mlp.down_proj", [u * gelu(g) for u, g in zip(both[:HIDDEN], both[HIDDEN:])]))
            text = [self.norm(at + "mlp_ln", [a + b for a, b in zip(x, y)]) for x, y in zip(text, fed)]
        return text

    def scores(self, x):
        kind = self.config["architectures"][0]
        if kind.endswith("ForTokenClassification"):
            return [self.map("classifier", one) for one in x]
        if kind.endswith("ForMaskedLM"):
            table = rows(self.weights["new.embeddings.word_embeddings.weight"])
            hidden = [self.norm("lm_head.norm", [gelu(a) for a in self.map("lm_head.dense", one)]) for one in x]
            return [[dot(row, one) + b for row, b in zip(table, self.weights["lm_head.decoder.bias"][1])] for one in hidden]
        return [self.map("classifier", [math.tanh(a) for a in self.map("new.pooler.dense", x[0])])]


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    write_suite("gte", CASES, Gte)
