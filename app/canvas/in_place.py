"""Typing over the canvas, right where the text stands: the name of a node, the text of a note."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

from PySide6.QtCore import QEvent, QObject, QRect, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QLineEdit, QPlainTextEdit, QWidget

from app.theme import current_theme
from app.widgets.typing import is_for_files

Write = Callable[[str, str], bool]  # takes the owner's id and the text; False where that cannot be
Field = TypeVar("Field", QLineEdit, QPlainTextEdit)
_ENTER = (Qt.Key.Key_Return, Qt.Key.Key_Enter)


class InPlace(QObject, Generic[Field]):
    """A field that lies over what it changes, and moves along with it.

    Every change is written at once: a save, a close or a crash in mid-word loses nothing. Esc writes what
    was there before; leaving it, Enter in a line, and Ctrl+Enter in several lines keep what was typed.
    """

    ended = Signal()

    def __init__(self, field: Field, name: str, canvas: QWidget) -> None:
        super().__init__(field)
        self.field: Field = field
        self.owner: str | None = None  # the id of what is being changed
        self._canvas = canvas
        self._before = ""
        self._refused = False
        self._place: Callable[[], QRect] | None = None
        self._write: Write | None = None
        field.setObjectName(name)
        field.installEventFilter(self)
        field.textChanged.connect(self._typed)
        field.hide()

    def begin(self, owner: str, text: str, place: Callable[[], QRect], write: Write) -> None:
        """Opens over a place, in pixels of the canvas, with the text selected."""
        self.finish(keep=True)
        self._before, self._place, self._write = text, place, write
        self.field.setFont(current_theme().font(bold=isinstance(self.field, QLineEdit)))
        if isinstance(self.field, QLineEdit):
            self.field.setText(text)
        else:
            self.field.setStyleSheet(_page_style())
            self.field.setPlainText(text)
        self._refused, self.owner = False, owner
        self.field.selectAll()
        self.settle()
        self.field.show()
        self.field.raise_()
        self.field.setFocus(Qt.FocusReason.PopupFocusReason)

    def settle(self) -> None:
        """Goes to where its owner is now."""
        if self.owner is not None and self._place is not None:
            self.field.setGeometry(self._place())

    def _text(self) -> str:
        return self.field.text() if isinstance(self.field, QLineEdit) else self.field.toPlainText()

    def _typed(self) -> None:
        if self.owner is not None and self._write is not None:
            self._refused = not self._write(self.owner, self._text())

    def finish(self, *, keep: bool) -> None:
        """Closes; unless `keep`, or where the text cannot be, there is again what was there before."""
        owner, self.owner = self.owner, None
        if owner is None:
            return
        had_focus = self.field.hasFocus()
        self.field.hide()
        if self._write is not None and (self._refused or not keep):
            self._write(owner, self._before)
        self.ended.emit()
        if had_focus:
            self._canvas.setFocus(Qt.FocusReason.PopupFocusReason)

    def _ends(self, event: QKeyEvent) -> bool:
        if isinstance(self.field, QLineEdit):
            return event.key() in (*_ENTER, Qt.Key.Key_Tab)
        return event.key() in _ENTER and bool(event.modifiers() & Qt.KeyboardModifier.ControlModifier)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if self.owner is None:
            return False
        if event.type() == QEvent.Type.FocusOut:
            self.finish(keep=True)
        elif not isinstance(event, QKeyEvent):
            return False
        elif event.type() == QEvent.Type.ShortcutOverride and not is_for_files(event):
            event.accept()  # the canvas knows many of these keys, but here they are typing
            return True
        elif event.type() == QEvent.Type.KeyPress:
            escape = event.key() == Qt.Key.Key_Escape
            if escape or self._ends(event):
                self.finish(keep=not escape)
            else:
                self.field.event(event)
            event.accept()  # what the field has no use for is not for the canvas either
            return True
        return False


def _page_style() -> str:
    theme = current_theme()
    return (
        f"#noteField {{ background: {theme.panel.name()}; color: {theme.text.name()};"
        f" border: 1px solid {theme.accent.name()}; border-radius: 6px; padding: 6px; }}"
    )


def name_line(canvas: QWidget) -> InPlace[QLineEdit]:
    """A line for the names of nodes, frames and blocks."""
    return InPlace(QLineEdit(canvas), "nodeNameField", canvas)


def note_text(canvas: QWidget) -> InPlace[QPlainTextEdit]:
    """Several lines for the Markdown of a note."""
    field = QPlainTextEdit(canvas)
    field.setAccessibleName("Text of the note")
    field.setTabChangesFocus(False)
    return InPlace(field, "noteField", canvas)
