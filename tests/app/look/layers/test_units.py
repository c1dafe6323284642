"""Dead units are marked and named; layers say how many they have."""

from __future__ import annotations

import numpy as np
import pytest
from PySide6.QtCore import QPoint
from pytestqt.qtbot import QtBot

from app.look.base import Subject
from app.look.layers.layer_measures import ACTIVITY
from app.look.layers.units import DeadLayers, Units
from app.look.registry import proposed
from app.theme import current_theme
from app.workspace.workspace import Workspace
from engine.feed.feed import Probe
from tests.app.conftest import add_iris
from tests.app.look.showing import painted, shown, snapshot

UNITS = Probe("n2", "unit_activity")
NAN = float("nan")


@pytest.fixture
def view(shaped: Workspace, qtbot: QtBot) -> Units:
    add_iris(shaped)
    made = Units(Subject(shaped, "n2"))
    qtbot.addWidget(made)
    return made


def test_dead_units_stand_out_by_colour_and_by_a_cross(view: Units) -> None:
    fractions = np.array([[0.5, NAN], [1.0, NAN], [0.0, NAN], [0.999, NAN]])
    shown(view, {UNITS: snapshot(fractions, rows=256, units=4, range=())})
    assert view.note == "1 of 4 units dead: 2 · 256 examples"
    image = painted(view, 200, 160).astype(int)
    theme = current_theme()

    def is_colour(x: float, y: float, colour: object) -> bool:
        wanted = [colour.red(), colour.green(), colour.blue()]  # type: ignore[attr-defined]
        return bool(np.abs(image[round(y), round(x)] - wanted).max() < 12)

    for index, (colour, tall) in enumerate(
        [(theme.accent, 0.5), (theme.bad, 1.0), (None, 0), (theme.accent, 1)]
    ):
        bar = view.bars.bar(index)
        x = bar.left() + 5
        assert is_colour(x, bar.bottom() - 0.25 * bar.height(), colour) if colour else True
        if 0 < tall < 1:
            assert not is_colour(x, bar.bottom() - (tall + 0.1) * bar.height(), colour)
        above = image[3:10, round(bar.left()) : round(bar.left()) + 14]
        crossed = (np.abs(above - [theme.bad.red(), theme.bad.green(), theme.bad.blue()]).sum(2) < 80).any()
        assert crossed == (index == 1)
    assert view.table()[1][1][:2] == (2, 1.0)


def test_a_sigmoid_shows_what_is_saturated(view: Units) -> None:
    fractions = np.array([[0.0, 0.2], [0.0, 0.995], [0.0, 1.0]])
    shown(view, {UNITS: snapshot(fractions, rows=256, units=3, range=(0.0, 1.0))})
    assert view.bars.fractions.tolist() == [0.2, 0.995, 1.0]
    assert view.note == "2 of 3 units stuck: 2, 3 · 256 examples"


def test_many_dead_units_are_not_all_named(view: Units) -> None:
    shown(view, {UNITS: snapshot(np.ones((9, 2)), rows=20, units=9, range=())})
    assert view.note == "9 of 9 units dead: 1, 2, 3, 4 … · 20 examples"


def test_layers_with_dead_units_are_counted(shaped: Workspace, qtbot: QtBot) -> None:
    add_iris(shaped)
    view = DeadLayers(Subject(shaped))
    qtbot.addWidget(view)
    rows = np.array([[0, 1, 0.25, NAN], [0, 1, 0.0, 0.5]])
    shown(view, {ACTIVITY: snapshot(rows, nodes=("n2", "n3"), rows=128)})
    assert view.note == "1 of 2 layers have dead units · 128 examples"
    assert [(bar.name, bar.value, bar.role) for bar in view.bars.bars] == [
        ("classes", 0.25, "warning"),
        ("loss", 0.0, "good"),
    ]
    assert view.bars.describe(QPoint(5, 5)) == "classes: 25 % of the units"
    assert view.table()[1] == [("classes", 0.25, pytest.approx(NAN, nan_ok=True)), ("loss", 0.0, 0.5)]


def test_units_suit_layers_alone(shaped: Workspace, view: Units) -> None:
    names = {node: {kind.id for kind in proposed(Subject(shaped, node))} for node in ("n1", "n2", "n3")}
    assert "units" in names["n2"]
    assert "units" not in names["n1"] | names["n3"]
    assert "dead-layers" in {kind.id for kind in proposed(Subject(shaped))}
