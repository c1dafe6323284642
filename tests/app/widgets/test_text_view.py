"""Text of a project is read as text: nothing that it names is opened."""

from __future__ import annotations

import ast
import os
import threading
from pathlib import Path

import pytest
from PySide6.QtCore import QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.widgets.labels import plain
from app.widgets.notes_field import NotesField
from app.widgets.text_view import TextView

ROOT = Path(__file__).parents[3]
# What reads files that its text names, and where it may stand all the same.
LOADING = {
    "QTextBrowser": {"app/widgets/text_view.py"},
    "QTextDocument": {"app/widgets/text_view.py"},
    "QTextEdit": set(),
    "QStaticText": set(),
    "QGraphicsTextItem": set(),
    "QErrorMessage": set(),
    "QWhatsThis": set(),
    "QLabel": {"app/widgets/labels.py"},
}
PLAIN = {
    "app/inspector/plan_fields.py",
    "app/canvas/overlay.py",
}  # their classes set the format of their text


def made_in(tree: ast.AST) -> list[tuple[str, ast.Call | None]]:
    """Every class of `LOADING` that a module makes an object of or derives from."""
    found: list[tuple[str, ast.Call | None]] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            found.append((name, node))
        elif isinstance(node, ast.ClassDef):
            found += [
                (base.attr if isinstance(base, ast.Attribute) else getattr(base, "id", ""), None)
                for base in node.bases
            ]
    return [(name, call) for name, call in found if name in LOADING]


def test_nobody_else_makes_text_that_could_load_something() -> None:
    found = []
    for path in sorted((ROOT / "app").rglob("*.py")):
        place, text = path.relative_to(ROOT).as_posix(), path.read_text("utf-8")
        for name, call in made_in(ast.parse(text)):
            written_out = call is not None and bool(call.args) and isinstance(call.args[0], ast.Constant)
            sets_plain = call is None and place in PLAIN and "TextFormat.PlainText" in text
            if place not in LOADING[name] and not (name == "QLabel" and (written_out or sets_plain)):
                found.append(f"{place}: {name}")
        if "RichText" in text and place != "app/inspector/node_page.py":  # help of node types, escaped
            found.append(f"{place}: RichText")
    assert found == [], "text is shown by `label` of app.widgets.labels, or by app.widgets.text_view"


@pytest.mark.parametrize("scheme", ["", "file://"])
@pytest.mark.parametrize("form", ["![pic](<{}>)", "<img src='{}'>", "<link rel='stylesheet' href='{}'>"])
def test_notes_open_nothing_that_they_name(scheme: str, form: str, tmp_path: Path, qtbot: QtBot) -> None:
    """A pipe would hold up whoever opens it until somebody writes."""
    os.mkfifo(pipe := tmp_path / "pipe")
    opened = threading.Event()

    def wait_for_a_reader() -> None:
        with open(pipe, "wb"):
            opened.set()

    writer = threading.Thread(target=wait_for_a_reader, daemon=True)
    writer.start()
    notes = NotesField()
    qtbot.addWidget(notes)
    notes.setPlainText("before " + form.format(f"{scheme}{pipe}") + " after")
    notes.resize(300, 200)
    notes.show()
    notes.grab()
    assert "after" in notes.read.toPlainText()
    assert not opened.wait(0.05)
    with open(pipe, "rb"):  # lets the writer go
        writer.join()


def test_a_link_opens_in_the_browser_and_never_a_file(
    tmp_path: Path, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[str] = []
    monkeypatch.setattr(QDesktopServices, "openUrl", lambda url: opened.append(url.toString()))
    view = TextView()
    qtbot.addWidget(view)
    (tmp_path / "own.html").write_text("<p>secret</p>")
    file = tmp_path.as_uri() + "/own.html"
    view.show_markdown("[paper](https://arxiv.org)")
    for link in ("https://arxiv.org", file, f"{tmp_path}/own.html", "smb://host/share", "mailto:a@b.c"):
        view.anchorClicked.emit(QUrl(link))
    assert opened == ["https://arxiv.org", "mailto:a@b.c"]
    assert view.toPlainText() == "paper"


def test_a_tool_tip_shows_names_letter_by_letter(qapp: QApplication) -> None:
    assert plain("a & b > c") == "a & b > c"
    assert plain("<img src='/dev/zero'>\nx") == "<qt>&lt;img src=&#x27;/dev/zero&#x27;&gt;<br>x</qt>"
