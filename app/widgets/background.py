"""Runs slow functions beside the window, one at a time; the window's own thread fetches what they return."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable

from PySide6.QtCore import QObject, QTimer, Signal

from engine.errors import NeuroloomError, reason_of

log = logging.getLogger(__name__)

_POLL_MS = 15

Work = Callable[[], object]


class Background(QObject):
    """Keeps the latest request only: one that waits behind a running one is replaced by the next.

    The thread calls no Qt. `finished` carries what the function returned and None, or None and the
    sentence it failed with as a `NeuroloomError`; it is emitted in the thread that owns this object.
    """

    finished = Signal(object, object)

    def __init__(self, name: str, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._name = name
        self._waiting: Work | None = None
        self._thread: threading.Thread | None = None
        self._answer: tuple[object, NeuroloomError | None] = (None, None)
        self._timer = QTimer(self)
        self._timer.setInterval(_POLL_MS)
        self._timer.timeout.connect(self._look)

    @property
    def busy(self) -> bool:
        """Whether a request is being worked on or waits."""
        return self._thread is not None

    def ask(self, work: Work) -> None:
        """Runs `work`, after the one that runs now; it must leave widgets alone."""
        if self._thread is not None:
            self._waiting = work
            return
        self._thread = threading.Thread(target=self._run, args=(work,), name=self._name)
        self._thread.start()
        self._timer.start()

    def close(self) -> None:
        """Waits for what runs and drops the rest; nothing is emitted any more."""
        self._timer.stop()
        self._waiting = None
        if self._thread is not None:
            self._thread.join()
            self._thread = None

    def _run(self, work: Work) -> None:
        try:
            self._answer = (work(), None)
        except NeuroloomError as error:
            self._answer = (None, error)
        except Exception as error:
            log.exception("%s failed", self._name)
            self._answer = (
                None,
                NeuroloomError(f"Something went wrong inside Neuroloom: {reason_of(error)}."),
            )

    def _look(self) -> None:
        thread = self._thread
        if thread is None or thread.is_alive():
            return
        thread.join()
        self._thread = None
        self._timer.stop()
        waiting, self._waiting = self._waiting, None
        answer = self._answer
        if waiting is not None:
            self.ask(waiting)
        self.finished.emit(*answer)
