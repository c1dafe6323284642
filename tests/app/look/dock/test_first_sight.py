"""What the views show of a network by themselves: the view that says best what it does."""

from __future__ import annotations

import pytest
from pytestqt.qtbot import QtBot

from app.look.dock.first_sight import beside_lead, first_sight
from app.look.playground.procedure import RunProcedure
from app.look.registry import view_kinds
from app.workspace.workspace import Workspace
from engine.document.files import load_project
from engine.document.graph import Project
from tests.engine.train.networks import DATASETS

EXPECTED = {
    "two-spirals": ("decision-regions", "scores"),
    "perceptron-gates": ("decision-regions", "AND unit"),
    "iris": ("worst-and-best", "species"),
    "mnist-cnn": ("worst-and-best", "classes"),
    "gan-digits": ("samples", "generator"),
    "shapes-masks": ("masks", "scores"),
    "digit-boxes": ("boxes", "grid"),
    "santa-fe-lstm": ("forecast", "forecast"),
    "romeo-letters": ("written-text", "scores"),
    "numbers-in-words": ("next-token", "digits"),
    "masked-letters": ("hidden-tokens", "scores"),
    "rbm-mnist": ("reconstructions", "RBM"),
    "hopfield-2d": ("energy-landscape", "Hebb"),
    "linear-regression": ("fit", "by gradient"),
    "graph-classes": ("graphs", "kind"),
    "point-clouds": ("worst-and-best", "solid"),
    "karate-club": ("graphs", "club"),
    "dqn-grid": ("grid-world", "maze"),
    "word-vectors": ("nearest-words", "words"),
    "end-marks": ("worst-and-best", "mark"),
    "copying-lags": ("state-jacobian", "Elman"),
}


@pytest.mark.parametrize("name", EXPECTED)
def test_the_first_view_is_that_of_the_task(shaped: Workspace, name: str) -> None:
    shaped.document.replace(load_project(DATASETS.parent / "gallery" / f"{name}.nloom"), None)
    found = first_sight(shaped)
    assert found is not None
    kind, subject = found
    assert subject.node is not None
    assert (kind.id, subject.node.name) == EXPECTED[name]


def test_of_points_out_of_noise_it_is_what_is_made_of_noise(shaped: Workspace, qtbot: QtBot) -> None:
    shaped.document.replace(load_project(DATASETS.parent / "gallery" / "diffusion-points.nloom"), None)
    found = first_sight(shaped)
    assert found is not None and (found[0].id, found[1].node_id) == ("procedure", "")
    view = found[0].make(found[1])
    qtbot.addWidget(view)
    assert isinstance(view, RunProcedure) and view.offer is not None and view.offer.name == "sample"


def test_of_a_network_without_data_it_is_where_its_parameters_are(shaped: Workspace) -> None:
    shaped.document.replace(load_project(DATASETS.parent / "gallery" / "gpt2-small.nloom"), None)
    found = first_sight(shaped)
    assert found is not None and (found[0].id, found[1].node_id) == ("parameter-budget", "")


def test_an_empty_project_has_none(shaped: Workspace) -> None:
    shaped.document.replace(Project(), None)
    assert first_sight(shaped) is None


def test_no_other_view_of_the_same_answer_stands_beside_the_first() -> None:
    kinds = view_kinds()
    others = [kinds["model-reconstructions"], kinds["layer_table"]]
    assert beside_lead(others, kinds["reconstructions"]) == [kinds["layer_table"]]
    assert beside_lead(others, kinds["fit"]) == beside_lead(others, None) == others


def test_two_kinds_never_lead_at_one_place() -> None:
    places = [kind.leads for kind in view_kinds().values() if kind.leads is not None]
    assert len(places) == len(set(places)) > 10
