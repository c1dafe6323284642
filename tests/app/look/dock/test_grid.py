"""Cards stand in cells that never overlap, fill the width, and go where they are dragged."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt
from PySide6.QtGui import QDragEnterEvent, QDropEvent

from app.look.dock.card import MIME
from app.look.dock.grid import FLATTEST, GAP, LOWEST, columns_for, filled, pack, plan
from tests.app.look.dock.conftest import Shown


@given(st.lists(st.sampled_from("SML"), max_size=20), st.sampled_from([3, 6, 9, 12, 18]), st.integers(1, 4))
def test_cells_lie_inside_and_never_overlap(sizes: list[str], columns: int, rows: int) -> None:
    taken: set[tuple[int, int]] = set()
    for left, top, wide, high in pack(sizes, columns, rows):
        cells = {(left + x, top + y) for x in range(wide) for y in range(high)}
        assert not cells & taken
        assert left >= 0 and left + wide <= columns
        taken |= cells


def test_a_small_card_fills_a_hole_that_a_large_one_left() -> None:
    assert pack(["M", "L", "M"], 9, 2) == [(0, 0, 3, 1), (3, 0, 6, 2), (0, 1, 3, 1)]


@pytest.mark.parametrize(("width", "columns"), [(300, 3), (700, 6), (1060, 9), (1192, 9), (1900, 9)])
def test_there_are_as_many_columns_as_leave_a_view_its_room(width: int, columns: int) -> None:
    assert columns_for(width) == columns


@given(
    st.lists(st.sampled_from("SML"), min_size=1, max_size=14), st.integers(260, 2500), st.integers(80, 1300)
)
def test_views_are_three_in_a_row_at_most_and_never_too_small(
    sizes: list[str], width: int, height: int
) -> None:
    found = plan(sizes, width, height)
    assert found.row >= min(LOWEST, height)
    for _, _, _, high in found.cells:
        assert high * (found.row + GAP) - GAP <= max(height, FLATTEST), "a card is whole when scrolled to"
    for row in range(max(top + high for _, top, _, high in found.cells)):
        assert sum(top <= row < top + high for _, top, _, high in found.cells) <= 3
    least = min(wide for _, _, wide, _ in found.cells)
    assert (width + GAP) * least / found.columns - GAP >= min(width, 160)


@given(
    st.lists(st.sampled_from("SML"), min_size=1, max_size=9), st.sampled_from([3, 6, 9]), st.integers(1, 2)
)
def test_what_is_left_over_goes_to_the_cards(sizes: list[str], columns: int, rows: int) -> None:
    cells = filled(pack(sizes, columns, rows), columns)
    taken = [(left + x, top + y) for left, top, wide, high in cells for x in range(wide) for y in range(high)]
    assert len(taken) == len(set(taken))
    lowest = max(top + high for _, top, _, high in cells)
    for row in range(lowest):
        assert max(x for x, y in taken if y == row) == columns - 1
    if len(cells) == 1:
        assert cells == [(0, 0, columns, lowest)]


def test_few_cards_are_made_larger_until_they_fill_the_dock() -> None:
    few, many = plan(["M"] * 2, 1192, 490), plan(["M"] * 20, 1192, 490)
    assert few.row > many.row
    assert few.columns < many.columns


def test_a_card_that_is_dropped_before_another_stands_there(shown: Shown) -> None:
    for node_id in ("n1", "n2", "n3"):
        shown.pin("activations", node_id)
    card, first = shown.dock.grid.cards[2], shown.dock.grid.cards[0]
    data = QMimeData()
    data.setData(MIME, str(card.key).encode())
    place = first.geometry().topLeft() + QPoint(5, 20)
    sheet = shown.dock.grid.widget()
    none, left = Qt.KeyboardModifier.NoModifier, Qt.MouseButton.LeftButton
    enter = QDragEnterEvent(place, Qt.DropAction.MoveAction, data, left, none)
    sheet.dragEnterEvent(enter)
    assert enter.isAccepted()
    sheet.dropEvent(QDropEvent(QPointF(place), Qt.DropAction.MoveAction, data, left, none))
    assert [node for _, node in shown.ids()] == ["n3", "n1", "n2"]


def test_what_comes_from_elsewhere_is_not_taken(shown: Shown) -> None:
    shown.pin("activations", "n1")
    data = QMimeData()
    data.setText("words")
    enter = QDragEnterEvent(
        QPoint(5, 5),
        Qt.DropAction.MoveAction,
        data,
        Qt.MouseButton.LeftButton,
        Qt.KeyboardModifier.NoModifier,
    )
    enter.setAccepted(False)
    shown.dock.grid.widget().dragEnterEvent(enter)
    assert not enter.isAccepted()
