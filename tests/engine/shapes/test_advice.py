"""Advice finds its case, keeps quiet elsewhere, and its fix really mends."""

from __future__ import annotations

from engine.document.edits import SetMuted
from engine.document.graph import Block, Graph, Node
from tests.engine.sketches import Sketch, coded, flowers, mended


def test_a_doubled_name_is_told_and_mended() -> None:
    sketch, _ = flowers(
        ("Linear", "layer", {"activation": "ReLU"}), ("Linear", "layer", {"activation": "tanh"})
    )
    [problem] = coded(sketch, "same-name")
    assert problem.severity == "warning"
    assert mended(sketch, problem).problems == []
    assert sorted(node.name for node in sketch.project.graph.nodes.values() if "layer" in node.name) == [
        "layer",
        "layer1",
    ]


def test_a_dead_end_can_be_named_as_an_output() -> None:
    sketch, last = flowers(("Linear", "hidden", {"activation": "ReLU"}))
    sketch.add("Softmax", "chances", x=last)
    [problem] = coded(sketch, "dead-end")
    assert "chances" in problem.message
    assert mended(sketch, problem).problems == []


def test_a_sketch_without_a_loss_has_no_dead_end() -> None:
    sketch = Sketch()
    entry = sketch.add("Input", "image", {"shape": (4,)})
    sketch.add("Linear", "hidden", {"units": 2}, x=entry)
    assert coded(sketch, "dead-end") == []


def test_a_block_that_is_used_nowhere_is_told_and_can_go() -> None:
    sketch, _ = flowers(("Linear", "layer", {}))
    sketch.project.blocks["b9"] = Block("b9", "Encoder", Graph([Node("n91", "BlockInput")]))
    [problem] = coded(sketch, "unused-block")
    assert "Encoder" in problem.message and problem.severity == "warning"
    mended(sketch, problem)
    assert not sketch.project.blocks


def test_a_block_inside_another_or_muted_is_used() -> None:
    sketch, last = flowers(("Linear", "layer", {}))
    inner = Block("b9", "Inner", Graph([Node("n91", "BlockInput"), Node("n92", "BlockOutput")]))
    outer = Block(
        "b8", "Outer", Graph([Node("n81", "BlockInput"), Node("n82", "Block", params={"block": "b9"})])
    )
    sketch.project.blocks |= {"b9": inner, "b8": outer}
    SetMuted((sketch.add("Block", "instance", {"block": "b8"}, n81=last),), True).apply(sketch.project)
    assert coded(sketch, "unused-block") == []
