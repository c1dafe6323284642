"""The list of problems: what is wrong, where, and a button that fixes it."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent, QMouseEvent, QShowEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPushButton, QScrollArea, QVBoxLayout, QWidget

from app.inspector.node_page import apply_fix, sentence
from app.theme import current_theme, themes
from app.widgets.empty import EmptyState
from app.widgets.icons import pixmap
from app.widgets.labels import ElidedLabel, label
from app.workspace.open_document import TrainableDocument
from engine.shapes.problems import Problem

# More rows than anyone reads would make each edit slow.
MOST_ROWS = 100
_NAME_WIDTH = 132


class ProblemRow(QFrame):
    """One problem: click or Enter shows its node, the button makes the fix."""

    activated = Signal(object)

    def __init__(self, workspace: TrainableDocument, problem: Problem, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._workspace = workspace
        self.problem = problem
        self.setObjectName("problemRow")
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        theme = current_theme()
        mark = label("")
        mark.setPixmap(pixmap(problem.severity, theme.bad if problem.severity == "error" else theme.warning))
        node = workspace.node(problem.node_id) if problem.node_id else None
        name = node.name or node.type if node is not None else "Project"
        title = ElidedLabel(name, "heading")
        title.setFixedWidth(_NAME_WIDTH)
        text = label(sentence(problem, name), wrap=True)
        row = QHBoxLayout(self)
        row.setContentsMargins(12, 7, 8, 7)
        row.setSpacing(10)
        row.addWidget(mark)
        row.addWidget(title)
        row.addWidget(text, 1)
        if problem.fix is not None:
            button = QPushButton(problem.fix.label)
            button.setProperty("kind", "small")
            button.setObjectName("fixButton")
            button.clicked.connect(self._fix)
            row.addWidget(button)
        self.setAccessibleName(f"{problem.severity} at {name}: {problem.message}")
        if node is not None:
            self.setCursor(Qt.CursorShape.PointingHandCursor)
            self.setToolTip("Show this node")

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        if self.rect().contains(event.position().toPoint()):
            self.activated.emit(self.problem)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space):
            self.activated.emit(self.problem)
        else:
            super().keyPressEvent(event)

    def _fix(self) -> None:
        apply_fix(self._workspace, self.problem)


class ProblemsPanel(QWidget):
    """All problems, errors first; `counted` carries how many there are and the worst severity."""

    counted = Signal(int, str)

    def __init__(self, workspace: TrainableDocument, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("problems")
        self._workspace = workspace
        self._shown: tuple[object, ...] | None = None
        self._empty = EmptyState("tick-circle", "", "")
        self._area = QScrollArea()
        self._area.setWidgetResizable(True)
        self._area.setFrameShape(QFrame.Shape.NoFrame)
        self._area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(self._area)
        column.addWidget(self._empty)
        workspace.inferred.connect(self._inferred)
        workspace.engine_ready.connect(self._inferred)
        themes.theme_changed.connect(self._redraw)
        self._inferred()

    def rows(self) -> list[ProblemRow]:
        """The rows on show."""
        return self._area.findChildren(ProblemRow)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._rebuild()

    def _inferred(self) -> None:
        shapes = self._workspace.shapes
        problems = shapes.problems if shapes is not None else []
        worst = "error" if any(problem.severity == "error" for problem in problems) else "warning"
        self.counted.emit(len(problems), worst)
        if self.isVisible():
            self._rebuild()

    def _redraw(self, _theme: object) -> None:
        self._shown = None
        if self.isVisible():
            self._rebuild()

    def _rebuild(self) -> None:
        shapes = self._workspace.shapes
        if shapes is None:
            self._say("info", "The engine is starting", "Problems appear here in a moment.")
            return
        problems = shapes.problems
        if not problems:
            if self._workspace.document.project.graph.nodes:
                self._say("tick-circle", "No problems", "Every shape fits and the graph can be trained.")
            else:
                self._say(
                    "info",
                    "Nothing to check yet",
                    "Add nodes to the canvas; what does not fit is listed here.",
                )
            return
        nodes = [self._workspace.node(problem.node_id) if problem.node_id else None for problem in problems]
        known = tuple((p, node.name if node else "") for p, node in zip(problems, nodes, strict=True))
        if known == self._shown:
            return
        self._shown = known
        self._empty.hide()
        self._area.show()
        position = self._area.verticalScrollBar().value()
        self._area.setWidget(self._page(problems))
        self._area.verticalScrollBar().setValue(position)

    def _page(self, problems: Sequence[Problem]) -> QWidget:
        page = QWidget()
        page.setProperty("role", "page")
        column = QVBoxLayout(page)
        column.setContentsMargins(16, 12, 16, 12)
        column.setSpacing(6)
        for problem in problems[:MOST_ROWS]:
            row = ProblemRow(self._workspace, problem)
            row.activated.connect(self._reveal)
            column.addWidget(row)
        if len(problems) > MOST_ROWS:
            column.addWidget(label(f"and {len(problems) - MOST_ROWS:,} more", "dim"))
        column.addStretch(1)
        return page

    def _say(self, mark: str, title: str, text: str) -> None:
        self._shown = None
        old = self._area.takeWidget()
        if old is not None:
            old.deleteLater()
        self._area.hide()
        self._empty.say(mark, title, text)
        self._empty.show()

    def _reveal(self, problem: Problem) -> None:
        if problem.node_id:
            self._workspace.reveal(problem.node_id)
