"""What is wrong with one node, in a popup at its badge, with a button for each fix."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import QEvent, QObject, QPoint, QPointF, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QApplication, QFrame, QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from app.canvas.overlay import kept_inside
from app.canvas.scene.canvas import Canvas
from app.inspector.node_page import apply_fix, sentence
from app.theme import current_theme
from app.widgets.icons import pixmap
from app.widgets.labels import label
from app.widgets.typing import is_for_files
from engine.shapes.problems import Problem

WIDTH = 320
BELOW = QPointF(-10, 14)  # from the middle of the badge to the popup's corner


class ProblemPopup(QFrame):
    """Lists the problems of one node; Esc, a fix, or going elsewhere closes it. A child of the canvas."""

    def __init__(self, view: Canvas, parent: QWidget) -> None:
        super().__init__(parent)
        self._view = view
        self.setObjectName("nodeProblems")
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self._page: QWidget | None = None
        self._badge = QPointF()
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(10, 10, 10, 10)
        view.viewport().installEventFilter(self)
        view.workspace.changed.connect(self._left)
        view.workspace.scope_changed.connect(self._left)
        application = QApplication.instance()
        assert isinstance(application, QApplication)
        application.focusChanged.connect(self._focus_moved)
        self.hide()

    def open_selected(self) -> None:
        """Opens at the first selected node that has a problem."""
        ids = self._view.workspace.selection
        found = next((one for one in ids if self._view.graph_scene.problems_of(one)), None)
        if found is not None:
            self.open(found)
        elif ids:
            self._view.workspace.message.emit("Nothing is wrong with what is selected.", "info")

    def open(self, node_id: str) -> None:
        """Opens at the badge of a node; nothing happens where it has no problems."""
        problems = self._view.graph_scene.problems_of(node_id)
        if not problems:
            return
        self._view.cancel_interaction()
        self._view.reveal(node_id)
        self._fill(node_id, problems)
        item = self._view.graph_scene.node_items[node_id]
        self._badge = item.mapToScene(item.badge_place())
        self.setFixedWidth(min(WIDTH, self._view.size().width() - 8))
        self.show()
        self.setFixedHeight(self._column.totalHeightForWidth(self.width()))
        self.settle()
        self.raise_()
        buttons = self.buttons()
        (buttons[0] if buttons else self).setFocus(Qt.FocusReason.PopupFocusReason)

    def settle(self) -> None:
        """Goes to where the badge is now."""
        if self.isVisible():
            place = self._view.mapFromScene(self._badge) + BELOW.toPoint()
            self.move(kept_inside(QPoint(place), self.size(), self._view.size()))

    def buttons(self) -> list[QPushButton]:
        """The buttons of the fixes, in the order of the problems."""
        return self._page.findChildren(QPushButton) if self._page is not None else []

    def dismiss(self) -> None:
        """Closes; the canvas has the keyboard again if the popup had it."""
        if self.isHidden():
            return
        focus = QApplication.focusWidget()
        had_focus = focus is not None and (focus is self or self.isAncestorOf(focus))
        self.hide()
        if had_focus:
            self._view.setFocus(Qt.FocusReason.PopupFocusReason)

    def _fill(self, node_id: str, problems: list[Problem]) -> None:
        if self._page is not None:
            self._column.removeWidget(self._page)
            self._page.hide()
            self._page.deleteLater()
        theme, node = current_theme(), self._view.workspace.node(node_id)
        name = node.name if node is not None else ""
        self._page = QWidget(self)
        column = QVBoxLayout(self._page)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(8)
        for problem in problems:
            mark = label("")
            colour = theme.bad if problem.severity == "error" else theme.warning
            mark.setPixmap(pixmap(problem.severity, colour))
            row = QHBoxLayout()
            row.setSpacing(8)
            row.addWidget(mark, 0, Qt.AlignmentFlag.AlignTop)
            row.addWidget(label(sentence(problem, name), wrap=True), 1)
            column.addLayout(row)
            if problem.fix is not None:
                button = QPushButton(problem.fix.label)
                button.setProperty("kind", "small")
                button.setAutoDefault(True)
                button.clicked.connect(partial(self._fix, problem))
                column.addWidget(button, 0, Qt.AlignmentFlag.AlignRight)
        self._column.addWidget(self._page)
        self.setAccessibleName(f"Problems of {name}")

    def _fix(self, problem: Problem, _checked: bool = False) -> None:
        self.dismiss()
        apply_fix(self._view.workspace, problem)

    def _left(self, _what: object) -> None:
        self.dismiss()

    def _focus_moved(self, _before: QWidget | None, now: QWidget | None) -> None:
        # None: another window is in front, and what was open here stays.
        if self.isVisible() and now is not None and now is not self and not self.isAncestorOf(now):
            self.hide()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() in (QEvent.Type.MouseButtonPress, QEvent.Type.Wheel):
            self.dismiss()
        return super().eventFilter(watched, event)

    def event(self, event: QEvent) -> bool:
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.ShortcutOverride:
            event.setAccepted(
                not is_for_files(event)
            )  # Esc and Delete mean the popup, not what is selected under it
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        pressed = self.focusWidget()
        if event.key() == Qt.Key.Key_Escape:
            self.dismiss()
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and isinstance(pressed, QPushButton):
            pressed.click()
        event.accept()
