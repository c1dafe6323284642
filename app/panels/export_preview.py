"""What an export will look like: its files, one at a time, and the losses once it was run."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QTimer
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QStackedWidget, QVBoxLayout, QWidget

from app.panels.export_trial import LossesModel, losses_table
from app.widgets.background import Background
from app.widgets.empty import EmptyState
from app.widgets.labels import label
from app.widgets.python_text import PythonText
from app.widgets.segments import Segments
from engine.emit.forms.form import Export
from engine.errors import NeuroloomError
from engine.train.verify.comparison import Comparison

DELAY_MS = 150
LOSSES = "losses"
_SIZE = 90  # width for the number of lines, in pixels


class ExportPreview(QWidget):
    """The files of an export, made in a thread; `losses` is the table that may stand in their place."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("exportPreview")
        self.made: Export | None = None
        self._work: Callable[[], Export] | None = None
        self._compared = False
        self.files = Segments(())
        self.files.setObjectName("exportFiles")
        self.files.chosen.connect(self._show)
        self._size = label("", "small")
        self.text = PythonText()
        self.text.setObjectName("exportText")
        self.text.setAccessibleName("What will be written")
        self._model = LossesModel(self)
        self.losses = losses_table(self._model)
        self._empty = EmptyState("info", "", "")
        self._stack = QStackedWidget()
        for widget in (self.text, self.losses, self._empty):
            self._stack.addWidget(widget)
        head = QHBoxLayout()
        head.addWidget(self.files)
        head.addStretch(1)
        head.addWidget(self._size)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(6)
        column.addLayout(head)
        column.addWidget(self._stack, 1)
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(DELAY_MS)
        self._timer.timeout.connect(self._begin)
        self._maker = Background("export-preview", self)
        self._maker.finished.connect(self._take)
        self._empty.say("info", "The export is being written", "It appears here in a moment.")
        self._stack.setCurrentWidget(self._empty)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.files.set_room(self.width() - _SIZE)

    def ask(self, work: Callable[[], Export]) -> None:
        """Show what `work` makes, in a moment; what is shown stays until then."""
        self._work = work
        self._timer.start()

    def compare(self, found: Comparison | None) -> None:
        """Show the losses of both beside the files; None takes them away."""
        if found is not None and not (found.rows or found.over):
            found = None  # nothing to see yet
        if found is not None:
            self._model.show(found)
            self.losses.scrollToBottom()
        begins = found is not None and not self._compared
        self._compared = found is not None
        self._offer()
        if begins:
            self.files.choose(LOSSES)

    def close_down(self) -> None:
        """Wait for what is being made and drop it."""
        self._timer.stop()
        self._maker.close()

    def _begin(self) -> None:
        if self._work is not None:
            self._maker.ask(self._work)

    def _take(self, made: Export | None, error: NeuroloomError | None) -> None:
        if self._maker.busy:
            return
        self.made = made
        if error is not None:
            self._empty.say("error", "This cannot be exported yet", str(error))
        self._offer()

    def _offer(self) -> None:
        options = [(place, Path(place).name, place) for place in (self.made.shown if self.made else ())]
        options.sort(key=lambda option: option[1].startswith(("__init__", "test_")))  # little to read there
        if self._compared:
            options.append((LOSSES, "Losses", "Those of the application beside those of the export"))
        self.files.set_options(options)
        self._show(self.files.key)

    def _show(self, key: str) -> None:
        self._size.setText("")
        if key == LOSSES and self._compared:
            self._stack.setCurrentWidget(self.losses)
        elif self.made is not None and key in self.made.shown:
            text = self.made.shown[key].text
            lines = text.count("\n")
            self._size.setText(f"{lines:,} line{'s' if lines != 1 else ''}")
            self.text.show_source(text)
            self._stack.setCurrentWidget(self.text)
        else:
            self._stack.setCurrentWidget(self._empty)
