#!/usr/bin/env python3
"""Makes the folder from which tests/data/tokenizers.dwpack is packed: lines, tokenizers, and the ids they must give.

    npm install @huggingface/tokenizers            # computes the ids
    python3 tests/data/tokenizer_data.py FOLDER NODE_MODULES gpt2=PATH/tokenizer.json bert=PATH/tokenizer.json
    python3 tests/data/pack_data.py FOLDER tests/data/tokenizers.dwpack

The lines hold many scripts, emoji, spaces, special words and what is left of broken UTF-8, drawn from a seed. A third
tokenizer is trained on README.md here: pairs with byte fallback, in SentencePiece's form, as LLaMA's. The lines have no
ideographs beyond U+FFFF: BERT surrounds them with spaces, and @huggingface/tokenizers does not see them.
Standard library only.
"""

import collections
import json
import pathlib
import random
import subprocess
import sys
import unicodedata

ROOT = pathlib.Path(__file__).resolve().parents[2]
PIECES = ["Hello", " world", "'s", "'LL", "'re", "don't", " ", "  ", "   ", "\t", "\n", "\r\n", "\n\n", "123", "4567",
          "٣٤٥", "½", "Ⅷ", "3.14", "é", "e\u0301", "naïve", "Straße", "İstanbul", "ſ", "Ωmega", "Привет", " мир",
          "你好", "世界", "日本語", "カタカナ", "한국어", "שלום", "مرحبا", "नमस्ते", "ไทย", "ქართული", "😀",
          "👩\u200d👩\u200d👧", "🇩🇪", "✨", "…", "—", "«»", "“quotes”", "!!!", "???", ".,;:", "()[]{}", "<tag>",
          "<|endoftext|>", "</s>", "<s>", "[CLS]", "[MASK]", "##ing", "_under_", "a_b", "@user", "#hash",
          "https://x.org/a?b=c&d=%20", "foo@bar.com", "$100", "€50", "100%", "C++20", "x=y*z;", "\u00a0", "\u2003",
          "\u3000", "\u200b", "\ufffd", "\u0000", "\u0007", "\ufe0f", "ﬁ", "Å", "㎏", "Ａ", "𝔘𝔫𝔦", "𐍈", "\U0010ffff",
          "zzzzzzzzzzzz", "aaaaaaaaaaaaaaaa", "antidisestablishmentarianism", "▁", "▁▁x", "the", "The quick brown fox",
          " jumps over", " the lazy dog."]
RANGES = [(0x20, 0x7f), (0x80, 0x3000), (0x3000, 0xd800), (0xe000, 0x10000), (0x10000, 0x20000)]
# Patterns of words of other models, tried with the vocabulary of GPT-2.
BEGIN = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}"
END = r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
PATTERNS = {"llama3": BEGIN + "{1,3}" + END, "qwen2": BEGIN + END}
REFERENCE = """
import fs from "fs"; import path from "path"; import {createRequire} from "module";
const [folder, lines, modules] = process.argv.slice(2);
const {Tokenizer} = createRequire(path.join(path.resolve(modules), "x.js"))("@huggingface/tokenizers");
const t = new Tokenizer(JSON.parse(fs.readFileSync(path.join(folder, "tokenizer.json"))), {});
const ids = JSON.parse(fs.readFileSync(lines)).map(s => t.encode(s).ids);
fs.writeFileSync(path.join(folder, "ids.json"), JSON.stringify(ids));
"""


def lines(count):
    draw = random.Random(1)

    def assigned():
        """-> a code point that has been in Unicode for long: newer ones are letters for one library and nothing for another"""
        while True:
            c = chr(draw.randrange(*draw.choice(RANGES)))
            if unicodedata.category(c) != "Cn":
                return c

    found = ["", " ", "  ", "\n", "a"] + [form for p in PIECES for form in (p, " " + p, p + " ")]
    while len(found) < count:
        line = ""
        for _ in range(draw.randint(1, 6)):
            line += draw.choice(PIECES) if draw.random() < 0.7 else assigned()
        found.append(line)
    return found


def trained(text, merges):
    """-> the settings of a tokenizer of pairs, learned from the words of a text"""
    words = collections.Counter("▁" + w for w in text.split())
    split = {w: list(w) for w in words}
    vocabulary = ["<unk>", "<s>", "</s>"] + [f"<0x{b:02X}>" for b in range(256)]
    vocabulary += sorted({c for w in words for c in w})
    pairs = []
    for _ in range(merges):
        counts = collections.Counter()
        for w, n in words.items():
            for pair in zip(split[w], split[w][1:]):
                counts[pair] += n
        best = max(counts, key=lambda p: (counts[p], p))
        pairs.append(" ".join(best))
        vocabulary.append("".join(best))
        for w, s in split.items():
            i = 0
            while i + 1 < len(s):
                if (s[i], s[i + 1]) == best:
                    s[i:i + 2] = ["".join(best)]
                i += 1
            split[w] = s
    added = [{"id": i, "content": t, "single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}
             for i, t in enumerate(vocabulary[:3])]
    return {
        "version": "1.0", "added_tokens": added,
        "normalizer": {"type": "Sequence", "normalizers": [{"type": "Prepend", "prepend": "▁"},
                                                           {"type": "Replace", "pattern": {"String": " "}, "content": "▁"}]},
        "pre_tokenizer": None,
        "post_processor": {"type": "TemplateProcessing", "single": [{"SpecialToken": {"id": "<s>", "type_id": 0}},
                                                                    {"Sequence": {"id": "A", "type_id": 0}}],
                           "pair": [], "special_tokens": {"<s>": {"id": "<s>", "ids": [1], "tokens": ["<s>"]}}},
        "decoder": {"type": "Sequence", "decoders": [{"type": "Replace", "pattern": {"String": "▁"}, "content": " "},
                                                     {"type": "ByteFallback"}, {"type": "Fuse"},
                                                     {"type": "Strip", "content": " ", "start": 1, "stop": 0}]},
        "model": {"type": "BPE", "dropout": None, "unk_token": "<unk>", "continuing_subword_prefix": None,
                  "end_of_word_suffix": None, "fuse_unk": True, "byte_fallback": True,
                  "vocab": {w: i for i, w in enumerate(dict.fromkeys(vocabulary))}, "merges": pairs},
    }


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    folder, modules = pathlib.Path(sys.argv[1]), sys.argv[2]
    folder.mkdir(parents=True, exist_ok=True)
    short = {"ensure_ascii": False, "separators": (",", ":")}
    (folder / "lines.json").write_text(json.dumps(lines(10000), **short), encoding="utf-8")
    (folder / "reference.mjs").write_text(REFERENCE)
    tokenizers = {"pairs": trained((ROOT / "README.md").read_text(encoding="utf-8"), 400)}
    for argument in sys.argv[3:]:
        name, _, path = argument.partition("=")
        tokenizers[name] = json.loads(pathlib.Path(path).read_text(encoding="utf-8"))
    if "gpt2" in tokenizers:
        for name, regex in PATTERNS.items():
            tokenizers[name] = {**tokenizers["gpt2"], "pre_tokenizer": {"type": "Sequence", "pretokenizers": [
                {"type": "Split", "pattern": {"Regex": regex}, "behavior": "Isolated", "invert": False},
                {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False}]}}
    cases = [{"name": "lines", "file": "lines.json"}]
    for name, settings in tokenizers.items():
        (folder / name).mkdir(exist_ok=True)
        (folder / name / "tokenizer.json").write_text(json.dumps(settings, **short), encoding="utf-8")
        subprocess.run(["node", folder / "reference.mjs", folder / name, folder / "lines.json", modules], check=True)
        case = {"name": name, "dir": name, "tokenizer": "tokenizer.json", "ids": "ids.json"}
        if name in PATTERNS:  # the test makes the same tokenizer from that of GPT-2
            del case["tokenizer"]
        cases.append(case)
    (folder / "manifest.json").write_text(json.dumps({"suite": "tokenizers", "cases": cases}))


if __name__ == "__main__":
    main()
