"""tools/error_picture.py: the drawing of one error."""

import re
import unittest
import xml.etree.ElementTree as tree

from support import ROOT

import error_picture
import errors_program

ERROR = ("a.cpp:3:9: error: ERROR_R1_contracted_dimension_is_not_in_both<dimwise::op::contract, dimwise::over<dimwise::about<my::key, "
         "dimwise::extent<5>>>, dimwise::lhs<my::batch, my::d_k, dimwise::score<my::d_k>>, dimwise::rhs<my::d_k, my::key>>\n")


class ErrorPicture(unittest.TestCase):
    def test_a_drawing(self):
        error = errors_program.read_all([ERROR])[0][0]
        svg = error_picture.draw(error)
        picture = tree.fromstring(svg)
        narrow = [box for box in tree.fromstring(error_picture.draw(error, 300)) if box.tag.endswith("rect")]

        def boxes(part):
            return [box for box in picture if part in (box.get("class") or "").split()]

        def classes(sheet):
            return set(re.findall(r"\.dw \.(\w+)", sheet))

        def left(word):
            return {one.get("x") for one in picture if one.text == word}

        # That picture is current (tests/examples/pictures.py).
        drawn = (ROOT / "docs/pictures/attention.svg").read_text(encoding="utf-8")
        kept = {word: int(colour) for colour, word in re.findall(r'class="name k([0-7])">(\w+) ', drawn)}
        style = error_picture.style_sheet(ROOT)
        for name, right in {
            "the culprit is outlined where it is": len([box for box in boxes("culprit") if box.tag.endswith("rect")]) == 2,
            "and missed where it is not": len(boxes("lacking")) == 1 and "lacks" in svg,
            "equal dimensions are below one another": len(left("d_k")) == 1 and len(left("batch")) == 1,
            "and in one colour": len({box.get("class") for box in boxes("dimension") if box.get("x") == boxes("dimension")[1].get("x")}) == 1,
            "a mark has no colour of a dimension": len(boxes("noted")) == 1,
            "the title is the sentence": picture[0].text == "`contract` goes over key, but the left operand lacks key (R1)",
            "the description says shapes and culprit": "left: batch, d_k, score<d_k>;" in picture[1].text and picture[1].text.endswith("Marked: key[5]"),
            "words have the colours of the library": len(kept) > 4 and error_picture.colours(kept) == kept,
            "the page's scheme decides the colours": '[data-md-color-scheme="slate"] .dw{--paper:#12161d' in style and "prefers-color-scheme" not in style,
            "its classes are not those of the library": not classes(error_picture.OWN_STYLE) & classes(style.replace(error_picture.OWN_STYLE, "")),
            "a narrow drawing has the same boxes": len(narrow) == len([box for box in picture if box.tag.endswith("rect")]),
            "within its width": max(float(box.get("x")) + float(box.get("width")) for box in narrow[1:]) <= 300 and "dw-phone" in error_picture.draw_to_fit(error),
            "a style is taken out": error_picture.without_style("<svg><style>.dw{}</style>\n<rect/></svg>") == "<svg><rect/></svg>",
        }.items():
            self.assertTrue(right, name)


if __name__ == "__main__":
    unittest.main()
