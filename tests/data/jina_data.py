#!/usr/bin/env python3
"""Makes the folder from which tests/data/jina.dwpack is packed: tiny XLM-RoBERTa encoders with rotary positions and adapters, their features in float64.

    python3 tests/data/jina_data.py FOLDER
    python3 tests/data/pack_data.py FOLDER tests/data/jina.dwpack

Weights are drawn from a seed and rounded to float32; everything else is computed in Python's floats, which are float64, by the formulas of Sturua et
al. 2024 and Hu et al. 2022 (conventions of the code beside the checkpoints, jinaai/xlm-roberta-flash-implementation): a weight with the adapter of a
task is W + alpha / rank · B · A. Shares with deberta_data.py how files are written. Standard library only.
"""

import math
import random
import sys

from deberta_data import D, EPSILON, HEAD, HEADS, HIDDEN, LAYERS, VOCAB, Model, dot, gelu, rows, write_suite

TASKS, RANK, ALPHA = ["retrieval.query", "retrieval.passage", "text-matching"], 2, 3
USUAL = {"vocab_size": VOCAB, "hidden_size": D, "num_hidden_layers": LAYERS, "num_attention_heads": HEADS, "intermediate_size": HIDDEN,
         "hidden_act": "gelu", "max_position_embeddings": 26, "layer_norm_eps": EPSILON, "pad_token_id": 1, "type_vocab_size": 1,
         "position_embedding_type": "rotary"}
ADAPTED = {"architectures": ["XLMRobertaModel"], "rotary_emb_base": 50.0, "lora_adaptations": TASKS, "lora_rank": RANK, "lora_alpha": ALPHA,
           "auto_map": {"AutoModel": "jinaai/xlm-roberta-flash-implementation--modeling_lora.XLMRobertaLoRA"}}
CASES = {  # the same weights without an adapter, with the first and with the last one; and weights without adapters, with heads
    "jina": {"seed": 81, "labels": [], "adapter": None, "config": ADAPTED},
    "jina-retrieval.query": {"seed": 81, "labels": [], "adapter": 0, "config": ADAPTED},
    "jina-text-matching": {"seed": 81, "labels": [], "adapter": 2, "config": ADAPTED},
    "xlm-roberta-rotary": {"seed": 82, "labels": ["one", "two"], "config": {
        "model_type": "xlm-roberta", "architectures": ["XLMRobertaForSequenceClassification"]}},
    "xlm-roberta-rotary-masked": {"seed": 83, "labels": [], "config": {
        "model_type": "xlm-roberta", "architectures": ["XLMRobertaForMaskedLM"], "rotary_emb_base": 20.0, "type_vocab_size": 2}},
}


class Jina(Model):
    """A case of CASES. `weights` has extents and numbers by the names of the checkpoints, `used` the rows of each weight with the adapter."""

    def __init__(self, name):
        self.case, self.config = CASES[name], USUAL | CASES[name]["config"]
        self.draw, self.weights, self.used = random.Random(self.case["seed"]), {}, {}
        kind = self.config["architectures"][0]
        self.add_weight("roberta.embeddings.word_embeddings", VOCAB, D)
        self.add_weight("roberta.embeddings.token_type_embeddings", self.config["type_vocab_size"], D)
        self.add_norm("roberta.emb_ln")
        for i in range(LAYERS):
            at = f"roberta.encoder.layers.{i}."
            self.add_map(at + "mixer.Wqkv", 3 * D, D)
            self.add_map(at + "mixer.out_proj", D, D)
            self.add_norm(at + "norm1")
            self.add_map(at + "mlp.fc1", HIDDEN, D)
            self.add_map(at + "mlp.fc2", D, HIDDEN)
            self.add_norm(at + "norm2")
        if kind.endswith("Model"):
            self.add_map("roberta.pooler.dense", D, D)
        elif kind.endswith("ForMaskedLM"):
            self.add_map("lm_head.dense", D, D)
            self.add_norm("lm_head.layer_norm")
            self.add("lm_head.bias", VOCAB)
        else:
            self.add_map("classifier.dense", D, D)
            self.add_map("classifier.out_proj", len(self.case["labels"]), D)

    def add(self, name, *extents, mean=0.0, size=0.25):
        super().add(name, *extents, mean=mean, size=size)

    def add_map(self, name, outputs, inputs):
        self.add_weight(name, outputs, inputs)
        self.add(name + ".bias", outputs)

    def add_weight(self, name, count, width):
        """Rows and columns of a weight, and its adapters: [task, rank, inputs] and [task, outputs, rank], of an embedding the other way round."""
        if "lora_adaptations" not in self.config:
            self.add(name + ".weight", count, width)
            self.used[name] = rows(self.weights[name + ".weight"])
            return
        at = name + ".parametrizations.weight."
        self.add(at + "original", count, width)
        first, second = (("0.lora_A", "0.lora_B") if "embeddings" in name else ("0.lora_B", "0.lora_A"))
        self.add(at + first, len(TASKS), count, RANK)
        self.add(at + second, len(TASKS), RANK, width)
        whole, task = rows(self.weights[at + "original"]), self.case["adapter"]
        if task is not None:
            left, right = self.weights[at + first][1], self.weights[at + second][1]
            whole = [[w + ALPHA / RANK * math.fsum(left[(task * count + i) * RANK + k] * right[(task * RANK + k) * width + j] for k in range(RANK))
                      for j, w in enumerate(row)] for i, row in enumerate(whole)]
        self.used[name] = whole

    def map(self, name, x):
        return [dot(row, x) + b for row, b in zip(self.used[name], self.weights[name + ".bias"][1])]

    def turned(self, x, position):
        half, y = HEAD // 2, []
        for h in range(HEADS):
            head = x[h * HEAD:(h + 1) * HEAD]
            for i in range(HEAD):
                angle = position / self.config.get("rotary_emb_base", 10000.0) ** (2 * (i % half) / HEAD)
                y.append(head[i] * math.cos(angle) + (head[i + half] * -math.sin(angle) if i < half else head[i - half] * math.sin(angle)))
        return y

    def attention(self, at, text):
        packed = [self.map(at + "Wqkv", x) for x in text]
        q, k, v = ([x[part * D:(part + 1) * D] for x in packed] for part in range(3))
        q, k = ([self.turned(x, i) for i, x in enumerate(part)] for part in (q, k))
        result = []
        for x in q:
            joined = []
            for h in range(HEADS):
                head = slice(h * HEAD, (h + 1) * HEAD)
                shares = [math.exp(dot(x[head], y[head]) / math.sqrt(HEAD)) for y in k]
                joined += [math.fsum(s * y[head][f] for s, y in zip(shares, v)) / math.fsum(shares) for f in range(HEAD)]
            result.append(self.map(at + "out_proj", joined))
        return result

    def features(self, ids, types):
        words, kinds = self.used["roberta.embeddings.word_embeddings"], self.used["roberta.embeddings.token_type_embeddings"]
        text = [self.norm("roberta.emb_ln", [a + b for a, b in zip(words[i], kinds[t % len(kinds)])]) for i, t in zip(ids, types)]
        for i in range(LAYERS):
            at = f"roberta.encoder.layers.{i}."
            text = [self.norm(at + "norm1", [a + b for a, b in zip(x, y)]) for x, y in zip(text, self.attention(at + "mixer.", text))]
            fed = [self.map(at + "mlp.fc2", [gelu(a) for a in self.map(at + "mlp.fc1", x)]) for x in text]
            text = [self.norm(at + "norm2", [a + b for a, b in zip(x, y)]) for x, y in zip(text, fed)]
        return text

    def scores(self, x):
        kind = self.config["architectures"][0]
        if kind.endswith("ForMaskedLM"):
            hidden = [self.norm("lm_head.layer_norm", [gelu(a) for a in self.map("lm_head.dense", one)]) for one in x]
            return [[dot(row, one) + b for row, b in zip(self.used["roberta.embeddings.word_embeddings"], self.weights["lm_head.bias"][1])]
                    for one in hidden]
        if kind.endswith("Model"):
            return x
        return [self.map("classifier.out_proj", [math.tanh(a) for a in self.map("classifier.dense", x[0])])]


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    write_suite("jina", CASES, Jina)
