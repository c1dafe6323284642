"""Networks that are too large are problems before anything is allocated."""

from __future__ import annotations

import pytest

from engine import devices
from engine.document.edits import AddNodes, Disconnect
from engine.document.graph import BLOCK, BLOCK_INPUT, BLOCK_OUTPUT, Block, Graph, Link, Node
from engine.emit.script import export_script
from engine.errors import EmitError, TrainingError
from engine.shapes.memory import estimate
from engine.shapes.shapes import check
from tests.engine.sketches import Sketch, apply, catalogue, classifier, program_of
from tests.engine.train.networks import run_of


def test_more_weights_than_memory_are_a_problem_and_never_made() -> None:
    sketch = classifier()
    wide = 10**9
    sketch.project.graph.nodes["n2"].params["units"] = wide  # type: ignore[index]
    (found,) = sketch.check().errors
    weights = sketch.check().total_parameters
    assert weights > 5 * wide
    assert found.node_id == "n2" and found.message.startswith(f"{weights:,} parameters take ")
    assert "GiB" in found.message
    with pytest.raises(TrainingError, match="parameters take"):
        run_of(sketch.project)
    assert f"nn.Linear(4, {wide})" in export_script(sketch.project, catalogue()).text


def test_what_fits_is_no_problem(monkeypatch: pytest.MonkeyPatch) -> None:
    sketch = classifier()
    sketch.project.graph.nodes["n2"].params["units"] = 10**7  # type: ignore[index]
    found = estimate(sketch.project, sketch.check())
    assert found is not None and found.total > 4 * 4 * sketch.check().total_parameters
    for memory, told in ((found.total, 0), (found.total - 1, 1)):
        monkeypatch.setattr(devices, "_own_memory", lambda memory=memory: memory)
        monkeypatch.setattr("torch.cuda.is_available", lambda: False)
        assert len(check(sketch.project, catalogue()).errors) == told
    monkeypatch.setattr(devices, "_own_memory", lambda: None)
    assert check(sketch.project, catalogue()).errors == []


def doubled(levels: int) -> Sketch:
    """Iris through blocks that each hold the one before twice, the innermost a layer of four units."""
    sketch = classifier()
    project = sketch.project
    kind, params = "Linear", {"units": 4, "activation": "tanh"}
    enter, leave = "x", "output"
    for level in range(levels):
        ids = [f"n{100 + 10 * level + place}" for place in range(4)]
        nodes = [Node(ids[0], BLOCK_INPUT, "in"), Node(ids[3], BLOCK_OUTPUT, "out")]
        nodes += [Node(one, kind, f"half{place}", params) for place, one in enumerate(ids[1:3])]
        links = [
            Link(ids[0], "output", ids[1], enter),
            Link(ids[1], leave, ids[2], enter),
            Link(ids[2], leave, ids[3], "x"),
        ]
        project.blocks[f"b{level}"] = Block(f"b{level}", f"level {level}", Graph(nodes, links))
        kind, params, enter, leave = BLOCK, {"block": f"b{level}"}, ids[0], ids[3]
    last = Node("n999", BLOCK, "tower", params)
    links = [Link("n1", "features", "n999", enter), Link("n999", leave, "n2", "x")]
    edits = (Disconnect(Link("n1", "features", "n2", "x")), AddNodes((last,), tuple(links)))
    apply(project, edits)
    return sketch


def test_blocks_that_hold_each_other_twice_are_counted_before_they_are_unfolded() -> None:
    book = doubled(4).check()
    assert book.errors == [] and book.parameters("n999") == 2**4 * 20
    book = doubled(25).check()
    (found,) = book.errors
    assert found.node_id == "n999" and "are the most that can be built" in found.message
    assert book.total_layers > 2**25
    with pytest.raises(EmitError, match="most that can be built"):
        program_of(doubled(25))
