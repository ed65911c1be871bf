#!/usr/bin/env python3
"""Makes the folder from which tests/data/bidirectional.dwpack is packed: folders of sentence-transformers whose transformer is a decoder without the causal
mask, with drawn weights: a tiny EmbeddingGemma, and a tiny Qwen2 with `is_causal` false. Features of tokens and vectors of texts in float64.

    python3 tests/data/bidirectional_data.py FOLDER
    python3 tests/data/pack_data.py FOLDER tests/data/bidirectional.dwpack

Weights are drawn from a seed and rounded to float32; everything else is computed here in Python's floats, which are float64, by loops that follow the
published formulas (Gemma Team 2025; Vera et al. 2025; Qwen Team 2024; windows as in huggingface/transformers) and share nothing with the library.
Standard library only.
"""

import array
import json
import math
import pathlib
import random
import sys

from safetensors_file import write
from sentence_data import modules_of, normalized, put

D, HEADS, KV_HEADS, HEAD, LAYERS, HIDDEN, WIDE = 20, 4, 2, 6, 3, 26, 28
WORDS = ["<pad>", "<eos>", "<bos>", "<unk>", "task:", "search", "result", "|", "query:", "title:", "none", "text:", "a", "red", "planet", "is", "called",
         "mars", "venus", "earth", "twin", "of", "the", "which"]
PROMPTS = {"query": "task: search result | query: ", "document": "title: none | text: "}
TEXTS = ["which planet is the red planet", PROMPTS["query"] + "which planet is the red planet",
         PROMPTS["document"] + "venus is called the twin of earth and mars is called the red planet", "mars"]
EPSILON = 1e-5
USUAL = {"vocab_size": len(WORDS), "hidden_size": D, "intermediate_size": HIDDEN, "num_hidden_layers": LAYERS, "num_attention_heads": HEADS,
         "num_key_value_heads": KV_HEADS, "head_dim": HEAD, "max_position_embeddings": 64, "rms_norm_eps": EPSILON, "pad_token_id": 0}
# Positions that a query sees to each side, its own not counted.
SEEN = {"sliding_attention": 3, "full_attention": 64}
CASES = {
    "embeddinggemma": {
        "seed": 41, "pooling": "mean", "dense": [WIDE, D], "prompts": PROMPTS, "types": ["sliding_attention", "sliding_attention", "full_attention"],
        "theta": {"sliding_attention": 1e4, "full_attention": 1e6},
        "config": {"architectures": ["Gemma3TextModel"], "model_type": "gemma3_text", "use_bidirectional_attention": True, "sliding_window": 7,
                   "layer_types": ["sliding_attention", "sliding_attention", "full_attention"],
                   "query_pre_attn_scalar": 9, "rope_theta": 1e6, "rope_local_base_freq": 1e4, "hidden_activation": "gelu_pytorch_tanh",
                   "attn_logit_softcapping": None, "final_logit_softcapping": None}},
    "qwen2-not-causal": {
        "seed": 42, "pooling": "lasttoken", "dense": [], "prompts": {}, "types": ["full_attention", "sliding_attention", "sliding_attention"],
        "theta": {"sliding_attention": 5e3, "full_attention": 5e3},
        "config": {"architectures": ["Qwen2Model"], "model_type": "qwen2", "is_causal": False, "sliding_window": 3, "use_sliding_window": True,
                   "max_window_layers": 1, "rope_theta": 5e3, "hidden_act": "silu", "auto_map": {"AutoModel": "modeling_qwen.Qwen2Model"}}},
}


def rows(drawn):
    (count, width), numbers = drawn
    return [numbers[i * width:(i + 1) * width] for i in range(count)]


class Model:
    """One of the two, chosen by its name. Weights: extents and numbers by HuggingFace's names."""

    def __init__(self, kind):
        self.case, self.is_gemma = CASES[kind], kind == "embeddinggemma"
        self.draw, self.weights = random.Random(self.case["seed"]), {}
        self.add("embed_tokens.weight", len(WORDS), D)
        for i in range(LAYERS):
            at = f"layers.{i}."
            for part, heads in (("q", HEADS), ("k", KV_HEADS), ("v", KV_HEADS)):
                self.add(f"{at}self_attn.{part}_proj.weight", heads * HEAD, D)
                if not self.is_gemma:
                    self.add(f"{at}self_attn.{part}_proj.bias", heads * HEAD)
            self.add(at + "self_attn.o_proj.weight", D, HEADS * HEAD)
            for name, outputs, inputs in (("gate", HIDDEN, D), ("up", HIDDEN, D), ("down", D, HIDDEN)):
                self.add(f"{at}mlp.{name}_proj.weight", outputs, inputs)
            self.add_norm(at + "input_layernorm", D)
            self.add_norm(at + "post_attention_layernorm", D)
            if self.is_gemma:
                self.add_norm(at + "pre_feedforward_layernorm", D)
                self.add_norm(at + "post_feedforward_layernorm", D)
                self.add_norm(at + "self_attn.q_norm", HEAD)
                self.add_norm(at + "self_attn.k_norm", HEAD)
        self.add_norm("norm", D)

    def add(self, name, *extents, mean=0.0, size=0.4):
        self.weights[name] = (list(extents), array.array("f", [self.draw.gauss(mean, size) for _ in range(math.prod(extents))]))

    def add_norm(self, name, features):
        self.add(name + ".weight", features, mean=0.0 if self.is_gemma else 1.0)

    def map(self, name, x):
        biases = self.weights[name + ".bias"][1] if name + ".bias" in self.weights else [0.0] * self.weights[name + ".weight"][0][0]
        return [math.fsum(w * a for w, a in zip(row, x)) + b for row, b in zip(rows(self.weights[name + ".weight"]), biases)]

    def norm(self, name, x):
        factor = 1 / math.sqrt(math.fsum(a * a for a in x) / len(x) + EPSILON)
        return [a * factor * (s + 1 if self.is_gemma else s) for a, s in zip(x, self.weights[name + ".weight"][1])]

    def turned(self, x, position, theta):
        half, result = HEAD // 2, list(x)
        for i in range(half):
            angle = position * theta ** (-2 * i / HEAD)
            result[i] = x[i] * math.cos(angle) - x[i + half] * math.sin(angle)
            result[i + half] = x[i + half] * math.cos(angle) + x[i] * math.sin(angle)
        return result

    def heads_of(self, at, part, x, position, theta):
        y = self.map(f"{at}self_attn.{part}_proj", x)
        heads = [y[h:h + HEAD] for h in range(0, len(y), HEAD)]
        if part == "v":
            return heads
        if self.is_gemma:
            heads = [self.norm(f"{at}self_attn.{part}_norm", head) for head in heads]
        return [self.turned(head, position, theta) for head in heads]

    def attention(self, at, text, kind):
        theta, result = self.case["theta"][kind], []
        q, k, v = ([self.heads_of(at, part, x, p, theta) for p, x in enumerate(text)] for part in "qkv")
        scale = 1 / math.sqrt(self.case["config"].get("query_pre_attn_scalar", HEAD))
        for p in range(len(text)):
            seen = [j for j in range(len(text)) if abs(j - p) <= SEEN[kind]]
            joined = []
            for h in range(HEADS):
                kv = h // (HEADS // KV_HEADS)
                shares = [math.exp(scale * math.fsum(a * b for a, b in zip(q[p][h], k[j][kv]))) for j in seen]
                total = math.fsum(shares)
                joined += [math.fsum(s * v[j][kv][f] for s, j in zip(shares, seen)) / total for f in range(HEAD)]
            result.append(self.map(at + "self_attn.o_proj", joined))
        return result

    def fed(self, at, x):
        def active(a):
            return a / 2 * (1 + math.tanh(math.sqrt(2 / math.pi) * (a + 0.044715 * a ** 3))) if self.is_gemma else a / (1 + math.exp(-a))
        gate, up = self.map(at + "mlp.gate_proj", x), self.map(at + "mlp.up_proj", x)
        return self.map(at + "mlp.down_proj", [active(g) * u for g, u in zip(gate, up)])

    def features(self, ids):
        table = rows(self.weights["embed_tokens.weight"])
        text = [[a * (math.sqrt(D) if self.is_gemma else 1) for a in table[i]] for i in ids]
        for i, kind in enumerate(self.case["types"]):
            at = f"layers.{i}."
            branch = self.attention(at, [self.norm(at + "input_layernorm", x) for x in text], kind)
            if self.is_gemma:
                branch = [self.norm(at + "post_attention_layernorm", x) for x in branch]
            text = [[a + b for a, b in zip(x, y)] for x, y in zip(text, branch)]
            before = "pre_feedforward_layernorm" if self.is_gemma else "post_attention_layernorm"
            branch = [self.fed(at, self.norm(at + before, x)) for x in text]
            if self.is_gemma:
                branch = [self.norm(at + "post_feedforward_layernorm", x) for x in branch]
            text = [[a + b for a, b in zip(x, y)] for x, y in zip(text, branch)]
        return [self.norm("norm", x) for x in text]


def tokenizer():
    special = [{"id": i, "content": word, "single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}
               for i, word in enumerate(WORDS[:4])]
    ends = {word: {"id": word, "ids": [WORDS.index(word)], "tokens": [word]} for word in ("<bos>", "<eos>")}
    template = [{"SpecialToken": {"id": "<bos>", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}, {"SpecialToken": {"id": "<eos>", "type_id": 0}}]
    return {"version": "1.0", "truncation": None, "padding": None, "added_tokens": special, "normalizer": None,
            "pre_tokenizer": {"type": "WhitespaceSplit"},
            "post_processor": {"type": "TemplateProcessing", "single": template, "pair": template + [{"Sequence": {"id": "B", "type_id": 1}}],
                               "special_tokens": ends},
            "decoder": None, "model": {"type": "WordLevel", "vocab": {word: i for i, word in enumerate(WORDS)}, "unk_token": "<unk>"}}


def ids_of(text):
    return [WORDS.index("<bos>"), *(WORDS.index(word) if word in WORDS else WORDS.index("<unk>") for word in text.split()), WORDS.index("<eos>")]


def make(folder, name):
    case, model = CASES[name], Model(name)
    folder.mkdir(parents=True, exist_ok=True)
    put(folder / "config.json", USUAL | case["config"])
    put(folder / "tokenizer.json", tokenizer())
    write(folder / "model.safetensors", {n: ("F32", e, w.tobytes()) for n, (e, w) in model.weights.items()})
    put(folder / "1_Pooling/config.json", {"word_embedding_dimension": D, f"pooling_mode_{case['pooling']}" +
                                           ("_tokens" if case["pooling"] == "mean" else ""): True})
    types, maps, width = [("", "Transformer"), ("1_Pooling", "Pooling")], [], D
    for i, outputs in enumerate(case["dense"], 2):
        types.append((f"{i}_Dense", "Dense"))
        maps.append(([outputs, width], array.array("f", [model.draw.gauss(0, 0.4) for _ in range(outputs * width)])))
        put(folder / f"{i}_Dense/config.json", {"in_features": width, "out_features": outputs, "bias": False,
                                                "activation_function": "torch.nn.modules.linear.Identity"})
        write(folder / f"{i}_Dense/model.safetensors", {"linear.weight": ("F32", maps[-1][0], maps[-1][1].tobytes())})
        width = outputs
    types.append((f"{len(types)}_Normalize", "Normalize"))
    put(folder / "modules.json", modules_of(types))
    put(folder / "config_sentence_transformers.json", {"prompts": case["prompts"], "similarity_fn_name": "cosine"})
    golden = {}
    for k, text in enumerate(TEXTS):
        ids = ids_of(text)
        x = model.features(ids)
        y = x[-1] if case["pooling"] == "lasttoken" else [math.fsum(column) / len(x) for column in zip(*x)]
        for one in maps:
            y = [math.fsum(w * a for w, a in zip(row, y)) for row in rows(one)]
        y, flat = normalized(y), [a for row in x for a in row]
        golden[f"text.{k}.input_ids"] = ("I64", [len(ids)], array.array("q", ids).tobytes())
        golden[f"text.{k}.last_hidden_f64"] = ("F64", [len(ids), D], array.array("d", flat).tobytes())
        golden[f"text.{k}.vector"] = ("F64", [len(y)], array.array("d", y).tobytes())
    write(folder / "golden.safetensors", golden)


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    place, cases = pathlib.Path(sys.argv[1]), []
    for name in CASES:
        make(place / name, name)
        files = sorted(path for path in (place / name).rglob("*") if path.is_file())
        cases.append({"name": name, "texts": TEXTS, "files": [{"file": str(path.relative_to(place))} for path in files]})
    manifest = {"format": 1, "suite": "bidirectional", "origin": "tests/data/bidirectional_data.py", "count": len(cases), "cases": cases}
    (place / "manifest.json").write_text(json.dumps(manifest, indent=1) + "\n")


if __name__ == "__main__":
    main()
