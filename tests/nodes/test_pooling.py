"""Pools against windows taken by hand (seed 000 §3.3.1)."""

from __future__ import annotations

import torch

from tests.nodes.values import close, through

IMAGE = torch.arange(49.0).reshape(1, 1, 7, 7)


def test_max_pool_keeps_the_largest_of_each_window() -> None:
    found = through("MaxPool2d", None, IMAGE)
    assert found[0, 0].tolist() == [[8, 10, 12], [22, 24, 26], [36, 38, 40]]


def test_keeping_the_rest_adds_windows_cut_off_at_the_edge() -> None:
    found = through("MaxPool2d", {"ceil": True}, IMAGE)
    assert found.shape == (1, 1, 4, 4) and found[0, 0, 3, 3] == 48


def test_average_pool_means_each_window() -> None:
    found = through("AvgPool2d", {"size": (1, 3), "stride": (6, 4)}, IMAGE)
    assert found[0, 0].tolist() == [[1, 5], [43, 47]]


def test_a_window_cut_off_at_the_edge_is_averaged_over_what_is_there() -> None:
    found = through("AvgPool2d", {"ceil": True}, IMAGE)
    assert found[0, 0, 3, 3] == 48


def test_adaptive_pools_give_the_size_they_are_told() -> None:
    assert through("AdaptiveAvgPool2d", None, IMAGE).flatten().tolist() == [24]
    assert through("AdaptiveMaxPool2d", {"size": (7, 1)}, IMAGE)[0, 0, :, 0].tolist() == [
        6,
        13,
        20,
        27,
        34,
        41,
        48,
    ]


def test_pools_along_a_sequence() -> None:
    steps = torch.arange(7.0).reshape(1, 1, 7)
    assert through("MaxPool1d", {"size": 3}, steps).flatten().tolist() == [2, 5]
    x = torch.randn(4, 5, 3)
    assert close(through("MeanOverTime", None, x), x.mean(1))
    assert torch.equal(through("LastStep", None, x), x[:, 4])
