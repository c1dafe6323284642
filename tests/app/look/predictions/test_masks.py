"""Images beside the class of each of their pixels, right and predicted."""

from __future__ import annotations

import numpy as np
import pytest
from PySide6.QtCore import QPoint
from pytestqt.qtbot import QtBot

from app.charts.arrays.class_maps import NO_CLASS, ClassLegend, ClassMaps, fractions, palette
from app.charts.arrays.tiles import Grid
from app.look.base import Subject
from app.look.predictions.masks import Masks, tells_pixels
from app.theme import current_theme
from app.workspace.workspace import Workspace
from engine.feed.feed import Probe
from engine.shapes.heads import UNCOUNTED
from tests.app.look.showing import painted, shown, snapshot
from tests.engine.look.taking import take
from tests.engine.sketches import gallery
from tests.engine.train.networks import run_of

RIGHT = np.array([[[0, 1], [UNCOUNTED, 1]], [[0, 0], [0, 1]]], np.int16)
PREDICTED = np.array([[[0, 1], [1, 0]], [[0, 0], [0, 1]]], np.int16)
FACTS = {
    "right": RIGHT,
    "predicted": PREDICTED,
    "share": np.array([2 / 3, 1.0], np.float32),
    "rows": (4, 9),
    "names": ("sky", "tree"),
    "split": "validation",
}


def test_right_and_predicted_classes_stand_beside_the_image(shaped: Workspace, qtbot: QtBot) -> None:
    view = Masks(Subject(shaped, "n5"))
    qtbot.addWidget(view)
    view.resize(300, 200)
    shown(view, {Probe("n5", "masks"): snapshot(np.zeros((2, 1, 2, 2), np.float32), **FACTS)})
    assert view.note == "83.3 % of pixels right · image, right, predicted"
    assert view.tiles.captions == [
        "example 5: 66.7 % of the pixels right",
        "example 10: 100.0 % of the pixels right",
    ]
    table = view.table()
    assert table is not None and [row[0] for row in table[1]] == [5, 10]
    assert view.tiles.uncounted
    assert len(np.unique(painted(view).reshape(-1, 3), axis=0)) > 4
    assert view.tiles.describe(QPoint(2, 2)).splitlines() == [
        "example 5: 66.7 % of the pixels right",
        f"right: tree 50 %, {NO_CLASS} 25 %, sky 25 %",
        "predicted: sky 50 %, tree 50 %",
    ]


def test_each_class_has_its_colour_and_no_class_another(qtbot: QtBot) -> None:
    maps = ClassMaps()
    qtbot.addWidget(maps)
    maps.show_classes(np.ones((2, 1, 2, 2), np.float32), (RIGHT,), ("sky", "tree"), ("mask",))
    drawn = maps.colours(0, 2, Grid(2, 1, 5, 2, 2))
    assert drawn.shape == (2, 2, 5)  # two columns of the image, one between, two of the mask
    assert (drawn[:, :, :2] == 0xFFFFFFFF).all()
    colours = (255 * palette(current_theme(), 2)).round().astype(np.uint32)
    packed = 0xFF000000 | colours[:, 0] << 16 | colours[:, 1] << 8 | colours[:, 2]
    assert np.array_equal(drawn[:, :, 3:], packed[np.where(RIGHT < 0, 2, RIGHT)])


def test_a_legend_names_what_has_room_and_tells_the_rest(qtbot: QtBot) -> None:
    legend = ClassLegend()
    qtbot.addWidget(legend)
    legend.show_classes([f"class {index}" for index in range(30)], uncounted=True)
    assert legend.toolTip().splitlines()[-2:] == ["class 29", NO_CLASS]
    wide = painted(legend, 300, 20)
    assert len(np.unique(wide.reshape(-1, 3), axis=0)) > 5
    assert fractions(np.array([[0, 5]]), ("sky",)) == "sky 50 %, 5 50 %"


@pytest.fixture(scope="module")
def run():  # type: ignore[no-untyped-def]
    return run_of(gallery("shapes-masks"))


def test_a_network_that_tells_pixels_shows_them(run) -> None:  # type: ignore[no-untyped-def]
    head = run.heads[0]
    (found,) = take(run, Probe(head.node_id, "masks"), pinned=7)
    facts = found.extra
    assert found.array.shape == (12, 1, 32, 32) and facts["rows"][0] == 7
    assert facts["names"] == ("background", "disk", "ring", "cross")
    rows = list(facts["rows"])
    right = run.data["validation"]["mask"][rows].numpy()
    assert np.array_equal(facts["right"], right) and (right == UNCOUNTED).any()
    assert np.array_equal(found.array, run.data["validation"]["image"][rows].numpy())
    counted = right != UNCOUNTED
    hits = ((facts["predicted"] == right) & counted).sum((1, 2)) / counted.sum((1, 2))
    assert np.allclose(facts["share"], hits)


def test_it_is_offered_where_pixels_are_told(shaped: Workspace) -> None:
    shaped.document.replace(gallery("shapes-masks"), None)
    graph = shaped.document.project.graph
    offered = {node.name for node in graph.nodes.values() if tells_pixels(Subject(shaped, node.id))}
    assert offered == {"scores", "cross-entropy"}
