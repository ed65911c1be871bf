#!/usr/bin/env python3
"""Makes the folder from which tests/data/gpt_oss.dwpack is packed: a tiny gpt-oss with drawn weights, as floats and as MXFP4, and its logits in float64.

    python3 tests/data/gpt_oss_data.py FOLDER
    python3 tests/data/pack_data.py FOLDER tests/data/gpt_oss.dwpack

Weights are drawn from a seed and rounded to float32; everything else is computed here in Python's floats, which are float64, by loops
that follow the published formulas (OpenAI 2025; conventions of huggingface/transformers) and share nothing with the library. The experts of
both cases are the same: the case mxfp4 stores them as blocks and scales, the case floats as matrices [inputs, outputs]. Layers 0 and 2
have a window. Standard library only.
"""

import array
import json
import math
import pathlib
import random
import sys

from golden import golden_of
from safetensors_file import write

VOCAB, D, HEADS, KV_HEADS, HEAD, LAYERS, HIDDEN, EXPERTS, CHOSEN, WINDOW, EPSILON = 40, 32, 4, 2, 8, 3, 32, 5, 2, 4, 1e-5
LIMIT, ALPHA, BASE, FACTOR, TRAINED, FAST, SLOW = 0.75, 1.702, 1500.0, 8.0, 16, 4.0, 1.0
PROMPTS = [[7], [3, 31, 8, 0, 22, 5, 39], [11, 4, 4, 36, 19, 2, 28, 30, 9, 17, 33, 1]]
CONTINUED = 8
VALUES = [0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0]

CONFIG = {
    "architectures": ["GptOssForCausalLM"], "model_type": "gpt_oss", "vocab_size": VOCAB, "hidden_size": D, "intermediate_size": HIDDEN,
    "num_hidden_layers": LAYERS, "num_attention_heads": HEADS, "num_key_value_heads": KV_HEADS, "head_dim": HEAD, "hidden_act": "silu",
    "max_position_embeddings": 128, "rms_norm_eps": EPSILON, "rope_theta": BASE, "tie_word_embeddings": False, "attention_bias": True,
    "sliding_window": WINDOW, "layer_types": ["sliding_attention", "full_attention", "sliding_attention"], "num_local_experts": EXPERTS,
    "num_experts_per_tok": CHOSEN, "swiglu_limit": LIMIT, "torch_dtype": "float32",
    "rope_scaling": {"rope_type": "yarn", "factor": FACTOR, "beta_fast": FAST, "beta_slow": SLOW, "truncate": False,
                     "original_max_position_embeddings": TRAINED},
}


class Experts:
    """All experts of one map: the 4 bits of each element [experts][outputs][inputs], and a scale for each 32 inputs."""

    def __init__(self, draw, outputs, inputs):
        self.outputs, self.inputs = outputs, inputs
        self.bits = [[[draw.randrange(16) for _ in range(inputs)] for _ in range(outputs)] for _ in range(EXPERTS)]
        self.scales = [[[draw.randrange(122, 126) for _ in range(inputs // 32)] for _ in range(outputs)] for _ in range(EXPERTS)]

    def at(self, e, o, i):
        bits = self.bits[e][o][i]
        return (VALUES[bits % 8] if bits < 8 else -VALUES[bits % 8]) * 2.0 ** (self.scales[e][o][i // 32] - 127)

    def blocks(self):
        body = bytes(row[i] + 16 * row[i + 1] for expert in self.bits for row in expert for i in range(0, self.inputs, 2))
        return ("U8", [EXPERTS, self.outputs, self.inputs // 32, 16], body)

    def scale_bytes(self):
        return ("U8", [EXPERTS, self.outputs, self.inputs // 32], bytes(s for expert in self.scales for row in expert for s in row))

    def floats(self):
        body = array.array("f", [self.at(e, o, i) for e in range(EXPERTS) for i in range(self.inputs) for o in range(self.outputs)])
        return ("F32", [EXPERTS, self.inputs, self.outputs], body.tobytes())


def drawn():
    """-> the weights by HuggingFace's names: (extents, numbers), and the experts of each layer"""
    draw = random.Random(5)
    weights, experts = {}, []

    def add(name, *extents, mean=0.0, size=0.4):
        weights[name] = (list(extents), array.array("f", [draw.gauss(mean, size) for _ in range(math.prod(extents))]))

    add("model.embed_tokens.weight", VOCAB, D, size=0.1)
    for i in range(LAYERS):
        at = f"model.layers.{i}."
        add(at + "input_layernorm.weight", D, mean=1)
        for part, heads in (("q", HEADS), ("k", KV_HEADS), ("v", KV_HEADS)):
            add(f"{at}self_attn.{part}_proj.weight", heads * HEAD, D)
            add(f"{at}self_attn.{part}_proj.bias", heads * HEAD)
        add(at + "self_attn.o_proj.weight", D, HEADS * HEAD)
        add(at + "self_attn.o_proj.bias", D)
        add(at + "self_attn.sinks", HEADS, size=1.5)
        add(at + "post_attention_layernorm.weight", D, mean=1)
        add(at + "mlp.router.weight", EXPERTS, D)
        add(at + "mlp.router.bias", EXPERTS)
        add(at + "mlp.experts.gate_up_proj_bias", EXPERTS, 2 * HIDDEN)
        add(at + "mlp.experts.down_proj_bias", EXPERTS, D)
        experts.append((Experts(draw, 2 * HIDDEN, D), Experts(draw, D, HIDDEN)))
    add("model.norm.weight", D, mean=1)
    add("lm_head.weight", VOCAB, D)
    return weights, experts


def frequencies():
    """the angle of each pair at position 1, and the factor of cosines and sines: YaRN without rounding of the bounds"""
    def bound(turns):
        return HEAD * math.log(TRAINED / (turns * 2 * math.pi)) / (2 * math.log(BASE))
    low, high = max(bound(FAST), 0), min(bound(SLOW), HEAD - 1)
    angles = []
    for i in range(HEAD // 2):
        plain = BASE ** (-2 * i / HEAD)
        ramp = min(max((i - low) / (high - low), 0), 1)
        angles.append(plain / FACTOR * ramp + plain * (1 - ramp))
    return angles, 0.1 * math.log(FACTOR) + 1


ANGLES, ROTARY_SCALE = frequencies()


def turned(x, position):
    half, result = HEAD // 2, list(x)
    for i in range(half):
        c, s = ROTARY_SCALE * math.cos(position * ANGLES[i]), ROTARY_SCALE * math.sin(position * ANGLES[i])
        result[i], result[i + half] = x[i] * c - x[i + half] * s, x[i + half] * c + x[i] * s
    return result


class Model:
    def __init__(self, weights, experts):
        self.weights, self.all_experts = weights, experts
        self.smallest_gap, self.clamped = 1.0, 0

    def map(self, name, x):
        (outputs, inputs), numbers = self.weights[name + ".weight"]
        bias = self.weights[name + ".bias"][1] if name + ".bias" in self.weights else [0.0] * outputs
        return [bias[o] + sum(numbers[o * inputs + i] * x[i] for i in range(inputs)) for o in range(outputs)]

    def norm(self, name, x):
        scale = self.weights[name + ".weight"][1]
        factor = 1 / math.sqrt(sum(a * a for a in x) / D + EPSILON)
        return [a * factor * s for a, s in zip(x, scale)]

    def experts(self, layer, x):
        at = f"model.layers.{layer}.mlp."
        logits = self.map(at + "router", x)
        order = sorted(range(EXPERTS), key=lambda e: -logits[e])
        self.smallest_gap = min(self.smallest_gap, logits[order[CHOSEN - 1]] - logits[order[CHOSEN]])
        shares = [math.exp(logits[e] - logits[order[0]]) for e in order[:CHOSEN]]
        gate_up, down = self.all_experts[layer]
        biases, down_biases = self.weights[at + "experts.gate_up_proj_bias"][1], self.weights[at + "experts.down_proj_bias"][1]
        total = [0.0] * D
        for e, share in zip(order, shares):
            both = [biases[e * 2 * HIDDEN + o] + sum(gate_up.at(e, o, i) * x[i] for i in range(D)) for o in range(2 * HIDDEN)]
            hidden = []
            for j in range(HIDDEN):
                self.clamped += both[2 * j] > LIMIT or abs(both[2 * j + 1]) > LIMIT
                gate, up = min(both[2 * j], LIMIT), min(max(both[2 * j + 1], -LIMIT), LIMIT)
                hidden.append((up + 1) * gate / (1 + math.exp(-ALPHA * gate)))
            for o in range(D):
                y = down_biases[e * D + o] + sum(down.at(e, o, i) * hidden[i] for i in range(HIDDEN))
                total[o] += share / sum(shares) * y
        return total

    def attention(self, at, rows, window):
        queries, keys, values = [], [], []
        for position, x in enumerate(rows):
            q, k, v = (self.map(f"{at}self_attn.{part}_proj", x) for part in "qkv")
            queries.append([turned(q[h * HEAD:(h + 1) * HEAD], position) for h in range(HEADS)])
            keys.append([turned(k[h * HEAD:(h + 1) * HEAD], position) for h in range(KV_HEADS)])
            values.append([v[h * HEAD:(h + 1) * HEAD] for h in range(KV_HEADS)])
        sinks = self.weights[at + "self_attn.sinks"][1]
        result = []
        for p in range(len(rows)):
            heads = []
            for h in range(HEADS):
                kv = h // (HEADS // KV_HEADS)
                seen = range(max(0, p + 1 - window) if window else 0, p + 1)
                scores = [sum(a * b for a, b in zip(queries[p][h], keys[j][kv])) / math.sqrt(HEAD) for j in seen]
                most = max(*scores, sinks[h])
                weights = [math.exp(one - most) for one in scores]
                whole = sum(weights) + math.exp(sinks[h] - most)
                heads += [sum(w * values[j][kv][f] for w, j in zip(weights, seen)) / whole for f in range(HEAD)]
            result.append(self.map(at + "self_attn.o_proj", heads))
        return result

    def logits(self, ids):
        (_, width), table = self.weights["model.embed_tokens.weight"]
        rows = [list(table[i * width:(i + 1) * width]) for i in ids]
        for i in range(LAYERS):
            at = f"model.layers.{i}."
            attended = self.attention(at, [self.norm(at + "input_layernorm", x) for x in rows], WINDOW if i % 2 == 0 else 0)
            rows = [[a + b for a, b in zip(x, y)] for x, y in zip(rows, attended)]
            rows = [[a + b for a, b in zip(x, self.experts(i, self.norm(at + "post_attention_layernorm", x)))] for x in rows]
        return [self.map("lm_head", self.norm("model.norm", x)) for x in rows]


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    place = pathlib.Path(sys.argv[1])
    weights, experts = drawn()
    model = Model(weights, experts)
    golden, margin, largest = golden_of(model, PROMPTS, CONTINUED)
    print(f"smallest margin {margin:.4f}, smallest gap of the router {model.smallest_gap:.4f}, largest logit {largest:.2f}, "
          f"{model.clamped} clamped hidden features")
    if margin < 0.01 or model.smallest_gap < 0.001 or model.clamped == 0:
        sys.exit("gpt_oss_data: the greedy tokens or the experts would depend on rounding; draw from another seed")
    arrays = {name: ("F32", extents, numbers.tobytes()) for name, (extents, numbers) in weights.items()}
    cases = []
    for name in ("floats", "mxfp4"):
        folder = place / name
        folder.mkdir(parents=True, exist_ok=True)
        config, all_arrays = dict(CONFIG), dict(arrays)
        if name == "mxfp4":
            config["quantization_config"] = {"quant_method": "mxfp4", "modules_to_not_convert": ["model.layers.*.self_attn"]}
        for i, pair in enumerate(experts):
            for part, map_name in zip(pair, ("gate_up_proj", "down_proj")):
                at = f"model.layers.{i}.mlp.experts.{map_name}"
                if name == "mxfp4":
                    all_arrays[at + "_blocks"], all_arrays[at + "_scales"] = part.blocks(), part.scale_bytes()
                else:
                    all_arrays[at] = part.floats()
        (folder / "config.json").write_text(json.dumps(config, indent=1, sort_keys=True) + "\n")
        write(folder / "model.safetensors", all_arrays)
        write(folder / "golden.safetensors", golden)
        cases.append({"name": name, "folder": name, "model_type": "gpt_oss", "class": "GptOssForCausalLM", "kind": "decoder",
                      "tags": ["gqa", "moe", "sinks", "window", "yarn", "clamp", name], "tol": {"rtol": 2e-5, "atol": 1e-4}})
    manifest = {"format": 1, "suite": "gpt_oss", "origin": "tests/data/gpt_oss_data.py", "count": 2, "cases": cases}
    (place / "manifest.json").write_text(json.dumps(manifest, indent=1) + "\n")


if __name__ == "__main__":
    main()
