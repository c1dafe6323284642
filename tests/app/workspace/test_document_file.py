"""Opening, saving, recent files and what is left after a crash."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.widgets.banner import Notice
from app.workspace import document_file
from app.workspace.document_file import DocumentFile
from app.workspace.places import Places
from app.workspace.workspace import Workspace
from engine.document.edits import SetTitle
from engine.document.files import load_project
from tests.app.conftest import add_iris


@pytest.fixture
def file(workspace: Workspace) -> Iterator[DocumentFile]:
    made = DocumentFile(workspace)
    yield made
    made.close()


def test_save_and_open_give_the_same_project(
    workspace: Workspace, file: DocumentFile, tmp_path: Path
) -> None:
    add_iris(workspace)
    path = tmp_path / "données" / "ß 猫.nloom"
    path.parent.mkdir()
    assert file.save(path)
    assert not workspace.document.modified
    before = workspace.document.project
    file.new()
    assert not workspace.document.project.graph.nodes
    assert file.open(path)
    assert workspace.document.project.graph.nodes == before.graph.nodes
    assert file.name == "ß 猫.nloom"


def test_a_name_without_a_suffix_gets_one(workspace: Workspace, file: DocumentFile, tmp_path: Path) -> None:
    assert file.save(tmp_path / "net")
    assert (tmp_path / "net.nloom").is_file()


@pytest.mark.parametrize("content", [b"", b"{", b"\x00\xff", b'{"neuroloom": 99}', b"[1, 2]"])
def test_a_bad_file_leaves_the_open_document_alone(
    workspace: Workspace, file: DocumentFile, tmp_path: Path, content: bytes, qtbot
) -> None:  # type: ignore[no-untyped-def]
    add_iris(workspace)
    before = workspace.document.project
    path = tmp_path / "bad.nloom"
    path.write_bytes(content)
    with qtbot.waitSignal(workspace.message) as told:
        assert not file.open(path)
    assert told.args[1] == "error"
    assert workspace.document.project is before
    assert workspace.document.modified
    assert file.recent.paths() == []


def test_saving_where_nothing_can_be_written_says_so(
    workspace: Workspace, file: DocumentFile, tmp_path: Path, qtbot
) -> None:  # type: ignore[no-untyped-def]
    add_iris(workspace)
    with qtbot.waitSignal(workspace.message) as told:
        assert not file.save(tmp_path / "no" / "such" / "folder.nloom")
    assert told.args[1] == "error"
    assert workspace.document.modified


def test_recent_files_are_newest_first_and_exist(
    workspace: Workspace, file: DocumentFile, tmp_path: Path
) -> None:
    paths = [tmp_path / f"{name}.nloom" for name in "abc"]
    for path in paths:
        file.save(path)
    assert file.recent.paths() == paths[::-1]
    file.open(paths[1])
    paths[2].unlink()
    assert file.recent.paths() == [paths[1], paths[0]]


def test_an_example_has_no_file_until_it_is_saved(
    workspace: Workspace, file: DocumentFile, tmp_path: Path
) -> None:
    add_iris(workspace)
    file.save(tmp_path / "example.nloom")
    workspace.settings.forget(["files/recent"])
    project = file.read(tmp_path / "example.nloom")
    assert project is not None
    file.show(project, None)
    assert workspace.document.path is None
    assert file.recent.paths() == []


def test_unknown_types_are_named(workspace: Workspace, file: DocumentFile, tmp_path: Path, qtbot) -> None:  # type: ignore[no-untyped-def]
    add_iris(workspace)
    path = tmp_path / "p.nloom"
    file.save(path)
    path.write_text(path.read_text("utf-8").replace('"Linear"', '"FromTheFuture"'), "utf-8")
    with qtbot.waitSignal(workspace.message) as told:
        assert file.open(path)
    assert "FromTheFuture" in told.args[0]


def test_unsaved_work_outlives_a_crash(workspace: Workspace, places: Places, tmp_path: Path, qtbot) -> None:  # type: ignore[no-untyped-def]
    crashing = DocumentFile(workspace)
    crashing.save(tmp_path / "work.nloom")
    add_iris(workspace)
    qtbot.waitUntil(lambda: any(places.autosaves.glob("*.nloom")), timeout=5000)
    crashing.close(keep=True)

    later = Workspace(places)
    file = DocumentFile(later)
    found = file.left_behind()
    assert [one.path for one in found] == [tmp_path / "work.nloom"]
    file.restore(found[0])
    assert set(later.document.project.graph.nodes) == {"n1", "n2", "n3"}
    assert later.document.modified
    assert later.document.path == tmp_path / "work.nloom"
    assert load_project(tmp_path / "work.nloom").graph.nodes == {}
    file.save()
    file.close()
    later.close()
    assert list(places.autosaves.glob("*.nloom")) == []


def test_edits_that_follow_each_other_do_not_keep_a_copy_from_being_written(
    workspace: Workspace, places: Places, file: DocumentFile, qtbot, monkeypatch: pytest.MonkeyPatch
) -> None:  # type: ignore[no-untyped-def]
    """An edit in time keeps the delay running for ever; the greatest age ends it."""
    monkeypatch.setattr(document_file, "AUTOSAVE_DELAY_MS", 10**6)
    monkeypatch.setattr(document_file, "AUTOSAVE_OLDEST_MS", 300)
    for number in range(200):
        workspace.apply("Retitle", SetTitle(f"edit {number}"))
        qtbot.wait(20)
        if any(places.autosaves.glob("*.nloom")):
            break
    assert any(places.autosaves.glob("*.nloom"))


def test_a_copy_that_cannot_be_written_is_told_once_and_tried_again(
    workspace: Workspace, places: Places, file: DocumentFile, qtbot, monkeypatch: pytest.MonkeyPatch
) -> None:  # type: ignore[no-untyped-def]
    monkeypatch.setattr(document_file, "AUTOSAVE_DELAY_MS", 0)
    monkeypatch.setattr(document_file, "AUTOSAVE_AGAIN_MS", 20)
    places.autosaves.parent.mkdir(parents=True, exist_ok=True)
    places.autosaves.write_text("a file where the folder should be")
    told: list[Notice] = []
    file.noticed.connect(told.append)
    add_iris(workspace)
    qtbot.waitUntil(lambda: bool(told), timeout=5000)
    qtbot.wait(200)
    assert [one.kind for one in told] == ["warning"]
    assert told[0].text == (
        "The recovery copy cannot be written: file exists. What is not saved would be lost in a crash."
    )
    places.autosaves.unlink()
    qtbot.waitUntil(lambda: any(places.autosaves.glob("*.nloom")), timeout=5000)


def test_saving_removes_the_recovery_copy(
    workspace: Workspace, places: Places, tmp_path: Path, qtbot
) -> None:  # type: ignore[no-untyped-def]
    file = DocumentFile(workspace)
    add_iris(workspace)
    qtbot.waitUntil(lambda: any(places.autosaves.glob("*.nloom")), timeout=5000)
    file.save(tmp_path / "work.nloom")
    qtbot.waitUntil(lambda: not any(places.autosaves.glob("*.nloom")), timeout=5000)
    file.close()


def test_settings_stay_in_their_places(
    workspace: Workspace, file: DocumentFile, places: Places, tmp_path: Path
) -> None:
    file.save(tmp_path / "a.nloom")
    assert places.settings_file.is_file()
    assert json.dumps(str(tmp_path / "a.nloom")).strip('"') in places.settings_file.read_text("utf-8")
