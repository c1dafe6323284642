"""A project that names data outside of its folder: asked once, then remembered on this computer."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from app.workspace.data_files import DataFiles
from app.workspace.document_file import DocumentFile
from app.workspace.workspace import Workspace
from engine.data.open.opening import open_data
from engine.document.edits import AddNodes
from engine.document.files import save_project
from engine.document.graph import Graph, Node, Project
from engine.shapes.problems import Problem


@pytest.fixture
def file(shaped: Workspace) -> Iterator[DocumentFile]:
    made = DocumentFile(shaped)
    yield made
    made.close()


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "data" / "own.csv"
    path.parent.mkdir()
    rows = [f"{row},{row % 7},{'ab'[row % 2]}" for row in range(40)]
    path.write_text("\n".join(["width,height,kind", *rows]))
    return path


def asked(workspace: Workspace) -> list[Problem]:
    assert workspace.shapes is not None
    return [one for one in workspace.shapes.problems if one.code == "ask"]


def project_of(table: Path) -> Project:
    opened = open_data(table)
    return Project(graph=Graph([Node("n1", opened.type, "own", opened.params)]), next_id=2)


def test_it_is_asked_once_and_remembered_for_this_project(
    shaped: Workspace, file: DocumentFile, table: Path, tmp_path: Path
) -> None:
    files = DataFiles(shaped, shaped)
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        save_project(project_of(table), tmp_path / name / "p.nloom")
    assert file.open(tmp_path / "one" / "p.nloom")
    (problem,) = asked(shaped)
    assert problem.severity == "error" and "“own.csv” is outside the project's folder" in problem.message
    assert files.reads() == []
    assert problem.fix is not None
    assert shaped.apply(problem.fix.label, *problem.fix.edits(shaped.document.project))
    assert not asked(shaped) and [one.path for one in files.reads()] == [str(table)]
    assert file.open(tmp_path / "one" / "p.nloom") and not asked(shaped)
    assert file.open(tmp_path / "two" / "p.nloom") and asked(shaped)  # another project


def test_what_was_put_in_and_saved_here_is_not_asked_for(
    shaped: Workspace, file: DocumentFile, table: Path, tmp_path: Path
) -> None:
    opened = open_data(table)
    assert shaped.apply("Add", AddNodes((Node("n1", opened.type, "own", opened.params),)))
    (tmp_path / "here").mkdir()
    assert file.save(tmp_path / "here" / "p.nloom")
    assert file.open(tmp_path / "here" / "p.nloom") and not asked(shaped)
    text = (tmp_path / "here" / "p.nloom").read_text("utf-8").replace(str(table.parent), "/net/host")
    (tmp_path / "here" / "p.nloom").write_text(text)
    assert file.open(tmp_path / "here" / "p.nloom") and asked(shaped)  # another folder


def test_saving_agrees_to_nothing(shaped: Workspace, file: DocumentFile, table: Path, tmp_path: Path) -> None:
    (tmp_path / "here").mkdir()
    path = tmp_path / "here" / "p.nloom"
    save_project(project_of(table), path)
    assert file.open(path) and file.save(path)
    assert f'"path": "{table}"' in path.read_text("utf-8")
    assert file.open(path) and asked(shaped)
