"""Graphs: edges and nodes as they are in the file, whole, padded or as one matrix of blocks."""

from __future__ import annotations

from pathlib import Path

import networkx as nx
import pytest
import torch

from engine.data.graphs.files import read_graphml
from engine.data.open.opening import open_data
from engine.document.shipped import datasets_folder
from engine.errors import DataError
from tests.engine.data.test_array_files import loaded

KARATE = datasets_folder() / "files" / "karate.edges"


def test_the_karate_club_is_that_of_networkx() -> None:
    club = nx.karate_club_graph()
    whole = loaded(open_data(KARATE), examples="whole graph")
    found = whole["train"]
    assert torch.equal(found["adjacency"][0], torch.from_numpy(nx.to_numpy_array(club)).float())
    assert found["nodes"][0, :, -1].tolist() == [degree for _, degree in club.degree()]
    labels = [("Mr. Hi", "Officer").index(known["club"]) for _, known in club.nodes(data=True)]
    assert found["label"][0].tolist() == labels
    masks = torch.stack([part["mask"][0] for part in whole.values()])
    assert masks.sum(0).tolist() == [1] * 34  # each node in one split
    assert masks.sum(1).tolist() == [20, 7, 7]


def test_nodes_are_examples(tmp_path: Path) -> None:
    (tmp_path / "g.edges").write_text("a b\nb c\nc a\nc d\n")
    (tmp_path / "g.nodes.csv").write_text(
        "id,age,label,split,note\nd,4,x,test,hi\na,1,y,train,\nb,2,x,train,\nc,3,y,val,\n"
    )
    opened = open_data(tmp_path / "g.edges")
    assert opened.params["split"] == "as given" and "no numbers: note" in " ".join(opened.remarks)
    splits = loaded(opened)
    assert splits["test"]["features"].tolist() == [[4, 1]] and splits["test"]["label"].tolist() == [0]
    assert splits["train"]["features"].tolist() == [[1, 2], [2, 2]]
    assert splits["validation"]["features"].tolist() == [[3, 3]]


@pytest.mark.parametrize("mark", [",", ";", "\t", " "])
def test_edges_may_be_parted_in_many_ways(tmp_path: Path, mark: str) -> None:
    rows = ["source target weight", "1 2 0.5", "2 3 2", "3 3 4", "1 2 1"]
    (tmp_path / "g.edges").write_text("\n".join(row.replace(" ", mark) for row in rows))
    opened = open_data(tmp_path / "g.edges")
    found = loaded(opened, examples="whole graph", split="random", validation=0.34, test=0.34)["train"]
    assert found["adjacency"][0].tolist() == [[0, 1.5, 0], [1.5, 0, 2], [0, 2, 4]]
    led = loaded(opened, examples="whole graph", split="random", validation=0.34, test=0.34, directed=True)
    assert led["train"]["adjacency"][0].tolist() == [[0, 0, 0], [1.5, 0, 0], [0, 2, 4]]


def test_graphml_is_read_with_its_nodes(tmp_path: Path) -> None:
    graph = nx.Graph([("a", "b", {"weight": 2.0}), ("b", "c", {"weight": 0.5})])
    for number, node in enumerate(graph):
        graph.nodes[node].update(size=number + 0.5, label="even" if number % 2 == 0 else "odd")
    nx.write_graphml(graph, tmp_path / "g.graphml")
    opened = open_data(tmp_path / "g.graphml")
    assert (opened.params["features"], opened.params["classes"]) == (("size",), ("even", "odd"))
    found = loaded(opened, examples="whole graph", validation=0.34, test=0.34, split="random")["train"]
    assert found["nodes"][0].tolist() == [[0.5, 1], [1.5, 2], [2.5, 1]]
    assert found["adjacency"][0].tolist() == [[0, 2, 0], [2, 0, 0.5], [0, 0.5, 0]]


BOMB = """<?xml version="1.0"?>
<!DOCTYPE g [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;"><!ENTITY c "&b;&b;&b;&b;">]>
<graphml><graph edgedefault="directed"><node id="&c;"/></graph></graphml>"""


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_entities_are_refused(tmp_path: Path, encoding: str) -> None:
    text = BOMB.replace('"1.0"', f'"1.0" encoding="{encoding}"')
    (tmp_path / "g.graphml").write_text(text, encoding=encoding)
    with pytest.raises(DataError, match="DOCTYPE"):
        open_data(tmp_path / "g.graphml")
    with pytest.raises(ValueError, match="DOCTYPE"):
        read_graphml(tmp_path / "g.graphml")


MALFORMED = {
    "a.graphml": (b"<graphml><graph>", "not whole XML"),
    "b.graphml": (b"hello", "not whole XML"),
    "c.graphml": (b"<graphml/>", "cannot be read as GraphML"),
    "a.edges": (b"a b\nc\n", "edge 2"),
    "b.edges": (b"a b 1\nb c much\n", "edge 2"),
    "c.edges": (b"a b inf\n", "weight is inf"),
    "d.edges": (b"\xff\xfe\0\0", "not text in UTF-8"),
    "e.edges": (b"# nothing\n\n", "no edges"),
    "f.edges": (b"source,target\n", "no edges"),
}


@pytest.mark.parametrize("name", MALFORMED)
def test_a_broken_graph_is_a_sentence(tmp_path: Path, name: str) -> None:
    content, said = MALFORMED[name]
    (tmp_path / name).write_bytes(content)
    with pytest.raises(DataError) as caught:
        open_data(tmp_path / name)
    assert said in str(caught.value) and str(caught.value).endswith(".")


def test_a_ragged_table_of_nodes_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "g.edges").write_text("a b\n")
    (tmp_path / "g.nodes.csv").write_text("id,age\na,1\nb\n")
    with pytest.raises(DataError, match=r"g\.nodes\.csv, row 3 has 1 cells, not 2"):
        open_data(tmp_path / "g.edges")


@pytest.fixture
def many(tmp_path: Path) -> Path:
    """Nine graphs: rings and stars of 3 to 5 nodes."""
    rows, labels = ["graph,source,target"], ["graph,label"]
    for number in range(10):
        count = 3 + number % 3
        made = nx.cycle_graph(count) if number % 2 else nx.star_graph(count - 1)
        rows += [f"g{number},{a},{b}" for a, b in made.edges]
        labels.append(f"g{number},{'ring' if number % 2 else 'star'}")
    (tmp_path / "many.edges").write_text("\n".join(rows))
    (tmp_path / "many.graphs.csv").write_text("\n".join(labels))
    return tmp_path / "many.edges"


def test_many_graphs_are_padded(many: Path) -> None:
    opened = open_data(many)
    assert (opened.params["examples"], opened.params["count"], opened.params["size"]) == ("graphs", 10, 5)
    assert opened.params["classes"] == ("ring", "star")
    splits = loaded(opened, split="in time", validation=0.2, test=0.2)
    first = splits["train"]
    assert first["mask"][0].tolist() == [1, 1, 1, 0, 0]
    assert first["adjacency"][0, :3, :3].tolist() == [[0, 1, 1], [1, 0, 0], [1, 0, 0]]
    assert first["nodes"][0].tolist() == [[2], [1], [1], [0], [0]]
    assert first["label"].tolist() == [1, 0] * 3
    assert not first["adjacency"][0, 3:].any() and not first["adjacency"][0, :, 3:].any()


def test_a_graph_without_a_label_is_a_sentence(many: Path) -> None:
    opened = open_data(many)
    many.with_name("many.graphs.csv").write_text("graph,label\ng0,ring\n")
    with pytest.raises(ValueError, match="label '' in row 2 is none of the classes"):
        loaded(opened)
