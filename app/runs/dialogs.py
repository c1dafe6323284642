"""Dialogs of the runs: what two of them differ in, what weights would fit, which checkpoints stay."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QDialog,
    QFormLayout,
    QFrame,
    QGridLayout,
    QHBoxLayout,
    QPushButton,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from app.runs.columns import figure, value_words, when
from app.widgets.background import Background
from app.widgets.count_field import count_field
from app.widgets.labels import ElidedLabel, label, restyle, rule
from app.workspace.open_document import OpenDocument
from app.workspace.settings import Settings
from app.workspace.workspace import checkpoints_kept
from engine.catalogue import Catalogue
from engine.document.files import load_project
from engine.document.graph import Project
from engine.errors import NeuroloomError
from engine.runs.compare import Difference, compare, compare_runs
from engine.runs.index import RunRecord
from engine.runs.records import PROJECT, read_settings

if TYPE_CHECKING:
    from engine.train.warm_start import Report

_HEADS = {"setting": "Settings", "block": "Blocks", "node": "Nodes", "wire": "Wires"}
_SIGNS = {"added": "+", "removed": "−", "changed": "≠"}
_ROLES = {"added": "good", "removed": "bad", "changed": "dim"}


def differences(old: RunRecord, new: RunRecord | Project, catalogue: Catalogue) -> list[Difference]:
    """What two runs differ in, or a run and a project. Errors: `NeuroloomError` where one can't be read."""
    before = load_project(old.folder / PROJECT)
    if isinstance(new, Project):
        return compare(before, new, catalogue)
    after = read_settings(new.folder), load_project(new.folder / PROJECT)
    return compare_runs((read_settings(old.folder), before), after, catalogue)


class CompareDialog(QDialog):
    """The differences of runs from the oldest in words, settings first; None is the project that is open."""

    def __init__(
        self,
        old: RunRecord,
        others: Sequence[tuple[RunRecord | None, list[Difference]]],
        names: Mapping[str, str],
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self.setObjectName("compareDialog")
        self.setWindowTitle("What differs")
        column = QVBoxLayout(self)
        column.setContentsMargins(20, 16, 20, 16)
        column.setSpacing(8)
        page = QWidget()
        page.setProperty("role", "page")
        rows = QVBoxLayout(page)
        rows.setContentsMargins(0, 0, 8, 0)
        rows.setSpacing(4)
        for new, found in others:
            second = _run_words(new, names) if new is not None else "the open project"
            rows.addWidget(ElidedLabel(f"From {_run_words(old, names)} to {second}", "heading"))
            rows.addWidget(rule())
            if new is not None and (ends := _ends(old, new)) is not None:
                rows.addWidget(label("Results", "caps"))
                rows.addLayout(ends)
            _add_differences(rows, found)
        rows.addStretch(1)
        area = QScrollArea()
        area.setObjectName("differences")
        area.setWidgetResizable(True)
        area.setFrameShape(QFrame.Shape.NoFrame)
        area.setWidget(page)
        column.addWidget(area, 1)
        column.addLayout(_buttons(self, "Close"))
        self.resize(620, min(440, page.sizeHint().height() + 90))


def _add_differences(rows: QVBoxLayout, found: list[Difference]) -> None:
    if not found:
        rows.addWidget(label("They are alike: the same settings and the same graph.", "empty"))
    for kind, head in _HEADS.items():
        these = [one for one in found if one.kind == kind]
        if these:
            rows.addWidget(label(head, "caps"))
        for one in these:
            rows.addLayout(_row(one))


def _row(one: Difference) -> QHBoxLayout:
    row = QHBoxLayout()
    row.setSpacing(8)
    sign = label(_SIGNS[one.change], "mono")
    sign.setFixedWidth(12)
    row.addWidget(sign, 0, Qt.AlignmentFlag.AlignTop)
    text = label(one.what[:1].upper() + one.what[1:], wrap=True)
    text.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
    row.addWidget(text, 1)
    return row


def _run_words(record: RunRecord, names: Mapping[str, str]) -> str:
    return f"“{names.get(record.name, record.title)}” of {when(record.started)}"


def _ends(old: RunRecord, new: RunRecord) -> QGridLayout | None:
    """How the runs ended, a row a value; None where they share none."""
    both = [name for name in old.best if name in new.best and name.startswith(("val_", "test_"))]
    if not both:
        return None
    grid = QGridLayout()
    grid.setHorizontalSpacing(10)
    grid.setVerticalSpacing(4)
    grid.setColumnStretch(4, 1)
    for at, name in enumerate(both):
        words = value_words(name) if name.startswith("test_") else f"best {value_words(name)}"
        before, after = (label(figure(record.best[name]), "mono") for record in (old, new))
        for place, one in enumerate((label(words[:1].upper() + words[1:]), before, label("→", "dim"), after)):
            side = Qt.AlignmentFlag.AlignRight if place in (1, 3) else Qt.AlignmentFlag.AlignLeft
            grid.addWidget(one, at, place, side)
    return grid


def _buttons(dialog: QDialog, close: str, *others: QPushButton) -> QHBoxLayout:
    row = QHBoxLayout()
    row.addStretch(1)
    button = QPushButton(close)
    button.clicked.connect(dialog.reject)
    row.addWidget(button)
    for other in others:
        row.addWidget(other)
    return row


class WeightsDialog(QDialog):
    """Says which layers of the open project take weights from a file or a run, before anything is trained.

    Accepted when a run is to begin with them.
    """

    reported = Signal()  # the report, or why there is none, is on show

    def __init__(self, workspace: OpenDocument, place: Path, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("weightsDialog")
        self.setWindowTitle("Start from weights")
        self.resize(620, 440)
        self.report: Report | None = None
        self._head = label("Reading the weights …", "heading", wrap=True)
        self._head.setObjectName("weightsHead")
        self._note = label("", "dim", wrap=True)
        self._page = QWidget()
        self._page.setProperty("role", "page")
        self._rows = QVBoxLayout(self._page)
        self._rows.setContentsMargins(0, 0, 8, 0)
        self._rows.setSpacing(4)
        area = QScrollArea()
        area.setWidgetResizable(True)
        area.setFrameShape(QFrame.Shape.NoFrame)
        area.setWidget(self._page)
        self.train = QPushButton("Train from these weights")
        self.train.setObjectName("trainFromWeights")
        self.train.setProperty("kind", "main")
        restyle(self.train)
        self.train.setEnabled(False)
        self.train.clicked.connect(self.accept)
        column = QVBoxLayout(self)
        column.setContentsMargins(20, 16, 20, 16)
        column.setSpacing(8)
        column.addWidget(self._head)
        column.addWidget(self._note)
        column.addWidget(rule())
        column.addWidget(area, 1)
        column.addLayout(_buttons(self, "Cancel", self.train))
        self._background = Background("weights-report", self)
        self._background.finished.connect(self._show)
        project = workspace.document.snapshot()
        self._background.ask(partial(_preview, project, workspace.catalogue, place))

    def done(self, result: int) -> None:
        self._background.close()
        super().done(result)

    def _show(self, report: Report, error: NeuroloomError | None) -> None:
        if error is not None:
            self._head.setText(error.message)
            self._say_below(error.fix or "")
            self.reported.emit()
            return
        self.report = report
        self._head.setText(report.head())
        begin = "The others start from the seed." if report.matched < len(report.layers) else ""
        self._say_below(begin if report.matched else "Nothing fits: names and shapes differ everywhere.")
        from engine.train.warm_start import in_words

        for one in report.layers:
            self._add("✓" if one.how in ("name", "order") else "·", one.layer, in_words(one))
        for layer in report.unused:
            self._add("−", layer, "is in the file and not used")
        self._rows.addStretch(1)
        self.train.setEnabled(bool(report.matched))
        self.reported.emit()

    def _say_below(self, text: str) -> None:
        self._note.setText(text)
        self._note.setVisible(bool(text))

    def _add(self, sign: str, name: str, words: str) -> None:
        row = QHBoxLayout()
        row.setSpacing(8)
        mark, title = label(sign, "mono"), ElidedLabel(name, "mono")
        mark.setFixedWidth(12)
        title.setFixedWidth(160)
        for widget in (mark, title):
            row.addWidget(widget, 0, Qt.AlignmentFlag.AlignTop)
        row.addWidget(label(words, "dim", wrap=True), 1)
        self._rows.addLayout(row)


def _preview(project: Project, catalogue: Catalogue, place: Path) -> Report:
    from engine.emit.program import compile_program
    from engine.train.warm_start import preview

    return preview(compile_program(project, catalogue), place)


class CheckpointsDialog(QDialog):
    """Which checkpoints the next runs keep."""

    def __init__(self, settings: Settings, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("checkpointsDialog")
        self.setWindowTitle("Checkpoints to keep")
        self._settings = settings
        every, newest = checkpoints_kept(settings)
        self.every = count_field("checkpointEvery", 0, 100_000, every)
        self.every.setSpecialValueText("none")
        self.newest = count_field("checkpointsNewest", 1, 10_000, newest)
        form = QFormLayout()
        form.setHorizontalSpacing(16)
        form.addRow(label("One every so many epochs", "dim"), self.every)
        form.addRow(label("Of these, only the newest", "dim"), self.newest)
        keep = QPushButton("Keep these")
        keep.setProperty("kind", "main")
        restyle(keep)
        keep.clicked.connect(self.accept)
        column = QVBoxLayout(self)
        column.setContentsMargins(20, 16, 20, 16)
        column.setSpacing(12)
        words = "Every run keeps its last checkpoint and that of its best epoch. From the next run on, also:"
        text = label(words, wrap=True)
        text.setMinimumWidth(340)
        column.addWidget(text)
        column.addLayout(form)
        column.addLayout(_buttons(self, "Cancel", keep))

    def accept(self) -> None:
        self._settings.keep("training/checkpoint_every", self.every.value())
        self._settings.keep("training/checkpoints_kept", self.newest.value())
        super().accept()
