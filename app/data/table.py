"""The columns of a data set and the first rows of a file, as tables whose heads say what columns are for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QAbstractTableModel, QModelIndex, QPersistentModelIndex, QPoint, QRectF, Qt, Signal
from PySide6.QtGui import QMouseEvent, QPainter
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHeaderView,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTableView,
    QWidget,
)

from app.theme import SMALL, current_theme, themes
from app.widgets.labels import plain

BINS = 24
ROLE_COLOURS = {"input": "accent", "target": "good", "ignore": "faint"}
Index = QModelIndex | QPersistentModelIndex
SHAPE = Qt.ItemDataRole.UserRole  # a column's distribution
TOP = QModelIndex()


class Line(NamedTuple):
    """A column: its cells as text, and how its values are spread: (bins,) fractions of the most."""

    name: str
    role: str
    cells: tuple[str, ...]
    spread: NDArray[np.floating] | None = None
    bars: bool = False  # classes, each a bar
    tip: str = ""


def spread_of(values: NDArray[Any], classes: int = 0) -> NDArray[np.floating] | None:
    """How often values fall into each of some equal parts, as fractions of the most; None without any."""
    finite = values[np.isfinite(values)]
    if not len(finite):
        return None
    if classes:
        counts = np.bincount(finite.astype(int), minlength=classes)[:60].astype(float)
    else:
        low, high = (
            np.quantile(finite, (0.001, 0.999)) if len(finite) > 2000 else (finite.min(), finite.max())
        )
        counts = np.histogram(finite, BINS, (low, high if high > low else low + 1))[0].astype(float)
    fractions: NDArray[np.floating] = counts / max(1.0, counts.max())
    return fractions


ROLE, DIFFERENT = 1, 6  # columns that only the table of a file fills


class ColumnsModel(QAbstractTableModel):
    """A line a column."""

    HEADS = ("column", "role", "kind", "range", "mean ± std", "missing", "different", "distribution")

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.lines: tuple[Line, ...] = ()

    def show(self, lines: Sequence[Line]) -> None:
        self.beginResetModel()
        self.lines = tuple(lines)
        self.endResetModel()

    def rowCount(self, parent: Index = TOP) -> int:
        return len(self.lines)

    def columnCount(self, parent: Index = TOP) -> int:
        return len(self.HEADS)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        line, at = self.lines[index.row()], index.column()
        theme = current_theme()
        if role == Qt.ItemDataRole.DisplayRole and at < len(self.HEADS) - 1:
            return (line.name, line.role or "·", *line.cells)[at]
        if role == SHAPE and at == len(self.HEADS) - 1:
            return line
        if role == Qt.ItemDataRole.ToolTipRole:
            return plain(line.tip) or ("Click to change what this column is for" if line.role else "")
        if role == Qt.ItemDataRole.FontRole:
            return theme.font(12) if at in (0, 1, 2) else theme.mono(SMALL)
        if role == Qt.ItemDataRole.ForegroundRole:
            if at == 1:
                return getattr(theme, ROLE_COLOURS.get(line.role, "text"))
            return theme.faint if line.role == "ignore" else theme.text if at == 0 else theme.dim
        if role == Qt.ItemDataRole.TextAlignmentRole:
            side = Qt.AlignmentFlag.AlignRight if at in (3, 4, 5, 6) else Qt.AlignmentFlag.AlignLeft
            return side | Qt.AlignmentFlag.AlignVCenter
        return None

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        if orientation == Qt.Orientation.Horizontal and role == Qt.ItemDataRole.DisplayRole:
            return self.HEADS[section]
        if role == Qt.ItemDataRole.TextAlignmentRole:
            side = Qt.AlignmentFlag.AlignRight if section in (3, 4, 5, 6) else Qt.AlignmentFlag.AlignLeft
            return side | Qt.AlignmentFlag.AlignVCenter
        return None


class SpreadDelegate(QStyledItemDelegate):
    """Draws a distribution into a cell."""

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        line = index.data(SHAPE)
        if not isinstance(line, Line) or line.spread is None or not len(line.spread):
            return
        theme = current_theme()
        room = QRectF(option.rect).adjusted(6, 3, -6, -3)
        wide = min(room.width(), 160.0) / len(line.spread)
        painter.save()
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(theme.faint if line.role == "ignore" else theme.accent)
        gap = min(2.0, wide / 4) if line.bars else 0.5
        for at, fraction in enumerate(line.spread):
            if fraction > 0:
                high = max(1.0, room.height() * float(fraction))
                painter.drawRect(
                    QRectF(room.left() + at * wide, room.bottom() - high, max(0.8, wide - gap), high)
                )
        painter.restore()


class RowsModel(QAbstractTableModel):
    """The first rows of a file as it has them; an empty cell is a faint dash."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.names: tuple[str, ...] = ()
        self.rows: tuple[tuple[str | None, ...], ...] = ()
        self.kinds: dict[str, tuple[str, str]] = {}  # kind and role

    def show(
        self,
        names: Sequence[str],
        rows: Sequence[tuple[str | None, ...]],
        kinds: dict[str, tuple[str, str]],
    ) -> None:
        self.beginResetModel()
        self.names, self.rows, self.kinds = tuple(names), tuple(rows), kinds
        self.endResetModel()

    def rowCount(self, parent: Index = TOP) -> int:
        return len(self.rows)

    def columnCount(self, parent: Index = TOP) -> int:
        return len(self.names)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        cell = self.rows[index.row()][index.column()]
        kind, use = self.kinds.get(self.names[index.column()], ("text", "ignore"))
        theme = current_theme()
        if role == Qt.ItemDataRole.DisplayRole:
            return "–" if cell is None else cell if len(cell) <= 200 else cell[:199] + "…"
        if role == Qt.ItemDataRole.FontRole:
            return theme.mono(SMALL) if kind in ("number", "whole", "date") else theme.font(12)
        if role == Qt.ItemDataRole.ForegroundRole:
            return theme.faint if cell is None or use == "ignore" else theme.text
        if role == Qt.ItemDataRole.TextAlignmentRole:
            side = Qt.AlignmentFlag.AlignRight if kind in ("number", "whole") else Qt.AlignmentFlag.AlignLeft
            return side | Qt.AlignmentFlag.AlignVCenter
        if role == Qt.ItemDataRole.ToolTipRole:
            return "an empty cell" if cell is None else plain(cell[:1000]) if len(cell) > 30 else ""
        return None

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        if orientation == Qt.Orientation.Vertical:
            return f"{section + 1}" if role == Qt.ItemDataRole.DisplayRole else None
        name = self.names[section]
        kind, use = self.kinds.get(name, ("", ""))
        if role == Qt.ItemDataRole.DisplayRole:
            return f"{name}\n{use} · {kind}" if kind else name
        if role == Qt.ItemDataRole.ForegroundRole:
            return getattr(current_theme(), ROLE_COLOURS.get(use, "text"))
        if role == Qt.ItemDataRole.ToolTipRole:
            return plain(f"{name}\nClick to change what this column is for, or how it is read")
        if role == Qt.ItemDataRole.TextAlignmentRole:
            side = Qt.AlignmentFlag.AlignRight if kind in ("number", "whole") else Qt.AlignmentFlag.AlignLeft
            return side | Qt.AlignmentFlag.AlignVCenter
        return None


class DataTable(QTableView):
    """A quiet table. `column_pressed` asks for the menu of a column of the data, at a place on the screen."""

    column_pressed = Signal(str, QPoint)

    def __init__(self, by_rows: bool, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.by_rows = by_rows
        self.setObjectName("dataRows" if by_rows else "dataColumns")
        self.setShowGrid(False)
        self.setSelectionMode(QAbstractItemView.SelectionMode.NoSelection)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setWordWrap(False)
        self.setCornerButtonEnabled(False)
        self.verticalHeader().setDefaultSectionSize(22)
        self.verticalHeader().setVisible(by_rows)
        heads = self.horizontalHeader()
        heads.setHighlightSections(False)
        heads.setMinimumSectionSize(48)
        heads.setStretchLastSection(not by_rows)
        heads.setSectionsClickable(True)
        if by_rows:
            self.rows = RowsModel(self)
            self.setModel(self.rows)
            heads.sectionClicked.connect(self._head_pressed)
            heads.setCursor(Qt.CursorShape.PointingHandCursor)
        else:
            self.columns = ColumnsModel(self)
            self.setModel(self.columns)
            self.setItemDelegateForColumn(len(ColumnsModel.HEADS) - 1, SpreadDelegate(self))
        themes.theme_changed.connect(self._redraw)

    def fit(self) -> None:
        """Gives columns the room that their texts need, within bounds; hides those that say nothing."""
        heads = self.horizontalHeader()
        if not self.by_rows:
            lines = self.columns.lines
            self.setColumnHidden(ROLE, not any(line.role for line in lines))
            self.setColumnHidden(DIFFERENT, not any(line.cells[-1] for line in lines))
        heads.resizeSections(QHeaderView.ResizeMode.ResizeToContents)
        for at in range(self.model().columnCount()):
            if not self.isColumnHidden(at):
                heads.resizeSection(at, max(64, min(240, heads.sectionSize(at) + 10)))

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        super().mouseReleaseEvent(event)
        index = self.indexAt(event.position().toPoint())
        if not self.by_rows and index.isValid() and self.columns.lines[index.row()].role:
            self.column_pressed.emit(self.columns.lines[index.row()].name, event.globalPosition().toPoint())

    def _head_pressed(self, section: int) -> None:
        heads = self.horizontalHeader()
        place = QPoint(heads.sectionViewportPosition(section), heads.height())
        self.column_pressed.emit(self.rows.names[section], heads.mapToGlobal(place))

    def _redraw(self, _theme: object) -> None:
        self.viewport().update()
        self.horizontalHeader().viewport().update()
