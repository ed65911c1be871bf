#!/usr/bin/env python3
"""Makes the folder from which tests/data/qwen2_moe.dwpack is packed: a tiny Qwen2-MoE with drawn weights, and its logits in float64.

    python3 tests/data/qwen2_moe_data.py FOLDER
    python3 tests/data/pack_data.py FOLDER tests/data/qwen2_moe.dwpack

Weights are drawn from a seed and rounded to float32; everything else is computed here in Python's floats, which are float64, by loops
that follow the published formulas (Yang et al. 2024; conventions of huggingface/transformers) and share nothing with the library. Layer 0
has a window and experts, layer 1 is plain (mlp_only_layers), layer 2 has experts. The form is that of the suite `architectures`.
Standard library only.
"""

import array
import json
import math
import pathlib
import random
import sys

from golden import golden_of
from safetensors_file import write

VOCAB, D, HEADS, KV_HEADS, HEAD, LAYERS = 40, 24, 4, 2, 6, 3
HIDDEN, EXPERTS, CHOSEN, EXPERT_HIDDEN, SHARED_HIDDEN, PLAIN, WINDOW, EPSILON = 20, 4, 2, 10, 14, (1,), 4, 1e-4
PROMPTS = [[7], [3, 31, 8, 0, 22, 5, 39], [11, 4, 4, 36, 19, 2, 28, 30, 9, 17, 33, 1]]
CONTINUED = 8

CONFIG = {
    "architectures": ["Qwen2MoeForCausalLM"], "model_type": "qwen2_moe", "vocab_size": VOCAB, "hidden_size": D, "intermediate_size": HIDDEN,
    "num_hidden_layers": LAYERS, "num_attention_heads": HEADS, "num_key_value_heads": KV_HEADS, "hidden_act": "silu",
    "max_position_embeddings": 64, "rms_norm_eps": EPSILON, "rope_theta": 10000.0, "tie_word_embeddings": False, "use_sliding_window": True,
    "sliding_window": WINDOW, "max_window_layers": 2, "decoder_sparse_step": 1, "mlp_only_layers": list(PLAIN), "num_experts": EXPERTS,
    "num_experts_per_tok": CHOSEN, "moe_intermediate_size": EXPERT_HIDDEN, "shared_expert_intermediate_size": SHARED_HIDDEN,
    "norm_topk_prob": False, "torch_dtype": "float32",
}


def drawn():
    """-> the weights by HuggingFace's names: (extents, numbers)"""
    draw = random.Random(12)
    weights = {}

    def add(name, *extents, mean=0.0, size=0.4):
        weights[name] = (list(extents), array.array("f", [draw.gauss(mean, size) for _ in range(math.prod(extents))]))

    def feed(name, hidden):
        add(name + "gate_proj.weight", hidden, D)
        add(name + "up_proj.weight", hidden, D)
        add(name + "down_proj.weight", D, hidden)

    add("model.embed_tokens.weight", VOCAB, D, size=0.1)
    for i in range(LAYERS):
        at = f"model.layers.{i}."
        add(at + "input_layernorm.weight", D, mean=1)
        for part, heads in (("q", HEADS), ("k", KV_HEADS), ("v", KV_HEADS)):
            add(f"{at}self_attn.{part}_proj.weight", heads * HEAD, D)
            add(f"{at}self_attn.{part}_proj.bias", heads * HEAD)
        add(at + "self_attn.o_proj.weight", D, HEADS * HEAD)
        add(at + "post_attention_layernorm.weight", D, mean=1)
        if i in PLAIN:
            feed(at + "mlp.", HIDDEN)
            continue
        add(at + "mlp.gate.weight", EXPERTS, D)
        for e in range(EXPERTS):
            feed(f"{at}mlp.experts.{e}.", EXPERT_HIDDEN)
        feed(at + "mlp.shared_expert.", SHARED_HIDDEN)
        add(at + "mlp.shared_expert_gate.weight", 1, D)
    add("model.norm.weight", D, mean=1)
    add("lm_head.weight", VOCAB, D)
    return weights


def silu(x):
    return x / (1 + math.exp(-x))


def turned(x, position):
    """feature i of a head turns with feature i + HEAD / 2"""
    half, result = HEAD // 2, list(x)
    for i in range(half):
        angle = position * 10000.0 ** (-2 * i / HEAD)
        a, b = x[i], x[i + half]
        result[i] = a * math.cos(angle) - b * math.sin(angle)
        result[i + half] = b * math.cos(angle) + a * math.sin(angle)
    return result


class Model:
    def __init__(self, weights):
        self.weights = weights
        self.smallest_gap = 1.0  # between the last chosen and the first rejected expert

    def map(self, name, x):
        (outputs, inputs), numbers = self.weights[name + ".weight"]
        bias = self.weights[name + ".bias"][1] if name + ".bias" in self.weights else [0.0] * outputs
        return [bias[o] + sum(numbers[o * inputs + i] * x[i] for i in range(inputs)) for o in range(outputs)]

    def norm(self, name, x):
        scale = self.weights[name + ".weight"][1]
        factor = 1 / math.sqrt(sum(a * a for a in x) / D + EPSILON)
        return [a * factor * s for a, s in zip(x, scale)]

    def feed(self, name, x):
        gate, up = self.map(name + "gate_proj", x), self.map(name + "up_proj", x)
        return self.map(name + "down_proj", [silu(g) * u for g, u in zip(gate, up)])

    def experts(self, at, x):
        logits = self.map(at + "mlp.gate", x)
        chances = [math.exp(one - max(logits)) for one in logits]
        chances = [one / sum(chances) for one in chances]
        order = sorted(range(EXPERTS), key=lambda e: -chances[e])
        self.smallest_gap = min(self.smallest_gap, chances[order[CHOSEN - 1]] - chances[order[CHOSEN]])
        share = 1 / (1 + math.exp(-self.map(at + "mlp.shared_expert_gate", x)[0]))
        total = [share * one for one in self.feed(at + "mlp.shared_expert.", x)]
        for e in order[:CHOSEN]:
            total = [a + chances[e] * b for a, b in zip(total, self.feed(f"{at}mlp.experts.{e}.", x))]
        return total

    def attention(self, at, rows, window):
        queries, keys, values = [], [], []
        for position, x in enumerate(rows):
            q, k, v = (self.map(f"{at}self_attn.{part}_proj", x) for part in "qkv")
            queries.append([turned(q[h * HEAD:(h + 1) * HEAD], position) for h in range(HEADS)])
            keys.append([turned(k[h * HEAD:(h + 1) * HEAD], position) for h in range(KV_HEADS)])
            values.append([v[h * HEAD:(h + 1) * HEAD] for h in range(KV_HEADS)])
        result = []
        for p in range(len(rows)):
            heads = []
            for h in range(HEADS):
                kv = h // (HEADS // KV_HEADS)
                seen = range(max(0, p + 1 - window) if window else 0, p + 1)
                scores = [sum(a * b for a, b in zip(queries[p][h], keys[j][kv])) / math.sqrt(HEAD) for j in seen]
                weights = [math.exp(one - max(scores)) for one in scores]
                heads += [sum(w * values[j][kv][f] for w, j in zip(weights, seen)) / sum(weights) for f in range(HEAD)]
            result.append(self.map(at + "self_attn.o_proj", heads))
        return result

    def logits(self, ids):
        (_, width), table = self.weights["model.embed_tokens.weight"]
        rows = [list(table[i * width:(i + 1) * width]) for i in ids]
        for i in range(LAYERS):
            at = f"model.layers.{i}."
            attended = self.attention(at, [self.norm(at + "input_layernorm", x) for x in rows], WINDOW if i == 0 else 0)
            rows = [[a + b for a, b in zip(x, y)] for x, y in zip(rows, attended)]
            for p, x in enumerate(rows):
                y = self.norm(at + "post_attention_layernorm", x)
                branch = self.feed(at + "mlp.", y) if i in PLAIN else self.experts(at, y)
                rows[p] = [a + b for a, b in zip(x, branch)]
        return [self.map("lm_head", self.norm("model.norm", x)) for x in rows]


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    place = pathlib.Path(sys.argv[1])
    folder = place / "qwen2_moe"
    folder.mkdir(parents=True, exist_ok=True)
    weights = drawn()
    model = Model(weights)
    golden, margin, largest = golden_of(model, PROMPTS, CONTINUED)
    print(f"smallest margin {margin:.4f}, smallest gap of the router {model.smallest_gap:.4f}, largest logit {largest:.2f}")
    if margin < 0.01 or model.smallest_gap < 0.001:
        sys.exit("qwen2_moe_data: the greedy tokens or the experts would depend on rounding; draw from another seed")
    (folder / "config.json").write_text(json.dumps(CONFIG, indent=1, sort_keys=True) + "\n")
    write(folder / "model.safetensors", {name: ("F32", extents, numbers.tobytes()) for name, (extents, numbers) in weights.items()})
    write(folder / "golden.safetensors", golden)
    case = {"name": "qwen2_moe", "folder": "qwen2_moe", "model_type": "qwen2_moe", "class": "Qwen2MoeForCausalLM", "kind": "decoder",
            "tags": ["gqa", "moe", "shared-expert", "qkv-bias", "window", "untied"], "tol": {"rtol": 2e-5, "atol": 1e-4}}
    manifest = {"format": 1, "suite": "qwen2_moe", "origin": "tests/data/qwen2_moe_data.py", "count": 1, "cases": [case]}
    (place / "manifest.json").write_text(json.dumps(manifest, indent=1) + "\n")


if __name__ == "__main__":
    main()
