"""What a model in float64 computes of prompts: logits and greedy tokens, as arrays of safetensors. Standard library only."""

import math
import struct


def golden_of(model, prompts, continued):
    """-> arrays for safetensors_file.write, the smallest margin of a greedy token, the largest logit"""
    golden, margin, largest = {}, math.inf, 0.0
    for k, prompt in enumerate(prompts):
        logits = model.logits(prompt)
        ids = list(prompt)
        for _ in range(continued):
            last = model.logits(ids)[-1]
            order = sorted(last, reverse=True)
            margin = min(margin, order[0] - order[1])
            ids.append(last.index(order[0]))
        flat = [one for row in logits for one in row]
        largest = max(largest, *(abs(one) for one in flat))
        golden[f"prompt.{k}.input_ids"] = ("I64", [len(prompt)], struct.pack(f"<{len(prompt)}q", *prompt))
        golden[f"prompt.{k}.logits_f64"] = ("F64", [len(prompt), len(logits[0])], struct.pack(f"<{len(flat)}d", *flat))
        golden[f"prompt.{k}.greedy_ids"] = ("I64", [continued], struct.pack(f"<{continued}q", *ids[len(prompt):]))
    return golden, margin, largest
