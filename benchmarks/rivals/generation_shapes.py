"""The models of bench_generation, for the rivals' programs, and drawn numbers for their weights."""

import collections

import numpy

Shape = collections.namedtuple("Shape", "kind width layers heads hidden words longest")
SHAPES = {
    "gpt2_124m": Shape("gpt2", 768, 12, 12, 3072, 50257, 1024),
    "stories15m": Shape("llama", 288, 6, 6, 768, 32000, 256),
    "minilm": Shape("bert", 384, 6, 12, 1536, 30522, 512),
}
PROMPT, WRITTEN = 128, 64  # words that are read, and written behind them
random = numpy.random.default_rng(1)
drawn = (random.standard_normal(1 << 22) * 0.02).astype(numpy.float32)


def wanted(names):
    return [(name, s) for name, s in SHAPES.items() if not names or name in names]


def prompt(words):
    return [i * 7919 % words for i in range(PROMPT)]


def weights(*extents):
    return numpy.resize(numpy.roll(drawn, int(random.integers(drawn.size))), extents)
