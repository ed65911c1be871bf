#!/usr/bin/env python3
"""Makes a folder as HuggingFace has it (config.json, model.safetensors, tokenizer.json) from other formats.

    python3 src/programs/convert_model.py llama2c MODEL.bin TOKENIZER.bin FOLDER     a checkpoint of karpathy/llama2.c
    python3 src/programs/convert_model.py onnx MODEL.onnx SOURCE FOLDER              an int8 LLaMA, made float32 again; SOURCE
                                                                              has config.json and tokenizer.json
    python3 src/programs/convert_model.py gpt STATE.safetensors FOLDER               what examples/23_train_gpt has trained, as GPT-2
    python3 src/programs/convert_model.py fingerprint FOLDER                         writes tokenizer.fingerprint

The fingerprint of the vocabulary goes beside the weights, so that another vocabulary of the same size is refused.
llama2.c has the features of a head in rotary pairs; HuggingFace has halves: the rows of queries and keys are moved.
src/programs/get_model.sh calls this. Standard library only.
"""

import array
import json
import math
import pathlib
import shutil
import struct
import sys
import time


def fail(message):
    sys.exit(f"convert_model: {message}")


def with_bar(items, what):
    """The items, with a bar on stderr: only on a terminal, and only if they take longer than a second"""
    items, begin, is_shown = list(items), time.monotonic(), False
    for number, item in enumerate(items):
        if sys.stderr.isatty() and time.monotonic() - begin > 1:
            bar = "#" * (24 * number // len(items))
            print(f"\r\x1b[K{what} [{bar:<24}] {100 * number // len(items):3} %", end="", file=sys.stderr, flush=True)
            is_shown = True
        yield item
    if is_shown:
        print("\r\x1b[K", end="", file=sys.stderr, flush=True)


def fingerprint(tokenizer):
    """-> sixteen digits: FNV-1a of each word's bytes and a zero, in the order of the ids"""
    words = {i: w for w, i in tokenizer["model"]["vocab"].items()}
    words.update({t["id"]: t["content"] for t in tokenizer.get("added_tokens") or []})
    value = 0xcbf29ce484222325
    for i in range(max(words) + 1):
        for byte in words.get(i, "").encode() + b"\0":
            value = (value ^ byte) * 0x100000001b3 & 0xffffffffffffffff
    return f"{value:016x}"


def write(folder, config, tokenizer, arrays):
    """arrays: name -> (extents, bytes of float32)"""
    digits = fingerprint(tokenizer)
    header, at = {"__metadata__": {"format": "pt", "tokenizer fingerprint": digits}}, 0
    for name, (extents, body) in arrays.items():
        if len(body) != 4 * math.prod(extents):
            fail(f"{name} has {len(body)} bytes, its extents {extents} need {4 * math.prod(extents)}")
        header[name] = {"dtype": "F32", "shape": extents, "data_offsets": [at, at + len(body)]}
        at += len(body)
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    with (folder / "model.safetensors").open("wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for _, body in with_bar(arrays.values(), "writing"):
            file.write(body)
    (folder / "config.json").write_text(json.dumps(config, indent=1))
    (folder / "tokenizer.json").write_text(json.dumps(tokenizer, ensure_ascii=False), encoding="utf-8")


# --- llama2.c ---

def sentencepiece(path, count):
    """-> the settings of a tokenizer from the words and scores of a vocabulary of llama2.c"""
    data = path.read_bytes()
    words, scores, at = [], [], 4
    for _ in range(count):
        if at + 8 > len(data):
            fail(f"{path}: has {len(words)} words, {count} were expected")
        score, length = struct.unpack_from("<fi", data, at)
        words.append(data[at + 8:at + 8 + length].decode().replace(" ", "▁"))
        scores.append(score)
        at += 8 + length
    if at != len(data):
        fail(f"{path}: has {len(data)} bytes, {count} words have {at}")
    words[:259] = ["<unk>", "<s>", "</s>"] + [f"<0x{b:02X}>" for b in range(256)]
    ids = {w: i for i, w in enumerate(words)}
    # A merge is as good as the word that it makes; of one word, every way to cut it into two words.
    merges = []
    for i in range(259, count):
        word = words[i]
        cuts = [(word[:k], word[k:]) for k in range(1, len(word)) if word[:k] in ids and word[k:] in ids]
        merges += [(-scores[i], left, right) for left, right in sorted(cuts, key=lambda c: (ids[c[0]], ids[c[1]]))]
    merges.sort(key=lambda m: m[0])
    begin = {"SpecialToken": {"id": "<s>", "type_id": 0}}
    return {
        "version": "1.0", "truncation": None, "padding": None,
        "added_tokens": [{"id": i, "content": w, "single_word": False, "lstrip": False, "rstrip": False,
                          "normalized": False, "special": True} for i, w in enumerate(words[:3])],
        "normalizer": {"type": "Sequence", "normalizers": [
            {"type": "Prepend", "prepend": "▁"}, {"type": "Replace", "pattern": {"String": " "}, "content": "▁"}]},
        "pre_tokenizer": None,
        "post_processor": {"type": "TemplateProcessing", "single": [begin, {"Sequence": {"id": "A", "type_id": 0}}],
                           "pair": [], "special_tokens": {"<s>": {"id": "<s>", "ids": [1], "tokens": ["<s>"]}}},
        "decoder": {"type": "Sequence", "decoders": [
            {"type": "Replace", "pattern": {"String": "▁"}, "content": " "}, {"type": "ByteFallback"},
            {"type": "Fuse"}, {"type": "Strip", "content": " ", "start": 1, "stop": 0}]},
        "model": {"type": "BPE", "dropout": None, "unk_token": "<unk>", "continuing_subword_prefix": None,
                  "end_of_word_suffix": None, "fuse_unk": True, "byte_fallback": True, "ignore_merges": False,
                  "vocab": ids, "merges": [f"{left} {right}" for _, left, right in merges]},
    }


def llama2c(model, vocabulary, folder):
    data = model.read_bytes()
    if len(data) < 28:
        fail(f"{model}: has {len(data)} bytes, 28 of settings were expected")
    if data[:4] == b"24ka":  # the number "ak42", by which the versions from 1 on begin
        fail(f"{model}: is of version {struct.unpack_from('<i', data, 4)[0]} of llama2.c's export, version 0 was expected "
             "(export.py --version 0)")
    settings = struct.unpack_from("<7i", data)
    features, hidden, layers, heads, kv_heads, words, longest = settings
    tied, words = words > 0, abs(words)
    if min(features, hidden, layers, heads, kv_heads, words, longest) < 1 or features % heads or heads % kv_heads:
        fail(f"{model}: is not a checkpoint of llama2.c, its settings are {settings}")
    head, at = features // heads, 28
    of_layer = features * (2 + 2 * features + 2 * kv_heads * head + 3 * hidden)
    needed = 28 + 4 * (words * features * (1 if tied else 2) + layers * of_layer + features + longest * head)
    if needed != len(data):
        fail(f"{model}: has {len(data)} bytes, its settings need {needed}")

    def take(count):
        nonlocal at
        at += 4 * count
        return data[at - 4 * count:at]

    def in_halves(weight, count):
        """rows of a head in pairs (0, 1), (2, 3), … -> first all left ones, then all right ones"""
        row = 4 * features
        order = [h * head + i for h in range(count) for i in [*range(0, head, 2), *range(1, head, 2)]]
        return b"".join(weight[r * row:(r + 1) * row] for r in order)

    def each(*extents):
        return [(list(extents), take(math.prod(extents))) for _ in range(layers)]

    arrays = {"model.embed_tokens.weight": ([words, features], take(words * features))}
    parts = {"input_layernorm": each(features),
             "self_attn.q_proj": [(e, in_halves(w, heads)) for e, w in each(features, features)],
             "self_attn.k_proj": [(e, in_halves(w, kv_heads)) for e, w in each(kv_heads * head, features)],
             "self_attn.v_proj": each(kv_heads * head, features), "self_attn.o_proj": each(features, features),
             "post_attention_layernorm": each(features), "mlp.gate_proj": each(hidden, features),
             "mlp.down_proj": each(features, hidden), "mlp.up_proj": each(hidden, features)}
    for name, of_layers in parts.items():
        arrays.update({f"model.layers.{i}.{name}.weight": one for i, one in enumerate(of_layers)})
    arrays["model.norm.weight"] = ([features], take(features))
    take(longest * head)  # cosines and sines, which follow from the settings
    if not tied:
        arrays["lm_head.weight"] = ([words, features], take(words * features))
    config = {"architectures": ["LlamaForCausalLM"], "model_type": "llama", "vocab_size": words, "hidden_size": features,
              "intermediate_size": hidden, "num_hidden_layers": layers, "num_attention_heads": heads,
              "num_key_value_heads": kv_heads, "max_position_embeddings": longest, "rms_norm_eps": 1e-5,
              "rope_theta": 10000.0, "rope_scaling": None, "hidden_act": "silu", "attention_bias": False,
              "mlp_bias": False, "tie_word_embeddings": tied, "bos_token_id": 1, "eos_token_id": [1, 2]}
    write(folder, config, sentencepiece(vocabulary, words), arrays)  # llama2.c begins the next text by <s>: an end, too


# --- what the example 23_train_gpt saves: GPT-2 over bytes, under the names of its modules ---

def bytes_as_words():
    """-> the settings of a tokenizer whose ids are bytes: a byte that cannot be shown is a sign from U+0100 on"""
    shown = [*range(0x21, 0x7f), *range(0xa1, 0xad), *range(0xae, 0x100)]
    hidden = [b for b in range(256) if b not in shown]
    signs = {b: chr(b) for b in shown} | {b: chr(0x100 + i) for i, b in enumerate(hidden)}
    level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False}
    return {"version": "1.0", "truncation": None, "padding": None, "added_tokens": [], "normalizer": None,
            "pre_tokenizer": level, "post_processor": None, "decoder": level,
            "model": {"type": "BPE", "dropout": None, "unk_token": None, "continuing_subword_prefix": None,
                      "end_of_word_suffix": None, "fuse_unk": False, "byte_fallback": False,
                      "vocab": {signs[b]: b for b in range(256)}, "merges": []}}


def gpt(state, folder):
    data = state.read_bytes()
    length = struct.unpack("<Q", data[:8])[0]
    header = json.loads(data[8:8 + length])
    said = header.pop("__metadata__", {})

    def take(name, dimensions):
        """-> extents and bytes of a parameter, whose dimensions must be these"""
        name = "model." + name
        if name not in header:
            fail(f"{state}: has no {name}; a state of examples/23_train_gpt was expected")
        words = [d.split("[")[0] for d in said.get("dimensions of " + name, "").split()]
        if words != dimensions.split():
            fail(f"{state}: {name} has the dimensions {' '.join(words)}, {dimensions} was expected")
        first, last = header[name]["data_offsets"]
        return header[name]["shape"], data[8 + length + first:8 + length + last]

    ((words, features), table), ((longest, _), rows) = take("words.table", "bytes d_model"), take("positions.table", "seq d_model")
    arrays = {"wte.weight": ([words, features], table), "wpe.weight": ([longest, features], rows)}

    def norm(name, own):
        arrays[name + ".weight"] = take(own + ".gamma", "d_model")
        arrays[name + ".bias"] = take(own + ".beta", "d_model")

    layers = 0
    while f"model.layers.layers.{layers}.norm1.gamma" in header:
        own, name = f"layers.layers.{layers}.", f"h.{layers}."
        norm(name + "ln_1", own + "norm1")
        norm(name + "ln_2", own + "norm2")
        parts = [(own + "attention." + p, d) for p, d in (("query", "d_k"), ("key", "d_k"), ("value", "d_v"))]
        maps = [take(p + ".weight", "d_model heads " + d) for p, d in parts]
        (_, heads, _), _ = maps[0]
        row = 4 * features  # queries, keys and values side by side in each row
        arrays[name + "attn.c_attn.weight"] = ([features, 3 * features], b"".join(
            w[r * row:(r + 1) * row] for r in range(features) for _, w in maps))
        arrays[name + "attn.c_attn.bias"] = ([3 * features], b"".join(take(p + ".bias", "heads " + d)[1] for p, d in parts))
        arrays[name + "attn.c_proj.weight"] = ([features, features], take(own + "attention.output.weight", "heads d_v d_model")[1])
        arrays[name + "attn.c_proj.bias"] = take(own + "attention.output.bias", "d_model")
        arrays[name + "mlp.c_fc.weight"] = take(own + "feed_forward.up.weight", "d_model hidden")
        arrays[name + "mlp.c_fc.bias"] = take(own + "feed_forward.up.bias", "hidden")
        arrays[name + "mlp.c_proj.weight"] = take(own + "feed_forward.down.weight", "hidden d_model")
        arrays[name + "mlp.c_proj.bias"] = take(own + "feed_forward.down.bias", "d_model")
        layers += 1
    if layers == 0:
        fail(f"{state}: has no layer; a state of examples/23_train_gpt was expected")
    norm("ln_f", "layers.norm")
    hidden = arrays["h.0.mlp.c_fc.bias"][0][0]
    write(folder, {"architectures": ["GPT2LMHeadModel"], "model_type": "gpt2", "vocab_size": words, "n_positions": longest,
                   "n_embd": features, "n_layer": layers, "n_head": heads, "n_inner": hidden,
                   "activation_function": "gelu_new", "layer_norm_epsilon": 1e-5, "tie_word_embeddings": True},
          bytes_as_words(), arrays)


# --- ONNX: as much of it as this file needs ---

def fields(data):
    """-> (number, value) of each field of a protobuf message: whole numbers, or bytes"""
    at = 0

    def number():
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    while at < len(data):
        key = number()
        kind = key & 7
        if kind == 0:
            yield key >> 3, number()
            continue
        length = number() if kind == 2 else {1: 8, 5: 4}[kind]
        at += length
        yield key >> 3, data[at - length:at]


def whole(value):
    """-> the whole numbers of a field: one, or several packed ones"""
    if isinstance(value, int):
        return [value]
    found, part, shift = [], 0, 0
    for byte in value:
        part |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            found.append(part - (part >> 63 << 64))
            part = shift = 0
    return found


def all_of(data, field):
    return [value for number, value in fields(data) if number == field]


class Tensor:
    def __init__(self, data):
        self.extents = []
        self.kind = 0
        self.raw = b""
        self.name = ""
        self.few = []  # single numbers are not in raw bytes
        for number, value in fields(data):
            if number == 1:
                self.extents += whole(value)
            elif number == 2:
                self.kind = value
            elif number == 4:
                self.few += struct.unpack(f"<{len(value) // 4}f", value)
            elif number == 5:
                self.few += whole(value)
            elif number == 8:
                self.name = bytes(value).decode()
            elif number == 9:
                self.raw = bytes(value)

    def numbers(self):
        return self.few or array.array({1: "f", 2: "B", 3: "b"}[self.kind], self.raw)


def onnx(model, source, folder):
    graph = all_of(memoryview(model.read_bytes()), 7)[0]
    tensors = {t.name: t for t in map(Tensor, all_of(graph, 5))}

    def wide(base, transposed):
        """int8 numbers less their zero, times their scale, as float32; the scale is one, or one for each column"""
        t = tensors[base + "_quantized"]
        zeros, scales = tensors[base + "_zero_point"].numbers(), tensors[base + "_scale"].numbers()
        rows, columns = t.extents
        first = -128 if t.kind == 3 else 0
        tables = []
        for zero, scale in zip(zeros, scales):
            tables.append([struct.pack("<f", (((b + 128) % 256 - 128 if first else b) - zero) * scale) for b in range(256)])
        if len(tables) not in (1, columns) or (len(tables) > 1 and not transposed):
            fail(f"{base}: {len(tables)} scales do not fit {t.extents}")
        if not transposed:
            return [rows, columns], b"".join(map(tables[0].__getitem__, t.raw))
        return [columns, rows], b"".join(b"".join(map(tables[c % len(tables)].__getitem__, t.raw[c::columns]))
                                         for c in range(columns))

    arrays = {"model.embed_tokens.weight": wide("model.embed_tokens.weight", False)}
    for node in with_bar(all_of(graph, 1), "converting"):
        name, kind = (bytes(all_of(node, n)[0]).decode() if all_of(node, n) else "" for n in (3, 4))
        if kind == "MatMulInteger" and "layers." in name:
            weight = bytes(all_of(node, 1)[1]).decode().removesuffix("_quantized")
            arrays[name.strip("/").replace("/", ".").removesuffix(".MatMul_quant") + ".weight"] = wide(weight, True)
    arrays.update({n: (t.extents, t.raw) for n, t in tensors.items() if n.endswith("norm.weight")})
    config = json.loads((source / "config.json").read_text())
    config.pop("dtype", None)
    write(folder, config, json.loads((source / "tokenizer.json").read_text(encoding="utf-8")), dict(sorted(arrays.items())))
    if (source / "generation_config.json").exists():
        shutil.copy(source / "generation_config.json", folder)


def main():
    kind, *places = sys.argv[1:] or [""]
    places = [pathlib.Path(p) for p in places]
    if places:
        places[-1].mkdir(parents=True, exist_ok=True)
    if (kind, len(places)) == ("llama2c", 3):
        llama2c(*places)
    elif (kind, len(places)) == ("onnx", 3):
        onnx(*places)
    elif (kind, len(places)) == ("gpt", 2):
        gpt(*places)
    elif (kind, len(places)) == ("fingerprint", 1):
        tokenizer = json.loads((places[0] / "tokenizer.json").read_text(encoding="utf-8"))
        (places[0] / "tokenizer.fingerprint").write_text(fingerprint(tokenizer) + "\n")
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main()
