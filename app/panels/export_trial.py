"""Runs an export beside the application while its dialog is open, and shows the losses of both."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from PySide6.QtCore import (
    QAbstractTableModel,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    Qt,
    QTimer,
    Signal,
)
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QTableView, QWidget

from app.panels.exporting import Trial
from app.theme import SMALL, current_theme
from app.widgets.background import Background
from engine.errors import NeuroloomError
from engine.train.verify.comparison import Comparison

_POLL_MS = 100
_COLUMNS = ("", "Application", "Export")
_Index = QModelIndex | QPersistentModelIndex


class Trying(QObject):
    """An export that is being run, or has been: `found` is the comparison so far, `error` why there is none.

    It is begun in a thread, since the files must be written first; `changed` says that something is new.
    """

    changed = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.found: Comparison | None = None
        self.error = ""
        self.fraction = 0.0
        self._begun: list[tuple[int, Trial]] = []
        self._number = 0  # of the one that is wanted
        self._wanted = False
        self._starter = Background("export-trial", self)
        self._starter.finished.connect(self._started)
        self._timer = QTimer(self)
        self._timer.setInterval(_POLL_MS)
        self._timer.timeout.connect(self._look)

    @property
    def busy(self) -> bool:
        """Whether it is being begun or runs."""
        return self._wanted

    def start(self, begin: Callable[[], Trial]) -> None:
        """Begin; what was found before is forgotten."""
        self.stop()
        number, self._wanted = self._number, True

        def work() -> None:
            self._begun.append((number, begin()))

        self._starter.ask(work)
        self.changed.emit()

    def stop(self) -> None:
        """End what runs and forget what was found; what is being begun is ended once it has."""
        self._number += 1
        self._end()
        self.found, self.error, self.fraction = None, "", 0.0
        self.changed.emit()

    def close(self) -> None:
        """End everything, and wait for it."""
        self.stop()
        self._starter.close()
        self._end()

    def _started(self, _nothing: object, error: NeuroloomError | None) -> None:
        for one in [one for one in self._begun if one[0] != self._number]:
            self._begun.remove(one)
            one[1].close()
        if not self._wanted or self._starter.busy:
            return
        if error is not None:
            self._wanted, self.error = False, str(error)
        elif self._begun:
            self._timer.start()
        self.changed.emit()

    def _look(self) -> None:
        both = self._begun[-1][1].both
        try:
            self.fraction, self.found = both.fraction, both.look()
        except NeuroloomError as error:
            self.found, self.error = None, str(error)
        if self.found is None or self.found.over:
            self._end()
        self.changed.emit()

    def _end(self) -> None:
        self._timer.stop()
        self._wanted = False
        while self._begun:
            self._begun.pop()[1].close()


class LossesModel(QAbstractTableModel):
    """The values of each step, those of the application beside those of the export."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._rows: list[tuple[str, str, str]] = []
        self._differs = False

    def show(self, found: Comparison) -> None:
        """Show these values, and the first difference behind them."""
        rows = [(what, repr(ours), repr(other)) for what, ours, other in found.rows]
        last = found.difference
        if last is not None:
            ours, other = ("" if one is None else repr(one) for one in (last.application, last.export))
            rows.append((f"≠  {last.where}", ours, other))
        self.beginResetModel()
        self._rows, self._differs = rows, last is not None
        self.endResetModel()

    def rowCount(self, parent: _Index = QModelIndex()) -> int:  # noqa: B008
        return 0 if parent.isValid() else len(self._rows)

    def columnCount(self, parent: _Index = QModelIndex()) -> int:  # noqa: B008
        return 0 if parent.isValid() else len(_COLUMNS)

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        if orientation is Qt.Orientation.Horizontal and role == Qt.ItemDataRole.DisplayRole:
            return _COLUMNS[section]
        return None

    def data(self, index: _Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if role == Qt.ItemDataRole.DisplayRole:
            return self._rows[index.row()][index.column()]
        if role == Qt.ItemDataRole.ForegroundRole and self._differs and index.row() == len(self._rows) - 1:
            return current_theme().bad
        if role == Qt.ItemDataRole.FontRole and index.column():
            return current_theme().mono(SMALL)
        return None


def losses_table(model: LossesModel, parent: QWidget | None = None) -> QTableView:
    """A table of the losses of both."""
    table = QTableView(parent)
    table.setObjectName("exportLosses")
    table.setAccessibleName("Losses of the application and of the export")
    table.setModel(model)
    table.setShowGrid(False)
    table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
    table.verticalHeader().hide()
    table.verticalHeader().setDefaultSectionSize(24)
    head = table.horizontalHeader()
    head.setHighlightSections(False)
    head.setFont(current_theme().font(SMALL))
    head.setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
    head.setSectionResizeMode(QHeaderView.ResizeMode.Stretch)
    return table
