"""The window tells where its things are, when and only when it is asked to."""

from __future__ import annotations

import json
import socket
import threading
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtWidgets import QListWidget, QMenu, QPushButton, QWidget
from pytestqt.qtbot import QtBot

from app.window.inspection import VARIABLE, inspect_if_asked


@pytest.fixture
def window(qtbot: QtBot) -> QWidget:
    shown = QWidget()
    qtbot.addWidget(shown)
    shown.resize(300, 200)
    button = QPushButton("&Train", shown)
    button.setObjectName("train")
    button.setGeometry(10, 20, 80, 30)
    rows = QListWidget(shown)
    rows.setObjectName("types")
    rows.setGeometry(100, 20, 120, 100)
    rows.addItems(["Linear", "Conv 2-D"])
    hidden = QPushButton("hidden", shown)
    hidden.hide()
    shown.show()
    qtbot.waitExposed(shown)
    return shown


def ask(qtbot: QtBot, path: Path, question: dict[str, Any]) -> list[dict[str, Any]]:
    """Ask from another thread, as another process would, while the event loop runs."""
    answers: list[list[dict[str, Any]]] = []

    def put() -> None:
        with socket.socket(socket.AF_UNIX) as line:
            line.settimeout(5)
            line.connect(str(path))
            line.sendall(json.dumps(question).encode() + b"\n")
            answers.append(json.loads(line.makefile("rb").readline()))

    thread = threading.Thread(target=put)
    thread.start()
    qtbot.waitUntil(lambda: not thread.is_alive())
    return answers[0]


@pytest.fixture
def line(window: QWidget, private_folders: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    private_folders.mkdir(exist_ok=True)
    path = private_folders / "inspect"
    monkeypatch.setenv(VARIABLE, str(path))
    assert inspect_if_asked(window) is not None
    return path


def test_no_socket_without_the_variable(window: QWidget, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    assert inspect_if_asked(window) is None


def test_a_widget_is_found_by_name_and_by_text(qtbot: QtBot, window: QWidget, line: Path) -> None:
    (by_name,) = ask(qtbot, line, {"widgets": "train"})
    (by_text,) = ask(qtbot, line, {"widgets": "Tra*"})
    assert by_name == by_text
    corner = window.mapToGlobal(window.rect().topLeft())
    assert by_name["rect"] == [corner.x() + 10, corner.y() + 20, 80, 30]
    assert by_name["enabled"]


def test_what_is_hidden_is_not_found(qtbot: QtBot, line: Path) -> None:
    assert ask(qtbot, line, {"widgets": "hidden"}) == []


def test_rows_of_a_list_are_found_by_their_text(qtbot: QtBot, line: Path) -> None:
    (row,) = ask(qtbot, line, {"widgets": "Conv 2-D"})
    assert (row["kind"], row["name"]) == ("row", "types")


def test_entries_of_an_open_menu_are_found(qtbot: QtBot, window: QWidget, line: Path) -> None:
    menu = QMenu(window)
    menu.addAction("&Export…").setObjectName("export_script")
    menu.popup(window.mapToGlobal(window.rect().center()))
    (entry,) = ask(qtbot, line, {"widgets": "export_script"})
    menu.close()
    assert (entry["kind"], entry["text"]) == ("entry", "Export…")
