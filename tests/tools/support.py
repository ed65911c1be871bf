"""What the tests of the tools share: the path to them, and a project of a few files in a temporary folder."""

import pathlib
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / folder) for folder in ("tools", "tools/site", "tests/docs", "tests/structure", "benchmarks/compile_time")]


def project(test, files):
    """-> the folder of a project with these files, {path: text}, for the time of a test"""
    place = tempfile.TemporaryDirectory()
    test.addCleanup(place.cleanup)
    root = pathlib.Path(place.name).resolve()
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, encoding="utf-8")
    return root
