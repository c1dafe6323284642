"""Errors that nobody caught: logged with their traceback, told in one sentence, and survived."""

from __future__ import annotations

import logging
import sys
import threading
from collections import deque
from collections.abc import Callable
from logging.handlers import RotatingFileHandler
from pathlib import Path
from types import TracebackType

from PySide6.QtCore import QObject, QTimer

from engine.errors import kind_and_reason

log = logging.getLogger("neuroloom")

_LARGEST_LOG = 1_000_000
_POLL_MS = 250


def write_log(path: Path) -> None:
    """Sends what is logged to a file as well; without a writable folder, to stderr alone."""
    handler: logging.Handler
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handler = RotatingFileHandler(path, maxBytes=_LARGEST_LOG, backupCount=1, encoding="utf-8")
    except OSError:
        handler = logging.StreamHandler()
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    root = logging.getLogger()
    root.addHandler(handler)
    root.setLevel(logging.INFO)


class Reporter(QObject):
    """Collects uncaught errors of any thread and tells the window about them from its own thread."""

    def __init__(self, tell: Callable[[str, str], object]) -> None:
        super().__init__()
        self._tell_window = tell
        self._waiting: deque[str] = deque(maxlen=20)
        self._timer = QTimer(self)
        self._timer.setInterval(_POLL_MS)
        self._timer.timeout.connect(self._tell)
        self._timer.start()

    def uncaught(
        self, kind: type[BaseException], error: BaseException, trace: TracebackType | None, where: str = ""
    ) -> None:
        """Logs an error and keeps its sentence for the window; may be called on any thread."""
        if issubclass(kind, KeyboardInterrupt):
            sys.__excepthook__(kind, error, trace)
            return
        log.error("Uncaught error%s", where, exc_info=(kind, error, trace))
        self._waiting.append(
            f"Something went wrong inside Neuroloom ({kind_and_reason(error)}). Your work is kept."
        )

    def uncaught_in_thread(self, args: threading.ExceptHookArgs) -> None:
        """The same for an error that ended a thread."""
        if args.exc_value is not None:
            name = args.thread.name if args.thread is not None else "a thread"
            self.uncaught(args.exc_type, args.exc_value, args.exc_traceback, f" in {name}")

    def stop(self) -> None:
        """Stops the timer."""
        self._timer.stop()

    def _tell(self) -> None:
        if self._waiting:
            # A slot that fails on every tick must not flood the window: the last one is enough.
            text = self._waiting.pop()
            self._waiting.clear()
            self._tell_window(text, "error")


_reporter: Reporter | None = None


def report_to(tell: Callable[[str, str], object]) -> Reporter:
    """Tells of uncaught errors with a sentence and its kind ("error")."""
    global _reporter
    _reporter = Reporter(tell)
    sys.excepthook = _reporter.uncaught
    threading.excepthook = _reporter.uncaught_in_thread
    return _reporter


def stop_reporting() -> None:
    """Gives the hooks back to Python."""
    global _reporter
    if _reporter is not None:
        _reporter.stop()
        _reporter = None
    sys.excepthook = sys.__excepthook__
    threading.excepthook = threading.__excepthook__
