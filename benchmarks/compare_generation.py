#!/usr/bin/env python3
"""Runs dimwise, llama.cpp, ONNX Runtime and PyTorch on text generation, and writes docs/reference/generation_benchmark.md.

    cmake --preset bench && cmake --build --preset bench --target generation_comparison

    python3 benchmarks/compare_generation.py --programs build/bench/benchmarks   # what that target does, after building
        --only NAME      some models: gpt2_124m, stories15m, minilm

The other options are those of compare.py, without --brief and --threads; figures are kept in build/bench/generation.json.
llama.cpp and ONNX Runtime are packages of npm that `bash tools/setup.sh bench` puts into build/rivals, or that are in NODE_PATH; models
with random weights are written for them and removed again (3 GB). PyTorch: python3-torch. ONNX: python3-onnx. What is missing is left
out, with a reason on the page.
"""

import os
import pathlib
import re
import shutil
import statistics

import compare
from compare import NAMES, OWN, Figures, duration, families, figures_in, table

PAGE = compare.ROOT / "docs/reference/generation_benchmark.md"
READ = re.compile(r"^read (\S+) ([\d.]+) GB/s of ([\d.]+)$", re.MULTILINE)
RIVALS = {"llama_cpp": "llama.cpp", "onnxruntime": "ONNX Runtime", "torch": "torch"}
STORAGES = {"": "f32", "_f16": "f16", "_bf16": "bf16", "_int8": "int8", "_int4": "int4"}
# workload, least share in percent (of the read bandwidth for decode, of the peak elsewhere), least factor ahead of a rival, the rival
MARKS = {
    "avx512": [
        ("gpt2_124m_decode", 85, 1.3, "llama_cpp"), ("gpt2_124m_decode_f16", 70, 1.2, "llama_cpp"), ("gpt2_124m_decode_bf16", 85, 1.7, "llama_cpp"),
        ("gpt2_124m_decode_int8", 80, 1.45, "llama_cpp"), ("gpt2_124m_decode_int4", 70, 1.7, "llama_cpp"),
        ("gpt2_124m_prefill128", 70, 0.98, "onnxruntime"), ("gpt2_124m_prefill128_int8", None, 0.98, "onnxruntime"),
        ("gpt2_124m_prefill128_bf16", None, 1.15, "torch"), ("gpt2_124m_prefill128_int4", None, 1.68, "llama_cpp"),
        ("stories15m_decode", 87, 1.57, "llama_cpp"), ("stories15m_decode_int8", None, 2.12, "llama_cpp"), ("minilm_128", 67, 1.7, "torch"),
    ],
    "avx2": [
        *((f"{model}_{work}{storage}", 85 if work == "decode" and model == "gpt2_124m" else None, 1.05, None)
          for model in ("gpt2_124m", "stories15m") for work in ("decode", "prefill128") for storage in STORAGES),
        ("minilm_128", None, 1.05, None),
    ],
    "baseline": [],
}


def folder_with(package):
    """-> the folder whose node_modules has the package, or None"""
    for folder in [compare.ROOT / "build/rivals", *(pathlib.Path(p).parent for p in os.environ.get("NODE_PATH", "").split(":") if p)]:
        if (folder / "node_modules" / package).is_dir():
            return folder
    return None


class Rivals:
    """How each is started, or why it is not."""

    def __init__(self, options, architecture):
        self.options, self.architecture, self.only = options, architecture, options.only.split(",") if options.only else []
        self.models, self.ways, self.missing = options.programs / "generation_models", {}, {}
        torch, onnx, numpy = (compare.python_with(package) for package in ("torch", "onnx", "numpy"))
        node = shutil.which("node")
        needs = {"llama_cpp": (folder_with("node-llama-cpp"), "node-llama-cpp", numpy, "numpy"),
                 "onnxruntime": (folder_with("onnxruntime-node"), "onnxruntime-node", onnx, "onnx")}
        for name, (home, package, python, module) in needs.items():
            if not node or not home:
                self.missing[name] = f"{'node is not installed' if not node else f'there is no {package} in build/rivals or NODE_PATH'}"
            elif not python:
                self.missing[name] = f"no python3 here has the package {module}"
            else:
                self.ways[name] = lambda run=getattr(self, name), home=home, python=python: run(home, python)
        if torch:
            self.ways["torch"] = lambda: self.output([torch, compare.HERE / "rivals/torch_generation.py", 1, options.seconds, *self.only])
        else:
            self.missing["torch"] = "no python3 here has the package torch"

    def output(self, command, **more):
        return compare.output_of(command, 1, self.architecture, **more)

    def written(self, writer, python, ending):
        """-> the models, written where they are not yet"""
        if not list(self.models.glob(f"*.{ending}")):
            self.output([python, compare.HERE / "rivals" / writer, self.models, *self.only])
        return sorted(self.models.glob(f"*.{ending}"))

    def llama_cpp(self, home, python):
        files = self.written("gguf_models.py", python, "gguf")
        rounds = max(3, round(self.options.seconds * 5))
        return self.output(["node", compare.HERE / "rivals/llama_cpp.mjs", home, 1, 128, 64, rounds, *files])

    def onnxruntime(self, home, python):
        self.written("onnx_generation_models.py", python, "onnx")
        program = ["node", compare.HERE / "rivals/onnxruntime_generation.js", self.models, 1, self.options.seconds]
        return self.output(program, NODE_PATH=str(home / "node_modules"))


def measure(options, architecture):
    rivals = Rivals(options, architecture)
    results = {"figures": [], "bandwidths": [], "missing": rivals.missing, "versions": {}, "notes": []}
    # Without a switch that limits them, they use AVX-512 where there is AVX-512.
    results["unlimited"] = ["llama_cpp", "onnxruntime"] if architecture != compare.architectures()[0] else []
    program = [options.programs / "bench_generation", "--spread", "--seconds", options.seconds, *(["--only", options.only] if options.only else [])]
    try:
        for number in range(options.rounds):
            for name, run in {OWN: lambda: rivals.output(program), **rivals.ways}.items():
                if name in results["missing"]:
                    continue
                print(f"{NAMES[architecture]}, round {number + 1} of {options.rounds}: {name}", flush=True)
                try:
                    text = run()
                except RuntimeError as problem:
                    if name == OWN:
                        raise
                    results["missing"][name] = str(problem)
                    continue
                results["figures"] += figures_in(text)
                results["bandwidths"] += [float(found[2]) for found in READ.findall(text)]
                lines = [line[2:] for line in text.splitlines() if line.startswith("# ")]
                if lines:
                    results["versions"][name] = lines[0]
                    results["notes"] = list(dict.fromkeys(results["notes"] + lines[1:]))
    finally:
        shutil.rmtree(rivals.models, ignore_errors=True)
    # What a decode has before and after is the bandwidth: the peak of the machine is that of the other rows.
    for f in results["figures"]:
        f["bandwidth"], f["peaks"] = (f["peaks"], []) if "_decode" in f["workload"] else ([], f["peaks"])
    return results


def storage_of(workload):
    found = re.search(r"_(f16|bf16|int8|int4)$", workload)
    return STORAGES[found.group(0) if found else ""]


def rate(words_a_second):
    return f"{words_a_second:.0f}" if words_a_second >= 100 else f"{words_a_second:.1f}"


def main_tables(f):
    all_of = list(dict.fromkeys(workload for _, workload, _ in f.of))
    bare = list(dict.fromkeys(re.sub(r"_(f16|bf16|int8|int4)$", "", w) for w in all_of))
    rivals = [name for name in RIVALS if any(families(library) == name for library, _, _ in f.of)]
    for what, ending, of in (("Decode", "_decode", "of R"), ("Prefill", "_prefill128", "of peak"),
                              ("Vectors of texts", ("minilm_128", "minilm_16", "minilm_texts"), "of peak")):
        rows = []
        for workload in (w + suffix for w in bare if w.endswith(ending) for suffix in STORAGES if w + suffix in all_of):
            best = f.all_rivals(workload)
            fastest = {}
            for _, library in best:
                fastest.setdefault(families(library), rate(f.median("rate", library, workload)))
            ours = f.median("ms", OWN, workload)
            rows.append([f"`{workload}`", storage_of(workload),
                         *([f"**{rate(f.median('rate', OWN, workload))}**", duration(ours), f"{f.apart(OWN, workload):.0f} %",
                            f"{f.median('share', OWN, workload):.0f} %"] if ours else ["-"] * 4),
                         *(fastest.get(name, "-") for name in rivals),
                         f"**{best[0][0] / ours:.2f}** × {RIVALS[families(best[0][1])]}" if best and ours else "-"])
        if rows:
            yield f"### {what}"
            yield table(["workload", "weights", "dimwise", "per call", "±", of, *(RIVALS[name] for name in rivals), "ahead of the best rival"], rows)


def mark_rows(f, architecture):
    for workload, share, ahead, rival in MARKS[architecture]:
        if not f.median("ms", OWN, workload):
            continue
        got = f.median("share", OWN, workload)
        theirs = [(ms, families(library)) for ms, library in f.all_rivals(workload) if rival in (None, families(library))]
        ratio = theirs[0][0] / f.median("ms", OWN, workload) if theirs else None
        asked = ([f"≥ {share} % of {'R' if '_decode' in workload else 'peak'}"] if share else []) + [f"≥ {ahead:g} × {RIVALS[rival] if rival else 'the best rival'}"]
        fast = not share or got >= share
        excused = f", {RIVALS[theirs[0][1]]} uses AVX-512" if fast and theirs and theirs[0][1] in f.unlimited else ""
        good = fast and (ratio is None or ratio >= ahead)
        yield [f"`{workload}`", ", ".join(asked), ", ".join(([f"{got:.0f} %"] if share else []) + ([f"{ratio:.2f} ×"] if ratio else ["no rival"])),
               f"missed{excused}" if not good else "no rival" if ratio is None else "met"]


def page(every):
    parts = [
        "# Generation benchmark",
        "```sh\nbash tools/setup.sh bench\ncmake --preset bench && cmake --build --preset bench --target generation_comparison\n```",
        "These commands write this page (`benchmarks/compare_generation.py`). `build/bench/benchmarks/bench_generation` alone prints "
        "`library workload threads median_ms tokens_per_second pct`.",
        "Tokens per second, one thread, CPU time of the process, medians; ± is the deviation of rounds and quartiles. Decode generates one token after 128; "
        "\"of R\" is the rate at which the weights are read, as a share of the read bandwidth of one core from memory. Prefill computes these 128 tokens at once, with [packed weights](modules.md#packed-weights); "
        "\"of peak\" refers to the float peak, which bf16 and int8 products exceed. Weights are random.",
        table(["model", "what"], [["`gpt2_124m`", "GPT-2: 12 layers, 768 features, 12 heads, 50257 tokens"],
                                  ["`stories15m`", "LLaMA: 6 layers, 288 features, 6 heads, 32000 tokens"],
                                  ["`minilm`", "BERT: 6 layers, 384 features, 12 heads; the vector of a text of 128 or 16 tokens, "
                                   "or of 32 texts of 8 to 125 tokens"]]),
        "llama.cpp: int8 is q8_0, int4 is q4_0, both with 8-bit activations; timed by its own clock if that is less than the CPU time, which includes "
        "JavaScript. ONNX Runtime: MatMulNBits in blocks of 32 with 8-bit activations. torch: written by hand with a KV cache; MiniLM is "
        "`nn.TransformerEncoder`. llama.cpp and ONNX Runtime have no switch that limits them: on a machine with AVX-512 they use it in both tables.",
    ]
    rows = []
    for architecture, results in every.items():
        f, bandwidths = Figures(results), sorted(results["bandwidths"])
        parts += [
            f"## With {NAMES[architecture]}",
            compare.about(architecture, results)
            + (f" R: {statistics.median(bandwidths):.0f} GB/s ({bandwidths[0]:.0f} to {bandwidths[-1]:.0f})." if bandwidths else "")
            + f" dimwise is {compare.standing(f)}",
            "; ".join(results["versions"][name] for name in RIVALS if name in results["versions"]),
            "\n".join([*(f"* Without {RIVALS[name]}: {reason}." for name, reason in results["missing"].items()), *(f"* {note}" for note in results["notes"])]),
            *main_tables(f),
        ]
        rows += [[NAMES[architecture], *row] for row in mark_rows(f, architecture)]
    missed = (compare.HERE / "missed_generation_marks.md").read_text(encoding="utf-8").strip()
    parts += ["## Marks", table(["architecture", "workload", "asked", "measured", ""], rows), missed]
    return "\n\n".join(part for part in parts if part) + "\n"


def main():
    options = compare.options_of("generation.json", 1, only={"default": ""})
    PAGE.write_text(page(compare.measured(options, measure, "bench_generation")), encoding="utf-8")
    print(f"wrote {PAGE.relative_to(compare.ROOT)}")


if __name__ == "__main__":
    main()
