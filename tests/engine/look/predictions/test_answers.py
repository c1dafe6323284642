"""Answers over the plane, along a line and for held out examples, of models whose weights are set by hand."""

import numpy as np
import pytest
import torch

from engine.catalogue import Catalogue, Emitted, Emitter, Loss, Port, Wire
from engine.document.graph import Graph, Link, Node, Project
from engine.document.plan import Plan
from engine.feed.feed import Feed, Probe
from engine.look.inputs import cloud_images
from engine.runs.settings import Settings
from engine.train.begin import begin_run
from engine.train.loop import Run
from engine.train.sources import Sources
from tests.bench.setting import gallery_project
from tests.engine.look.taking import take
from tests.engine.train.networks import DATASETS, catalogue, digits, iris, run_of


def plane(loss: str = "CrossEntropy", target: str = "label", units: int = 2) -> Project:
    """Points in the plane (n1) through one linear layer (n2) to a loss (n3)."""
    nodes = [
        Node("n1", "Points", "", {"form": "blobs"}),
        Node("n2", "Linear", "", {"units": units}),
        Node("n3", loss),
    ]
    links = [Link("n1", "point", "n2", "x"), Link("n2", "output", "n3", "prediction")]
    links.append(Link("n1", target, "n3", "target"))
    return Project("Plane", graph=Graph(nodes, links), plan=Plan(batch=32).with_(epochs=2))


def set_weights(run: Run, node: str, weight: list[list[float]], bias: list[float]) -> None:
    layer = run.model.get_submodule(run.program.modules[node])
    with torch.no_grad():
        layer.weight.copy_(torch.tensor(weight))
        layer.bias.copy_(torch.tensor(bias))


def test_regions_of_two_classes_meet_at_the_line_of_equal_scores() -> None:
    run = run_of(plane())
    set_weights(run, "n2", [[0.0, 0.0], [2.0, 0.0]], [0.0, -1.0])  # the second class right of x = 1/2
    (found,) = take(run, Probe("n3", "regions", (0, 1)))
    winner, sure, ahead = found.array.astype(np.float32)
    assert winner.shape == (100, 100)
    x = np.linspace(*found.extra["x"], 100)
    np.testing.assert_array_equal(winner, np.broadcast_to(x > 0.5, (100, 100)))
    np.testing.assert_allclose(sure[7], 1 / (1 + np.exp(-np.abs(2 * x - 1))), atol=1e-3)
    np.testing.assert_allclose(ahead[7], np.abs(2 * x - 1), atol=5e-3)
    assert found.extra["names"] == ("x", "y")
    assert found.extra["classes"] == ("first", "second")


def test_the_rows_on_which_support_vectors_rest() -> None:
    run = run_of(gallery_project("support-vectors"))
    run.advance()
    (found,) = take(run, Probe("n2", "held_rows", (0, 1)))
    layer = run.model.get_submodule(run.program.modules["n2"])
    rows = run.data["train"]["point"].flatten(1)
    held = [bool((row == layer.rows).all(1).any()) for row in rows]
    assert 0 < sum(held) < len(rows) == found.extra["rows"]
    np.testing.assert_array_equal(found.array, rows[torch.tensor(held)])


def test_the_other_features_of_iris_stay_at_the_pinned_example() -> None:
    project = iris(dropout=0.0)
    run = run_of(project)
    (found,) = take(run, Probe("n5", "regions", (2, 3)), pinned=4)
    assert found.extra["fixed"] == 2 and found.extra["example"] == 4
    assert found.extra["names"] == ("petal length", "petal width")
    batch = {name: column[4:5].clone() for name, column in run.data["validation"].items()}
    batch["features"][0, 2], batch["features"][0, 3] = found.extra["x"][1], found.extra["y"][0]
    run.model.eval()
    scores = run.program.forward(run.model, batch)
    assert found.array[0, 0, -1] == scores.flatten().argmax().item()


def test_a_surface_of_values() -> None:
    run = run_of(plane("MSE", "side", 1))
    set_weights(run, "n2", [[1.0, 10.0]], [0.5])
    (found,) = take(run, Probe("n3", "regions"))
    x, y = np.linspace(*found.extra["x"], 100), np.linspace(*found.extra["y"], 100)
    np.testing.assert_allclose(found.array, x[None] + 10 * y[:, None] + 0.5, rtol=1e-4, atol=1e-4)


def test_regions_and_points_of_a_perceptron() -> None:
    run = run_of(gallery_project("perceptron-gates"))
    set_weights(run, "n2", [[1.0, 1.0]], [-1.0])
    regions, points = take(run, Probe("n2", "regions"), Probe("n2", "points"))
    x, y = np.linspace(*regions.extra["x"], 100), np.linspace(*regions.extra["y"], 100)
    sums = x[None] + y[:, None] - 1
    clear = np.abs(sums) > 1e-6
    np.testing.assert_array_equal(regions.array[0][clear], (sums > 0)[clear])
    assert regions.extra["steps"] and regions.extra["classes"] == ("no", "yes")
    assert points.extra["training"] == 4  # every split holds the same four rows
    assert sorted(map(tuple, points.array.tolist())) == [(-1, -1, 0), (-1, 1, 0), (1, -1, 0), (1, 1, 1)]


@pytest.mark.parametrize("measured", [True, False])
def test_pictures_of_rules_change_no_weight(measured: bool) -> None:
    project = gallery_project("perceptron-gates")
    if not measured:
        nodes = [node for node in project.graph.nodes.values() if node.type != "Accuracy"]
        kept = {node.id for node in nodes}
        project.graph = Graph(nodes, [link for link in project.graph.links if link.target in kept])
    run = run_of(project)
    before = [weight.clone() for weight in run.model.state_dict().values()]
    found = take(run, *(Probe("n2", what) for what in ("regions", "points", "answers", "worst_and_best")))
    assert not any("failed" in snapshot.extra for snapshot in found)
    assert all(torch.equal(*pair) for pair in zip(before, run.model.state_dict().values(), strict=True))


def line() -> Project:
    nodes = [Node("n1", "Line"), Node("n2", "Linear", "", {"units": 1}), Node("n3", "MSE")]
    links = [
        Link("n1", "x", "n2", "x"),
        Link("n1", "y", "n3", "target"),
        Link("n2", "output", "n3", "prediction"),
    ]
    return Project("Line", graph=Graph(nodes, links), plan=Plan(batch=16).with_(epochs=2))


def test_a_fit_and_its_residuals() -> None:
    run = run_of(line())
    set_weights(run, "n2", [[3.0]], [-1.0])
    (found,) = take(run, Probe("n3", "fit"))
    x, y = found.array.T
    np.testing.assert_allclose(y, 3 * x - 1, atol=1e-5)
    there, right, predicted = found.extra["residuals"].T
    np.testing.assert_allclose(there, run.data["validation"]["x"][:, 0])
    np.testing.assert_allclose(right, run.data["validation"]["y"][:, 0])
    np.testing.assert_allclose(predicted, 3 * there - 1, atol=1e-5)
    assert not found.extra["deviation"] and found.extra["name"] == "x"


def test_answers_are_probabilities_of_what_is_held_out() -> None:
    run = run_of(iris(dropout=0.0))
    (found,) = take(run, Probe("n5", "answers"), steps=5)
    run.model.eval()
    scores = run.program.forward(run.model, run.data["validation"])
    scores = scores[0] if isinstance(scores, tuple) else scores
    np.testing.assert_allclose(found.array, scores.softmax(1).detach(), atol=1e-5)
    np.testing.assert_array_equal(found.extra["right"], run.data["validation"]["species"])
    assert found.extra["total"] == len(found.array) == 30


def test_answers_of_a_regression_are_pairs() -> None:
    run = run_of(line())
    set_weights(run, "n2", [[2.0]], [0.0])
    (found,) = take(run, Probe("n2", "answers"))
    np.testing.assert_allclose(found.array[:, 0], 2 * run.data["validation"]["x"][:, 0], atol=1e-6)
    np.testing.assert_allclose(found.array[:, 1], run.data["validation"]["y"][:, 0])


def test_the_worst_come_first() -> None:
    run = run_of(iris(dropout=0.0))
    worst, answers = take(run, Probe("n5", "worst_and_best", (3,)), Probe("n5", "answers"), steps=3)
    given = answers.array[np.arange(30), answers.extra["right"]]
    order = np.argsort(given)
    assert worst.extra["rows"][:3] == tuple(order[:3])
    assert worst.extra["rows"][3:] == tuple(order[::-1][:3])
    np.testing.assert_allclose(worst.extra["loss"][:3], -np.log(given[order[:3]]), rtol=1e-4)
    np.testing.assert_allclose(worst.array, run.data["validation"]["features"][list(worst.extra["rows"])])
    assert worst.extra["names"][0] == "sepal length"


def test_examples_are_images_or_numbers() -> None:
    run = run_of(digits())
    (found,) = take(run, Probe("n5", "examples", (7, 3)))
    np.testing.assert_allclose(found.array, run.data["validation"]["image"][[7, 3]].mean(1))
    assert found.extra["rows"] == (7, 3)


def test_a_cloud_is_seen_from_the_front_and_its_nearest_points_are_brightest() -> None:
    corners = np.array([[-1, -1, 0], [1, -1, 0.5], [-1, 1, 1], [0, 0, 0]], np.float32)
    image = cloud_images(corners[None], 20)[0]
    found = [image[18, 0], image[18, 18], image[0, 0]]  # below left, below right, above left
    np.testing.assert_allclose(found, [0.35, 0.675, 1.0], atol=1e-6)
    assert (image > 0).sum() == 12 and image[9:11, 9:11].max() == 0  # zero is a filling
    assert not cloud_images(np.zeros((1, 5, 3), np.float32)).any()


def test_examples_of_clouds_are_drawn() -> None:
    (found,) = take(run_of(gallery_project("point-clouds")), Probe("", "worst_and_best", (2,)))
    assert found.array.shape == (4, 48, 48)


def test_what_cannot_be_drawn_says_why() -> None:
    run = run_of(digits())
    regions, nothing = take(run, Probe("n5", "regions"), Probe("n2", "answers"))
    assert "two features" in regions.extra["failed"]
    assert "compared" in nothing.extra["failed"]


@pytest.mark.parametrize("low", [-1.0, 0.0])
def test_yes_or_no_of_rules_is_a_probability_of_either_answer(low: float) -> None:
    project = gallery_project("perceptron-gates")
    if not low:
        params = {"n1": {"signs": False}, **{node: {"targets": "0 and 1"} for node in ("n2", "n4", "n6")}}
        nodes = [
            Node(node.id, node.type, node.name, params.get(node.id, {}), node.position)
            for node in project.graph.nodes.values()
        ]
        project.graph = Graph(nodes, project.graph.links)
    run = run_of(project)
    set_weights(run, "n4", [[1.0, 1.0]], [0.5])
    (found,) = take(run, Probe("n4", "answers"))
    assert set(np.unique(found.array)) == {0.0, 1.0}
    assert found.extra["right"].tolist() == [0, 1, 1, 1]


class GaussianNLL(Loss):
    """A loss for a mean and a variance."""

    title = "Gaussian likelihood"
    ports_in = (Port("prediction"), Port("variance"), Port("target"))

    def emit(self, e: Emitter, prediction: Wire, variance: Wire, target: Wire) -> Emitted:
        return 0.5 * (variance.log() + (prediction - target) ** 2 / variance).mean()


def test_a_head_that_says_how_sure_it_is_has_a_deviation() -> None:
    nodes = [
        Node("n1", "Line"),
        Node("n2", "Linear", "mean", {"units": 1}),
        Node("n4", "Linear", "variance", {"units": 1}),
        Node("n5", "Softplus"),
        Node("n3", "GaussianNLL"),
    ]
    links = [
        Link("n1", "x", "n2", "x"),
        Link("n1", "x", "n4", "x"),
        Link("n4", "output", "n5", "x"),
        Link("n2", "output", "n3", "prediction"),
        Link("n5", "output", "n3", "variance"),
        Link("n1", "y", "n3", "target"),
    ]
    project = Project("Sure", graph=Graph(nodes, links), plan=Plan(batch=16).with_(epochs=2))
    types = Catalogue([*catalogue().types(), GaussianNLL])
    sources = Sources(types, DATASETS)
    program = sources.program(project, 1)
    settings = Settings.of(project.plan, device="cpu")
    run = begin_run(program, types, sources.loader(program, "cpu"), settings, Feed(), 1)
    set_weights(run, "n4", [[0.0]], [float(np.log(np.exp(4.0) - 1))])  # softplus of it is 4
    (found,) = take(run, Probe("n3", "fit"))
    assert found.extra["deviation"]
    np.testing.assert_allclose(found.array[:, 2], 2.0, rtol=1e-5)
