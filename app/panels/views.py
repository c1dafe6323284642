"""The views tab: the dock with the live views, or a word that it is in a window of its own."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QCloseEvent, QKeyEvent
from PySide6.QtWidgets import QPushButton, QStackedLayout, QVBoxLayout, QWidget

from app.look.dock.dock import ViewsDock
from app.look.dock.offered import NOTHING, SEVERAL
from app.widgets.labels import label
from app.workspace.open_document import TrainableDocument

__all__ = ["NOTHING", "SEVERAL", "ViewsPanel", "ViewsWindow"]

WINDOW_SIZE = QSize(1100, 720)


class ViewsPanel(QWidget):
    """Holds the dock; `window_changed` tells that it went into its own window or came back."""

    window_changed = Signal()

    def __init__(self, workspace: TrainableDocument, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("viewsPanel")
        self._workspace = workspace
        self.dock = ViewsDock(workspace)
        self._own: ViewsWindow | None = None
        away = QWidget()
        column = QVBoxLayout(away)
        column.addStretch(1)
        column.addWidget(
            label("The views are in a window of their own.", "empty"), 0, Qt.AlignmentFlag.AlignHCenter
        )
        back = QPushButton("Bring them back")
        back.setObjectName("viewsBack")
        back.clicked.connect(self.bring_back)
        column.addWidget(back, 0, Qt.AlignmentFlag.AlignHCenter)
        column.addStretch(1)
        self._stack = QStackedLayout(self)
        self._stack.setContentsMargins(0, 0, 0, 0)
        self._stack.addWidget(self.dock)
        self._stack.addWidget(away)
        workspace.closing.connect(self.bring_back)
        workspace.title_changed.connect(self._show_title)

    def minimumSizeHint(self) -> QSize:
        return QSize(320, 150)

    @property
    def own_window(self) -> ViewsWindow | None:
        """The window that the dock is in; None while it is here."""
        return self._own

    @property
    def node_id(self) -> str:
        """The node whose views follow the selection, empty for none."""
        return self.dock.node_id

    def move_out(self) -> None:
        """Shows the dock in a window of its own, for a second screen."""
        if self._own is not None:
            self._own.raise_()
            self._own.activateWindow()
            return
        self._own = ViewsWindow(self)
        self._stack.setCurrentIndex(1)
        self._own.take(self.dock)
        self._show_title()
        self._own.resize(WINDOW_SIZE)
        self._own.show()
        self.dock.show()
        self.window_changed.emit()

    def bring_back(self) -> None:
        """Shows the dock here again."""
        own, self._own = self._own, None
        if own is None:
            return
        self._stack.insertWidget(0, self.dock)
        self._stack.setCurrentIndex(0)
        self.dock.show()
        own.hide()
        own.deleteLater()
        self.window_changed.emit()

    def _show_title(self) -> None:
        if self._own is not None:
            document = self._workspace.document
            name = document.path.name if document.path is not None else document.project.title or "Untitled"
            self._own.setWindowTitle(f"Views of {name} — Neuroloom")


class ViewsWindow(QWidget):
    """A window with nothing but the dock; closing it brings the dock back."""

    def __init__(self, panel: ViewsPanel) -> None:
        super().__init__(panel, Qt.WindowType.Window)
        self.setObjectName("bottom")  # dressed like the panels below the canvas
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self._panel = panel
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)

    def take(self, dock: ViewsDock) -> None:
        """Holds the dock."""
        layout = self.layout()
        assert layout is not None
        layout.addWidget(dock)

    def closeEvent(self, event: QCloseEvent) -> None:
        event.accept()
        self._panel.bring_back()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_F11:
            self.setWindowState(self.windowState() ^ Qt.WindowState.WindowFullScreen)
        else:
            super().keyPressEvent(event)
