"""A step is offered where shapes clash, and it mends what it is offered for."""

from __future__ import annotations

from typing import Any

import pytest

from engine.document import Document
from engine.graph import Graph
from tests.engine.sketches import (
    image,
    mended,
    problem,
)


@pytest.mark.parametrize(
    ("shape", "type_id", "params", "label"),
    [
        ((784,), "Conv2d", {}, "Insert a reshape to 1×28×28"),
        ((28, 28), "Conv2d", {}, "Insert a reshape to 1×28×28"),
        ((50, 1), "Conv1d", {}, "Insert a transpose"),
        ((50,), "Conv1d", {}, "Insert a reshape to 1×50"),
        ((50,), "LSTM", {}, "Insert a reshape to 50×1"),
        ((1, 28, 28), "GRU", {}, "Insert a reshape to 28×28"),
        ((3, 2, 2), "Conv2d", {"kernel": 5}, "Pad the input to keep its size"),
        ((3, 9, 9), "Conv2d", {"groups": 2}, "Use a single group"),
        ((3, 9, 9), "Conv2d", {"padding": "same", "stride": 2}, "Use a stride of 1"),
        ((50, 3), "LSTM", {"dropout": 0.5}, "Set its dropout to 0"),
        ((50, 3), "Softmax", {"axis": 0}, "Use axis 1"),
    ],
)
def test_a_fix_is_offered_and_mends(
    shape: tuple[int, ...], type_id: str, params: dict[str, Any], label: str
) -> None:
    sketch, start = image(*shape)
    layer = sketch.add(type_id, "layer", params, x=start)
    found = problem(sketch, layer)
    assert found.fix is not None and found.fix.label == label
    assert mended(sketch, found).errors == []


def test_vectors_of_different_sizes_are_brought_together_by_a_dense_layer() -> None:
    sketch, start = image(16)
    small = sketch.add("Linear", "small", {"units": 5, "activation": "ReLU"}, x=start)
    join = sketch.add("Add", "join", x1=start, x2=small)
    found = problem(sketch, join)
    assert found.fix is not None and found.fix.label == "Insert a dense layer of 16 units"
    assert mended(sketch, found).errors == []


def test_images_of_different_depth_are_brought_together_by_a_1x1_convolution() -> None:
    sketch, start = image(16, 8, 8)
    deep = sketch.add("Conv2d", "deep", {"filters": 32, "padding": "same"}, x=start)
    join = sketch.add("Add", "join", x1=start, x2=deep)
    found = problem(sketch, join)
    assert found.fix is not None and found.fix.label == "Insert a 1×1 convolution"
    assert mended(sketch, found).errors == []


def test_a_fix_leaves_the_graph_as_it_was_when_undone() -> None:
    sketch, start = image(784)
    layer = sketch.add("Conv2d", "conv", x=start)
    found = problem(sketch, layer)
    before = Graph(sketch.project.graph.nodes.values(), sketch.project.graph.links)
    document = Document(sketch.project)
    with document.step("Fix"):
        for edit in found.fix.edits(document.project):  # type: ignore[union-attr]
            document.apply(edit)
    assert document.project.graph != before
    document.undo()
    assert document.project.graph == before
