"""Every equilibrium of nets whose equilibria are known in closed form, and of random ones by search."""

import math

import pytest
import torch
from torch import Tensor

from engine.data.sets.patterns import stored_patterns
from engine.layers.hopfield import Hopfield
from engine.look.energy.equilibria import equilibria


def known(weight: Tensor, bias: Tensor | None = None, digits: int = 3) -> dict[tuple[float, ...], float]:
    found = equilibria(weight, torch.zeros(len(weight)) if bias is None else bias)
    assert not found.lines
    keys = [tuple(round(value, digits) + 0.0 for value in point) for point in found.points.tolist()]
    return dict(zip(keys, found.radius.tolist(), strict=True))


def designed(form: str) -> Hopfield:
    net = Hopfield(len(stored_patterns(form)[0]), design="saturating").requires_grad_(False)
    net.update(stored_patterns(form))
    return net


def test_hebbs_net_of_three_corners_has_nine() -> None:
    found = known(torch.tensor([[3.0, 1.0], [1.0, 3.0]]))
    corners = {(float(a), float(b)): 0.0 for a in (-1, 1) for b in (-1, 1)}
    saddles = {(-0.5, 1.0): 3.0, (0.5, -1.0): 3.0, (1.0, -0.5): 3.0, (-1.0, 0.5): 3.0}  # x = 3 x ± 1
    assert found == pytest.approx({**corners, **saddles, (0.0, 0.0): 4.0})


def test_the_saturating_design_in_space_has_the_unstable_points_of_the_notes() -> None:
    """e^0.15 is the factor by which a state grows within the span of the patterns."""
    net = designed("3-D")
    found = known(net.weight, net.bias, 2)
    stable = {point for point, radius in found.items() if radius < 1}
    assert stable == {(-1, -1, 1), (1, -1, -1), (1, 1, 1)}
    unstable = {point: radius for point, radius in found.items() if radius > 1}
    named = {(-0.06, -1, -0.06), (-0.06, 0.06, 1), (1, 0.06, -0.06), (0.37, -0.37, 0.37)}
    assert set(unstable) == named
    assert all(radius == pytest.approx(math.exp(0.15), rel=1e-4) for radius in unstable.values())


@pytest.mark.parametrize("in_turn", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_steps_from_everywhere_find_no_other_and_leave_the_unstable_ones(seed: int, in_turn: bool) -> None:
    draw = torch.Generator().manual_seed(seed)
    net = Hopfield(3, in_turn=in_turn).requires_grad_(False).double()
    weight = torch.randn(3, 3, generator=draw).double()
    net.weight.copy_(weight + weight.T)
    net.bias.copy_(0.5 * torch.randn(3, generator=draw))
    found = equilibria(net.weight, net.bias, in_turn)
    torch.testing.assert_close(net.step(found.points), found.points)
    x = 2 * torch.rand(2000, 3, generator=draw).double() - 1
    for _ in range(500):
        x = net.step(x)
    ends = x[(net.step(x) - x).abs().amax(1) < 1e-9]
    nearest = torch.cdist(ends, found.points[found.stable])
    assert not len(ends) or bool((nearest.amin(1) < 1e-4).all())
    for point, radius in zip(found.points, found.radius.tolist(), strict=True):
        y = point + 1e-5 * (2 * torch.rand(50, 3, generator=draw).double() - 1)
        y = y.clamp(-1, 1)
        for _ in range(400):
            y = net.step(y)
        assert bool((y - point).abs().amax() < 2e-5) == (radius < 1)


def test_points_in_a_line_are_told_but_not_listed() -> None:
    patterns = torch.tensor([[1.0, 1.0]])
    net = Hopfield(2, design="pseudo-inverse").requires_grad_(False)
    net.update(patterns)  # the projection onto the diagonal, every point of which stays
    found = equilibria(net.weight, net.bias)
    assert found.lines and not found.stable.any()
