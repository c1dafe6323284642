"""How far a file is that is being opened, over the lower edge of the canvas, with a way out."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtWidgets import QFrame, QGridLayout, QProgressBar, QPushButton, QWidget

from app.widgets.labels import ElidedLabel, label

WIDTH = 380
_MARGIN = 16


class OpeningCard(QFrame):
    """A file's name, what is done with it, a bar and a Cancel button."""

    def __init__(self, canvas: QWidget) -> None:
        super().__init__(canvas)
        self._canvas = canvas
        self.setObjectName("openingCard")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self._name = ElidedLabel("", "heading")
        self._name.elide_middle()
        self._doing = label("", "small")
        self._doing.setObjectName("openingDoing")
        self._bar = QProgressBar()
        self._bar.setTextVisible(False)
        self._bar.setAccessibleName("Progress of reading the file")
        self.button = QPushButton("Cancel")
        self.button.setObjectName("openingCancel")
        self.button.setProperty("kind", "small")
        grid = QGridLayout(self)
        grid.setContentsMargins(14, 10, 10, 12)
        grid.setHorizontalSpacing(12)
        grid.setVerticalSpacing(6)
        grid.addWidget(self._name, 0, 0)
        grid.addWidget(self.button, 0, 1, 2, 1, Qt.AlignmentFlag.AlignTop)
        grid.addWidget(self._doing, 1, 0)
        grid.addWidget(self._bar, 2, 0, 1, 2)
        grid.setColumnStretch(0, 1)
        self.setFixedWidth(WIDTH)
        canvas.installEventFilter(self)
        self.hide()

    def begin(self, name: str) -> None:
        """A file is about to be opened."""
        self.button.setEnabled(True)
        self.show_progress(name, None, "looking")

    def show_progress(self, name: str, fraction: float | None, doing: str) -> None:
        """What is done, and a fraction in 0..1; None where it isn't known."""
        if not self.button.isEnabled():
            return
        if self._name.text() != f"Opening {name}":
            self._name.setText(f"Opening {name}")
        if fraction is None:
            self._bar.setRange(0, 0)
            words = f"{doing} …"
        else:
            self._bar.setRange(0, 1000)
            self._bar.setValue(round(1000 * min(1.0, max(0.0, fraction))))
            words = f"{doing} · {fraction:.0%}".replace("%", " %")
        words = words[:1].upper() + words[1:]
        if words != self._doing.text():
            self._doing.setText(words)

    def say_cancelling(self) -> None:
        """The thread has been asked to stop."""
        self.button.setEnabled(False)
        self._doing.setText("Cancelling …")

    def appear(self) -> None:
        """Shows over the canvas."""
        self._settle()
        self.show()
        self.raise_()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Resize and self.isVisible():
            self._settle()
        return super().eventFilter(watched, event)

    def _settle(self) -> None:
        room = self._canvas.size()
        self.setFixedWidth(min(WIDTH, max(200, room.width() - 2 * _MARGIN)))
        self.adjustSize()
        self.move((room.width() - self.width()) // 2, room.height() - self.height() - _MARGIN)
