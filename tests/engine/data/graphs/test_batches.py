"""Graphs side by side in a batch: rows, offsets of edges, splits, equal graphs."""

from __future__ import annotations

from pathlib import Path

import networkx as nx
import pytest
import torch

from engine.data.graphs.batches import Packed
from engine.data.graphs.files import adjacency
from engine.data.open.opening import open_data
from engine.data.preview import summary
from tests.engine.data.test_array_files import loaded

BLOCKS = {"batches": "block-diagonal"}


@pytest.fixture
def many(tmp_path: Path) -> Path:
    """Ten graphs: rings and stars of 3 to 5 nodes, whose edges weigh 1 to 3."""
    rows, labels = ["graph,source,target,weight"], ["graph,label,split"]
    for number in range(10):
        count = 3 + number % 3
        made = nx.cycle_graph(count) if number % 2 else nx.star_graph(count - 1)
        rows += [f"g{number},{a},{b},{1 + (a + b) % 3}" for a, b in made.edges]
        split = ("train", "train", "train", "val", "test")[number % 5]
        labels.append(f"g{number},{'ring' if number % 2 else 'star'},{split}")
    (tmp_path / "many.edges").write_text("\n".join(rows))
    (tmp_path / "many.graphs.csv").write_text("\n".join(labels))
    return tmp_path / "many.edges"


def test_a_batch_is_the_rows_of_its_examples() -> None:
    counts = torch.tensor([2, 0, 1, 3])
    rows = torch.arange(12.0).reshape(6, 2)
    column = Packed(rows, counts, "cpu")
    assert (len(column), tuple(column.shape), column.numel()) == (4, (4, 2), 12)
    assert torch.equal(column[torch.tensor([3, 0, 1, 3])], rows[[3, 4, 5, 0, 1, 3, 4, 5]])
    assert torch.equal(column[2], rows[2:3]) and torch.equal(column[-1], rows[3:])
    assert torch.equal(column[:], rows)
    picked = column.at(torch.tensor([2, 3]))
    assert torch.equal(picked[:], rows[2:]) and picked.numel() == 8
    assert column[torch.tensor([], dtype=torch.int64)].shape == (0, 2)


def test_places_count_on_from_one_example_to_the_next() -> None:
    places = torch.tensor([[0, 1], [1, 0], [0, 0], [2, 1]])
    column = Packed(places, torch.tensor([2, 1, 1]), "cpu", within=torch.tensor([2, 1, 3]))
    assert column[torch.tensor([2, 0, 1])].tolist() == [[2, 1], [3, 4], [4, 3], [5, 5]]
    assert column[1].tolist() == [[0, 0]]


def test_blocks_hold_what_padding_holds(many: Path) -> None:
    padded = loaded(open_data(many))
    packed = loaded(open_data(many), **BLOCKS)
    for split, part in packed.items():
        order = torch.arange(len(part["sizes"])).flip(0)
        batch = {name: column[order] for name, column in part.items()}
        there = padded[split]["mask"][order].bool()
        assert torch.equal(batch["sizes"], there.sum(1))
        assert torch.equal(batch["nodes"], padded[split]["nodes"][order][there])
        assert torch.equal(batch["label"], padded[split]["label"][order])
        parts = zip(padded[split]["adjacency"][order], batch["sizes"].tolist(), strict=True)
        blocks = torch.block_diag(*(matrix[:n, :n] for matrix, n in parts))
        found = adjacency(len(blocks), batch["edges"].T, batch["weights"], directed=True)
        assert torch.equal(found, blocks)


def test_edges_may_lead_one_way(many: Path) -> None:
    one, both = (loaded(open_data(many), **BLOCKS, directed=way)["train"] for way in (True, False))
    assert one["edges"][0].tolist() == both["edges"][0].tolist()[: len(one["edges"][0])]
    assert 2 * one["edges"].numel() == both["edges"].numel()


@pytest.mark.parametrize("batches", ["padded", "block-diagonal"])
def test_the_table_of_graphs_may_say_the_splits(many: Path, batches: str) -> None:
    found = loaded(open_data(many), batches=batches, split="as given")
    assert {split: len(part["label"]) for split, part in found.items()} == {
        "train": 6,
        "validation": 2,
        "test": 2,
    }
    assert found["test"]["label"].tolist() == [1, 0]  # g4 is a star, g9 a ring


def test_equal_graphs_are_found(many: Path) -> None:
    once = loaded(open_data(many), **BLOCKS, repeats="left out")
    sizes = [part["sizes"] for part in once.values()]
    assert sum(map(len, sizes)) == 6  # rings and stars of three sizes
    column = loaded(open_data(many), **BLOCKS, split="in time")["train"]["nodes"]
    marks = column.marks()
    assert marks.shape == (6, 2) and len(marks.unique(dim=0)) == 6


def test_the_data_panel_counts_graphs_and_looks_at_nodes(many: Path) -> None:
    found = summary(loaded(open_data(many), **BLOCKS, split="in time"))
    assert found.rows == {"train": 6, "validation": 2, "test": 2}
    assert found.columns["train"]["nodes"].maximum == 4.0
    assert found.columns["train"]["nodes"].shape == (1,)
