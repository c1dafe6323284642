"""Public sets know where their files are, with and without a folder of the person's own."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.catalogue import Data, load_catalogue
from engine.data.sets.public_files import public_set
from engine.document.graph import Graph, Link, Node, Project
from engine.emit.script import export_script
from nodes.data.public_sets import GROUPS, HUNDRED, Cifar10, FashionMnist, Public

SETS = [one for one in load_catalogue().types() if issubclass(one, Public)]


def test_all_image_sets_are_in_the_palette() -> None:
    assert {one.public for one in SETS} == {"fashion-mnist", "kmnist", "cifar-10", "cifar-100"}


@pytest.mark.parametrize("kind", SETS, ids=[one.type_id for one in SETS])
def test_the_downloads_are_looked_for_unless_a_folder_is_named(
    kind: type[Public], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NEUROLOOM_HOME", str(tmp_path))
    assert kind().folder() == tmp_path / "datasets" / kind.public
    assert kind({"path": str(tmp_path / "mine")}).folder() == tmp_path / "mine"
    found = public_set(kind.public)
    assert found is not None and kind.title == found.title
    assert kind().holds() == (f"the files of {kind.title}",)


def test_other_data_are_not_for_download() -> None:
    others = [
        one for one in load_catalogue().types() if issubclass(one, Data) and not issubclass(one, Public)
    ]
    assert others and not any(one.public for one in others)


def test_the_names_of_the_hundred_are_in_the_order_of_the_files() -> None:
    assert len(HUNDRED) == len(set(HUNDRED)) == 100 and list(HUNDRED) == sorted(HUNDRED)
    assert len(GROUPS) == 20 and list(GROUPS) == sorted(GROUPS)
    assert [column.shape for column in Cifar10().columns()] == [(3, 32, 32), ()]


def test_the_script_asks_for_the_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NEUROLOOM_HOME", str(tmp_path))
    nodes = [
        Node("n1", FashionMnist.type_id),
        Node("n2", "Flatten"),
        Node("n3", "Linear", params={"units": 10}),
        Node("n4", "CrossEntropy"),
    ]
    links = [
        Link("n1", "image", "n2", "x"),
        Link("n2", "output", "n3", "x"),
        Link("n3", "output", "n4", "prediction"),
        Link("n1", "article", "n4", "target"),
    ]
    text = export_script(Project(graph=Graph(nodes, links), next_id=5), load_catalogue()).text
    assert f'"{(tmp_path / "datasets" / "fashion-mnist").as_posix()}"' in text
    assert "folder that holds the files of Fashion-MNIST" in text
    assert "idx_bytes(folder / " in text and '"article": classes[:, 0]' in text
