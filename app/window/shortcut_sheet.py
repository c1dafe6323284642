"""All shortcuts on one page, made from the table of commands."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QDialog,
    QFrame,
    QGridLayout,
    QHBoxLayout,
    QPushButton,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from app.widgets.labels import label
from app.window.actions import COMMANDS, GESTURES, MENUS


class ShortcutsDialog(QDialog):
    """All shortcuts by menu, then what the pointer does on the canvas."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("shortcutsDialog")
        self.setWindowTitle("Keyboard shortcuts")
        self.resize(600, 640)
        page = QWidget()
        page.setProperty("role", "page")
        grid = QGridLayout(page)
        grid.setContentsMargins(20, 16, 20, 16)
        grid.setVerticalSpacing(6)
        grid.setColumnStretch(0, 1)
        row = 0
        for menu in MENUS:
            commands = [command for command in COMMANDS if command.menu == menu and command.keys]
            lines = [(command.plain_text, command.keys) for command in commands]
            row = _section(grid, row, menu, lines)
        _section(grid, row, "On the canvas", [(what, how) for how, what in GESTURES])
        area = QScrollArea()
        area.setWidgetResizable(True)
        area.setWidget(page)
        area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        area.setFrameShape(QFrame.Shape.NoFrame)
        close = QPushButton("Close")
        close.setDefault(True)
        close.clicked.connect(self.reject)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 12)
        column.addWidget(area, 1)
        foot = QHBoxLayout()
        foot.setContentsMargins(16, 8, 16, 0)
        foot.addStretch(1)
        foot.addWidget(close)
        column.addLayout(foot)


def _section(grid: QGridLayout, row: int, title: str, lines: list[tuple[str, str]]) -> int:
    if not lines:
        return row
    heading = label(title, "heading")
    heading.setContentsMargins(0, 8 if row else 0, 0, 0)
    grid.addWidget(heading, row, 0, 1, 2)
    for offset, (what, keys) in enumerate(lines, 1):
        grid.addWidget(label(what, "dim", wrap=True), row + offset, 0)
        grid.addWidget(label(keys), row + offset, 1, Qt.AlignmentFlag.AlignRight)
    return row + len(lines) + 1
