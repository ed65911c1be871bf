#!/usr/bin/env python3
"""dimwise-generate whose layers ranks divide, on threads and under mpirun, and of whose layers each process has a part: the text of one rank, less
memory, and one error.

    python3 tests/ranks/mpi/generate.py build/dev/src/programs/dimwise-generate tests/data mpirun

Without mpirun the ranks are threads. The last line is "N passed, M failed". Standard library only.
"""

import json
import os
import pathlib
import random
import struct
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "programs"))

from programs import packed, tokenizer_of_signs  # noqa: E402

MPIRUN = ["--oversubscribe"]
ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
YIELDS = {"OMPI_MCA_mpi_yield_when_idle": "1"}  # a rank that waits leaves its core to the others, and to other tests
SECONDS = 120  # far above what a run takes: only a program that hangs takes as long


def read(data):
    """-> the header and the elements of a safetensors file"""
    length = struct.unpack("<Q", data[:8])[0]
    return json.loads(data[8:8 + length]), data[8 + length:]


def written(arrays):
    """-> a safetensors file of name: (type, shape, elements)"""
    header, at = {}, 0
    for name, (kind, shape, elements) in arrays.items():
        header[name] = {"dtype": kind, "shape": shape, "data_offsets": [at, at + len(elements)]}
        at += len(elements)
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + b"".join(elements for _, _, elements in arrays.values())


def of_four_layers(files, model):
    """-> the files of a model of two layers that has each layer twice"""
    header, elements = read(files[f"{model}/model.safetensors"])
    arrays = {name: (a["dtype"], a["shape"], elements[slice(*a["data_offsets"])]) for name, a in header.items() if name != "__metadata__"}
    for layer in (0, 1):
        arrays |= {name.replace(f".{layer}.", f".{layer + 2}.", 1): a for name, a in list(arrays.items()) if f".{layer}." in name}
    config = json.loads(files[f"{model}/config.json"])
    return config | {key: 4 for key in ("num_hidden_layers", "n_layer") if key in config}, arrays


def large_llama(layers, width=256):
    """-> settings and bfloat16 arrays of a LLaMA; a layer of 256 features has a million parameters"""
    hidden = 4 * width
    shapes = {"model.embed_tokens.weight": [96, width], "model.norm.weight": [width], "lm_head.weight": [96, width]}
    for i in range(layers):
        at = f"model.layers.{i}."
        shapes |= {at + name + ".weight": shape for name, shape in {
            "input_layernorm": [width], "post_attention_layernorm": [width], "self_attn.q_proj": [width, width], "self_attn.k_proj": [width, width],
            "self_attn.v_proj": [width, width], "self_attn.o_proj": [width, width], "mlp.gate_proj": [hidden, width],
            "mlp.up_proj": [hidden, width], "mlp.down_proj": [width, hidden]}.items()}
    numbers = random.Random(1)
    small = bytes((0x3c, 0xbc, 0x3b, 0xbb)[i % 4] for i in range(256))  # signs and exponents
    arrays = {}
    for name, shape in shapes.items():
        elements = bytearray(numbers.randbytes(2 * shape[0] * (shape[1] if len(shape) > 1 else 1)))
        elements[1::2] = elements[1::2].translate(small)
        arrays[name] = ("BF16", shape, bytes(elements))
    return {"model_type": "llama", "vocab_size": 96, "hidden_size": width, "intermediate_size": hidden, "num_hidden_layers": layers,
            "num_attention_heads": 8, "max_position_embeddings": 4096, "tie_word_embeddings": False}, arrays


class Ranks:
    def __init__(self, program, mpirun, place):
        self.program, self.mpirun, self.place, self.known = program, mpirun, place, {}
        self.passed = self.failed = self.divided = 0

    def check(self, name, holds, shown=""):
        self.passed += bool(holds)
        self.failed += not holds
        print(f"{name}: {'passed' if holds else f'failed: {shown}'}", flush=True)

    def run(self, ranks, *arguments, before="", threads=False):
        """-> the result of the program on so many ranks; `before` is run by each rank's shell, with $rank"""
        command = ["sh", "-c", f'rank=$OMPI_COMM_WORLD_RANK; {before} exec "$@"', "sh", self.program, *map(str, arguments)]
        settings = {name: value for name, value in os.environ.items() if not name.startswith("DIMWISE_RANKS")} | ROOT | YIELDS
        if ranks > 1 and threads:
            settings["DIMWISE_RANKS"] = str(ranks)
        elif ranks > 1:
            command = [*self.mpirun, *MPIRUN, "-n", str(ranks), *command]
        try:
            return subprocess.run(command, env=settings, capture_output=True, timeout=SECONDS, check=False)
        except subprocess.TimeoutExpired as expired:
            return subprocess.CompletedProcess(command, None, expired.stdout or b"", (expired.stderr or b"") + b"\ndid not end")

    def alone(self, *arguments):
        """-> the result of one rank, which runs once for all that is compared with it"""
        if arguments not in self.known:
            self.known[arguments] = self.run(1, *arguments)
        return self.known[arguments]

    def folder(self, name, config, files):
        path = self.place / name
        path.mkdir()
        for file, body in {"config.json": json.dumps(config).encode(), **files}.items():
            (path / file).write_bytes(body)
        return path

    def same_text(self, name, folder, ranks, *arguments, threads=False):
        arguments = (folder, "Hello, 1 2 3", "-n", 24, "-s", 7, "-q", "--ignore-eos", *arguments)
        expected = self.alone(*arguments)
        found = self.run(ranks, *arguments, threads=threads)
        self.check(f"{name} on {ranks} {'threads' if threads else 'processes'}",
                   expected.returncode == found.returncode == 0 and expected.stdout == found.stdout and len(found.stdout) > 30,
                   f"{expected} {found}")

    def architectures(self, data, ways):
        """every architecture, on as many ranks as it has layers"""
        files = packed(data / "architectures_decoders.dwpack")
        for name in sorted(file.split("/")[0] for file in files if file.endswith("/config.json")):
            config = json.loads(files[f"{name}/config.json"])
            words = tokenizer_of_signs()
            words["model"]["vocab"] = {word: i for word, i in words["model"]["vocab"].items() if i < config["vocab_size"]}
            weights = {file.split("/")[1]: body for file, body in files.items() if file.startswith(name + "/model")}
            folder = self.folder(name, config, {**weights, "tokenizer.json": json.dumps(words).encode()})
            layers = config.get("num_hidden_layers", config.get("n_layer"))
            for threads in ways:
                self.same_text(name, folder, min(layers, 4), threads=threads)
            if False in ways:
                self.in_parts(name, folder)
        if False in ways:
            self.check("most architectures are divided", self.divided >= 18, self.divided)

    def in_parts(self, name, folder):
        """two processes with a part of each layer, if they divide the model"""
        asked = (folder, "Hello, 1 2 3", "-n", 24, "-s", 7, "-q", "--ignore-eos")
        found = self.run(2, *asked, "--split-mode", "tensor")
        if found.returncode == 1 and b"cannot be divided among 2 ranks" in found.stderr:
            self.check(f"{name} is not divided", not found.stdout, found)
            return
        self.divided += 1
        expected = self.alone(*asked)
        self.check(f"{name} on 2 processes with a part of each layer", found.returncode == 0 and expected.stdout == found.stdout, f"{expected} {found}")

    def formats(self, data, threads):
        """each format of the weights, and a file in shards"""
        files = packed(data / "lm.dwpack")
        words = {"tokenizer.json": json.dumps(tokenizer_of_signs()).encode()}
        for model in ("tiny-llama", "tiny-gpt2"):
            config, arrays = of_four_layers(files, model)
            folder = self.folder(f"{model}-{threads}", config, {**words, "model.safetensors": written(arrays)})
            for weights in ("f32", "bf16", "f16", "int8", "int4"):
                for ranks in (2, 4):
                    self.same_text(f"{model}, weights {weights},", folder, ranks, "--weights", weights, threads=threads)
                if not threads:
                    self.same_text(f"{model} in parts, weights {weights},", folder, 2, "--weights", weights, "--split-mode", "tensor")
            names = list(arrays)
            shards = {f"model-0000{i + 1}-of-00002.safetensors": {name: arrays[name] for name in names[i::2]} for i in (0, 1)}
            index = {"weight_map": {name: shard for shard, some in shards.items() for name in some}}
            sharded = self.folder(f"{model}-shards-{threads}", config, {
                **words, "model.safetensors.index.json": json.dumps(index).encode(),
                **{shard: written(some) for shard, some in shards.items()}})
            self.same_text(f"{model} in shards", sharded, 4, threads=threads)
            told = self.run(4, folder, "Hello", "-n", 4, "-s", 1, threads=threads)
            self.check(f"what {model} says of its work", told.returncode == 0 and told.stderr.count(b" 4 layers on 4 ranks, 0.") == 1
                       and told.stderr.count(b"prompt: 5 tokens, ") == told.stderr.count(b"generation: 4 tokens, ") == 1
                       and b" MB at most on a rank" in told.stderr, told)
            long = self.run(1, folder, "x" * 50, "-n", 4, "--temp", 0, "-q")
            parts = self.run(2, folder, "x" * 50, "-n", 4, "--temp", 0, "-q", threads=threads)
            self.check(f"a longer prompt of {model}", long.stdout == parts.stdout and parts.returncode == 0, (long, parts))

    def errors(self, data, threads):
        """an error of all ranks and an error of one rank are told once"""
        folder = self.place / f"tiny-llama-{threads}"
        t5 = packed(data / "architectures_encoder_decoders.dwpack")
        source = self.folder(f"t5-{threads}", json.loads(t5["t5-relu/config.json"]),
                             {"model.safetensors": t5["t5-relu/model.safetensors"], "tokenizer.json": b"{}"})
        for name, expected, code, arguments in (
                ("no folder", b"none: not a folder", 1, (self.place / "none", "x")),
                ("more ranks than layers", b"4 layers and cannot be divided among 5 ranks", 1, (folder, "x")),
                ("an encoder-decoder", b"encoder-decoders run on one rank, and 5 were started", 1, (source, "x")),
                ("a wrong option", b"--tempp", None, (folder, "x", "--tempp", "1"))):
            result = self.run(5, *arguments, threads=threads)
            self.check(name, (result.returncode == 1 if code else result.returncode > 100) and result.stderr.count(expected) == 1
                       and not result.stdout, result)
        result = self.run(3, folder, "x", "--split-mode", "tensor", threads=threads)
        expected = b"--split-mode tensor divides layers among processes of mpirun" if threads else b"heads cannot be divided among 3 ranks"
        self.check("layers that cannot be divided", result.returncode == 1 and result.stderr.count(expected) == 1 and not result.stdout, result)
        long = self.run(2, folder, "x" * 200, threads=threads)
        self.check("too long a text", long.returncode == 1 and long.stderr.count(b"the text has 200 tokens") == 1, long)
        usage = self.run(2, "--help", threads=threads)
        self.check("help", usage.returncode == 0 and usage.stdout.count(b"--top-k") == 1, usage)
        lacking = self.place / f"lacking-{threads}"
        config, arrays = of_four_layers(packed(data / "lm.dwpack"), "tiny-llama")
        self.folder(lacking.name, config, {
            "tokenizer.json": json.dumps(tokenizer_of_signs()).encode(),
            "model.safetensors": written({name: a for name, a in arrays.items() if "layers.3.mlp.up" not in name})})
        result = self.run(2, lacking, "x", threads=threads)
        self.check("a missing array", result.returncode == 1 and result.stderr.count(b"layers.3.mlp.up_proj.weight") == 1
                   and b"is missing" in result.stderr and b"rank " not in result.stderr, result)

    def memory(self):
        """a limit that one process exceeds is enough for two, and a smaller one for four; errors of one rank have its number"""
        config, arrays = large_llama(32)
        folder = self.folder("large", config, {"model.safetensors": written(arrays), "tokenizer.json": json.dumps(tokenizer_of_signs()).encode()})
        asked = (folder, "Hello", "-n", 4, "--temp", 0, "-q")
        whole = self.run(1, *asked)
        self.check("a model of 134 MB", whole.returncode == 0 and len(whole.stdout) == 10, whole)
        for ranks, limit in ((2, 120), (4, 80)):  # MB for data: weights of 67 and 34 MB, MPI and the program
            before = f"ulimit -d {limit * 1000};"
            alone = self.run(1, *asked, before=before)
            self.check(f"one process with {limit} MB", alone.returncode == 1 and not alone.stdout and len(alone.stderr.splitlines()) == 1, alone)
            for split in ("layer", "tensor"):
                found = self.run(ranks, *asked, "--split-mode", split, before=before)
                self.check(f"{ranks} processes with {limit} MB each, {split}", found.returncode == 0 and found.stdout == whole.stdout, found)
        little = self.run(2, *asked, before="[ $rank = 0 ] || ulimit -d 60000;")
        self.check("too little memory for a rank", little.returncode == 1 and not little.stdout
                   and little.stderr.count(b"dimwise-generate: rank 1 of 2: ") == 1, little)
        killed = self.run(2, folder, "Hello", "-n", -1, "--ignore-eos", before="[ $rank = 0 ] || { (sleep 2; kill -9 $$) & };")
        self.check("a killed rank", killed.returncode not in (0, None) and b"rank 1" in killed.stderr and b"signal 9 (Killed)" in killed.stderr,
                   killed)
        full = self.run(2, *asked, before="[ $rank = 1 ] || exec >/dev/full;")
        self.check("output that cannot be written", full.returncode == 1
                   and full.stderr.count(b"rank 0 of 2: the output cannot be written: No space left on device") == 1, full)

    def without_mpi(self):
        """mpirun starts a program that has no MPI and no other program beside it"""
        alone = self.place / "dimwise-generate"
        alone.write_bytes(pathlib.Path(self.program).read_bytes())
        alone.chmod(0o755)
        here, self.program = self.program, str(alone)
        result = self.run(2, "x", "x")
        self.program = here
        self.check("a program without MPI", result.returncode == 1
                   and result.stderr.count(b"dimwise-generate-mpi is not there: it is built if MPI is installed") == 1, result)


def main():
    program, data, *mpirun = sys.argv[1:]
    with tempfile.TemporaryDirectory() as place:
        ranks = Ranks(program, mpirun, pathlib.Path(place))
        data = pathlib.Path(data)
        ways = [True, False] if mpirun else [True]
        ranks.architectures(data, ways)
        for threads in ways:
            ranks.formats(data, threads)
            ranks.errors(data, threads)
        if mpirun:
            ranks.memory()
            ranks.without_mpi()
    print(f"{ranks.passed} passed, {ranks.failed} failed")
    sys.exit(1 if ranks.failed or not ranks.passed else 0)


if __name__ == "__main__":
    main()
