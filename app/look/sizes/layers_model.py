"""The rows of a table of layers: what each makes, what it costs, and how long it takes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QPersistentModelIndex, Qt

from app.charts.plot import number, percent
from app.theme import SMALL, current_theme, themes
from app.widgets.labels import plain

Index = QModelIndex | QPersistentModelIndex
FRACTION = Qt.ItemDataRole.UserRole
NODE = Qt.ItemDataRole.UserRole + 1


@dataclass(frozen=True, slots=True)
class LayerRow:
    """One node. Sizes are for one example: `multiply_adds`, and the `bytes` of what leaves it.

    `seconds` are for a batch, None while they have not been measured; `trains` is "yes", "frozen" or "".
    """

    node_id: str
    name: str
    type: str
    shape: str
    parameters: int
    trains: str
    multiply_adds: int
    bytes: int
    seconds: float | None = None


class Column(NamedTuple):
    """A heading, what it means, and the field of a row that it shows."""

    title: str
    tip: str
    field: str


COLUMNS = (
    Column("Layer", "The name of the node", "name"),
    Column("Type", "What kind of node it is", "type"),
    Column("Output", "The shape of its output, without the batch", "shape"),
    Column("Parameters", "How many weights and biases it has", "parameters"),
    Column("Trained", "Whether training changes it", "trains"),
    Column("Multiply-adds", "Of matrix products and convolutions, forward, for one example", "multiply_adds"),
    Column("Activations", "Memory of its output, for one example", "bytes"),
    Column("Time", "Measured for a forward pass of a batch, the median of seven", "seconds"),
    Column("% time", "Fraction of the time of all rows", "fraction"),
)
_RIGHT = {"parameters", "multiply_adds", "bytes", "seconds", "fraction"}


class LayersModel(QAbstractTableModel):
    """Rows that can be sorted by any column; the sums stay below them."""

    def __init__(self) -> None:
        super().__init__()
        self.rows: list[LayerRow] = []
        self.total: LayerRow | None = None
        self._order: tuple[int, Qt.SortOrder] = (-1, Qt.SortOrder.AscendingOrder)
        self._natural: list[LayerRow] = []
        themes.theme_changed.connect(self._theme_changed)

    def show(self, rows: Sequence[LayerRow], total: LayerRow | None) -> None:
        """Show other rows; only what they say has changed where they are the same nodes."""
        same = [row.node_id for row in rows] == [row.node_id for row in self._natural]
        if not same:
            self.beginResetModel()
        self._natural, self.total = list(rows), total
        self._arrange()
        if not same:
            self.endResetModel()
        elif rows:
            self.dataChanged.emit(self.index(0, 0), self.index(len(self.rows), len(COLUMNS) - 1))

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        return 0 if parent.isValid() or not self.rows else len(self.rows) + 1

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        return 0 if parent.isValid() else len(COLUMNS)

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = 0) -> Any:
        if orientation == Qt.Orientation.Horizontal:
            if role == Qt.ItemDataRole.DisplayRole:
                return COLUMNS[section].title
            if role == Qt.ItemDataRole.ToolTipRole:
                return COLUMNS[section].tip
            if role == Qt.ItemDataRole.TextAlignmentRole:
                return _alignment(COLUMNS[section].field)
        return None

    def data(self, index: Index, role: int = 0) -> Any:
        row, field = self.row(index.row()), COLUMNS[index.column()].field
        if row is None:
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            return self.words(row, field)
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _alignment(field)
        if role == Qt.ItemDataRole.ToolTipRole:
            return plain(self._exactly(row, field))
        if role == Qt.ItemDataRole.ForegroundRole:
            quiet = field in ("type", "trains") or (field in _RIGHT and self._value(row, field) in (0, None))
            return current_theme().dim if quiet else None
        if role == Qt.ItemDataRole.FontRole:
            theme, total = current_theme(), row is self.total
            mono = field in _RIGHT or field == "shape"
            return theme.mono(SMALL, bold=total) if mono else theme.font(SMALL, bold=total)
        if role == FRACTION and field == "fraction" and row is not self.total:
            return self.fraction(row)
        return row.node_id if role == NODE else None

    def row(self, place: int) -> LayerRow | None:
        """The row at a place, the sums at the end."""
        return self.rows[place] if place < len(self.rows) else self.total

    def sort(self, column: int, order: Qt.SortOrder = Qt.SortOrder.AscendingOrder) -> None:
        self.layoutAboutToBeChanged.emit()
        self._order = (column, order)
        self._arrange()
        self.layoutChanged.emit()

    def fraction(self, row: LayerRow) -> float:
        """A row's part of the time, 0 to 1."""
        whole = self.total.seconds if self.total is not None else None
        return row.seconds / whole if row.seconds is not None and whole else 0.0

    def words(self, row: LayerRow, field: str) -> str:
        """What stands in a cell."""
        if field in ("name", "type", "shape", "trains"):
            return str(getattr(row, field))
        value = self._value(row, field)
        if value is None or (field == "fraction" and not value):
            return ""
        if field == "fraction":
            return percent(round(value, 3 if value < 0.1 else 2))
        if field == "seconds":
            return duration_words(value)
        if not value and row is not self.total:
            return "–"
        if field == "bytes":
            return bytes_words(int(value))
        return f"{int(value):,}"

    def _value(self, row: LayerRow, field: str) -> float | None:
        if field == "fraction":
            return (1.0 if row.seconds else 0.0) if row is self.total else self.fraction(row)
        found: float | None = getattr(row, field)
        return found

    def _exactly(self, row: LayerRow, field: str) -> str:
        if field == "bytes":
            return f"{row.bytes:,} bytes"
        return self.words(row, field) if field in ("name", "shape") else ""

    def _arrange(self) -> None:
        column, order = self._order
        self.rows = list(self._natural)
        if column >= 0:
            field = COLUMNS[column].field
            field = "seconds" if field == "fraction" else field
            self.rows.sort(
                key=lambda row: (
                    (getattr(row, field) is None, getattr(row, field) or 0)
                    if field in _RIGHT
                    else (False, str(getattr(row, field)).lower())
                ),
                reverse=order == Qt.SortOrder.DescendingOrder,
            )

    def _theme_changed(self, theme: object) -> None:
        if self.rows:
            self.dataChanged.emit(self.index(0, 0), self.index(len(self.rows), len(COLUMNS) - 1))


def duration_words(seconds: float) -> str:
    """`830 µs`, `1.24 ms`, `2.1 s`."""
    if seconds < 1e-3:
        return f"{seconds * 1e6:.3g} µs"
    return f"{seconds * 1e3:.3g} ms" if seconds < 1 else f"{number(seconds)} s"


def bytes_words(count: int) -> str:
    """`96 B`, `21.6 kB`, `1.3 MB`."""
    for unit, size in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if count >= size:
            return f"{count / size:.3g} {unit}"
    return f"{count} B"


def _alignment(field: str) -> int:
    side = Qt.AlignmentFlag.AlignRight if field in _RIGHT else Qt.AlignmentFlag.AlignLeft
    return int(side | Qt.AlignmentFlag.AlignVCenter)
