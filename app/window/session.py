"""One run of the window: from the first frame to the end of the process."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from types import FrameType

from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication

from app.theme import CHOICES, choose_theme, follow_system
from app.widgets.icons import app_icon
from app.window import crash
from app.window.collecting import Collector
from app.window.main_window import MainWindow
from app.window.scale import scale_interface
from app.workspace.places import Places
from app.workspace.workspace import Workspace
from engine.document import crashes
from engine.train.memory import share_one_heap

# Enough for the first frame to be painted before imports take the interpreter's lock.
ENGINE_DELAY_MS = 60


def run(paths: Sequence[Path] = (), examples: Sequence[str] = (), places: Places | None = None) -> int:
    """Opens the window, with the project files and examples that are named, and returns when it is closed."""
    share_one_heap()
    places = places or Places.default()
    scale_interface(places.settings())
    app = QApplication([sys.argv[0]])
    app.setApplicationName("Neuroloom")
    app.setQuitOnLastWindowClosed(False)
    app.setDesktopFileName("neuroloom")
    app.setWindowIcon(app_icon())
    crash.write_log(places.log_file)
    ended = crashes.left_behind(places.crashes)
    crashes.watch(places.crashes)
    Collector(app)
    workspace = Workspace(places)
    chosen = workspace.settings.text("window/theme", "system")
    choose_theme(chosen if chosen in CHOICES else "system")
    follow_system()
    window = MainWindow(workspace)
    crash.report_to(window.tell)
    signal.signal(signal.SIGINT, _Interrupt(window))
    window.closed.connect(app.quit)
    window.show()
    QTimer.singleShot(ENGINE_DELAY_MS, window.documents.begin_engine)
    inspector = _inspector(window)
    window.begin(paths, examples)
    if ended is not None:
        window.files.tell_of_crash(ended)
    status = app.exec()
    crash.stop_reporting()
    crashes.unwatch()
    del inspector
    return status


def _inspector(window: MainWindow) -> object:
    if "NEUROLOOM_INSPECT" not in os.environ:
        return None
    from app.window.inspection import inspect_if_asked

    return inspect_if_asked(window)


class _Interrupt:
    """Ctrl+C in the terminal closes the window as its close button does."""

    def __init__(self, window: MainWindow) -> None:
        self._window = window

    def __call__(self, _signal: int, _frame: FrameType | None) -> None:
        QTimer.singleShot(0, self._window.close)
