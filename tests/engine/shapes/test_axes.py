"""Axes have a meaning: places where quantities are taken is a problem, even where the sizes fit."""

from __future__ import annotations

import pytest

from engine.document.edits import SetParam
from engine.document.graph import Block, Graph, Link, Node
from engine.shapes.shapes import ShapeBook, check
from tests.engine.sketches import Sketch, catalogue, coded, mended

SMALL = {"Conv1d": {"kernel": 1}, "MaxPool1d": {"size": 1}}


def series(*layers: str) -> Sketch:
    """Four readings of a series, steps × features, through layers, to a dense layer."""
    sketch = Sketch()
    data = sketch.add("SantaFe", "laser", {"lag": 4})
    last = f"{data}.window"
    for type_id in layers:
        last = sketch.add(type_id, type_id.lower(), SMALL.get(type_id), x=last)
    flat = sketch.add("Flatten", "flat", x=last)
    sketch.add("Linear", "out", {"units": 1}, x=flat)
    return sketch


@pytest.mark.parametrize(
    ("layers", "message"),
    [
        (("Conv1d",), "Conv 1-D takes channels × length, but steps × features come in"),
        (("Transpose", "Conv1d", "LSTM"), "LSTM takes steps × features, but channels × length come in"),
        (("Transpose", "Conv1d", "ReLU", "MeanOverTime"), "Mean over time takes steps × features, but"),
        (("Transpose", "MaxPool1d", "LastStep"), "Last step takes steps × features, but"),
        (("LSTM", "Dropout", "MaxPool1d"), "Max pool 1-D takes channels × length, but steps × features"),
    ],
)
def test_places_where_quantities_are_taken_are_a_problem_that_a_transpose_fixes(
    layers: tuple[str, ...], message: str
) -> None:
    sketch = series(*layers)
    [found] = coded(sketch, "axes")
    assert found.message.startswith(message)
    assert found.severity == "warning" and found.fix is not None
    assert found.fix.label == "Insert a transpose"
    assert [one for one in mended(sketch, found).problems if one.severity == "error"] == []
    assert coded(sketch, "axes") == []


@pytest.mark.parametrize(
    "layers",
    [
        ("Transpose", "Conv1d"),
        ("Transpose", "Conv1d", "Transpose", "LSTM"),
        ("Transpose", "Linear", "Linear", "Transpose", "LSTM"),  # mixes steps, and has as many steps again
        ("LSTM", "LastStep"),
        ("PositionalEncoding", "MeanOverTime"),
    ],
)
def test_what_is_meant_is_no_problem(layers: tuple[str, ...]) -> None:
    assert coded(series(*layers), "axes") == []


def test_of_words_in_a_row_each_has_its_vector() -> None:
    sketch = Sketch()
    words = sketch.add("Input", "words", {"shape": (12,), "whole": True})
    vectors = sketch.add("Embedding", "vectors", {"size": 8}, x=words)
    conv = sketch.add("Conv1d", "conv", x=vectors)
    book = sketch.check()
    found = book.signature(vectors, "output")
    assert found is not None and found.axes == ("steps", "features")
    [problem] = coded(sketch, "axes")
    assert problem.node_id == conv
    assert mended(sketch, problem).input_signature(conv, "x") == found.__class__((8, 12))


def test_nothing_is_said_of_sizes_that_somebody_chose() -> None:
    """An Input, or what is arranged in another shape, may be anything."""
    sketch = Sketch()
    start = sketch.add("Input", "in", {"shape": (4, 6)})
    conv = sketch.add("Conv1d", "conv", x=start)
    sketch.add("LSTM", "lstm", x=sketch.add("Reshape", "rows", {"shape": (4, -1)}, x=conv))
    assert coded(sketch, "axes") == []


def test_images_turned_around_are_turned_back() -> None:
    sketch = Sketch()
    data = sketch.add("Digits", "digits")
    turned = sketch.add("Transpose", "turned", {"first": 1, "second": 3}, x=f"{data}.image")
    sketch.add("Conv2d", "conv", {"kernel": 1}, x=turned)
    [found] = coded(sketch, "axes")
    assert found.message.startswith("Conv 2-D takes channels × height × width, but width × height × channels")
    mended(sketch, found)
    assert coded(sketch, "axes") == []


def test_an_edit_that_changes_the_meaning_alone_reaches_what_lies_behind() -> None:
    """Of a square both ways have the same sizes."""
    sketch = Sketch()
    data = sketch.add("SantaFe", "laser", {"lag": 1})
    turned = sketch.add("Transpose", "turned", x=f"{data}.window")
    sketch.add("Conv1d", "conv", {"kernel": 1}, x=sketch.add("ReLU", "relu", x=turned))
    book = ShapeBook(catalogue())
    book.update(sketch.project)
    assert [one for one in book.problems if one.code == "axes"] == []
    edit = SetParam(turned, "second", 1)
    edit.apply(sketch.project)
    book.update(sketch.project, edit.touched)
    assert len([one for one in book.problems if one.code == "axes"]) == 1


def test_inside_a_block_it_is_told_for_what_comes_in_there() -> None:
    nodes = [
        Node("n101", "BlockInput", "in"),
        Node("n102", "Conv1d", "conv", SMALL["Conv1d"]),
        Node("n103", "BlockOutput", "out"),
    ]
    links = [Link("n101", "output", "n102", "x"), Link("n102", "output", "n103", "x")]
    sketch = series("Transpose")
    sketch.project.blocks["b1"] = Block("b1", "filter", Graph(nodes, links))
    for wire in ("n1.window", "n2"):
        node = Node(sketch.project.new_id(), "Block", "filter", {"block": "b1"})
        sketch.project.graph._insert(node)
        source, _, port = wire.partition(".")
        sketch.project.graph._plug(Link(source, port or "output", node.id, "n101"))
    book = check(sketch.project, catalogue())
    assert [one.node_id for one in book.problems if one.code == "axes"] == ["n102"]
