"""Errors that nobody caught."""

from __future__ import annotations

import logging
import sys
import threading
from pathlib import Path

import pytest
from PySide6.QtCore import QTimer

from app.window import crash
from app.workspace.workspace import Workspace


@pytest.mark.logs("Uncaught error")
def test_an_error_in_a_slot_is_logged_told_and_survived(workspace: Workspace, qtbot) -> None:  # type: ignore[no-untyped-def]
    def slot() -> None:
        raise ValueError("seven")

    reporter = crash.report_to(workspace.message.emit)
    try:
        with qtbot.captureExceptions() as caught:
            QTimer.singleShot(0, slot)
            qtbot.waitUntil(lambda: bool(caught), timeout=2000)
        # pytest-qt takes the hook while it captures; the window's own hook gets the same arguments.
        with qtbot.waitSignal(workspace.message, timeout=2000) as told:
            reporter.uncaught(*caught[0])
        assert "seven" in told.args[0] and told.args[1] == "error"
    finally:
        crash.stop_reporting()


@pytest.mark.logs("Uncaught error in worker")
def test_an_error_in_a_thread_reaches_the_window_from_its_own(workspace: Workspace, qtbot) -> None:  # type: ignore[no-untyped-def]
    crash.report_to(workspace.message.emit)
    heard_on: list[threading.Thread] = []
    workspace.message.connect(lambda _text, _kind: heard_on.append(threading.current_thread()))
    try:

        def work() -> None:
            raise RuntimeError("no luck")

        thread = threading.Thread(target=work, name="worker")
        thread.start()
        thread.join()
        qtbot.waitUntil(lambda: bool(heard_on), timeout=2000)
        assert heard_on == [threading.main_thread()]
    finally:
        crash.stop_reporting()


def test_the_hooks_are_given_back(workspace: Workspace) -> None:
    crash.report_to(workspace.message.emit)
    crash.stop_reporting()
    assert sys.excepthook is sys.__excepthook__
    assert threading.excepthook is threading.__excepthook__


def test_the_log_is_a_file_where_it_can_be(tmp_path: Path) -> None:
    root = logging.getLogger()
    before, level = list(root.handlers), root.level
    try:
        crash.write_log(tmp_path / "deep" / "neuroloom.log")
        logging.getLogger("neuroloom").info("hello")
        assert "hello" in (tmp_path / "deep" / "neuroloom.log").read_text("utf-8")
    finally:
        for handler in [one for one in root.handlers if one not in before]:
            root.removeHandler(handler)
            handler.close()
        root.setLevel(level)
