"""Graphs as they are drawn."""

from __future__ import annotations

import numpy as np

from engine.data.graphs.positions import MOST_NODES, look_at_graph


def test_edges_join_the_nodes_they_join_and_filler_is_left_out() -> None:
    adjacency = np.zeros((4, 4))
    adjacency[0, 1] = adjacency[1, 2] = 1.0
    look = look_at_graph(adjacency, np.array([1, 1, 1, 0]), np.array([0, 1, 1, 9]))
    assert look.edges.tolist() == [[0, 1], [1, 2]]
    assert look.places.shape == (3, 2)
    assert look.classes is not None
    assert look.classes.tolist() == [0, 1, 1]
    assert np.array_equal(look.places, look_at_graph(adjacency, np.array([1, 1, 1, 0])).places)


def test_of_a_large_graph_the_best_joined_nodes_are_drawn() -> None:
    count = MOST_NODES + 50
    adjacency = np.zeros((count, count))
    adjacency[0, 1:] = 1.0
    look = look_at_graph(adjacency)
    assert (len(look.places), look.nodes) == (MOST_NODES, count)
    assert len(look.edges) == MOST_NODES - 1
