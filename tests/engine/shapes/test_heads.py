"""Which wire answers and what is right, for losses, metrics and rules; which features the answer hangs on."""

import pytest

from engine.catalogue import Column, load_catalogue
from engine.document.graph import Graph, Link, Node, Project
from engine.shapes.heads import CLASSES, VALUES, YES_NO, features_of, head_of, heads, names_of
from engine.shapes.shapes import ShapeBook, check
from tests.bench.setting import gallery_project
from tests.engine.train.networks import digits, iris


def booked(project: Project) -> tuple[Project, ShapeBook]:
    return project, check(project, load_catalogue())


def test_a_loss_on_class_scores_asks_for_a_class() -> None:
    project, book = booked(iris())
    asked = head_of(project, book)
    assert asked is not None
    assert (asked.node_id, asked.kind, asked.size) == ("n5", CLASSES, 3)
    assert (asked.prediction, asked.target) == (("n4", "output"), ("n1", "species"))
    assert asked.labels == ("setosa", "versicolor", "virginica")
    assert head_of(project, book, "n4") == asked
    assert head_of(project, book, "n6").node_id == "n6"
    assert head_of(project, book, "n2") is None


def test_the_features_of_iris_have_the_names_of_its_doc() -> None:
    project, book = booked(iris())
    asked = head_of(project, book)
    names = [feature.name for feature in features_of(project, book, asked)]
    assert names == ["sepal length", "sepal width", "petal length", "petal width"]


def test_images_are_no_features() -> None:
    project, book = booked(digits())
    assert features_of(project, book, head_of(project, book)) == ()


def test_a_perceptron_is_asked_by_its_accuracy_and_never_sees_the_target() -> None:
    project, book = booked(gallery_project("perceptron-gates"))
    asked = head_of(project, book, "n4")
    assert asked is not None
    assert (asked.node_id, asked.kind, asked.plain_scores) == ("n5", YES_NO, False)
    features = features_of(project, book, asked)
    assert [(feature.column, feature.index) for feature in features] == [("inputs", 0), ("inputs", 1)]
    assert {ask.prediction[0] for ask in heads(project, book)} == {"n2", "n4", "n6"}


def test_a_line_is_a_question_of_values() -> None:
    project, book = booked(gallery_project("linear-regression"))
    asked = head_of(project, book, "n2")
    assert asked is not None and (asked.kind, asked.size, asked.column) == (VALUES, 1, "y")
    assert [feature.name for feature in features_of(project, book, asked)] == ["x"]


@pytest.mark.parametrize(
    ("doc", "names"),
    [
        ("x and y", ("x", "y")),
        ("x2 and x3; the bias is the layer's own", ("x2", "x3")),
        ("the two inputs", ("point 1", "point 2")),
    ],
)
def test_names_of_numbers(doc: str, names: tuple[str, ...]) -> None:
    assert names_of(Column("point", (2,), doc=doc)) == names


def test_binary_cross_entropy_gives_plain_scores_to_its_metric_too() -> None:
    nodes = [Node("n1", "BreastCancer"), Node("n2", "Linear", "", {"units": 1})]
    nodes += [Node("n3", "BCEWithLogits"), Node("n4", "Accuracy")]
    links = [Link("n1", "features", "n2", "x")]
    for asker in ("n3", "n4"):
        links += [Link("n2", "output", asker, "prediction"), Link("n1", "benign", asker, "target")]
    project, book = booked(Project("Tumours", graph=Graph(nodes, links)))
    assert all(head_of(project, book, asker).plain_scores for asker in ("n3", "n4"))
    assert head_of(project, book, "n2").kind == YES_NO
