#!/usr/bin/env python3
"""Makes the folder from which tests/data/deepseek.dwpack is packed: tiny DeepSeek-V2 and V3 with drawn weights, and their logits in float64.

    python3 tests/data/deepseek_data.py FOLDER
    python3 tests/data/pack_data.py FOLDER tests/data/deepseek.dwpack

Weights are drawn from a seed and rounded to float32; everything else is computed here in Python's floats, which are float64, by loops that follow the
published formulas (DeepSeek-AI 2024, 2024b; conventions of the code beside the checkpoints and of huggingface/transformers) and share nothing with
the library. The form is that of the suite `architectures`. Standard library only.
"""

import array
import bisect
import json
import math
import pathlib
import random
import sys

from golden import golden_of
from safetensors_file import write

VOCAB, D, HEADS, CONTENT, ROTATED, VALUE, LATENT, LAYERS, HIDDEN, EXPERT_HIDDEN, EXPERTS, CHOSEN = 40, 24, 3, 6, 4, 5, 10, 3, 20, 8, 8, 3
PROMPTS = [[7], [3, 31, 8, 0, 22, 5, 39], [11, 4, 4, 36, 19, 2, 28, 30, 9, 17, 33, 1]]
CONTINUED = 8
EPSILON, EPSILON_OF_LATENT = 1e-5, 1e-6  # the second one is not a setting
USUAL = {"vocab_size": VOCAB, "hidden_size": D, "intermediate_size": HIDDEN, "num_hidden_layers": LAYERS, "num_attention_heads": HEADS,
         "num_key_value_heads": HEADS, "hidden_act": "silu", "max_position_embeddings": 64, "rms_norm_eps": EPSILON, "tie_word_embeddings": False,
         "torch_dtype": "float32", "num_experts_per_tok": CHOSEN, "n_routed_experts": EXPERTS, "moe_intermediate_size": EXPERT_HIDDEN,
         "n_shared_experts": 2, "first_k_dense_replace": 1, "moe_layer_freq": 1, "kv_lora_rank": LATENT, "qk_nope_head_dim": CONTENT,
         "qk_rope_head_dim": ROTATED, "v_head_dim": VALUE, "rope_theta": 10000, "attention_bias": False, "routed_scaling_factor": 1.0}
YARN = {"type": "yarn", "factor": 4, "original_max_position_embeddings": 16, "beta_fast": 32, "beta_slow": 1, "mscale": 0.707, "mscale_all_dim": 0.707}
CASES = {
    "deepseek-v2-lite": {"type": "deepseek_v2", "class": "DeepseekV2ForCausalLM", "seed": 75, "config": {
        "q_lora_rank": None, "topk_method": "greedy", "n_group": 1, "topk_group": 1, "norm_topk_prob": False, "scoring_func": "softmax",
        "rope_scaling": YARN}},
    "deepseek-v2": {"type": "deepseek_v2", "class": "DeepseekV2ForCausalLM", "seed": 82, "config": {
        "q_lora_rank": 12, "topk_method": "group_limited_greedy", "n_group": 4, "topk_group": 2, "norm_topk_prob": False,
        "scoring_func": "softmax", "routed_scaling_factor": 2.5}},
    "deepseek-v3": {"type": "deepseek_v3", "class": "DeepseekV3ForCausalLM", "seed": 71, "config": {
        "q_lora_rank": 12, "topk_method": "noaux_tc", "n_group": 4, "topk_group": 2, "norm_topk_prob": True, "scoring_func": "sigmoid",
        "routed_scaling_factor": 2.5, "num_nextn_predict_layers": 1, "n_shared_experts": 1, "rope_scaling": {**YARN, "mscale": 1.0,
                                                                                                            "mscale_all_dim": 1.0}}},
    "deepseek-v3-biases": {"type": "deepseek_v3", "class": "DeepseekV3ForCausalLM", "seed": 71, "config": {
        "q_lora_rank": None, "topk_method": "noaux_tc", "n_group": 4, "topk_group": 2, "norm_topk_prob": False, "scoring_func": "sigmoid",
        "routed_scaling_factor": 2.5, "attention_bias": True, "rope_scaling": {**YARN, "mscale": 2.0, "mscale_all_dim": 0.5}}},
}
# Maps of 8 bits; the last row and the last column of blocks are cut.
CASES["deepseek-v3-fp8"] = CASES["deepseek-v3"] | {"config": CASES["deepseek-v3"]["config"] | {"quantization_config": {
    "quant_method": "fp8", "fmt": "e4m3", "activation_scheme": "dynamic", "weight_block_size": [5, 7]}}}
# The finite numbers of E4M3 from 0 on, by their codes: a sign, 4 bits of exponent with the bias 7, 3 bits of fraction.
E4M3 = [f / 8 * 2 ** -6 if e == 0 else (1 + f / 8) * 2 ** (e - 7) for e in range(16) for f in range(8)][:127]


def dot(x, y):
    return math.fsum(a * b for a, b in zip(x, y))


class Model:
    """A case of CASES. Weights: extents and numbers by HuggingFace's names."""

    def __init__(self, name):
        self.case, self.config = CASES[name], USUAL | CASES[name]["config"]
        self.draw, self.weights, self.smallest_gap = random.Random(self.case["seed"]), {}, math.inf
        self.is_v3, c = self.case["type"] == "deepseek_v3", self.config
        head = CONTENT + ROTATED
        self.add("model.embed_tokens.weight", VOCAB, D)
        for i in range(LAYERS):
            at = f"model.layers.{i}."
            if c["q_lora_rank"]:
                self.add_small(at + "self_attn.q_a_proj", c["q_lora_rank"], c["q_lora_rank"])
                self.add_norm(at + "self_attn.q_a_layernorm", c["q_lora_rank"])
                self.add(at + "self_attn.q_b_proj.weight", HEADS * head, c["q_lora_rank"])
            else:
                self.add(at + "self_attn.q_proj.weight", HEADS * head, D)
            self.add_small(at + "self_attn.kv_a_proj_with_mqa", LATENT + ROTATED, LATENT)
            self.add_norm(at + "self_attn.kv_a_layernorm", LATENT)
            self.add(at + "self_attn.kv_b_proj.weight", HEADS * (CONTENT + VALUE), LATENT)
            self.add(at + "self_attn.o_proj.weight", D, HEADS * VALUE)
            if c["attention_bias"]:
                self.add(at + "self_attn.o_proj.bias", D)
            self.add_norm(at + "input_layernorm", D)
            self.add_norm(at + "post_attention_layernorm", D)
            if i < c["first_k_dense_replace"]:
                self.add_feed(at + "mlp.", HIDDEN)
                continue
            self.add(at + "mlp.gate.weight", EXPERTS, D)
            if self.is_v3:
                self.add(at + "mlp.gate.e_score_correction_bias", EXPERTS, mean=0.3, size=0.2)
            for e in range(EXPERTS):
                self.add_feed(f"{at}mlp.experts.{e}.", EXPERT_HIDDEN)
            self.add_feed(at + "mlp.shared_experts.", EXPERT_HIDDEN * c["n_shared_experts"])
        self.add_norm("model.norm", D)
        self.add("lm_head.weight", VOCAB, D)
        if c.get("num_nextn_predict_layers"):  # a layer that predicts a further token: not a part of the model
            self.add(f"model.layers.{LAYERS}.eh_proj.weight", D, 2 * D)
        self.codes = {}
        if "quantization_config" in c:
            for name in [name for name in self.weights if "_proj" in name and name.endswith(".weight")]:
                self.quantise(name, *c["quantization_config"]["weight_block_size"])

    def quantise(self, name, rows, columns):
        """Replaces a map by the nearest codes, times the scale of their block, which makes its largest number 448."""
        (height, width), numbers = self.weights[name]
        codes, scales, grid = bytearray(height * width), array.array("f"), [-(-height // rows), -(-width // columns)]
        values = [0.0] * (height * width)
        for i in range(grid[0]):
            for j in range(grid[1]):
                block = [y * width + x for y in range(i * rows, min((i + 1) * rows, height)) for x in range(j * columns, min((j + 1) * columns, width))]
                scales.append(max(abs(numbers[at]) for at in block) / E4M3[-1])
                for at in block:
                    number = min(abs(numbers[at]) / scales[-1], E4M3[-1])
                    above = min(bisect.bisect_left(E4M3, number), len(E4M3) - 1)
                    code = above - 1 if above > 0 and number - E4M3[above - 1] < E4M3[above] - number else above
                    codes[at] = code + (128 if numbers[at] < 0 else 0)
                    values[at] = math.copysign(E4M3[code] * scales[-1], numbers[at])
        self.weights[name] = ([height, width], values)
        self.codes[name] = (bytes(codes), grid, scales)

    def arrays(self):
        """-> of the file: codes and scales, or floats"""
        for name, (extents, numbers) in self.weights.items():
            if name in self.codes:
                codes, grid, scales = self.codes[name]
                yield name, ("F8_E4M3", extents, codes)
                yield name + "_scale_inv", ("F32", grid, scales.tobytes())
            else:
                yield name, ("F32", extents, numbers.tobytes())

    def add(self, name, *extents, mean=0.0, size=0.4):
        self.weights[name] = (list(extents), array.array("f", [self.draw.gauss(mean, size) for _ in range(math.prod(extents))]))

    def add_small(self, name, rows, small):
        """A map whose first outputs are so small that the epsilon of their norm counts."""
        self.add(name + ".weight", rows, D)
        if self.config["attention_bias"]:
            self.add(name + ".bias", rows)
        for suffix, width in ((".weight", D), (".bias", 1)):
            if name + suffix in self.weights:
                numbers = self.weights[name + suffix][1]
                numbers[:small * width] = array.array("f", [0.003 * a for a in numbers[:small * width]])

    def add_norm(self, name, features):
        self.add(name + ".weight", features, mean=1.0)

    def add_feed(self, at, hidden):
        self.add(at + "gate_proj.weight", hidden, D)
        self.add(at + "up_proj.weight", hidden, D)
        self.add(at + "down_proj.weight", D, hidden)

    def map(self, name, x):
        (_, width), numbers = self.weights[name + ".weight"]
        _, bias = self.weights.get(name + ".bias", (None, [0.0] * (len(numbers) // width)))
        return [dot(numbers[i * width:(i + 1) * width], x) + b for i, b in enumerate(bias)]

    def norm(self, name, x):
        factor = 1 / math.sqrt(dot(x, x) / len(x) + (EPSILON_OF_LATENT if name.endswith("_a_layernorm") else EPSILON))
        return [a * factor * s for a, s in zip(x, self.weights[name + ".weight"][1])]

    def angle(self, pair):
        """-> of position 1; YaRN (Peng et al. 2023) between the pairs with 32 turns and 1 turn in the trained positions"""
        plain, how = 10000 ** (-2 * pair / ROTATED), self.config.get("rope_scaling")
        if how is None:
            return plain

        def pair_with(turns):
            return ROTATED * math.log(how["original_max_position_embeddings"] / (turns * 2 * math.pi)) / (2 * math.log(10000))
        low, high = max(math.floor(pair_with(how["beta_fast"])), 0), min(math.ceil(pair_with(how["beta_slow"])), ROTATED - 1)
        far = min(max((pair - low) / max(high - low, 0.001), 0), 1)
        return plain / how["factor"] * far + plain * (1 - far)

    def of_yarn(self, key):
        how = self.config["rope_scaling"]
        return 0.1 * how[key] * math.log(how["factor"]) + 1

    def turned(self, x, position):
        result, how = list(x), self.config.get("rope_scaling")
        scale = 1 if how is None else self.of_yarn("mscale") / self.of_yarn("mscale_all_dim")
        for i in range(ROTATED // 2):
            c, s = scale * math.cos(position * self.angle(i)), scale * math.sin(position * self.angle(i))
            result[2 * i], result[2 * i + 1] = x[2 * i] * c - x[2 * i + 1] * s, x[2 * i + 1] * c + x[2 * i] * s
        return result

    def attention(self, at, rows):
        at += "self_attn."
        head, queries, keys, values = CONTENT + ROTATED, [], [], []
        for position, x in enumerate(rows):
            q = self.map(at + "q_b_proj", self.norm(at + "q_a_layernorm", self.map(at + "q_a_proj", x))) if self.config["q_lora_rank"] \
                else self.map(at + "q_proj", x)
            split = [q[h * head:(h + 1) * head] for h in range(HEADS)]
            queries.append([one[:CONTENT] + self.turned(one[CONTENT:], position) for one in split])
            both = self.map(at + "kv_a_proj_with_mqa", x)
            expanded = self.map(at + "kv_b_proj", self.norm(at + "kv_a_layernorm", both[:LATENT]))
            split = [expanded[h * (CONTENT + VALUE):(h + 1) * (CONTENT + VALUE)] for h in range(HEADS)]
            turned = self.turned(both[LATENT:], position)
            keys.append([one[:CONTENT] + turned for one in split])
            values.append([one[CONTENT:] for one in split])
        scale = 1 / math.sqrt(head)
        if self.config.get("rope_scaling") is not None:
            scale *= self.of_yarn("mscale_all_dim") ** 2
        result = []
        for p in range(len(rows)):
            joined = []
            for h in range(HEADS):
                scores = [scale * dot(queries[p][h], keys[j][h]) for j in range(p + 1)]
                shares = [math.exp(s - max(scores)) for s in scores]
                joined += [math.fsum(s * values[j][h][f] for j, s in enumerate(shares)) / math.fsum(shares) for f in range(VALUE)]
            result.append(self.map(at + "o_proj", joined))
        return result

    def fed(self, at, x):
        gate, up = self.map(at + "gate_proj", x), self.map(at + "up_proj", x)
        return self.map(at + "down_proj", [g / (1 + math.exp(-g)) * u for g, u in zip(gate, up)])

    def best(self, scores, count):
        order = sorted(range(len(scores)), key=lambda i: -scores[i])
        if count < len(scores):
            self.smallest_gap = min(self.smallest_gap, scores[order[count - 1]] - scores[order[count]])
        return order[:count]

    def experts(self, at, x):
        c, logits = self.config, self.map(at + "gate", x)
        if self.is_v3:
            shares = [1 / (1 + math.exp(-a)) for a in logits]
            choice = [a + b for a, b in zip(shares, self.weights[at + "gate.e_score_correction_bias"][1])]
        else:
            total = math.fsum(math.exp(a) for a in logits)
            choice = shares = [math.exp(a) / total for a in logits]
        allowed = list(range(EXPERTS))
        if c["topk_method"] != "greedy":
            size = EXPERTS // c["n_group"]
            groups = [sorted(choice[g * size:(g + 1) * size], reverse=True) for g in range(c["n_group"])]
            kept = self.best([g[0] + g[1] if self.is_v3 else g[0] for g in groups], c["topk_group"])
            allowed = [e for e in allowed if e // size in kept]
        chosen = [allowed[i] for i in self.best([choice[e] for e in allowed], CHOSEN)]
        total = math.fsum(shares[e] for e in chosen) if c["norm_topk_prob"] else 1.0
        result = self.fed(at + "shared_experts.", x)
        for e in chosen:
            y = self.fed(f"{at}experts.{e}.", x)
            result = [a + shares[e] / total * c["routed_scaling_factor"] * b for a, b in zip(result, y)]
        return result

    def logits(self, ids):
        table = self.weights["model.embed_tokens.weight"][1]
        rows = [list(table[i * D:(i + 1) * D]) for i in ids]
        for i in range(LAYERS):
            at = f"model.layers.{i}."
            attended = self.attention(at, [self.norm(at + "input_layernorm", x) for x in rows])
            rows = [[a + b for a, b in zip(x, y)] for x, y in zip(rows, attended)]
            feed = self.fed if i < self.config["first_k_dense_replace"] else self.experts
            rows = [[a + b for a, b in zip(x, feed(at + "mlp.", self.norm(at + "post_attention_layernorm", x)))] for x in rows]
        return [self.map("lm_head", self.norm("model.norm", x)) for x in rows]


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    place, cases = pathlib.Path(sys.argv[1]), []
    for name, case in CASES.items():
        model, folder = Model(name), place / name
        folder.mkdir(parents=True, exist_ok=True)
        config = {"architectures": [case["class"]], "model_type": case["type"]} | model.config
        (folder / "config.json").write_text(json.dumps(config, indent=1, sort_keys=True) + "\n")
        write(folder / "model.safetensors", dict(model.arrays()))
        golden, margin, largest = golden_of(model, PROMPTS, CONTINUED)
        print(f"{name}: smallest margin {margin:.4f}, smallest gap of the router {model.smallest_gap:.5f}, largest logit {largest:.2f}")
        if margin < 0.005 or model.smallest_gap < 0.0002:
            sys.exit("deepseek_data: the greedy tokens or the experts would depend on rounding; draw from another seed")
        write(folder / "golden.safetensors", golden)
        cases.append({"name": name, "folder": name, "model_type": case["type"], "class": case["class"], "kind": "decoder",
                      "tags": ["latent-attention", "moe", "shared-experts", "untied"], "tol": {"rtol": 2e-5, "atol": 1e-4}})
    manifest = {"format": 1, "suite": "deepseek", "origin": "tests/data/deepseek_data.py", "count": len(cases), "cases": cases}
    (place / "manifest.json").write_text(json.dumps(manifest, indent=1) + "\n")


if __name__ == "__main__":
    main()
