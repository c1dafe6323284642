"""The windows of the Help menu: the documentation, and what to send with a report of a problem."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import (
    QDialog,
    QHBoxLayout,
    QListWidget,
    QPlainTextEdit,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from app.widgets.labels import label
from app.widgets.text_view import TextView
from app.window.help_texts import PAGES, page, report


class DocumentationDialog(QDialog):
    """The pages of the documentation: their names at the left, the text at the right."""

    def __init__(self, first: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("documentation")
        self.setWindowTitle("Documentation")
        self.resize(860, 620)
        self.names = QListWidget()
        self.names.setObjectName("documentationPages")
        self.names.setAccessibleName("Pages")
        self.names.setFixedWidth(190)
        self.names.addItems(list(PAGES))
        self.text = TextView()
        self.text.document().setDocumentMargin(14)
        self.text.setAccessibleName("Text of the page")
        self.names.currentTextChanged.connect(self._show)
        row = QHBoxLayout(self)
        row.setContentsMargins(12, 12, 12, 12)
        row.addWidget(self.names)
        row.addWidget(self.text, 1)
        self.names.setCurrentRow(list(PAGES).index(first))

    def _show(self, title: str) -> None:
        self.text.setMarkdown(page(title))


class ReportDialog(QDialog):
    """Versions and log to copy into a report; nobody is named in it, and nothing is sent."""

    def __init__(self, log_file: Path, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("problemReport")
        self.setWindowTitle("Report a problem")
        self.resize(680, 480)
        self.text = QPlainTextEdit(report(log_file))
        self.text.setObjectName("reportText")
        self.text.setAccessibleName("What to send with a report")
        words = (
            "Say what you did and what happened, and add this: the versions of the program and the end of "
            "its log. Names and places are taken out, but look it through. The program itself sends nothing."
        )
        copy = QPushButton("Copy")
        copy.setObjectName("copyReport")
        copy.setProperty("kind", "main")
        copy.clicked.connect(self.copy)
        close = QPushButton("Close")
        close.clicked.connect(self.reject)
        foot = QHBoxLayout()
        foot.addStretch(1)
        foot.addWidget(close)
        foot.addWidget(copy)
        column = QVBoxLayout(self)
        column.setContentsMargins(16, 14, 16, 14)
        column.setSpacing(10)
        column.addWidget(label(words, "dim", wrap=True))
        column.addWidget(self.text, 1)
        column.addLayout(foot)

    def copy(self) -> None:
        """Puts the text, as it was changed, on the clipboard."""
        QGuiApplication.clipboard().setText(self.text.toPlainText())
