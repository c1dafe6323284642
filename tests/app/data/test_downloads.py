"""A set that is not here is a problem with a button; its dialog downloads, stops, goes on and tries again."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from app.data.downloads import CODE, DONE, FAILED, RUNNING, WAITING, Download, Downloads
from app.data.downloads_dialog import DownloadDialog
from app.inspector.node_page import apply_fix
from app.workspace.workspace import Workspace
from engine.data.sets import downloads as engine_downloads
from engine.data.sets import public_files
from engine.data.sets.public_files import PublicFile, PublicSet, folder_of, part_of
from engine.document.edits import AddNodes, SetParam
from engine.document.graph import Node
from tests.engine.data.file_server import Shelf, serving

BODY = bytes(range(256)) * 1000
HELD = 150_000  # bytes after which the server says nothing more


@pytest.fixture
def shelf(monkeypatch: pytest.MonkeyPatch) -> Iterator[Shelf]:
    monkeypatch.setattr(engine_downloads, "WAITS", (0.0,))
    monkeypatch.setattr(engine_downloads, "LOOK", 0.01)
    monkeypatch.delenv("http_proxy", raising=False)
    with serving() as found:
        found.files["/clothes"] = BODY
        checksum = f"sha256:{hashlib.sha256(BODY).hexdigest()}"
        file = PublicFile("clothes", len(BODY), checksum, (f"{found.url}/clothes",))
        offered = PublicSet("fashion-mnist", "Fashion-MNIST", "Clothes.", "MIT", "http://x", (file,))
        monkeypatch.setattr(public_files, "PUBLIC", (offered,))
        yield found


@pytest.fixture
def made(shelf: Shelf, shaped: Workspace, qtbot: QtBot) -> Downloads:
    window = QWidget()
    qtbot.addWidget(window)
    found = Downloads(shaped, window)
    assert shaped.apply("Add", AddNodes((Node("n1", "FashionMnist", "clothes"),), ()))
    return found


def problems(workspace: Workspace) -> list[object]:
    return [problem for problem in workspace.shapes.problems if problem.code == CODE]


def held(download: Download) -> bool:
    """Whether all has come that the server sends."""
    return download.fraction is not None and download.fraction >= HELD / len(BODY)


def opened(workspace: Workspace, made: Downloads) -> DownloadDialog:
    """The dialog, by the button of the problem."""
    apply_fix(workspace, problems(workspace)[0])
    dialog = made.offer(public_files.PUBLIC[0])
    assert isinstance(dialog, DownloadDialog) and dialog.isVisible()
    return dialog


def test_what_is_missing_is_a_problem_with_a_button(shaped: Workspace, made: Downloads) -> None:
    (problem,) = problems(shaped)
    assert problem.message == "Fashion-MNIST has not been downloaded yet."
    assert problem.severity == "error" and problem.fix.label == "Download (0.3 MB)…"
    shaped.apply("Own folder", SetParam("n1", "path", str(Path.cwd())))
    assert problems(shaped) == []
    shaped.undo()
    assert len(problems(shaped)) == 1


def test_downloading_takes_the_problem_away(
    shelf: Shelf, shaped: Workspace, made: Downloads, qtbot: QtBot
) -> None:
    dialog = opened(shaped, made)
    download = made.download(public_files.PUBLIC[0])
    assert dialog.main_button.text() == "Download" and shelf.asked == []
    dialog.main_button.click()
    qtbot.waitUntil(lambda: download.state == DONE)
    assert problems(shaped) == []
    assert (folder_of("fashion-mnist") / "clothes").read_bytes() == BODY
    assert dialog.main_button.text() == "Close" and "checksums are correct" in dialog.status.text()
    dialog.main_button.click()
    assert not dialog.isVisible()


def test_it_can_be_stopped_and_gone_on_with(
    shelf: Shelf, shaped: Workspace, made: Downloads, qtbot: QtBot
) -> None:
    shelf.hold_after = HELD
    dialog = opened(shaped, made)
    download = made.download(public_files.PUBLIC[0])
    dialog.main_button.click()
    qtbot.waitUntil(lambda: held(download))
    assert dialog.main_button.text() == "Stop" and dialog.close_button.text() == "Hide"
    assert problems(shaped)[0].message == "Fashion-MNIST is being downloaded."  # type: ignore[attr-defined]
    dialog.main_button.click()
    qtbot.waitUntil(lambda: download.state == WAITING)
    assert part_of(download.folder, download.wanted.files[0]).stat().st_size == HELD
    assert dialog.main_button.text() == "Resume" and "are here" in dialog.status.text()
    assert "Resume the download" in problems(shaped)[0].fix.label  # type: ignore[attr-defined]
    shelf.hold_after = None
    dialog.main_button.click()
    qtbot.waitUntil(lambda: download.state == DONE)
    assert shelf.asked[-1] == ("/clothes", f"bytes={HELD}-")
    dialog.close()


def test_a_failure_is_said_and_can_be_tried_again(
    shelf: Shelf, shaped: Workspace, made: Downloads, qtbot: QtBot
) -> None:
    del shelf.files["/clothes"]
    dialog = opened(shaped, made)
    download = made.download(public_files.PUBLIC[0])
    before = dialog.height()
    dialog.main_button.click()
    qtbot.waitUntil(lambda: download.state == FAILED)
    assert "answered 404" in dialog.error.text() and dialog.error.isVisible()
    assert dialog.main_button.text() == "Try again" and dialog.height() > before
    shelf.files["/clothes"] = BODY
    dialog.main_button.click()
    qtbot.waitUntil(lambda: download.state == DONE)
    assert not dialog.error.isVisible()
    dialog.close()


def test_hidden_it_goes_on_and_says_when_it_is_done(
    shelf: Shelf, shaped: Workspace, made: Downloads, qtbot: QtBot
) -> None:
    said: list[str] = []
    shaped.message.connect(lambda text, _severity: said.append(text))
    shelf.hold_after = 100
    dialog = opened(shaped, made)
    download = made.download(public_files.PUBLIC[0])
    dialog.main_button.click()
    dialog.close_button.click()
    assert not dialog.isVisible() and download.state == RUNNING
    shelf.released.set()
    qtbot.waitUntil(lambda: download.state == DONE)
    assert said == ["Fashion-MNIST is downloaded."]


def test_a_window_that_closes_ends_it_and_keeps_the_part(
    shelf: Shelf, shaped: Workspace, made: Downloads, qtbot: QtBot
) -> None:
    shelf.hold_after = HELD
    dialog = opened(shaped, made)
    download = made.download(public_files.PUBLIC[0])
    dialog.main_button.click()
    part = part_of(download.folder, download.wanted.files[0])
    qtbot.waitUntil(lambda: held(download))
    shaped.close()  # the fixture of threads fails if one is left
    assert part.stat().st_size == HELD


def test_what_came_for_one_document_is_there_for_another(
    shelf: Shelf, shaped: Workspace, made: Downloads, qtbot: QtBot
) -> None:
    window = QWidget()
    qtbot.addWidget(window)
    other = Downloads(shaped, window)
    download = other.download(public_files.PUBLIC[0])
    download.start()
    qtbot.waitUntil(lambda: download.state == DONE)
    assert problems(shaped) == []
