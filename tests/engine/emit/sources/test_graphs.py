"""Graphs in lists of edges and GraphML: a script's lines give what the application reads."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import networkx
import numpy as np
import pytest

from engine.catalogue import Data
from engine.data.open.opening import Opened, open_data
from tests.engine.emit.sources.agreeing import data_of, load_of, same, straightly, strictly, text_of

NODES, WHOLE, MANY = "nodes", "whole graph", "graphs"


def checked(opened: Opened, **changes: Any) -> Data:
    data = data_of(opened, changes)
    same(straightly(data), strictly(data))
    return data


def friends(folder: Path, mark: str = ",", header: str = "") -> Opened:
    """A graph with a loop, parallel edges, weights that some edges lack, and a node that has no edge."""
    draw = np.random.default_rng(1)
    rows = []
    for at in range(60):
        ends = [f"n{draw.integers(24)}" for _ in range(2)]
        if header:
            cells = [f"{at / 7}" if name == "weight" else ends.pop() for name in header.split()]
        else:
            cells = [*ends, *([f"{at / 7}"] if at % 3 else [])]
        rows.append(mark.join(cells))
    rows[7:7] = ["# a comment", "", (mark.join(["n3", "n3"]) if not header else rows[0]), "% another"]
    rows[:0] = [header.replace(" ", mark)] if header else []
    end = {",": ".edges", "\t": ".edges", " ": ".edgelist"}[mark]
    (folder / f"friends{end}").write_text("\n".join(rows), encoding="utf-8-sig")
    table = ["id, age,label,split"]
    table += [f"n{at},{at / 9},{'ab'[at % 2]},{('train', 'val', 'Test', 'no')[at % 4]}" for at in range(25)]
    (folder / "friends.nodes.csv").write_text("\n".join(table), encoding="utf-8")
    return open_data(folder / f"friends{end}")


def many(folder: Path, header: str = "source,target,weight,graph") -> Opened:
    rows, nodes, labels = [header], ["node,graph,size"], ["graph,label,split"]
    for graph in range(16):
        for at in range(3 + graph % 4):
            ends = {"source": at, "target": (at + 1 + graph % 2) % (3 + graph % 4), "weight": at + graph / 3}
            rows.append(",".join(str({**ends, "graph": f"g{graph}"}[name]) for name in header.split(",")))
            nodes.append(f"{at},g{graph},{at * graph / 7}")
        labels.append(f"g{graph},{'ab'[graph % 2]},{('train', 'test', 'val', 'train')[graph % 4]}")
    (folder / "many.edges").write_text("\n".join(rows))
    (folder / "many.nodes.csv").write_text("\n".join(nodes))
    (folder / "many.graphs.csv").write_text("\n".join(labels))
    return open_data(folder / "many.edges")


def graphml(path: Path) -> None:
    graph = networkx.karate_club_graph()
    for at, more in graph.nodes(data=True):
        more.update(side="ab"[at % 2], age=at / 3)
    path.parent.mkdir(parents=True, exist_ok=True)
    networkx.write_graphml(graph, path)


def in_a_folder(folder: Path, splits: tuple[str, ...] = ("",)) -> Opened:
    for at in range(18):
        place = folder / "rings" / splits[at % len(splits)] / "ab"[at % 2]
        place.mkdir(parents=True, exist_ok=True)
        rows = [f"{one},{(one + 1) % (3 + at % 5)}" for one in range(3 + at % 5)]
        (place / f"{at}.edges").write_text("\n".join(rows))
        table = ["name,size", *(f"{one},{one * at / 7}" for one in range(3 + at % 5))]
        (place / f"{at}.nodes.csv").write_text("\n".join(table))
    return open_data(folder / "rings")


@pytest.mark.parametrize("examples", [NODES, WHOLE])
@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("mark", [",", "\t", " "])
def test_one_graph_is_read_alike(mark: str, directed: bool, examples: str, tmp_path: Path) -> None:
    opened = friends(tmp_path, mark)
    assert opened.params["target"] == "label" and opened.params["features"] == ("age",)
    checked(opened, examples=examples, directed=directed, size=25)


@pytest.mark.parametrize("header", ["source target weight", "From to weight", "a weight b", "dst src"])
def test_columns_of_edges_in_any_order(header: str, tmp_path: Path) -> None:
    opened = friends(tmp_path, header=header)
    assert opened.params["header"]
    checked(opened)
    checked(opened, examples=WHOLE, size=25)


@pytest.mark.parametrize(
    "changes",
    [
        {"features": ()},
        {"target": "", "features": (), "split": "random"},
        {"target": "", "split": "random"},
        {"split": "by class"},
        {"split": "by class", "examples": WHOLE},
        {"split": "as given", "target": ""},
        {"split": "in time"},
        {"split": "folds", "folds": 3},
        {"balance": "repeat the rare"},
        {"repeats": "left out", "features": ()},
    ],
    ids=str,
)
def test_every_option_of_one_graph_is_read_alike(changes: dict[str, Any], tmp_path: Path) -> None:
    checked(friends(tmp_path), size=25, **changes)


def test_a_graph_without_a_table_of_nodes(tmp_path: Path) -> None:
    friends(tmp_path)
    (tmp_path / "friends.nodes.csv").unlink()
    opened = open_data(tmp_path / "friends.edges")
    checked(opened)
    checked(opened, examples=WHOLE, directed=True)


@pytest.mark.parametrize("batches", ["padded", "block-diagonal"])
@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"directed": True},
        {"features": ()},
        {"classes": (), "split": "random"},
        {"split": "as given"},
        {"split": "as given", "classes": ()},
        {"split": "bootstrap"},
        {"repeats": "in one split", "split": "random", "features": ()},
        {"balance": "thin the common"},
    ],
    ids=str,
)
def test_many_graphs_of_a_file_are_read_alike(changes: dict[str, Any], batches: str, tmp_path: Path) -> None:
    checked(many(tmp_path), batches=batches, **changes)


@pytest.mark.parametrize("batches", ["padded", "block-diagonal"])
def test_many_graphs_without_weights_or_tables(batches: str, tmp_path: Path) -> None:
    many(tmp_path, "graph,target,source")
    (tmp_path / "many.nodes.csv").unlink()
    (tmp_path / "many.graphs.csv").unlink()
    checked(open_data(tmp_path / "many.edges"), batches=batches)


@pytest.mark.parametrize("batches", ["padded", "block-diagonal"])
@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"directed": True, "features": ()},
        {"split": "random", "classes": ()},
        {"repeats": "left out", "split": "random"},
    ],
    ids=str,
)
def test_a_folder_of_graphs_is_read_alike(changes: dict[str, Any], batches: str, tmp_path: Path) -> None:
    checked(in_a_folder(tmp_path), batches=batches, **changes)


@pytest.mark.parametrize("batches", ["padded", "block-diagonal"])
def test_a_folder_with_splits_is_read_alike(batches: str, tmp_path: Path) -> None:
    opened = in_a_folder(tmp_path, ("train", "train", "train", "test", "val"))
    data = checked(opened, split="as given", batches=batches)
    assert len(data.columns()) > 3


def test_many_features_with_long_names_fit_on_lines(tmp_path: Path) -> None:
    names = [f"what is known of the node in column {at}" for at in range(40)]
    (tmp_path / "a.edges").write_text("".join(f"{at} {(at + 1) % 12}\n" for at in range(12)))
    rows = [
        ",".join([str(at), *(str(at / (one + 1)) for one in range(40)), "ab"[at % 2]]) for at in range(12)
    ]
    (tmp_path / "a.nodes.csv").write_text("\n".join([",".join(["id", *names, "label"]), *rows]))
    opened = open_data(tmp_path / "a.edges")
    assert opened.params["features"] == tuple(names)
    checked(opened)


def test_graphml_is_read_alike(tmp_path: Path) -> None:
    graphml(tmp_path / "karate.graphml")
    opened = open_data(tmp_path / "karate.graphml")
    checked(opened)
    checked(opened, examples=WHOLE)
    for at in range(12):
        graphml(tmp_path / "folder" / "ab"[at % 2] / f"{at}.graphml")
    for batches in ("padded", "block-diagonal"):
        checked(open_data(tmp_path / "folder"), batches=batches)


def test_what_the_network_does_not_use_is_not_made(tmp_path: Path) -> None:
    data = data_of(many(tmp_path), {"batches": "block-diagonal"})
    assert "weights" in text_of(data) and "rows_of_weights" not in text_of(data, "sizes", "nodes", "edges")
    expected = strictly(data)
    wanted = ("sizes", "edges")
    found = straightly(data, *wanted)
    same(found, {split: {name: part[name] for name in wanted} for split, part in expected.items()})


def gone(path: Path) -> None:
    path.unlink()


def emptied(path: Path) -> None:
    path.write_bytes(b"")


def cut(path: Path) -> None:
    path.write_text("source,target,weight,graph\n1")


def no_text(path: Path) -> None:
    path.write_bytes(b"\xff\x00\xfe" * 30)


@pytest.mark.parametrize("change", [gone, emptied, cut, no_text])
@pytest.mark.parametrize("name", ["many.edges", "many.nodes.csv", "many.graphs.csv"])
def test_a_graph_that_has_changed_gets_a_sentence(
    name: str, change: Callable[[Path], None], tmp_path: Path
) -> None:
    load = load_of(data_of(many(tmp_path)))
    change(tmp_path / name)
    with pytest.raises(SystemExit, match="is not as it was"):
        load(tmp_path, "cpu")


def test_larger_graphs_and_other_classes_get_a_sentence(tmp_path: Path) -> None:
    load = load_of(data_of(many(tmp_path), {"features": ()}))
    with open(tmp_path / "many.edges", "a") as file:
        file.writelines(f"\n{at},{at + 1},1,g3" for at in range(9))
    with pytest.raises(SystemExit, match="A graph has 10 nodes, more than the 6 that the largest had"):
        load(tmp_path, "cpu")
    load = load_of(data_of(in_a_folder(tmp_path)))
    (tmp_path / "rings" / "c").mkdir()
    (tmp_path / "rings" / "c" / "1.edges").write_text("1,2")
    with pytest.raises(SystemExit, match="is not as it was"):
        load(tmp_path / "rings", "cpu")
