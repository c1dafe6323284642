"""Garbage is collected in the thread of the window alone."""

from __future__ import annotations

import gc

from PySide6.QtCore import QObject, QTimer

from engine.train.memory import give_back

PERIOD_MS, GIVE_BACK_MS = 250, 60_000


class Collector(QObject):
    """Does Python's collecting by a timer, at the sizes at which Python would.

    Otherwise whichever thread makes the next object collects, also the one that trains, and widgets that were
    part of a cycle would be deleted there: Qt's objects may only be deleted in the thread they live in.
    Once a minute the system gets back what is free in the heap: it costs a training thread milliseconds.
    """

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        gc.disable()
        self._timer = QTimer(self)
        self._timer.setInterval(PERIOD_MS)
        self._timer.timeout.connect(self.look)
        self._timer.start()
        self._rarely = QTimer(self)
        self._rarely.setInterval(GIVE_BACK_MS)
        self._rarely.timeout.connect(give_back)
        self._rarely.start()

    def look(self) -> int | None:
        """Collects the oldest generation that has grown beyond its size; which that was."""
        due = [
            generation
            for generation, (count, size) in enumerate(zip(gc.get_count(), gc.get_threshold(), strict=True))
            if size and count > size
        ]
        if not due:
            return None
        gc.collect(due[-1])
        return due[-1]
