"""Questions that stop the window until they are answered."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QMessageBox, QWidget

from app.widgets.labels import restyle


def ask(parent: QWidget, title: str, text: str, answers: Sequence[str], detail: str = "") -> str:
    """Asks with one button an answer; the first is the default, the last stands for Esc and closing."""
    box = QMessageBox(parent)
    box.setObjectName("question")
    box.setWindowTitle("Neuroloom")
    box.setText(f"<b>{escape(title)}</b>")
    box.setInformativeText(f"{text}\n{detail}".strip())
    for shown in box.findChildren(QLabel, "qt_msgbox_informativelabel"):
        shown.setTextFormat(Qt.TextFormat.PlainText)
    buttons: dict[object, str] = {}
    for index, answer in enumerate(answers):
        role = (
            QMessageBox.ButtonRole.RejectRole
            if index == len(answers) - 1
            else QMessageBox.ButtonRole.AcceptRole
        )
        button = box.addButton(answer, role)
        button.setObjectName(f"answer_{answer.split(' ', maxsplit=1)[0].casefold()}")
        if index == 0:
            button.setProperty("kind", "main")
            restyle(button)
            box.setDefaultButton(button)
        if index == len(answers) - 1:
            box.setEscapeButton(button)
        buttons[button] = answer
    box.exec()
    return buttons.get(box.clickedButton(), answers[-1])
