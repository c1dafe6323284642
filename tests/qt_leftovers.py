"""What a test started in Qt and did not stop: timers, threads, windows."""

from __future__ import annotations

import gc
import traceback
import weakref
from collections.abc import Callable
from typing import Any

import shiboken6
from PySide6.QtCore import QCoreApplication, QEvent, QObject, QThread, QTimer
from PySide6.QtWidgets import QApplication, QWidget


class StartedObjects:
    """Remembers each QTimer and QThread started between `begin()` and `end()`, and from which line."""

    def __init__(self) -> None:
        self._started: list[tuple[Callable[[], QObject | None], str]] = []
        self._originals: dict[type, Any] = {}
        self._visible_before: set[QWidget] = set()

    def begin(self) -> None:
        """Start watching."""
        self._visible_before = {widget for widget in QApplication.topLevelWidgets() if widget.isVisible()}
        for kind in (QTimer, QThread):
            self._originals[kind] = kind.start
            kind.start = self._watched(kind.start)  # type: ignore[method-assign]

    def end(self) -> None:
        """Stop watching; `start` is Qt's own again."""
        for kind, original in self._originals.items():
            kind.start = original  # type: ignore[attr-defined]

    def settle_and_list(self) -> list[str]:
        """Let Qt delete what waits for deletion, collect garbage, then say what is still going."""
        for _ in range(2):
            QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
            QCoreApplication.processEvents()
            gc.collect()
        found: dict[int, str] = {}
        for find, line in self._started:
            thing = find()
            if thing is None or not shiboken6.isValid(thing):
                continue
            if isinstance(thing, QTimer) and thing.isActive():
                found[id(thing)] = f"QTimer {thing.objectName()!r} still active, started at {line}"
            if isinstance(thing, QThread) and thing.isRunning():
                found[id(thing)] = f"QThread {thing.objectName()!r} still running, started at {line}"
        windows = [
            f"window {widget.objectName()!r} ({type(widget).__name__}) still open: add it to qtbot"
            for widget in QApplication.topLevelWidgets()
            if widget.isVisible() and widget not in self._visible_before
        ]
        return [*found.values(), *windows]

    def _watched(self, original: Any) -> Any:
        def start(thing: QObject, *args: Any) -> Any:
            caller = traceback.extract_stack(limit=2)[0]
            # A parentless object lives as long as Python holds it: holding it here would make the leak.
            find: Callable[[], QObject | None] = (
                weakref.ref(thing) if thing.parent() is None else lambda: thing
            )
            self._started.append((find, f"{caller.filename}:{caller.lineno}"))
            return original(thing, *args)

        return start
