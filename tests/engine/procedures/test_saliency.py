"""Attributions of models whose right answer is known."""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from engine.procedures.saliency import (
    enlarged,
    grad_cam,
    gradient_times_input,
    integrated_gradients,
    occlusion,
    saliency,
)

WEIGHTS = torch.linspace(-1, 1, 24).reshape(1, 4, 6)


def linear(x: Tensor) -> Tensor:
    return (x * WEIGHTS).flatten(1).sum(1) + 3


def test_the_saliency_of_a_linear_model_is_its_weights() -> None:
    x = torch.rand(1, 1, 4, 6)
    torch.testing.assert_close(saliency(linear, x), WEIGHTS)
    torch.testing.assert_close(gradient_times_input(linear, x), WEIGHTS * x[0])
    torch.testing.assert_close(integrated_gradients(linear, x, steps=3), WEIGHTS * x[0])
    assert x.grad is None


def test_integrated_gradients_are_complete() -> None:
    torch.manual_seed(3)
    net = nn.Sequential(nn.Conv2d(2, 4, 3), nn.Tanh(), nn.Flatten(), nn.Linear(4 * 16, 3), nn.Softplus())
    x, start = torch.randn(1, 2, 6, 6), torch.randn(1, 2, 6, 6)
    found = integrated_gradients(lambda rows: net(rows)[:, 1], x, start, steps=200)
    gone = net(x)[0, 1] - net(start)[0, 1]
    assert abs(found.sum() - gone) < 1e-4
    assert all(weight.grad is None for weight in net.parameters())


def test_grad_cam_sees_where_the_map_that_counts_is_lit() -> None:
    maps = torch.zeros(1, 2, 3, 3)
    maps[0, 0, 0, 2] = 2.0
    maps[0, 1, 2, 0] = 5.0
    maps.requires_grad_(True)
    pooled = maps.mean(dim=(2, 3))[0]
    found = grad_cam(maps, 3 * pooled[0] - pooled[1])
    expected = torch.zeros(3, 3)
    expected[0, 2] = 2.0 * 3 / 9
    torch.testing.assert_close(found, expected)


def test_only_the_patches_over_the_pixel_that_counts_matter() -> None:
    x = torch.ones(1, 3, 6, 6)
    found = occlusion(lambda rows: 2 * rows[:, 0, 1, 4], x, patch=1, stride=1)
    expected = torch.zeros(6, 6)
    expected[1, 4] = 2.0
    torch.testing.assert_close(found, expected)
    wide = occlusion(lambda rows: 2 * rows[:, 0, 1, 4], x, patch=2, stride=2)
    assert torch.nonzero(wide).tolist() == [[0, 4], [0, 5], [1, 4], [1, 5]] and wide[1, 4] == 2


def test_patches_reach_the_edge_and_sequences_are_one_row() -> None:
    x = torch.ones(1, 1, 1, 7)
    found = occlusion(lambda rows: rows[:, 0, 0, 6], x, patch=3, stride=2)
    assert found[0, 6] == 1 and found[0, 0] == 0
    line = occlusion(lambda rows: rows[:, 0, 6], x[:, :, 0], patch=3, stride=2)
    torch.testing.assert_close(line, found)


def test_a_map_is_enlarged_by_straight_lines() -> None:
    small = torch.tensor([[0.0, 1.0], [2.0, 3.0]])
    torch.testing.assert_close(
        enlarged(small, (4, 4)), F.interpolate(small[None, None], scale_factor=2, mode="bilinear")[0, 0]
    )
