"""Paths of data files in project files."""

from __future__ import annotations

from pathlib import Path

from engine.document.files import load_project, save_project
from engine.document.graph import Graph, Node, Project
from engine.document.shipped import datasets_folder


def project_with(path: Path | str) -> Project:
    return Project(
        graph=Graph([Node("n1", "TableFile", params={"path": str(path), "text": "a/b"})]), next_id=2
    )


def test_a_file_below_the_project_moves_with_it(tmp_path: Path) -> None:
    first, second = tmp_path / "My Data (1)", tmp_path / "données" / "猫"
    first.mkdir()
    second.mkdir(parents=True)
    save_project(project_with(first / "in" / "ß.csv"), first / "p.nloom")
    assert '"path": "project:in/ß.csv"' in (first / "p.nloom").read_text("utf-8")
    (first / "p.nloom").rename(second / "p.nloom")
    found = load_project(second / "p.nloom").graph.node("n1")
    assert found.params == {"path": str(second / "in" / "ß.csv"), "text": "a/b"}


def test_a_file_elsewhere_keeps_its_absolute_path(tmp_path: Path) -> None:
    there, here = tmp_path / "there" / "x.csv", tmp_path / "here"
    here.mkdir()
    save_project(project_with(there), here / "p.nloom")
    assert load_project(here / "p.nloom") == project_with(there)


def test_an_installed_file_is_found_wherever_the_program_is_installed(tmp_path: Path) -> None:
    project = project_with(datasets_folder() / "files" / "flowers.csv")
    save_project(project, tmp_path / "p.nloom")
    assert '"installed:files/flowers.csv"' in (tmp_path / "p.nloom").read_text("utf-8")
    assert load_project(tmp_path / "p.nloom") == project


def test_saving_leaves_the_project_in_memory_as_it_is(tmp_path: Path) -> None:
    project = project_with(tmp_path / "x.csv")
    save_project(project, tmp_path / "p.nloom")
    assert project == project_with(tmp_path / "x.csv")
