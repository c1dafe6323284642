"""What is understood of arrays when they are opened."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from engine.catalogue import Data, load_catalogue
from engine.data.open.opening import open_data
from engine.document.edits import AddNodes
from engine.document.graph import Graph, Node, Project
from engine.shapes.node_rules import network_for


def test_rows_of_zeros_and_ones_are_labels_that_hold_or_not(tmp_path: Path) -> None:
    random = np.random.default_rng(0)
    np.savez(tmp_path / "many.npz", x=random.normal(size=(60, 3)), y=random.integers(0, 2, (60, 4)))
    found = open_data(tmp_path / "many.npz")
    assert "y has 4 labels a row, each 0 or 1: yes or no." in found.remarks
    node = Node("n1", found.type, "data", dict(found.params))
    data = load_catalogue().make(node)
    assert isinstance(data, Data)
    target = next(one for one in data.columns() if one.name == "y")
    assert target.yes_no and target.shape == (4,) and target.dtype == "float32"
    draw = network_for("n1", data)
    assert draw is not None
    made = [one for edit in draw(Project(graph=Graph([node]), next_id=2)) if isinstance(edit, AddNodes)
            for one in edit.nodes]  # fmt: skip
    assert [one.type for one in made[-2:]] == ["BCEWithLogits", "Accuracy"]
