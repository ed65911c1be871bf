#!/usr/bin/env python3
"""What dimwise-predict says of the training runs of Narayanan et al. 2021 (arXiv 2104.04473, tables 1 and 2), beside what they achieved.

    python3 benchmarks/published_training.py build/release/src/programs/dimwise-predict

prints the table of docs/explanation/when_to_shard.md. The paper gives the placement; micro-batch and chunks are the fastest that fit into
80 GB, but the micro-batch of table 2 is 1. Vocabulary 51,200, 2,048 positions, 16 bits, layers recomputed. Standard library only.
"""

import json
import subprocess
import sys

# table, model, tp, pp, GPUs, batch, TFLOP/s of a GPU
PUBLISHED = (
    (1, "1.7b", 1, 1, 32, 512, 137), (1, "3.6b", 2, 1, 64, 512, 138), (1, "7.5b", 4, 1, 128, 512, 142), (1, "18.4b", 8, 1, 256, 1024, 135),
    (1, "39.1b", 8, 2, 512, 1536, 138), (1, "76.1b", 8, 4, 1024, 1792, 140), (1, "145.6b", 8, 8, 1536, 2304, 148),
    (1, "310.1b", 8, 16, 1920, 2160, 155), (1, "529.6b", 8, 35, 2520, 2520, 163), (1, "1008b", 8, 64, 3072, 3072, 163),
    (2, "174.6b", 8, 12, 384, 1536, 153), (2, "174.6b", 8, 12, 768, 1536, 149), (2, "174.6b", 8, 12, 1536, 1536, 141),
    (2, "529.6b", 8, 35, 560, 2240, 171), (2, "529.6b", 8, 35, 1120, 2240, 167), (2, "529.6b", 8, 35, 2240, 2240, 159))


def predicted(program, table, name, tp, pp, gpus, batch):
    """-> the fastest forecast that fits, over micro-batches and chunks"""
    dp = gpus // (tp * pp)
    best = None
    for micro in (1, 2, 4, 8) if table == 1 else (1,):
        for chunks in (1, 2, 4) if pp > 1 else (1,):
            result = subprocess.run([program, "megatron-" + name, "--machine", "a100-2021", "--elements", "bf16", "--recompute", "full", "--context",
                                     "2048", "--batch", str(batch), "--place", f"dp={dp},tp={tp},pp={pp},micro={micro},chunks={chunks}",
                                     "--json"], capture_output=True, text=True, timeout=60, check=False)
            if result.returncode != 0:
                if "does not divide" in result.stderr:
                    continue
                sys.exit(result.stderr)
            row = json.loads(result.stdout)
            if row["fits"] and (best is None or row["seconds"]["total"] < best["seconds"]["total"]):
                best = row
    return best


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    print("| table | parameters | GPUs | dp | tp | pp | batch | published TFLOP/s | predicted | off | GB of a GPU |")
    print("|---|---|---|---|---|---|---|---|---|---|---|")
    for table, name, tp, pp, gpus, batch, published in PUBLISHED:
        row = predicted(sys.argv[1], table, name, tp, pp, gpus, batch)
        figure = row["operations_per_second_and_rank"] / 1e12 if row else float("nan")
        print(f"| {table} | {name[:-1]} B | {gpus} | {gpus // tp // pp} | {tp} | {pp} | {batch} | {published} | {figure:.0f} | "
              f"{100 * (figure / published - 1):+.0f} % | {row['bytes']['total'] / 1e9 if row else float('nan'):.0f} |")


if __name__ == "__main__":
    main()
