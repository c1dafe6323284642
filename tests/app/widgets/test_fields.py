"""Fields of numbers and text."""

from __future__ import annotations

from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QKeyEvent, QKeySequence, QShortcut
from PySide6.QtWidgets import QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from app.widgets.fields import FieldRow
from engine.catalogue.params import ParamSpec


def test_export_opens_while_one_types_a_number(qtbot: QtBot) -> None:
    """On X11 a line of text means its own end by Ctrl+E."""
    window = QWidget()
    field = FieldRow(ParamSpec("units", "int", 16))
    QVBoxLayout(window).addWidget(field)
    asked: list[bool] = []
    QShortcut(QKeySequence("Ctrl+E"), window, lambda: asked.append(True))
    qtbot.addWidget(window)
    with qtbot.waitActive(window):
        window.show()
        window.activateWindow()
    field.control.setFocus()
    qtbot.keyClick(field.control, Qt.Key.Key_E, Qt.KeyboardModifier.ControlModifier)
    assert asked == [True]
    override = QKeyEvent(QEvent.Type.ShortcutOverride, Qt.Key.Key_E, Qt.KeyboardModifier.ControlModifier)
    override.accept()  # as a line of text does there
    field.control.event(override)
    assert not override.isAccepted()
