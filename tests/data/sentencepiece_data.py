#!/usr/bin/env python3
"""Makes the folder from which tests/data/sentencepiece.dwpack is packed: models, lines, and the ids they must give.

    apt-get install python3-sentencepiece          # trains the models, computes the ids
    python3 tests/data/sentencepiece_data.py FOLDER
    python3 tests/data/pack_data.py FOLDER tests/data/sentencepiece.dwpack

The models are trained on README.md and some lines of other scripts here. The lines are those of tokenizer_data.py
without the control symbols, which SentencePiece does not match in texts. Settings that the trainer does not offer are
appended to a model: of a message that occurs twice, the later fields count.
"""

import json
import pathlib
import random
import sys
import tempfile

import sentencepiece

import tokenizer_data

ROOT = pathlib.Path(__file__).resolve().parents[2]
LINES = 1500
# A character map of our own: those of the trainer have 200,000 bytes.
RULES = {"ﬁ": "fi", "Å": "Å", "e\u0301": "é", "\t": " ", "\n": " ", "\r": " ", "\u00a0": " ", "\u2003": " ",
         "\u3000": " ", "\u200b": "", "\ufe0f": "", "…": "...", "½": "1⁄2", "㎏": "kg", "Ａ": "A", "ſ": "s",
         "▁": " ", "don't": "do not", "d": "d", "\u0007": "", "𝔘": "U", "Ⅷ": "VIII"}
COMMON = {"vocab_size": 700, "hard_vocab_limit": False, "control_symbols": ["<ctrl>", "[SEP]"], "pad_id": 3,
          "character_coverage": 0.98, "num_threads": 1, "minloglevel": 2}
USER = ["<user>", "##", "ing", "in", "你好", "  x", "▁▁"]
IDENTITY = {"normalization_rule_name": "identity"}
BYTES = {"byte_fallback": True}
KEEPS = {"remove_extra_whitespaces": False}
SUFFIX = {"treat_whitespace_as_suffix": True}
BARE = {"add_dummy_prefix": False}
MODELS = {
    "unigram": {"model_type": "unigram"},
    "unigram_bytes": {"model_type": "unigram", "user_defined_symbols": USER, **BYTES, **KEEPS},
    "unigram_suffix": {"model_type": "unigram", **SUFFIX},
    "unigram_bare": {"model_type": "unigram", **IDENTITY, **BARE, **KEEPS, "unk_id": 2, "bos_id": 0, "eos_id": 1},
    "bpe": {"model_type": "bpe", "user_defined_symbols": USER},
    "bpe_bytes": {"model_type": "bpe", **IDENTITY, **BYTES, **KEEPS, "user_defined_symbols": USER},
    "bpe_suffix": {"model_type": "bpe", **SUFFIX, **BYTES},
    "bpe_bare": {"model_type": "bpe", **BARE, **BYTES, "bos_id": -1},
}


def varint(value):
    """-> a number of protobuf's wire format"""
    made = bytearray()
    while value > 0x7f:
        made.append(value & 0x7f | 0x80)
        value >>= 7
    return bytes(made + bytes([value]))


def field(number, content):
    """-> a field of bytes, or of a number"""
    if isinstance(content, bytes):
        return varint(number << 3 | 2) + varint(len(content)) + content
    return varint(number << 3) + varint(content)


def models(folder):
    """-> the bytes of each model"""
    corpus = folder / "corpus.txt"
    draw = random.Random(1)
    pieces = [piece for piece in tokenizer_data.PIECES if "\n" not in piece and "\0" not in piece]
    more = ["".join(draw.choice(pieces) for _ in range(6)) for _ in range(300)]
    corpus.write_text((ROOT / "README.md").read_text(encoding="utf-8") + "\n".join(more), encoding="utf-8")
    rules = folder / "rules.tsv"
    points = [" ".join(f"{ord(c):X}" for c in text) for pair in RULES.items() for text in pair]
    rules.write_text("".join(f"{a}\t{b}\n" for a, b in zip(points[::2], points[1::2])))
    made = {}
    for name, settings in MODELS.items():
        own = {} if "normalization_rule_name" in settings else {"normalization_rule_tsv": str(rules)}
        sentencepiece.SentencePieceTrainer.train(input=str(corpus), model_prefix=str(folder / name), **COMMON, **own, **settings)
        made[name] = (folder / f"{name}.model").read_bytes()
    made["unescaped"] = made["unigram"] + field(3, field(5, 0))
    # Two pieces with one score: the leftmost is merged first.
    made["ties"] = b"".join(field(1, field(1, text.encode()) + b"\x15" + b"\0\0\x80\xbf" + field(3, kind)) for text, kind in (
        ("<unk>", 2), ("▁", 1), ("a", 1), ("b", 1), ("aa", 1), ("ab", 1), ("ba", 1), ("aab", 1), ("xy", 1), ("xya", 1)))
    made["ties"] += field(2, field(3, 2)) + field(3, field(4, 0))
    return made


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    draw = random.Random(2)
    control = ("<s>", "</s>", "<unk>", "<pad>", "<ctrl>", "[SEP]")
    lines = [line for line in tokenizer_data.lines(4 * LINES) if not any(c in line for c in control)][:LINES]
    lines += [" ".join(draw.choice(USER + ["a", "b", "", "xy", "interesting"]) for _ in range(draw.randint(1, 8)))
              for _ in range(150)]
    lines += ["".join(draw.choice("aabxy ") for _ in range(draw.randint(1, 120))) for _ in range(100)]
    short = {"ensure_ascii": False, "separators": (",", ":")}
    (folder / "lines.json").write_text(json.dumps(lines, **short), encoding="utf-8")
    cases = [{"name": "lines", "file": "lines.json"}]
    with tempfile.TemporaryDirectory() as place:
        for name, data in models(pathlib.Path(place)).items():
            model = sentencepiece.SentencePieceProcessor(model_proto=data)
            ids = [model.encode(line) for line in lines]
            (folder / name).mkdir(exist_ok=True)
            (folder / name / "tokenizer.model").write_bytes(data)
            (folder / name / "expected.json").write_text(json.dumps(
                {"ids": ids, "decoded": [model.decode(one) for one in ids]}, **short), encoding="utf-8")
            cases.append({"name": name, "dir": name, "tokenizer": "tokenizer.model", "ids": "expected.json"})
    (folder / "manifest.json").write_text(json.dumps({"suite": "sentencepiece", "cases": cases}))


if __name__ == "__main__":
    main()
