#!/usr/bin/env python3
"""Writes a suite of gradients of attention for random dimensions, masks and biases: combinations that the packed suite lacks.

    python3 tests/conformance/generate_gradients.py FOLDER [--seed N] [--count N]

The formula is written from its description, row by row over visible keys, in complex numbers: the gradient of an input is the
imaginary part of the loss when that input gets a tiny imaginary part, and is exact but for rounding. Nothing is shared with
the library, and no rule of differentiation is used. Standard library only.
"""

import argparse
import cmath
import json
import math
import pathlib
import random

from generate import Array, build, in_window, write_npy

STEP = 1e-100  # its square vanishes, so nothing is lost to a difference


class Case:
    """One attention with named dimensions: what is said of it, and its formula."""

    def __init__(self, rng, combined):
        self.rng, self.parameters = rng, {}
        batch = [("batch", rng.randint(1, 2))] if rng.random() < 0.8 else []
        kind = rng.choice(["none", "heads", "shared", "grouped"])
        kv = {"heads": [("heads", 2)], "grouped": [("kv_heads", 2)]}.get(kind, [])
        own = {"shared": [("heads", 3)], "grouped": [("group", 2)]}.get(kind, [])
        seq, key, d_k, d_v = [("seq", rng.randint(1, 4))], [("key", rng.randint(1, 5))], [("d_k", rng.randint(1, 3))], [("d_v", rng.randint(1, 3))]
        self.dims = dict(batch + kv + own + seq + key + d_k + d_v)
        self.of = {"q": batch + kv + own + seq + d_k, "k": batch + kv + key + d_k, "v": batch + kv + key + d_v}
        for name in self.of:  # dimensions go by name, in whatever order the array has
            rng.shuffle(self.of[name])
        self.rows = [*batch, *kv, *own, *seq]
        heads = kv + own
        self.first = rng.randint(0, 2) if rng.random() < 0.3 else 0
        if self.first:
            self.parameters["seq_starts_at"] = self.first
        if rng.random() < 0.3:
            self.parameters["scale"] = rng.choice([0.3, 1.0])
        extras = rng.sample(["bias", "softcap", "alibi"], rng.randint(2, 3) if combined else rng.randint(0, 1))
        if "softcap" in extras:
            self.parameters["softcap"] = rng.choice([0.7, 3.0])
        if "alibi" in extras:
            self.parameters["alibi_slopes"] = [rng.choice([0.5, 0.125, 0.0625]) for _ in range(math.prod(n for _, n in heads))]
            self.parameters["distance"] = rng.choice(["j - i", "-|j - i|"])
        if "bias" in extras:
            self.of["bias"] = rng.choice([batch + heads + seq + key, heads + seq + key, batch + seq + key, seq + key]
                                         + [batch + key] * bool(batch))
        self.masks(batch, seq, key)
        self.arrays = {name: self.normal(dims) for name, dims in self.of.items() if name not in ("m", "lengths")}
        self.arrays |= {name: self.whole[name] for name in ("m", "lengths") if name in self.of}
        self.outputs = {"out": [*batch, *kv, *own, *seq, *d_v]}
        if "bias" not in self.of and rng.random() < 0.3:
            self.outputs["lse"] = self.rows
        self.upstream = {name: self.normal(dims) for name, dims in self.outputs.items()}

    def normal(self, dims):
        return build("float32", [n for _, n in dims], lambda *_: self.rng.gauss(0, 1))

    def masks(self, batch, seq, key):
        rng, self.whole = self.rng, {}
        n = self.dims["key"]
        if rng.random() < 0.35:
            self.parameters["causal"] = True
        if rng.random() < 0.25:
            self.parameters["window"] = [rng.choice([-1, 0, 2]), rng.choice([-1, 0, 1])]
        if batch and rng.random() < 0.3:
            self.parameters["padding"], self.of["lengths"] = "lengths", batch
            self.whole["lengths"] = build("int64", [batch[0][1]], lambda *_: rng.randint(0, n))
        if rng.random() < 0.25:
            self.parameters["mask"], self.of["m"] = "m", rng.choice([batch + seq + key, seq + key, batch + key, key])
            self.whole["m"] = build("bool", [extent for _, extent in self.of["m"]], lambda *_: rng.random() < 0.7)
        if rng.random() < 0.2:
            cut = rng.randint(0, n)
            self.parameters["documents"] = [cut, max(n, self.first + self.dims["seq"]) - cut]

    def sees(self, at):
        i, j = at["seq"] + self.first, at["key"]
        said = self.parameters
        if "documents" in said and (i < said["documents"][0]) != (j < said["documents"][0]):
            return False
        if said.get("causal") and j > i or "window" in said and not in_window(i - j, *said["window"]):
            return False
        if "padding" in said and j >= self.pick("lengths", at):
            return False
        return "mask" not in said or self.pick("m", at)

    def pick(self, name, at):
        return self.values[name][tuple(at[d] for d, _ in self.of[name])]

    def score(self, at):
        said = self.parameters
        s = sum(self.pick("q", {**at, "d_k": d}) * self.pick("k", {**at, "d_k": d}) for d in range(self.dims["d_k"]))
        s *= said.get("scale", 1 / math.sqrt(self.dims["d_k"]))
        if "softcap" in said:
            s = said["softcap"] * cmath.tanh(s / said["softcap"])
        if "bias" in self.of:
            s += self.pick("bias", at)
        if "alibi_slopes" in said:
            head = 0
            for d in ("heads", "kv_heads", "group"):
                head = head * self.dims.get(d, 1) + at.get(d, 0)
            distance = at["key"] - at["seq"] - self.first
            s += said["alibi_slopes"][head] * (-abs(distance) if said["distance"].startswith("-") else distance)
        return s

    def run(self, values):
        """-> the outputs, whose numbers are complex"""
        self.values = values
        out, lse = [], []
        for index in places(self.rows):
            at = dict(zip((d for d, _ in self.rows), index))
            seen = [{**at, "key": j} for j in range(self.dims["key"]) if self.sees({**at, "key": j})]
            scores = [self.score(one) for one in seen]
            top = max((s.real for s in scores), default=0)
            exps = [cmath.exp(s - top) for s in scores]
            lse.append(cmath.log(sum(exps)) + top if seen else -math.inf)
            for d in range(self.dims["d_v"]):
                out.append(sum(e * self.pick("v", {**one, "d_v": d}) for e, one in zip(exps, seen)) / (sum(exps) or 1))
        return {"out": out, "lse": lse} if "lse" in self.outputs else {"out": out}

    def gradient(self, name):
        start, found = self.arrays[name], []
        for n in range(len(start.values)):
            moved = Array("float32", start.shape, start.values)
            moved.values[n] += complex(0, STEP)
            got = self.run({**self.arrays, name: moved})
            found.append(sum(complex(y).imag * g for out in got for y, g in zip(got[out], self.upstream[out].values)) / STEP)
        return found

    def write(self, folder, name):
        got = self.run(self.arrays)
        shape_of = lambda dims: [n for _, n in dims]
        outputs = {one: Array("float64", shape_of(self.outputs[one]), [complex(y).real for y in values]) for one, values in got.items()}
        grads = {one: Array("float64", shape_of(self.of[one]), self.gradient(one)) for one in self.of if one not in ("m", "lengths")}

        def entries(kind, arrays, dims):
            result = []
            for one, array in arrays.items():
                file = f"cases/{name}/{kind}.{one}.npy"
                write_npy(folder / file, array)
                result.append({"name": one, "dtype": array.dtype, "shape": array.shape, "dims": [d for d, _ in dims[one]], "file": file})
            return result

        # float32: a score is a sum of few products of numbers near 1, and so is a gradient.
        return {"name": name, "family": "attention", "tags": [], "dims": self.dims,
                "config": {"operation": "attention", "formula": "", "parameters": self.parameters},
                "inputs": entries("input", self.arrays, self.of), "upstream": entries("upstream", self.upstream, self.outputs),
                "outputs_f64": entries("output_f64", outputs, self.outputs), "grads_f64": entries("grad_f64", grads, self.of),
                "tol": {"rtol": 1e-4, "atol": 5e-6}, "tol_f64": {"rtol": 1e-9, "atol": 1e-11}}


def places(dims):
    result = [()]
    for _, n in dims:
        result = [(*one, i) for one in result for i in range(n)]
    return result


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=60)
    arguments = parser.parse_args()
    rng = random.Random(arguments.seed)
    cases = [Case(rng, combined=n % 2 == 0).write(arguments.folder, f"attention_{n}") for n in range(arguments.count)]
    manifest = {"format": 1, "suite": "gradients", "split": "generated", "count": len(cases), "cases": cases}
    (arguments.folder / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")


if __name__ == "__main__":
    main()
