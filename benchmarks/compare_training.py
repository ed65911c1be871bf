#!/usr/bin/env python3
"""Runs dimwise and PyTorch on the workloads of training, and writes docs/reference/training_benchmark.md.

    cmake --preset bench && cmake --build --preset bench --target training_comparison

    python3 benchmarks/compare_training.py --programs build/bench/benchmarks     # what that target does, after building

The options are those of compare.py, without --only and --brief; figures are kept in build/bench/training.json.
PyTorch: python3-torch. Without it its columns are left out, with the reason. Standard library only.
"""

import re

import compare
from compare import NAMES, OWN, Figures, duration, figures_in, table

PAGE = compare.ROOT / "docs/reference/training_benchmark.md"
# Of these the process's peak of memory is taken, each in a process of its own.
OF_MEMORY = [f"attn_h12_d64_n{n}_{which}_fwdbwd" for which in ("full", "causal") for n in (512, 4096)] + ["gpt_L4_d256_h8_V4096_B4_T128"]
OF_THREADS = ["attn_h12_d64_n1024_full_fwdbwd", "attn_h12_d64_n2048_causal_fwdbwd", "gpt_L4_d256_h8_V4096_B4_T128"]
# (workloads, least share of the peak in percent, least factor ahead of torch)
MARKS = {
    "avx512": [
        ("attention, full, n512", r"attn_.*_n512_full_fwdbwd", 62, None),
        ("attention, full, n1024 and n2048", r"attn_.*_n(1024|2048)_full_fwdbwd", 64, 3),
        ("attention, full, n4096", r"attn_.*_n4096_full_fwdbwd", 62, None),
        ("attention, causal, n512", r"attn_.*_n512_causal_fwdbwd", 53, None),
        ("attention, causal, n1024", r"attn_.*_n1024_causal_fwdbwd", 58, 3),
        ("attention, causal, n2048 and n4096", r"attn_.*_n(2048|4096)_causal_fwdbwd", 60, 3),
        ("small GPT's step", r"gpt_L4_.*", 62, None),
        ("GPT-2 124M, 1 × 256", r"gpt_L12_.*_T256", 60, 2),
    ],
    "avx2": [
        ("attention, full", r"attn_.*_full_fwdbwd", 62, 1.05),
        ("attention, causal", r"attn_.*_causal_fwdbwd", 56, 1.05),
        ("small GPT's step", r"gpt_L4_.*", 62, 1.05),
        ("GPT-2 124M", r"gpt_L12_.*", 0, 1.05),
    ],
    "baseline": [],
}


def measure(options, architecture):
    program, torch = options.programs / "bench_training", compare.python_with("torch")
    results = {"figures": [], "memory": [], "versions": "", "missing": "" if torch else "no python3 here has the package torch"}

    def own(only, threads, *more):
        command = [program, "--spread", "--seconds", options.seconds, "--threads", threads, "--only", ",".join(only), *more]
        return list(figures_in(compare.output_of(command, threads, architecture)))

    def theirs(only, threads, *more):
        # Its largest attention takes minutes and gigabytes: that is known, and is left out.
        listed = compare.output_of([program, "--list", "--only", ",".join(only)], 1, architecture).splitlines(keepends=True)
        feed = "".join(line for line in listed if more or "_n4096_" not in line)
        peak = compare.PEAK.search(compare.output_of([program, "--only", "none"], 1, architecture)).group(2)
        text = compare.output_of([torch, compare.HERE / "rivals/torch_training.py", threads, options.seconds, peak, *more], threads, architecture, feed)
        results["versions"] = text.splitlines()[0][2:]
        return list(figures_in(text))

    best = architecture == compare.architectures()[0]
    for number in range(options.rounds):
        for name, run in ((OWN, own), *([("torch", theirs)] if torch else [])):
            print(f"{NAMES[architecture]}, round {number + 1} of {options.rounds}: {name}", flush=True)
            results["figures"] += run(["attn", "gpt"] if run is theirs else ["attn", "gpt", "linear"], 1)
            if best and options.threads > 1 and run is own:
                results["figures"] += own(OF_THREADS, options.threads)
    for name in OF_MEMORY if best else []:
        results["memory"] += own([name], 1, "--memory") + (theirs([name], 1, "--memory") if torch else [])
    return results


def main_table(f, missing):
    rows = []
    for workload in f.workloads():
        best = f.rivals(workload)
        rows.append([f"`{workload}`", duration(f.median("ms", OWN, workload)), f"{f.apart(OWN, workload):.0f} %",
                     f"{f.median('rate', OWN, workload):.0f}", f"{f.median('share', OWN, workload):.0f} %",
                     *([duration(best[0][0]), f"**{f.ahead(workload):.2f}** ×"] if best else ["-", "-"])[:0 if missing else 2]])
    return table(["workload", "dimwise", "±", "GFLOP/s", "of peak", *([] if missing else ["torch", "ahead"])], rows)


def mark_rows(f, results, architecture):
    for what, workloads, share, ahead in MARKS[architecture]:
        here = [w for w in f.workloads() if re.fullmatch(workloads, w)]
        shares = [f.median("share", OWN, w) for w in here]
        ratios = [f.ahead(w) for w in here if f.ahead(w)]
        good = bool(shares) and min(shares) >= share and (not ratios or min(ratios) >= (ahead or 0))
        yield [what, ", ".join([f"≥ {share} % of peak"] * bool(share) + [f"≥ {ahead} × torch"] * bool(ahead)),
               " to ".join(f"{s:.0f} %" for s in sorted({min(shares), max(shares)})) + (f", {min(ratios):.1f} ×" if ahead and ratios else ""),
               "missed" if not good else "no rival" if ahead and not ratios else "met"]
    for w in OF_THREADS:
        counts = sorted(threads for library, workload, threads in f.of if (library, workload) == (OWN, w) and threads > 1)
        for count in counts:
            ratio = f.median("ms", OWN, w) / f.median("ms", OWN, w, count)
            yield [f"`{w}`, {count} threads", "≥ 1.8 × one thread", f"{ratio:.2f} ×", "met" if ratio >= 1.8 else "missed"]
    small = [m["memory"] for m in results["memory"] if m["library"] == OWN and m["workload"].startswith("gpt_L4")]
    if small:
        yield ["small GPT's step, memory", "≤ 120 MB", f"{max(small)} MB", "met" if max(small) <= 120 else "missed"]


def memory_table(results):
    names = list(dict.fromkeys(m["library"] for m in results["memory"]))
    cell = {(m["library"], m["workload"]): f"{m['memory']} MB" for m in results["memory"]}
    return table(["workload", *names], [[f"`{w}`", *(cell.get((name, w), "-") for name in names)] for w in OF_MEMORY])


def page(every):
    parts = [
        "# Training benchmark",
        "```sh\nbash tools/setup.sh bench\ncmake --preset bench && cmake --build --preset bench --target training_comparison\n```",
        "These commands write this page (`benchmarks/compare_training.py`). PyTorch is Debian's `python3-torch`. `build/bench/benchmarks/bench_training` alone prints "
        "`library workload threads median_ms gflops pct_peak`.",
        "All float32, one thread unless stated, CPU time of the process, medians; ± is the deviation of rounds and "
        "quartiles. Forward plus backward counts as three times forward; recomputation, softmax, "
        "norms and AdamW do not count. `gpt_…` is a whole step: forward, backward, AdamW.",
    ]
    for architecture, results in every.items():
        f, missing = Figures(results), results["missing"]
        parts += [f"## Times with {NAMES[architecture]}", f"{compare.about(architecture, results)} dimwise is {compare.standing(f)}",
                  f"Without torch: {missing}." if missing else f"{results['versions']}: the faster of its variants; its attention is omitted at n4096, where it takes gigabytes.",
                  main_table(f, missing)]
    memory = [results for results in every.values() if results["memory"]]
    if memory:
        parts += ["## Memory", "Peak memory of a process that runs only this workload: arrays, parameters, moments and the program.", memory_table(memory[0])]
    rows = [[NAMES[architecture], *row] for architecture, results in every.items() for row in mark_rows(Figures(results), results, architecture)]
    parts += ["## Marks", table(["architecture", "work", "asked", "measured", ""], rows), (compare.HERE / "missed_training_marks.md").read_text(encoding="utf-8").strip()]
    return "\n\n".join(parts) + "\n"


def main():
    options = compare.options_of("training.json", 1)
    PAGE.write_text(page(compare.measured(options, measure, "bench_training")), encoding="utf-8")
    print(f"wrote {PAGE.relative_to(compare.ROOT)}")


if __name__ == "__main__":
    main()
