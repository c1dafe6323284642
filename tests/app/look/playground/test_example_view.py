"""Examples as they look: images and numbers, clouds without what fills up, graphs in both forms."""

from __future__ import annotations

import numpy as np
import pytest

from app.look.playground.example_view import ExampleView, matrix_of
from engine.catalogue import Column

EDGES = np.array([[0, 1], [1, 0], [1, 2], [2, 1]])
JOINED = [[0, 1, 0], [1, 0, 1], [0, 1, 0]]


def test_both_forms_of_a_graph_are_the_same_matrix() -> None:
    side_by_side = matrix_of({"sizes": np.array(3), "edges": EDGES})
    assert side_by_side is not None and side_by_side.tolist() == JOINED
    padded = np.zeros((5, 5))
    padded[:3, :3] = JOINED
    found = matrix_of({"adjacency": padded, "mask": np.array([1.0, 1, 1, 0, 0])})
    assert found is not None and found.tolist() == JOINED
    alone = matrix_of({"sizes": np.array([4.0]), "edges": EDGES.astype(np.float32)})
    assert alone is not None and alone.shape == (4, 4) and alone[:3, :3].tolist() == JOINED


@pytest.mark.parametrize(
    "row",
    [
        {"image": np.zeros((1, 4, 4))},
        {"edges": np.zeros((0, 2), int), "sizes": np.array(2)},
        {"edges": np.zeros((5, 3), int)},
        {"adjacency": np.zeros((3, 3)), "mask": np.ones(9)},  # thinned out
        {"adjacency": np.zeros((3000, 3000))},
    ],
)
def test_what_is_no_graph_or_too_large_has_no_matrix(row: dict[str, np.ndarray]) -> None:
    assert matrix_of(row) is None


def test_each_kind_is_shown_in_its_own_way(qtbot: object) -> None:
    shown = ExampleView()
    shown.show_row({"sizes": np.array(3), "edges": EDGES}, None)
    assert len(shown.shape_shown.shown[0]) == 3 and not shown.shape_shown.isHidden()
    points = np.array([[1.0, 0, 0], [0, 1, 0], [0, 0, 0]])
    shown.show_row({"points": points, "mask": np.array([1, 1, 0])}, Column("points", (3, 3)))
    assert shown.shape_shown.shown[0].tolist() == points[:2].tolist()
    shown.show_row({"points": points}, Column("points", (3, 3)))
    assert len(shown.shape_shown.shown[0]) == 2
    shown.show_row({"x": np.arange(4.0)}, Column("x", (4,)))
    assert shown.shape_shown.isHidden() and not shown.numbers.isHidden()
