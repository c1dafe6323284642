"""Each rule finds its case, keeps quiet elsewhere, and its fix really mends."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from engine.document.plan import Choice
from engine.emit.script import export_script
from engine.errors import EmitError
from engine.shapes.problems import Problem
from tests.engine.sketches import GALLERY_IDS, Sketch, catalogue, classifier, coded, gallery, mended


def one(sketch: Sketch, code: str) -> Problem:
    [problem] = coded(sketch, code)
    return problem


@pytest.mark.parametrize("project_id", GALLERY_IDS)
def test_the_gallery_is_clean(project_id: str) -> None:
    sketch = Sketch()
    sketch.project = gallery(project_id)
    assert sketch.check().problems == []


def test_an_empty_project_has_no_problem() -> None:
    assert Sketch().check().problems == []


# -- softmax and sigmoid where the loss has its own


def binary(activation: str = "none") -> tuple[Sketch, str]:
    sketch = Sketch()
    data = sketch.add("BreastCancer", "tumours")
    head = sketch.add("Linear", "head", {"units": 1, "activation": activation}, x=f"{data}.features")
    return sketch, head


def test_softmax_before_cross_entropy_is_found_and_goes() -> None:
    """A-21"""
    sketch = Sketch()
    data = sketch.add("Iris", "iris")
    scores = sketch.add("Linear", "scores", {"units": 3}, x=f"{data}.features")
    softmax = sketch.add("Softmax", "softmax", x=scores)
    loss = sketch.add("CrossEntropy", "loss", prediction=softmax, target=f"{data}.species")
    accuracy = sketch.add("Accuracy", "accuracy", prediction=softmax, target=f"{data}.species")
    problem = one(sketch, "softmax-twice")
    assert problem.severity == "warning" and problem.node_id == loss
    assert sketch.check().errors == []
    assert problem.fix is not None and problem.fix.label == "Connect past the softmax"
    assert mended(sketch, problem).problems == []
    graph = sketch.project.graph
    assert softmax not in graph.nodes
    assert {link.target for link in graph.outgoing(scores)} == {loss, accuracy}
    assert "softmax" not in export_script(sketch.project, catalogue()).text


def test_a_softmax_that_something_else_reads_stays() -> None:
    sketch = Sketch()
    data = sketch.add("Iris", "iris")
    scores = sketch.add("Linear", "scores", {"units": 3}, x=f"{data}.features")
    softmax = sketch.add("Softmax", "softmax", x=scores)
    sketch.add("CrossEntropy", "loss", prediction=softmax, target=f"{data}.species")
    sketch.add("Output", "shares", x=softmax)
    assert mended(sketch, one(sketch, "softmax-twice")).problems == []
    assert softmax in sketch.project.graph.nodes


def test_a_softmax_behind_layers_that_change_no_number_is_found() -> None:
    sketch = Sketch()
    data = sketch.add("Iris", "iris")
    scores = sketch.add("Linear", "scores", {"units": 3}, x=f"{data}.features")
    flat = sketch.add("Flatten", "flat", x=sketch.add("Softmax", "softmax", x=scores))
    sketch.add("CrossEntropy", "loss", prediction=flat, target=f"{data}.species")
    assert mended(sketch, one(sketch, "softmax-twice")).problems == []


@pytest.mark.parametrize("as_node", [True, False])
def test_a_sigmoid_before_binary_cross_entropy_is_found_and_goes(as_node: bool) -> None:
    sketch, head = binary("none" if as_node else "sigmoid")
    prediction = sketch.add("Sigmoid", "sigmoid", x=head) if as_node else head
    sketch.add("BCEWithLogits", "loss", prediction=prediction, target="n1.benign")
    sketch.add("Accuracy", "accuracy", prediction=prediction, target="n1.benign")
    assert len(coded(sketch, "sigmoid-twice")) == 1  # the accuracy counts a score above one half as a yes
    assert mended(sketch, coded(sketch, "sigmoid-twice")[0]).problems == []


def test_a_hidden_sigmoid_is_no_problem() -> None:
    sketch = Sketch()
    data = sketch.add("Iris", "iris")
    hidden = sketch.add("Linear", "hidden", {"activation": "sigmoid"}, x=f"{data}.features")
    scores = sketch.add("Linear", "scores", {"units": 3}, x=hidden)
    sketch.add("CrossEntropy", "loss", prediction=scores, target=f"{data}.species")
    assert sketch.check().problems == []


# -- as many scores as classes


@pytest.mark.parametrize("units", [1, 2])
def test_fewer_scores_than_classes_is_an_error(units: int) -> None:
    sketch = classifier(units)
    problem = one(sketch, "class-count")
    assert problem.severity == "error" and problem.node_id == "n4"
    assert problem.message.startswith(f"species has 3 classes, but {units} score")
    with pytest.raises(EmitError, match="3 classes"):
        export_script(sketch.project, catalogue())
    assert problem.fix is not None and problem.fix.label == "Give scores 3 units"
    assert mended(sketch, problem).problems == []


def test_more_scores_than_classes_is_a_warning() -> None:
    sketch = classifier(10)
    problem = one(sketch, "class-count")
    assert problem.severity == "warning"
    assert "3 classes, but 10 scores" in problem.message and "7 of them" in problem.message
    export_script(sketch.project, catalogue())
    assert mended(sketch, problem).problems == []


def test_the_fix_finds_the_dense_layer_behind_an_activation() -> None:
    sketch = Sketch()
    data = sketch.add("Iris", "iris")
    scores = sketch.add("Linear", "scores", {"units": 2}, x=f"{data}.features")
    act = sketch.add("ReLU", "act", x=sketch.add("Dropout", "dropout", x=scores))
    sketch.add("CrossEntropy", "loss", prediction=act, target=f"{data}.species")
    assert mended(sketch, one(sketch, "class-count")).problems == []


def test_accuracy_of_one_score_against_class_numbers_is_an_error() -> None:
    """argmax of a single score is always class 0."""
    sketch, head = binary()
    sketch.add("BCEWithLogits", "loss", prediction=head, target="n1.benign")
    accuracy = sketch.add("Accuracy", "accuracy", prediction=head, target="n1.diagnosis")
    assert one(sketch, "class-count").node_id == accuracy


# -- prediction and target


def test_a_column_of_numbers_and_a_column_with_an_axis_are_not_stretched() -> None:
    """(N, 1) against (N) would compare every pair."""
    sketch = Sketch()
    first = sketch.add("Input", "in", {"shape": (4,)})
    data = sketch.add("Input", "goal", {"shape": (1,)})
    head = sketch.add("Linear", "head", {"units": 5}, x=first)
    for type_id in ("MSE", "L1", "Huber", "BCEWithLogits", "MeanSquaredError", "MeanAbsoluteError"):
        loss = sketch.add(type_id, type_id, prediction=head, target=data)
        [problem] = [problem for problem in sketch.check().errors if problem.node_id == loss]
        assert problem.message == "The prediction is 5 but the target is 1; they must be alike."
        assert problem.fix is not None and problem.fix.label == "Give head 1 unit"


def test_single_numbers_against_a_column_with_an_axis_are_refused() -> None:
    sketch, head = binary()
    loss = sketch.add("MSE", "loss", prediction=head, target="n1.diagnosis")
    [problem] = sketch.check().errors
    assert problem.node_id == loss
    assert problem.message == "The prediction is 1 but the target is one number; they must be alike."
    assert problem.fix is not None and problem.fix.label == "Compare with benign instead"
    assert mended(sketch, problem).problems == []


@pytest.mark.parametrize(
    ("type_id", "units", "target", "label"),
    [
        ("CrossEntropy", 2, "benign", "Compare with diagnosis instead"),
        ("BCEWithLogits", 1, "diagnosis", "Compare with benign instead"),
        ("BCEWithLogits", 2, "benign", "Give head 1 unit"),
        ("Accuracy", 2, "benign", "Compare with diagnosis instead"),
    ],
)
def test_the_other_column_or_another_size_is_offered(
    type_id: str, units: int, target: str, label: str
) -> None:
    sketch = Sketch()
    data = sketch.add("BreastCancer", "tumours")
    head = sketch.add("Linear", "head", {"units": units}, x=f"{data}.features")
    sketch.add(type_id, "measure", prediction=head, target=f"{data}.{target}")
    [problem] = sketch.check().errors
    assert problem.fix is not None and problem.fix.label == label
    assert mended(sketch, problem).errors == []


def test_cross_entropy_of_an_image_names_both_shapes() -> None:
    sketch = Sketch()
    data = sketch.add("Digits", "digits")
    conv = sketch.add("Conv2d", "conv", {"filters": 10}, x=f"{data}.image")
    sketch.add("CrossEntropy", "loss", prediction=conv, target=f"{data}.digit")
    [problem] = sketch.check().errors
    assert "10×6×6" in problem.message and "one number" in problem.message


def test_the_same_wire_twice_and_a_prediction_from_the_data_are_pointed_out() -> None:
    sketch = classifier()
    sketch.add("MSE", "copy", prediction="n1.features", target="n1.features")
    assert len(coded(sketch, "mixed-up")) == 2
    assert sketch.check().errors == []  # the other loss can learn
    export_script(sketch.project, catalogue())


@pytest.mark.parametrize(("entries", "sound"), [(9, False), (10, True), (1000, True)])
def test_a_table_has_a_row_for_every_class(entries: int, sound: bool) -> None:
    sketch = Sketch()
    data = sketch.add("Digits", "digits")
    table = sketch.add("Embedding", "table", {"entries": entries, "size": 4}, x=f"{data}.digit")
    head = sketch.add("Linear", "head", {"units": 10}, x=table)
    sketch.add("CrossEntropy", "loss", prediction=head, target=f"{data}.digit")
    if sound:
        assert sketch.check().problems == []
    else:
        problem = one(sketch, "table-size")
        assert problem.node_id == table and "10 classes" in problem.message and "9 rows" in problem.message
        assert mended(sketch, problem).problems == []


# -- what is there to learn


def test_a_loss_that_nothing_learned_reaches_is_an_error() -> None:
    sketch = Sketch()
    data = sketch.add("Iris", "iris")
    act = sketch.add("ReLU", "act", x=f"{data}.features")
    loss = sketch.add("MSE", "loss", prediction=act, target=f"{data}.features")
    sketch.add("Linear", "aside", x=act)  # it learns, but the loss does not see it
    problem = one(sketch, "no-weights")
    assert problem.severity == "error" and problem.node_id == loss


def test_data_without_a_loss_and_a_loss_without_data_are_pointed_out() -> None:
    sketch = Sketch()
    data = sketch.add("Iris", "iris")
    sketch.add("Linear", "scores", {"units": 3}, x=f"{data}.features")
    assert one(sketch, "no-loss").severity == "warning"
    sketch = Sketch()
    start = sketch.add("Input", "in", {"shape": (4,)})
    head = sketch.add("Linear", "head", {"units": 4}, x=start)
    sketch.add("MSE", "loss", prediction=head, target=start)
    assert one(sketch, "no-data").severity == "warning"
    export_script(sketch.project, catalogue())


def test_a_metric_without_a_loss_trains_nothing_and_says_so() -> None:
    sketch = Sketch()
    data = sketch.add("Iris", "iris")
    head = sketch.add("Linear", "head", {"units": 3}, x=f"{data}.features")
    sketch.add("Accuracy", "accuracy", prediction=head, target=f"{data}.species")
    assert [problem.code for problem in sketch.check().problems] == ["no-loss"]
    assert "def train" not in export_script(sketch.project, catalogue()).text


def test_rows_of_two_data_nodes_that_meet_are_as_many() -> None:
    sketch = classifier()
    other = sketch.add("Wine", "wine")
    aside = sketch.add("Linear", "aside", {"units": 4}, x=f"{other}.features")
    assert sketch.check().errors == []  # they meet nowhere: each is drawn by itself
    twin = sketch.add("Iris", "twin", {"seed": 3})
    sketch.add("MSE", "far", prediction=aside, target=f"{twin}.features")
    problem = one(sketch, "pair-count")
    assert problem.node_id == twin and "178 rows" in problem.message and "150" in problem.message


def test_rows_that_meet_are_split_alike() -> None:
    sketch = classifier()
    twin = sketch.add("Iris", "twin", {"seed": 3})
    head = next(one for one, node in sketch.project.graph.nodes.items() if node.type == "Linear")
    sketch.add("Accuracy", "again", prediction=head, target=f"{twin}.species")
    assert one(sketch, "pair-split").node_id == twin
    sketch.project.plan = replace(sketch.project.plan, pairing="unpaired")
    problem = one(sketch, "unpaired")
    assert "meet row by row in again" in problem.message and problem.fix is not None


def test_an_input_beside_data_is_filled_by_nothing() -> None:
    sketch = classifier()
    lonely = sketch.add("Input", "extra", {"shape": (4,)})
    assert coded(sketch, "unfilled") == []
    sketch.add("Linear", "aside", x=lonely)
    problem = one(sketch, "unfilled")
    assert problem.node_id == lonely and "extra" in problem.message


# -- the plan


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"optimiser": Choice("SGD", {"nesterov": True})}, "momentum"),
        ({"optimiser": Choice("Adam", {"lr": -1.0})}, "Learning rate"),
        ({"optimiser": Choice("Lion")}, "Lion"),
        ({"schedule": Choice("Zigzag")}, "Zigzag"),
    ],
)
def test_a_plan_that_cannot_be_carried_out_is_a_problem(changes: dict[str, Any], words: str) -> None:
    sketch = classifier().plan(**changes)
    problem = one(sketch, "plan")
    assert problem.node_id is None and problem.severity == "error"
    assert words in problem.message


def test_errors_come_before_warnings() -> None:
    sketch = classifier(10)
    sketch.add("Linear", "lonely")
    severities = [problem.severity for problem in sketch.check().problems]
    assert severities == sorted(severities, key=lambda severity: severity != "error")
    assert len(severities) == 2
