#!/usr/bin/env python3
"""Makes the folder from which tests/data/mixtures.dwpack is packed: tiny OLMoE, GraniteMoE and PhiMoE with drawn weights, and their logits in float64.

    python3 tests/data/mixtures_data.py FOLDER
    python3 tests/data/pack_data.py FOLDER tests/data/mixtures.dwpack

Weights are drawn from a seed and rounded to float32; everything else is computed here in Python's floats, which are float64, by loops
that follow the published formulas (Muennighoff et al. 2024; IBM 2024; Liu et al. 2024; conventions of huggingface/transformers) and share
nothing with the library. The form is that of the suite `architectures`. Standard library only.
"""

import array
import json
import math
import pathlib
import random
import sys

from golden import golden_of
from safetensors_file import write

VOCAB, D, HEADS, KV_HEADS, HEAD, LAYERS, HIDDEN, EXPERTS, CHOSEN = 40, 24, 4, 2, 6, 3, 10, 5, 2
PROMPTS = [[7], [3, 31, 8, 0, 22, 5, 39], [11, 4, 4, 36, 19, 2, 28, 30, 9, 17, 33, 1]]
CONTINUED = 8
USUAL = {"vocab_size": VOCAB, "hidden_size": D, "intermediate_size": HIDDEN, "num_hidden_layers": LAYERS, "num_attention_heads": HEADS,
         "num_key_value_heads": KV_HEADS, "hidden_act": "silu", "max_position_embeddings": 64, "rms_norm_eps": 1e-4,
         "tie_word_embeddings": False, "torch_dtype": "float32", "num_experts_per_tok": CHOSEN}
# Long texts begin after 8 positions.
ROTARY = {"type": "longrope", "short_factor": [1.0, 1.5, 2.0], "long_factor": [1.2, 2.5, 4.0], "short_mscale": 1.1, "long_mscale": 1.3,
          "original_max_position_embeddings": 8}
CASES = {
    "olmoe": {"class": "OlmoeForCausalLM", "seed": 3, "tags": ["moe", "gqa", "head-norm", "untied"],
              "config": {"num_experts": EXPERTS, "norm_topk_prob": False, "rope_theta": 10000.0, "clip_qkv": None}},
    "granitemoe": {"class": "GraniteMoeForCausalLM", "seed": 4, "tags": ["moe", "gqa", "multipliers", "tied", "stacked-experts"],
                   "config": {"num_local_experts": EXPERTS, "rope_theta": 10000.0, "tie_word_embeddings": True, "embedding_multiplier": 6.0,
                              "attention_multiplier": 0.3, "residual_multiplier": 0.6, "logits_scaling": 2.0}},
    "phimoe": {"class": "PhimoeForCausalLM", "seed": 6, "tags": ["moe", "gqa", "sparse-mixer", "longrope", "biases", "untied"],
               "config": {"num_local_experts": EXPERTS, "rope_theta": 5000.0, "rope_scaling": ROTARY, "router_jitter_noise": 0.3,
                          "attention_bias": True, "lm_head_bias": True, "sliding_window": None}},
}


def product(matrix, x):
    return [sum(w * a for w, a in zip(row, x)) for row in matrix]


def softmax(logits):
    most = max(logits)
    weights = [math.exp(one - most) for one in logits]
    return [one / sum(weights) for one in weights]


class Model:
    """One of the three, chosen by its name. Weights: extents and numbers by HuggingFace's names."""

    def __init__(self, kind):
        self.kind, self.config = kind, USUAL | CASES[kind]["config"]
        self.draw, self.weights = random.Random(CASES[kind]["seed"]), {}
        self.smallest_gap = math.inf  # of every decision that rounding could change
        self.far = 0  # experts that SparseMixer leaves out of a sum
        phi, granite = kind == "phimoe", kind == "granitemoe"
        self.add("model.embed_tokens.weight", VOCAB, D, size=0.1)
        for i in range(LAYERS):
            at = f"model.layers.{i}."
            self.add_norm(at + "input_layernorm", D)
            for part, heads in (("q", HEADS), ("k", KV_HEADS), ("v", KV_HEADS)):
                self.add_map(f"{at}self_attn.{part}_proj", heads * HEAD, D, phi)
            self.add_map(at + "self_attn.o_proj", D, HEADS * HEAD, phi)
            if kind == "olmoe":
                self.add_norm(at + "self_attn.q_norm", HEADS * HEAD)
                self.add_norm(at + "self_attn.k_norm", KV_HEADS * HEAD)
            self.add_norm(at + "post_attention_layernorm", D)
            if granite:
                self.add(at + "block_sparse_moe.router.layer.weight", EXPERTS, D)
                self.add(at + "block_sparse_moe.input_linear.weight", EXPERTS, 2 * HIDDEN, D)
                self.add(at + "block_sparse_moe.output_linear.weight", EXPERTS, D, HIDDEN)
                continue
            place = at + ("block_sparse_moe." if phi else "mlp.")
            self.add(place + "gate.weight", EXPERTS, D)
            for e in range(EXPERTS):
                gate, up, down = ("w1", "w3", "w2") if phi else ("gate_proj", "up_proj", "down_proj")
                self.add(f"{place}experts.{e}.{gate}.weight", HIDDEN, D)
                self.add(f"{place}experts.{e}.{up}.weight", HIDDEN, D)
                self.add(f"{place}experts.{e}.{down}.weight", D, HIDDEN)
        self.add_norm("model.norm", D)
        if not granite:
            self.add_map("lm_head", VOCAB, D, phi)

    def add(self, name, *extents, mean=0.0, size=0.4):
        numbers = array.array("f", [self.draw.gauss(mean, size) for _ in range(math.prod(extents))])
        self.weights[name] = (list(extents), numbers)

    def add_map(self, name, outputs, inputs, bias):
        self.add(name + ".weight", outputs, inputs)
        if bias:
            self.add(name + ".bias", outputs)

    def add_norm(self, name, features):
        self.add(name + ".weight", features, mean=1)
        if self.kind == "phimoe":
            self.add(name + ".bias", features)

    def matrix(self, name, part=0):
        extents, numbers = self.weights[name]
        rows, columns = extents[-2:]
        return [numbers[(part * rows + r) * columns:(part * rows + r + 1) * columns] for r in range(rows)]

    def map(self, name, x):
        y = product(self.matrix(name + ".weight"), x)
        return [a + b for a, b in zip(y, self.weights[name + ".bias"][1])] if name + ".bias" in self.weights else y

    def norm(self, name, x):
        if self.kind == "phimoe":
            mean = sum(x) / len(x)
            x = [a - mean for a in x]
        factor = 1 / math.sqrt(sum(a * a for a in x) / len(x) + self.config["rms_norm_eps"])
        biases = self.weights[name + ".bias"][1] if self.kind == "phimoe" else [0.0] * len(x)
        return [a * factor * s + b for a, s, b in zip(x, self.weights[name + ".weight"][1], biases)]

    def turned(self, x, position, length):
        half, result, how = HEAD // 2, list(x), self.config.get("rope_scaling")
        is_long = how is not None and length > how["original_max_position_embeddings"]
        scale = 1.0 if how is None else how["long_mscale" if is_long else "short_mscale"]
        for i in range(half):
            divisor = 1.0 if how is None else how["long_factor" if is_long else "short_factor"][i]
            angle = position * self.config["rope_theta"] ** (-2 * i / HEAD) / divisor
            c, s = scale * math.cos(angle), scale * math.sin(angle)
            result[i], result[i + half] = x[i] * c - x[i + half] * s, x[i + half] * c + x[i] * s
        return result

    def attention(self, at, rows):
        queries, keys, values = [], [], []
        for position, x in enumerate(rows):
            q, k, v = (self.map(f"{at}self_attn.{part}_proj", x) for part in "qkv")
            if self.kind == "olmoe":
                q, k = self.norm(at + "self_attn.q_norm", q), self.norm(at + "self_attn.k_norm", k)
            queries.append([self.turned(q[h * HEAD:(h + 1) * HEAD], position, len(rows)) for h in range(HEADS)])
            keys.append([self.turned(k[h * HEAD:(h + 1) * HEAD], position, len(rows)) for h in range(KV_HEADS)])
            values.append([v[h * HEAD:(h + 1) * HEAD] for h in range(KV_HEADS)])
        scale = self.config.get("attention_multiplier", 1 / math.sqrt(HEAD))
        result = []
        for p in range(len(rows)):
            heads = []
            for h in range(HEADS):
                kv = h // (HEADS // KV_HEADS)
                weights = softmax([scale * sum(a * b for a, b in zip(queries[p][h], keys[j][kv])) for j in range(p + 1)])
                heads += [sum(w * values[j][kv][f] for j, w in enumerate(weights)) for f in range(HEAD)]
            result.append(self.map(at + "self_attn.o_proj", heads))
        return result

    def shares(self, logits):
        """-> the chosen experts and their weights"""
        order = sorted(range(EXPERTS), key=lambda e: -logits[e])
        self.smallest_gap = min(self.smallest_gap, logits[order[CHOSEN - 1]] - logits[order[CHOSEN]])
        chosen = order[:CHOSEN]
        if self.kind == "olmoe":
            chances = softmax(logits)
            return [(e, chances[e]) for e in chosen]
        if self.kind == "granitemoe":
            return list(zip(chosen, softmax([logits[e] for e in chosen])))
        # SparseMixer: the best of the experts that are left, weighted by a softmax over those near it.
        self.smallest_gap = min(self.smallest_gap, logits[order[0]] - logits[order[1]])
        left, result = list(order), []
        for _ in range(CHOSEN):
            best = left[0]
            near = []
            for e in left:
                distance = (logits[best] - logits[e]) / max(abs(logits[e]), logits[best]) - 2 * self.config["router_jitter_noise"]
                self.smallest_gap = min(self.smallest_gap, abs(distance))
                self.far += distance > 0
                if not distance > 0:
                    near.append(e)
            result.append((best, softmax([logits[e] for e in near])[near.index(best)]))
            left.remove(best)
        return result

    def experts(self, at, x):
        granite, phi = self.kind == "granitemoe", self.kind == "phimoe"
        place = at + ("mlp." if self.kind == "olmoe" else "block_sparse_moe.")
        total = [0.0] * D
        for e, share in self.shares(self.map(place + ("router.layer" if granite else "gate"), x)):
            if granite:
                both = product(self.matrix(place + "input_linear.weight", e), x)
                gate, up, down = both[:HIDDEN], both[HIDDEN:], self.matrix(place + "output_linear.weight", e)
            else:
                names = ("w1", "w3", "w2") if phi else ("gate_proj", "up_proj", "down_proj")
                maps = [self.matrix(f"{place}experts.{e}.{name}.weight") for name in names]
                gate, up, down = product(maps[0], x), product(maps[1], x), maps[2]
            y = product(down, [g / (1 + math.exp(-g)) * u for g, u in zip(gate, up)])
            total = [a + share * b for a, b in zip(total, y)]
        return total

    def logits(self, ids):
        table = self.matrix("model.embed_tokens.weight")
        branch = self.config.get("residual_multiplier", 1.0)
        rows = [[self.config.get("embedding_multiplier", 1.0) * a for a in table[i]] for i in ids]
        for i in range(LAYERS):
            at = f"model.layers.{i}."
            attended = self.attention(at, [self.norm(at + "input_layernorm", x) for x in rows])
            rows = [[a + branch * b for a, b in zip(x, y)] for x, y in zip(rows, attended)]
            rows = [[a + branch * b for a, b in zip(x, self.experts(at, self.norm(at + "post_attention_layernorm", x)))] for x in rows]
        rows = [self.norm("model.norm", x) for x in rows]
        if self.kind == "granitemoe":
            return [[a / self.config["logits_scaling"] for a in product(table, x)] for x in rows]
        return [self.map("lm_head", x) for x in rows]


def checked_golden(name, model):
    golden, margin, largest = golden_of(model, PROMPTS, CONTINUED)
    print(f"{name}: smallest margin {margin:.4f}, smallest gap of the router {model.smallest_gap:.4f}, largest logit {largest:.2f}, "
          f"{model.far} far experts")
    if margin < 0.005 or model.smallest_gap < 0.0005 or (name == "phimoe" and model.far == 0):
        sys.exit("mixtures_data: the greedy tokens or the experts would depend on rounding; draw from another seed")
    return golden


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    place, cases = pathlib.Path(sys.argv[1]), []
    for name, case in CASES.items():
        model = Model(name)
        folder = place / name
        folder.mkdir(parents=True, exist_ok=True)
        config = {"architectures": [case["class"]], "model_type": name} | model.config
        (folder / "config.json").write_text(json.dumps(config, indent=1, sort_keys=True) + "\n")
        arrays = {key: ("F32", extents, numbers.tobytes()) for key, (extents, numbers) in model.weights.items()}
        write(folder / "model.safetensors", arrays)
        write(folder / "golden.safetensors", checked_golden(name, model))
        cases.append({"name": name, "folder": name, "model_type": name, "class": case["class"], "kind": "decoder", "tags": case["tags"],
                      "tol": {"rtol": 2e-5, "atol": 1e-4}})
    manifest = {"format": 1, "suite": "mixtures", "origin": "tests/data/mixtures_data.py", "count": len(cases), "cases": cases}
    (place / "manifest.json").write_text(json.dumps(manifest, indent=1) + "\n")


if __name__ == "__main__":
    main()
