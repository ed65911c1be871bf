#!/usr/bin/env python3
"""Runs dimwise and every rival that is installed, and writes docs/reference/benchmark.md with its pictures.

    cmake --preset bench && cmake --build --preset bench --target comparison

    python3 benchmarks/compare.py --programs build/bench/benchmarks        # what that target does, after building
        --only W2,W5       some workloads
        --brief            the times of one thread only: no AVX2, no products, no threads, no growth
        --rounds 3         how often everything is measured; the page has medians, and how far rounds lie apart
        --seconds 0.5      for each workload and library
        --threads 2        also measured with so many threads (wall time: wants a quiet machine); 1 leaves that out
        --results FILE     where the figures are kept (build/bench/comparison.json); --render writes the page from it again

`bash tools/setup.sh bench` installs the rivals: Debian's packages, and ONNX Runtime by npm into build/rivals.
What is missing is left out, with a reason on the page. Standard library only.
"""

import argparse
import collections
import datetime
import json
import os
import pathlib
import platform
import re
import shutil
import statistics
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
HERE = pathlib.Path(__file__).resolve().parent
PAGE = ROOT / "docs/reference/benchmark.md"
PICTURES = ROOT / "docs/pictures"
LENGTHS = [128 << i for i in range(8)]
LINE = re.compile(r"^(\w+) (W\d_\w+) (\d+) ([\d.]+) ([\d.]+) ([\d.]+)(?: ([\d.]+) ([\d.]+))?(?: (\d+))?$")
PEAK = re.compile(r"^peak (\S+) 1 ([\d.]+)")
OWN = "dimwise"


# --- running ---------------------------------------------------------------------------------------------------------


def flags():
    text = pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8") if pathlib.Path("/proc/cpuinfo").exists() else ""
    found = re.search(r"^flags\s*: (.*)$", text, re.MULTILINE)
    return found.group(1).split() if found else []


def environment(threads):
    # An OpenBLAS that is older than the processor falls back to kernels for a much older one. Whatever the environment
    # says of kernels and caches, it gets its best.
    settings = {name: value for name, value in os.environ.items() if not name.startswith("OPENBLAS_")}
    settings["OMP_NUM_THREADS"] = str(threads)
    core = "SkylakeX" if "avx512bw" in flags() else "Haswell" if "avx2" in flags() else ""
    if core:
        settings["OPENBLAS_CORETYPE"] = core
    settings["PYTHONPATH"] = str(HERE / "rivals")
    settings["NODE_PATH"] = ":".join([str(ROOT / "build/rivals/node_modules"), *filter(None, [settings.get("NODE_PATH")])])
    return settings


def output_of(command, threads, feed="", **more):
    done = subprocess.run([str(c) for c in command], input=feed, capture_output=True, text=True, env={**environment(threads), **more})
    if done.returncode:
        raise RuntimeError(f"{command[0]} ends with {done.returncode}: {done.stderr.strip()[-300:]}")
    return done.stdout


def python_with(package):
    """-> an interpreter that has the package, or None"""
    for python in (sys.executable, "/usr/bin/python3"):
        if python and shutil.which(python) and not subprocess.run([python, "-c", f"import {package}"], capture_output=True).returncode:
            return python
    return None


class Runner:
    """Knows the libraries: how each is started, or why it is not."""

    def __init__(self, programs, options):
        self.programs, self.options = programs, options
        self.missing, self.ways = {}, {OWN: self.program("bench_attention")}
        for rival, package in (("openblas", "libopenblas-dev"), ("eigen", "libeigen3-dev"), ("onednn", "libdnnl-dev")):
            if (programs / f"rival_{rival}").exists():
                self.ways[rival] = self.program(f"rival_{rival}")
            else:
                self.missing[rival] = f"{package} was not there when the benchmarks were built"
        torch, onnx = python_with("torch"), python_with("onnx")
        if torch:
            self.ways["torch"] = lambda only, threads: self.torch(torch, only, threads)
        else:
            self.missing["torch"] = "no python3 here has the package torch"
        if not shutil.which("node") or subprocess.run(["node", "-e", "require('onnxruntime-node')"], capture_output=True, env=environment(1)).returncode:
            self.missing["onnxruntime"] = "node finds no onnxruntime-node in build/rivals or NODE_PATH"
        elif not onnx:
            self.missing["onnxruntime"] = "no python3 here has the package onnx"
        else:
            self.ways["onnxruntime"] = lambda only, threads: self.onnxruntime(onnx, only, threads)

    def program(self, name):
        def run(only, threads, *more, **settings):
            command = [self.programs / name, "--spread", "--seconds", self.options.seconds, "--threads", threads, *more]
            return output_of(command + (["--only", ",".join(only)] if only else []), threads, **settings)

        return run

    def listed(self, only):
        return self.ways[OWN](only, 1, "--list")

    def peak(self):
        return PEAK.search(self.ways[OWN](["none"], 1)).group(2)

    def torch(self, python, only, threads):
        # Its largest attentions take minutes and gigabytes: that is known, and is left out.
        feed = "".join(line + "\n" for line in self.listed(only).splitlines() if not re.search(r"_n(4096|8192)_", line))
        return output_of([python, HERE / "rivals/torch_rival.py", threads, self.options.seconds, self.peak()], threads, feed)

    def onnxruntime(self, python, only, threads):
        models = self.programs / "onnxruntime_models"
        output_of([python, HERE / "rivals/onnxruntime_models.py", models], threads, self.listed(only))
        try:
            return output_of(["node", HERE / "rivals/onnxruntime.js", models, threads, self.options.seconds, self.peak()], threads)
        finally:
            shutil.rmtree(models)


def clock_of(text):
    """-> the clock in GHz that the peak in a program's output means: two multiply-adds of a register a clock, each two operations"""
    architecture, peak = PEAK.search(text).groups()
    return float(peak) / (4 * (16 if "avx512" in architecture else 8 if "avx2" in architecture else 4))


def figures_in(text):
    for line in text.splitlines():
        found = LINE.match(line)
        if found:
            library, workload, threads, *numbers, memory = found.groups()
            yield {"library": library, "workload": workload, "threads": int(threads), "memory": int(memory or 0),
                   **dict(zip(("ms", "gflops", "share", "low", "high"), (float(number or 0) for number in numbers)))}


def measure(runner, options):
    results = {"date": f"{datetime.date.today()}", "figures": [], "peaks": [], "avx2": [], "gemm": [], "growth": [], "missing": runner.missing, "versions": {}}

    def take(name, text, into="figures"):
        results[into] += figures_in(text)
        results["peaks"] += [float(found.group(2)) for found in map(PEAK.match, text.splitlines()) if found and into == "figures"]
        for line in text.splitlines():
            if line.startswith("# "):
                results["versions"][name] = line[2:]

    only = options.only.split(",") if options.only else []
    for number in range(options.rounds):
        for name, run in runner.ways.items():
            if name in results["missing"]:
                continue
            print(f"round {number + 1} of {options.rounds}: {name}", flush=True)
            try:
                take(name, run(only, 1))
            except RuntimeError as problem:
                if name == OWN:
                    raise
                results["missing"][name] = str(problem)
    if not options.brief:
        print("avx2, products, threads", flush=True)
        for _ in range(options.rounds if "avx512bw" in flags() else 0):
            take(OWN, runner.ways[OWN](["W2_h12_d64_n512", "W2_h12_d64_n1024", "W2_h8_d128_n1024"], 1, DIMWISE_ARCHITECTURE="avx2"), "avx2")
        kernels = runner.programs / "bench_kernels_gemm"
        if kernels.exists():
            lines = [line.split() for line in output_of([kernels], 1).splitlines()]
            results["gemm"] = [words for words in lines if len(words) == 6 and words[0] in (OWN, "openblas")]
        variants = runner.programs / "bench_variants"
        if variants.exists():
            results["variants"] = output_of([variants, "--seconds", str(options.seconds)], 1)
        if options.threads > 1:
            some = ["W1_n512", "W1_n1024", "W2_h12_d64_n512", "W2_h12_d64_n1024", "W2_h12_d64_n4096", "W5_n512"]
            for _ in range(options.rounds):
                take(OWN, runner.ways[OWN](some, options.threads))
        for name in (OWN, "openblas"):
            for n in LENGTHS if name in runner.ways else []:
                for which in ("full", "causal"):
                    print(f"growth: {name} {n} {which}", flush=True)
                    text = runner.ways[name]([], 1, "--memory", "--shape", f"2x64x{n}_{which}")
                    results["growth"] += [{**f, "n": n, "which": which} for f in figures_in(text) if f["library"] == name]
    return results


# --- the page --------------------------------------------------------------------------------------------------------

# what: workloads, what is asked of them. share: of the peak, in percent; ahead: of the best rival, or of the one named
Mark = collections.namedtuple("Mark", "what workloads share ahead rival ms", defaults=(None, None, None, None))
MARKS = [
    Mark("W2 full, n ≥ 512", r"W2_.*_n(512|1024|2048|4096|8192)_full", 78, 1.25),
    Mark("W2 causal, n 512", r"W2_.*_n512_causal", 65, 1.5),
    Mark("W2 causal, n ≥ 1024", r"W2_.*_n(1024|2048|4096|8192)_causal", 72, 1.5),
    Mark("W1 full", r"W1_.*_full", 78, 1),
    Mark("W1 causal", r"W1_.*_causal", 72, 1),
    Mark("W3", r"W3_.*", None, 1),
    Mark("W4, one head", r"W4_1h_n6", None, None, None, 0.0003),
    Mark("W4, eight heads", r"W4_8h_n10", None, None, None, 0.003),
    Mark("W5", r"W5_.*", None, 1.25, "onnxruntime"),
]


def duration(ms):
    for unit, size in (("ms", 1), ("µs", 1e-3), ("ns", 1e-6)):
        if ms >= size or unit == "ns":
            number = ms / size
            return f"{number:.0f} {unit}" if number >= 100 else f"{number:.3g} {unit}"


def table(head, rows):
    return "\n".join(["| " + " | ".join(head) + " |", "|" + "---|" * len(head), *("| " + " | ".join(row) + " |" for row in rows)])


class Figures:
    """Medians over the rounds."""

    def __init__(self, figures):
        self.of = collections.defaultdict(list)
        for f in figures:
            self.of[f["library"], f["workload"], f["threads"]].append(f)

    def median(self, what, library, workload, threads=1):
        found = self.of.get((library, workload, threads))
        return statistics.median(f[what] for f in found) if found else None

    def apart(self, library, workload):
        """-> the larger of: how far rounds lie apart, and half the distance of the quartiles; in percent of the median"""
        found = self.of[library, workload, 1]
        middle = statistics.median(f["ms"] for f in found)
        ends = [f["ms"] for f in found]
        return 100 * max((max(ends) - min(ends)) / 2, statistics.median(f["high"] - f["low"] for f in found) / 2) / middle

    def workloads(self):
        return list(dict.fromkeys(workload for library, workload, threads in self.of if library == OWN and threads == 1))

    def rivals(self, workload):
        """-> (ms, library), the fastest first"""
        return sorted((self.median("ms", *key[:2]), key[0]) for key in self.of if key[0] != OWN and key[1:] == (workload, 1))

    def ahead(self, workload, rival=None):
        found = [ms for ms, library in self.rivals(workload) if rival in (None, library)]
        return found[0] / self.median("ms", OWN, workload) if found else None


def families(library):
    return re.sub(r"_(blocks|fixed|sdpa|encoder)$", "", library)


def main_table(f, rivals):
    rows = []
    for workload in f.workloads():
        best = f.rivals(workload)
        times = {}
        for ms, library in best:
            times.setdefault(families(library), duration(ms))
        ratio = f.ahead(workload)
        rows.append([f"`{workload}`", duration(f.median("ms", OWN, workload)), f"{f.apart(OWN, workload):.0f} %", f"{f.median('gflops', OWN, workload):.0f}",
                     f"{f.median('share', OWN, workload):.0f} %", f"**{ratio:.2f}** × {best[0][1]}" if best else "-", *(times.get(r, "-") for r in rivals)])
    return table(["workload", "dimwise", "±", "GFLOP/s", "of peak", "ahead of the best rival", *rivals], rows)


def mark_rows(f, results):
    for mark in MARKS:
        here = [w for w in f.workloads() if re.fullmatch(mark.workloads, w)]
        if not here:
            continue
        asked, got, missed = [], [], []
        if mark.share:
            shares = {w: f.median("share", OWN, w) for w in here}
            asked.append(f"≥ {mark.share} % of peak")
            got.append(f"{min(shares.values()):.0f}–{max(shares.values()):.0f} %")
            missed += [f"`{w}` {share:.1f} %" for w, share in shares.items() if share < mark.share]
        if mark.ahead:
            ratios = {w: f.ahead(w, mark.rival) for w in here if f.ahead(w, mark.rival)}
            asked.append(f"≥ {mark.ahead:g} × {mark.rival or 'the best rival'}")
            if ratios:
                got.append(f"{min(ratios.values()):.2f}–{max(ratios.values()):.2f} ×")
            missed += [f"`{w}` {ratio:.2f} ×" for w, ratio in ratios.items() if ratio < mark.ahead]
        if mark.ms:
            asked.append(f"≤ {duration(mark.ms)}")
            got += [duration(f.median("ms", OWN, w)) for w in here]
            missed += [f"`{w}` by {f.median('ms', OWN, w) / mark.ms:.1f} ×" for w in here if f.median("ms", OWN, w) > mark.ms]
        yield [mark.what, ", ".join(asked), ", ".join(got), "missed: " + ", ".join(missed) if missed else "met"]
    older = Figures(results["avx2"])
    for which, least in (("full", 75), ("causal", 68)):
        shares = {w: older.median("share", OWN, w) for w in older.workloads() if w.endswith(which)}
        if shares:
            missed = [f"`{w}` {share:.1f} %" for w, share in shares.items() if share < least]
            yield [f"AVX2, W2 {which}", f"≥ {least} % of the AVX2 peak", f"{min(shares.values()):.0f}–{max(shares.values()):.0f} %",
                   "missed: " + ", ".join(missed) if missed else "met"]


def threads_table(f):
    counts = sorted({threads for _, _, threads in f.of if threads > 1})
    rows = [[f"`{w}`", str(count), duration(f.median("ms", OWN, w, count)), f"{f.median('ms', OWN, w) / f.median('ms', OWN, w, count):.2f} ×"]
            for count in counts for w in f.workloads() if f.median("ms", OWN, w, count)]
    return table(["workload", "threads", "dimwise", "speedup over one thread"], rows) if rows else ""


def machine(results):
    kept = [flag for flag in ("sse4_2", "avx2", "fma", "avx512f", "avx512bw", "avx512dq", "avx512vl", "avx512_bf16", "avx512_vnni") if flag in flags()]
    peaks = sorted(results["peaks"])
    return (f"Machine ({results.get('date', 'date unknown')}): one core of {os.cpu_count()}, {platform.machine()} with {', '.join(kept) or 'baseline instructions'}; multiply-add peak per core "
            f"{statistics.median(peaks):.0f} GFLOP/s ({peaks[0]:.0f} to {peaks[-1]:.0f} during the run), a clock of about "
            f"{results['clock']:.1f} GHz")


def page(results):
    f = Figures(results["figures"])
    rivals = list(dict.fromkeys(families(library) for library, _, _ in f.of if library != OWN))
    versions = "; ".join(f"{name}: {text}" for name, text in results["versions"].items() if name != OWN)
    parts = [
        "# Benchmark",
        "```sh\nbash tools/setup.sh bench\ncmake --preset bench && cmake --build --preset bench --target comparison\n```",
        "These commands write this page (`benchmarks/compare.py`). To run one library: `build/bench/benchmarks/bench_attention --only W2`, "
        "`build/bench/benchmarks/rival_openblas --only W2`. Each prints `library workload threads median_ms gflops pct_peak`, then the peak.",
        f"{machine(results)}. dimwise is built as users build it, without `-march`; it selects kernels at run time. "
        "Rivals are built with `-march=native`, `-ffast-math`, and their fastest kernels.",
        "All float32, one thread unless stated, CPU time of the process, medians; ± is the deviation of rounds and quartiles. "
        "GFLOP/s count useful multiply-adds: the lower triangle of a causal problem, and not softmax. The peak is measured next to every "
        "workload. dimwise's time includes forming the expression and allocating the result.",
        table(["workloads", "what"], [
            ["W1", "self-attention layer: 768 features, 12 heads of 64, W_O, no bias"],
            ["W2", "attention alone, with the heads and features in its name"],
            ["W3", "one query against a KV cache of L keys"],
            ["W4", "a whole layer with static extents: 6 tokens, one head of 24 and 28 features, no W_O; 10 tokens, 8 heads of 8"],
            ["W5", "encoder layer: W1, 3072 hidden features, GELU, two add & norm"]]),
        "## Times",
        "![time of each library beside dimwise's, for every workload](../pictures/times.svg)",
        main_table(f, rivals),
        f"The fastest variant of each rival. {versions}." if versions else "",
        "openblas and eigen: product, softmax, product; for all queries at once, or in blocks of 128 that skip hidden keys. "
        "onednn: the same with its primitives. onnxruntime: MultiHeadAttention and Attention. torch is left out where n ≥ 4096.",
        "\n".join(f"* Without {name}: {reason}." for name, reason in results["missing"].items()),
        "## Marks",
        table(["work", "asked", "measured", ""], mark_rows(f, results)),
        (HERE / "missed_marks.md").read_text(encoding="utf-8").strip(),
    ]
    if results["gemm"]:
        parts += ["## Products", "The kernel alone (`bench_kernels_gemm`), compiled for this machine. \"Packed\": B is packed in advance.", products_table(results["gemm"])]
    if results.get("variants"):
        parts += ["## What changes of scores cost",
                  "`build/bench/benchmarks/bench_variants`: 12 heads of 64. GFLOP/s count visible pairs; the last column compares them with "
                  "the formula without the change, measured in the same run.", results["variants"].strip()]
    if threads_table(f):
        parts += ["## Threads", "Wall time, on a shared machine: a lower bound.", threads_table(f)]
    if results["growth"]:
        parts += ["## Growth", "![time of attention against the length](../pictures/growth_time.svg)",
                  "![memory of attention against the length](../pictures/growth_memory.svg)",
                  "Two heads of 64 features. Time grows with n², memory with n; a library that materialises scores needs n² numbers.",
                  growth_table(results["growth"])]
    return "\n\n".join(part for part in parts if part) + "\n"


def chart_lines(results):
    """What bench_charts draws."""
    f = Figures(results["figures"])
    for workload in f.workloads():
        times = {OWN: f.median("ms", OWN, workload)}
        for ms, library in f.rivals(workload):
            times.setdefault(families(library), ms)
        yield from (f"times {workload} {library} {ms:g}\n" for library, ms in times.items())
    yield from (f"growth {g['library']} {g['which']} {g['n']} {g['ms']:g} {g['memory']}\n" for g in results["growth"])


def products_table(lines):
    cell = {(library, name): (float(ms), float(share)) for library, name, _, ms, _, share in lines}
    rows = []
    for library, name in cell:
        if library != OWN or not re.fullmatch(r"\d+x\d+x\d+", name):
            continue
        packed, in_all, other = (cell.get(key) for key in ((OWN, name + "_packed"), (OWN, name), ("openblas", name)))
        rows.append([name.replace("x", " × "), *(f"{duration(c[0])}, {c[1]:.0f} %" if c else "-" for c in (packed, in_all, other)),
                     f"{other[0] / packed[0]:.2f} ×" if other and packed else "-", f"{other[0] / in_all[0]:.2f} ×" if other else "-"])
    return table(["m × n × k", "packed", "packing included", "openblas", "ahead, packed", "ahead, packing included"], rows)


def growth_table(growth):
    names = list(dict.fromkeys((g["library"], g["which"]) for g in growth))
    cell = {(g["library"], g["which"], g["n"]): f"{duration(g['ms'])}, {g['memory']} MB" for g in growth}
    return table(["n", *(f"{library}, {which}" for library, which in names)],
                 [[str(n), *(cell.get((*name, n), "-") for name in names)] for n in sorted({g["n"] for g in growth})])


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--programs", type=pathlib.Path, default=ROOT / "build/bench/benchmarks")
    options.add_argument("--only", default="")
    options.add_argument("--brief", action="store_true")
    options.add_argument("--rounds", type=int, default=3)
    options.add_argument("--seconds", type=float, default=0.5)
    options.add_argument("--threads", type=int, default=min(2, os.cpu_count() or 1))
    options.add_argument("--results", type=pathlib.Path, default=ROOT / "build/bench/comparison.json")
    options.add_argument("--render", action="store_true")
    options = options.parse_args()
    if not options.render:
        runner = Runner(options.programs, options)
        results = measure(runner, options)
        results["clock"] = clock_of(runner.ways[OWN](["none"], 1))
        options.results.parent.mkdir(parents=True, exist_ok=True)
        options.results.write_text(json.dumps(results), encoding="utf-8")
    results = json.loads(options.results.read_text(encoding="utf-8"))
    PICTURES.mkdir(parents=True, exist_ok=True)
    subprocess.run([options.programs / "bench_charts", PICTURES], input="".join(chart_lines(results)), text=True, check=True)
    PAGE.write_text(page(results), encoding="utf-8")
    print(f"wrote {PAGE.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
