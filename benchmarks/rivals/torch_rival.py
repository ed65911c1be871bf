"""The workloads with PyTorch on this machine's CPU; compare.py starts it. Prints the same lines as the other programs.

    bench_attention --list | python3 benchmarks/rivals/torch_rival.py <threads> <seconds> <peak GFLOP/s>

Peers: "torch" is matmul, softmax, matmul written out; "torch_sdpa" scaled_dot_product_attention (torch 2 has a fused one);
"torch_encoder" nn.TransformerEncoderLayer for W5. Layers W1 and W4 are written out. Figures hold the calls from Python.
"""

import sys

import torch
import torch.nn.functional as functional
import rival_times

SDPA = getattr(functional, "scaled_dot_product_attention", None)


def attend(q, k, v, mask):
    s = torch.matmul(q, k.transpose(-1, -2)) * q.shape[-1]**-0.5
    if mask is not None:
        s = s.masked_fill(mask, float("-inf"))
    return torch.matmul(torch.softmax(s, -1), v)


def programs(w):
    n, h, d, dv, width = w.queries, w.heads, w.d_k, w.d_v, w.d_model
    mask = torch.ones(n, w.keys).triu(1).bool() if w.causal else None
    if w.kind in (2, 3):
        rows = w.heads // w.key_heads if w.kind == 3 else n
        q, k, v = (torch.randn(1, w.key_heads, m, e) for m, e in ((rows, d), (w.keys, d), (w.keys, dv)))
        yield "torch", lambda: attend(q, k, v, mask)
        if SDPA:
            yield "torch_sdpa", lambda: SDPA(q, k, v, is_causal=w.causal)
    elif w.kind in (1, 4):
        x = torch.randn(n, width)
        w_q, w_k, w_v = torch.randn(width, h * d) * .05, torch.randn(width, h * d) * .05, torch.randn(width, h * dv) * .05
        w_o = torch.randn(h * dv, width) * .05

        def layer(attention):
            q, k, v = ((x @ m).view(n, h, -1).transpose(0, 1) for m in (w_q, w_k, w_v))
            z = attention(q, k, v).transpose(0, 1).reshape(n, h * dv)
            return z if h == 1 else z @ w_o

        yield "torch", lambda: layer(lambda q, k, v: attend(q, k, v, mask))
        if SDPA and d == dv:
            yield "torch_sdpa", lambda: layer(lambda q, k, v: SDPA(q[None], k[None], v[None], is_causal=w.causal)[0])
    else:
        encoder = torch.nn.TransformerEncoderLayer(width, h, w.d_ff, activation="gelu", batch_first=True).eval()
        x = torch.randn(1, n, width)
        yield "torch_encoder", lambda: encoder(x)


def main():
    threads, seconds, peak = int(sys.argv[1]), float(sys.argv[2]), float(sys.argv[3])
    torch.set_num_threads(threads)
    print(f"# torch {torch.__version__}")
    with torch.inference_mode():
        for w in rival_times.workloads(sys.stdin):
            for name, program in programs(w):
                rival_times.report(name, w, threads, seconds, peak, program)


if __name__ == "__main__":
    main()
