#!/usr/bin/env python3
"""What dimwise-predict promises: its sums, its order of placements, the models and machines that it reads, one line for each mistake.

    python3 tests/programs/predict.py build/dev/src/programs/dimwise-predict tests/data [mpirun]

The last line is "N passed, M failed". Standard library only.
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

from programs import packed

AXES = ("dp", "tp", "sp", "pp")
MACHINE = {"product_rate": 1e12, "stream_bandwidth": 1e11, "near": {"latency": 1e-6, "bandwidth": 1e10},
           "far": {"latency": 1e-5, "bandwidth": 1e9}}


class Predict:
    def __init__(self, program, place, mpirun):
        self.program, self.place, self.mpirun = program, place, mpirun
        self.passed = self.failed = 0

    def check(self, name, holds, shown=""):
        self.passed += bool(holds)
        self.failed += not holds
        if not holds:
            print(f"FAILED {name}: {shown}")

    def run(self, *arguments, before=(), ranks=None):
        environment = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
        environment.pop("DIMWISE_RANKS", None)
        if ranks:
            environment["DIMWISE_RANKS"] = str(ranks)
        return subprocess.run([*before, self.program, *map(str, arguments)], capture_output=True, text=True, timeout=300, check=False,
                              env=environment)

    def rows(self, *arguments):
        result = self.run(*arguments, "--json")
        self.check(" ".join(map(str, arguments)), result.returncode == 0 and not result.stderr, result)
        return [json.loads(line) for line in result.stdout.splitlines()]

    def refused(self, name, expected, *arguments):
        result = self.run(*arguments)
        said = result.stderr.splitlines()
        self.check(name, result.returncode == 1 and not result.stdout and said and expected in result.stderr, result)

    def invalid(self, name, *arguments):
        result = self.run(*arguments)
        self.check(name, result.returncode > 100, result)

    def file(self, name, content):
        path = self.place / name
        path.write_text(json.dumps(content), encoding="utf-8")
        return path

    def predictions(self):
        rows = self.rows("megatron-18.4b", "--machine", "a100", "--elements", "bf16", "--batch", 1024, "--context", 2048, "--recompute", "full",
                         "--ranks", "64,128,256", "--zero-1")
        self.check("a row for each number of ranks", [row["ranks"] for row in rows] == [64, 128, 256], rows)
        for row in rows:
            seconds, size = row["seconds"], row["bytes"]
            parts = sum(value for key, value in seconds.items() if key not in ("total", "hidden"))
            self.check("seconds add up", abs(parts - seconds["total"]) < 1e-9 * seconds["total"], row)
            self.check("bytes add up", abs(sum(size.values()) - 2 * size["total"]) < 1e-6 * size["total"], row)
            self.check("axes multiply", row["dp"] * row["tp"] * row["sp"] * row["pp"] == row["ranks"], row)
            self.check("the best placement fits", row["fits"] and size["total"] <= 80e9, row)
        own = self.rows("megatron-18.4b", "--machine", "a100", "--elements", "bf16", "--batch", 1024, "--context", 2048, "--recompute", "full",
                        "--place", "dp=32,tp=8,micro=1", "--place", "dp=256")
        self.check("given placements", [[row[axis] for axis in AXES] for row in own] == [[32, 8, 1, 1], [256, 1, 1, 1]], own)
        self.check("no given placement is faster than the best", 1.01 * own[0]["seconds"]["total"] >= rows[2]["seconds"]["total"], own)
        self.check("weights that do not fit", not own[1]["fits"] and own[1]["limit"].startswith("memory: "), own)
        whole = self.run("llama-3.1-8b", "--task", "decode", "--machine", "node200", "--elements", "bf16", "--link", "10g", "--ranks", "1,2,4,7")
        text = whole.stdout.splitlines()
        self.check("a table", whole.returncode == 0 and text[0].startswith("llama-3.1-8b: 32 layers of 4096 features, 8.03 billion parameters")
                   and any(line.split()[0:1] == ["4"] for line in text) and "no placement on 7 ranks" in text[-1], whole)
        slow, fast = (self.rows("llama-3.1-8b", "--task", "decode", "--machine", "node200", "--link", link, "--place", "tp=8")[0]
                      for link in ("50:1.25", "5:12.5"))
        self.check("a link in microseconds and GB/s", slow["seconds"]["tensor"] > fast["seconds"]["tensor"] > 0, (slow, fast))
        cached = self.rows("gpt2", "--task", "decode", "--machine", "node200", "--context", 1000, "--batch", 3, "--place", "dp=1")[0]
        self.check("a KV cache", cached["bytes"]["cache"] == 2 * 12 * 768 * 1000 * 3 * 4, cached)

    def models(self, data):
        files = packed(data / "lm.dwpack")
        folder = self.place / "llama"
        folder.mkdir()
        (folder / "config.json").write_bytes(files["tiny-llama/config.json"])
        result = self.run(folder, "--machine", "node200", "--ranks", 1)
        self.check("a folder", result.returncode == 0 and "2 layers of 64 features" in result.stdout, result)
        sizes = ["--layers", 2, "--d-model", 64, "--heads", 8, "--kv-heads", 2, "--hidden", 172, "--vocab", 96, "--gated", "--untied"]
        by_size, by_folder = (self.rows(*model, "--machine", "node200", "--ranks", 1)[0] for model in (sizes, [folder]))
        self.check("sizes instead of a folder", by_size["bytes"] == by_folder["bytes"] and by_size["seconds"] == by_folder["seconds"],
                   (by_size, by_folder))
        larger = self.rows(folder, "--layers", 4, "--machine", "node200", "--ranks", 1)[0]
        self.check("a size beside a folder", larger["bytes"]["weights"] > by_folder["bytes"]["weights"], larger)
        config = json.loads(files["tiny-llama/config.json"])
        (folder / "config.json").write_text(json.dumps({**config, "model_type": "mamba"}), encoding="utf-8")
        self.refused("another architecture", "mamba", folder, "--machine", "node200")
        (folder / "config.json").unlink()
        self.refused("a folder without settings", "has no config.json", folder, "--machine", "node200")
        self.refused("no model", "neither a folder nor one of the models gpt2", "gpt-17", "--machine", "node200")
        self.refused("no sizes", "--d-model is missing", "--layers", 2, "--machine", "node200")
        self.refused("key heads", "12 heads are not divisible by 5 key heads", "gpt2", "--kv-heads", 5, "--machine", "node200")
        self.invalid("no layers", "gpt2", "--layers", 0)

    def machines(self):
        own = self.file("own.json", MACHINE)
        self.check("a machine's file", len(self.rows("gpt2", "--machine", own, "--ranks", "1,2")) == 2)
        for name, change, expected in (("a figure that is missing", {"product_rate": None}, "product_rate is missing"),
                                       ("a rate of 0", {"stream_bandwidth": 0}, "stream_bandwidth is 0, a number above 0 was expected"),
                                       ("another figure", {"speed": 1}, "speed is not a figure that is read"),
                                       ("no link", {"near": None}, "near is missing"),
                                       ("a link that is a number", {"far": 3}, "far is 3, an object was expected"),
                                       ("a link without bandwidth", {"far": {"latency": 1}}, "bandwidth is missing"),
                                       ("another reduction", {"reduction": "tree"}, 'reduction is "tree"')):
            changed = {key: value for key, value in {**MACHINE, **change}.items() if value is not None}
            self.refused(name, expected, "gpt2", "--machine", self.file("changed.json", changed))
        self.refused("no such machine", "neither a file nor one of the machines this, a100, a100-2021, node200", "gpt2", "--machine", "b200")
        (self.place / "text.json").write_text("rates", encoding="utf-8")
        self.refused("a file that is not JSON", "JSON was expected", "gpt2", "--machine", self.place / "text.json")
        for link in ("20g", "1:2:3", "1:0", "-1:2", ":", "nan:1"):
            self.refused(f"link {link}", "or MICROSECONDS:GB/s was expected", "gpt2", "--machine", "node200", "--link=" + link)

    def placements(self):
        for place in ("tp", "tp=0", "tp=two", "np=2", "tp=2x", "tp=-2", "tp=70000"):
            self.refused(f"placement {place}", "dp=N, tp=N, sp=N, pp=N", "gpt2", "--machine", "node200", "--place=" + place)
        self.refused("a placement that does not divide", "tp 5 does not divide 12 key heads", "gpt2", "--machine", "node200", "--place", "tp=5")
        self.refused("no placement", "no placement on 7 ranks", "gpt2", "--machine", "node200", "--ranks", 7)
        for name, arguments in (("0 ranks", ["--ranks", 0]), ("many ranks", ["--ranks", 65537]), ("a fraction", ["--batch", 1.5]),
                                ("another task", ["--task", "sleep"]), ("other elements", ["--elements", "f8"]),
                                ("no memory", ["--memory", 0]), ("rates measured nowhere", ["--machine", "a100", "--seconds", 1])):
            self.invalid(name, "gpt2", *arguments)

    def measured(self):
        figures = ("product_rate", "attention_rate", "stream_bandwidth", "pointwise_bandwidth", "call")
        for ranks in (1, 2):
            result = self.run("gpt2", "--measure", "-", "--seconds", 0.01, ranks=ranks)
            self.check(f"rates of {ranks} threads", result.returncode == 0 and not result.stderr, result)
            rates = json.loads(result.stdout or "{}")
            self.check(f"rates of {ranks} threads are numbers", all(rates.get(figure, 0) > 0 for figure in figures)
                       and all(rates["near"][figure] > 0 for figure in ("latency", "bandwidth", "reduce_bandwidth")), rates)
        file = self.place / "this.json"
        written = self.run("gpt2", "--measure", file, "--seconds", 0.01)
        self.check("a file of rates", written.returncode == 0 and not written.stdout and file.is_file(), written)
        parts = self.run("gpt2", "--machine", file, "--parts", "--ranks", "1,2").stdout.splitlines()
        self.check("parts of a layer", len(parts) == 8 and all(json.loads(line)["seconds"] > 0 for line in parts), parts)
        self.refused("rates that cannot be written", "cannot be written", "gpt2", "--measure", self.place / "none" / "x.json", "--seconds", 0.01)
        here = self.rows("gpt2", "--seconds", 0.01, "--ranks", "1,2", "--batch", 8, "--link", "10g")
        self.check("this machine", len(here) == 2 and here[1]["seconds"]["data"] + here[1]["seconds"]["tensor"] > 0, here)
        if self.mpirun:
            shared = self.run("gpt2", "--measure", "-", "--seconds", 0.01, before=(self.mpirun, "--oversubscribe", "-n", "2"))
            self.check("rates of two processes", shared.returncode == 0 and json.loads(shared.stdout)["near"]["latency"] > 0, shared)
        full = subprocess.run(["sh", "-c", 'exec "$0" gpt2 --machine node200 > /dev/full', str(self.program)], capture_output=True, text=True,
                              timeout=60, check=False)
        self.check("a full disk", full.returncode == 1 and "the output cannot be written: No space left on device" in full.stderr, full)


def main():
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    program, data = (pathlib.Path(a).resolve() for a in sys.argv[1:3])
    with tempfile.TemporaryDirectory() as place:
        predict = Predict(program, pathlib.Path(place), sys.argv[3] if len(sys.argv) == 4 else None)
        predict.predictions()
        predict.models(data)
        predict.machines()
        predict.placements()
        predict.measured()
    print(f"{predict.passed} passed, {predict.failed} failed")
    sys.exit(predict.failed > 0)


if __name__ == "__main__":
    main()
