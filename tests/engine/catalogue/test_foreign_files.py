"""Data outside of a project's folder are withheld, and nothing looks there, until the person agrees."""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from engine.catalogue.foreign_files import foreign, held, on_another_computer, withheld
from engine.data.loading.node import read_node
from engine.document.files import from_text, load_project, save_project
from engine.document.graph import Graph, Node, Project
from engine.document.paths import ASK
from engine.document.shipped import datasets_folder
from engine.emit.script import export_script
from engine.errors import DataError, NeuroloomError
from engine.shapes.shapes import check
from tests.engine.sketches import apply, catalogue


def reading(path: str, type_id: str = "TableFile", **params: Any) -> Project:
    return Project(graph=Graph([Node("n1", type_id, "own", {"path": path, **params})]), next_id=2)


def nobody(path: str) -> bool:
    return False


def held_in(project: Project, home: Path) -> frozenset[str]:
    return held(withheld(project, catalogue(), home, nobody))


NETWORK = (
    *("//host/share/x.csv", "\\\\host\\share\\x.csv", "smb://host/x.csv", "file://host/x.csv"),
    *("/net/host/x.csv", "/afs/cell/x.csv", "nfs://host/x", "http://host/x.csv"),
)


@pytest.mark.parametrize("path", NETWORK)
def test_names_of_other_computers_are_withheld(path: str, tmp_path: Path) -> None:
    assert on_another_computer(path) and held_in(reading(path), tmp_path) == {path}
    (problem,) = [
        one
        for one in check(withheld(reading(path), catalogue(), tmp_path, nobody), catalogue()).problems
        if one.code == "ask"
    ]
    assert "“x" in problem.message and "on another computer" in problem.message


@pytest.mark.parametrize("path", ["/etc/passwd", "{home}/../x.csv", "../x.csv", "{home}x/x.csv"])
def test_paths_out_of_the_folder_are_withheld(
    path: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    path = path.format(home=tmp_path)
    assert not on_another_computer(path) and held_in(reading(path), tmp_path) == {path}


def test_what_lies_in_the_folder_is_installed_or_known_is_read(tmp_path: Path) -> None:
    inner = str(tmp_path / "data" / "x.csv")
    assert not held_in(reading(inner), tmp_path) and not held_in(reading(""), tmp_path)
    assert not held_in(reading(str(datasets_folder() / "files" / "flowers.csv")), tmp_path)
    assert not held_in(reading("project:../x.csv"), tmp_path)  # no path at all
    downloads = reading("/elsewhere/cifar", "Cifar10")
    assert not list(foreign(downloads, catalogue(), tmp_path, [Path("/elsewhere")]))


def test_a_link_out_of_the_folder_is_followed_no_further(tmp_path: Path) -> None:
    home = tmp_path / "home"
    (home / "real").mkdir(parents=True)
    (home / "inner").symlink_to(home / "real")
    (home / "out").symlink_to(tmp_path)
    (home / "far").symlink_to("/net/host")
    (home / "round").symlink_to(home / "round")
    (home / "chain").symlink_to(home / "out")
    assert not held_in(reading(str(home / "inner" / "x.csv")), home)
    for name in ("out", "far", "round", "chain"):
        assert held_in(reading(str(home / name / "x.csv")), home)


def test_files_beside_the_first_are_looked_at_too(tmp_path: Path) -> None:
    pairs = reading(str(tmp_path / "a.txt"), "TextPairs", other="//host/b.txt")
    assert held_in(pairs, tmp_path) == {"//host/b.txt"}
    assert held_in(reading(str(tmp_path / "a.txt"), "TextPairs", other="../b.txt"), tmp_path) == {"../b.txt"}
    images = reading(str(tmp_path), "ImageFolder", list_file="../../x.csv")
    assert held_in(images, tmp_path) == {"../../x.csv"}
    assert not held_in(reading(str(tmp_path), "ImageFolder", list_file="x.csv"), tmp_path)


def test_agreeing_reads_it_and_saving_keeps_the_path_as_it_was(tmp_path: Path) -> None:
    save_project(reading("/net/host/x.csv"), tmp_path / "p.nloom")
    found = withheld(load_project(tmp_path / "p.nloom"), catalogue(), tmp_path, nobody)
    assert found.graph.node("n1").params["path"] == f"{ASK}/net/host/x.csv"
    save_project(found, tmp_path / "p.nloom")
    assert '"path": "/net/host/x.csv"' in (tmp_path / "p.nloom").read_text("utf-8")
    (problem,) = [one for one in check(found, catalogue()).problems if one.code == "ask"]
    assert problem.fix is not None and problem.fix.label == "Read it"
    apply(found, problem.fix.edits(found))
    assert found.graph.node("n1").params["path"] == "/net/host/x.csv"
    agreed = withheld(found, catalogue(), tmp_path, lambda path: path == "/net/host/x.csv")
    assert agreed is found


@pytest.fixture
def looked(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """Every path that Python looks at."""
    seen: list[str] = []

    def watch(place: Any, name: str) -> None:
        true: Callable[..., Any] = getattr(place, name)

        def watching(path: Any = ".", *args: Any, **kwargs: Any) -> Any:
            seen.append(os.fspath(path) if not isinstance(path, int) else "")
            return true(path, *args, **kwargs)

        monkeypatch.setattr(place, name, watching)

    for name in ("stat", "lstat", "readlink", "scandir", "listdir", "open"):
        watch(os, name)
    watch(io, "open")
    yield seen


def test_nothing_looks_at_a_path_before_it_is_agreed_to(tmp_path: Path, looked: list[str]) -> None:
    (tmp_path / "far").symlink_to("/net/host")
    for path in ("/net/host/x.csv", str(tmp_path / "far" / "x.csv"), "//host/share/x.csv"):
        save_project(reading(path), tmp_path / "p.nloom")
        looked.clear()
        project = withheld(load_project(tmp_path / "p.nloom"), catalogue(), tmp_path, nobody)
        check(project, catalogue())
        with pytest.raises(DataError, match="before you agree"):
            read_node(project.graph.node("n1"), catalogue())
        with pytest.raises(NeuroloomError, match="before you agree"):
            export_script(project, catalogue())
        save_project(project, tmp_path / "p.nloom")
        assert looked  # the project's own file
        assert not [one for one in looked if "host" in one or one.endswith("x.csv")]


def test_a_text_from_elsewhere_has_no_folder() -> None:
    text = '{"neuroloom": 1}'
    try:
        project = from_text(text, "example")
    except NeuroloomError:
        project = Project()
    assert withheld(project, catalogue(), None, nobody) is project
