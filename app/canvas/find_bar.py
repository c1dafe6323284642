"""A quiet bar over the canvas that finds nodes, frames and notes, and goes from one to the next."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, QRectF, QSize, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPushButton, QWidget

from app.canvas.scene.canvas import Canvas
from app.theme import current_theme, themes
from app.widgets.icons import icon
from app.widgets.labels import label, plain
from app.widgets.search_field import SearchField
from engine.catalogue.find import Found, find

WIDTH = 420
_MARGIN = 14
_HINT = "Name, type, filters=64, n12"


class FindBar(QFrame):
    """Opens at the upper right corner of its canvas; Enter goes on, Shift+Enter back, Esc closes.

    A child of the canvas rather than a window, so that it needs no help from the window manager.
    """

    def __init__(self, view: Canvas, parent: QWidget) -> None:
        super().__init__(parent)
        self._view = view
        self.setObjectName("findBar")
        self.found: list[Found] = []
        self.index = -1  # of the one that is shown; -1 before Enter
        self.field = SearchField(_HINT)
        self.field.setObjectName("findField")
        self.field.setAccessibleName("Find in the graph")
        self.count = label("", "dim")
        self.count.setObjectName("findCount")
        self.back = self._button("findPrevious", "Previous", "Shift+Enter", self.previous)
        self.on = self._button("findNext", "Next", "Enter", self.next)
        self.done = self._button("findClose", "Close", "Esc", self.dismiss)
        row = QHBoxLayout(self)
        row.setContentsMargins(8, 6, 6, 6)
        row.setSpacing(4)
        row.addWidget(self.field, 1)
        row.addWidget(self.count)
        for button in (self.back, self.on, self.done):
            row.addWidget(button)
        self.field.textChanged.connect(self._search)
        self.field.installEventFilter(self)
        parent.installEventFilter(self)
        view.workspace.changed.connect(self._changed)
        view.workspace.scope_changed.connect(self._scope_changed)
        themes.theme_changed.connect(self._dress)
        self._dress()
        self.hide()

    def _button(self, name: str, text: str, keys: str, slot: object) -> QPushButton:
        button = QPushButton()
        button.setObjectName(name)
        button.setProperty("kind", "quiet")
        button.setAccessibleName(text)
        button.setToolTip(f"{text} ({keys})")
        button.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        button.setIconSize(QSize(12, 12))
        button.clicked.connect(slot)
        return button

    # -- what others use

    def open(self) -> None:
        """Shows the bar with its last text selected, ready to be typed over."""
        self._view.cancel_interaction()
        self._settle()
        self.show()
        self.raise_()
        self.field.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.field.selectAll()
        self._search(self.field.text())

    def dismiss(self) -> None:
        """Hides the bar; the keyboard goes back to the canvas."""
        if self.isVisible():
            self.hide()
            self._light()
            self._view.setFocus(Qt.FocusReason.OtherFocusReason)

    def next(self) -> None:
        """Shows the first match, or the one after that which is shown."""
        self._go(self.index + 1)

    def previous(self) -> None:
        """Shows the match before that which is shown."""
        self._go(self.index - 1 if self.index >= 0 else -1)

    # -- finding

    def _search(self, text: str) -> None:
        workspace = self._view.workspace
        self.found = find(workspace.document.project, text, workspace.catalogue)
        self.index = -1
        self._tell()

    def _go(self, index: int) -> None:
        if not self.found:
            return
        self.index = index % len(self.found)
        self._show(self.found[self.index])
        self._tell()
        self.field.setFocus(Qt.FocusReason.OtherFocusReason)

    def _show(self, one: Found) -> None:
        workspace = self._view.workspace
        self._view.travel()
        if one.kind == "block":
            instances = workspace.document.project.instances(one.id)
            if not instances:
                workspace.enter(one.id)
                return
            one = Found(workspace.document.project.home(instances[0]), "node", instances[0], "", "")
        workspace.enter(one.scope)
        if one.kind == "node":
            workspace.reveal(one.id)
            return
        place = self._place(one)
        if place is not None:
            self._view.navigation.bring_in(place.adjusted(-30, -30, 30, 30))

    def _place(self, one: Found) -> QRectF | None:
        """Where a frame or a note is in the scene."""
        project = self._view.workspace.document.project
        if one.kind == "frame":
            return self._view.graph_scene.bounds(project.frames[one.id].members)
        note = project.notes_on_canvas[one.id]
        return QRectF(*note.position, *note.size)

    def _tell(self) -> None:
        if not self.field.text().strip():
            text = ""
        elif not self.found:
            text = "Nothing found"
        elif self.index < 0:
            text = f"{len(self.found):,} found"
        else:
            text = f"{self.index + 1:,} of {len(self.found):,}"
        self.count.setText(text)
        self.count.setToolTip(plain(self.found[self.index].why) if self.index >= 0 else "")
        for button in (self.back, self.on):
            button.setEnabled(bool(self.found))
        self._light()

    def _scope_changed(self, _scope: str) -> None:
        self._light()

    def _light(self) -> None:
        """Dims what was not found, while something was and the bar is open."""
        frames = self._view.workspace.document.project.frames
        lit = {one.id for one in self.found}
        for one in self.found:
            lit |= frames[one.id].members if one.kind == "frame" and one.id in frames else set()
            if one.kind == "block":
                lit.update(self._view.workspace.document.project.instances(one.id))
        dims = bool(lit) and self.isVisible()
        for node_id, item in self._view.graph_scene.node_items.items():
            item.show_dimmed(dims and node_id not in lit)

    def _changed(self, _change: object) -> None:
        """Follows the document; what is shown stays so if it is still there."""
        if not self.isVisible():
            return
        shown = self.found[self.index] if self.index >= 0 else None
        self._search(self.field.text())
        if shown is not None:
            keys = [(one.kind, one.id) for one in self.found]
            if (shown.kind, shown.id) in keys:
                self.index = keys.index((shown.kind, shown.id))
                self._tell()

    # -- keys and place

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if watched is self.field and isinstance(event, QKeyEvent):
            if event.type() == QEvent.Type.ShortcutOverride:
                if event.key() == Qt.Key.Key_Escape:
                    event.accept()
            elif event.type() == QEvent.Type.KeyPress:
                return self._key(event)
        elif watched is self.parent() and event.type() == QEvent.Type.Resize and self.isVisible():
            self._settle()
        return super().eventFilter(watched, event)

    def _key(self, event: QKeyEvent) -> bool:
        back = bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
        if event.key() == Qt.Key.Key_Escape:
            self.dismiss()
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_F3):
            self.previous() if back else self.next()
        elif event.key() == Qt.Key.Key_Down:
            self.next()
        elif event.key() == Qt.Key.Key_Up:
            self.previous()
        else:
            return False
        return True

    def keyPressEvent(self, event: QKeyEvent) -> None:
        event.accept()  # what the field has no use for is not for the canvas either

    def _settle(self) -> None:
        room = self._view.size()
        width = min(WIDTH, room.width() - 2 * _MARGIN)
        self.setGeometry(room.width() - width - _MARGIN, _MARGIN, width, self.sizeHint().height())

    def _dress(self) -> None:
        theme = current_theme()
        self.back.setIcon(icon("chevron-up", theme.dim, 12))
        self.on.setIcon(icon("chevron", theme.dim, 12))
        self.done.setIcon(icon("close", theme.dim, 12))
