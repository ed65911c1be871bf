#!/usr/bin/env python3
"""The pictures of 25_pictures: what it prints, that each is well-formed, and that the committed ones are current.

    python3 tests/examples/pictures.py build/dev/examples/25_pictures
"""

import pathlib
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as xml

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
SHOWN = ["attention.svg", "causal.svg", "first_formula.svg", "first_weights.svg", "grouped.svg", "pre_norm.svg", "similarities.svg", "similarity.svg",
         "weights.svg"]  # by README.md and docs/tutorial
SVG = "{http://www.w3.org/2000/svg}"


def main():
    with tempfile.TemporaryDirectory() as folder:
        said = subprocess.run([sys.argv[1], folder], capture_output=True, text=True, check=True).stdout
        expected = (ROOT / "examples/expected/25_pictures.txt").read_text(encoding="utf-8")
        assert said == expected, f"25_pictures prints\n{said}"
        names = sorted(path.name for path in pathlib.Path(folder).iterdir())
        assert names == ["attention.html", "attention.svg", "causal.svg", "curve.svg", "first_formula.svg", "first_weights.svg", "formula.svg", "grouped.svg",
                         "mask.svg", "network.svg", "positions.svg", "pre_norm.svg", "similarities.svg", "similarity.svg", "training.html", "weights.svg"], names
        for name in (one for one in names if one.endswith(".svg")):
            root = xml.parse(pathlib.Path(folder) / name).getroot()
            assert root.tag == SVG + "svg" and root.get("role") == "img", name
            assert root.find(SVG + "title").text and root.find(SVG + "desc").text, f"{name} has no words"
        for name in SHOWN:
            made = (pathlib.Path(folder) / name).read_text(encoding="utf-8")
            kept = (ROOT / "docs/pictures" / name).read_text(encoding="utf-8")
            assert made == kept, f"docs/pictures/{name} is old: run 25_pictures, and copy it"
        missing = subprocess.run([sys.argv[1], folder + "/none"], capture_output=True, text=True, check=False)
        assert missing.returncode == 1 and "cannot be written" in missing.stderr, missing
    print("the pictures are current")


if __name__ == "__main__":
    main()
