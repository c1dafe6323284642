"""Draws cards a few at a time, so that the window answers in between."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from time import monotonic

from PySide6.QtCore import QObject, QTimer

from app.look.dock.card import ViewCard

AT_ONCE, AGAIN_MS = 0.008, 12  # seconds of drawing in one go, and milliseconds until the rest


class Drawing(QObject):
    """Calls `draw` for each card that was asked for, in turn; those that waited longest come first."""

    def __init__(self, draw: Callable[[ViewCard], None], parent: QObject) -> None:
        super().__init__(parent)
        self._draw = draw
        self._waiting: list[ViewCard] = []
        self._rest = QTimer(self)
        self._rest.setSingleShot(True)
        self._rest.setInterval(AGAIN_MS)
        self._rest.timeout.connect(self.go_on)

    def ask(self, cards: Iterable[ViewCard]) -> None:
        """Draw these, as many as there is time for now and the others soon."""
        wanted = list(cards)
        kept = [card for card in self._waiting if card in wanted]
        self._waiting = kept + [card for card in wanted if card not in kept]
        self.go_on()

    @property
    def busy(self) -> bool:
        """Whether some wait."""
        return bool(self._waiting)

    def go_on(self) -> None:
        """Draw as many of those that wait as there is time for."""
        began = monotonic()
        while self._waiting and monotonic() - began < AT_ONCE:
            self._draw(self._waiting.pop(0))
        if self._waiting:
            self._rest.start()
