"""A folder of graphs, and lists of edges in other files of text."""

from __future__ import annotations

from pathlib import Path

import networkx as nx
import pytest
import torch

from engine.data.open.graphs import open_it
from engine.data.open.opening import open_data
from engine.data.watch import Watch
from engine.errors import DataError
from tests.engine.data.test_array_files import loaded


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Rings and stars of 3 to 6 nodes, a file for each."""
    for number in range(12):
        count = 3 + number % 4
        kind = "ring" if number % 2 else "star"
        made = nx.cycle_graph(count) if number % 2 else nx.star_graph(count - 1)
        (tmp_path / "My graphs (1)" / kind).mkdir(parents=True, exist_ok=True)
        text = "source,target\n" + "".join(f"v{a},v{b}\n" for a, b in made.edges)
        (tmp_path / "My graphs (1)" / kind / f"{number:02}.edges").write_text(text)
    return tmp_path / "My graphs (1)"


def test_each_file_is_a_graph_and_each_folder_a_class(folder: Path) -> None:
    opened = open_data(folder)
    assert opened.type == "GraphFolder" and opened.params["classes"] == ("ring", "star")
    assert (opened.params["count"], opened.params["size"], opened.params["edges"]) == (12, 6, 48)
    assert opened.remarks[0] == "12 graphs of 3 to 6 nodes."
    padded = loaded(opened, split="random", validation=0.25, test=0.25)
    packed = loaded(opened, split="random", validation=0.25, test=0.25, batches="block-diagonal")
    for split, part in padded.items():
        there = part["mask"].bool()
        assert torch.equal(packed[split]["nodes"][:], part["nodes"][there])
        assert torch.equal(packed[split]["sizes"], there.sum(1))
        assert torch.equal(packed[split]["label"], part["label"])
        degrees = part["adjacency"].sum(2)
        assert torch.equal(degrees, part["nodes"][..., 0])
        stars = degrees.amax(1) == part["mask"].sum(1) - 1
        rings = (degrees == 2 * part["mask"]).all(1)
        assert torch.equal(torch.where(rings, 0, torch.where(stars, 1, 2)), part["label"])


def test_graphml_and_tables_tell_of_nodes(tmp_path: Path) -> None:
    for number in range(3):
        graph = nx.path_graph(2 + number)
        for node in graph:
            graph.nodes[node].update(heat=0.5 * node, note="x")
        nx.write_graphml(graph, tmp_path / f"{number}.graphml")
    opened = open_data(tmp_path)
    assert opened.params["form"] == "GraphML" and opened.params["features"] == ("heat",)
    assert "no numbers of every node: note" in " ".join(opened.remarks)
    assert "There are no labels" in " ".join(opened.remarks)
    found = loaded(opened, split="in time", validation=0.34, test=0.34, batches="block-diagonal")
    assert found["test"]["nodes"][0].tolist() == [[0, 1], [0.5, 2], [1, 2], [1.5, 1]]
    (tmp_path / "0.edges").write_text("a b\n")
    with pytest.raises(DataError, match="both GraphML and lists of edges"):
        open_data(tmp_path)


def test_folders_may_be_splits(folder: Path) -> None:
    for split in ("train", "val", "test"):
        for kind in ("ring", "star"):
            (folder / split / kind).mkdir(parents=True)
            for number in range(2):
                (folder / split / kind / f"{number}.edges").write_text("source,target\na,b\n")
    for kind in ("ring", "star"):
        for file in (folder / kind).iterdir():
            file.unlink()
    opened = open_data(folder)
    assert opened.params["split"] == "as given"
    found = loaded(opened)
    assert {split: len(part["label"]) for split, part in found.items()} == dict.fromkeys(found, 4)


BROKEN = {
    "alone": ("a,b\n", "", "lies beside the folders"),
    "short": ("ring/x", "source,target\na\n", r"In ring: x\.edges, edge 2"),
    "many": ("ring/x", "graph,source,target\ng,a,b\n", "holds several graphs"),
    "empty": ("ring/x", "source,target\n", "no edges and no nodes"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_file_of_a_folder_is_a_sentence(folder: Path, name: str) -> None:
    at, text, said = BROKEN[name]
    (folder / (f"{at}.edges" if "/" in at else "loose.edges")).write_text(text or at)
    with pytest.raises(DataError, match=said):
        open_data(folder)


def test_what_is_not_a_class_any_more_is_a_sentence(folder: Path) -> None:
    opened = open_data(folder)
    (folder / "ring").rename(folder / "wheel")
    with pytest.raises(ValueError, match="'wheel' is none of the 2 classes"):
        loaded(opened)
    (folder / "star").rename(folder.parent / "star")
    (folder / "wheel").rename(folder.parent / "wheel")
    with pytest.raises(ValueError, match="no graphs below"):
        loaded(opened)


FORMS = {
    "plain.csv": ("1,2\n2,3,\n", None),
    "headed.csv": ("source,target,weight\n1,2,0.5\n2,3,2\n", True),
    "turned.csv": ("when,weight,target,source\n9,0.5,2,1\n8,2,3,2\n", True),
    "unknown.csv": ("first,second,strength\n1,2,0.5\n2,3,2\n", True),
    "weighted.txt": ("a b 0.5\nb c 2\n", False),
    "tabbed.tsv": ("a\tb\nb\tc\n", False),
}


@pytest.mark.parametrize("name", FORMS)
def test_a_list_of_edges_may_be_a_table_with_and_without_a_header(tmp_path: Path, name: str) -> None:
    text, header = FORMS[name]
    (tmp_path / name).write_text(text)
    if header is None:
        with pytest.raises(DataError, match="edge 2"):  # a weight that is not there
            open_it(tmp_path / name, Watch())
        return
    opened = open_it(tmp_path / name, Watch())
    assert (opened.params["header"], opened.params["count"], opened.params["edges"]) == (header, 3, 2)
    found = loaded(opened, examples="whole graph", split="random", validation=0.34, test=0.34)["train"]
    heavy = name in ("headed.csv", "turned.csv", "weighted.txt")
    one, other = (0.5, 2) if heavy else (1, 1)
    assert found["adjacency"][0].tolist() == [[0, one, 0], [one, 0, other], [0, other, 0]]
    unread = {"turned.csv": "when is not read", "unknown.csv": "strength is not read"}.get(name)
    assert unread is None or unread in " ".join(opened.remarks)


def test_a_table_of_something_else_is_no_list_of_edges(tmp_path: Path) -> None:
    (tmp_path / "iris.csv").write_text("5.1,3.5,1.4,0.2,setosa\n4.9,3,1.4,0.2,setosa\n")
    with pytest.raises(DataError, match="5 cells in its first line"):
        open_it(tmp_path / "iris.csv", Watch())


def test_graphs_too_large_to_fill_up_lie_side_by_side(tmp_path: Path) -> None:
    rows = [f"g0,{node},{node + 1}" for node in range(9000)] + ["g1,0,1"]
    (tmp_path / "large.edges").write_text("graph,source,target\n" + "\n".join(rows))
    opened = open_data(tmp_path / "large.edges")
    assert opened.params["batches"] == "block-diagonal" and "618 MiB" in " ".join(opened.remarks)
