"""Slices of losses that are known in closed form."""

import numpy as np
import pytest
import torch
from torch import nn

from engine.errors import NeuroloomError
from engine.look.landscape import loss_slices as landscape
from engine.look.landscape.loss_slices import (
    Path,
    flat,
    path_directions,
    projected,
    put,
    random_direction,
    surface,
)
from engine.look.sight import NotWanted


def test_a_direction_is_as_long_as_the_rows_it_moves() -> None:
    layer = nn.Linear(5, 3)
    generator_before = torch.get_rng_state()
    direction = random_direction(list(layer.parameters()), 7)
    assert torch.equal(torch.get_rng_state(), generator_before)
    rows = direction[:15].reshape(3, 5)
    torch.testing.assert_close(rows.norm(dim=1), layer.weight.norm(dim=1).detach())
    assert direction[15:].abs().max() == 0
    torch.testing.assert_close(direction, random_direction(list(layer.parameters()), 7))
    assert not torch.equal(direction, random_direction(list(layer.parameters()), 8))


def test_the_surface_of_a_quadratic() -> None:
    weights = [torch.tensor([1.0, 2.0]), torch.tensor([[3.0]])]
    bend = torch.tensor([1.0, 4.0, 9.0])

    def loss() -> float:
        return float((bend * flat(weights) ** 2).sum() / 2)

    one, other = torch.tensor([1.0, 0, 0]), torch.tensor([0, 0, 1.0])
    xs, ys = [-1.0, 0.0, 2.0], [-3.0, 0.0]
    found = surface(loss, weights, one, other, xs, ys)
    right = [[((1 + x) ** 2 + 4 * 4 + 9 * (3 + y) ** 2) / 2 for x in xs] for y in ys]
    np.testing.assert_allclose(found, right, rtol=1e-6)
    assert flat(weights).tolist() == [1, 2, 3]


def test_the_weights_are_put_back_when_nobody_looks_any_more() -> None:
    weights = [torch.tensor([1.0, 2.0])]
    calls = iter(range(2))

    def check() -> None:
        if next(calls, None) is None:
            raise NotWanted

    with pytest.raises(NotWanted):
        surface(lambda: 0.0, weights, torch.ones(2), torch.ones(2), [1.0, 2.0], [1.0, 2.0], check)
    assert weights[0].tolist() == [1, 2]


def test_the_directions_of_a_path_in_a_plane_and_its_places_there() -> None:
    plane = torch.linalg.qr(torch.randn(50, 2, generator=torch.Generator().manual_seed(0)))[0].T
    places = torch.tensor([[8.0, 1.0], [4.0, -2.0], [1.0, 0.5], [0.0, 0.0]])
    here = torch.full((50,), 0.3)
    points = here + places @ plane
    one, other, shares = path_directions(points, here)
    assert abs(sum(shares) - 1) < 1e-5 and shares[0] > shares[1] > 0
    np.testing.assert_allclose([one.norm(), other.norm(), one @ other], [1, 1, 0], atol=1e-5)
    found = projected(points, here, one, other)
    np.testing.assert_allclose(
        np.linalg.norm(found, axis=1), np.linalg.norm(places.numpy(), axis=1), rtol=1e-4, atol=1e-5
    )
    torch.testing.assert_close(
        here + torch.from_numpy(found).float() @ torch.stack([one, other]), points, rtol=1e-4, atol=1e-4
    )


def test_places_along_directions_that_are_not_at_right_angles() -> None:
    one, other = torch.tensor([1.0, 0.0, 0.0]), torch.tensor([1.0, 1.0, 0.0])
    found = projected(torch.tensor([[3.0, 2.0, 9.0]]), torch.zeros(3), one, other)
    np.testing.assert_allclose(found, [[1, 2]], rtol=1e-5)


def test_a_path_keeps_within_its_memory_and_evenly_spread(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(landscape, "PATH_BYTES", 4 * 10 * 16)
    path = Path()
    weights = [torch.zeros(10)]
    for step in range(1000):
        weights[0].fill_(float(step))
        path.add(step, weights)
    steps, points = path.stacked()
    assert 8 <= len(steps) <= 16
    assert steps[0] == 0 and steps[-1] > 850
    assert points[:, 0].tolist() == steps
    gaps = np.diff(steps)
    assert gaps.max() <= 2 * gaps.min()


def test_a_path_of_a_net_that_is_too_large_is_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(landscape, "PATH_BYTES", 100)
    with pytest.raises(NeuroloomError, match="too large"):
        Path().add(0, [torch.zeros(10)])


def test_a_path_that_training_went_back_on_forgets_the_rest() -> None:
    path = Path()
    for step in (0, 5, 10, 5, 7):
        path.add(step, [torch.tensor([float(step)])])
    assert path.steps == [0, 5, 7]


def test_put_is_the_reverse_of_flat() -> None:
    layer = nn.Linear(3, 2)
    values = torch.arange(8.0)
    put(list(layer.parameters()), values)
    torch.testing.assert_close(flat(list(layer.parameters())), values)
