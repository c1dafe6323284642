"""Live views: drawn once a snapshot, only for what is in view."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QFontMetrics, QImage, QPainter
from pytestqt.qtbot import QtBot

from app.canvas.items.thumbnail import caption_in, thumbnail_of
from app.canvas.view import GraphView
from app.charts.class_marks import class_colour
from app.theme import current_theme
from app.workspace.watching import watching
from app.workspace.workspace import Workspace
from engine.document.edits import Rename
from engine.feed.feed import Probe, Snapshot
from tests.app.fake_run import RestingTrainer


@pytest.fixture
def trainer(workspace: Workspace) -> RestingTrainer:
    made = RestingTrainer()
    workspace.trainer = made
    return made


def _snapshot(*shape: int) -> Snapshot:
    return Snapshot(0, 0, np.random.default_rng(0).random(shape, dtype=np.float32), {})


def _watched(workspace: Workspace) -> set[str]:
    return {probe.node_id for probe in watching(workspace).union}


def test_nodes_show_the_newest_snapshot_and_losses_their_value(
    view: GraphView, workspace: Workspace, trainer: RestingTrainer, build: Callable[..., None]
) -> None:
    build([("n1", "Conv2d", 0, 0), ("n2", "Linear", 200, 0), ("n3", "CrossEntropy", 400, 0)])
    trainer.feed.put(Probe("n1", "activations"), _snapshot(8, 5, 5))
    trainer.feed.append("train_loss", 1, 0.1, 0.1, 0.04127)
    workspace.engine_ready.emit()
    items = view.graph_scene.node_items
    first = items["n1"].thumbnail
    assert first is not None and items["n2"].thumbnail is None
    assert items["n3"].value == "0.0413"
    view.thumbnails._redraw()
    assert items["n1"].thumbnail is first
    trainer.feed.put(Probe("n1", "activations"), _snapshot(8, 5, 5))
    view.thumbnails._redraw()
    assert items["n1"].thumbnail is not first
    view.grab()


def test_only_nodes_in_view_and_near_enough_are_watched(
    view: GraphView, workspace: Workspace, trainer: RestingTrainer, build: Callable[..., None], qtbot: QtBot
) -> None:
    build([("n1", "Linear", 0, 0), ("n2", "Linear", 9000, 0), ("n3", "MeanSquaredError", 200, 0)])
    view.navigation.set_zoom(1.0)
    view.reveal("n1")
    workspace.engine_ready.emit()
    assert _watched(workspace) <= {"n1"}
    view.reveal("n2")
    qtbot.waitUntil(lambda: _watched(workspace) == {"n2"})
    view.navigation.set_zoom(0.2)
    qtbot.waitUntil(lambda: not _watched(workspace))
    view.navigation.set_zoom(1.0)
    view.hide()
    assert not watching(workspace).union


def test_nodes_that_come_later_are_watched_and_show_what_they_compute(
    view: GraphView, workspace: Workspace, trainer: RestingTrainer, qtbot: QtBot
) -> None:
    """Whoever builds by hand moves no viewport; an undo brings new items for the same nodes."""
    view.navigation.set_zoom(1.0)
    view.navigation.centre_on(QPointF(300, 100))
    workspace.engine_ready.emit()
    qtbot.wait(120)
    assert not watching(workspace).union
    added = view.add_node("Linear", QPointF(200, 100))
    assert added is not None
    qtbot.waitUntil(lambda: _watched(workspace) == {added})
    trainer.feed.put(Probe(added, "activations"), _snapshot(8))
    workspace.ticked.emit()
    qtbot.waitUntil(lambda: view.graph_scene.node_items[added].thumbnail is not None)
    view.delete_selection()
    view.undo()
    qtbot.waitUntil(lambda: view.graph_scene.node_items[added].thumbnail is not None)


def test_views_of_every_kind_of_array() -> None:
    assert len(thumbnail_of(_snapshot(4, 6, 6), (102, 32)).tiles) == 3
    assert len(thumbnail_of(_snapshot(4, 6, 6), (40, 24)).tiles) == 1
    assert thumbnail_of(_snapshot(4, 6, 6), (102, 10)) is None
    assert thumbnail_of(_snapshot(1, 128, 128), (102, 32), data=True).tiles[0].width() <= 64
    assert len(thumbnail_of(_snapshot(3000), (44, 24)).above) == 12
    assert thumbnail_of(_snapshot(1), (44, 24)) is None
    assert thumbnail_of(_snapshot(0), (44, 24)) is None
    signed = thumbnail_of(Snapshot(0, 0, np.array([-1.0, np.nan, np.inf, 3.0]), {}), (44, 24))
    assert len(signed.above) == 3 and len(signed.below) == 1
    assert all(bar.top() >= 0 and bar.bottom() <= 24 for bar in (*signed.above, *signed.below))


@pytest.mark.parametrize("zoom", [1.0, 0.75, 0.5, 0.25])
def test_tiles_have_a_gap_between_them_at_any_zoom(zoom: float) -> None:
    thumbnail = thumbnail_of(Snapshot(0, 0, np.ones((3, 6, 6), np.float32), {}), (102, 32))
    image = QImage(round(104 * zoom), round(34 * zoom), QImage.Format.Format_RGB32)
    image.fill(Qt.GlobalColor.white)
    painter = QPainter(image)
    painter.scale(zoom, zoom)
    thumbnail.paint(painter, QPointF(0, 0), current_theme())
    painter.end()
    white = [image.pixelColor(x, 2).lightness() == 255 for x in range(round(102 * zoom))]
    gaps = "".join("-" if one else " " for one in white).strip("-").split()
    assert len(gaps) == 2 and all(len(gap) >= 2 for gap in gaps)


def test_data_says_what_its_example_is() -> None:
    ports = {"image": np.zeros((1, 4, 4)), "digit": np.array([6.0])}
    snapshot = Snapshot(0, 0, np.zeros((1, 4, 4), np.float32), {"ports": ports})
    assert thumbnail_of(snapshot, (102, 32), data=True).caption == "digit 6"
    words = {"digit": tuple(["zero", "one", "two", "three", "four", "five", "six"])}
    assert thumbnail_of(snapshot, (102, 32), data=True, classes=words).caption == "digit six"
    assert thumbnail_of(snapshot, (102, 32), data=True, classes={"digit": ("zero",)}).caption == "digit 6"


def test_nodes_inside_a_block_show_views_too(
    view: GraphView, workspace: Workspace, trainer: RestingTrainer, build: Callable[..., None]
) -> None:
    build(
        [
            ("n1", "Digits", 0, 0),
            ("n2", "Conv2d", 200, 0),
            ("n3", "Conv2d", 400, 0),
            ("n4", "Flatten", 600, 0),
        ],
        [("n1", "image", "n2", "x"), ("n2", "output", "n3", "x"), ("n3", "output", "n4", "x")],
    )
    workspace.engine_ready.emit()
    workspace.select(("n2", "n3"))
    view.compose.group()
    view.naming.finish(keep=False)
    trainer.feed.put(Probe("n3", "activations"), _snapshot(8, 5, 5))
    view.compose.enter()
    assert Probe("n3", "activations") in watching(workspace).union
    assert view.graph_scene.node_items["n3"].thumbnail is not None
    view.grab()
    view.compose.leave()
    assert Probe("n3", "activations") not in watching(workspace).union


def test_data_with_three_channels_are_in_colour() -> None:
    colours = np.zeros((3, 2, 2), np.float32)
    colours[0], colours[1, 0, 1] = 1.0, 0.5
    (tile,) = thumbnail_of(Snapshot(0, 0, colours), (102, 32), data=True).tiles
    assert tile.pixelColor(0, 0).getRgb() == (255, 0, 0, 255)
    assert tile.pixelColor(1, 0).getRgb() == (255, 127, 0, 255)


def test_a_caption_that_is_too_long_goes_without_its_ports_name(qapp: object) -> None:
    metrics = QFontMetrics(current_theme().mono(9))
    room = metrics.horizontalAdvance("background") + 2
    assert caption_in("label background", metrics, room) == "background"
    assert caption_in("digit 3", metrics, room) == "digit 3"
    assert caption_in("label background\nodd 1", metrics, room / 2).split("\n")[0].endswith("…")


def test_a_mask_stands_beside_its_image_in_the_colours_of_its_classes() -> None:
    mask = np.array([[0, 1], [-100, 1]], np.float32)
    ports = {"image": np.ones((1, 2, 2), np.float32), "mask": mask}
    snapshot = Snapshot(1, 1, ports["image"], {"port": "image", "ports": ports})
    names = {"mask": ("sky", "tree")}
    thumbnail = thumbnail_of(snapshot, (60, 20), data=True, classes=names)
    assert thumbnail is not None and len(thumbnail.tiles) == 2
    drawn = thumbnail.tiles[1]
    theme = current_theme()
    colours = [class_colour(theme, 0), class_colour(theme, 1), theme.dim, class_colour(theme, 1)]
    places = [(0, 0), (1, 0), (0, 1), (1, 1)]
    assert [drawn.pixelColor(*at).name() for at in places] == [one.name() for one in colours]
    without = thumbnail_of(snapshot, (60, 20), data=True)
    assert without is not None and len(without.tiles) == 1  # numbers of no class are no mask


def test_two_losses_of_one_name_show_each_its_own_value(
    view: GraphView, workspace: Workspace, trainer: RestingTrainer, build: Callable[..., None]
) -> None:
    build([("n1", "Linear", 0, 0), ("n2", "CrossEntropy", 200, 0), ("n3", "CrossEntropy", 400, 0)])
    for node_id in ("n2", "n3"):
        workspace.apply("Rename", Rename(node_id, "step"))
    for name, value in (("step_", 0.25), ("step_2", 0.5)):
        trainer.feed.append(f"train_{name}", 1, 0.1, 0.1, value)
    workspace.engine_ready.emit()
    items = view.graph_scene.node_items
    assert (items["n2"].value, items["n3"].value) == ("0.2500", "0.5000")
