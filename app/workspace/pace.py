"""Redraws at most so often, and never forgets the last one."""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic

from PySide6.QtCore import QObject, QTimer


class Pace(QObject):
    """Calls `redraw` at most once in `interval_ms`; one that is asked for too early comes at its end.

    `redraw` must be a bound method of the parent, so that both end together.
    """

    def __init__(self, interval_ms: int, redraw: Callable[[], None], parent: QObject) -> None:
        super().__init__(parent)
        self._interval = interval_ms / 1000
        self._redraw = redraw
        self._last = float("-inf")
        self._later = QTimer(self)
        self._later.setSingleShot(True)
        self._later.timeout.connect(self._fire)

    def ask(self) -> None:
        """Redraw as soon as the pace allows."""
        if self._later.isActive():
            return
        left = self._last + self._interval - monotonic()
        if left <= 0:
            self._fire()
        else:
            self._later.start(int(left * 1000) + 1)

    def now(self) -> None:
        """Redraw at once, for something the user has just done."""
        self._later.stop()
        self._fire()

    def stop(self) -> None:
        """Forget a redraw that was put off."""
        self._later.stop()

    def _fire(self) -> None:
        self._redraw()
        self._last = monotonic()
