"""Falls through landscapes whose rests are known."""

import torch

from engine.layers.hopfield import Hopfield
from engine.look.energy.descent import basins, paths, steady


def test_paths_follow_the_steps() -> None:
    found = paths(lambda x: x / 2, torch.tensor([[8.0, 4.0]]), 3)
    assert found[:, 0].tolist() == [[8, 4], [4, 2], [2, 1], [1, 0.5]]


def test_hebbs_net_of_three_corners_has_a_fourth() -> None:
    net = Hopfield(2, diagonal=True)
    net.requires_grad_(False)
    net.update(torch.tensor([[1.0, 1.0], [-1.0, -1.0], [1.0, -1.0]]))
    start = torch.tensor([[0.5, 0.6], [-0.3, -0.4], [0.4, -0.4], [-0.5, 0.6], [0.1, 0.9]])
    with torch.no_grad():
        found = basins(net.step, start)
        energies = net.energy(paths(net.step, start, 20).flatten(0, 1)).reshape(21, 5)
    assert {tuple(rest) for rest in found.rests.tolist()} == {(1, 1), (-1, -1), (1, -1), (-1, 1)}
    ends = found.rests[found.number]
    assert ends.tolist() == [[1, 1], [-1, -1], [1, -1], [-1, 1], [1, 1]]
    assert found.number[0] == found.number[4] == 0  # most states fall there
    assert (energies.diff(dim=0) <= 1e-6).all()  # a fall goes down


def test_what_never_rests_has_no_basin() -> None:
    found = basins(lambda x: -x, torch.tensor([[1.0, 0.0], [0.0, 0.0]]))
    assert found.number.tolist() == [-1, 0]
    assert found.rests.tolist() == [[0, 0]]


def test_a_rest_on_a_ridge_is_not_steady() -> None:
    rests = torch.tensor([[1.0, 1.0], [0.0, 1.0], [0.0, 0.0]])
    found = steady(lambda x: (1.3 * x).clamp(-1, 1), rests)
    assert found.tolist() == [True, False, False]
