"""The code panel: the exact Python that runs, tied to the canvas line by line."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QTimer, Signal
from PySide6.QtGui import QGuiApplication, QHideEvent, QShowEvent
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QStackedWidget, QVBoxLayout, QWidget

from app.theme import current_theme, themes
from app.widgets.background import Background
from app.widgets.empty import EmptyState
from app.widgets.icons import icon
from app.widgets.labels import ElidedLabel
from app.widgets.python_text import PythonText
from app.workspace.open_document import TrainableDocument
from engine.errors import NeuroloomError

if TYPE_CHECKING:
    from engine.emit.fast import Fast
    from engine.emit.script import Source

DELAY_MS = 200


class CodePanel(QWidget):
    """Source of the document as it stands; made only while the panel is on show."""

    export_requested = Signal()

    def __init__(self, workspace: TrainableDocument, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("code")
        self._workspace = workspace
        self.source: Source | None = None
        self._revision = -1
        self._fast: Fast | None = None  # what the run trains with where its plan asks for the fast path
        self._blamed: str | None = None
        self._caption = ElidedLabel("", "dim")
        self._copy = QPushButton("Copy")
        self._copy.setObjectName("copyCode")
        self._copy.setToolTip("Copy the whole script")
        self._copy.clicked.connect(self._copy_all)
        self.export_button = QPushButton("Export…")
        self.export_button.setObjectName("exportCode")
        self.export_button.setToolTip("Save the script, with its data and weights if you like")
        self.export_button.clicked.connect(self.export_requested)
        bar = QHBoxLayout()
        bar.setContentsMargins(16, 6, 12, 6)
        bar.setSpacing(8)
        bar.addWidget(self._caption, 1)
        bar.addWidget(self._copy)
        bar.addWidget(self.export_button)
        self.text = PythonText()
        self.text.setAccessibleName("Python source of the network")
        self.text.line_clicked.connect(self._line_clicked)
        self._empty = EmptyState("info", "", "", "Show the node")
        self._empty.button.setObjectName("showBlamedNode")
        self._empty.button.clicked.connect(self._show_blamed)
        self._stack = QStackedWidget()
        self._stack.addWidget(self.text)
        self._stack.addWidget(self._empty)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addLayout(bar)
        column.addWidget(self._stack, 1)
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(DELAY_MS)
        self._timer.timeout.connect(self.refresh)
        # A thousand nodes take most of a second to write.
        self._writer = Background("code-panel", self)
        self._writer.finished.connect(self._show_source)
        workspace.closing.connect(self._writer.close)
        workspace.changed.connect(self._changed)
        workspace.inferred.connect(self._later)
        workspace.engine_ready.connect(self._later)
        workspace.selected.connect(self._mark_selected)
        themes.theme_changed.connect(self._retint)
        self._retint(None)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.refresh()

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self._timer.stop()

    def refresh(self) -> None:
        """Has the source made again if the document has changed; what is shown stays until it is there."""
        engine = self._workspace.engine
        if engine is None:
            self._say(
                "info", "The engine is starting", "The network's Python appears here in a moment.", None
            )
            return
        document = self._workspace.document
        trainer = self._workspace.trainer
        fast = trainer.fast if trainer is not None and document.project.plan.fast else None
        if document.revision == self._revision and fast == self._fast:
            return
        self._revision, self._fast = document.revision, fast
        if not document.project.graph.nodes:
            self._say(
                "info", "No code yet", "Add nodes to the canvas; the Python they become is shown here.", None
            )
            return
        project, catalogue = document.snapshot(), self._workspace.catalogue
        self._writer.ask(partial(engine.export_script, project, catalogue, fast=fast))

    def _show_source(self, source: Source, error: NeuroloomError | None) -> None:
        if self._writer.busy or not self._workspace.document.project.graph.nodes:
            return
        if error is not None:
            self._say("error", "This graph cannot be written as Python yet", str(error), error.node_id)
            return
        self.source = source
        lines = source.text.count("\n")
        self._caption.setText(f"The script that trains this network · {lines:,} lines")
        self.text.show_source(source.text)
        self._stack.setCurrentWidget(self.text)
        self._copy.setEnabled(True)
        self.export_button.setEnabled(True)
        self._mark_selected(self._workspace.selection)

    def empty_words(self) -> str:
        """The sentence shown instead of source; empty while source is shown."""
        return self._empty.words() if self._stack.currentWidget() is self._empty else ""

    def _say(self, mark: str, title: str, text: str, node_id: str | None) -> None:
        self.source = None
        self._blamed = node_id
        self._caption.setText("")
        self._copy.setEnabled(False)
        self.export_button.setEnabled(False)
        self._empty.say(mark, title, text)
        self._empty.button.setVisible(node_id is not None)
        self._stack.setCurrentWidget(self._empty)

    def _changed(self, _change: object) -> None:
        self._later()

    def _later(self) -> None:
        if self.isVisible():
            self._timer.start()

    def _mark_selected(self, ids: tuple[str, ...]) -> None:
        if self.source is None:
            return
        lines = {line for node_id in ids for line in self.source.lines_of(node_id)}
        self.text.mark_lines(lines, scroll=self.isVisible())

    def _line_clicked(self, line: int) -> None:
        node_id = self.source.node_at(line) if self.source is not None else None
        if node_id is not None:
            self._workspace.reveal(node_id)

    def _show_blamed(self) -> None:
        if self._blamed is not None:
            self._workspace.reveal(self._blamed)

    def _copy_all(self) -> None:
        if self.source is not None:
            QGuiApplication.clipboard().setText(self.source.text)
            self._workspace.message.emit("The script is on the clipboard.", "info")

    def _retint(self, _theme: object) -> None:
        theme = current_theme()
        self._copy.setIcon(icon("copy", theme.dim))
        self.export_button.setIcon(icon("export", theme.dim))
