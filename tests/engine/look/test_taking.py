"""Pictures of a model: right in content, without a trace in the run, within their budget."""

import logging
from pathlib import Path

import numpy as np
import pytest
import torch

from engine.document.graph import Project
from engine.feed.feed import Feed, Probe
from engine.look.taking import BUDGET, Probes
from engine.runs import checkpoints
from engine.runs.settings import Stage
from engine.train import state
from engine.train.loop import Run
from tests.engine.train.networks import catalogue, digits, iris, run_of
from tests.gallery.recipes import recipes
from tests.sampling import every

KINDS = (
    *("activations", "filters", "weights", "gradients", "output_histogram", "predictions", "confusion"),
    "norms",
)


def everything(run: Run) -> frozenset[Probe]:
    nodes = ["", *run.program.project.graph.nodes]
    return frozenset(Probe(node, what) for node in nodes for what in KINDS)


@pytest.mark.parametrize(
    "project", [iris(norm=True), digits()], ids=["dropout and batch norm", "convolution"]
)
def test_the_losses_are_the_same_watched_or_not(project: Project) -> None:
    curves = []
    for watched in (False, True):
        run = run_of(project)
        probes = Probes(run.feed)
        if watched:
            probes.watch(everything(run))
        while run.stage is not Stage.DONE:
            if watched:
                probes.refresh()
                probes.take_due(run, 1.0)
            run.advance()
        assert all(module.training for module in run.model.modules())
        curves.append({name: run.feed.read(name)["value"].tolist() for name in run.feed.series()})
        curves[-1].pop("lr")
    assert curves[0] == curves[1]


def taken(project: Project, steps: int = 2) -> tuple[Run, Feed]:
    run = run_of(project)
    probes = Probes(run.feed)
    probes.watch(everything(run))
    for _ in range(steps):
        probes.refresh()
        probes.take_due(run, 1.0)
        run.advance()
    probes.refresh()
    probes.take_all(run)
    return run, run.feed


def test_a_convolution_shows_maps_kernels_and_histograms() -> None:
    """C-19, C-23: on a network of the user's own."""
    run, feed = taken(digits())
    image = run.data["validation"]["image"][:1]
    run.model.eval()
    with torch.no_grad():
        expected = torch.relu(run.model.edges(image))[0].numpy()  # type: ignore[operator]
    maps = feed.latest(Probe("n2", "activations"))
    assert maps is not None and (maps.revision, maps.step) == (3, 2)
    assert np.array_equal(maps.array, expected) and maps.extra["shape"] == expected.shape
    shown = feed.latest(Probe("n1", "activations"))
    assert shown is not None and np.array_equal(shown.array, image[0].numpy())
    filters = feed.latest(Probe("n2", "filters"))
    assert filters is not None and filters.array.shape == (6, 3, 3) and filters.extra["kind"] == "kernels"
    assert np.array_equal(filters.array, run.model.edges.weight.detach()[:, 0].numpy())  # type: ignore[union-attr,index]
    weights = feed.latest(Probe("n2", "weights"))
    assert weights is not None and weights.array.sum() == 60 and len(weights.extra["edges"]) == 65
    gradients = feed.latest(Probe("n4", "gradients"))
    assert gradients is not None and gradients.array.sum() == weights_in(run, "classes")
    values = feed.latest(Probe("n2", "output_histogram"))
    assert values is not None and 0 < values.extra["zeros"] < 1 and values.extra["min"] == 0


def weights_in(run: Run, name: str) -> int:
    return sum(weight.numel() for weight in run.model.get_submodule(name).parameters())


def test_a_picture_shares_nothing_with_the_model() -> None:
    run, feed = taken(digits())
    filters = feed.latest(Probe("n2", "filters"))
    assert filters is not None
    before = filters.array.copy()
    run.advance()
    assert np.array_equal(filters.array, before)


def test_predictions_are_probabilities_with_the_target() -> None:
    run, feed = taken(iris())
    for node_id in ("n5", "n4"):
        found = feed.latest(Probe(node_id, "predictions"))
        assert found is not None and found.array.shape == (3,) and found.array.sum() == pytest.approx(1)
        assert found.extra["target"] == int(run.data["validation"]["species"][0])
        assert len(found.extra["classes"]) == 3


def test_norms_of_all_layers_with_their_movement() -> None:
    run, feed = taken(iris())
    found = feed.latest(Probe("", "norms"))
    assert found is not None and found.extra["nodes"] == ("n2", "n4")
    assert found.extra["columns"] == ("gradient", "weight", "update")
    assert found.array.shape == (2, 3) and (found.array > 0).all()
    gradient = torch.cat([weight.grad.flatten() for weight in run.model.classes.parameters()])  # type: ignore[union-attr]
    assert found.array[1, 0] == pytest.approx(gradient.norm().item(), rel=1e-5)


def test_confusion_counts_the_whole_validation_split() -> None:
    run = run_of(iris())
    while run.epoch == 0:
        run.advance()
    found = run.feed.latest(Probe("n5", "confusion"))
    assert found is not None and found.array.shape == (3, 3)
    right = run.data["validation"]["species"]
    assert found.array.sum(1).tolist() == torch.bincount(right, minlength=3).tolist()
    accuracy = run.feed.last("val_accuracy")
    assert accuracy is not None and np.trace(found.array) / found.array.sum() == pytest.approx(accuracy)


def test_a_costly_group_waits_until_training_has_earned_it() -> None:
    probes = Probes(Feed())
    probes.watch(frozenset({Probe("n1", "weights"), Probe("n1", "activations")}))
    assert probes.next_due == 0.0
    probes.charge("weights", 2.0)
    probes.charge("example", 0.0)
    due = probes._due
    assert due["weights"] - due["example"] == pytest.approx(2.0 / (BUDGET / 2) - 0.25, abs=0.01)


def test_what_nobody_watches_is_never_due() -> None:
    probes = Probes(Feed())
    probes.watch(frozenset({Probe("n1", "weights")}))
    probes.watch(frozenset())
    assert probes.next_due == float("inf")


def test_a_probe_of_a_node_that_is_gone_gives_nothing() -> None:
    run = run_of(iris())
    probes = Probes(run.feed)
    probes.watch(frozenset(Probe("n99", what) for what in KINDS))
    probes.take_all(run)
    probes.take_due(run, float("inf"))
    run.advance()
    assert run.feed.latest(Probe("n99", "activations")) is None


RECIPES = recipes()


@pytest.mark.parametrize("name", every(3, RECIPES))
def test_every_node_type_can_be_watched_and_stored(
    name: str, caplog: pytest.LogCaptureFixture, tmp_path: Path
) -> None:
    project = RECIPES[name]
    caplog.set_level(logging.DEBUG, "engine.train")
    if project.plan.batch:  # some rules need all rows at once
        project.plan = project.plan.with_(batch=16)
    run, feed = taken(project, steps=1)
    for node_id, node in project.graph.nodes.items():
        if catalogue().make(node).kind in ("layer", "data"):
            assert feed.latest(Probe(node_id, "activations")) is not None
    state.save(tmp_path, run)
    other = run_of(project)
    state.restore(other, *checkpoints.load(tmp_path))
    mine, found = state.capture(run)[1], state.capture(other)[1]
    assert {**mine, "seconds": 0} == {**found, "seconds": 0}
    assert not caplog.records
