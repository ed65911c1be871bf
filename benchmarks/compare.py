#!/usr/bin/env python3
"""Runs dimwise and every rival that is installed, and writes docs/reference/benchmark.md with its pictures.

    cmake --preset bench && cmake --build --preset bench --target comparison     # comparisons: training and generation, too

    python3 benchmarks/compare.py --programs build/bench/benchmarks        # what that target does, after building
        --only W2,W5       some workloads
        --brief            the times of one thread only: no products, no threads, no growth
        --architectures avx512,avx2   whose kernels are measured, of every library (default: both, where the machine has both)
        --rounds 3         how often everything is measured; the page has medians, and how far rounds lie apart
        --seconds 0.5      for each workload and library
        --threads 2        also measured with so many threads (wall time: wants a quiet machine); 1 leaves that out
        --results FILE     where the figures are kept (build/bench/comparison.json), by architecture: a run replaces those
                           that it measures, all rows. So figures of two machines meet on one page. --render writes it again.

The last lines say, for each architecture, in how many rows dimwise is first, and which rows it loses.
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
# library workload threads ms gflops share, then quartiles, then the peak before and after, then memory
LINE = re.compile(r"^(\w+) (\S+) (\d+) ([\d.]+) ([\d.]+) ([\d.]+)(?: ([\d.]+) ([\d.]+))?(?: ([\d.]+) ([\d.]+))?(?: (\d+))?$", re.MULTILINE)
PEAK = re.compile(r"^peak (\S+) 1 ([\d.]+)")
OWN = "dimwise"


# --- running ---------------------------------------------------------------------------------------------------------


def flags():
    text = pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8") if pathlib.Path("/proc/cpuinfo").exists() else ""
    found = re.search(r"^flags\s*: (.*)$", text, re.MULTILINE)
    return found.group(1).split() if found else []


# What limits each library to the instructions of an older processor. ONNX Runtime has no such switch.
LIMITS = {
    "avx512": {},
    "avx2": {"DIMWISE_ARCHITECTURE": "avx2", "OPENBLAS_CORETYPE": "Haswell", "ONEDNN_MAX_CPU_ISA": "AVX2", "DNNL_MAX_CPU_ISA": "AVX2",
             "ATEN_CPU_CAPABILITY": "avx2", "MKL_ENABLE_INSTRUCTIONS": "AVX2"},
    "baseline": {},
}
NAMES = {"avx512": "AVX-512", "avx2": "AVX2", "baseline": "this processor's instructions"}


def architectures():
    """-> those that this machine runs, the best first"""
    return ["avx512", "avx2"] if "avx512bw" in flags() else ["avx2"] if "avx2" in flags() else ["baseline"]


def environment(threads, architecture):
    # Whatever the environment says of instructions, each library gets those of the architecture. An OpenBLAS that is older
    # than the processor falls back to kernels for a much older one.
    settings = {name: value for name, value in os.environ.items() if name not in LIMITS["avx2"] and not name.startswith("OPENBLAS_")}
    settings["OMP_NUM_THREADS"] = str(threads)
    if architecture == "avx512":
        settings["OPENBLAS_CORETYPE"] = "SkylakeX"
    settings |= LIMITS[architecture]
    settings["PYTHONPATH"] = str(HERE / "rivals")
    settings["NODE_PATH"] = ":".join([str(ROOT / "build/rivals/node_modules"), *filter(None, [settings.get("NODE_PATH")])])
    return settings


def output_of(command, threads, architecture, feed="", **more):
    done = subprocess.run([str(c) for c in command], input=feed, capture_output=True, text=True, env={**environment(threads, architecture), **more})
    if done.returncode:
        # The last line says what happened; a page shows it, so it names no folder of this machine.
        said = done.stderr.strip().splitlines()[-1:] or ["nothing was printed"]
        raise RuntimeError(f"{pathlib.Path(command[0]).name} ends with {done.returncode}: {said[0][-300:]}")
    return done.stdout


def python_with(package):
    """-> an interpreter that has the package, or None"""
    for python in (sys.executable, "/usr/bin/python3"):
        if python and shutil.which(python) and not subprocess.run([python, "-c", f"import {package}"], capture_output=True).returncode:
            return python
    return None


class Runner:
    """Knows the libraries: how each is started, or why it is not."""

    def __init__(self, options, architecture):
        self.options, self.architecture = options, architecture
        self.missing, self.ways = {}, {OWN: self.program("bench_attention")}
        suffix = "_avx2" if architecture == "avx2" else ""
        for rival, package in (("openblas", "libopenblas-dev"), ("eigen", "libeigen3-dev"), ("onednn", "libdnnl-dev")):
            if (options.programs / f"rival_{rival}{suffix}").exists():
                self.ways[rival] = self.program(f"rival_{rival}{suffix}")
            else:
                self.missing[rival] = f"{package} was not there when the benchmarks were built"
        torch, onnx = python_with("torch"), python_with("onnx")
        if torch:
            self.ways["torch"] = lambda only: self.torch(torch, only)
        else:
            self.missing["torch"] = "no python3 here has the package torch"
        if not shutil.which("node") or self.fails("node", "-e", "require('onnxruntime-node')"):
            self.missing["onnxruntime"] = "node finds no onnxruntime-node in build/rivals or NODE_PATH"
        elif not onnx:
            self.missing["onnxruntime"] = "no python3 here has the package onnx"
        else:
            self.ways["onnxruntime"] = lambda only: self.onnxruntime(onnx, only)

    def output(self, command, threads=1, feed=""):
        return output_of(command, threads, self.architecture, feed)

    def fails(self, *command):
        return subprocess.run(command, capture_output=True, env=environment(1, self.architecture)).returncode != 0

    def program(self, name):
        def run(only, *more, threads=1):
            command = [self.options.programs / name, "--spread", "--seconds", self.options.seconds, "--threads", threads, *more]
            return self.output(command + (["--only", ",".join(only)] if only else []), threads)

        return run

    def listed(self, only):
        return self.ways[OWN](only, "--list")

    def peak(self):
        return PEAK.search(self.ways[OWN](["none"])).group(2)

    def torch(self, python, only):
        # Its largest attentions take minutes and gigabytes: that is known, and is left out.
        feed = "".join(line + "\n" for line in self.listed(only).splitlines() if not re.search(r"_n(4096|8192)_", line))
        return self.output([python, HERE / "rivals/torch_rival.py", 1, self.options.seconds, self.peak()], feed=feed)

    def onnxruntime(self, python, only):
        models = self.options.programs / "onnxruntime_models"
        self.output([python, HERE / "rivals/onnxruntime_models.py", models], feed=self.listed(only))
        try:
            return self.output(["node", HERE / "rivals/onnxruntime.js", models, 1, self.options.seconds, self.peak()])
        finally:
            shutil.rmtree(models)


def clock_of(text):
    """-> the clock in GHz that the peak in a program's output means: two multiply-adds of a register a clock, each two operations"""
    architecture, peak = PEAK.search(text).groups()
    return float(peak) / (4 * (16 if "avx512" in architecture else 8 if "avx2" in architecture else 4))


def figures_in(text):
    """-> every line of figures in the output of a program"""
    for library, workload, threads, ms, rate, share, low, high, before, after, memory in LINE.findall(text):
        yield {"library": library, "workload": workload, "threads": int(threads), "memory": int(memory or 0), "peaks": [float(p) for p in (before, after) if p],
               **{name: float(value or 0) for name, value in (("ms", ms), ("rate", rate), ("share", share), ("low", low), ("high", high))}}


def measure(options, architecture):
    runner = Runner(options, architecture)
    results = {"figures": [], "gemm": [], "growth": [], "missing": runner.missing, "versions": {}}
    # Without a switch that limits it, it uses AVX-512 where there is AVX-512.
    results["unlimited"] = ["onnxruntime"] if architecture != architectures()[0] else []

    def take(name, text, into="figures"):
        results[into] += figures_in(text)
        for line in text.splitlines():
            if line.startswith("# "):
                results["versions"][name] = line[2:]

    only = options.only.split(",") if options.only else []
    for number in range(options.rounds):
        for name, run in runner.ways.items():
            if name in results["missing"]:
                continue
            print(f"{NAMES[architecture]}, round {number + 1} of {options.rounds}: {name}", flush=True)
            try:
                take(name, run(only))
            except RuntimeError as problem:
                if name == OWN:
                    raise
                results["missing"][name] = str(problem)
    in_double = options.programs / f"bench_double{'_avx2' if architecture == 'avx2' else ''}"
    if not options.brief and in_double.exists():
        results["double"] = runner.output([in_double, "--seconds", options.seconds])
    if not options.brief and architecture == architectures()[0]:
        print("products, threads", flush=True)
        kernels = options.programs / "bench_kernels_gemm"
        if kernels.exists():
            lines = [line.split() for line in runner.output([kernels]).splitlines()]
            results["gemm"] = [words for words in lines if len(words) == 6 and words[0] in (OWN, "openblas")]
        variants = options.programs / "bench_variants"
        if variants.exists():
            results["variants"] = runner.output([variants, "--seconds", str(options.seconds)])
        if options.threads > 1:
            some = ["W1_n512", "W1_n1024", "W2_h12_d64_n512", "W2_h12_d64_n1024", "W2_h12_d64_n4096", "W5_n512"]
            for _ in range(options.rounds):
                take(OWN, runner.ways[OWN](some, threads=options.threads))
        for name in (OWN, "openblas"):
            for n in LENGTHS if name in runner.ways else []:
                for which in ("full", "causal"):
                    print(f"growth: {name} {n} {which}", flush=True)
                    text = runner.ways[name]([], "--memory", "--shape", f"2x64x{n}_{which}")
                    results["growth"] += [{**f, "n": n, "which": which} for f in figures_in(text) if f["library"] == name]
    return results


def measured(options, measure_one, probe):
    """Measures the architectures of the options, keeps the figures in the results file, and says where dimwise is first.
    probe: a program that prints the peak. -> the figures of every architecture in that file"""
    kept = json.loads(options.results.read_text(encoding="utf-8")) if options.results.exists() else {}
    kept = {architecture: results for architecture, results in kept.items() if architecture in LIMITS}
    for architecture in [] if options.render else options.architectures.split(","):
        begun = output_of([options.programs / probe, "--only", "none"], 1, architecture)
        used = PEAK.search(begun).group(1)
        if architecture != "baseline" and architecture not in used:
            sys.exit(f"{probe} runs its kernels for {used}, not for {architecture}")
        results = measure_one(options, architecture)
        peaks = [peak for f in results["figures"] for peak in f["peaks"]] or [float(PEAK.search(begun).group(2))]
        kept[architecture] = {**results, "date": f"{datetime.date.today()}", "clock": clock_of(begun), "peak": [min(peaks), statistics.median(peaks), max(peaks)],
                              "machine": machine(), "options": f"--rounds {options.rounds} --seconds {options.seconds:g}"}
        options.results.parent.mkdir(parents=True, exist_ok=True)
        options.results.write_text(json.dumps(kept), encoding="utf-8")
    if not kept:
        sys.exit(f"there are no figures in {options.results}")
    for architecture in kept:
        print(f"{NAMES[architecture]}: {standing(Figures(kept[architecture]))}")
    return {architecture: kept[architecture] for architecture in LIMITS if architecture in kept}


def standing(f):
    """-> in how many rows with a rival dimwise is first, and a table of the others"""
    def behind(rivals):
        best = {w: rivals(w)[0] for w in f.workloads() if rivals(w)}
        ratios = {w: ms / f.median("ms", OWN, w) for w, (ms, _) in best.items()}
        return len(best), [[f"`{w}`", f"{ratio:.2f} × {best[w][1]}"] for w, ratio in ratios.items() if ratio < 1]

    rows, slower = behind(f.rivals)
    others, faster = behind(f.unlimited_rivals)
    if others and not rows:
        said = f"first in {others - len(faster)} of {others} rows, although {' and '.join(f.unlimited)} use AVX-512."
    else:
        said = f"first in {rows - len(slower)} of {rows} rows."
        said += f" Not counted, because of AVX-512: {', '.join(f.unlimited)}." if others else ""
        if others:
            slower, faster = [[*row, "yes"] for row in slower], [[*row, "no: AVX-512"] for row in faster]
    behind_in = slower + faster
    return said + (f"\n\n{table(['behind in', 'speed', 'counted'][:len(behind_in[0])], behind_in)}" if behind_in else "")


# --- the page --------------------------------------------------------------------------------------------------------

# what: workloads, what is asked of them. share: of the peak, in percent; ahead: of the best rival, or of the one named
Mark = collections.namedtuple("Mark", "what workloads share ahead rival ms", defaults=(None, None, None, None))
MARKS = {
    "avx512": [
        Mark("W2 full, n ≥ 512", r"W2_.*_n(512|1024|2048|4096|8192)_full", 78, 1.25),
        Mark("W2 causal, n 512", r"W2_.*_n512_causal", 65, 1.5),
        Mark("W2 causal, n ≥ 1024", r"W2_.*_n(1024|2048|4096|8192)_causal", 72, 1.5),
        Mark("W1 full", r"W1_.*_full", 78, 1),
        Mark("W1 causal", r"W1_.*_causal", 72, 1),
        Mark("W3", r"W3_.*", None, 1),
        Mark("W4, one head", r"W4_1h_n6", None, None, None, 0.0003),
        Mark("W4, eight heads", r"W4_8h_n10", None, None, None, 0.003),
        Mark("W5", r"W5_.*", None, 1.25, "onnxruntime"),
    ],
    "avx2": [
        Mark("W2 full", r"W2_.*_full", 74, 1.05),
        Mark("W2 causal, n ≥ 512", r"W2_.*_n(512|1024|2048|4096|8192)_causal", 68, 1.05),
        Mark("W1", r"W1_.*", 78, 1.1),
        Mark("W3, W4", r"W[34]_.*", None, 1.05),
        Mark("W5", r"W5_.*", 78, 1.1),
    ],
    "baseline": [],
}


def duration(ms):
    for unit, size in (("ms", 1), ("µs", 1e-3), ("ns", 1e-6)):
        if ms >= size or unit == "ns":
            number = ms / size
            return f"{number:.0f} {unit}" if number >= 100 else f"{number:.3g} {unit}"


def table(head, rows):
    return "\n".join(["| " + " | ".join(head) + " |", "|" + "---|" * len(head), *("| " + " | ".join(row) + " |" for row in rows)])


class Figures:
    """Medians over the rounds."""

    def __init__(self, results):
        self.of = collections.defaultdict(list)
        self.unlimited = results.get("unlimited", [])
        for f in results["figures"]:
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

    def peaks(self, workload):
        """-> the peak before and after, in GFLOP/s, as medians over the rounds"""
        pairs = [f["peaks"] for f in self.of[OWN, workload, 1] if f["peaks"]]
        return ", ".join(f"{statistics.median(peaks):.0f}" for peaks in zip(*pairs))

    def workloads(self):
        return list(dict.fromkeys(workload for library, workload, threads in self.of if library == OWN and threads == 1))

    def all_rivals(self, workload):
        """-> (ms, library), the fastest first"""
        return sorted((self.median("ms", *key[:2]), key[0]) for key in self.of if key[0] != OWN and key[1:] == (workload, 1))

    def rivals(self, workload):
        """-> those that have no more instructions than dimwise"""
        return [(ms, library) for ms, library in self.all_rivals(workload) if families(library) not in self.unlimited]

    def unlimited_rivals(self, workload):
        return [(ms, library) for ms, library in self.all_rivals(workload) if families(library) in self.unlimited]

    def ahead(self, workload, rival=None):
        found = [ms for ms, library in self.rivals(workload) if rival in (None, library)]
        return found[0] / self.median("ms", OWN, workload) if found else None


def families(library):
    return re.sub(r"_(blocks|fixed|sdpa|encoder|by\d+)$", "", library)


def main_table(f, rivals):
    rows = []
    for workload in f.workloads():
        best = f.rivals(workload)
        times = {}
        for ms, library in f.all_rivals(workload):
            times.setdefault(families(library), duration(ms))
        ratio = f.ahead(workload)
        rows.append([f"`{workload}`", duration(f.median("ms", OWN, workload)), f"{f.apart(OWN, workload):.0f} %", f"{f.median('rate', OWN, workload):.0f}",
                     f"{f.median('share', OWN, workload):.0f} %", f.peaks(workload), f"**{ratio:.2f}** × {best[0][1]}" if best else "-",
                     *(times.get(r, "-") for r in rivals)])
    return table(["workload", "dimwise", "±", "GFLOP/s", "of peak", "peak before, after", "ahead of the best rival", *rivals], rows)


def mark_rows(f, architecture):
    for mark in MARKS[architecture]:
        here = [w for w in f.workloads() if re.fullmatch(mark.workloads, w)]
        if not here:
            continue
        asked, got, missed, alone = [], [], [], []
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
            alone += [f"`{w}`" for w in here if w not in ratios]
        if mark.ms:
            asked.append(f"≤ {duration(mark.ms)}")
            got += [duration(f.median("ms", OWN, w)) for w in here]
            missed += [f"`{w}` by {f.median('ms', OWN, w) / mark.ms:.1f} ×" for w in here if f.median("ms", OWN, w) > mark.ms]
        yield [mark.what, ", ".join(asked), ", ".join(got), "missed: " + ", ".join(missed) if missed else "no rival: " + ", ".join(alone) if alone else "met"]


def threads_table(f):
    counts = sorted({threads for _, _, threads in f.of if threads > 1})
    rows = [[f"`{w}`", str(count), duration(f.median("ms", OWN, w, count)), f"{f.median('ms', OWN, w) / f.median('ms', OWN, w, count):.2f} ×"]
            for count in counts for w in f.workloads() if f.median("ms", OWN, w, count)]
    return table(["workload", "threads", "dimwise", "speedup over one thread"], rows) if rows else ""


def machine():
    kept = [flag for flag in ("sse4_2", "avx2", "fma", "avx512f", "avx512bw", "avx512dq", "avx512vl", "avx512_bf16", "avx512_vnni") if flag in flags()]
    return f"one core of {os.cpu_count()}, {platform.machine()} with {', '.join(kept) or 'baseline instructions'}"


def about(architecture, results):
    """-> a sentence: when and where the figures were measured, and the peak"""
    low, middle, high = results["peak"]
    return (f"Measured with {NAMES[architecture]} (`{results['options']}`) on {results['date']}: {results['machine']}; multiply-add peak per core {middle:.0f} GFLOP/s "
            f"({low:.0f} to {high:.0f} during the run), a clock of about {results['clock']:.1f} GHz.")


def page(every):
    parts = [
        "# Benchmark",
        "```sh\nbash tools/setup.sh bench\ncmake --preset bench && cmake --build --preset bench --target comparison\n```",
        "These commands write this page (`benchmarks/compare.py`). To run one library: `build/bench/benchmarks/bench_attention --only W2`, "
        "`build/bench/benchmarks/rival_openblas --only W2`. Each prints `library workload threads median_ms gflops pct_peak`, then the peak.",
        "dimwise is built as users build it, without `-march`; it selects kernels at run time. Rivals are built with `-march=native`, "
        "`-ffast-math`, and their fastest kernels. For the AVX2 figures `DIMWISE_ARCHITECTURE=avx2` limits dimwise, and rivals are built with "
        "`-march=haswell` and limited by their own switches. ONNX Runtime has none: on a machine with AVX-512 it uses AVX-512 in both tables, and does not count as a rival with AVX2.",
        "All float32, one thread unless stated, CPU time of the process, medians; ± is the deviation of rounds and quartiles. "
        "GFLOP/s count useful multiply-adds: the lower triangle of a causal problem, and not softmax. The peak is measured before and after every "
        "workload, which is repeated if the peak moved by more than 3 %. dimwise's time includes forming the expression and allocating the result.",
        table(["workloads", "what"], [
            ["W1", "self-attention layer: 768 features, 12 heads of 64, W_O, no bias"],
            ["W2", "attention alone, with the heads and features in its name"],
            ["W3", "one query against a KV cache of L keys"],
            ["W4", "a whole layer with static extents: 6 tokens, one head of 24 and 28 features, no W_O; 10 tokens, 8 heads of 8"],
            ["W5", "encoder layer: W1, 3072 hidden features, GELU, two add & norm"]]),
    ]
    for architecture, results in every.items():
        f = Figures(results)
        rivals = list(dict.fromkeys(families(library) for library, _, _ in f.of if library != OWN))
        versions = "; ".join(f"{name}: {text}" for name, text in results["versions"].items() if name != OWN)
        parts += [
            f"## Times with {NAMES[architecture]}",
            f"{about(architecture, results)} dimwise is {standing(f)}",
            "![time of each library beside dimwise's, for every workload](../pictures/times.svg)" if results is next(iter(every.values())) else "",
            main_table(f, rivals),
            f"The fastest variant of each rival. {versions}." if versions else "",
            "\n".join(f"* Without {name}: {reason}." for name, reason in results["missing"].items()),
        ]
    parts += ["openblas and eigen: product, softmax, product; for all queries at once, or in blocks of 128 that skip hidden keys. "
              "onednn: the same with its primitives. onnxruntime: MultiHeadAttention and Attention. torch is left out where n ≥ 4096.",
              "## Marks",
              table(["architecture", "work", "asked", "measured", ""],
                    [[NAMES[architecture], *row] for architecture, results in every.items() for row in mark_rows(Figures(results), architecture)]),
              (HERE / "missed_marks.md").read_text(encoding="utf-8").strip()]
    results = next(iter(every.values()))
    f = Figures(results)
    if results["gemm"]:
        parts += ["## Products", "The kernel alone (`bench_kernels_gemm`), compiled for this machine. \"Packed\": B is packed in advance.", products_table(results["gemm"])]
    if results.get("variants"):
        parts += ["## What changes of scores cost",
                  "`build/bench/benchmarks/bench_variants`: 12 heads of 64. GFLOP/s count visible pairs; the last column compares them with "
                  "the formula without the change, measured in the same run.", results["variants"].strip()]
    in_double = {architecture: results["double"] for architecture, results in every.items() if results.get("double")}
    if in_double:
        parts += ["## Double", "`bench_double`, with AVX2 `bench_double_avx2`: products m × n × k, attention of 12 heads of 64, cross-entropy of 512 × 5000 "
                  "logits, AdamW for as many parameters, the others on 256 rows of 768 elements. \"Of float\": the rate in double as a share of that in float; half is what the registers allow. The last column compares dimwise in "
                  "double with the faster of Eigen and OpenBLAS in double."]
        parts += [part for architecture, rows in in_double.items() for part in (f"With {NAMES[architecture]}:", rows.strip())]
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
    f = Figures(results)
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


def options_of(results, seconds, **more):
    """-> the options that the three comparisons share, and those given"""
    options = argparse.ArgumentParser()
    options.add_argument("--programs", type=pathlib.Path, default=ROOT / "build/bench/benchmarks")
    options.add_argument("--architectures", default=",".join(architectures()))
    options.add_argument("--rounds", type=int, default=3)
    options.add_argument("--seconds", type=float, default=seconds)
    options.add_argument("--threads", type=int, default=min(2, os.cpu_count() or 1))
    options.add_argument("--results", type=pathlib.Path, default=ROOT / "build/bench" / results)
    options.add_argument("--render", action="store_true")
    for name, settings in more.items():
        options.add_argument(f"--{name}", **settings)
    parsed = options.parse_args()
    unknown = set(parsed.architectures.split(",")) - set(architectures())
    if unknown:
        options.error(f"--architectures {','.join(sorted(unknown))}: this machine has {','.join(architectures())}")
    return parsed


def main():
    options = options_of("comparison.json", 0.5, only={"default": ""}, brief={"action": "store_true"})
    every = measured(options, measure, "bench_attention")
    PICTURES.mkdir(parents=True, exist_ok=True)
    lines = "".join(chart_lines(next(iter(every.values()))))
    subprocess.run([options.programs / "bench_charts", PICTURES], input=lines, text=True, check=True)
    PAGE.write_text(page(every), encoding="utf-8")
    print(f"wrote {PAGE.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
