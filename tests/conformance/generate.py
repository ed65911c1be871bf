#!/usr/bin/env python3
"""Writes a conformance suite of random cases: sizes, attributes and masks that the packed suites do not have.

    python3 tests/conformance/generate.py FOLDER [--seed N] [--count N]

The expected values are computed here, in float64, by loops written from the operators' descriptions: slow, simple, and
without a line in common with the library. Standard library only.
"""

import argparse
import itertools
import json
import math
import pathlib
import random
import struct

FORMATS = {"float32": ("<f4", "f"), "float64": ("<f8", "d"), "float16": ("<f2", "e"), "int64": ("<i8", "q"),
           "int32": ("<i4", "i"), "int8": ("|i1", "b"), "uint8": ("|u1", "B"), "bool": ("|b1", "?")}
INF = math.inf


class Array:
    """Numbers in C order, looked up by a tuple of indices."""

    def __init__(self, dtype, shape, values):
        self.dtype, self.shape = dtype, list(shape)
        letter = FORMATS[dtype][1]
        self.values = list(struct.unpack(f"<{len(values)}{letter}", struct.pack(f"<{len(values)}{letter}", *values)))
        assert len(self.values) == math.prod(shape), (dtype, shape, len(values))

    def __getitem__(self, index):
        at = 0
        for i, n in zip(index, self.shape):
            assert 0 <= i < n, (index, self.shape)
            at = at * n + i
        return self.values[at]


def write_npy(path, array):
    descr, letter = FORMATS[array.dtype]
    shape = "(" + "".join(f"{n}, " for n in array.shape) + ")"
    header = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}"
    header += " " * (-(10 + len(header) + 1) % 64) + "\n"
    body = struct.pack(f"<{len(array.values)}{letter}", *array.values)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode("latin1") + body)


def build(dtype, shape, f):
    return Array(dtype, shape, [f(*index) for index in itertools.product(*map(range, shape))])


class Suite:
    def __init__(self, folder, name):
        self.folder, self.name, self.cases = pathlib.Path(folder), name, []

    def add(self, name, op, attributes, inputs, outputs, rtol=1e-4, atol=4e-6):
        """inputs, outputs: (name, Array or None for an empty slot) in the order of the slots."""
        def entries(kind, arrays):
            result = []
            for slot, (tensor, array) in enumerate(arrays):
                if array is not None:
                    file = f"cases/{name}/{kind}.{tensor}.npy"
                    write_npy(self.folder / file, array)
                    result.append({"name": tensor, "slot": slot, "dtype": array.dtype, "shape": array.shape, "file": file})
            return result

        self.cases.append({
            "name": name, "op": op, "attributes": attributes, "tags": [], "tol": {"rtol": rtol, "atol": atol},
            "node_inputs": [tensor if array is not None else "" for tensor, array in inputs],
            "node_outputs": [tensor if array is not None else "" for tensor, array in outputs],
            "inputs": entries("in", inputs), "outputs": entries("out", outputs)})

    def write(self):
        manifest = {"format": 1, "suite": self.name, "split": "generated", "count": len(self.cases), "cases": self.cases}
        self.folder.mkdir(parents=True, exist_ok=True)
        (self.folder / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")


# --- attention, from one row of scores to its weights ------------------------------------------------------------------

def softmax(scores, sink=None):
    """Weights of one row; where nothing is visible, nothing has weight. A sink takes its share and has no value."""
    top = max([s for s in scores] + ([] if sink is None else [sink]), default=-INF)
    if top == -INF:
        return [0.0] * len(scores)
    exps = [math.exp(s - top) if s != -INF else 0.0 for s in scores]
    total = sum(exps) + (0.0 if sink is None else math.exp(sink - top))
    return [e / total for e in exps]


def attend(dims, q, k, v, scale, cap, extra, sink=None):
    """dims: batch, q heads, kv heads, q_len, total, d_k, d_v; q, k, v: functions of (batch, head, position, feature);
    extra(b, h, i, j) is added, -inf hides. -> the context, and the four stages, as functions of the index."""
    b_, h_, g_, q_, t_, dk, dv = dims
    product, capped, masked, weights, context = {}, {}, {}, {}, {}
    for b, h, i in itertools.product(range(b_), range(h_), range(q_)):
        kv = h // (h_ // g_)
        for j in range(t_):
            at = (b, h, i, j)
            product[at] = scale * sum(q(b, h, i, d) * k(b, kv, j, d) for d in range(dk))
            capped[at] = cap * math.tanh(product[at] / cap) if cap else product[at]
            masked[at] = capped[at] + extra(*at)
        row = softmax([masked[b, h, i, j] for j in range(t_)], sink(h) if sink else None)
        for j in range(t_):
            weights[b, h, i, j] = row[j]
        for d in range(dv):
            context[b, h, i, d] = sum(row[j] * v(b, kv, j, d) for j in range(t_) if row[j])
    return context, (product, capped, masked, weights)


def in_window(distance, left, right):
    """distance: how far the key stands before the query."""
    return (left < 0 or distance <= left) and (right < 0 or -distance <= right)


def normal(rng, shape, dtype="float32"):
    return build(dtype, shape, lambda *_: rng.gauss(0, 1))


def onnx_attention(suite, rng, number):
    batch, kv_heads, group = rng.randint(1, 3), rng.randint(1, 3), rng.randint(1, 3)
    heads = kv_heads * group
    q_len, new, dk, dv = rng.randint(1, 9), rng.randint(1, 11), rng.choice([1, 2, 5, 8, 17]), rng.choice([1, 3, 8, 10])
    packed = rng.random() < 0.4
    dtype = "float16" if rng.random() < 0.2 else "float32"
    past = rng.randint(1, 7) if rng.random() < 0.35 else 0
    total = past + new
    attributes = {}
    if packed:
        attributes |= {"q_num_heads": heads, "kv_num_heads": kv_heads}
        q = normal(rng, [batch, q_len, heads * dk], dtype)
        k = normal(rng, [batch, new, kv_heads * dk], dtype)
        v = normal(rng, [batch, new, kv_heads * dv], dtype)
        of = lambda x, n: (lambda b, h, i, d: x[b, i, h * n + d])
    else:
        q = normal(rng, [batch, heads, q_len, dk], dtype)
        k = normal(rng, [batch, kv_heads, new, dk], dtype)
        v = normal(rng, [batch, kv_heads, new, dv], dtype)
        of = lambda x, n: (lambda b, h, i, d: x[b, h, i, d])
    past_k = normal(rng, [batch, kv_heads, past, dk], dtype) if past else None
    past_v = normal(rng, [batch, kv_heads, past, dv], dtype) if past else None
    all_k = lambda b, h, j, d: past_k[b, h, j, d] if j < past else of(k, dk)(b, h, j - past, d)
    all_v = lambda b, h, j, d: past_v[b, h, j, d] if j < past else of(v, dv)(b, h, j - past, d)

    lengths = None
    if not past and rng.random() < 0.3:
        lengths = Array("int64", [batch], [rng.randint(0, total) for _ in range(batch)])
    causal = rng.random() < 0.4
    left = rng.choice([-1, 0, 2, 5]) if rng.random() < 0.4 else -1
    right = rng.choice([-1, 0, 1, 4]) if rng.random() < 0.3 else -1
    mask = None
    if rng.random() < 0.6:
        rank = rng.randint(1, 4)
        shape = [rng.choice([1, batch]), rng.choice([1, heads]), rng.choice([1, q_len]), total][4 - rank:]
        if total > 1 and rng.random() < 0.3:
            shape[-1] = rng.randint(1, total - 1)  # what is missing is hidden
        if rng.random() < 0.5:
            mask = build("bool", shape, lambda *_: rng.random() < 0.7)
        else:
            mask = build(dtype, shape, lambda *_: -INF if rng.random() < 0.2 else rng.gauss(0, 1))
    if causal:
        attributes["is_causal"] = 1
    if left >= 0 or rng.random() < 0.1:
        attributes["left_window_size"] = left
    if right >= 0:
        attributes["right_window_size"] = right
    scale = 1 / math.sqrt(dk)
    if rng.random() < 0.3:
        attributes["scale"] = scale = rng.choice([0.01, 0.5, 1.25])
    cap = 0.0
    if rng.random() < 0.3:
        attributes["softcap"] = cap = rng.choice([0.5, 2.0, 30.0])

    def extra(b, h, i, j):
        first = lengths[b,] - q_len if lengths else past
        distance = first + i - j
        if (causal and distance < 0) or not in_window(distance, left, right) or (lengths and j >= lengths[b,]):
            return -INF
        if mask is None:
            return 0.0
        if j >= mask.shape[-1]:
            return -INF
        index = tuple(x if n > 1 else 0 for x, n in zip((b, h, i, j)[4 - len(mask.shape):], mask.shape[:-1] + [2]))
        given = mask[index]
        return given if mask.dtype != "bool" else (0.0 if given else -INF)

    context, stages = attend((batch, heads, kv_heads, q_len, total, dk, dv), of(q, dk), all_k, all_v, scale, cap, extra)
    if packed:
        y = build(dtype, [batch, q_len, heads * dv], lambda b, i, c: context[b, c // dv, i, c % dv])
    else:
        y = build(dtype, [batch, heads, q_len, dv], lambda *at: context[at])
    mode = rng.choice([None, 0, 1, 2, 3])
    outputs = [("Y", y), ("present_key", None), ("present_value", None)]
    if past:
        outputs[1:] = [("present_key", build(dtype, [batch, kv_heads, total, dk], all_k)),
                       ("present_value", build(dtype, [batch, kv_heads, total, dv], all_v))]
    if mode is not None:
        attributes["qk_matmul_output_mode"] = mode
        outputs.append(("qk", build(dtype, [batch, heads, q_len, total], lambda *at: stages[mode][at])))
    suite.add(f"attention_{number}", "Attention", attributes,
              [("Q", q), ("K", k), ("V", v), ("attn_mask", mask), ("past_key", past_k), ("past_value", past_v), ("nonpad_kv_seqlen", lengths)],
              outputs, **({"rtol": 1e-3, "atol": 1e-5} if dtype == "float16" else {}))


def rotate(x, count, cos, sin, interleaved):
    """One vector, the first 2 * count features turned by the angle of their pair."""
    y = list(x)
    for p in range(count):
        a, b = (2 * p, 2 * p + 1) if interleaved else (p, p + count)
        y[a], y[b] = x[a] * cos[p] - x[b] * sin[p], x[b] * cos[p] + x[a] * sin[p]
    return y


def group_query_attention(suite, rng, number):
    kv_heads, group = rng.randint(1, 3), rng.randint(1, 3)
    heads = kv_heads * group
    d = rng.choice([8, 16])
    decode = rng.random() < 0.5
    ragged = rng.random() < 0.3
    if decode:
        batch = rng.randint(1, 3)
        q_len = 1 if batch > 1 else rng.randint(1, 5)
        past = rng.randint(1, 9)
        starts = [rng.randint(1, past) if ragged else past for _ in range(batch)]
        starts[rng.randrange(batch)] = past
        totals = [s + q_len for s in starts]
    else:
        batch, q_len, past = rng.randint(1, 3), rng.randint(1, 9), 0
        starts, totals = [0] * batch, [q_len] * batch
    total = max(totals)
    attributes = {"num_heads": heads, "kv_num_heads": kv_heads}
    bits = rng.choice([0, 0, 0, 8, 4])
    packed = not bits and rng.random() < 0.3
    width = {0: d, 8: d, 4: d // 2}[bits]
    cache_type = {0: "float32", 8: "int8", 4: "uint8"}[bits]

    query = normal(rng, [batch, q_len, heads * d])
    key = normal(rng, [batch, q_len, kv_heads * d])
    value = normal(rng, [batch, q_len, kv_heads * d])
    low, high = (-128, 127) if bits == 8 else (-8, 7)
    scales = []
    if bits:
        per_channel = rng.random() < 0.5
        kind = "PER_CHANNEL" if per_channel else "PER_TENSOR"
        attributes |= {"kv_cache_bit_width": bits, "k_quant_type": kind, "v_quant_type": kind}
        shape = [1, kv_heads, 1, d] if per_channel else [1]
        scales = [build("float32", shape, lambda *_: 3.0 / high * rng.uniform(0.8, 1.2)) for _ in range(2)]

        def stored(which):
            if bits == 8:
                return build("int8", [batch, kv_heads, past, d], lambda *_: rng.randint(-128, 127))
            return build("uint8", [batch, kv_heads, past, width], lambda *_: rng.randint(0, 255))
    else:
        stored = lambda which: normal(rng, [batch, kv_heads, past, d])
    has_past = past > 0 or bits
    past_k, past_v = (stored(0), stored(1)) if has_past else (None, None)

    rotary = None
    positions = None
    if rng.random() < 0.4:
        pairs = rng.choice([d // 2, d // 4])
        cos = build("float32", [total + 3, pairs], lambda p, c: math.cos(p / 100 ** (c / pairs)))
        sin = build("float32", [total + 3, pairs], lambda p, c: math.sin(p / 100 ** (c / pairs)))
        interleaved = rng.randint(0, 1)
        attributes |= {"do_rotary": 1, "rotary_interleaved": interleaved}
        rotary = (cos, sin, pairs, interleaved)
        if rng.random() < 0.3:
            positions = build("int64", [batch, q_len], lambda b, i: starts[b] + i)

    def turned(x, count, b, i, h):
        vector = [x[b, i, h * d + c] for c in range(d)]
        if not rotary:
            return vector
        cos, sin, pairs, interleaved = rotary
        p = starts[b] + i
        return rotate(vector, pairs, [cos[p, c] for c in range(pairs)], [sin[p, c] for c in range(pairs)], interleaved)

    q_at = {(b, h, i): turned(query, heads, b, i, h) for b in range(batch) for h in range(heads) for i in range(q_len)}
    k_new = {(b, h, i): turned(key, kv_heads, b, i, h) for b in range(batch) for h in range(kv_heads) for i in range(q_len)}

    def scale_at(which, h, c):
        s = scales[which]
        return s[0, h, 0, c] if len(s.shape) == 4 else s[0,]

    def whole(which, x, h, c):
        return max(low, min(high, round(x / scale_at(which, h, c))))

    def nibble(cache, b, h, j, c):
        return (cache[b, h, j, c // 2] >> (4 * (c % 2)) & 15) - 8

    def number_in_cache(which, b, h, j, c):
        """What is stored: a float, or a whole number."""
        cache = (past_k, past_v)[which]
        if j < starts[b]:
            return nibble(cache, b, h, j, c) if bits == 4 else cache[b, h, j, c]
        i = j - starts[b]
        x = k_new[b, h, i][c] if which == 0 else value[b, i, h * d + c]
        return whole(which, x, h, c) if bits else x

    def cached(which):
        def at(b, h, j, c):
            if j >= totals[b]:
                return 0.0
            x = number_in_cache(which, b, h, j, c)
            return x * scale_at(which, h, c) if bits else x
        return at

    causal = rng.random() < 0.85
    if not causal:
        attributes["causal"] = 0
    window = rng.choice([1, 3, 6]) if causal and rng.random() < 0.3 else -1
    if window > 0:
        attributes["local_window_size"] = window
    scale = 1 / math.sqrt(d)
    if rng.random() < 0.2:
        attributes["scale"] = scale = 0.31
    cap = 0.0
    if rng.random() < 0.3:
        attributes["softcap"] = cap = 2.5
    bias = None
    if rng.random() < 0.25:
        bias = normal(rng, [rng.choice([1, batch]), rng.choice([1, heads]), q_len, total])
    sink_values = None
    sink = None
    if rng.random() < 0.25:
        sink_values = normal(rng, [heads])
        sink = lambda h: sink_values[h,]
    elif rng.random() < 0.2:
        attributes["smooth_softmax"] = 1
        sink = lambda h: 0.0

    def extra(b, h, i, j):
        at = starts[b] + i
        if j >= totals[b] or (causal and j > at) or (window > 0 and j <= at - window):
            return -INF
        return bias[b % bias.shape[0], h % bias.shape[1], i, j] if bias else 0.0

    context, stages = attend((batch, heads, kv_heads, q_len, total, d, d), lambda b, h, i, c: q_at[b, h, i][c], cached(0), cached(1),
                             scale, cap, extra, sink)
    outputs = [("output", build("float32", [batch, q_len, heads * d], lambda b, i, c: context[b, c // d, i, c % d]))]
    if len(set(totals)) == 1:
        # Behind the shorter of ragged sequences the present cache is not defined.
        def present(which):
            if bits == 4:
                return build(cache_type, [batch, kv_heads, total, width], lambda b, h, j, c: (number_in_cache(which, b, h, j, 2 * c) + 8) |
                             (number_in_cache(which, b, h, j, 2 * c + 1) + 8) << 4)
            return build(cache_type, [batch, kv_heads, total, d], lambda *at: number_in_cache(which, *at))
        outputs += [("present_key", present(0)), ("present_value", present(1))]
        if rng.random() < 0.3:
            attributes["qk_output"] = 2
            outputs.append(("output_qk", build("float32", [batch, heads, q_len, total], lambda *at: stages[3][at])))
    if packed:
        def fused(b, i, c):
            if c < heads * d:
                return query[b, i, c]
            return key[b, i, c - heads * d] if c < (heads + kv_heads) * d else value[b, i, c - (heads + kv_heads) * d]
        query, key, value = build("float32", [batch, q_len, (heads + 2 * kv_heads) * d], fused), None, None
    suite.add(f"gqa_{number}", "GroupQueryAttention", attributes,
              [("query", query), ("key", key), ("value", value), ("past_key", past_k), ("past_value", past_v),
               ("seqlens_k", Array("int32", [batch], [n - 1 for n in totals])), ("total_sequence_length", Array("int32", [], [total])),
               ("cos_cache", rotary and rotary[0]), ("sin_cache", rotary and rotary[1]), ("position_ids", positions), ("attention_bias", bias),
               ("head_sink", sink_values), ("k_scale", scales[0] if scales else None), ("v_scale", scales[1] if scales else None)], outputs)


def multi_head_attention(suite, rng, number):
    batch, heads, dk = rng.randint(1, 3), rng.randint(1, 4), rng.choice([2, 6, 12])
    q_len, new = rng.randint(1, 7), rng.randint(1, 9)
    form = rng.choice(["separate", "separate", "kv", "qkv", "cache"])
    if form == "qkv":
        new = q_len
    dv = rng.choice([dk, 10]) if form == "separate" else dk
    attributes = {"num_heads": heads}
    past = rng.randint(1, 6) if form == "separate" and rng.random() < 0.4 else 0
    total = past + new
    q = {at: struct.unpack("<f", struct.pack("<f", rng.gauss(0, 1)))[0] for at in itertools.product(range(batch), range(heads), range(q_len), range(dk))}
    k = {at: struct.unpack("<f", struct.pack("<f", rng.gauss(0, 1)))[0] for at in itertools.product(range(batch), range(heads), range(new), range(dk))}
    v = {at: struct.unpack("<f", struct.pack("<f", rng.gauss(0, 1)))[0] for at in itertools.product(range(batch), range(heads), range(new), range(dv))}
    side_by_side = lambda x, n, size: build("float32", [batch, n, heads * size], lambda b, i, c: x[b, c // size, i, c % size])
    if form == "qkv":
        inputs = [build("float32", [batch, q_len, heads, 3, dk], lambda b, i, h, w, c: (q, k, v)[w][b, h, i, c]), None, None]
    elif form == "kv":
        inputs = [side_by_side(q, q_len, dk), build("float32", [batch, new, heads, 2, dk], lambda b, i, h, w, c: (k, v)[w][b, h, i, c]), None]
    elif form == "cache":
        inputs = [side_by_side(q, q_len, dk), build("float32", [batch, heads, new, dk], lambda *at: k[at]),
                  build("float32", [batch, heads, new, dv], lambda *at: v[at])]
    else:
        inputs = [side_by_side(q, q_len, dk), side_by_side(k, new, dk), side_by_side(v, new, dv)]
    bias = None
    if form == "separate" and rng.random() < 0.4:
        bias = normal(rng, [heads * (2 * dk + dv)])
        for x, size, first in ((q, dk, 0), (k, dk, heads * dk), (v, dv, 2 * heads * dk)):
            for b, h, i, c in x:
                x[b, h, i, c] += bias[first + h * size + c,]
    past_k = normal(rng, [batch, heads, past, dk]) if past else None
    past_v = normal(rng, [batch, heads, past, dv]) if past else None
    all_k = lambda b, h, j, c: past_k[b, h, j, c] if j < past else k[b, h, j - past, c]
    all_v = lambda b, h, j, c: past_v[b, h, j, c] if j < past else v[b, h, j - past, c]
    causal = rng.random() < 0.3
    if causal:
        attributes["unidirectional"] = 1
    padding, hidden = None, lambda b, i, j: False
    kind = rng.choice([None, None, "lengths", "keys", "scores"])
    if kind == "lengths" and not past:
        padding = Array("int32", [batch], [rng.randint(1, total) for _ in range(batch)])
        hidden = lambda b, i, j: j >= padding[b,]
    elif kind == "keys":
        padding = build("int32", [batch, total], lambda b, j: int(j == 0 or rng.random() < 0.7))
        hidden = lambda b, i, j: not padding[b, j]
    elif kind == "scores":
        padding = build("int32", [batch, q_len, total], lambda b, i, j: int(j == 0 or rng.random() < 0.7))
        hidden = lambda b, i, j: not padding[b, i, j]
    added = normal(rng, [rng.choice([1, batch]), rng.choice([1, heads]), q_len, total]) if rng.random() < 0.3 else None
    scale = 1 / math.sqrt(dk)
    if rng.random() < 0.3:
        attributes["scale"] = scale = 0.2

    def extra(b, h, i, j):
        if (causal and j > past + i) or hidden(b, i, j):
            return -INF
        return added[b % added.shape[0], h % added.shape[1], i, j] if added else 0.0

    context, _ = attend((batch, heads, heads, q_len, total, dk, dv), lambda *at: q[at], all_k, all_v, scale, 0.0, extra)
    outputs = [("output", build("float32", [batch, q_len, heads * dv], lambda b, i, c: context[b, c // dv, i, c % dv]))]
    if past:
        outputs += [("present_key", build("float32", [batch, heads, total, dk], all_k)), ("present_value", build("float32", [batch, heads, total, dv], all_v))]
    suite.add(f"mha_{number}", "MultiHeadAttention", attributes,
              [("query", inputs[0]), ("key", inputs[1]), ("value", inputs[2]), ("bias", bias), ("key_padding_mask", padding),
               ("attention_bias", added), ("past_key", past_k), ("past_value", past_v)], outputs)


def linear_attention(suite, rng, number):
    batch, kv_heads, group = rng.randint(1, 2), rng.randint(1, 3), rng.randint(1, 3)
    heads, n, dk, dv = kv_heads * group, rng.randint(1, 6), rng.choice([2, 3, 8]), rng.choice([1, 4, 8])
    rule = rng.choice(["linear", "gated", "delta", "gated_delta"])
    attributes = {"q_num_heads": heads, "kv_num_heads": kv_heads}
    if rule != "gated_delta" or rng.random() < 0.5:
        attributes["update_rule"] = rule
    q, k, v = normal(rng, [batch, n, heads * dk]), normal(rng, [batch, n, kv_heads * dk]), normal(rng, [batch, n, kv_heads * dv])
    k.values = [x / math.sqrt(dk) for x in k.values]
    k = Array("float32", k.shape, k.values)
    decay = beta = None
    if "gated" in rule:
        width = kv_heads * rng.choice([1, dk])
        decay = build("float32", [batch, n, width], lambda *_: -rng.random())
    if "delta" in rule:
        beta = build("float32", [batch, n, rng.choice([1, kv_heads])], lambda *_: rng.random())
    past = normal(rng, [batch, kv_heads, dk, dv]) if rng.random() < 0.5 else None
    scale = 1 / math.sqrt(dk)
    if rng.random() < 0.4:
        attributes["scale"] = scale = 0.25
    if rng.random() < 0.3:
        attributes["chunk_size"] = rng.choice([1, 2, 64])
    state = {at: past[at] if past else 0.0 for at in itertools.product(range(batch), range(kv_heads), range(dk), range(dv))}
    y = {}
    for b, t in itertools.product(range(batch), range(n)):
        for h in range(kv_heads):
            if decay:
                for c, e in itertools.product(range(dk), range(dv)):
                    state[b, h, c, e] *= math.exp(decay[b, t, h if decay.shape[2] == kv_heads else h * dk + c])
            fresh = [v[b, t, h * dv + e] for e in range(dv)]
            if beta:
                known = [sum(state[b, h, c, e] * k[b, t, h * dk + c] for c in range(dk)) for e in range(dv)]
                fresh = [beta[b, t, h % beta.shape[2]] * (x - old) for x, old in zip(fresh, known)]
            for c, e in itertools.product(range(dk), range(dv)):
                state[b, h, c, e] += k[b, t, h * dk + c] * fresh[e]
        for h, e in itertools.product(range(heads), range(dv)):
            y[b, t, h * dv + e] = scale * sum(q[b, t, h * dk + c] * state[b, h // group, c, e] for c in range(dk))
    suite.add(f"linear_attention_{number}", "LinearAttention", attributes,
              [("query", q), ("key", k), ("value", v), ("past_state", past), ("decay", decay), ("beta", beta)],
              [("output", build("float32", [batch, n, heads * dv], lambda *at: y[at])),
               ("present_state", build("float32", [batch, kv_heads, dk, dv], lambda *at: state[at]))])


# --- the other operators ------------------------------------------------------------------------------------------------

def shape_of(rng, rank, largest=5):
    return [rng.randint(1, largest) for _ in range(rank)]


def rotary_embedding(suite, rng, number):
    batch, heads, n, d = rng.randint(1, 3), rng.randint(1, 3), rng.randint(1, 6), rng.choice([4, 8, 12])
    flat = rng.random() < 0.5
    pairs = rng.choice([d // 2, d // 4])
    interleaved = rng.randint(0, 1)
    attributes = {"interleaved": interleaved} if interleaved else {}
    if pairs != d // 2:
        attributes["rotary_embedding_dim"] = 2 * pairs
    if flat:
        attributes["num_heads"] = heads
    x = normal(rng, [batch, n, heads * d] if flat else [batch, heads, n, d])
    ids = build("int64", [batch, n], lambda *_: rng.randrange(9)) if rng.random() < 0.6 else None
    cache_shape = [9, pairs] if ids else [batch, n, pairs]
    cos = build("float32", cache_shape, lambda *_: rng.uniform(-1, 1))
    sin = build("float32", cache_shape, lambda *_: rng.uniform(-1, 1))
    y = {}
    for b, h, i in itertools.product(range(batch), range(heads), range(n)):
        vector = [x[b, i, h * d + c] if flat else x[b, h, i, c] for c in range(d)]
        at = (ids[b, i],) if ids else (b, i)
        for c, value in enumerate(rotate(vector, pairs, [cos[at + (p,)] for p in range(pairs)], [sin[at + (p,)] for p in range(pairs)], interleaved)):
            y[(b, i, h * d + c) if flat else (b, h, i, c)] = value
    suite.add(f"rotary_{number}", "RotaryEmbedding", attributes, [("input", x), ("cos", cos), ("sin", sin), ("position_ids", ids)],
              [("output", build("float32", x.shape, lambda *at: y[at]))])


def matmul(suite, rng, number):
    batch = shape_of(rng, rng.randint(0, 3), 3)
    m, n, k = shape_of(rng, 3, 6)
    stretched = lambda: [1 if rng.random() < 0.4 else x for x in batch[rng.randint(0, len(batch)):]]
    a_shape = [k] if rng.random() < 0.2 else stretched() + [m, k]
    b_shape = [k] if rng.random() < 0.2 else stretched() + [k, n]
    a, b = normal(rng, a_shape), normal(rng, b_shape)
    a2 = [1, k] if len(a_shape) == 1 else a_shape
    b2 = [k, 1] if len(b_shape) == 1 else b_shape
    rank = max(len(a2), len(b2)) - 2
    lead = [max(([1] * (rank - len(s) + 2) + s[:-2])[x] for s in (a2, b2)) for x in range(rank)]
    A, B = Array("float32", a2, a.values), Array("float32", b2, b.values)
    at = lambda array, index: tuple(min(i, size - 1) for i, size in zip(index[len(index) - len(array.shape) + 2:], array.shape[:-2]))
    rows, columns = a2[-2], b2[-1]
    y = build("float32", lead + [rows, columns], lambda *i: sum(A[at(A, i[:-2]) + (i[-2], x)] * B[at(B, i[:-2]) + (x, i[-1])] for x in range(k)))
    shape = lead + ([] if len(a_shape) == 1 else [rows]) + ([] if len(b_shape) == 1 else [columns])
    suite.add(f"matmul_{number}", "MatMul", {}, [("a", a), ("b", b)], [("c", Array("float32", shape, y.values))])


def reduce(suite, rng, number):
    op, f = rng.choice([("ReduceSum", sum), ("ReduceMean", lambda x: sum(x) / len(x)), ("ReduceMax", max), ("ReduceMin", min),
                        ("ReduceL1", lambda x: sum(map(abs, x))), ("ReduceL2", lambda x: math.sqrt(sum(e * e for e in x))),
                        ("ReduceSumSquare", lambda x: sum(e * e for e in x)),
                        ("ReduceLogSumExp", lambda x: max(x) + math.log(sum(math.exp(e - max(x)) for e in x)))])
    shape = shape_of(rng, rng.randint(1, 5), 4)
    rank = len(shape)
    dtype = rng.choice(["float32", "float64"])
    x = normal(rng, shape, dtype)
    axes = sorted(rng.sample(range(rank), rng.randint(0, rank)))
    given = Array("int64", [len(axes)], [a - rank if rng.random() < 0.5 else a for a in axes])
    attributes = {"keepdims": rng.randint(0, 1)}
    if not axes and rng.random() < 0.5:
        attributes["noop_with_empty_axes"] = 1
        if op in ("ReduceMax", "ReduceMin", "ReduceSum", "ReduceMean", "ReduceLogSumExp"):
            suite.add(f"reduce_{number}", op, attributes, [("data", x), ("axes", given)], [("reduced", x)])
            return
        del attributes["noop_with_empty_axes"]
    axes = axes or list(range(rank))
    rows = {}
    for at in itertools.product(*map(range, shape)):
        rows.setdefault(tuple(0 if a in axes else i for a, i in enumerate(at)), []).append(x[at])
    kept = [1 if a in axes else n for a, n in enumerate(shape)]
    y = build(dtype, kept, lambda *at: f(rows[at]))
    if not attributes["keepdims"]:
        y = Array(dtype, [n for a, n in enumerate(shape) if a not in axes], y.values)
    suite.add(f"reduce_{number}", op, attributes, [("data", x), ("axes", given)], [("reduced", y)])


def norm(suite, rng, number):
    shape = shape_of(rng, rng.randint(1, 4))
    axis = rng.randrange(len(shape))
    attributes = {"axis": axis if rng.random() < 0.5 else axis - len(shape)}
    epsilon = 1e-5
    if rng.random() < 0.5:
        attributes["epsilon"] = epsilon = 0.1
    x, w, b = normal(rng, shape), normal(rng, shape[axis:]), normal(rng, shape[axis:])
    size = math.prod(shape[axis:])
    y, means, deviations = [], [], []
    rms = rng.random() < 0.5
    for first in range(0, len(x.values), size):
        row = x.values[first:first + size]
        mean = 0.0 if rms else sum(row) / size
        inverse = 1 / math.sqrt(sum((e - mean) ** 2 for e in row) / size + epsilon)
        means.append(mean)
        deviations.append(inverse)
        y += [(e - mean) * inverse * g + (0.0 if rms else s) for e, g, s in zip(row, w.values, b.values)]
    ones = shape[:axis] + [1] * (len(shape) - axis)
    if rms:
        suite.add(f"norm_{number}", "RMSNormalization", attributes, [("X", x), ("W", w)], [("Y", Array("float32", shape, y))])
    else:
        suite.add(f"norm_{number}", "LayerNormalization", attributes, [("X", x), ("W", w), ("B", b)],
                  [("Y", Array("float32", shape, y)), ("Mean", Array("float32", ones, means)), ("InvStdDev", Array("float32", ones, deviations))],
                  atol=2e-5)


def rows(suite, rng, number):
    shape = shape_of(rng, rng.randint(1, 5))
    axis = rng.randrange(len(shape))
    x = normal(rng, shape)
    logs = rng.random() < 0.5
    total = {}
    for at in itertools.product(*map(range, shape)):
        total[at[:axis] + at[axis + 1:]] = total.get(at[:axis] + at[axis + 1:], 0.0) + math.exp(x[at])
    f = (lambda e, s: e - math.log(s)) if logs else (lambda e, s: math.exp(e) / s)
    suite.add(f"softmax_{number}", "LogSoftmax" if logs else "Softmax", {"axis": axis if rng.random() < 0.5 else axis - len(shape)}, [("x", x)],
              [("y", build("float32", shape, lambda *at: f(x[at], total[at[:axis] + at[axis + 1:]])))])


def data(suite, rng, number):
    kind = rng.choice(["Transpose", "Gather", "Trilu", "TensorScatter", "Gemm"])
    dtype = rng.choice(["float32", "float64", "int64"])
    numbers = (lambda shape: build("int64", shape, lambda *_: rng.randint(-9, 9))) if dtype == "int64" else (lambda shape: normal(rng, shape, dtype))
    if kind == "Transpose":
        x = numbers(shape_of(rng, rng.randint(1, 5)))
        perm = rng.sample(range(len(x.shape)), len(x.shape))
        attributes = {"perm": perm}
        if rng.random() < 0.2:
            attributes, perm = {}, list(range(len(x.shape)))[::-1]
        y = build(dtype, [x.shape[p] for p in perm], lambda *at: x[tuple(at[perm.index(a)] for a in range(len(perm)))])
        suite.add(f"data_{number}", kind, attributes, [("data", x)], [("transposed", y)])
    elif kind == "Gather":
        x = numbers(shape_of(rng, rng.randint(1, 4)))
        axis = rng.randrange(len(x.shape))
        n = x.shape[axis]
        ids = build(rng.choice(["int64", "int32"]), shape_of(rng, rng.randint(0, 2), 4), lambda *_: rng.randrange(-n, n))
        rank = len(ids.shape)
        y = build(dtype, x.shape[:axis] + ids.shape + x.shape[axis + 1:],
                  lambda *at: x[at[:axis] + (ids[at[axis:axis + rank]] % n,) + at[axis + rank:]])
        suite.add(f"data_{number}", kind, {"axis": axis if rng.random() < 0.5 else axis - len(x.shape)}, [("data", x), ("indices", ids)], [("y", y)])
    elif kind == "Trilu":
        x = numbers(shape_of(rng, rng.randint(2, 4)))
        k = rng.randint(-7, 7)
        upper = rng.randint(0, 1)
        keep = (lambda i, j: j >= i + k) if upper else (lambda i, j: j <= i + k)
        suite.add(f"data_{number}", kind, {"upper": upper}, [("x", x), ("k", Array("int64", [], [k]))],
                  [("y", build(dtype, x.shape, lambda *at: x[at] if keep(at[-2], at[-1]) else 0))])
    elif kind == "TensorScatter":
        shape = shape_of(rng, rng.randint(3, 4))
        axis = rng.randrange(1, len(shape))
        places = shape[axis] = rng.randint(2, 7)
        written = rng.randint(1, places)
        circular = rng.random() < 0.5
        x, u = numbers(shape), numbers(shape[:axis] + [written] + shape[axis + 1:])
        starts = Array("int64", [shape[0]], [rng.randrange(places) if circular else rng.randint(0, places - written) for _ in range(shape[0])])

        def present(*at):
            back = at[axis] - starts[at[0],]
            back = back % places if circular else back
            return u[at[:axis] + (back,) + at[axis + 1:]] if 0 <= back < written else x[at]
        suite.add(f"data_{number}", kind, {"mode": "circular" if circular else "linear", "axis": axis - len(shape)},
                  [("past", x), ("update", u), ("starts", starts)], [("present", build(dtype, shape, present))])
    else:
        m, n, k = shape_of(rng, 3, 6)
        ta, tb, alpha, beta = rng.randint(0, 1), rng.randint(0, 1), rng.choice([0.25, 1.0]), rng.choice([0.5, 1.0])
        a, b = normal(rng, [k, m] if ta else [m, k]), normal(rng, [n, k] if tb else [k, n])
        c_shape = rng.choice([None, [], [1], [n], [1, n], [m, 1], [m, n]])
        c = None if c_shape is None else normal(rng, c_shape)
        added = (lambda i, j: 0.0) if c is None else (lambda i, j: c[tuple(min(x, s - 1) for x, s in zip((i, j)[2 - len(c.shape):], c.shape))])
        y = build("float32", [m, n], lambda i, j: alpha * sum((a[x, i] if ta else a[i, x]) * (b[j, x] if tb else b[x, j]) for x in range(k)) +
                  beta * added(i, j))
        suite.add(f"data_{number}", kind, {"transA": ta, "transB": tb, "alpha": alpha, "beta": beta}, [("a", a), ("b", b), ("c", c)], [("y", y)])


def choose(suite, rng, number):
    kind = rng.choice(["Where", "Where", "Less", "LessOrEqual", "Greater", "GreaterOrEqual", "Equal", "Clip", "Pow", "Max", "Min"])
    dtype = "float32" if kind == "Pow" else rng.choice(["float32", "float64", "int64"])
    shape = shape_of(rng, rng.randint(1, 5))

    def stretched():  # a suffix of the axes, some of extent 1
        own = [n if rng.random() < 0.7 else 1 for n in shape[rng.randint(0, len(shape)):]]
        return shape if rng.random() < 0.5 else own

    def numbers(own):  # few different ones, so that some are equal
        return build(dtype, own, lambda *_: rng.randint(-3, 3) if dtype == "int64" else rng.randint(-12, 12) / 4)

    def at(x, place):
        return x[tuple(0 if n == 1 else i for i, n in zip(place[len(place) - len(x.shape):], x.shape))]

    first = numbers(shape)
    if kind == "Where":
        m, second = build("bool", stretched(), lambda *_: rng.random() < 0.5), numbers(stretched())
        suite.add(f"choose_{number}", kind, {}, [("condition", m), ("x", first), ("y", second)],
                  [("z", build(dtype, shape, lambda *p: first[p] if at(m, p) else at(second, p)))])
    elif kind == "Clip":
        low, high = sorted([rng.randint(-2, 2), rng.randint(-2, 2)])
        suite.add(f"choose_{number}", kind, {}, [("x", first), ("min", Array(dtype, [], [low])), ("max", Array(dtype, [], [high]))],
                  [("y", build(dtype, shape, lambda *p: min(max(first[p], low), high)))])
    elif kind == "Pow":
        base, by = build(dtype, shape, lambda *_: rng.uniform(0.1, 3)), numbers(stretched())
        suite.add(f"choose_{number}", kind, {}, [("x", base), ("y", by)], [("z", build(dtype, shape, lambda *p: base[p] ** at(by, p)))])
    elif kind in ("Max", "Min"):
        rest = [numbers(stretched()) for _ in range(rng.randint(0, 2))]
        best = max if kind == "Max" else min
        suite.add(f"choose_{number}", kind, {}, [("x0", first)] + [(f"x{i + 1}", x) for i, x in enumerate(rest)],
                  [("y", build(dtype, shape, lambda *p: best([first[p]] + [at(x, p) for x in rest])))])
    else:
        second = numbers(stretched())
        holds = {"Less": lambda x, y: x < y, "LessOrEqual": lambda x, y: x <= y, "Greater": lambda x, y: x > y,
                 "GreaterOrEqual": lambda x, y: x >= y, "Equal": lambda x, y: x == y}[kind]
        suite.add(f"choose_{number}", kind, {}, [("a", first), ("b", second)], [("c", build("bool", shape, lambda *p: holds(first[p], at(second, p))))])


FAMILIES = [onnx_attention, onnx_attention, group_query_attention, group_query_attention, multi_head_attention, linear_attention, rotary_embedding,
            matmul, reduce, norm, rows, data, data, choose]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=280, help="how many cases")
    arguments = parser.parse_args()
    rng = random.Random(arguments.seed)
    suite = Suite(arguments.folder, f"generated-{arguments.seed}")
    for number in range(arguments.count):
        FAMILIES[number % len(FAMILIES)](suite, rng, number)
    suite.write()
    print(f"{arguments.folder}: {len(suite.cases)} cases")


if __name__ == "__main__":
    main()
