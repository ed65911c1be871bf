#!/usr/bin/env python3
"""What dimwise-generate, dimwise-embed, dimwise-classify and dimwise-inspect promise: the words and cosines of the packed models, labels,
dimensions, and one line for each mistake; and what src/programs/convert_model.py makes of other formats.

    python3 tests/programs/programs.py build/dev/src/programs/dimwise-generate build/dev/src/programs/dimwise-embed tests/data

The last line is "N passed, M failed". Standard library only.
"""

import json
import math
import os
import pathlib
import pty
import re
import signal
import struct
import subprocess
import sys
import tempfile
import time


def packed(path):
    """-> the files of a pack, by name"""
    data = path.read_bytes()
    length = struct.unpack("<Q", data[8:16])[0]
    header = json.loads(data[16:16 + length])
    return {name: data[a["offset"]:a["offset"] + a["bytes"]] for name, a in header["arrays"].items()}


def arrays(data):
    """-> name: (extents, numbers) of a safetensors file; F64 and I64 alone"""
    length = struct.unpack("<Q", data[:8])[0]
    found = {}
    for name, a in json.loads(data[8:8 + length]).items():
        kind = {"F64": "d", "I64": "q"}.get(a.get("dtype"))
        if kind:
            first, last = a["data_offsets"]
            found[name] = (a["shape"], struct.unpack(f"<{(last - first) // 8}{kind}", data[8 + length:][first:last]))
    return found


# A tokenizer of 96 words, each a sign of ASCII: the id i is the sign 32 + i, and text shows the ids.
SIGNS = [chr(32 + i) for i in range(96)]


def tokenizer_of_signs():
    written = {" ": "Ġ", "\x7f": "ġ"}  # as byte-level vocabularies write them
    level = {"type": "ByteLevel", "add_prefix_space": False, "use_regex": False}
    return {"pre_tokenizer": level, "decoder": level,
            "model": {"type": "BPE", "vocab": {written.get(s, s): i for i, s in enumerate(SIGNS)}, "merges": []}}


# A tokenizer of words between spaces, which puts nothing around a text or a pair.
def tokenizer_of_words(words):
    a, b = ({"Sequence": {"id": name, "type_id": number}} for number, name in enumerate("AB"))
    return {"pre_tokenizer": {"type": "WhitespaceSplit"},
            "post_processor": {"type": "TemplateProcessing", "single": [a], "pair": [a, b], "special_tokens": {}},
            "model": {"type": "WordLevel", "vocab": {word: i for i, word in enumerate(words)}, "unk_token": words[0]}}


def floats(data):
    """the float32 arrays of a safetensors file"""
    length = struct.unpack("<Q", data[:8])[0]
    return {name: (a["shape"], struct.unpack(f"<{(a['data_offsets'][1] - a['data_offsets'][0]) // 4}f",
                                             data[8 + length:][slice(*a["data_offsets"])]))
            for name, a in json.loads(data[8:8 + length]).items() if name != "__metadata__"}


def rows_of(array):
    shape, values = array
    return [values[shape[1] * i:shape[1] * (i + 1)] for i in range(shape[0])]


def product(weights, name, x):
    """a linear map in float64"""
    return [sum(a * b for a, b in zip(row, x)) + c for row, c in zip(rows_of(weights[name + ".weight"]), weights[name + ".bias"][1])]


def softmax(scores):
    weights = [math.exp(x - max(scores)) for x in scores]
    return [w / sum(weights) for w in weights]


def close(found, expected, bound):
    return len(found) == len(expected) and all(abs(x - e) < bound for x, e in zip(found, expected))


class Programs:
    def __init__(self, generate, embed, place):
        self.generate_program, self.embed_program, self.place = generate, embed, place
        self.classify_program = embed.with_name("dimwise-classify")
        self.inspect_program = embed.with_name("dimwise-inspect")
        self.passed = self.failed = 0

    def check(self, name, holds, shown=""):
        self.passed += bool(holds)
        self.failed += not holds
        if not holds:
            print(f"FAILED {name}: {shown}")

    @staticmethod
    def run(program, *arguments, given=None):
        return subprocess.run([program, *(a if isinstance(a, bytes) else str(a) for a in arguments)],
                              capture_output=True, timeout=600, check=False, input=given)

    @staticmethod
    def on_terminal(program, *arguments):
        """-> what a program writes to stderr if that is a terminal"""
        terminal, its_end = pty.openpty()
        process = subprocess.Popen([program, *map(str, arguments)], stdout=subprocess.DEVNULL, stderr=its_end)
        os.close(its_end)
        written = b""
        try:
            while part := os.read(terminal, 4096):
                written += part
        except OSError:  # the program has ended
            pass
        os.close(terminal)
        process.wait(timeout=600)
        return written

    def refused(self, name, program, expected, *arguments):
        result = self.run(program, *([] if program == self.inspect_program else ["-q"]), *arguments)
        lines = result.stderr.decode().strip().splitlines()
        said = lines[-1] if lines else ""
        self.check(name, result.returncode == 1 and len(lines) == 1 and expected in said and not result.stdout,
                   f"exit code {result.returncode}: {result.stderr!r} {result.stdout!r}")

    def not_written(self, name, program, *arguments):
        """a full disk and a closed stdout are told, a reader that has enough is not"""
        for where, expected in (("> /dev/full", "No space left on device"), (">&-", "stdout is closed")):
            command = ["sh", "-c", f'exec "$0" "$@" {where}', program, "-q", *map(str, arguments)]
            result = subprocess.run(command, stderr=subprocess.PIPE, timeout=600, check=False)
            said = result.stderr.decode().strip().splitlines()
            self.check(f"{name} {where}", result.returncode == 1 and len(said) == 1
                       and f"the output cannot be written: {expected}" in said[0], result)
        helped = self.run("sh", "-c", '"$0" --help > /dev/full', program)
        self.check(f"{name}, help that cannot be written",
                   helped.returncode == 1 and b"cannot be written" in helped.stderr, helped)
        command = ["sh", "-c", '"$0" "$@" | head -c 1', program, "-q", *map(str, arguments)]
        result = subprocess.run(command, capture_output=True, timeout=600, check=False)
        self.check(f"{name} | head", len(result.stdout) == 1 and not result.stderr, result)

    def wrong_options(self, program, folder, *options):
        """each is refused as an option, by its name and in a short line, before there is text"""
        for option, value in options:
            result = self.run(program, folder, "x", option, value)
            said = result.stderr.decode().splitlines()
            self.check(f"{option} {value}", result.returncode > 100 and not result.stdout and said
                       and f"{option}: {value} is not a" in said[0] and len(said[0]) < 80, result)

    def folder(self, name, files, **other):
        path = self.place / name
        path.mkdir()
        for file, body in {**files, **other}.items():
            (path / file.replace("__", ".")).write_bytes(body)
        return path

    def generation(self, data):
        files = packed(data / "lm.dwpack")
        tokenizer = json.dumps(tokenizer_of_signs()).encode()
        for model in ("tiny-gpt2", "tiny-llama"):
            own = {"config.json": files[f"{model}/config.json"], "model.safetensors": files[f"{model}/model.safetensors"],
                   "tokenizer.json": tokenizer}
            folder = self.folder(model, own)
            golden = arrays(files[f"{model}/golden.safetensors"])
            for k in range(4):
                prompt = "".join(SIGNS[i] for i in golden[f"prompt.{k}.input_ids"][1])
                words = golden[f"prompt.{k}.greedy_ids"][1]
                expected = prompt + "".join(SIGNS[i] for i in words) + "\n"
                for threads in ("1", "2"):
                    result = self.run(self.generate_program, "-n", len(words), "--temp", "0", "-t", threads, folder, "--", prompt)
                    self.check(f"{model}, prompt {k}, {threads} threads",
                               result.returncode == 0 and result.stdout.decode() == expected,
                               f"{result.stdout!r} {result.stderr!r}")
            # Of the same prompt: 16 bits of float16 change no likeliest word here; in all of them text comes.
            sizes = []
            for weights in ("f32", "bf16", "f16", "int8", "int4"):
                result = self.run(self.generate_program, "-n", len(words), "--temp", "0", "--weights", weights, folder, "--", prompt)
                text = result.stdout.decode()
                told = result.stderr.decode().split(" million parameters, ")
                sizes.append(float(told[1].split(" MB")[0]) if len(told) > 1 else 0.0)
                self.check(f"{model}, weights {weights}", result.returncode == 0 and len(text) == len(expected)
                           and (text == expected or weights not in ("f32", "f16")), f"{result.stdout!r} {result.stderr!r}")
            self.check(f"{model}, the memory of its weights", sizes[0] > sizes[1] == sizes[2] > sizes[3] >= sizes[4] > 0, sizes)
        gpt2 = self.place / "tiny-gpt2"
        told = self.run(self.generate_program, gpt2, "Hello", "-n", "4", "-s", "1").stderr.decode()
        self.check("what it says of its work", "GPT-2, 2 layers, 0.1 million parameters" in told
                   and "prompt: 5 tokens, " in told and "generation: 4 tokens, " in told and "seed: 1" in told, told)
        drawn = [self.run(self.generate_program, gpt2, "Hello", "-n", "20", "-s", s, "-q") for s in ("1", "1", "2")]
        self.check("a seed", drawn[0].stdout == drawn[1].stdout != drawn[2].stdout and not drawn[0].stderr, drawn)
        many = [self.run(self.generate_program, gpt2, "Hello", "-n", "20", "-s", "1", "-t", "1024", *more)
                for more in (["-q"], [])]
        self.check("more threads than there are",
                   many[0].stdout == many[1].stdout == drawn[0].stdout and not many[0].stderr
                   and b"threads: " in many[1].stderr and b"TBB" not in many[1].stderr, many)
        one = self.run(self.generate_program, gpt2, "Hello", "-n", "20", "-s", "1", "-q", "--top-k", "1").stdout
        greedy = self.run(self.generate_program, gpt2, "Hello", "-n", "20", "--temp", "0", "-q").stdout
        self.check("the likeliest one", one == greedy, (one, greedy))
        penalised = self.run(self.generate_program, gpt2, "Hello", "-n", "20", "--temp", "0", "-q", "--repeat-penalty", "1e9",
                             "--no-display-prompt").stdout.decode()[:-1]
        self.check("a repetition penalty", len(set(penalised)) == len(penalised) == 20, penalised)
        penalised = self.run(self.generate_program, gpt2, "Hello", "-n", "20", "--temp", "0", "-q", "--repeat-penalty",
                             "1e9", "--no-display-prompt", "--repeat-last-n", "-1").stdout.decode()[:-1]
        self.check("a repetition penalty of all", len(set(penalised)) == len(penalised) == 20, penalised)
        full = self.run(self.generate_program, gpt2, "Hello", "-n", "-1", "-c", "12", "--temp", "0")
        self.check("a full context", len(full.stdout) == 13 and b"the context of 12 tokens is full" in full.stderr, full)
        end = greedy.decode()[5]
        fewer = tokenizer_of_signs()
        at = SIGNS.index(end)
        fewer["model"]["vocab"] = {w: i for w, i in fewer["model"]["vocab"].items() if i != at}
        (gpt2 / "tokenizer.json").write_text(json.dumps(fewer))
        other = self.run(self.generate_program, gpt2, "Hello", "-n", "20", "--temp", "0", "-q")
        self.check("an id without a token is not generated", other.returncode == 0 and len(other.stdout) == 26
                   and end.encode() not in other.stdout, other)
        config = json.loads(files["tiny-gpt2/config.json"])
        words = tokenizer_of_signs()
        words["model"]["vocab"] = {w if i != SIGNS.index(end) else "Ã": i for w, i in words["model"]["vocab"].items()}
        (gpt2 / "tokenizer.json").write_text(json.dumps(words))  # Ã is the byte C3, which begins a character
        half = self.run(self.generate_program, gpt2, "Hello", "-n", "1", "--temp", "0", "-q").stdout
        self.check("half a character at the end", half == "Hello\ufffd\n".encode(), half)
        (gpt2 / "tokenizer.json").write_bytes(tokenizer)
        (gpt2 / "config.json").write_text(json.dumps({**config, "eos_token_id": SIGNS.index(end)}))
        stops = [self.run(self.generate_program, gpt2, "Hello", "-n", "20", "--temp", "0", "-q", *more).stdout
                 for more in ([], ["--ignore-eos"])]
        self.check("the end of a text", stops == [b"Hello\n", greedy], stops)
        self.generation_refused(gpt2, files, config, tokenizer)
        self.chat(files, config)
        self.not_written("a text", self.generate_program, gpt2, "Hello", "-n", "20")

    def chat(self, files, config):
        """chatml, where some signs of ASCII are its words"""
        tokenizer = tokenizer_of_signs()
        tokenizer["model"]["vocab"] = {w: i for w, i in tokenizer["model"]["vocab"].items() if i not in (94, 95)}
        tokenizer["model"]["vocab"].update({"Ċ": 94, "<|im_start|>": 95})
        tokenizer["added_tokens"] = [{"id": 95, "content": "<|im_start|>", "special": True}]
        own = {"config.json": json.dumps(config).encode(), "model.safetensors": files["tiny-gpt2/model.safetensors"]}
        half = self.folder("half_chat", own, **{"tokenizer.json": json.dumps(tokenizer).encode()})
        asked = ("--chat-template", "chatml", "--system", "s", "-n", "1", "--temp", "0")
        self.refused("half of chatml", self.generate_program, "the tokenizer has no <|im_end|>", half, "x", *asked)
        tokenizer["model"]["vocab"] = {w: i for w, i in tokenizer["model"]["vocab"].items() if i != 93}
        tokenizer["model"]["vocab"]["<|im_end|>"] = 93
        spelled = self.folder("spelled_chat", own, **{"tokenizer.json": json.dumps(tokenizer).encode()})
        self.refused("chatml in letters", self.generate_program, "the tokenizer has no <|im_end|>", spelled, "x",
                     *asked)
        tokenizer["added_tokens"].append({"id": 93, "content": "<|im_end|>", "special": True})
        whole = self.folder("whole_chat", own, **{"tokenizer.json": json.dumps(tokenizer).encode()})
        result = self.run(self.generate_program, whole, "x", *asked)
        # <|im_start|>system⏎s<|im_end|>⏎<|im_start|>user⏎x<|im_end|>⏎<|im_start|>assistant⏎
        self.check("chatml", result.returncode == 0 and b"prompt: 31 tokens" in result.stderr, result)
        # The first token of the answer is made an end of turn, by the names that end one, or by the tokenizer's end.
        asked = ("x", *asked[:-4], "-n", "3", "--temp", "0", "-q")
        answer = self.run(self.generate_program, whole, *asked).stdout.decode()
        self.check("an answer", len(answer) >= 2 and answer[0] in SIGNS[1:93], answer)
        settings = json.dumps({"eos_token": {"content": answer[0]}}).encode()
        (whole / "tokenizer_config.json").write_bytes(settings)
        result = self.run(self.generate_program, whole, *asked)
        self.check("the tokenizer's end ends a turn", result.stdout == b"\n", result)
        (whole / "tokenizer_config.json").unlink()
        for end in ("<|im_end|>", "<|eot_id|>", "<end_of_turn>"):
            words = json.loads(json.dumps(tokenizer))
            vocabulary = words["model"]["vocab"]
            one = vocabulary.pop(answer[0])
            if end == "<|im_end|>":
                words["added_tokens"] = [t for t in words["added_tokens"] if t["content"] != end]
                vocabulary.pop(end)
                vocabulary[answer[0]] = 93
            words["added_tokens"].append({"id": one, "content": end, "special": True})
            (whole / "tokenizer.json").write_bytes(json.dumps(words).encode())
            result = self.run(self.generate_program, whole, *asked[:-1])
            self.check(f"{end} ends a turn", result.stdout == b"\n" and b"generation: 0 tokens" in result.stderr, result)

    def generation_refused(self, folder, files, config, tokenizer):
        program = self.generate_program
        self.refused("no folder", program, "none: not a folder", self.place / "none", "x")
        self.refused("an empty folder", program, "has no config.json", self.folder("empty", {}), "x")
        own = {"config.json": files["tiny-gpt2/config.json"], "tokenizer.json": tokenizer}
        self.refused("no weights", program, "model.safetensors.index.json was expected", self.folder("no_weights", own), "x")
        index = {"weight_map": {"wte.weight": "model-00001-of-00002.safetensors"}}
        self.refused("a missing shard", program, "model-00001-of-00002.safetensors: the file cannot",
                     self.folder("no_shard", own, **{"model.safetensors.index.json": json.dumps(index).encode()}), "x")
        other = {**own, "config.json": json.dumps({**config, "model_type": "mamba"}).encode()}
        self.refused("an unknown architecture", program, 'model_type is "mamba"; the types that are read are bloom, ',
                     self.folder("mamba", other), "x")
        weights = {"model.safetensors": files["tiny-gpt2/model.safetensors"]}
        names = parts(weights["model.safetensors"])
        index = {"weight_map": {name: "model.safetensors" for name in names}}
        indexed = self.folder("indexed", {**own, **weights}, **{"model.safetensors.index.json": json.dumps(index).encode()})
        result = self.run(program, indexed, "x", "-n", "1", "-q")
        self.check("an index of model.safetensors", result.returncode == 0 and len(result.stdout) > 1, result)
        beyond = json.loads(tokenizer)
        beyond["added_tokens"] = [{"id": 96, "content": "<image>", "special": True}]
        beyond = self.folder("beyond", {**own, **weights, "tokenizer.json": json.dumps(beyond).encode()})
        self.refused("a token beyond the table", program, "the text has a token of the id 96, the model has 96 tokens",
                     beyond, "a<image>")
        result = self.run(program, beyond, "x", "-n", "1", "-q")
        self.check("a tokenizer with more ids than the table", result.returncode == 0 and len(result.stdout) > 1, result)
        few = tokenizer_of_signs()
        few["model"]["vocab"] = dict(list(few["model"]["vocab"].items())[:90])
        self.refused("another vocabulary", program, "the vocabulary has 90 ids, the model has 96 tokens",
                     self.folder("few", {**own, **weights, "tokenizer.json": json.dumps(few).encode()}), "x")
        self.refused("a vocabulary of the same size", program, "it belongs to another model",
                     self.folder("same_size", {**own, **weights, "tokenizer.fingerprint": b"0123456789abcdef\n"}), "x")
        self.refused("no tokenizer", program, "tokenizer.json, or vocab.json and merges.txt, or vocab.txt",
                     self.folder("no_words", {"config.json": own["config.json"], **weights}), "x")
        self.refused("too long a text", program, "the text has 70 tokens, the context 64", folder, "x" * 70)
        self.refused("too long a context", program, "a context of 65 tokens was asked for, the model has 64", folder, "x", "-c", "65")
        self.refused("no text", program, "the text has no tokens", folder, "")
        self.refused("no file", program, "none.txt: cannot be read", folder, "-f", self.place / "none.txt")
        self.refused("a folder for a file", program, f"{self.place}: cannot be read", folder, "-f", self.place)
        self.refused("a file without a name", program, "the name of a file was expected", folder, "-f", "")
        self.refused("no signs of chatml", program, "the tokenizer has no <|im_start|>", folder, "x",
                     "--chat-template", "chatml")
        self.refused("no UTF-8", program, "the text is not UTF-8 at byte 2", folder, b"ab\xff")
        pointer = b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 548105171\n"
        self.refused("a pointer of Git LFS", program, "it is a pointer of Git LFS",
                     self.folder("git_lfs", {**own, "model.safetensors": pointer}), "x")
        ends = self.folder("ends", {**own, **weights, "generation_config.json": b'{"eos_token_id": [3, 50256]}'})
        told = self.run(program, ends, "x", "-n", "1")
        self.check("an end that is not a token", told.returncode == 0
                   and b"eos_token_id is 50256, the model has 96 tokens" in told.stderr, told)
        (ends / "generation_config.json").write_text('{"eos_token_id": "</s>"}')
        told = self.run(program, "-q", ends, "x")
        self.check("an end in letters", told.returncode == 1 and not told.stdout
                   and b'eos_token_id is "</s>", a whole number was expected' in told.stderr, told)
        alone = self.run(program, folder, "x", "--system", "s")
        self.check("--system without --chat-template", alone.returncode > 100 and b"--chat-template" in alone.stderr, alone)
        version = self.run(program, "--version")
        self.check("a version", version.returncode == 0 and version.stdout.startswith(b"dimwise-generate 0."), version)
        usage = self.run(program, folder, "x", "--tempp", "1")
        self.check("a wrong option", usage.returncode > 100 and b"--tempp" in usage.stderr, usage)
        no_numbers = [(option, value) for value in ("nan", "inf", "-inf")
                      for option in ("--temp", "--top-p", "--min-p", "--repeat-penalty")]
        self.wrong_options(program, folder, ("--ctx-size", "-1"), ("--top-k", "-1"), ("--repeat-last-n", "-2"),
                           ("--seed", "-5"), ("--seed", "99999999999999999999"), ("--predict", "-2"),
                           ("--top-k", "1.5"), ("--temp", "-1"), ("--repeat-penalty", "0"), *no_numbers)
        self.interrupted(folder)
        self.interrupted_at_once(folder)

    def interrupted(self, folder):
        """Ctrl-C as soon as there is text: what was written stays, and the numbers come"""
        command = [self.generate_program, str(folder), "Hello", "-n", "-1", "-c", "64", "--ignore-eos"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=0) as running:
            running.send_signal(signal.SIGINT) if running.stdout.read(5) == b"Hello" else None
            rest, told = running.communicate(timeout=60)
        # On a fast machine the text may be there before the signal is.
        self.check("Ctrl-C", running.returncode in (130, 0) and rest.endswith(b"\n") and b"generation: " in told,
                   (running.returncode, rest, told))

    def interrupted_at_once(self, folder):
        """Ctrl-C while a long text becomes tokens, which takes many seconds"""
        long = self.place / "long.txt"
        long.write_text("Once upon a time. " * 1_000_000, encoding="utf-8")
        command = [self.generate_program, str(folder), "--file", str(long), "-n", "1"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=0) as running:
            told = b""
            while b"loaded in" not in told:
                told += running.stderr.read(1) or b"loaded in: never"
            running.send_signal(signal.SIGINT)
            begin = time.monotonic()
            rest, told = running.communicate(timeout=60)
            seconds = time.monotonic() - begin
        self.check("Ctrl-C while a text becomes tokens", running.returncode == 130 and rest == b"" and seconds < 2,
                   (running.returncode, rest, told, seconds))

    def encoder_decoders(self, data):
        """the prompt is a source that the encoder reads; what is shown is the text that the decoder writes"""
        files = packed(data / "architectures_encoder_decoders.dwpack")
        tokenizer = tokenizer_of_signs()
        tokenizer["model"]["vocab"] = {w: i for w, i in tokenizer["model"]["vocab"].items() if i < 80}
        for model in ("t5-relu", "t5-gated"):
            folder = self.folder(model, {"config.json": files[f"{model}/config.json"],
                                         "model.safetensors": files[f"{model}/model.safetensors"],
                                         "tokenizer.json": json.dumps(tokenizer).encode()})
            golden = arrays(files[f"{model}/golden.safetensors"])
            source = "".join(SIGNS[i] for i in golden["enc.1.input_ids"][1])
            words = golden["dec.1.greedy_ids"][1]  # after the first token alone
            expected = "".join(SIGNS[i] for i in words) + "\n"
            for weights in ("f32", "bf16", "f16", "int8", "int4"):
                result = self.run(self.generate_program, "-n", len(words), "--temp", "0", "--ignore-eos", "--weights", weights,
                                  folder, "--", source)
                text = result.stdout.decode()
                self.check(f"{model}, weights {weights}", result.returncode == 0 and len(text) == len(expected)
                           and (text == expected or weights not in ("f32", "f16")), f"{result.stdout!r} {result.stderr!r}")
        told = self.run(self.generate_program, "-n", "4", "--temp", "0", folder, "--", source).stderr.decode()
        self.check("what it says of an encoder-decoder", "T5, T5 1.1, FLAN-T5, 4 layers, 0.0 million parameters" in told
                   and f"prompt: {len(source) + 1} tokens, " in told, told)
        full = self.run(self.generate_program, folder, "Hello", "-n", "-1", "-c", "12", "--temp", "0", "--ignore-eos")
        self.check("a full context of an encoder-decoder", len(full.stdout) == 12
                   and b"the context of 12 tokens is full" in full.stderr, full)
        (folder / "generation_config.json").write_text('{"max_length": 300}')
        longer = self.run(self.generate_program, folder, "Hello", "--temp", "0", "--ignore-eos", "-q")
        self.check("a max_length above the default of -n", len(longer.stdout) == 300, longer)  # 299 after the first token
        (folder / "generation_config.json").unlink()
        # A penalty of the folder counts for the whole text, one of the command line for the last 64 tokens.
        asked = ("Hello", "--temp", "0", "--ignore-eos", "-q", "-n", "100")
        penalised = [self.run(self.generate_program, folder, *asked, "--repeat-penalty", "1.5", "--repeat-last-n", n).stdout
                     for n in ("-1", "64")]
        (folder / "generation_config.json").write_text('{"repetition_penalty": 1.5}')
        by_folder = [self.run(self.generate_program, folder, *asked, *more).stdout for more in ((), ("--repeat-last-n", "64"))]
        self.check("a penalty of the folder", by_folder == penalised and penalised[0] != penalised[1], (by_folder, penalised))
        (folder / "generation_config.json").unlink()
        self.refused("an ordinary token of T5 as a language", self.generate_program, '"A" is not a language of the model', folder,
                     "Hello", "--target-language", "A")
        self.refused("a source without tokens", self.generate_program, "the text has no tokens", folder, "")
        (folder / "config.json").write_bytes(files["t5-gated/config.json"].replace(b'"gelu_new"', b'"mish"'))
        said = self.run(self.generate_program, "-q", folder, "x")
        self.check("an encoder-decoder's settings", said.returncode == 1 and not said.stdout
                   and b'dense_act_fn is "mish"' in said.stderr, said)

    def generation_settings(self, data):
        """generation_config.json for options that are not given, and the language that a translator writes"""
        files = packed(data / "lm.dwpack")
        own = {"config.json": files["tiny-gpt2/config.json"], "model.safetensors": files["tiny-gpt2/model.safetensors"],
               "tokenizer.json": json.dumps(tokenizer_of_signs()).encode()}
        program, folder = self.generate_program, self.folder("defaults", own)
        greedy = self.run(program, folder, "Hello", "-n", "20", "--temp", "0", "-q").stdout

        def told(settings, *more):
            (folder / "generation_config.json").write_text(json.dumps(settings))
            return self.run(program, folder, "Hello", *more)

        result = told({"do_sample": False, "max_new_tokens": 20, "temperature": 0.6, "top_k": 20})
        self.check("the defaults of a model", result.stdout == greedy
                   and b"generation_config.json: --temp 0, --top-k 20, -n 20" in result.stderr, result)
        result = told({"do_sample": True, "temperature": 5.0, "max_new_tokens": 3}, "-n", "20", "--temp", "0")
        self.check("options before the defaults of a model", result.stdout == greedy
                   and b"generation_config.json" not in result.stderr, result)
        result = told({"do_sample": False, "max_length": 9}, "-q")
        self.check("a length with the prompt", result.stdout == greedy[:9] + b"\n", result)
        told_line = told({"do_sample": False, "max_length": 9, "suppress_tokens": [1, 2], "bad_words_ids": [[3], [4, 5]],
                          "begin_suppress_tokens": [6], "min_length": 3, "num_beams": 4, "forced_bos_token_id": 7}).stderr
        self.check("what is taken of generation_config.json, and what is not",
                   b"generation_config.json: --temp 0, max_length 9, suppressed tokens: 3, suppressed first tokens: 1\n" in told_line
                   and b"not used: min_length, num_beams, forced_bos_token_id, lists of several tokens in bad_words_ids\n"
                   in told_line, told_line)
        result = told({"do_sample": False, "max_length": 9}, "-q", "-n", "20")
        self.check("-n before a length with the prompt", result.stdout == greedy, result)
        self.refused("no room in max_length", program, "the text has 10 tokens, max_length of generation_config.json is 9", folder,
                     "0123456789")
        first = SIGNS.index(greedy.decode()[5])
        result = told({"do_sample": False, "bad_words_ids": [[first]]}, "-n", "20", "-q")
        self.check("a token of bad_words_ids", len(result.stdout) == 26 and greedy[5:6] not in result.stdout[5:], result)
        result = told({"do_sample": False, "suppress_tokens": [first, 5000]}, "-n", "20", "-q")
        self.check("a suppressed token", len(result.stdout) == 26 and greedy[5:6] not in result.stdout[5:], result)
        result = told({"do_sample": False, "begin_suppress_tokens": [first]}, "-n", "20", "-q")
        self.check("a token that is not first", len(result.stdout) == 26 and greedy[5] != result.stdout[5], result)
        result = told({"top_p": 2, "eos_token_id": "x"}, "-q")
        self.check("invalid defaults", result.returncode == 1 and not result.stdout and b"top_p is above 1" in result.stderr
                   and b'eos_token_id is "x"' in result.stderr, result)
        (folder / "generation_config.json").unlink()
        config = {**json.loads(own["config.json"]), "max_length": 9, "min_length": 3, "top_k": 50, "num_beams": 4}
        (folder / "config.json").write_text(json.dumps(config))
        result = self.run(program, folder, "Hello", "--temp", "0")
        self.check("settings in config.json", result.stdout == greedy[:9] + b"\n" and b"\nconfig.json: max_length 9\n" in b"\n" + result.stderr
                   and b"\nconfig.json: not used: min_length, num_beams\n" in result.stderr, result)
        self.refused("no room in max_length of config.json", program, "the text has 10 tokens, max_length of config.json is 9", folder,
                     "0123456789")
        (folder / "config.json").write_bytes(own["config.json"])
        self.refused("a language of a decoder", program, '"de" is not a language of the model', folder, "x", "--target-language", "de")
        files = packed(data / "encoder_decoders.dwpack")
        for model, code, language in (("m2m_100", "__de__", "de"), ("mbart", "de_DE", "de_DE")):
            words = {"Ġ" if i == 0 else sign: i for i, sign in enumerate(SIGNS[:37])} | {
                "de": 37, "<s>": 38, "<pad>": 39, "</s>": 40, "<unk>": 41, code: 42, "en_XX": 43}
            config = json.loads(files[f"{model}/config.json"])
            config.pop("bad_words_ids", None)
            config["decoder_start_token_id"] = 43 if model == "mbart" else 40
            tokenizer = tokenizer_of_signs()
            tokenizer["model"]["vocab"] = words
            tokenizer["added_tokens"] = [{"id": i, "content": w, "special": True} for w, i in words.items() if i >= 38]
            folder = self.folder(model, {"config.json": json.dumps(config).encode(),
                                         "model.safetensors": files[f"{model}/model.safetensors"],
                                         "tokenizer.json": json.dumps(tokenizer).encode()})
            asked = ("-n", "24", "--temp", "0", "--ignore-eos", "-q", "--", "ABC")
            without = self.run(program, folder, *asked)
            # The option, and the same tokens by the settings of the folder.
            by_option = self.run(program, folder, "--target-language", language, *asked)
            end = words["Ġ" if without.stdout[:1] == b" " else without.stdout[:1].decode()]
            (folder / "generation_config.json").write_text(json.dumps({"eos_token_id": end, "bad_words_ids": [[end]]}))
            ended = self.run(program, folder, "--temp", "0", "-q", "--", "ABC")
            self.check(f"an end of {model} in bad_words_ids", ended.returncode == 0 and ended.stdout == b"\n", ended)
            key = "decoder_start_token_id" if model == "mbart" else "forced_bos_token_id"
            (folder / "generation_config.json").write_text(json.dumps({key: 42}))
            by_setting = self.run(program, folder, *asked)
            self.check(f"the language of {model}", by_option.returncode == 0 and len(by_option.stdout) > 1
                       and by_option.stdout == by_setting.stdout != without.stdout, (by_option, by_setting, without))
            self.refused(f"a language that {model} lacks", program, '"xx" is not a language of the model', folder, "!",
                         "--target-language", "xx")
            if model == "mbart":
                self.refused("an ordinary token as a language", program, '"de" is not a language of the model', folder, "!",
                             "--target-language", "de")
                # Without decoder_start_token_id, the language is the only first token as well.
                config.pop("decoder_start_token_id")
                config["bos_token_id"] = 38
                (folder / "config.json").write_text(json.dumps(config))
                (folder / "generation_config.json").unlink()
                again = self.run(program, folder, "--target-language", language, *asked)
                self.check("the language of mBART without a first token", again.stdout == by_option.stdout, (again, by_option))
            else:
                self.refused("first tokens beyond the context", program, "the text begins with 2 tokens, the context 1", folder, "!",
                             "-c", "1", "--target-language", "de")
                (folder / "generation_config.json").write_text('{"max_length": 1}')
                self.refused("no room in max_length of an encoder-decoder", program,
                             "the text begins with 1 tokens, max_length of generation_config.json is 1", folder, "!")
                (folder / "generation_config.json").write_text('{"forced_bos_token_id": 99}')
                wrong = self.run(program, "-q", folder, "!")
                self.check("a first token outside the vocabulary", wrong.returncode == 1
                           and b"generation_config.json: forced_bos_token_id is 99, the vocabulary has 44 tokens" in wrong.stderr, wrong)
                (folder / "generation_config.json").unlink()

    def inspection(self, data):
        """the dimensions of a folder by name, and why it would be rejected"""
        files = packed(data / "lm.dwpack")
        own = {"config.json": files["tiny-llama/config.json"], "model.safetensors": files["tiny-llama/model.safetensors"],
               "tokenizer.json": json.dumps(tokenizer_of_signs()).encode()}
        folder = self.folder("inspected", own)
        result = self.run(self.inspect_program, folder)
        text = result.stdout.decode()
        self.check("an inspected folder", result.returncode == 0 and not result.stderr and text.startswith("LLaMA (llama), a decoder\n")
                   and text.endswith("\nread: yes\n") and "vocab[96] d_embedding[" in text and "model.layers.{0…1}." in text
                   and "rms_norm_eps" in text and len(text.splitlines()) < 45, text)
        every = self.run(self.inspect_program, "--all", folder).stdout.decode()
        self.check("every array", "model.layers.1.self_attn.q_proj.weight " in every and len(every) > len(text), every)
        alone = self.run(self.inspect_program, folder / "model.safetensors")
        self.check("an inspected file", alone.returncode == 0 and b"no known architecture" in alone.stdout
                   and b"read:" not in alone.stdout, alone)
        config = json.loads(own["config.json"])
        (folder / "tokenizer.json").unlink()
        for name, change, expected in (("an activation", {"hidden_act": "mish"}, 'hidden_act is "mish"'),
                                       ("a model type", {"model_type": "mamba"}, 'model_type is "mamba"'),
                                       ("no tokenizer", {}, "tokenizer.json, or vocab.json")):
            (folder / "config.json").write_text(json.dumps({**config, **change}))
            result = self.run(self.inspect_program, folder)
            self.check(f"an inspected folder with {name}", result.returncode == 1 and not result.stderr
                       and expected in result.stdout.decode().split("read: no\n")[-1], result)
        self.refused("an inspected file that is not a model", self.inspect_program, "config.json", folder / "config.json")
        self.refused("nothing to inspect", self.inspect_program, "there is no such folder or file", folder / "none")

    def bar(self, folder, text):
        """work of more than a second shows a bar on a terminal, and only there"""
        many, count, seconds, bars = self.place / "many.txt", 8000, 0.0, []
        while len(bars) < 2 and seconds < 30:  # a machine that others use may be slow once and fast the next time
            count *= 2
            many.write_text(f"{text}\n" * count, encoding="utf-8")
            begin = time.monotonic()
            shown = self.on_terminal(self.embed_program, folder, "--file", many)
            seconds = time.monotonic() - begin
            bars = re.findall(rb"\r\x1b\[K[^\r]*\[#+ *\] +\d+ %, \d+ s left", shown)
        self.check("a bar on a terminal", len(bars) > 1, shown)
        result = self.run(self.embed_program, folder, "--file", many)
        self.check("no bar without a terminal", result.returncode == 0 and b"\x1b" not in result.stderr and b"\r" not in result.stderr, result.stderr)
        self.check("the bar goes away", bars and shown.split(bars[-1])[-1].startswith(b"\r\x1b[K"), shown)
        quiet = self.on_terminal(self.embed_program, "-q", folder, "--file", many)
        self.check("no bar with -q", quiet == b"", quiet)

    def embedding(self, data):
        files = packed(data / "bert.dwpack")
        manifest = json.loads(data.joinpath("bert.dwpack").read_bytes()[16:].split(b',"arrays":')[0] + b"}")
        texts = manifest["manifest"]["models"][0]["texts"]
        names = ("config.json", "model.safetensors", "tokenizer.json")
        own = {n: files[f"tiny-bert/{n}"] for n in names}
        folder = self.folder("bert", own)
        golden = arrays(files["tiny-bert/golden.safetensors"])
        result = self.run(self.embed_program, folder, *texts)
        found = [[float(x) for x in line.split()[:len(texts)]] for line in result.stdout.decode().splitlines()]
        expected = golden["cosines"][1]
        self.check("cosines", len(found) == len(texts) and all(
            abs(x - e) < 1e-4 for x, e in zip([x for row in found for x in row], expected)), result)
        for threads in ("1", "2"):
            vector = [float(x) for x in self.run(self.embed_program, folder, texts[0], "-t", threads).stdout.split()]
            mean = golden["text.0.mean"][1]
            size = sum(x * x for x in mean) ** 0.5
            self.check("a vector", len(vector) == 24 and all(abs(v - m / size) < 1e-5 for v, m in zip(vector, mean)), vector)
        sentences = self.place / "sentences.txt"
        sentences.write_text("\n".join(texts) + "\n\n", encoding="utf-8")
        near = self.run(self.embed_program, folder, texts[0], "--file", sentences, "-k", "2").stdout.decode().splitlines()
        order = sorted(range(len(texts)), key=lambda i: -expected[i])[:2]
        self.check("the nearest lines", [line[8:].strip() for line in near] == [texts[i] for i in order], near)
        self.not_written("cosines", self.embed_program, folder, *texts)
        (folder / "1_Pooling").mkdir()
        (folder / "1_Pooling/config.json").write_text(json.dumps({"pooling_mode_cls_token": True}))
        first = self.run(self.embed_program, folder, texts[0])
        vector = [float(x) for x in first.stdout.split()]
        size = sum(x * x for x in golden["text.0.first"][1]) ** 0.5
        self.check("the pooling of the folder", vector and all(
            abs(v - m / size) < 1e-5 for v, m in zip(vector, golden["text.0.first"][1])), first)
        (folder / "1_Pooling/config.json").write_text(json.dumps({"pooling_mode_max_tokens": True}))
        most = self.run(self.embed_program, folder, texts[0])
        self.check("the maximum of the tokens", b"maximum of the tokens" in most.stderr and most.stdout != first.stdout, most)
        (folder / "1_Pooling/config.json").write_text(json.dumps({"pooling_mode_max_tokens": True, "pooling_mode_lasttoken": True}))
        self.refused("two poolings", self.embed_program, "it concatenates 2 poolings", folder, "x")
        (folder / "1_Pooling/config.json").write_text(json.dumps({"pooling_mode_mean_tokens": True, "word_embedding_dimension": 32}))
        self.refused("a pooling of other features", self.embed_program, "word_embedding_dimension is 32, but hidden_size is 24", folder, "x")
        (folder / "1_Pooling/config.json").unlink()
        (folder / "1_Pooling").rmdir()
        self.sentence_transformers(folder, texts[0], golden)
        self.refused("too long a text, embedded", self.embed_program, "text 2 has 42 tokens, the model takes 32", folder, "the", "the " * 40)
        self.refused("a language model", self.embed_program, 'model_type is "gpt2"; the encoders that are read are bert, ', self.place / "tiny-gpt2", "x")
        self.refused("a folder of sentences", self.embed_program, f"{self.place}: cannot be read", folder, "x",
                     "-f", self.place)
        self.refused("sentences without a name", self.embed_program, "the name of a file was expected", folder, "x",
                     "-f", "")
        both = self.run(self.embed_program, folder, "x", "--vectors", "--file", sentences)
        self.check("vectors of a file", both.returncode > 100 and not both.stdout and b"excludes" in both.stderr, both)
        for k in ("0", "-1"):
            few = self.run(self.embed_program, folder, "x", "--file", sentences, "-k", k)
            self.check(f"-k {k}", few.returncode > 100 and f"--nearest: {k} is not a".encode() in few.stderr, few)
        alone = self.run(self.embed_program, folder, "x", "-k", "2")
        self.check("-k without --file", alone.returncode > 100 and b"--file" in alone.stderr, alone)
        self.refused("no UTF-8, embedded", self.embed_program, "text 2 is not UTF-8 at byte 1", folder, "x", b"x\xc3")
        (self.place / "blank.txt").write_text(" \n\t\n")
        self.bar(folder, "the")
        self.refused("lines of spaces", self.embed_program, "has no line with text", folder, "x", "-f",
                     self.place / "blank.txt")
        self.refused("no file of sentences", self.embed_program, "none.txt: cannot be read", folder, "x", "-f",
                     self.place / "none.txt")

    def adapters(self, data):
        """adapters of tasks: of all texts, and another one of the ranked texts"""
        files = packed(data / "jina.dwpack")
        words = ["<unk>", "<pad>", "<s>", "</s>", *"ABCDEFGHIJKLMNOPQRSTUVWXYZ"]
        tasks = {"retrieval.query": "A B ", "retrieval.passage": "C ", "text-matching": ""}
        module = "sentence_transformers.models."
        folder = self.folder("adapters", {
            "config.json": files["jina/config.json"], "model.safetensors": files["jina/model.safetensors"],
            "tokenizer.json": json.dumps(tokenizer_of_words(words)).encode(),
            "modules.json": json.dumps([{"path": "", "type": "custom_st.Transformer"}, {"path": "1_Pooling", "type": module + "Pooling"},
                                        {"path": "2_Normalize", "type": module + "Normalize"}]).encode(),
            "config_sentence_transformers.json": json.dumps({"prompts": tasks}).encode()})
        (folder / "1_Pooling").mkdir()
        (folder / "1_Pooling/config.json").write_text('{"pooling_mode_mean_tokens": true}')
        told = {name: self.run(self.embed_program, folder, "-q", "--vectors", *said, "D E F", "A G H") for name, said in
                {"none": (), **{task: ("--adapter", task) for task in tasks},
                 "prompt": ("--adapter", "retrieval.query", "--no-prompt")}.items()}
        self.check("vectors of each adapter", all(one.returncode == 0 for one in told.values())
                   and len({one.stdout for one in told.values()}) == len(told), told)
        vectors = {name: [[float(x) for x in line.split()] for line in one.stdout.splitlines()] for name, one in told.items()}
        ranked = self.run(self.embed_program, "rank", folder, "-q", "--adapter", "retrieval.query", "--text-adapter", "retrieval.passage",
                          "D E F", "A G H", "D E F")
        found = {line[8:].strip().decode(): float(line[:8]) for line in ranked.stdout.splitlines()}
        query, passages = vectors["retrieval.query"][0], vectors["retrieval.passage"]
        self.check("the adapters of a query and of texts", len(found) == 2 and all(
            abs(found[text] - sum(a * b for a, b in zip(query, passages[i]))) < 1e-4 for i, text in enumerate(("D E F", "A G H"))), ranked)
        self.refused("an unknown adapter", self.embed_program, 'there is no adapter "query"; there are retrieval.query, ', folder, "D E F",
                     "--adapter", "query")
        self.refused("an adapter of a model without one", self.embed_program, 'there is no adapter "x"', self.place / "bert", "D E F", "--adapter", "x")

    def encoders(self, data):
        """encoders of every family: vectors, labels of texts and tokens, masked tokens, and texts ranked for a query"""
        files = packed(data / "architectures_encoders.dwpack")
        made = {}
        for name in sorted({path.split("/")[0] for path in files}):
            own = {file: files[f"{name}/{file}"] for file in ("config.json", "model.safetensors")}
            golden = arrays(files[f"{name}/golden.safetensors"])
            ids = golden["text.1.input_ids"][1]
            words = [f"w{i}" for i in range(json.loads(own["config.json"])["vocab_size"])]
            words[ids[3]] = "<mask>"
            folder = self.folder(f"encoder-{name}", own, tokenizer__json=json.dumps(tokenizer_of_words(words)).encode())
            made[name] = folder, golden, words
            # The program gives a text alone the type 0.
            of_one = [k for k in range(3) if not any(golden.get(f"text.{k}.token_type_ids", ([], []))[1])]
            if not of_one:
                continue
            k = of_one[-1]
            hidden = rows_of(golden[f"text.{k}.last_hidden_f64"])
            mean = [sum(column) / len(hidden) for column in zip(*hidden)]
            size = sum(x * x for x in mean) ** 0.5
            text = " ".join(words[i] for i in golden[f"text.{k}.input_ids"][1])
            found = [float(x) for x in self.run(self.embed_program, "-q", folder, text).stdout.split()]
            self.check(f"a vector of {name}", close(found, [x / size for x in mean], 1e-4), found)
        self.ranked(*made["bert-cross-encoder"])
        self.many_lines(*made["mpnet"])
        self.labelled(*made["distilbert-seqcls"])
        self.masked(*made["roberta"])
        self.refused("labels of a model without them", self.classify_program, "architectures names no class",
                     made["mpnet"][0], "w5")
        self.refused("labels of a language model", self.classify_program, 'model_type is "gpt2"',
                     self.folder("gpt2-labels", {"config.json": json.dumps(
                         {"model_type": "gpt2", "architectures": ["GPT2ForTokenClassification"]}).encode()}), "x")
        config = json.loads((made["albert"][0] / "config.json").read_text())
        (made["albert"][0] / "config.json").write_text(json.dumps({**config, "position_embedding_type": "relative_key"}))
        result = self.run(self.embed_program, "-q", made["albert"][0], "w5")
        self.check("a setting that is not computed", result.returncode == 1 and not result.stdout
                   and b'position_embedding_type is "relative_key"' in result.stderr, result)

    def ranked(self, folder, golden, words):
        pairs = []
        for k in (1, 2):
            ids, types = golden[f"text.{k}.input_ids"][1], golden[f"text.{k}.token_type_ids"][1]
            query, text = (" ".join(words[i] for i, t in zip(ids, types) if t == part) for part in (0, 1))
            pairs.append((query, text, golden[f"text.{k}.scores_f64"][1][0]))
        for query, text, score in pairs:
            texts = [text, "w7 w8 w9", "w10"]
            result = self.run(self.embed_program, "rank", "-q", folder, query, *texts, "--json")
            lines = [json.loads(line) for line in result.stdout.splitlines()]
            self.check("the score of a pair", [l["score"] for l in lines if l["text"] == text and abs(l["score"] - score) < 1e-4]
                       and len(lines) == 3 and sorted((l["score"] for l in lines), reverse=True) == [l["score"] for l in lines], result)
            shown = self.run(self.embed_program, "rank", "-q", folder, query, "-f", "-", "-k", "2", given="\n".join(texts).encode())
            self.check("ranked lines", [line[10:] for line in shown.stdout.decode().splitlines()] == [l["text"] for l in lines[:2]], shown)
        for arguments in ((), ("x",)):
            few = self.run(self.embed_program, "rank", folder, *arguments)
            self.check("rank without texts", few.returncode > 100 and not few.stdout and b"a query, and texts or --file" in few.stderr, few)
        long = self.run(self.embed_program, "rank", "-q", folder, "w5 " * 20, "w6 " * 21)
        self.check("too long a pair", long.returncode == 1 and not long.stdout
                   and b"text 1 and the query have 41 tokens, the model takes 40" in long.stderr, long)
        (folder / "tokenizer_config.json").write_text(json.dumps({"model_max_length": 40}))
        long, short = (self.run(self.embed_program, "rank", folder, "w5 " * 20, "w6 " * n, "--json") for n in (99, 20))
        self.check("a pair that is truncated", json.loads(long.stdout)["score"] == json.loads(short.stdout)["score"]
                   and b"1 of the texts were truncated to 40 tokens" in long.stderr, long)

    def many_lines(self, folder, golden, words):
        texts = [" ".join(words[(7 * i + j) % 40 + 5] for j in range(i % 9 + 1)) for i in range(60)]
        numbers = [[float(x) for x in self.run(self.embed_program, "-q", folder, text).stdout.split()] for text in texts[:12]]
        given = "\r\n".join(texts).encode()
        lines = self.run(self.embed_program, "-q", folder, "--file", "-", "--json", given=given).stdout.splitlines()
        found = [json.loads(line) for line in lines]
        self.check("vectors of lines as JSON", [f["text"] for f in found] == texts and all(
            close(f["vector"], n, 1e-5) for f, n in zip(found, numbers)), lines[:2])
        npy = self.place / "vectors.npy"
        result = self.run(self.embed_program, "-q", folder, "--file", "-", "--npy", npy, given=given)
        body = npy.read_bytes()
        stored = struct.unpack("<1920f", body[-7680:])
        self.check("vectors as an array of NumPy", not result.stdout and b"(60, 32)" in body[:128]
                   and all(close(stored[32 * i:32 * i + 32], f["vector"], 1e-6) for i, f in enumerate(found)), result)
        near = self.run(self.embed_program, "rank", "-q", folder, texts[3], *texts[:6], "-k", "1").stdout.decode()
        self.check("ranked by vectors", near == f"  1.0000  {texts[3]}\n", near)
        for arguments in (("--npy", npy, "--json", "x"), ()):
            wrong = self.run(self.embed_program, folder, *arguments)
            self.check("options that exclude each other, or none", wrong.returncode > 100 and not wrong.stdout, wrong)
        self.refused("no lines", self.embed_program, "standard input: has no line with text", folder, "-f", "-")

    def labelled(self, folder, golden, words):
        texts = [" ".join(words[i] for i in golden[f"text.{k}.input_ids"][1]) for k in range(3)]
        expected = [softmax(golden[f"text.{k}.scores_f64"][1]) for k in range(3)]
        result = self.run(self.classify_program, "-q", folder, *texts, "--json", "-k", "2")
        lines = [json.loads(line) for line in result.stdout.splitlines()]
        names = ("NEGATIVE", "POSITIVE")
        self.check("labels of texts", [l["text"] for l in lines] == texts and all(
            abs(one["probability"] - e[names.index(one["label"])]) < 1e-5 and l["labels"][0] is not None
            for l, e in zip(lines, expected) for one in l["labels"]) and all(len(l["labels"]) == 2 for l in lines), result)
        shown = self.run(self.classify_program, "-q", folder, texts[1]).stdout.decode()
        best = max(expected[1])
        self.check("the likeliest label", shown == f"{best:8.4f}  {names[expected[1].index(best)]}  {texts[1]}\n", shown)
        self.not_written("labels", self.classify_program, folder, *texts)
        weights = floats((folder / "model.safetensors").read_bytes())
        config = json.loads((folder / "config.json").read_text())
        raw = golden["text.1.scores_f64"][1]
        for problem, key, numbers in (("regression", "value", raw),
                                      ("multi_label_classification", "probability", [1 / (1 + math.exp(-x)) for x in raw])):
            (folder / "config.json").write_text(json.dumps({**config, "problem_type": problem}))
            result = self.run(self.classify_program, "-q", folder, texts[1], "--json", "-k", "2")
            found = json.loads(result.stdout)["labels"]
            self.check(f"labels of a {problem}", [f["label"] for f in found] == sorted(names, key=lambda n: -raw[names.index(n)]) and all(
                abs(f.get(key, math.inf) - numbers[names.index(f["label"])]) < 1e-5 and len(f) == 2 for f in found), result)
        # The problem decides on labels of texts alone.
        hidden = rows_of(golden["text.1.last_hidden_f64"])
        of_tokens = [softmax(product(weights, "classifier", h)) for h in hidden]
        for problem in (None, "regression", "multi_label_classification"):
            (folder / "config.json").write_text(json.dumps({**config, "architectures": ["DistilBertForTokenClassification"],
                                                            "problem_type": problem}))
            found = json.loads(self.run(self.classify_program, "-q", folder, texts[1], "--json").stdout)["tokens"]
            self.check(f"labels of tokens, {problem}", len(found) == len(hidden) and all(
                abs(f["probability"] - max(e)) < 1e-5 and f["label"] == names[e.index(max(e))] for f, e in zip(found, of_tokens)), found)

    def masked(self, folder, golden, words):
        ids = golden["text.1.input_ids"][1]
        weights = floats((folder / "model.safetensors").read_bytes())
        expected = []
        for i, hidden in zip(ids, rows_of(golden["text.1.last_hidden_f64"])):
            if i != ids[3]:
                continue
            h = [x * (1 + math.erf(x / 2 ** 0.5)) / 2 for x in product(weights, "lm_head.dense", hidden)]
            mean = sum(h) / len(h)
            size = (sum((x - mean) ** 2 for x in h) / len(h) + 1e-5) ** 0.5
            gamma, beta = weights["lm_head.layer_norm.weight"][1], weights["lm_head.layer_norm.bias"][1]
            h = [(x - mean) / size * g + b for x, g, b in zip(h, gamma, beta)]
            table = rows_of(weights["roberta.embeddings.word_embeddings.weight"])
            expected.append(softmax([sum(a * b for a, b in zip(row, h)) + c for row, c in zip(table, weights["lm_head.bias"][1])]))
        text = " ".join(words[i] for i in ids)
        found = json.loads(self.run(self.classify_program, "-q", folder, text, "--json", "-k", "80").stdout)["tokens"]
        self.check("tokens of masks", len(found) == 80 * len(expected) and all(
            abs(f["probability"] - expected[n // 80][words.index(f["label"])]) < 1e-5 for n, f in enumerate(found)), found[:3])
        self.refused("a text without a mask", self.classify_program, "text 1 has no <mask>", folder, "w5")

    def sentence_transformers(self, folder, text, golden):
        """modules.json decides; texts are lower-cased, begun with a prompt and truncated as the folder says"""
        def vector(*arguments):
            result = self.run(self.embed_program, "-q", folder, *arguments)
            self.check("a vector is printed", result.stdout and not result.stderr, result)
            return [float(x) for x in result.stdout.split()]

        def same(name, found, expected):
            self.check(name, len(found) == len(expected) and all(abs(x - e) < 1e-5 for x, e in zip(found, expected)), found)

        def put(name, settings):
            (folder / name).parent.mkdir(exist_ok=True)
            (folder / name).write_text(json.dumps(settings))

        pooled = {}
        for how in ("mean", "first"):
            size = sum(x * x for x in golden[f"text.0.{how}"][1]) ** 0.5
            pooled[how] = [x / size for x in golden[f"text.0.{how}"][1]]
        modules = [{"idx": i, "path": path, "type": "sentence_transformers.models." + name} for i, (path, name) in enumerate(
            (("", "Transformer"), ("2_Pooling", "Pooling"), ("3_Normalize", "Normalize"), ("4_LSTM", "LSTM")))]
        put("modules.json", modules[:3])
        put("1_Pooling/config.json", {"pooling_mode_mean_tokens": True})  # stale
        self.refused("a pooling that is listed and missing", self.embed_program,
                     "modules.json: it lists the module Pooling, and", folder, "x")
        put("2_Pooling/config.json", {"pooling_mode": "cls", "embedding_dimension": 24})
        same("the pooling that modules.json lists", vector(text), pooled["first"])
        put("2_Pooling/config.json", {"pooling_mode": "mean", "embedding_dimension": 24})
        same("modules that are known", vector(text), pooled["mean"])
        put("modules.json", modules)
        self.refused("a module that is not known", self.embed_program,
                     'a module is "sentence_transformers.models.LSTM", Transformer, Pooling, StaticEmbedding, Dense or Normalize was expected',
                     folder, "x")
        put("modules.json", modules[:2])

        put("sentence_bert_config.json", {"max_seq_length": 6, "do_lower_case": False})
        short, long = vector("a b c d"), vector("a b c d e f g")  # four tokens between [CLS] and [SEP]
        same("a text that is truncated", long, short)
        told = self.run(self.embed_program, folder, "a b c d e f g")
        self.check("a truncation is noted", b"1 of the texts were truncated to 6 tokens" in told.stderr, told)
        self.refused("a text that is not truncated", self.embed_program, "text 1 has 9 tokens, the model takes 6", folder,
                     "a b c d e f g", "--no-truncation")
        (folder / "sentence_bert_config.json").unlink()

        prompts = {"query": "the quick ", "none": ""}
        put("config_sentence_transformers.json", {"prompts": prompts, "default_prompt_name": "query"})
        begun = vector("the quick brown fox", "--no-prompt")
        same("the default prompt", vector("brown fox"), begun)
        same("a prompt by its name", vector("brown fox", "--prompt", "query"), begun)
        same("an empty prompt", vector("the quick brown fox", "--prompt", "none"), begun)
        self.refused("an unknown prompt", self.embed_program, "there is no prompt x; there are none, query", folder, "x",
                     "--prompt", "x")
        put("2_Pooling/config.json", {"pooling_mode": "mean", "include_prompt": False})
        without = vector("brown fox")
        self.check("a prompt that is not pooled", len(without) == 24 and max(abs(x - e) for x, e in zip(without, begun)) > 1e-3, without)
        same("no prompt, which is not pooled", vector("brown fox", "--no-prompt"), vector("brown fox", "--prompt", "none"))
        put("2_Pooling/config.json", {"pooling_mode": "mean"})
        (folder / "config_sentence_transformers.json").unlink()

        tokenizer = (folder / "tokenizer.json").read_text(encoding="utf-8")
        cased = json.loads(tokenizer)
        cased["normalizer"]["lowercase"] = False
        put("tokenizer.json", cased)
        lower = vector("the quick brown fox")
        self.check("a tokenizer with capitals", vector("The QUICK brown fox") != lower, lower)
        put("sentence_bert_config.json", {"do_lower_case": True})
        same("do_lower_case", vector("The QUICK brown fox"), lower)
        (folder / "tokenizer.json").write_text(tokenizer, encoding="utf-8")
        for name in ("modules.json", "sentence_bert_config.json", "1_Pooling/config.json", "2_Pooling/config.json"):
            (folder / name).unlink()
        for name in ("1_Pooling", "2_Pooling"):
            (folder / name).rmdir()

    def sentences(self, data):
        """Dense and Normalize in any order, static embeddings, similarities, prompts of a query and of texts, truncated vectors"""
        files = packed(data / "sentences.dwpack")
        manifest = json.loads(data.joinpath("sentences.dwpack").read_bytes()[16:].split(b',"arrays":')[0] + b"}")["manifest"]
        for case in manifest["cases"]:
            name = case["name"]
            for path in (path for path in files if path.startswith(name + "/")):
                place = self.place / "sentences" / path
                place.parent.mkdir(parents=True, exist_ok=True)
                place.write_bytes(files[path])
            folder = self.place / "sentences" / name
            golden = arrays(files[f"{name}/golden.safetensors"])
            expected = [golden[f"text.{k}.vector"][1] for k in range(len(case["texts"]))]
            kept = 12 if name == "two-dense" else len(expected[0])
            result = self.run(self.embed_program, folder, *case["texts"], "--vectors")
            found = [[float(x) for x in line.split()] for line in result.stdout.decode().splitlines()]
            self.check(f"vectors of {name}", len(found) == len(expected) and all(
                close(f, e[:kept], 2e-5) for f, e in zip(found, expected)), result)
            self.check(f"texts that are truncated by {name}", (b"2 of the texts were truncated\n" in result.stderr)
                       == name.startswith("model2vec"), result.stderr)
            inspected = self.run(self.inspect_program, folder)
            self.check(f"{name}, inspected", inspected.returncode == 0 and inspected.stdout.endswith(b"\nread: yes\n"), inspected)
        self.compared(manifest)
        folder = self.place / "sentences"
        long = "person day " * 200
        self.refused("a long text of Model2Vec", self.embed_program, "text 2 is longer than the model reads: 512 tokens", folder / "model2vec",
                     "a", long, "--no-truncation")
        whole = self.run(self.embed_program, "-q", folder / "static-embedding", long, "--no-truncation")
        self.check("a long text of a StaticEmbedding", whole.returncode == 0 and len(whole.stdout.split()) == 10, whole)
        pairs = self.run(self.embed_program, "-q", folder / "model2vec", "a", "").stdout.decode().split()
        self.check("the cosine of a text without tokens", pairs[:2] == ["1.0000", "0.0000"], pairs)
        (folder / "model2vec/tokenizer.json").unlink()
        missing = self.run(self.inspect_program, folder / "model2vec")
        self.check("a static embedding without a tokenizer", missing.returncode == 1 and b"tokenizer.json, or" in missing.stdout, missing)

    def decoders(self, data):
        """a decoder as the Transformer: the features of the last token, whose products with the embedding are its logits"""
        files = packed(data / "architectures_decoders.dwpack")
        for name in ("qwen2", "qwen3"):
            own = {file: files[f"{name}/{file}"] for file in ("config.json", "model.safetensors")}
            golden, config = arrays(files[f"{name}/golden.safetensors"]), json.loads(own["config.json"])
            words = [f"w{i}" for i in range(config["vocab_size"])]
            folder = self.folder(f"sentences-{name}", own, tokenizer__json=json.dumps(tokenizer_of_words(words)).encode())
            modules = [{"path": path, "type": "sentence_transformers.models." + kind} for path, kind in (
                ("", "Transformer"), ("1_Pooling", "Pooling"), ("2_Normalize", "Normalize"))]
            (folder / "1_Pooling").mkdir()
            (folder / "1_Pooling/config.json").write_text(json.dumps({"pooling_mode_lasttoken": True}))
            table = next(rows_of(a) for n, a in floats(own["model.safetensors"]).items() if n.endswith("embed_tokens.weight"))
            for k in range(2):
                ids = golden[f"prompt.{k}.input_ids"][1]
                (folder / "modules.json").write_text(json.dumps(modules[:2]))
                text = " ".join(words[i] for i in ids)
                result = self.run(self.embed_program, folder, text, "--json")
                vector = json.loads(result.stdout)["vector"] if result.returncode == 0 else []
                logits = [sum(a * b for a, b in zip(row, vector)) for row in table]
                self.check(f"the last token of {name}", b"decoder, " in result.stderr and close(
                    logits, rows_of(golden[f"prompt.{k}.logits_f64"])[-1], 1e-4), result)
                (folder / "modules.json").write_text(json.dumps(modules))
                found = json.loads(self.run(self.embed_program, "-q", folder, text, "--json").stdout)["vector"]
                size = math.hypot(*vector)
                self.check(f"the last token of {name}, normalized", close(found, [x / size for x in vector], 1e-6), found)
            inspected = self.run(self.inspect_program, folder)
            self.check(f"{name} with modules, inspected", inspected.returncode == 0, inspected)
            for change, told in (
                    ({"use_bidirectional_attention": True}, "use_bidirectional_attention is true, the model's type has false"),
                    ({"auto_map": {"AutoModel": "modeling.Model"}}, "auto_map.AutoModel names code of the folder, which is not read")):
                (folder / "config.json").write_text(json.dumps({**config, **change}))
                refused, inspected = self.run(self.embed_program, folder, "w1"), self.run(self.inspect_program, folder)
                self.check(f"{name} with {change}", refused.returncode == 1 and told.encode() in refused.stderr, refused)
                self.check(f"{name} with {change}, inspected", inspected.returncode == 1 and told.encode() in inspected.stdout, inspected)

    def bidirectional(self, data):
        """decoders without the causal mask: vectors with and without a prompt, and no text"""
        files = packed(data / "bidirectional.dwpack")
        question = "which planet is the red planet"
        for name in ("embeddinggemma", "qwen2-not-causal"):
            for path in (path for path in files if path.startswith(name + "/")):
                place = self.place / "bidirectional" / path
                place.parent.mkdir(parents=True, exist_ok=True)
                place.write_bytes(files[path])
            folder, golden = self.place / "bidirectional" / name, arrays(files[f"{name}/golden.safetensors"])
            result = self.run(self.embed_program, folder, question, "mars", "--vectors")
            found = [[float(x) for x in line.split()] for line in result.stdout.decode().splitlines()]
            self.check(f"vectors of {name}", b"bidirectional decoder, 3 layers" in result.stderr and len(found) == 2 and all(
                close(f, golden[f"text.{k}.vector"][1], 2e-5) for f, k in zip(found, (0, 3))), result)
            inspected = self.run(self.inspect_program, folder)
            self.check(f"{name}, inspected", inspected.returncode == 0 and b"a decoder with bidirectional attention" in inspected.stdout
                       and inspected.stdout.endswith(b"\nread: yes\n"), inspected)
            self.refused(f"text of {name}", self.generate_program, "the attention of the model is bidirectional, so it writes no text; "
                         "dimwise-embed reads it", folder, "a")
        folder, golden = self.place / "bidirectional/embeddinggemma", arrays(files["embeddinggemma/golden.safetensors"])
        found = self.run(self.embed_program, "-q", folder, question, "--prompt", "query").stdout.split()
        self.check("the prompt of EmbeddingGemma", close([float(x) for x in found], golden["text.1.vector"][1], 2e-5), found)
        document = "venus is called the twin of earth and mars is called the red planet"
        ranked = self.run(self.embed_program, "rank", "-q", folder, question, document, "--json")
        cosine = sum(a * b for a, b in zip(golden["text.1.vector"][1], golden["text.2.vector"][1]))
        self.check("EmbeddingGemma ranks by its prompts", abs(json.loads(ranked.stdout)["score"] - cosine) < 2e-5, ranked)

    def compared(self, manifest):
        """rank by the similarity of the folder: the query and the texts begin with their own prompts"""
        folder, texts = self.place / "sentences/two-dense", manifest["cases"][0]["texts"]
        vector = lambda text: [float(x) for x in self.run(self.embed_program, "-q", folder, text, "--no-prompt").stdout.split()]
        settings = json.loads((folder / "config_sentence_transformers.json").read_text())
        functions = {"dot": lambda a, b: sum(x * y for x, y in zip(a, b)), "cosine": lambda a, b: sum(
            x * y for x, y in zip(a, b)) / math.hypot(*a) / math.hypot(*b), "euclidean": lambda a, b: -math.dist(a, b),
            "manhattan": lambda a, b: -sum(abs(x - y) for x, y in zip(a, b))}
        query, others = vector("a dog"), [vector("the " + text) for text in texts]
        bare = vector("dog"), [vector(text) for text in texts]
        by_passage = [vector("on " + text) for text in texts]
        for name, function in functions.items():
            (folder / "config_sentence_transformers.json").write_text(json.dumps({**settings, "similarity_fn_name": name}))

            def scores(*options):
                lines = self.run(self.embed_program, "rank", "-q", folder, "dog", *texts, "--json", *options).stdout.splitlines()
                found = [json.loads(line) for line in lines]
                ordered = [f["score"] for f in found] == sorted((f["score"] for f in found), reverse=True)
                return [next((f["score"] for f in found if f["text"] == text), math.nan) for text in texts] if ordered else []

            self.check(f"ranked by {name}", close(scores(), [function(query, other) for other in others], 2e-5), scores())
            self.check(f"ranked by {name} without prompts", close(scores("--no-prompt"), [function(bare[0], b) for b in bare[1]], 2e-5))
            self.check(f"ranked by {name} with one prompt", close(scores("--prompt", "query"), [
                function(query, vector("a " + text)) for text in texts], 2e-5))
            self.check(f"all pairs by {name}", close([float(x) for x in self.run(
                self.embed_program, "-q", folder, "dog", texts[0], "--no-prompt").stdout.split()[:2]],
                [function(bare[0], bare[0]), function(bare[0], bare[1][0])], 1e-4))
        (folder / "config_sentence_transformers.json").write_text(json.dumps({**settings, "prompts": {"passage": "on "}}))
        found = json.loads(self.run(self.embed_program, "rank", "-q", folder, "dog", texts[0], "--json").stdout)["score"]
        self.check("the prompt of passages", abs(found - functions["dot"](bare[0], by_passage[0])) < 2e-5, found)
        for count in ("3", "99"):
            few = self.run(self.embed_program, "-q", folder, "dog", "--truncate-dim", count, "--vectors").stdout.split()
            self.check(f"vectors of {count} features", len(few) == min(int(count), 16) and close(
                [float(x) for x in few[:3]], bare[0][:3], 2e-6), few)
        wrong = self.run(self.embed_program, folder, "dog", "--truncate-dim", "0")
        self.check("vectors without features", wrong.returncode > 100 and b"--truncate-dim: 0 is not a" in wrong.stderr, wrong)

    def converted(self, kind, *places):
        tool = pathlib.Path(__file__).resolve().parents[2] / "src/programs/convert_model.py"
        result = subprocess.run([sys.executable, "-B", tool, kind, *map(str, places)], capture_output=True, check=False)
        self.check(f"{kind} is converted", result.returncode == 0, result.stderr)
        return parts(places[-1].joinpath("model.safetensors").read_bytes()) if result.returncode == 0 else {}

    def conversion(self, data):
        """the tiny models, written as other formats have them, are themselves again"""
        files = packed(data / "lm.dwpack")
        gpt2 = {n.removeprefix("transformer."): a for n, a in parts(files["tiny-gpt2/model.safetensors"]).items()}
        state = self.place / "state.safetensors"
        state.write_bytes(as_state(gpt2, 4))
        found = self.converted("gpt", state, self.place / "from_state")
        self.check("a trained GPT", found == gpt2, set(found) ^ set(gpt2))
        llama = parts(files["tiny-llama/model.safetensors"])
        model, words = self.place / "model.bin", self.place / "words.bin"
        model.write_bytes(as_llama2c(llama, json.loads(files["tiny-llama/config.json"])))
        words.write_bytes(struct.pack("<i", 1) + b"".join(struct.pack("<fi", 0, 1) + bytes([32 + i]) for i in range(96)))
        found = self.converted("llama2c", model, words, self.place / "from_llama2c")
        self.check("a checkpoint of llama2.c", found == llama, set(found) ^ set(llama))
        old = model.read_bytes()
        width = struct.unpack_from("<i", old)[0]
        for name, body, expected in (
                ("llama2.c of version 1", b"24ka" + struct.pack("<i", 1) + old + bytes(220), "is of version 1 of llama2.c's export, version 0"),
                ("llama2.c of version 2", b"24ka" + struct.pack("<i", 2) + bytes(300), "is of version 2 of llama2.c's export, version 0"),
                ("llama2.c, cut", old[:-4], f"has {len(old) - 4} bytes, its settings need {len(old)}"),
                ("llama2.c, longer", old + b"....", f"has {len(old) + 4} bytes, its settings need {len(old)}"),
                ("llama2.c without settings", old[:20], "has 20 bytes, 28 of settings were expected"),
                ("llama2.c of many layers", old[:8] + struct.pack("<i", 1 << 30) + old[12:], "its settings need "),
                ("llama2.c of no layers", old[:8] + bytes(4) + old[12:], "is not a checkpoint of llama2.c"),
                ("llama2.c of odd heads", old[:12] + struct.pack("<i", width + 1) + old[16:], "is not a checkpoint of llama2.c")):
            self.not_converted(name, body, words, expected)
        words.write_bytes(words.read_bytes()[:-9])
        self.not_converted("too few words", old, words, "has 95 words, 96 were expected")

    def not_converted(self, name, model, words, expected):
        """rejected at once: before memory is taken for what a file says of itself"""
        path, folder = self.place / "other.bin", self.place / "from_other"
        path.write_bytes(model)
        tool = pathlib.Path(__file__).resolve().parents[2] / "src/programs/convert_model.py"
        limited = f"ulimit -v 1000000; exec {sys.executable} -B {tool} llama2c {path} {words} {folder}"
        result = subprocess.run(["sh", "-c", limited], capture_output=True, text=True, timeout=60, check=False)
        self.check(name, result.returncode == 1 and result.stderr.startswith("convert_model: ") and expected in result.stderr
                   and result.stderr.count("\n") == 1, result)


def parts(data):
    """-> name: (extents, bytes) of a safetensors file"""
    length = struct.unpack("<Q", data[:8])[0]
    header = json.loads(data[8:8 + length])
    header.pop("__metadata__", None)
    return {n: (a["shape"], data[8 + length + a["data_offsets"][0]:8 + length + a["data_offsets"][1]])
            for n, a in header.items()}


def as_state(gpt2, heads):
    """-> a GPT-2 as the example 23_train_gpt saves it"""
    arrays, words = {}, {}

    def put(name, dimensions, extents, body):
        arrays["model." + name] = (extents, body)
        words["dimensions of model." + name] = " ".join(f"{d}[{e}]" for d, e in zip(dimensions.split(), extents))

    def norm(name, of):
        put(name + ".gamma", "d_model", *gpt2[of + ".weight"])
        put(name + ".beta", "d_model", *gpt2[of + ".bias"])

    put("words.table", "bytes d_model", *gpt2["wte.weight"])
    put("positions.table", "seq d_model", *gpt2["wpe.weight"])
    norm("layers.norm", "ln_f")
    width = gpt2["ln_f.bias"][0][0]
    for i in range(2):
        own, of = f"layers.layers.{i}.", f"h.{i}."
        norm(own + "norm1", of + "ln_1")
        norm(own + "norm2", of + "ln_2")
        weight, bias = gpt2[of + "attn.c_attn.weight"][1], gpt2[of + "attn.c_attn.bias"][1]
        for k, (part, feature) in enumerate((("query", "d_k"), ("key", "d_k"), ("value", "d_v"))):
            rows = [weight[4 * width * (3 * r + k):4 * width * (3 * r + k + 1)] for r in range(width)]
            put(f"{own}attention.{part}.weight", "d_model heads " + feature, [width, heads, width // heads], b"".join(rows))
            put(f"{own}attention.{part}.bias", "heads " + feature, [heads, width // heads], bias[4 * width * k:4 * width * (k + 1)])
        put(own + "attention.output.weight", "heads d_v d_model", [heads, width // heads, width], gpt2[of + "attn.c_proj.weight"][1])
        put(own + "attention.output.bias", "d_model", *gpt2[of + "attn.c_proj.bias"])
        for part, name, dims in (("up", "c_fc", "d_model hidden"), ("down", "c_proj", "hidden d_model")):
            put(f"{own}feed_forward.{part}.weight", dims, *gpt2[f"{of}mlp.{name}.weight"])
            put(f"{own}feed_forward.{part}.bias", dims.split()[1], *gpt2[f"{of}mlp.{name}.bias"])
    header, at = {"__metadata__": words}, 0
    for name, (extents, body) in arrays.items():
        header[name] = {"dtype": "F32", "shape": extents, "data_offsets": [at, at + len(body)]}
        at += len(body)
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + b"".join(body for _, body in arrays.values())


def as_llama2c(llama, config):
    """-> a LLaMA as llama2.c has it: features of heads in pairs"""
    width, heads, kv_heads = (config[k] for k in ("hidden_size", "num_attention_heads", "num_key_value_heads"))
    head, layers = width // heads, range(config["num_hidden_layers"])
    of = lambda name: [llama[f"model.layers.{i}.{name}.weight"][1] for i in layers]

    def in_pairs(weight, count):
        order = [h * head + i // 2 + i % 2 * (head // 2) for h in range(count) for i in range(head)]
        return b"".join(weight[4 * width * r:4 * width * (r + 1)] for r in order)

    body = [llama["model.embed_tokens.weight"][1], *of("input_layernorm"),
            *(in_pairs(w, heads) for w in of("self_attn.q_proj")), *(in_pairs(w, kv_heads) for w in of("self_attn.k_proj")),
            *of("self_attn.v_proj"), *of("self_attn.o_proj"), *of("post_attention_layernorm"), *of("mlp.gate_proj"),
            *of("mlp.down_proj"), *of("mlp.up_proj"), llama["model.norm.weight"][1],
            bytes(4 * config["max_position_embeddings"] * head), llama["lm_head.weight"][1]]
    return struct.pack("<7i", width, config["intermediate_size"], len(layers), heads, kv_heads, -config["vocab_size"],
                       config["max_position_embeddings"]) + b"".join(body)


def main():
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    generate, embed, data = (pathlib.Path(a).resolve() for a in sys.argv[1:])
    with tempfile.TemporaryDirectory() as place:
        programs = Programs(generate, embed, pathlib.Path(place))
        programs.generation(data)
        programs.encoder_decoders(data)
        programs.generation_settings(data)
        programs.inspection(data)
        programs.embedding(data)
        programs.adapters(data)
        programs.encoders(data)
        programs.sentences(data)
        programs.decoders(data)
        programs.bidirectional(data)
        programs.conversion(data)
    print(f"{programs.passed} passed, {programs.failed} failed")
    sys.exit(programs.failed > 0)


if __name__ == "__main__":
    main()
