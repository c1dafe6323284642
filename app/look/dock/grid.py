"""Cards in a grid that fills the width: small, middle and large ones, in an order that dragging changes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from PySide6.QtCore import QPoint, QRect, QSize, Qt, Signal
from PySide6.QtGui import (
    QDragEnterEvent,
    QDragLeaveEvent,
    QDragMoveEvent,
    QDropEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QResizeEvent,
)
from PySide6.QtWidgets import QFrame, QScrollArea, QWidget

from app.look.dock.card import MIME, ViewCard
from app.theme import current_theme

GAP = 8
THREE, TWO, ONE = 9, 6, 3  # columns for so many middle cards in a row: more would be too small to read
ROW = 200  # pixels of a row as it would be best; whole rows fill what is visible
LOWEST, HIGHEST = 170, 300
FLATTEST = 85  # pixels of a card in a dock that was drawn nearly shut
SLIMMEST = 250  # pixels of a middle card, rather than to scroll
SPANS = {"S": (2, 1), "M": (3, 1), "L": (6, 2)}  # columns and rows of a card

Cell = tuple[int, int, int, int]  # column, row, columns, rows
WIDEST, NARROWEST = 1.6, 0.9  # width to height that a view makes use of


def columns_for(width: int) -> int:
    """How many columns there are in a width: as many as leave a middle card what it needs, three at least."""
    return next((columns for columns in (THREE, TWO) if _middle(width, columns) >= SLIMMEST), ONE)


def _middle(width: int, columns: int) -> float:
    return (width + GAP) * ONE / columns - GAP


def row_height(height: int) -> int:
    """The height of a row where so much is visible: whole rows fill it, and none is higher than that."""
    rows = max(1, round(height / (ROW + GAP)))
    best = max(LOWEST, min(HIGHEST, (height - GAP * (rows - 1)) // rows))
    return min(best, max(FLATTEST, height))


def pack(sizes: Sequence[str], columns: int, rows_shown: int) -> list[Cell]:
    """The cell of each card: the first place from the top left that has room for it."""
    taken: set[tuple[int, int]] = set()
    cells: list[Cell] = []
    first = 0  # every row before this one is full
    for size in sizes:
        wide, high = SPANS[size]
        wide = ONE if columns == THREE and wide < ONE else min(wide, columns)  # no more than three in a row
        high = min(high, max(1, rows_shown))
        row = first
        while True:
            column = next(
                (
                    left
                    for left in range(columns - wide + 1)
                    if not any((left + x, row + y) in taken for x in range(wide) for y in range(high))
                ),
                None,
            )
            if column is not None:
                break
            row += 1
        taken |= {(column + x, row + y) for x in range(wide) for y in range(high)}
        cells.append((column, row, wide, high))
        while all((x, first) in taken for x in range(columns)):
            first += 1
    return cells


def filled(cells: Sequence[Cell], columns: int, most: int | None = None) -> list[Cell]:
    """The cells with the room that is left over, to the right and the lower edge where they are free.

    None gets more than `most` rows, where those are all that is visible at once.
    """
    rows = max((top + high for _, top, _, high in cells), default=0)
    made = list(cells)

    def free(left: int, top: int, right: int, bottom: int, own: int) -> bool:
        return not any(
            x < right and left < x + wide and y < bottom and top < y + high
            for index, (x, y, wide, high) in enumerate(made)
            if index != own
        )

    for index in range(len(made)):
        left, top, wide, high = made[index]
        if free(left + wide, top, columns, top + high, index):
            wide = columns - left
        if free(left, top + high, left + wide, rows, index):
            high = rows - top if most is None else max(high, min(rows - top, most))
        made[index] = left, top, wide, high
    return made


class Plan(NamedTuple):
    """How many columns there are, the height of a row, and the cell of each card."""

    columns: int
    row: int
    cells: list[Cell]


def plan(sizes: Sequence[str], width: int, height: int) -> Plan:
    """Cards as large as they can be if all fit into what is visible, else of the best size and scrolled."""
    best, most = None, 0.0
    usual = columns_for(width)
    for columns in (THREE, TWO, ONE):
        if columns > usual:
            continue
        for shown in (2, 1):
            cells = filled(pack(sizes, columns, shown), columns)
            rows = max((top + high for _, top, _, high in cells), default=1)
            row = (height - GAP * (rows - 1)) // rows
            if row < LOWEST:
                continue
            area = min((_useful(cell, columns, row, width) for cell in cells), default=1.0)
            if area > most:
                best, most = Plan(columns, row, cells), area
    if best is not None:
        return best
    row = row_height(height)
    shown = max(1, (height + GAP) // (row + GAP))
    return Plan(usual, row, filled(pack(sizes, usual, shown), usual, shown))


def _useful(cell: Cell, columns: int, row: int, width: int) -> float:
    """The area of a card that a view makes use of."""
    wide = (width + GAP) * cell[2] / columns - GAP
    high = (row + GAP) * cell[3] - GAP
    return min(wide, WIDEST * high) * min(high, wide / NARROWEST)


class CardGrid(QScrollArea):
    """Shows cards; `moved` tells that a card was dragged to another place."""

    moved = Signal()
    scrolled = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("cardGrid")
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._sheet = _Sheet(self)
        self.setWidget(self._sheet)
        self.cards: list[ViewCard] = []
        self._one: ViewCard | None = None
        self.verticalScrollBar().valueChanged.connect(self._scrolled)

    # -- cards

    def show_cards(self, cards: Sequence[ViewCard]) -> None:
        """Shows these cards in this order; others that were shown are hidden, not ended."""
        for card in self.cards:
            if card not in cards:
                card.hide()
        self.cards = list(cards)
        if self._one not in self.cards:
            self._one = None
        for card in self.cards:
            if card.parent() is not self._sheet:
                card.setParent(self._sheet)
        self.arrange()

    def show_only(self, card: ViewCard | None) -> None:
        """Fills the grid with one card; None brings all back."""
        self._one = card
        self.arrange()
        if card is None:
            return
        self.verticalScrollBar().setValue(0)

    @property
    def only(self) -> ViewCard | None:
        """The card that fills the grid."""
        return self._one

    def bring_in(self, card: ViewCard) -> None:
        """Scrolls until a card is in view."""
        self.ensureWidgetVisible(card, 0, 0)

    def in_view(self, card: ViewCard) -> bool:
        """Whether any of a card can be seen."""
        return card.isVisible() and not card.visibleRegion().isEmpty()

    # -- places

    def arrange(self) -> None:
        """Gives every card its place."""
        room = self.viewport().size()
        if self._one is not None:
            for card in self.cards:
                card.setVisible(card is self._one)
            self._sheet.resize(room)
            self._one.setGeometry(QRect(QPoint(0, 0), room))
            return
        columns, row, cells = plan([card.size_name for card in self.cards], room.width(), room.height())
        lowest = max((top + high for _, top, _, high in cells), default=0)
        self._sheet.resize(room.width(), max(room.height(), lowest * (row + GAP) - GAP))
        for card, (left, top, wide, high) in zip(self.cards, cells, strict=True):
            x = left * (room.width() + GAP) // columns
            end = (left + wide) * (room.width() + GAP) // columns - GAP
            card.setGeometry(x, top * (row + GAP), end - x, high * (row + GAP) - GAP)
            card.show()

    def place_at(self, point: QPoint) -> int:
        """Before which card something dropped at a point of the sheet belongs."""
        for index, card in enumerate(self.cards):
            rect = card.geometry()
            if point.y() < rect.top():
                return index
            if rect.top() <= point.y() <= rect.bottom() and point.x() < rect.center().x():
                return index
        return len(self.cards)

    def move_card(self, card: ViewCard, place: int) -> None:
        """Puts a card before the one that is at `place` now."""
        if card not in self.cards:
            return
        before = self.cards.index(card)
        if place in (before, before + 1):
            return
        self.cards.remove(card)
        self.cards.insert(place - (place > before), card)
        self.arrange()
        self.moved.emit()

    def beside(self, card: ViewCard, way: int) -> ViewCard | None:
        """The card before (-1), after (1), above (-2) or below (2)."""
        if card not in self.cards:
            return None
        if abs(way) == 1:
            place = self.cards.index(card) + way
            return self.cards[place] if 0 <= place < len(self.cards) else None
        here = card.geometry().center()
        rest = [one for one in self.cards if (one.geometry().center().y() - here.y()) * way > 0]
        return min(rest, key=lambda one: (one.geometry().center() - here).manhattanLength(), default=None)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.arrange()

    def sizeHint(self) -> QSize:
        return QSize(800, ROW)

    def minimumSizeHint(self) -> QSize:
        return QSize(240, FLATTEST)

    def _scrolled(self, _value: int) -> None:
        self.scrolled.emit()


class _Sheet(QWidget):
    """Holds the cards and shows where a dragged one would go."""

    def __init__(self, grid: CardGrid) -> None:
        super().__init__()
        self._grid = grid
        self._mark = -1
        self.setAcceptDrops(True)

    def _card_of(self, event: QDropEvent) -> ViewCard | None:
        if not event.mimeData().hasFormat(MIME):
            return None
        key = bytes(event.mimeData().data(MIME).data()).decode("ascii", "replace")
        return next((card for card in self._grid.cards if str(card.key) == key), None)

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        if self._card_of(event) is not None and self._grid.only is None:
            event.acceptProposedAction()

    def dragMoveEvent(self, event: QDragMoveEvent) -> None:
        self._show_mark(self._grid.place_at(event.position().toPoint()))
        event.acceptProposedAction()

    def dragLeaveEvent(self, event: QDragLeaveEvent) -> None:
        self._show_mark(-1)

    def dropEvent(self, event: QDropEvent) -> None:
        card = self._card_of(event)
        self._show_mark(-1)
        if card is not None:
            self._grid.move_card(card, self._grid.place_at(event.position().toPoint()))
            event.acceptProposedAction()

    def _show_mark(self, place: int) -> None:
        if place != self._mark:
            self._mark = place
            self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        cards = self._grid.cards
        if self._mark < 0 or not cards:
            return
        last = self._mark == len(cards)
        rect = cards[-1].geometry() if last else cards[self._mark].geometry()
        x = rect.right() + GAP // 2 if last else max(1, rect.left() - GAP // 2)
        painter = QPainter(self)
        painter.setPen(QPen(current_theme().accent, 3))
        painter.drawLine(x, rect.top() + 2, x, rect.bottom() - 2)
        painter.end()
