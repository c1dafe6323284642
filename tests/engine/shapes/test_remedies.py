"""A step is offered where shapes clash, and it mends what it is offered for."""

from __future__ import annotations

from typing import Any

import pytest

from engine.document.document import Document
from engine.document.edits import Connect, Disconnect
from engine.document.graph import Graph, Link
from tests.engine.sketches import (
    Sketch,
    classifier,
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


@pytest.mark.parametrize(
    ("data", "column", "units", "loss", "label"),
    [
        ("Iris", "features", 3, "CrossEntropy", "Connect species"),
        ("Iris", "features", 2, "CrossEntropy", ""),  # more classes than scores
        ("Diabetes", "features", 1, "MSE", "Connect progression"),
        ("BreastCancer", "features", 1, "BCEWithLogits", "Connect benign"),
        ("Digits", "profile", 16, "MSE", "Connect profile"),  # an autoencoder has its input as target
        ("Curve", "x", 1, "MSE", ""),  # y, its clean part and its deviation would all fit
    ],
)
def test_the_one_column_that_fits_as_a_target_can_be_connected(
    data: str, column: str, units: int, loss: str, label: str
) -> None:
    sketch = Sketch()
    source = sketch.add(data, "data")
    layer = sketch.add("Linear", "layer", {"units": units}, x=f"{source}.{column}")
    found = problem(sketch, sketch.add(loss, "loss", prediction=layer))
    assert found.message == "loss: nothing is connected to target."
    assert (found.fix.label if found.fix else "") == label
    if label:
        assert mended(sketch, found).errors == []


def test_a_metric_is_offered_what_the_loss_is_compared_with() -> None:
    sketch = classifier()
    wrong = sketch.add("WrongLabels", "wrong", x="n1.species")
    for link in [one for one in sketch.project.graph.links if one.target == "n4"]:
        if link.target_port == "target":
            Disconnect(link).apply(sketch.project)
    Connect(Link(wrong, "output", "n4", "target")).apply(sketch.project)
    found = problem(sketch, sketch.add("Accuracy", "accuracy", prediction="n3"))
    assert found.fix is not None and found.fix.label == "Connect wrong"
    assert mended(sketch, found).errors == []
