"""What is cut, and that it stays so."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from engine.optim.prune import Prune


def net() -> nn.Sequential:
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(6, 8), nn.Linear(8, 4))


def test_the_smallest_weights_of_all_layers_are_cut() -> None:
    model = net()
    sizes = torch.cat([model[0].weight.abs().flatten(), model[1].weight.abs().flatten()]).detach()
    bias = model[0].bias.clone()
    cut = Prune([model], fraction=0.4)
    left = torch.cat([model[0].weight.abs().flatten(), model[1].weight.abs().flatten()]).detach()
    assert int((left == 0).sum()) == round(0.4 * len(sizes)) == 32
    assert left[left > 0].min() > sizes[left == 0].max()
    assert torch.equal(model[0].bias, bias)
    assert float(cut()["loss"]) == pytest.approx(0.6)


def test_steps_of_an_optimiser_do_not_bring_them_back() -> None:
    model = net()
    cut = Prune([model[0]], fraction=0.5)
    gone = model[0].weight == 0
    optimiser = torch.optim.Adam(model.parameters(), lr=0.1)
    for _ in range(3):
        optimiser.zero_grad()
        model(torch.randn(5, 6)).square().mean().backward()
        optimiser.step()
        cut()
    assert torch.equal(model[0].weight == 0, gone) and not bool((model[1].weight == 0).any())


def test_a_model_that_was_cut_is_left_as_it_is() -> None:
    model = net()
    Prune([model], fraction=0.5)
    before = [weight.clone() for weight in model.parameters()]
    again = Prune([model], fraction=0.5)
    assert all(torch.equal(one, other) for one, other in zip(before, model.parameters(), strict=True))
    assert again.left == 0.5
