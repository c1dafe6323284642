"""What was found in the data, as a list of sentences with buttons."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPushButton, QScrollArea, QVBoxLayout, QWidget

from app.theme import current_theme, themes
from app.widgets.icons import pixmap
from app.widgets.labels import label
from engine.data.checks.findings import Change, Finding


class FindingsList(QScrollArea):
    """Findings, then what was said when the file was opened. `wanted` carries the `Change` of a button."""

    wanted = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("findings")
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._shown: tuple[tuple[Finding, ...], tuple[str, ...], tuple[str, ...]] = ((), (), ())
        themes.theme_changed.connect(self._redraw)

    def show_findings(
        self,
        findings: Sequence[Finding],
        remarks: Sequence[str],
        checked: bool,
        notes: Sequence[str] = (),
    ) -> None:
        """`checked` says that the data were looked at, so that nothing found means nothing wrong.

        `notes` say what was done to rows because the user wanted it.
        """
        self._shown = tuple(findings), tuple(remarks), tuple(notes)
        page = QWidget()
        page.setProperty("role", "page")
        column = QVBoxLayout(page)
        column.setContentsMargins(0, 2, 8, 4)
        column.setSpacing(8)
        theme = current_theme()
        for one in findings:
            name, colour = ("warning", theme.warning) if one.serious else ("info", theme.accent)
            column.addWidget(self._row(name, colour, one.message, one.changes))
        if not findings and checked:
            words = "Nothing found: no duplicates, no missing values, no rare classes."
            column.addWidget(self._row("tick-circle", theme.good, words, ()))
        for heading, sentences in (("Rows, as you set it", notes), ("When the file was opened", remarks)):
            if sentences:
                column.addSpacing(4)
                column.addWidget(label(heading, "caps"))
            for sentence in sentences:
                column.addWidget(label(sentence, "dim", wrap=True))
        column.addStretch(1)
        self.setWidget(page)

    def buttons(self) -> list[QPushButton]:
        """The buttons of the fixes, from top to bottom."""
        return self.findChildren(QPushButton)

    def _row(self, name: str, colour: QColor, sentence: str, changes: Sequence[Change]) -> QWidget:
        made = QWidget()
        row = QHBoxLayout(made)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(10)
        mark = label("")
        mark.setPixmap(pixmap(name, colour, 14))
        row.addWidget(mark, 0, Qt.AlignmentFlag.AlignTop)
        row.addWidget(label(sentence, wrap=True), 1)
        for change in changes:
            button = QPushButton(change.label)
            button.setProperty("kind", "small")
            button.clicked.connect(partial(self._want, change))
            row.addWidget(button, 0, Qt.AlignmentFlag.AlignTop)
            words = mark.fontMetrics().height()  # the mark stands beside the first line of the sentence
            mark.setContentsMargins(0, max(0, (button.sizeHint().height() - words) // 2), 0, 0)
        return made

    def _want(self, change: Change, _checked: bool = False) -> None:
        self.wanted.emit(change)

    def _redraw(self, _theme: object) -> None:
        if self.widget() is not None:
            findings, remarks, notes = self._shown
            self.show_findings(findings, remarks, True, notes)
