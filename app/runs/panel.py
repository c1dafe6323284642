"""The panel of all runs: a table to filter and sort, their curves, and what can be done with them."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QPoint, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QHideEvent, QShowEvent
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QSplitter, QStackedLayout, QVBoxLayout, QWidget

from app.runs.menu import RunsMenu
from app.runs.model import MOST, RunsModel
from app.runs.plot import Drawn, RunsPlot
from app.runs.sweep_dialog import SweepDialog
from app.runs.table import RunsTable
from app.widgets.background import Background
from app.widgets.empty import EmptyState
from app.widgets.labels import ElidedLabel
from app.widgets.search_field import SearchField
from app.workspace.open_document import TrainableDocument
from engine.errors import NeuroloomError, reason_of
from engine.runs.index import RunIndex, RunRecord, read_run
from engine.runs.records import Labels, write_labels

POLL_MS = 2000
FILTER_MS = 150
_COLUMNS = "runs/columns"
_LOADING = ("search", "Reading the runs …", "The first time, each folder is looked at once.")
_NONE = (
    "play",
    "No runs yet",
    "Press Train: each run is kept here with its project, settings and curves, to compare it, "
    "to go on with it, or to open its project again.",
)
_NO_MATCH = ("search", "No run matches", "Words look for titles, tags and settings; lr<0.01 compares values.")


class RunsPanel(QWidget):
    """Reads the index of the runs beside the window while it is on screen.

    `project_wanted`, `continue_wanted` and `weights_wanted` carry the folder of a run or of one of its
    checkpoints: the window opens tabs and starts training.
    """

    project_wanted = Signal(Path)
    continue_wanted = Signal(Path)
    branch_wanted = Signal(Path)
    weights_wanted = Signal(Path)

    def __init__(self, workspace: TrainableDocument, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("runsPanel")
        self.workspace = workspace
        self.model = RunsModel(self)
        self.table = RunsTable(self.model)
        self.plot = RunsPlot()
        self.index = RunIndex(workspace.places.runs)
        self.reader = Background("runs-index", self)
        self._known = False  # whether the runs have been read at least once
        self._wanted_tick = ""
        self._sweep: SweepDialog | None = None
        self.filter = SearchField("Filter: Adam, tag:good, lr<0.01, val_accuracy>0.98")
        self.filter.setObjectName("runsFilter")
        self.filter.setAccessibleName("Filter the runs")
        self._count = ElidedLabel("", "small")
        self._count.setObjectName("runsCount")
        self._count.setFixedWidth(76)
        self.menu = RunsMenu(self, self)
        self.notice = _Notice()
        self._empty = EmptyState(*_LOADING, "Read again")
        self._empty.setObjectName("runsEmpty")
        self._empty.button.setObjectName("runsAgain")
        self._lay_out()
        self._connect()
        self._restore_columns()

    def _lay_out(self) -> None:
        head = QHBoxLayout()
        head.setContentsMargins(0, 0, 0, 0)
        head.setSpacing(8)
        self.filter.setMinimumHeight(26)
        self.filter.setMaximumHeight(28)
        head.addWidget(self.filter, 1)
        head.addWidget(self._count)
        for button in self.menu.buttons:
            head.addWidget(button)
        self.splitter = QSplitter(Qt.Orientation.Horizontal)
        self.splitter.setObjectName("runsSplitter")
        self.splitter.setHandleWidth(1)
        self.splitter.setChildrenCollapsible(False)
        left = QWidget()
        beside = QHBoxLayout(left)
        beside.setContentsMargins(0, 0, 6, 0)
        self._stack = QStackedLayout()
        beside.addLayout(self._stack)
        self._stack.addWidget(self.table)
        self._no_match = EmptyState(*_NO_MATCH, "Clear the filter")
        self._no_match.button.setObjectName("runsClearFilter")
        self._stack.addWidget(self._no_match)
        self.splitter.addWidget(left)
        self.splitter.addWidget(self.plot)
        self.splitter.setSizes([704, 326])
        self.splitter.setStretchFactor(0, 2)
        self.splitter.setStretchFactor(1, 1)
        body = QWidget()
        inner = QVBoxLayout(body)
        inner.setContentsMargins(0, 0, 0, 0)
        inner.setSpacing(6)
        inner.addLayout(head)
        inner.addWidget(self.notice)
        inner.addWidget(self.splitter, 1)
        outer = QVBoxLayout(self)
        outer.setContentsMargins(16, 8, 16, 8)
        self._pages = QStackedLayout()
        self._pages.addWidget(self._empty)
        self._pages.addWidget(body)
        outer.addLayout(self._pages)

    def _connect(self) -> None:
        self._filter_soon = QTimer(self)
        self._filter_soon.setSingleShot(True)
        self._filter_soon.setInterval(FILTER_MS)
        self._filter_soon.timeout.connect(self._filter_now)
        self._poll = QTimer(self)
        self._poll.setInterval(POLL_MS)
        self._poll.timeout.connect(self._look)
        self.reader.finished.connect(self._read)
        self.filter.textChanged.connect(self._filter_typed)
        self.filter.moved_down.connect(self._into_table)
        self.model.ticks_changed.connect(self._chosen)
        self.model.labelled.connect(self._labelled)
        self.model.crowded.connect(self._crowded)
        self.table.chosen_changed.connect(self._chosen)
        self.table.opened.connect(self.menu.reopen)
        self.table.removed.connect(self.menu.delete)
        self.table.menu_wanted.connect(self._offer_menu)
        self.table.columns_chosen.connect(self._keep_columns)
        self._empty.button.clicked.connect(self.refresh)
        self._no_match.button.clicked.connect(self.filter.clear)
        self.workspace.state_changed.connect(self._state_changed)
        self.workspace.closing.connect(self.close_readers)
        self.menu.update()

    def minimumSizeHint(self) -> QSize:
        return QSize(320, 150)

    # -- when to read -----------------------------------------------------------------------------

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._poll.start()
        self.refresh()

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self._poll.stop()

    def refresh(self) -> None:
        """Read what has changed in the folders, beside the window."""
        self.reader.ask(self.index.refresh)

    def close_readers(self) -> None:
        """Wait for what is being read; nothing is read any more."""
        self._poll.stop()
        self._filter_soon.stop()
        self.reader.close()
        self.plot.close_reader()

    def _look(self) -> None:
        if not self.reader.busy:
            self.refresh()
        self.plot.look()

    def _state_changed(self, state: str) -> None:
        if self.isVisible():
            self.refresh()

    def _read(self, records: list[RunRecord] | None, error: NeuroloomError | None) -> None:
        if error is not None:
            if not self._known:
                self._empty.say("error", "The runs cannot be read", reason_of(error))
                self._empty.button.show()
                self._pages.setCurrentIndex(0)
            return
        self._known = True
        if self.table.typing:  # the next reading comes when the cell is done
            return
        self.model.show_records(records or [])
        self._empty.button.hide()
        self._empty.say(*_NONE)
        self._pages.setCurrentIndex(int(bool(records)))
        if self._wanted_tick and self.model.record(self._wanted_tick) is not None:
            name, self._wanted_tick = self._wanted_tick, ""
            self.show_run(name)
        self._after_change()

    # -- what is shown ----------------------------------------------------------------------------

    def show_run(self, name: str) -> None:
        """Tick and select a run, as soon as it has been read."""
        if self.model.record(name) is None:
            self._wanted_tick = name
            return
        self.model.tick(name, True)
        self.table.choose([name])

    def _filter_typed(self, _text: str) -> None:
        self._filter_soon.start()

    def _filter_now(self) -> None:
        self.model.set_filter(self.filter.text())
        self._after_change()

    def _into_table(self) -> None:
        self.table.setFocus(Qt.FocusReason.OtherFocusReason)

    def _after_change(self) -> None:
        shown, all_runs = len(self.model.shown), len(self.model.records)
        every = f"{all_runs} run{'s' * (all_runs != 1)}"
        self._count.setText(f"{shown} of {all_runs}" if shown != all_runs else every)
        self._stack.setCurrentIndex(int(bool(all_runs) and not shown))
        self._chosen()

    def _chosen(self) -> None:
        self.menu.update()
        self._draw()

    def _draw(self) -> None:
        names = list(self.model.ticked) or [record.name for record in self.table.chosen()[:1]]
        records = [record for name in names if (record := self.model.record(name)) is not None]
        called = self.model.names
        self.plot.show_runs(
            tuple(Drawn(one, self.model.colour(one.name), called.get(one.name, "")) for one in records)
        )

    def _crowded(self) -> None:
        self.say(f"{MOST} runs are as many as colours tell apart: untick one first.")

    def _offer_menu(self, at: QPoint) -> None:
        self.menu.offer(at)

    # -- sweeps

    def sweep(self) -> None:
        """Show the dialog that trains with several values; it is one and the same for as long as it lives."""
        if self._sweep is None:
            self._sweep = SweepDialog(self.workspace, self)
            self._sweep.project_wanted.connect(self.project_wanted)
            self._sweep.runs_wanted.connect(self._show_tagged)
        self._sweep.show()
        self._sweep.raise_()
        self._sweep.activateWindow()

    @property
    def sweeping(self) -> bool:
        """Whether runs of a sweep wait or train."""
        return self._sweep is not None and self._sweep.going

    def _show_tagged(self, tag: str) -> None:
        self.filter.setText(f"tag:{tag}")
        self.refresh()

    # -- tags, notes, columns ---------------------------------------------------------------------

    def _labelled(self, record: RunRecord, labels: Labels) -> None:
        try:
            write_labels(record.folder, labels)
        except NeuroloomError as error:
            self.workspace.message.emit(str(error), "error")
            return
        self.model.replace_record(read_run(record.folder))
        self._after_change()
        self.refresh()

    def _restore_columns(self) -> None:
        kept = self.workspace.settings.text(_COLUMNS)
        self.table.choose_columns(set(kept.split(",")) if kept else None)

    def _keep_columns(self) -> None:
        keys = self.table.chosen_columns
        self.workspace.settings.keep(_COLUMNS, ",".join(sorted(keys)) if keys else "")

    def say(self, text: str, answer: str = "", action: object = None) -> None:
        """Say in a line above the table what was done, with a button that takes it back."""
        self.notice.say(text, answer, action)


class _Notice(QWidget):
    """One line with at most one answer; it stays until the next."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._text = ElidedLabel("", "small")
        self._text.setObjectName("runsNotice")
        self.button = QPushButton()
        self.button.setObjectName("runsNoticeAnswer")
        self.button.setProperty("kind", "small")
        self._close = QPushButton("Dismiss")
        self._close.setProperty("kind", "quiet")
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(8)
        row.addWidget(self._text, 1)
        row.addWidget(self.button)
        row.addWidget(self._close)
        self._action: object = None
        self.button.clicked.connect(self._answered)
        self._close.clicked.connect(self.hide)
        self.hide()

    def text(self) -> str:
        """What stands there."""
        return self._text.text()

    def say(self, text: str, answer: str, action: object) -> None:
        self._text.setText(text)
        self.button.setText(answer)
        self.button.setVisible(bool(answer))
        self._action = action
        self.show()

    def _answered(self) -> None:
        self.hide()
        if callable(self._action):
            self._action()
