"""The gallery as the welcome page reads it."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.window import welcome
from app.window.welcome import WelcomePage, example_path, examples
from app.workspace.document_file import DocumentFile
from app.workspace.workspace import Workspace
from engine.document.files import load_project


def test_cards_say_what_the_projects_say() -> None:
    found = examples()
    assert {example.path.stem for example in found} >= {
        "mnist-cnn",
        "mnist-mlp",
        "iris",
        "santa-fe-lstm",
        "two-heads",
    }
    for example in found:
        project = load_project(example.path)
        assert example.title == project.title
        assert example.notes == project.notes
        assert example.types == {node.id: node.type for node in project.graph.nodes.values()}
        assert set(example.links) == {(link.source, link.target) for link in project.graph.links}
        assert example.line.endswith((".", "?", "!"))
        assert example.covers
        assert len(example.line) <= 120  # what a card has room for
    assert [example.path.stem for example in found[:2]] == ["mnist-cnn", "two-spirals"]


@pytest.mark.logs("cannot be read")
def test_a_broken_example_is_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "broken.nloom").write_text("{}", "utf-8")
    (tmp_path / "iris.nloom").write_bytes(example_path("iris").read_bytes())
    monkeypatch.setattr(welcome, "example_path", lambda name: tmp_path / f"{name}.nloom")
    assert [example.path.stem for example in examples()] == ["iris"]


def test_recent_files_are_listed_once_saved(workspace: Workspace, qtbot, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    file = DocumentFile(workspace)
    page = WelcomePage(workspace.catalogue, file.recent)
    qtbot.addWidget(page)
    page.show()
    assert not page._recent_title.isVisible()
    file.save(tmp_path / "flowers.nloom")
    assert page._recent_title.isVisible()
    assert page._recent.count() == 1
    file.close()


def test_cards_fill_the_width(workspace: Workspace, qtbot) -> None:  # type: ignore[no-untyped-def]
    file = DocumentFile(workspace)
    page = WelcomePage(workspace.catalogue, file.recent)
    qtbot.addWidget(page)
    page.show()
    page.resize(1440, 900)
    assert page._grid.columnCount() >= 4
    page.resize(640, 700)
    assert page._columns == 2
    file.close()
