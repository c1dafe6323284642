"""Text with headings, emphasis and lists that loads nothing: no image, no style sheet, no other file.

Every document of such text is one of these. Qt's own would read whatever path a project's notes name,
a device or a pipe that never ends included.
"""

from __future__ import annotations

from PySide6.QtCore import Qt, QUrl
from PySide6.QtGui import QDesktopServices, QImage, QTextCursor, QTextDocument
from PySide6.QtWidgets import QFrame, QTextBrowser, QWidget

OPENED = ("http", "https", "mailto")  # links that a click hands to the system; what others name stays closed


# HTML within Markdown is shown as it is typed: Qt drops what stands behind a tag that is not closed.
_FEATURES = QTextDocument.MarkdownFeature.MarkdownDialectGitHub | QTextDocument.MarkdownFeature.MarkdownNoHTML


class Sheet(QTextDocument):
    """The text, for whoever paints it."""

    def show_markdown(self, text: str) -> None:
        self.setMarkdown(text, _FEATURES)

    def loadResource(self, kind: int, name: QUrl | str) -> object:
        nothing = QImage(1, 1, QImage.Format.Format_ARGB32)  # for a null image Qt would read the file itself
        nothing.fill(Qt.GlobalColor.transparent)
        return nothing


class TextView(QTextBrowser):
    """The text, to be read and marked; its links open in the browser."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._sheet = Sheet(self)
        self.setDocument(self._sheet)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setOpenLinks(False)  # it would show the file that a link names
        self.anchorClicked.connect(self._follow)

    def show_markdown(self, text: str) -> None:
        """Show other text, from its beginning."""
        self._sheet.show_markdown(text)
        self.moveCursor(QTextCursor.MoveOperation.Start)

    def _follow(self, link: QUrl) -> None:
        if link.scheme() in OPENED:
            QDesktopServices.openUrl(link)
