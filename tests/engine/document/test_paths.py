"""Paths of data files in project files."""

from __future__ import annotations

from pathlib import Path

import pytest

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


@pytest.mark.parametrize(
    "name", ["../secret.csv", "{outside}", "a/../../secret.csv", "link/secret.csv", "link.csv", "a\0b"]
)
def test_a_name_in_a_file_never_leads_out_of_its_folder(name: str, tmp_path: Path) -> None:
    """It stays the name it is, under which there is no file."""
    here = tmp_path / "here"
    here.mkdir()
    (secret := tmp_path / "secret.csv").write_text("a,b\n1,2\n")
    (here / "link").symlink_to(tmp_path)
    (here / "link.csv").symlink_to(secret)
    value = f"project:{name.format(outside=secret)}"
    save_project(project_with(value), here / "p.nloom")
    assert load_project(here / "p.nloom").graph.node("n1").params["path"] == value


def test_a_file_that_a_link_leads_to_keeps_its_absolute_path(tmp_path: Path) -> None:
    here, data = tmp_path / "here", tmp_path / "data"
    here.mkdir()
    data.mkdir()
    (here / "data").symlink_to(data)
    (here / "inner").symlink_to(here / "own")
    linked = project_with(here / "data" / "x.csv")
    save_project(linked, here / "p.nloom")
    assert (
        "project:" not in (here / "p.nloom").read_text("utf-8") and load_project(here / "p.nloom") == linked
    )
    inner = project_with(here / "inner" / "x.csv")
    save_project(inner, here / "p.nloom")
    assert (
        "project:inner" in (here / "p.nloom").read_text("utf-8") and load_project(here / "p.nloom") == inner
    )
