"""The models of bench_generation with PyTorch on this machine's CPU; compare_generation.py starts it.

    python3 benchmarks/rivals/torch_generation.py <threads> <seconds> [model ...]

Prints the same lines as the other programs. Language models are written out, with a cache that is there already; "torch_encoder" is
nn.TransformerEncoder, which has a fast path of its own. Figures hold the calls from Python.
"""

import sys

import rival_times
import torch
import torch.nn.functional as functional
from generation_shapes import PROMPT, WRITTEN, prompt, wanted


def drawn(*extents, how=torch.float32):
    return (torch.randn(*extents) * 0.02).to(how)


class Model:
    """A GPT-2 or a LLaMA: words behind those in the cache in, the likeliest next word out."""

    def __init__(self, s, how):
        self.s, self.one, self.zero = s, torch.ones(s.width, dtype=how), torch.zeros(s.width, dtype=how)
        self.words, self.positions = drawn(s.words, s.width, how=how), drawn(s.longest, s.width, how=how)
        self.cache = torch.zeros(s.layers, 2, s.heads, s.longest, s.width // s.heads, dtype=how)
        ups = 1 if s.kind == "gpt2" else 2  # and a gate
        extents = {"qkv": (3 * s.width, s.width), "out": (s.width, s.width), "up": (ups * s.hidden, s.width), "down": (s.width, s.hidden)}
        self.layers = [{name: (drawn(*e, how=how), torch.zeros(e[0], dtype=how) if ups == 1 else None) for name, e in extents.items()}
                       for _ in range(s.layers)]
        half = s.width // s.heads // 2
        turns = torch.outer(torch.arange(s.longest), 10000**(-torch.arange(half) / half)).repeat(1, 2)
        self.cos, self.sin = turns.cos().to(how), turns.sin().to(how)

    def norm(self, x):
        if self.s.kind == "gpt2":
            return functional.layer_norm(x, (self.s.width,), self.one, self.zero)
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-5) * self.one

    def turned(self, x, at):
        a, b = x.chunk(2, -1)
        return x * self.cos[at] + torch.cat((-b, a), -1) * self.sin[at]

    def next(self, ids, begin):
        s, n, end = self.s, len(ids), begin + len(ids)
        at = slice(begin, end)
        x = self.words[ids]
        if s.kind == "gpt2":
            x = x + self.positions[at]
        hidden = torch.full((n, end), float("-inf"), dtype=x.dtype).triu(begin + 1) if n > 1 else 0
        for layer, cache in zip(self.layers, self.cache):
            q, k, v = functional.linear(self.norm(x), *layer["qkv"]).view(n, 3, s.heads, -1).permute(1, 2, 0, 3)
            if s.kind == "llama":
                q, k = self.turned(q, at), self.turned(k, at)
            cache[0, :, at], cache[1, :, at] = k, v
            scores = q @ cache[0, :, :end].transpose(1, 2) * q.shape[-1]**-0.5 + hidden
            attended = (torch.softmax(scores, -1) @ cache[1, :, :end]).transpose(0, 1).reshape(n, s.width)
            x = x + functional.linear(attended, *layer["out"])
            u = functional.linear(self.norm(x), *layer["up"])
            if s.kind == "gpt2":
                u = functional.gelu(u)
            else:
                gate, up = u.chunk(2, -1)
                u = functional.silu(gate) * up
            x = x + functional.linear(u, *layer["down"])
        return functional.linear(self.norm(x[-1:]), self.words).argmax(-1)


def language_model(name, s, how):
    model, suffix = Model(s, how), "" if how is torch.float32 else "_bf16"
    ids = torch.tensor(prompt(s.words))
    state = {}

    def write():
        if state["at"] == PROMPT + WRITTEN:
            state["at"] = PROMPT
        state["next"] = model.next(state["next"], state["at"])
        state["at"] += 1

    yield "torch", f"{name}_prefill{PROMPT}{suffix}", PROMPT, lambda: model.next(ids, 0)
    state = {"at": PROMPT, "next": model.next(ids, 0)}
    yield "torch", f"{name}_decode{suffix}", 1, write


def encoder(name, s):
    layer = torch.nn.TransformerEncoderLayer(s.width, s.heads, s.hidden, activation="gelu", batch_first=True)
    layers = torch.nn.TransformerEncoder(layer, s.layers).eval()
    words, positions, ids = drawn(s.words, s.width), drawn(s.longest, s.width), torch.tensor(prompt(s.words))

    def vector():
        x = functional.layer_norm(words[ids] + positions[:PROMPT], (s.width,))
        pooled = layers(x[None])[0].mean(0)
        return pooled / pooled.norm()

    yield "torch_encoder", f"{name}_{PROMPT}", PROMPT, vector


def main():
    threads, seconds = int(sys.argv[1]), float(sys.argv[2])
    torch.set_num_threads(threads)
    torch.manual_seed(0)
    print(f"# torch {torch.__version__}")
    with torch.inference_mode():
        for name, s in wanted(sys.argv[3:]):
            for how in (torch.float32, torch.bfloat16) if s.kind != "bert" else (torch.float32,):
                for library, workload, words, program in encoder(name, s) if s.kind == "bert" else language_model(name, s, how):
                    low, median, high = rival_times.quartiles_of(program, threads, seconds)
                    print(f"{library} {workload} {threads} {median:.6f} {words / median * 1e3:.2f} 0 {low:.6f} {high:.6f}", flush=True)


if __name__ == "__main__":
    main()
