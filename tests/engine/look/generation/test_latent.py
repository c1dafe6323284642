"""Grids, ways and directions whose numbers are known."""

import pytest
import torch

from engine.look.generation.latent import spaced, two_directions
from engine.procedures.codes import between


def test_a_grid_of_the_prior_has_equal_shares_between_its_places() -> None:
    places = spaced(4)
    torch.testing.assert_close(places, torch.tensor([-1.150349, -0.318639, 0.318639, 1.150349]))
    shares = 0.5 * (1 + torch.erf(spaced(9) / 2**0.5))
    torch.testing.assert_close(shares.diff(), torch.full((8,), 1 / 9))
    torch.testing.assert_close(spaced(5, ("normal", 3.0)), 3 * spaced(5))
    assert spaced(4, ("even", 2.0)).tolist() == [-1.5, -0.5, 0.5, 1.5]


@pytest.mark.parametrize("round_", [False, True])
def test_ways_begin_and_end_at_the_two_codes(round_: bool) -> None:
    start, end = torch.tensor([2.0, 0.0]), torch.tensor([0.0, 2.0])
    way = between(start, end, 5, round_=round_)
    torch.testing.assert_close(way[0], start)
    torch.testing.assert_close(way[-1], end)
    middle = [2**0.5, 2**0.5] if round_ else [1.0, 1.0]
    torch.testing.assert_close(way[2], torch.tensor(middle))
    same = between(start, start, 3, round_=round_)
    torch.testing.assert_close(same, start.repeat(3, 1))


def test_directions_are_those_of_the_largest_variance() -> None:
    torch.manual_seed(0)
    codes = torch.randn(500, 3) * torch.tensor([1.0, 10.0, 0.1])
    found = two_directions(codes)
    torch.testing.assert_close(found, torch.tensor([[0.0, 1, 0], [1, 0, 0]]), atol=0.02, rtol=0)
