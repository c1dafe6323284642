"""The tokens that a tokeniser learned: what each says, what it was joined from, and how often it occurs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QPersistentModelIndex, Qt
from PySide6.QtWidgets import QAbstractItemView, QHBoxLayout, QHeaderView, QTableView, QVBoxLayout, QWidget

from app.data.piece_steps import PieceStepsBox
from app.theme import SMALL, current_theme, themes
from app.widgets.labels import ElidedLabel, plain
from app.widgets.search_field import SearchField
from app.widgets.segments import Segments

if TYPE_CHECKING:
    from engine.data.text.token_names import TokenTable

HEADS = ("number", "token", "joined from", "in training")
JOINED, TIMES = 2, 3
WIDTHS = (72, 150, 190, 100)
Index = QModelIndex | QPersistentModelIndex
TOP = QModelIndex()
Row = tuple[int, str, str, int]


class TokensModel(QAbstractTableModel):
    """A row a token."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.rows: Sequence[Row] = ()
        self.counted = False

    def show(self, rows: Sequence[Row], counted: bool = True) -> None:
        """Show these rows; of those that were counted, tokens that never occur are dim."""
        self.beginResetModel()
        self.rows, self.counted = rows, counted
        self.endResetModel()

    def rowCount(self, parent: Index = TOP) -> int:
        return len(self.rows)

    def columnCount(self, parent: Index = TOP) -> int:
        return len(HEADS)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        at, theme = index.column(), current_theme()
        number, token, _, times = row = self.rows[index.row()]
        if role == Qt.ItemDataRole.DisplayRole:
            return f"{row[at]:,}" if at in (0, 3) else row[at]
        if role == Qt.ItemDataRole.FontRole:
            return theme.mono(SMALL)
        if role == Qt.ItemDataRole.ForegroundRole:
            return theme.text if at == 1 and (times or not self.counted) else theme.dim
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _side(at)
        if role == Qt.ItemDataRole.ToolTipRole:
            return plain(f"token {number:,}: {token}")
        return None

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        if orientation == Qt.Orientation.Horizontal and role == Qt.ItemDataRole.DisplayRole:
            return HEADS[section]
        return _side(section) if role == Qt.ItemDataRole.TextAlignmentRole else None


def _side(column: int) -> Qt.AlignmentFlag:
    side = Qt.AlignmentFlag.AlignRight if column in (0, 3) else Qt.AlignmentFlag.AlignLeft
    return side | Qt.AlignmentFlag.AlignVCenter


class TokensPage(QWidget):
    """All tokens of a vocabulary, with a field to find some."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._tables: tuple[TokenTable, ...] = ()
        self.vocabulary = Segments(())
        self.vocabulary.setObjectName("vocabularies")
        self.vocabulary.chosen.connect(self._again)
        self.search = SearchField("Find a token")
        self.search.setObjectName("findToken")
        self.search.setFixedWidth(200)
        self.search.textChanged.connect(self._again)
        self.said = ElidedLabel("", "small")
        self.steps = PieceStepsBox()
        self.steps.hide()
        self.model = TokensModel(self)
        self.table = QTableView()
        self.table.setObjectName("tokenTable")
        self.table.setModel(self.model)
        self.table.setShowGrid(False)
        self.table.setWordWrap(False)
        self.table.setSelectionMode(QAbstractItemView.SelectionMode.NoSelection)
        self.table.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.table.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.table.verticalHeader().setDefaultSectionSize(22)
        self.table.verticalHeader().setVisible(False)
        heads = self.table.horizontalHeader()
        heads.setHighlightSections(False)
        heads.setSectionResizeMode(QHeaderView.ResizeMode.Interactive)
        for at, width in enumerate(WIDTHS):
            heads.resizeSection(at, width)
        top = QHBoxLayout()
        top.setContentsMargins(0, 0, 0, 0)
        top.setSpacing(12)
        top.addWidget(self.search)
        top.addWidget(self.vocabulary)
        top.addWidget(self.said, 1)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(6)
        column.addLayout(top)
        column.addWidget(self.steps)
        column.addWidget(self.table, 1)
        themes.theme_changed.connect(self._redraw)

    def show_tables(self, tables: tuple[TokenTable, ...]) -> None:
        """Show these vocabularies, one at a time."""
        self._tables = tables
        tip = "The tokens of this column"
        self.vocabulary.set_options([(one.column, one.column, tip) for one in tables])
        self.vocabulary.setVisible(len(tables) > 1)
        self._again()

    def _again(self, _words: str = "") -> None:
        found = next((one for one in self._tables if one.column == self.vocabulary.key), None)
        self.steps.show_steps(None if found is None else found.steps)
        if found is None:
            self.model.show(())
            return
        wanted = self.search.text().strip().casefold().replace(" ", "␣")
        rows = [row for row in found.rows if wanted in row[1].casefold()] if wanted else found.rows
        self.model.show(rows, bool(found.counted))
        self.table.setColumnHidden(JOINED, not found.joined)
        self.table.setColumnHidden(TIMES, not found.counted)
        words = f"{len(rows):,} of {len(found.rows):,} tokens" if wanted else f"{len(found.rows):,} tokens"
        if found.joined:
            words += ", pieces in the order in which they were joined"
        if not found.counted:
            self.said.setText(f"{words} · not counted: the network does not read {found.column}")
            return
        unused = sum(not row[3] for row in found.rows)
        words += (
            f" · counted in all {found.total:,} training rows"
            if found.counted == found.total
            else f" · counted in {found.counted:,} of {found.total:,} training rows"
        )
        self.said.setText(f"{words} · {unused:,} of them never" if unused else words)

    def _redraw(self, _theme: object) -> None:
        self.table.viewport().update()
        self.table.horizontalHeader().viewport().update()
