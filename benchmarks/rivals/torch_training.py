"""The workloads of training with PyTorch on this machine's CPU; compare_training.py starts it.

    bench_training --list | python3 benchmarks/rivals/torch_training.py <threads> <seconds> <peak GFLOP/s> [--memory]

Prints the same lines as the other programs. Peers: "torch" is attention written out, and a GPT-2 with AdamW; "torch_sdpa" is
scaled_dot_product_attention (torch 2 has a fused one). Figures hold the calls from Python.
"""

import math
import re
import sys

import torch
import torch.nn.functional as functional
import rival_times

SDPA = getattr(functional, "scaled_dot_product_attention", None)


def attend(q, k, v, hidden):
    s = torch.matmul(q, k.transpose(-1, -2)) * q.shape[-1]**-0.5
    if hidden is not None:
        s = s + hidden
    return torch.matmul(torch.softmax(s, -1), v)


def mask_of(n):
    return torch.full((n, n), -math.inf).triu(1)


def attention(heads, width, n, causal, back):
    q, k, v = (torch.randn(1, heads, n, width, requires_grad=back) for _ in range(3))
    g, hidden = torch.randn(1, heads, n, width), mask_of(n) if causal else None

    def run(forward):
        if not back:
            return forward(q, k, v)
        q.grad = k.grad = v.grad = None
        return forward(q, k, v).backward(g)

    yield "torch", lambda: run(lambda *a: attend(*a, hidden))
    if SDPA:
        yield "torch_sdpa", lambda: run(lambda *a: SDPA(*a, is_causal=causal))


class Layer(torch.nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.norm_1, self.norm_2 = torch.nn.LayerNorm(width), torch.nn.LayerNorm(width)
        self.qkv, self.out = torch.nn.Linear(width, 3 * width), torch.nn.Linear(width, width)
        self.up, self.down = torch.nn.Linear(width, 4 * width), torch.nn.Linear(4 * width, width)

    def forward(self, x, hidden):
        batch, n, width = x.shape
        q, k, v = self.qkv(self.norm_1(x)).view(batch, n, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        x = x + self.out(attend(q, k, v, hidden).transpose(1, 2).reshape(batch, n, width))
        u = self.up(self.norm_2(x))
        return x + self.down(0.5 * u * (1 + torch.tanh(math.sqrt(2 / math.pi) * (u + 0.044715 * u * u * u))))


class Model(torch.nn.Module):
    """As benchmarks/gpt.hpp: norms before, learned positions, one table for words in and out."""

    def __init__(self, layers, width, heads, words, length):
        super().__init__()
        self.words, self.positions = torch.nn.Embedding(words, width), torch.nn.Embedding(length, width)
        self.layers = torch.nn.ModuleList(Layer(width, heads) for _ in range(layers))
        self.norm = torch.nn.LayerNorm(width)
        for table in (self.words, self.positions):
            torch.nn.init.normal_(table.weight, 0, 0.02)

    def forward(self, ids, hidden):
        x = self.words(ids) + self.positions.weight[:ids.shape[1]]
        for layer in self.layers:
            x = layer(x, hidden)
        return functional.linear(self.norm(x), self.words.weight)


def gpt(layers, width, heads, words, batch, length):
    model = Model(layers, width, heads, words, length)
    optimiser = torch.optim.AdamW(model.parameters(), lr=1e-4, weight_decay=0.1)
    ids, hidden = torch.randint(words, (batch, length)), mask_of(length)

    def step():
        optimiser.zero_grad(set_to_none=True)
        logits = model(ids, hidden)[:, :-1]
        functional.cross_entropy(logits.reshape(-1, words), ids[:, 1:].reshape(-1)).backward()
        optimiser.step()

    yield "torch", step


def programs(name):
    numbers = [int(n) for n in re.findall(r"(?<=[a-zA-Z])\d+", name)]
    if name.startswith("attn"):
        return attention(*numbers[:3], causal="causal" in name, back=name.endswith("bwd"))
    return gpt(*numbers) if name.startswith("gpt") else ()


def main():
    threads, seconds, peak = int(sys.argv[1]), float(sys.argv[2]), float(sys.argv[3])
    torch.set_num_threads(threads)
    torch.manual_seed(0)
    print(f"# torch {torch.__version__}")
    for w in rival_times.workloads(sys.stdin):
        for library, program in programs(w.name):
            rival_times.report(library, w, threads, seconds, peak, program, memory="--memory" in sys.argv)


if __name__ == "__main__":
    main()
