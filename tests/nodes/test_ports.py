"""Where values enter and leave a model without data."""

from __future__ import annotations

from engine.shapes.shapes import Signature
from tests.engine.sketches import Sketch


def test_an_input_gives_examples_of_its_shape() -> None:
    sketch = Sketch()
    numbers = sketch.add("Input", "numbers", {"shape": (1, 40, 200)})
    words = sketch.add("Input", "words", {"shape": (12,), "whole": True})
    book = sketch.check()
    assert book.signature(numbers, "output") == Signature((1, 40, 200))
    assert book.signature(words, "output") == Signature((12,), "int64")


def test_an_output_takes_whatever_comes() -> None:
    sketch = Sketch()
    start = sketch.add("Input", "words", {"shape": (12,), "whole": True})
    end = sketch.add("Output", "end", x=start)
    book = sketch.check()
    assert book.problems == [] and book.input_signature(end, "x") == Signature((12,), "int64")
