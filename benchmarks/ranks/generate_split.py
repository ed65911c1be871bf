#!/usr/bin/env python3
"""Milliseconds for each token of dimwise-generate under mpirun, with the layers of a LLaMA divided over processes, and with parts of every layer.

    python3 benchmarks/ranks/generate_split.py build/bench/src/programs/dimwise-generate-mpi

The model has 8 layers of 1,024 features with random weights (134 million parameters), written to a temporary folder. Prints the median of
ROUNDS runs of TOKENS tokens each, the ways in turn. --weights HOW: f32, bf16 and so on. Standard library only.
"""

import argparse
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile

TESTS = pathlib.Path(__file__).resolve().parents[2] / "tests"
sys.path[:0] = [str(TESTS / "ranks" / "mpi"), str(TESTS / "programs")]

from generate import ROOT, large_llama, written  # noqa: E402
from programs import tokenizer_of_signs  # noqa: E402

ROUNDS, TOKENS = 5, 32


def milliseconds(program, ranks, how, folder, weights):
    words = [program, folder, "Hello", "-n", TOKENS, "-s", 1, "--ignore-eos", "--weights", weights]
    if ranks > 1:
        words = ["mpirun", "-n", ranks, *words, "--split-mode", how]
    result = subprocess.run(list(map(str, words)), env=os.environ | ROOT, capture_output=True, text=True, timeout=600, check=True, errors="replace")
    return 1000 / float(re.search(r"([0-9.]+) tokens/s", result.stderr.split("generation")[-1])[1])


def main():
    reads = argparse.ArgumentParser()
    reads.add_argument("program")
    reads.add_argument("--weights", default="f32")
    given = reads.parse_args()
    with tempfile.TemporaryDirectory() as place:
        config, arrays = large_llama(8, 1024)
        folder = pathlib.Path(place)
        (folder / "config.json").write_text(json.dumps(config))
        (folder / "tokenizer.json").write_text(json.dumps(tokenizer_of_signs()))
        (folder / "model.safetensors").write_bytes(written(arrays))
        ways = [(1, "none"), (2, "layer"), (2, "tensor")]
        times = {way: [] for way in ways}
        for _ in range(ROUNDS):
            for way in ways:
                times[way].append(milliseconds(given.program, *way, folder, given.weights))
    alone = statistics.median(times[ways[0]])
    for (ranks, how), found in times.items():
        middle = statistics.median(found)
        print(f"{given.weights} {ranks} {how}: {middle:.2f} ms per token ({min(found):.2f} to {max(found):.2f}), {alone / middle:.2f} x one process")


if __name__ == "__main__":
    main()
