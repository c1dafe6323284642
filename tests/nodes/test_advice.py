"""What is known of single types finds its case, keeps quiet elsewhere, and mends it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from engine.catalogue import load_catalogue
from engine.document.edits import SetParam
from engine.document.graph import Graph, Node, Project
from engine.document.plan import Phase, Plan
from engine.shapes.node_rules import LINT_RULES, lint_rule
from engine.shapes.problems import Problem
from engine.shapes.shapes import ShapeBook, check
from tests.engine.sketches import Sketch, coded, flowers, image, mended
from tests.engine.sketches import problem as problem_of


def test_two_dense_layers_in_a_row_are_one() -> None:
    sketch = Sketch()
    data = sketch.add("Iris", "iris")
    first = sketch.add("Linear", "first", x=f"{data}.features")
    second = sketch.add("Linear", "second", {"units": 3}, x=sketch.add("Dropout", "dropout", x=first))
    sketch.add("CrossEntropy", "loss", prediction=second, target=f"{data}.species")
    [problem] = coded(sketch, "linear-stack")
    assert problem.node_id == second and "first and second" in problem.message
    assert mended(sketch, problem).problems == []


def test_an_image_into_a_dense_layer_is_flattened() -> None:
    sketch = Sketch()
    data = sketch.add("Mnist", "mnist")
    head = sketch.add("Linear", "head", {"units": 10}, x=f"{data}.image")
    [problem] = coded(sketch, "image-into-dense")
    assert problem.node_id == head and "1×28×28" in problem.message
    book = mended(sketch, problem)
    assert [left.code for left in book.problems] == ["no-loss"]
    assert book.parameters(head) == 7850


@pytest.mark.parametrize(("batch", "sound"), [(1, False), (2, True)])
def test_batch_norm_needs_company(batch: int, sound: bool) -> None:
    sketch = Sketch()
    data = sketch.add("Digits", "digits")
    plain = sketch.add("Conv2d", "conv", {"bias": False}, x=f"{data}.image")
    conv = sketch.add("BatchNorm", "over pixels", x=plain)
    flat = sketch.add("BatchNorm", "over examples", x=sketch.add("Flatten", "flat", x=conv))
    head = sketch.add("Linear", "head", {"units": 10}, x=flat)
    sketch.add("CrossEntropy", "loss", prediction=head, target=f"{data}.digit")
    sketch.plan(batch=batch)
    if sound:
        assert sketch.check().problems == []
    else:
        [problem] = coded(sketch, "batch-of-one")
        assert problem.node_id == flat and problem.severity == "error"
        assert mended(sketch, problem).problems == []
        sketch.project.plan = Plan((Phase(), Phase(batch=1)))
        assert mended(sketch, coded(sketch, "batch-of-one")[0]).problems == []
        assert sketch.project.plan == Plan((Phase(), Phase(batch=32)))


@pytest.mark.parametrize(
    ("bias", "activation", "told"), [(True, "none", 1), (False, "none", 0), (True, "ReLU", 0)]
)
def test_a_bias_before_batch_norm(bias: bool, activation: str, told: int) -> None:
    sketch, _ = flowers(
        ("Linear", "hidden", {"bias": bias, "activation": activation}),
        ("BatchNorm", "norm", {}),
        ("ReLU", "on", {}),
    )
    problems = coded(sketch, "idle-bias")
    assert len(problems) == told
    if told:
        assert mended(sketch, problems[0]).problems == []


@pytest.mark.parametrize(("between", "told"), [((), 1), (("ReLU", "Dropout"), 1), (("Transpose",), 0)])
def test_the_channels_behind_a_1d_convolution_come_first(between: tuple[str, ...], told: int) -> None:
    sketch, start = image(12, 20)
    last = sketch.add("Conv1d", "conv", {"filters": 8, "bias": False}, x=start)
    for one in between:
        last = sketch.add(one, one, x=last)
    norm = sketch.add("BatchNorm", "norm", x=last)
    problems = coded(sketch, "channels-of-a-sequence")
    assert len(problems) == told
    if told:
        assert problems[0].node_id == norm and "conv" in problems[0].message
        assert mended(sketch, problems[0]).parameters(norm) == 2 * 8


@pytest.mark.parametrize(("depth", "told"), [(4, 0), (5, 1), (9, 1)])
def test_many_flat_layers_in_a_row(depth: int, told: int) -> None:
    sketch, _ = flowers(*[("Linear", f"l{n}", {"units": 8, "activation": "tanh"}) for n in range(depth)])
    problems = coded(sketch, "vanishing")
    assert len(problems) == told
    if depth == 5:
        assert mended(sketch, problems[0]).problems == []


def test_separate_activations_count_as_well() -> None:
    layers = [one for n in range(5) for one in (("Linear", f"l{n}", {"units": 8}), ("Sigmoid", f"s{n}", {}))]
    sketch, _ = flowers(*layers)
    assert len(coded(sketch, "vanishing")) == 1


def test_vectors_of_different_sizes_are_brought_together_by_a_dense_layer() -> None:
    sketch, start = image(16)
    small = sketch.add("Linear", "small", {"units": 5, "activation": "ReLU"}, x=start)
    join = sketch.add("Add", "join", x1=start, x2=small)
    found = problem_of(sketch, join)
    assert found.fix is not None and found.fix.label == "Insert a dense layer of 16 units"
    assert mended(sketch, found).errors == []


def test_images_of_different_depth_are_brought_together_by_a_1x1_convolution() -> None:
    sketch, start = image(16, 8, 8)
    deep = sketch.add("Conv2d", "deep", {"filters": 32, "padding": "same"}, x=start)
    join = sketch.add("Add", "join", x1=start, x2=deep)
    found = problem_of(sketch, join)
    assert found.fix is not None and found.fix.label == "Insert a 1×1 convolution"
    assert mended(sketch, found).errors == []


@pytest.mark.parametrize(("units", "told"), [(1, 1), (2, 0)])
def test_a_softmax_over_one_value_wants_to_be_a_sigmoid(units: int, told: int) -> None:
    sketch = Sketch()
    data = sketch.add("BreastCancer", "cancer")
    score = sketch.add("Linear", "score", {"units": units}, x=f"{data}.features")
    answer = sketch.add("Softmax", "answer", x=score)
    sketch.add("MSE", "cost", prediction=answer, target=f"{data}.{'benign' if told else 'features'}")
    problems = coded(sketch, "softmax-of-one")
    assert len(problems) == told
    if told:
        assert problems[0].node_id == answer
        assert mended(sketch, problems[0]).problems == []
        assert [node.type for node in sketch.project.graph.nodes.values()][-1] == "Sigmoid"


def test_another_package_registers_a_rule_of_its_own() -> None:
    @lint_rule
    def shy(project: Project, node: Node, book: ShapeBook) -> Iterator[Problem]:
        if node.type == "Softplus":
            yield Problem(node.id, "This one is shy.", severity="warning", code="shy")

    try:
        sketch, last = flowers(("Softplus", "soft", {}))
        assert [problem.node_id for problem in coded(sketch, "shy")] == [last]
    finally:
        LINT_RULES.remove(shy)


@pytest.mark.parametrize(
    ("broken", "unreadable", "told"), [(0, "stop", 0), (2, "stop", 1), (2, "leave out", 0)]
)
def test_images_that_cannot_be_read_are_told_before_training(broken: int, unreadable: str, told: int) -> None:
    params = {
        **{"path": "/images", "layout": "class folders", "classes": ("a", "b"), "count": 9, "size": 8},
        **{"broken": broken, "unreadable": unreadable},
    }
    project = Project(graph=Graph([Node("n1", "ImageFolder", "pictures", params)]), next_id=2)
    found = [one for one in check(project, load_catalogue()).problems if one.code == "unreadable-files"]
    assert len(found) == told
    for one in found:
        assert one.message == "2 images of pictures cannot be read, and training stops there."
        assert one.fix is not None and one.fix.edits(project) == (SetParam("n1", "unreadable", "leave out"),)
