"""Maps and lines of attention: the right cell, the right width, masks hatched, positions alike."""

from __future__ import annotations

import numpy as np
import pytest
from PySide6.QtCore import QPoint, Qt
from pytestqt.qtbot import QtBot

from app.charts.colourmaps import VIRIDIS
from app.look.base import Subject
from app.look.registry import proposed
from app.look.sequences.attention import Alignment, AttentionLines, AttentionMaps, Positions
from app.theme import current_theme
from app.workspace.workspace import Workspace
from engine.feed.feed import Probe
from tests.app.conftest import add_iris
from tests.app.look.showing import painted, shown, snapshot

PROBE = Probe("n2", "attention", (0,))
TOKENS = ("the", "cat", "sat")
WEIGHTS = np.array(
    [[[1, 0, 0], [0.5, 0.5, 0], [0.2, 0.3, 0.5]], [[1, 0, 0], [0, 1, 0], [0.9, 0, 0.1]]], np.float16
)
BARRED = np.triu(np.ones((3, 3), bool), 1)
FACTS = {
    "modules": ("attend",),
    "barred": BARRED,
    "block": 1,
    "size": (3, 3),
    "queries": TOKENS,
    "keys": TOKENS,
    "example": 1,
    "split": "validation",
}


def rgb(colour: int) -> tuple[int, int, int]:
    return (int(colour) >> 16) & 255, (int(colour) >> 8) & 255, int(colour) & 255


def test_a_map_a_head_with_what_is_barred_hatched(shaped: Workspace, qtbot: QtBot) -> None:
    add_iris(shaped)
    view = AttentionMaps(Subject(shaped, "n2"))
    qtbot.addWidget(view)
    shown(view, {PROBE: snapshot(WEIGHTS, **FACTS)})
    pixels = painted(view, 400, 220)
    for head in (0, 1):
        area = view.map.area(head)
        high, wide = area.height() / 3, area.width() / 3
        for row in range(3):
            for column in range(3):
                x, y = int(area.left() + (column + 0.5) * wide), int(area.top() + (row + 0.5) * high)
                if BARRED[row, column]:
                    cell = pixels[y - 6 : y + 6, x - 6 : x + 6].reshape(-1, 3)
                    ground = np.array(current_theme().panel.getRgb()[:3])
                    plain = (cell == ground).all(axis=1)
                    assert plain.any() and not plain.all()  # lines on the plain ground
                else:
                    level = round(float(WEIGHTS[head, row, column]) * 255)
                    assert abs(pixels[y, x].astype(int) - rgb(VIRIDIS[level])).max() <= 4
    assert view.note == "2 heads · validation example 2 · hatched: barred by the mask"
    header, rows = view.table()
    assert header == ("head", "query", "key", "weight") and rows[3][:3] == (1, "cat", "the")
    assert sum(row[3] for row in rows) == pytest.approx(6, abs=0.01)  # six rows that sum to 1


def test_a_click_shows_one_head_alone_and_its_words(shaped: Workspace, qtbot: QtBot) -> None:
    add_iris(shaped)
    view = AttentionMaps(Subject(shaped, "n2"))
    qtbot.addWidget(view)
    shown(view, {PROBE: snapshot(WEIGHTS, **FACTS)})
    painted(view, 400, 220)
    assert view.map.alone == -1
    area = view.map.area(1)
    qtbot.mouseClick(view.map, Qt.MouseButton.LeftButton, pos=area.center().toPoint())
    assert view.map.alone == 1 and view.state()["head"] == 1
    area = view.map.area(1)
    at = QPoint(int(area.left() + area.width() / 6), int(area.bottom() - area.height() / 6))
    words = view.map.describe(at)
    assert "query sat → key the: 0.9" in words and "the row sums to 1" in words
    barred = QPoint(int(area.right() - area.width() / 6), int(area.top() + area.height() / 6))
    assert "barred by the mask" in view.map.describe(barred)


def test_lines_are_as_wide_as_the_weights_and_one_token_can_stand_alone(
    shaped: Workspace, qtbot: QtBot
) -> None:
    add_iris(shaped)
    view = AttentionLines(Subject(shaped, "n2"))
    qtbot.addWidget(view)
    view.restore({"head": 1})
    shown(view, {PROBE: snapshot(WEIGHTS, **FACTS)})
    everything = painted(view, 300, 200)
    np.testing.assert_allclose(view.arcs.weights, WEIGHTS[1:2], atol=1e-3)
    start, _ = view.arcs.ends_of(1, 1)
    near = int(start.x()) + 4  # where the lines have not met yet
    coloured = np.abs(everything[:, near].astype(int) - everything[0, near]).max(axis=1) > 40
    thick = coloured[int(start.y()) - 8 : int(start.y()) + 9].sum()
    assert abs(thick - view.arcs.width_of(1.0)) <= 2
    assert view.arcs.width_of(1.0) > 3 * view.arcs.width_of(0.2)
    qtbot.mouseClick(view.arcs, Qt.MouseButton.LeftButton, pos=QPoint(6, int(start.y())))
    assert view.arcs.chosen == 1
    alone = painted(view, 300, 200)
    first, _ = view.arcs.ends_of(0, 0)
    assert (alone[int(first.y()), near] == alone[2, near]).all()  # the line of the first token is gone
    assert (alone[int(start.y()), near] != alone[2, near]).any()
    assert "head 2: cat 1" in view.arcs.describe(QPoint(6, int(start.y())))


def test_an_alignment_has_a_ring_at_the_strongest_input(shaped: Workspace, qtbot: QtBot) -> None:
    add_iris(shaped)
    view = Alignment(Subject(shaped, "n2"))
    qtbot.addWidget(view)
    weights = np.array([[[0.1, 0.8, 0.1, 0.0], [0.7, 0.1, 0.1, 0.1]]], np.float16)
    facts = {**FACTS, "barred": None, "size": (2, 4), "queries": ("le", "chat"), "keys": ()}
    shown(view, {PROBE: snapshot(weights, **facts)})
    pixels = painted(view, 300, 200)
    area = view.map.area(0)
    light = np.array((0xF2, 0xF4, 0xF8))
    for row, expected in enumerate((1, 0)):
        top, bottom = (int(area.top() + area.height() * part / 2) for part in (row, row + 1))
        found = np.nonzero((np.abs(pixels[top:bottom].astype(int) - light) < 12).all(axis=2))[1]
        found = found[(found > area.left()) & (found < area.right())]
        assert set(((found - area.left()) / area.width() * 4).astype(int)) == {expected}


def test_positions_and_how_alike_they_are(shaped: Workspace, qtbot: QtBot) -> None:
    add_iris(shaped)
    view = Positions(Subject(shaped, "n2"))
    qtbot.addWidget(view)
    codes = np.array([[1, 0], [0, 1], [-1, 0]], float)
    found = {Probe("n2", "positions"): snapshot(codes, likeness=codes @ codes.T, size=(3, 2))}
    shown(view, found)
    pixels = painted(view, 500, 200)
    area = view.likeness.area
    left = view.likeness.x()
    corner = pixels[int(area.height() / 6), left + int(area.left() + area.width() / 6)]
    far = pixels[int(area.height() / 6), left + int(area.left() + area.width() * 5 / 6)]
    assert corner[0] > corner[2] and far[2] > far[0]  # red where they are the same, blue where opposite
    assert view.note == "3 positions × 2 · mean step 1.41"
    assert view.table() == (
        ("position", "dimension 1", "dimension 2"),
        [(1, 1.0, 0.0), (2, 0.0, 1.0), (3, -1.0, 0.0)],
    )


def test_they_are_proposed_where_a_layer_attends(shaped: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    add_iris(shaped)
    wanted = {"attention-map", "attention-arcs", "alignment", "positional-encoding"}
    assert not wanted & {kind.id for kind in proposed(Subject(shaped, "n2"))}
    monkeypatch.setattr(shaped.catalogue.get("Linear"), "shows", ("attention", "positions"))
    assert wanted <= {kind.id for kind in proposed(Subject(shaped, "n2"))}
    assert not wanted & {kind.id for kind in proposed(Subject(shaped, "n1"))}
