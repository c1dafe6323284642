"""Points stand where they belong, in the colour and shape of their class."""

import numpy as np
import pytest
from PySide6.QtCore import QPoint
from pytestqt.qtbot import QtBot

from app.charts.class_marks import SHAPES, class_colour, class_shape, shape_path
from app.look.base import Subject
from app.look.layers.projection import Projection
from app.look.registry import proposed
from app.theme import current_theme
from app.workspace.workspace import Workspace
from engine.feed.feed import Probe, Snapshot
from tests.app.conftest import add_iris
from tests.app.look.showing import painted, shown, snapshot

LIVE = Probe("n2", "projection", (400,))
EXAMPLES = Probe("n2", "example_pictures", (400,))


def points(
    *rows: tuple[float, float, float], classes: tuple[str, ...] = ("a", "b"), **more: object
) -> Snapshot:
    facts = {"split": "validation", "features": 16, "label": "species", "classes": classes}
    return snapshot(np.array(rows, np.float32), **{**facts, "shares": (0.5, 0.25), **more})


@pytest.fixture
def view(shaped: Workspace, qtbot: QtBot) -> Projection:
    add_iris(shaped)
    made = Projection(Subject(shaped, "n2"))
    qtbot.addWidget(made)
    return made


def colour_near(image: np.ndarray, x: float, y: float) -> tuple[int, ...]:
    return tuple(image[round(y), round(x)].tolist())


def test_each_class_has_its_colour_where_its_points_are(view: Projection) -> None:
    shown(view, {LIVE: points((0, 0, 0), (4, 2, 1), (1, 1, 1))})
    image = painted(view)
    places = view.scatter.places(np.array([0.0, 4.0, 1.0]), np.array([0.0, 2.0, 1.0]))
    for place, label in zip(places.tolist(), (0, 1, 1), strict=True):
        assert colour_near(image, *place) == class_colour(current_theme(), label).getRgb()[:3]
    area = view.scatter.area()
    assert all(area.left() < x < area.right() and area.top() < y < area.bottom() for x, y in places)
    assert places[1][0] > places[2][0] > places[0][0] and places[1][1] < places[0][1]
    assert "75 % of the variance" in view.note


def test_classes_differ_in_shape_too() -> None:
    assert (
        len({(class_shape(index), class_colour(current_theme(), index).name()) for index in range(20)}) == 20
    )
    assert len({shape_path(shape, 10).length() for shape in SHAPES}) >= len(SHAPES) - 1


def test_the_example_under_the_pointer_is_shown(view: Projection, qtbot: QtBot) -> None:
    examples = np.zeros((2, 4, 4), np.uint8)
    examples[1] = 255
    found = {LIVE: points((0, 0, 0), (4, 2, 1)), EXAMPLES: snapshot(examples)}
    shown(view, found)
    before = painted(view, 400, 300)
    place = view.scatter.places(np.array([4.0]), np.array([2.0]))[0]
    qtbot.mouseMove(view.scatter, QPoint(5, 5))
    qtbot.mouseMove(view.scatter, QPoint(*np.round(place).astype(int).tolist()))
    assert view.scatter.hovered == 1
    assert view.scatter.words(1) == "example 2 · species b"
    after = painted(view, 400, 300)
    assert (after == 255).all(axis=2).sum() > (before == 255).all(axis=2).sum() + 500


def test_numbers_in_place_of_classes_are_shaded(view: Projection) -> None:
    shown(view, {LIVE: points((0, 0, 1.0), (4, 2, 9.0), classes=())})
    image = painted(view)
    low, high = view.scatter.places(np.array([0.0, 4.0]), np.array([0.0, 2.0])).tolist()
    assert colour_near(image, *low) == (0x44, 0x01, 0x54)
    assert colour_near(image, *high) == (0xFD, 0xE7, 0x25)
    assert view.scatter.words(1) == "example 2 · species 9"


def test_points_without_labels_are_drawn_too(view: Projection) -> None:
    shown(view, {LIVE: points((0, 0, np.nan), (4, 2, np.nan), classes=(), label="")})
    image = painted(view)
    place = view.scatter.places(np.array([4.0]), np.array([2.0]))[0].tolist()
    assert colour_near(image, *place) == current_theme().accent.getRgb()[:3]
    assert view.scatter.words(0) == "example 1"


def test_other_methods_are_tries_of_their_own(view: Projection, qtbot: QtBot) -> None:
    assert view.probes() == {LIVE, EXAMPLES}
    assert not view.again.isEnabled()
    view.method.setCurrentIndex(view.method.findData("t-SNE"))
    with qtbot.waitSignal(view.needs_changed):
        view.method.activated.emit(1)
    first = Probe("n2", "embedding", (400, "t-SNE", 1))
    assert first in view.probes()
    view.again.click()
    assert Probe("n2", "embedding", (400, "t-SNE", 2)) in view.probes()
    second = next(probe for probe in view.probes() if probe.what == "embedding")
    shown(view, {second: points((0, 0, 0), (1, 1, 1), method="t-SNE")})
    assert "only nearness has a meaning" in view.note
    assert view.table() == (("example", "x", "y", "label"), [(1, 0, 0, 0), (2, 1, 1, 1)])


def test_it_is_proposed_for_what_gives_numbers(shaped: Workspace) -> None:
    add_iris(shaped)
    names = {node: {kind.id for kind in proposed(Subject(shaped, node))} for node in ("n2", "n3")}
    assert "projection" in names["n2"]
    assert "projection" not in names["n3"]
