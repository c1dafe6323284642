"""Text that is being typed: what holds it passes it on before a file is saved or closed."""

from __future__ import annotations

from PySide6.QtGui import QKeyEvent, QKeySequence
from PySide6.QtWidgets import QAbstractSpinBox, QApplication, QLineEdit, QPlainTextEdit, QTextEdit

_KEYS = QKeySequence.StandardKey
_FILE_KEYS = (_KEYS.New, _KEYS.Open, _KEYS.Save, _KEYS.SaveAs, _KEYS.Close, _KEYS.Quit)


def is_for_files(event: QKeyEvent) -> bool:
    """Whether a key means the file, also where one is typing: Ctrl+S saves from every field."""
    return any(event.matches(key) for key in _FILE_KEYS)


def finish_typing() -> None:
    """Has the field with the caret pass on what it holds, as if it were left; the caret stays if it can."""
    field = QApplication.focusWidget()
    if isinstance(field, QLineEdit | QAbstractSpinBox | QPlainTextEdit | QTextEdit):
        around = field.parentWidget()
        field.clearFocus()
        (field if field.isVisible() or around is None else around).setFocus()
