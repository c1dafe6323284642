"""A sweep: the same project trained with several values of its plan, and which of them did best."""

from __future__ import annotations

import os
import re
from pathlib import Path

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, Qt, QTimer, Signal
from PySide6.QtWidgets import (
    QAbstractItemView,
    QDialog,
    QFormLayout,
    QHBoxLayout,
    QHeaderView,
    QLineEdit,
    QPushButton,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTableWidget,
    QTableWidgetItem,
    QVBoxLayout,
    QWidget,
)

from app.charts.plot import number
from app.runs.columns import took, value_words
from app.widgets.background import Background
from app.widgets.count_field import count_field
from app.widgets.labels import label, plain, restyle, rule
from app.workspace.open_document import TrainableDocument
from app.workspace.workspace import DEVICES
from engine.catalogue.training.numbers import PATIENCE, SEED, WORDS, number_of
from engine.errors import NeuroloomError
from engine.runs.sweep import FAILED, FINISHED, RUNNING, Sweep, Trial, grid

LOOK_MS = 500
NAMES = (
    *(name for name in WORDS if name not in (PATIENCE, SEED)),
    SEED,
)  # that have a place in the plan
_BETWEEN = re.compile(r"[,;\s]+")


class SweepDialog(QDialog):
    """Values to try, and a table of how each combination does. It may be closed while the runs go on.

    `project_wanted` carries the folder of a run whose project is to be opened, `runs_wanted` the tag that
    the runs of the sweep have.
    """

    project_wanted = Signal(Path)
    runs_wanted = Signal(str)

    def __init__(self, workspace: TrainableDocument, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("sweepDialog")
        self.setWindowTitle("Sweep")
        self.resize(640, 520)
        self._workspace = workspace
        self.sweep: Sweep | None = None
        self._fields: dict[str, QLineEdit] = {}
        self._values = QWidget()  # the fields
        self.at_once = count_field("sweepAtOnce", 1, max(1, os.cpu_count() or 1), 1, width=56)
        self.note = label("", "dim", wrap=True)
        self.note.setObjectName("sweepNote")
        self.table = _table()
        self.start = self._button("", "sweepStart", self._start_or_stop, kind="main")
        self.open_best = self._button("Open the best", "sweepBest", self._open_best)
        self.show_runs = self._button("Show among the runs", "sweepRuns", self._show_runs)
        self.table.cellDoubleClicked.connect(self.open_row)
        self._lay_out()
        self._reader = Background("sweep", self)
        self._reader.finished.connect(self._looked)
        self._timer = QTimer(self)
        self._timer.setInterval(LOOK_MS)
        self._timer.timeout.connect(self._look)
        workspace.closing.connect(self.end)
        workspace.changed.connect(self._plan_changed)
        self._offer_fields()

    def _lay_out(self) -> None:
        column = self._column = QVBoxLayout(self)
        column.setContentsMargins(20, 16, 20, 16)
        column.setSpacing(10)
        words = (
            "Each combination of these values is trained from the plan's seed, in a process of its own. "
            "Separate values with commas; a field left empty keeps the plan's value."
        )
        column.addWidget(label(words, wrap=True))
        column.addWidget(self._values)
        beside = QHBoxLayout()
        beside.setSpacing(8)
        beside.addWidget(self.note, 1)
        beside.addWidget(label("Runs at once", "dim"))
        beside.addWidget(self.at_once)
        column.addLayout(beside)
        column.addWidget(rule())
        column.addWidget(self.table, 1)
        row = QHBoxLayout()
        row.setSpacing(8)
        row.addWidget(self.open_best)
        row.addWidget(self.show_runs)
        row.addStretch(1)
        close = self._button("Close", "sweepClose", self.reject)
        row.addWidget(close)
        row.addWidget(self.start)
        column.addLayout(row)

    def _button(self, text: str, name: str, run: object, kind: str = "") -> QPushButton:
        button = QPushButton(text)
        button.setObjectName(name)
        button.setAutoDefault(False)
        if kind:
            button.setProperty("kind", kind)
            restyle(button)
        button.clicked.connect(run)
        return button

    @property
    def going(self) -> bool:
        """Whether runs of the sweep wait or train."""
        return self.sweep is not None and not self.sweep.over

    # -- what to try ------------------------------------------------------------------------------

    def _offer_fields(self) -> None:
        """A field for each number that the plan has a place for, with its value now."""
        plan = self._workspace.document.project.plan
        there = [name for name in NAMES if number_of(plan, name) is not None]
        if list(self._fields) != there:
            kept, old = self.texts(), self._values
            self._values = QWidget()
            form = QFormLayout(self._values)
            form.setContentsMargins(0, 0, 0, 0)
            form.setHorizontalSpacing(16)
            form.setVerticalSpacing(6)
            self._fields = {name: self._field(form, name, kept.get(name)) for name in there}
            self._column.replaceWidget(old, self._values)
            old.deleteLater()
        for name, field in self._fields.items():
            field.setPlaceholderText(f"{number_of(plan, name):g}, as in the plan")
        self._weigh()

    def _field(self, form: QFormLayout, name: str, text: str | None) -> QLineEdit:
        field = QLineEdit()
        field.setObjectName(f"sweep_{name}")
        title = WORDS[name][:1].upper() + WORDS[name][1:]
        field.setAccessibleName(f"{title} values")
        now = number_of(self._workspace.document.project.plan, name)
        field.setText(f"{now:g}" if text is None and name in ("lr", "batch") else text or "")
        field.textChanged.connect(self._weigh)
        form.addRow(label(title, "dim"), field)
        return field

    def texts(self) -> dict[str, str]:
        """What is typed, by the name of the number."""
        return {name: field.text() for name, field in self._fields.items()}

    def axes(self) -> dict[str, list[float]]:
        """The values to try. Errors: `NeuroloomError` for what is no number."""
        found: dict[str, list[float]] = {}
        for name, text in self.texts().items():
            values = []
            for word in filter(None, _BETWEEN.split(text)):
                try:
                    values.append(float(word))
                except ValueError:
                    raise NeuroloomError(f"“{word}” is not a number ({WORDS[name]}).") from None
            if values:
                found[name] = list(dict.fromkeys(values))
        return found

    def _weigh(self, _text: str = "") -> None:
        """Says how many runs there will be, or why there can be none."""
        if self.going:
            return
        try:
            axes = self.axes()
            count = len(grid(self._workspace.document.project, axes))
        except NeuroloomError as error:
            self._say(str(error), bad=True)
            self._dress("Start", enabled=False)
            return
        product = " × ".join(str(len(values)) for values in axes.values())
        self._say(f"{product} = {count} runs" if len(axes) > 1 else f"{count} run{'s' if count > 1 else ''}")
        self._dress(f"Start {count} run{'s' if count > 1 else ''}", enabled=True)

    def _say(self, text: str, bad: bool = False) -> None:
        self.note.setText(text)
        self.note.setProperty("role", "error" if bad else "dim")
        restyle(self.note)

    def _plan_changed(self, _change: object) -> None:
        if not self.going:
            self._offer_fields()

    # -- running ----------------------------------------------------------------------------------

    def _start_or_stop(self) -> None:
        if self.sweep is not None and self.going:
            self.sweep.cancel()
            self._dress("Stopping …", enabled=False)
            return
        workspace = self._workspace
        errors = workspace.errors()
        if errors:
            self._say(f"Before training: {errors[0].message}", bad=True)
            return
        cases = grid(workspace.document.snapshot(), self.axes())
        device = DEVICES[workspace.device]
        self.sweep = Sweep(cases, workspace.places.runs, device, self.at_once.value())
        self._head(self.sweep)
        self._timer.start()
        self._look()

    def _look(self) -> None:
        if self.sweep is not None and not self._reader.busy:
            self._reader.ask(self.sweep.look)

    def _looked(self, trials: tuple[Trial, ...] | None, error: NeuroloomError | None) -> None:
        sweep = self.sweep
        if sweep is None:
            return
        if error is not None:
            self._say(str(error), bad=True)
            sweep.cancel()
            return
        self._show(sweep, trials or ())

    def end(self) -> None:
        """The document closes: what trains is ended with a checkpoint, and waited for."""
        self._timer.stop()
        self._reader.close()
        if self.sweep is not None and self.going:
            self.sweep.close()

    # -- what is shown ----------------------------------------------------------------------------

    def _dress(self, text: str, *, enabled: bool) -> None:
        self.start.setText(text)
        self.start.setEnabled(enabled)
        for field in (*self._fields.values(), self.at_once):
            field.setEnabled(not self.going)
        done = self.sweep is not None and self.sweep.best is not None
        self.open_best.setEnabled(done)
        self.open_best.setToolTip("" if done else "No run of the sweep has finished yet")
        self.show_runs.setEnabled(self.sweep is not None)

    def _head(self, sweep: Sweep) -> None:
        names = [WORDS[name] for name, _ in sweep.trials[0].values]
        self.table.clear()
        self.table.setColumnCount(len(names) + 3)
        self.table.setHorizontalHeaderLabels([*names, "state", value_words(sweep.monitor), "time"])
        self.table.setRowCount(len(sweep.trials))
        header = self.table.horizontalHeader()
        for place in range(self.table.columnCount()):
            if (title := self.table.horizontalHeaderItem(place)) is not None:
                title.setTextAlignment(_side(place == len(names)))
            stretches = place == len(names)
            mode = QHeaderView.ResizeMode.Stretch if stretches else QHeaderView.ResizeMode.ResizeToContents
            header.setSectionResizeMode(place, mode)

    def _show(self, sweep: Sweep, trials: tuple[Trial, ...]) -> None:
        best = sweep.best
        for row, one in enumerate(trials):
            record = one.record
            value = None if record is None else record.best.get(sweep.monitor)
            texts = [f"{number_:g}" for _, number_ in one.values]
            texts += [_state(one, one is best), "" if value is None else _figures(value)]
            texts.append(took(record.seconds) if record is not None and record.seconds else "")
            for place, text in enumerate(texts):
                self._put(row, place, text, bold=one is best, words=place == len(one.values))
        if self.going:
            done = sum(one.state not in ("waiting", RUNNING) for one in trials)
            self._say(f"{done} of {len(trials)} done; the runs go on while this window is closed.")
            if self.start.text() != "Stopping …":
                self._dress("Stop", enabled=True)
            return
        self._timer.stop()
        self._weigh()

    def _put(self, row: int, place: int, text: str, *, bold: bool, words: bool) -> None:
        item = self.table.item(row, place)
        if item is None:
            item = QTableWidgetItem()
            item.setTextAlignment(_side(words))
            self.table.setItem(row, place, item)
        font = item.font()
        if item.text() != text or font.bold() != bold:
            font.setBold(bold)
            item.setFont(font)
            item.setText(text)
            item.setToolTip(plain(text) if words else "")

    def _open_best(self) -> None:
        best = None if self.sweep is None else self.sweep.best
        if best is not None and best.record is not None:
            self.project_wanted.emit(best.record.folder)

    def open_row(self, row: int, _place: int = 0) -> None:
        """Opens the project of a run, once it has a folder."""
        record = None if self.sweep is None else self.sweep.trials[row].record
        if record is not None:
            self.project_wanted.emit(record.folder)

    def _show_runs(self) -> None:
        if self.sweep is not None:
            self.runs_wanted.emit(self.sweep.tag)


class _Cells(QStyledItemDelegate):
    """Cells without a mark of their own in the row that is selected."""

    def initStyleOption(
        self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        super().initStyleOption(option, index)
        option.state &= ~QStyle.StateFlag.State_HasFocus


def _side(words: bool) -> Qt.AlignmentFlag:
    """Words stand left, numbers right."""
    side = Qt.AlignmentFlag.AlignLeft if words else Qt.AlignmentFlag.AlignRight
    return side | Qt.AlignmentFlag.AlignVCenter


def _table() -> QTableWidget:
    table = QTableWidget(0, 0)
    table.setObjectName("sweepTable")
    table.setAccessibleName("Runs of the sweep")
    table.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
    table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
    table.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
    table.setItemDelegate(_Cells(table))
    table.setShowGrid(False)
    table.horizontalHeader().setHighlightSections(False)
    table.verticalHeader().hide()
    table.verticalHeader().setDefaultSectionSize(26)
    return table


def _state(trial: Trial, best: bool) -> str:
    record = trial.record
    if trial.state == RUNNING:
        if record is None:
            return "starting"
        return f"epoch {min(record.epochs_done + 1, record.epochs)} of {record.epochs}"
    if trial.state == FAILED and trial.error:
        return f"failed: {trial.error}"
    return f"{trial.state} · best" if best and trial.state == FINISHED else trial.state


def _figures(value: float) -> str:
    return f"{value:.4f}" if 1e-3 <= abs(value) < 100 else number(value)
