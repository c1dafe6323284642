"""The small window in which a public data set is downloaded: what, from where, on what terms, how far."""

from __future__ import annotations

from urllib.parse import urlsplit

from PySide6.QtCore import Qt
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import (
    QDialog,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QProgressBar,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from app.data.downloads import DONE, FAILED, RUNNING, STOPPING, Download
from app.widgets.labels import ElidedLabel, label
from engine.data.sets.public_files import megabytes

_STEPS = 1000
_WIDTH = 520


class DownloadDialog(QDialog):
    """Shows one download. Closing it lets the download go on; the problem's button brings it back."""

    def __init__(self, download: Download, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("downloadDialog")
        wanted = download.wanted
        self.setWindowTitle(f"Download {wanted.title}")
        self.setFixedWidth(_WIDTH)
        self._download = download
        self._progress = QProgressBar()
        self._progress.setTextVisible(False)
        self._progress.setAccessibleName("Progress of the download")
        self.status = ElidedLabel("", "small")
        self.status.setObjectName("downloadStatus")
        self.error = label("", "error", wrap=True)
        self.error.setObjectName("downloadError")
        self.close_button = QPushButton("Close")
        self.close_button.clicked.connect(self.close)
        self.main_button = QPushButton()
        self.main_button.setObjectName("downloadButton")
        self.main_button.setProperty("kind", "main")
        self.main_button.setDefault(True)
        self.main_button.clicked.connect(self._press)
        foot = QHBoxLayout()
        foot.addStretch(1)
        foot.addWidget(self.close_button)
        foot.addWidget(self.main_button)
        column = QVBoxLayout(self)
        column.setContentsMargins(20, 18, 20, 16)
        column.setSpacing(8)
        column.addWidget(label(wanted.title, "title"))
        column.addWidget(label(wanted.about, "dim", wrap=True))
        column.addSpacing(4)
        column.addLayout(self._facts())
        column.addSpacing(6)
        column.addWidget(self._progress)
        column.addWidget(self.status)
        column.addWidget(self.error)
        column.addStretch(1)
        column.addSpacing(4)
        column.addLayout(foot)
        download.changed.connect(self.show_state)
        self.show_state()

    def _facts(self) -> QGridLayout:
        wanted = self._download.wanted
        servers = dict.fromkeys(urlsplit(url).hostname or url for file in wanted.files for url in file.urls)
        grid = QGridLayout()
        grid.setHorizontalSpacing(14)
        grid.setVerticalSpacing(6)
        grid.setColumnStretch(1, 1)
        rows = (
            ("Size", megabytes(wanted.size)),
            ("From", "\n".join(servers)),
            ("Terms", wanted.licence),
            ("About it", wanted.page),
        )
        for row, (name, text) in enumerate(rows):
            value = label(text, wrap=True)
            value.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
            grid.addWidget(_name(name), row, 0, Qt.AlignmentFlag.AlignTop)
            grid.addWidget(value, row, 1)
        folder = ElidedLabel(str(self._download.folder))
        folder.elide_middle()
        folder.setObjectName("downloadFolder")
        grid.addWidget(_name("Kept in"), len(rows), 0)
        grid.addWidget(folder, len(rows), 1)
        return grid

    def show_state(self) -> None:
        """Shows how far the download is."""
        download = self._download
        state, total = download.state, download.wanted.size
        part = 0 if state == DONE else download.part if not download.busy else None
        fraction = 1.0 if state == DONE else download.fraction if part is None else part / total
        waits = download.busy and fraction is None
        self._progress.setRange(0, 0 if waits else _STEPS)
        self._progress.setValue(round(_STEPS * (fraction or 0.0)))
        if state == DONE:
            status = "The download is complete, and its checksums are correct."
        elif state == STOPPING:
            status = "Stopping…"
        elif state == RUNNING:
            status = download.doing[:1].upper() + download.doing[1:]
        elif part:
            status = f"{megabytes(part)} of {megabytes(total)} are here."
        elif state == FAILED:
            status = "Nothing has been downloaded yet."
        else:
            status = "Nothing is downloaded until you ask for it."
        self.status.setText(status)
        self._show_error(download.error if state == FAILED else "")
        self.main_button.setText(self._words(bool(part)))
        self.main_button.setEnabled(state != STOPPING)
        self.close_button.setText("Hide" if download.busy else "Close")
        self.close_button.setVisible(state != DONE)

    def _show_error(self, sentence: str) -> None:
        if sentence == self.error.text() and self.error.isHidden() != bool(sentence):
            return
        self.error.setText(sentence)
        self.error.setVisible(bool(sentence))
        self._fit()

    def _fit(self) -> None:
        """As high as what is shown: a window does not follow lines that wrap by itself."""
        layout = self.layout()
        if layout is not None:
            layout.activate()
            self.resize(_WIDTH, layout.totalHeightForWidth(_WIDTH))

    def _words(self, begun: bool) -> str:
        return {DONE: "Close", RUNNING: "Stop", STOPPING: "Stop", FAILED: "Try again"}.get(
            self._download.state, "Resume" if begun else "Download"
        )

    def _press(self) -> None:
        if self._download.state == DONE:
            self.close()
        elif self._download.busy:
            self._download.stop()
        else:
            self._download.start()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.show_state()
        self._fit()
        self.main_button.setFocus()


def _name(text: str) -> QLabel:
    return label(text, "dim")
