"""The runs as Qt's views ask for them: filtered, sorted, and which of them are drawn in which colour."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt, Signal

from app.runs.columns import EDITABLE, TAGS, TICK, Column, Value, columns_of
from app.runs.names import numbered
from app.widgets.labels import plain
from engine.runs.filter import matching
from engine.runs.index import RunRecord
from engine.runs.records import Labels, tags_from

# Colours that colour-blind people tell apart; each run keeps the one it was given first.
COLOURS = ("convolution", "data", "dense", "attention", "loss", "recurrent", "activation", "dim")
MOST = len(COLOURS)

Index = QModelIndex | QPersistentModelIndex


class RunsModel(QAbstractTableModel):
    """The runs on show; `ticked` are the names of those whose curves are drawn, in the order of ticking."""

    ticks_changed = Signal()
    labelled = Signal(object, object)  # RunRecord, the Labels somebody has typed
    crowded = Signal()  # more runs are ticked than there are colours

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.records: list[RunRecord] = []
        self.shown: list[RunRecord] = []
        self.columns: list[Column] = columns_of(())
        self.ticked: list[str] = []
        self._colours: dict[str, str] = {}
        self._filter = ""
        self._sort: tuple[str, bool] = ("started", True)

    # -- what is shown ----------------------------------------------------------------------------

    def show_records(self, records: Sequence[RunRecord]) -> None:
        """Show these runs, as far as the filter lets them through."""
        records = list(records)
        if records == self.records:
            return
        self.records = records
        known = {record.name for record in records}
        gone = [name for name in self.ticked if name not in known]
        self._show(columns_of(records))
        if gone:
            self.ticked = [name for name in self.ticked if name in known]
            self.ticks_changed.emit()

    def set_filter(self, text: str) -> None:
        """Show only the runs that match, as `engine.runs.filter` reads it."""
        if text != self._filter:
            self._filter = text
            self._show(self.columns)

    def sort(self, column: int, order: Qt.SortOrder = Qt.SortOrder.AscendingOrder) -> None:
        if 0 < column < len(self.columns):
            self._sort = (self.columns[column].key, order == Qt.SortOrder.DescendingOrder)
            self._show(self.columns)

    def _show(self, columns: list[Column]) -> None:
        shown = self._sorted(matching(self.records, self._filter), columns)
        same = [c.key for c in columns] == [c.key for c in self.columns]
        if same and [one.name for one in shown] == [one.name for one in self.shown]:
            before, self.shown, self.columns = self.shown, shown, columns
            for row, (old, new) in enumerate(zip(before, shown, strict=True)):
                if old != new:
                    self.dataChanged.emit(self.index(row, 0), self.index(row, len(columns) - 1))
            return
        self.beginResetModel()
        self.shown, self.columns = shown, columns
        self.endResetModel()

    def _sorted(self, records: list[RunRecord], columns: list[Column]) -> list[RunRecord]:
        key, down = self._sort
        column = next((one for one in columns if one.key == key), None)
        if column is None:
            return records
        known = [record for record in records if column.value(record) not in (None, "")]
        rest = [record for record in records if column.value(record) in (None, "")]
        return sorted(known, key=lambda record: _rank(column.value(record)), reverse=down) + rest

    def row_of(self, name: str) -> int:
        """Where a run stands; -1 where it is not on show."""
        return next((row for row, record in enumerate(self.shown) if record.name == name), -1)

    def record(self, name: str) -> RunRecord | None:
        """A run by its name, on show or not."""
        return next((record for record in self.records if record.name == name), None)

    def replace_record(self, record: RunRecord) -> None:
        """Show what has just been written to a run, before its folder is read again."""
        self.show_records([record if one.name == record.name else one for one in self.records])

    @property
    def names(self) -> dict[str, str]:
        """What the runs are called, by their folders' names."""
        return numbered(self.records)

    # -- ticks ------------------------------------------------------------------------------------

    def colour(self, name: str) -> str:
        """The colour of a run's curves as a role of the theme; the same for as long as the panel lives."""
        if name not in self._colours:
            taken = {self._colours[one] for one in self.ticked if one in self._colours}
            free = [role for role in COLOURS if role not in taken]
            unused = [role for role in free if role not in self._colours.values()]
            self._colours[name] = (unused or free or list(COLOURS))[0]
        return self._colours[name]

    def tick(self, name: str, on: bool) -> None:
        """Draw the curves of a run, or no longer."""
        if on == (name in self.ticked):
            return
        if on and len(self.ticked) >= MOST:
            self.crowded.emit()
            return
        if on:
            taken = {self._colours[one] for one in self.ticked}
            if self._colours.get(name) in taken:
                del self._colours[name]
            self.colour(name)
            self.ticked.append(name)
        else:
            self.ticked.remove(name)
        row = self.row_of(name)
        if row >= 0:
            self.dataChanged.emit(self.index(row, 0), self.index(row, 0))
        self.ticks_changed.emit()

    # -- Qt's questions ---------------------------------------------------------------------------

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        return 0 if parent.isValid() else len(self.shown)

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        return 0 if parent.isValid() else len(self.columns)

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> object:
        if orientation == Qt.Orientation.Vertical or section >= len(self.columns):
            return None
        column = self.columns[section]
        if role == Qt.ItemDataRole.DisplayRole:
            return column.title
        if role == Qt.ItemDataRole.ToolTipRole:
            return column.tip or None
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _alignment(column)
        return None

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        record, column = self.shown[index.row()], self.columns[index.column()]
        if column.key == TICK:
            if role == Qt.ItemDataRole.CheckStateRole:
                return Qt.CheckState.Checked if record.name in self.ticked else Qt.CheckState.Unchecked
            if role == Qt.ItemDataRole.AccessibleTextRole:
                return f"draw the curves of {record.title}"
            return None
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.EditRole):
            return column.text(record)
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _alignment(column)
        if role == Qt.ItemDataRole.ToolTipRole:
            return plain(_tip(record, column) or "")
        return None

    def setData(self, index: Index, value: object, role: int = Qt.ItemDataRole.EditRole) -> bool:
        record, column = self.shown[index.row()], self.columns[index.column()]
        if column.key == TICK:
            self.tick(record.name, record.name not in self.ticked)
            return True
        text = str(value).strip()
        labels = Labels(record.tags, record.note)
        labels = replace(labels, tags=tags_from([text])) if column.key == TAGS else replace(labels, note=text)
        if labels != Labels(record.tags, record.note):
            self.labelled.emit(record, labels)
        return True

    def flags(self, index: Index) -> Qt.ItemFlag:
        flags = Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable
        key = self.columns[index.column()].key
        if key == TICK:
            return flags | Qt.ItemFlag.ItemIsUserCheckable
        return flags | Qt.ItemFlag.ItemIsEditable if key in EDITABLE else flags


def _alignment(column: Column) -> int:
    side = Qt.AlignmentFlag.AlignRight if column.right else Qt.AlignmentFlag.AlignLeft
    return int(side | Qt.AlignmentFlag.AlignVCenter)


def _tip(record: RunRecord, column: Column) -> str | None:
    if column.key == "state":
        return {
            "interrupted": "Its program ended while it trained; Continue goes on from the last checkpoint.",
            "failed": record.error or "It failed.",
            "unreadable": record.error,
            "running": "It is being trained, here or by another program.",
        }.get(record.state)
    if column.key == "title":
        return str(record.folder)
    if column.key in EDITABLE:
        return column.text(record) or "Double-click to write"
    return column.tip or None


def _rank(value: Value) -> tuple[float, str]:
    """By what a value of a column is sorted: a number, or a text."""
    return (0.0, value) if isinstance(value, str) else (value or 0.0, "")
