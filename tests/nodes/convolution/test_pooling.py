"""Pools against windows taken by hand (seed 000 §3.3.1)."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from engine.errors import EmitError
from tests.engine.sketches import Sketch, program_of
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


def test_a_min_pool_keeps_the_smallest_of_each_window() -> None:
    found = through("MinPool2d", {"size": 3, "stride": 2}, IMAGE)
    assert found[0, 0].tolist() == [[0, 2, 4], [14, 16, 18], [28, 30, 32]]


def test_an_lp_pool_is_the_norm_of_each_window() -> None:
    x = torch.rand(2, 3, 6, 6) + 0.1
    windows = x.unfold(2, 2, 2).unfold(3, 2, 2).flatten(4)
    for p in (1.0, 2.0, 3.5):
        assert torch.allclose(through("LpPool2d", {"p": p}, x), (windows**p).sum(-1) ** (1 / p), atol=1e-5)


def test_what_is_unpooled_stands_where_it_was_taken_from() -> None:
    sketch = Sketch()
    start = sketch.add("Input", "", {"shape": (1, 7, 7)})
    pool = sketch.add("MaxPoolWithPlaces", "pool", x=start)
    sketch.add("MaxUnpool2d", "back", {"output_size": 7}, x=pool, places=f"{pool}.places")
    image = torch.rand(2, 1, 7, 7)
    back = program_of(sketch).Model()(image)
    for example, row, column in np.ndindex(2, 7, 7):
        window = image[example, 0, row // 2 * 2 : row // 2 * 2 + 2, column // 2 * 2 : column // 2 * 2 + 2]
        here = image[example, 0, row, column]
        kept = row < 6 and column < 6 and here == window.max()
        assert back[example, 0, row, column] == (here if kept else 0)


def test_pools_of_signals_and_volumes() -> None:
    x = torch.randn(2, 3, 8)
    assert close(
        through("AvgPool1d", {"size": 4}, x), torch.stack((x[:, :, :4].mean(2), x[:, :, 4:].mean(2)), 2)
    )
    solid = torch.randn(2, 3, 4, 6, 2)
    parts = solid.reshape(2, 3, 2, 2, 3, 2, 1, 2).permute(0, 1, 2, 4, 6, 3, 5, 7).flatten(5)
    assert close(through("MaxPool3d", None, solid), parts.amax(5))
    assert close(through("AvgPool3d", {"size": (2, 2, 2)}, solid), parts.mean(5))


def test_padding_of_a_pool_never_wins_and_counts_as_zeros_in_a_mean() -> None:
    image = -torch.rand(2, 1, 5, 5)
    wide = torch.full((2, 1, 7, 7), -9.0)
    wide[:, :, 1:6, 1:6] = image
    params = {"size": 3, "stride": 2, "padding": 1}
    assert close(through("MaxPool2d", params, image), wide.unfold(2, 3, 2).unfold(3, 3, 2).flatten(4).amax(4))
    wide[wide == -9] = 0
    assert close(through("AvgPool2d", params, image), wide.unfold(2, 3, 2).unfold(3, 3, 2).flatten(4).mean(4))
    with pytest.raises(EmitError, match="half of its window"):
        through("MaxPool2d", {"padding": 2}, image)
