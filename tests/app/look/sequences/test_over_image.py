"""Attention and positions of patches: the right cell of the image, the right step that reads."""

from __future__ import annotations

import numpy as np
import pytest
from pytestqt.qtbot import QtBot

from app.charts.arrays.cells import laid_over
from app.charts.colourmaps import VIRIDIS
from app.look.base import Subject
from app.look.registry import proposed
from app.look.sequences.over_image import AttentionOverImage, PositionMap, Rollout, of_patches
from app.workspace.workspace import Workspace
from engine.feed.feed import Probe
from tests.app.conftest import add_iris
from tests.app.look.showing import painted, shown, snapshot
from tests.engine.sketches import gallery

WEIGHTS = np.zeros((2, 5, 5), np.float32)  # a class token and 2 × 2 patches
WEIGHTS[0, 0] = [0.2, 0.8, 0, 0, 0]
WEIGHTS[1, 0] = [0, 0, 0, 0, 1]
WEIGHTS[:, 3, 2] = 1
IMAGE = np.zeros((8, 8), np.float32)
FACTS = {"grid": (2, 2, 1), "image": IMAGE, "example": 1, "split": "validation"}
MORE = {"modules": ("",), "barred": None, "block": 1, "size": (5, 5), "queries": (), "keys": ()}


def test_what_a_step_reads_of_each_patch() -> None:
    np.testing.assert_allclose(of_patches(WEIGHTS, (2, 2, 1), -1), [[[0.8, 0], [0, 0]], [[0, 0], [0, 1]]])
    np.testing.assert_allclose(of_patches(WEIGHTS, (2, 2, 1), 3)[0], [[0, 1], [0, 0]])
    np.testing.assert_allclose(of_patches(WEIGHTS, (2, 2, 1), -2)[0], [[0, 0.25], [0, 0]])


def test_a_cell_covers_its_patch_the_more_the_stronger_it_is() -> None:
    colours = laid_over(IMAGE, np.array([[1.0, 0.0], [0.25, 0.0]]), VIRIDIS, 0.0, 1.0, 1.0)
    assert colours.shape == (8, 8)
    top = int(VIRIDIS[255]) | 0xFF000000
    assert (colours[:4, :4] == top).all() and (colours[:4, 4:] == 0xFF000000).all()
    half = [int(VIRIDIS[63]) >> shift & 255 for shift in (16, 8, 0)]  # its square root covers
    found = [int(colours[5, 1]) >> shift & 255 for shift in (16, 8, 0)]
    assert np.abs(np.array(found) - np.array(half) / 2).max() <= 2


def test_a_map_a_head_over_the_image(shaped: Workspace, qtbot: QtBot) -> None:
    add_iris(shaped)
    view = AttentionOverImage(Subject(shaped, "n2"))
    qtbot.addWidget(view)
    shown(view, {Probe("n2", "attention", (0,)): snapshot(WEIGHTS, **FACTS, **MORE)})
    painted(view, 400, 200)
    assert [sheet.title for sheet in view.sheets.sheets] == ["image", "head 1", "head 2"]
    assert view.sheets.scale == (0.0, 1.0)
    np.testing.assert_allclose(view.sheets.sheets[1].values, [[0.8, 0], [0, 0]])
    assert view.note == "class token reads · validation example 2"
    view.reader.box.setCurrentIndex(view.reader.box.findText("row 2, column 1"))
    view.redraw()
    np.testing.assert_allclose(view.sheets.sheets[2].values, [[0, 1], [0, 0]])
    other = AttentionOverImage(Subject(shaped, "n2"))
    qtbot.addWidget(other)
    other.restore(view.state())
    assert other.reader.query == 3
    corner = view.sheets.boxes[2]
    at = (corner.center() + corner.topRight()) / 2
    assert "1" in view.sheets.describe(at.toPoint())


def test_a_rollout_lies_over_the_image_or_is_a_map_of_tokens(shaped: Workspace, qtbot: QtBot) -> None:
    add_iris(shaped)
    view = Rollout(Subject(shaped, "n2"))
    qtbot.addWidget(view)
    probe = Probe("n2", "attention_rollout")
    shown(view, {probe: snapshot(WEIGHTS, **FACTS)})
    assert [sheet.title for sheet in view.sheets.sheets] == ["image", "after layer 1", "after layer 2"]
    assert view.note == "class token reads · 2 layers · validation example 2"
    assert view.sheets.isVisibleTo(view) and not view.map.isVisibleTo(view)
    shown(view, {probe: snapshot(WEIGHTS, example=0, split="validation")})
    np.testing.assert_allclose(view.map.weights, WEIGHTS)
    assert view.map.isVisibleTo(view) and not view.sheets.isVisibleTo(view)


def test_the_position_of_each_patch_beside_all_others(shaped: Workspace, qtbot: QtBot) -> None:
    add_iris(shaped)
    view = PositionMap(Subject(shaped, "n2"))
    qtbot.addWidget(view)
    likeness = np.arange(25.0).reshape(5, 5) / 25
    probe = Probe("n2", "positions")
    shown(view, {probe: snapshot(np.zeros((5, 3)), likeness=likeness, size=(5, 3), grid=(2, 2, 1))})
    painted(view)
    assert [sheet.title for sheet in view.sheets.sheets] == ["1, 1", "1, 2", "2, 1", "2, 2"]
    np.testing.assert_allclose(view.sheets.sheets[2].values, likeness[3, 1:].reshape(2, 2))
    shown(view, {probe: snapshot(np.zeros((5, 3)), likeness=likeness, size=(500, 3), grid=None)})
    assert view.sheets.message


@pytest.mark.parametrize(("node_id", "offered"), [("n23", True), ("n5", False)])
def test_they_are_proposed_where_patches_are_read(shaped: Workspace, node_id: str, offered: bool) -> None:
    shaped.document.replace(gallery("vit-mnist"), None)
    kinds = {kind.id for kind in proposed(Subject(shaped, node_id))}
    assert ({"attention-image", "attention-rollout"} <= kinds) is offered
    assert ("position-map" in kinds) is not offered
