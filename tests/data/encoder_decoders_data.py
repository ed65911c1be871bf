#!/usr/bin/env python3
"""Makes the folder from which tests/data/encoder_decoders.dwpack is packed: tiny encoder-decoders with drawn weights, and their logits in
float64.

    python3 tests/data/encoder_decoders_data.py FOLDER
    python3 tests/data/pack_data.py FOLDER tests/data/encoder_decoders.dwpack

Weights are drawn from a seed and rounded to float32; everything else is computed here in Python's floats, which are float64, by loops
that follow the published descriptions (BART: Lewis et al. 2020; mBART: Liu et al. 2020; Marian: Junczys-Dowmunt et al. 2018; PEGASUS:
Zhang et al. 2020; M2M-100: Fan et al. 2021; UMT5: Chung et al. 2023; conventions of huggingface/transformers) and share nothing with the
library. The form is that of the suite `architectures`. Standard library only.
"""

import array
import json
import math
import pathlib
import random
import struct
import sys

from safetensors_file import write

VOCAB, D, HEADS, HIDDEN, POSITIONS, CONTINUED = 44, 24, 4, 28, 40, 8
ENCODER_LAYERS, DECODER_LAYERS = 3, 2  # stacks of different depths
HEAD = D // HEADS
SOURCES = [[7], [3, 31, 8, 0, 22, 5, 39], [11, 4, 4, 36, 19, 2, 28, 30, 9, 17, 33, 25, 6, 40, 14, 21, 10, 12, 35, 29]]
TARGETS = [[2], [2, 16, 38], [2, 41, 13, 13, 27, 20, 34]]

# what differs between the classes: positions, the norm after the embedding, the place of the norms, the activation, the embedding's factor
KINDS = {
    "bart": {"class": "BartForConditionalGeneration", "positions": "learned", "embedding_norm": True, "first": False, "act": "gelu",
             "scale": False, "bias": True, "tags": ["learned-positions", "post-norm"],
             "config": {"forced_bos_token_id": 0, "decoder_start_token_id": 2}},
    "mbart": {"class": "MBartForConditionalGeneration", "positions": "learned", "embedding_norm": True, "first": True, "act": "relu",
              "scale": True, "bias": True, "tags": ["learned-positions", "pre-norm", "scaled-embedding"],
              "config": {"decoder_start_token_id": 2}},
    "marian": {"class": "MarianMTModel", "positions": "halves", "embedding_norm": False, "first": False, "act": "swish", "scale": True,
               "bias": True, "tags": ["sinusoids", "post-norm", "scaled-embedding", "bad-words"],
               "config": {"decoder_start_token_id": VOCAB - 1, "pad_token_id": VOCAB - 1, "bad_words_ids": [[VOCAB - 1]],
                          "static_position_embeddings": True}},
    "pegasus": {"class": "PegasusForConditionalGeneration", "positions": "halves", "embedding_norm": False, "first": True, "act": "relu",
                "scale": True, "bias": True, "tags": ["sinusoids", "pre-norm", "scaled-embedding"],
                "config": {"decoder_start_token_id": 0, "pad_token_id": 0, "static_position_embeddings": True}},
    "m2m_100": {"class": "M2M100ForConditionalGeneration", "positions": "closed", "embedding_norm": False, "first": True, "act": "relu",
                "scale": True, "bias": False, "tags": ["sinusoids", "pre-norm", "scaled-embedding"],
                "config": {"decoder_start_token_id": 2}},
    "umt5": {"class": "UMT5ForConditionalGeneration", "tags": ["buckets-per-layer", "gated"]},
}
BUCKETS, DISTANCE = 8, 12  # of UMT5


def config_of(kind):
    if kind == "umt5":
        return {"architectures": [KINDS[kind]["class"]], "model_type": kind, "vocab_size": VOCAB, "d_model": D, "d_kv": HEAD, "d_ff": HIDDEN,
                "num_layers": ENCODER_LAYERS, "num_decoder_layers": DECODER_LAYERS, "num_heads": HEADS,
                "relative_attention_num_buckets": BUCKETS, "relative_attention_max_distance": DISTANCE, "layer_norm_epsilon": 1e-6,
                "feed_forward_proj": "gated-gelu", "is_encoder_decoder": True, "pad_token_id": 0, "eos_token_id": 1,
                "decoder_start_token_id": 0, "tie_word_embeddings": False, "torch_dtype": "float32"}
    one = KINDS[kind]
    made = {"architectures": [one["class"]], "model_type": kind, "vocab_size": VOCAB, "d_model": D, "encoder_layers": ENCODER_LAYERS,
            "decoder_layers": DECODER_LAYERS, "encoder_attention_heads": HEADS, "decoder_attention_heads": HEADS, "encoder_ffn_dim": HIDDEN,
            "decoder_ffn_dim": HIDDEN, "max_position_embeddings": POSITIONS, "activation_function": one["act"], "scale_embedding": one["scale"],
            "is_encoder_decoder": True, "pad_token_id": 1, "bos_token_id": 0, "eos_token_id": 2, "torch_dtype": "float32"}
    made.update(one["config"])
    return made


def drawn(kind, seed):
    """-> the weights by HuggingFace's names: (extents, numbers)"""
    draw = random.Random(seed)
    weights = {}

    def add(name, *extents, mean=0.0, size=0.3):
        weights[name] = (list(extents), array.array("f", [draw.gauss(mean, size) for _ in range(math.prod(extents))]))

    def linear(name, outputs, inputs):
        add(name + ".weight", outputs, inputs)
        add(name + ".bias", outputs)

    def norm(name):
        add(name + ".weight", D, mean=1)
        add(name + ".bias", D)

    if kind == "umt5":
        add("shared.weight", VOCAB, D, size=1)
        for stack, layers in (("encoder", ENCODER_LAYERS), ("decoder", DECODER_LAYERS)):
            for i in range(layers):
                at = f"{stack}.block.{i}.layer."
                parts = ["0.SelfAttention"] + (["1.EncDecAttention"] if stack == "decoder" else [])
                for part in parts:
                    for one in "qkvo":
                        add(f"{at}{part}.{one}.weight", D, D)
                add(f"{at}0.SelfAttention.relative_attention_bias.weight", BUCKETS, HEADS, size=1)
                feed = f"{at}{len(parts)}.DenseReluDense."
                for name, extents in (("wi_0", (HIDDEN, D)), ("wi_1", (HIDDEN, D)), ("wo", (D, HIDDEN))):
                    add(f"{feed}{name}.weight", *extents)
                for place in range(len(parts) + 1):
                    add(f"{at}{place}.layer_norm.weight", D, mean=1)
            add(stack + ".final_layer_norm.weight", D, mean=1)
        add("lm_head.weight", VOCAB, D)
        return weights

    one = KINDS[kind]
    add("model.shared.weight", VOCAB, D, size=0.3)
    for stack, layers in (("encoder", ENCODER_LAYERS), ("decoder", DECODER_LAYERS)):
        at = f"model.{stack}."
        if one["positions"] == "learned":
            add(at + "embed_positions.weight", POSITIONS + 2, D)
        if one["embedding_norm"]:
            norm(at + "layernorm_embedding")
        for i in range(layers):
            layer = f"{at}layers.{i}."
            for part in ["self_attn"] + (["encoder_attn"] if stack == "decoder" else []):
                for name in ("q_proj", "k_proj", "v_proj", "out_proj"):
                    linear(f"{layer}{part}.{name}", D, D)
                norm(f"{layer}{part}_layer_norm")
            linear(layer + "fc1", HIDDEN, D)
            linear(layer + "fc2", D, HIDDEN)
            norm(layer + "final_layer_norm")
        if one["first"]:
            norm(at + "layer_norm")
    if one["bias"]:
        add("final_logits_bias", 1, VOCAB)
    return weights


def gelu(x):
    return x * 0.5 * (1 + math.erf(x / math.sqrt(2)))


def gelu_tanh(x):
    return 0.5 * x * (1 + math.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x ** 3)))


ACTIVATIONS = {"gelu": gelu, "relu": lambda x: max(x, 0.0), "swish": lambda x: x / (1 + math.exp(-x))}


def sum_of(x, y):
    return [[a + b for a, b in zip(one, other)] for one, other in zip(x, y)]


class Layers:
    """What all classes share: maps, and attention of rows to rows."""

    def __init__(self, kind, weights):
        self.kind, self.weights = kind, weights

    def map(self, name, x):
        (outputs, inputs), numbers = self.weights[name + ".weight"]
        bias = self.weights[name + ".bias"][1] if name + ".bias" in self.weights else [0.0] * outputs
        return [bias[o] + sum(numbers[o * inputs + i] * x[i] for i in range(inputs)) for o in range(outputs)]

    def attention(self, names, rows, others, causal, scale, bias=None):
        q, k, v, out = names
        queries = [self.map(q, x) for x in rows]
        keys, values = [self.map(k, x) for x in others], [self.map(v, x) for x in others]
        result = []
        for p, query in enumerate(queries):
            heads = []
            for h in range(HEADS):
                part = slice(h * HEAD, (h + 1) * HEAD)
                seen = range(p + 1 if causal else len(others))
                scores = [scale * sum(a * b for a, b in zip(query[part], keys[j][part])) + (bias(p, j, h) if bias else 0) for j in seen]
                shares = [math.exp(one - max(scores)) for one in scores]
                heads += [sum(w * values[j][part][f] for w, j in zip(shares, seen)) / sum(shares) for f in range(HEAD)]
            result.append(self.map(out, heads))
        return result


class Bart(Layers):
    def norm(self, name, x):
        scale, bias = self.weights[name + ".weight"][1], self.weights[name + ".bias"][1]
        mean = sum(x) / D
        spread = math.sqrt(sum((a - mean) ** 2 for a in x) / D + 1e-5)
        return [(a - mean) / spread * s + b for a, s, b in zip(x, scale, bias)]

    def position(self, stack, p):
        kind, half = KINDS[self.kind]["positions"], D // 2
        if kind == "learned":  # the first position has row 2
            return self.weights[f"model.{stack}.embed_positions.weight"][1][(p + 2) * D:(p + 3) * D]
        if kind == "halves":
            angles = [p / 10000 ** (2 * i / D) for i in range(half)]
        else:  # the first position is pad_token_id + 1, and the last pair turns by 1/10000
            angles = [(p + 2) * math.exp(-i * math.log(10000) / (half - 1)) for i in range(half)]
        return [math.sin(a) for a in angles] + [math.cos(a) for a in angles]

    def embedded(self, stack, ids):
        table = self.weights["model.shared.weight"][1]
        factor = math.sqrt(D) if KINDS[self.kind]["scale"] else 1
        rows = [[factor * a + b for a, b in zip(table[i * D:(i + 1) * D], self.position(stack, p))] for p, i in enumerate(ids)]
        if KINDS[self.kind]["embedding_norm"]:
            rows = [self.norm(f"model.{stack}.layernorm_embedding", x) for x in rows]
        return rows

    def branch(self, norm, rows, compute):
        if KINDS[self.kind]["first"]:
            return sum_of(rows, compute([self.norm(norm, x) for x in rows]))
        return [self.norm(norm, x) for x in sum_of(rows, compute(rows))]

    def stack(self, stack, ids, source):
        act, scale = ACTIVATIONS[KINDS[self.kind]["act"]], 1 / math.sqrt(HEAD)
        rows = self.embedded(stack, ids)
        for i in range(ENCODER_LAYERS if source is None else DECODER_LAYERS):
            at = f"model.{stack}.layers.{i}."
            names = {part: [f"{at}{part}.{one}" for one in ("q_proj", "k_proj", "v_proj", "out_proj")] for part in ("self_attn", "encoder_attn")}
            rows = self.branch(at + "self_attn_layer_norm", rows,
                               lambda x: self.attention(names["self_attn"], x, x, source is not None, scale))
            if source is not None:
                rows = self.branch(at + "encoder_attn_layer_norm", rows,
                                   lambda x: self.attention(names["encoder_attn"], x, source, False, scale))
            rows = self.branch(at + "final_layer_norm", rows,
                               lambda x: [self.map(at + "fc2", [act(a) for a in self.map(at + "fc1", one)]) for one in x])
        if KINDS[self.kind]["first"]:
            rows = [self.norm(f"model.{stack}.layer_norm", x) for x in rows]
        return rows

    def encoded(self, ids):
        return self.stack("encoder", ids, None)

    def logits(self, source, ids):
        table = self.weights["model.shared.weight"][1]
        bias = self.weights["final_logits_bias"][1] if KINDS[self.kind]["bias"] else [0.0] * VOCAB
        return [[sum(a * b for a, b in zip(x, table[t * D:(t + 1) * D])) + bias[t] for t in range(VOCAB)]
                for x in self.stack("decoder", ids, source)]


class Umt5(Layers):
    def norm(self, name, x):
        scale = self.weights[name + ".weight"][1]
        factor = 1 / math.sqrt(sum(a * a for a in x) / D + 1e-6)
        return [a * factor * s for a, s in zip(x, scale)]

    def bucket(self, distance, both):
        """distance: of the key from the query"""
        first, count = 0, BUCKETS
        if both:
            count //= 2
            first, distance = (count if distance > 0 else 0), abs(distance)
        else:
            distance = max(-distance, 0)
        exact = count // 2
        if distance < exact:
            return first + distance
        return first + min(count - 1, exact + int(math.log(distance / exact) / math.log(DISTANCE / exact) * (count - exact)))

    def stack(self, stack, ids, source):
        table = self.weights["shared.weight"][1]
        rows = [list(table[i * D:(i + 1) * D]) for i in ids]
        for i in range(ENCODER_LAYERS if source is None else DECODER_LAYERS):
            at = f"{stack}.block.{i}.layer."
            own = self.weights[at + "0.SelfAttention.relative_attention_bias.weight"][1]  # every layer has a table
            bias = lambda p, j, h: own[self.bucket(j - p, source is None) * HEADS + h]
            x = [self.norm(at + "0.layer_norm", one) for one in rows]
            rows = sum_of(rows, self.attention([at + "0.SelfAttention." + one for one in "qkvo"], x, x, source is not None, 1, bias))
            if source is not None:
                x = [self.norm(at + "1.layer_norm", one) for one in rows]
                rows = sum_of(rows, self.attention([at + "1.EncDecAttention." + one for one in "qkvo"], x, source, False, 1))
            place = 1 if source is None else 2
            feed = f"{at}{place}.DenseReluDense."
            x = [self.norm(f"{at}{place}.layer_norm", one) for one in rows]
            rows = sum_of(rows, [self.map(feed + "wo", [gelu_tanh(a) * b for a, b in zip(self.map(feed + "wi_0", one), self.map(feed + "wi_1", one))])
                                 for one in x])
        return [self.norm(stack + ".final_layer_norm", x) for x in rows]

    def encoded(self, ids):
        return self.stack("encoder", ids, None)

    def logits(self, source, ids):
        return [self.map("lm_head", x) for x in self.stack("decoder", ids, source)]


def made(place, kind):
    folder = place / kind
    folder.mkdir(parents=True, exist_ok=True)
    for seed in range(1, 50):
        weights = drawn(kind, seed)
        model = (Umt5 if kind == "umt5" else Bart)(kind, weights)
        excluded = [one[0] for one in KINDS[kind].get("config", {}).get("bad_words_ids", [])]
        golden, margin, largest, excluded_wins = {}, math.inf, 0.0, not excluded
        for k, (source, target) in enumerate(zip(SOURCES, TARGETS)):
            features = model.encoded(source)
            logits = model.logits(features, target)
            ids = list(target)
            for _ in range(CONTINUED):
                last = model.logits(features, ids)[-1]
                excluded_wins = excluded_wins or last.index(max(last)) in excluded
                allowed = sorted((one for t, one in enumerate(last) if t not in excluded), reverse=True)
                margin = min(margin, allowed[0] - allowed[1])
                ids.append(last.index(allowed[0]))
            for name, rows in ((f"enc.{k}.last_hidden_f64", features), (f"dec.{k}.logits_f64", logits)):
                flat = [one for row in rows for one in row]
                golden[name] = ("F64", [len(rows), len(rows[0])], struct.pack(f"<{len(flat)}d", *flat))
            largest = max(largest, *(abs(one) for row in logits for one in row))
            for name, numbers in ((f"enc.{k}.input_ids", source), (f"dec.{k}.input_ids", target), (f"dec.{k}.greedy_ids", ids[len(target):])):
                golden[name] = ("I64", [len(numbers)], struct.pack(f"<{len(numbers)}q", *numbers))
        if margin > 0.01 and excluded_wins:
            break
    else:
        sys.exit(f"encoder_decoders_data: the greedy tokens of {kind} would depend on rounding with every seed")
    print(f"{kind}: seed {seed}, smallest margin {margin:.4f}, largest logit {largest:.2f}")
    (folder / "config.json").write_text(json.dumps(config_of(kind), indent=1, sort_keys=True) + "\n")
    write(folder / "model.safetensors", {name: ("F32", extents, numbers.tobytes()) for name, (extents, numbers) in weights.items()})
    write(folder / "golden.safetensors", golden)
    return {"name": kind, "folder": kind, "model_type": kind, "class": KINDS[kind]["class"], "kind": "seq2seq", "tags": KINDS[kind]["tags"],
            "tol": {"rtol": 2e-5, "atol": 1e-4}}


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    place = pathlib.Path(sys.argv[1])
    cases = [made(place, kind) for kind in KINDS]
    manifest = {"format": 1, "suite": "encoder_decoders", "origin": "tests/data/encoder_decoders_data.py", "count": len(cases), "cases": cases}
    (place / "manifest.json").write_text(json.dumps(manifest, indent=1) + "\n")


if __name__ == "__main__":
    main()
