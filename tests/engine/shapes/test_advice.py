"""Advice finds its case, keeps quiet elsewhere, and its fix really mends."""

from __future__ import annotations

import pytest

from engine.shapes.problems import Problem
from tests.engine.sketches import Sketch, mended


def found(sketch: Sketch, code: str) -> list[Problem]:
    return [problem for problem in sketch.check().problems if problem.code == code]


def flowers(*layers: tuple[str, str, dict[str, object]]) -> tuple[Sketch, str]:
    """Iris through the given layers to three scores and a loss; returns the last layer's id."""
    sketch = Sketch()
    data = sketch.add("Iris", "iris")
    last = f"{data}.features"
    for type_id, name, params in layers:
        last = sketch.add(type_id, name, params, x=last)
    scores = sketch.add("Linear", "scores", {"units": 3}, x=last)
    sketch.add("CrossEntropy", "loss", prediction=scores, target=f"{data}.species")
    return sketch, last


def test_a_doubled_name_is_told_and_mended() -> None:
    sketch, _ = flowers(
        ("Linear", "layer", {"activation": "ReLU"}), ("Linear", "layer", {"activation": "tanh"})
    )
    [problem] = found(sketch, "same-name")
    assert problem.severity == "warning"
    assert mended(sketch, problem).problems == []
    assert sorted(node.name for node in sketch.project.graph.nodes.values() if "layer" in node.name) == [
        "layer",
        "layer1",
    ]


def test_a_dead_end_can_be_named_as_an_output() -> None:
    sketch, last = flowers(("Linear", "hidden", {"activation": "ReLU"}))
    sketch.add("Softmax", "chances", x=last)
    [problem] = found(sketch, "dead-end")
    assert "chances" in problem.message
    assert mended(sketch, problem).problems == []


def test_a_sketch_without_a_loss_has_no_dead_end() -> None:
    sketch = Sketch()
    entry = sketch.add("Input", "image", {"shape": (4,)})
    sketch.add("Linear", "hidden", {"units": 2}, x=entry)
    assert found(sketch, "dead-end") == []


@pytest.mark.parametrize(
    ("bias", "activation", "told"), [(True, "none", 1), (False, "none", 0), (True, "ReLU", 0)]
)
def test_a_bias_before_batch_norm(bias: bool, activation: str, told: int) -> None:
    sketch, _ = flowers(
        ("Linear", "hidden", {"bias": bias, "activation": activation}),
        ("BatchNorm", "norm", {}),
        ("ReLU", "on", {}),
    )
    problems = found(sketch, "idle-bias")
    assert len(problems) == told
    if told:
        assert mended(sketch, problems[0]).problems == []


@pytest.mark.parametrize(("depth", "told"), [(4, 0), (5, 1), (9, 1)])
def test_many_flat_layers_in_a_row(depth: int, told: int) -> None:
    sketch, _ = flowers(*[("Linear", f"l{n}", {"units": 8, "activation": "tanh"}) for n in range(depth)])
    problems = found(sketch, "vanishing")
    assert len(problems) == told
    if depth == 5:
        assert mended(sketch, problems[0]).problems == []


def test_separate_activations_count_as_well() -> None:
    layers = [one for n in range(5) for one in (("Linear", f"l{n}", {"units": 8}), ("Sigmoid", f"s{n}", {}))]
    sketch, _ = flowers(*layers)
    assert len(found(sketch, "vanishing")) == 1
