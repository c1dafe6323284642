"""Every optimiser goes on bit for bit from its state_dict, and begins anew where layers have changed."""

from __future__ import annotations

import copy
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from engine.catalogue.training.optimisers import OPTIMISERS
from engine.document.plan import Choice, Minimise
from engine.emit.optimise import carried_by, optimiser_lines
from engine.emit.statements import printed
from engine.optim.residuals import residuals
from tests.engine.optim.landscapes import network


def made_for(name: str, model: nn.Module, **values: Any) -> torch.optim.Optimizer:
    objective = Minimise(optimiser=Choice(name, values))
    text = "\n".join(line.plain for line in printed(optimiser_lines(objective)))
    names: dict[str, Any] = {"torch": torch, "nn": nn, "Model": nn.Module}
    names |= {one.__name__: one for one in carried_by(objective)}
    exec(f"from __future__ import annotations\n{text}", names)
    found: torch.optim.Optimizer = names["optimiser_for"](model)
    return found


def train(name: str, model: nn.Module, optimiser: Any, x: Tensor, y: Tensor, steps: int) -> list[float]:
    """The losses of some steps, each with the closure that the declaration asks for."""
    kind = OPTIMISERS[name].closure

    def closure() -> Tensor:
        if kind == "residuals":
            return residuals(model(x), y)
        loss = nn.functional.mse_loss(model(x), y)
        if kind == "loss":
            return loss
        optimiser.zero_grad()
        loss.backward()
        return loss.detach()

    found = []
    for _ in range(steps):
        if kind:
            found.append(optimiser.step(closure).item())
        else:
            found.append(closure().item())
            optimiser.step()
    return found


@pytest.mark.parametrize("name", OPTIMISERS)
def test_training_goes_on_bit_for_bit(name: str) -> None:
    model, x, y = network()
    optimiser = made_for(name, model)
    train(name, model, optimiser, x, y, 4)
    weights, state = copy.deepcopy(model.state_dict()), copy.deepcopy(optimiser.state_dict())
    losses = train(name, model, optimiser, x, y, 5)
    other, _, _ = network(1)
    other.load_state_dict(weights)
    resumed = made_for(name, other)
    resumed.load_state_dict(state)
    assert train(name, other, resumed, x, y, 5) == losses
    assert all(map(torch.equal, other.state_dict().values(), model.state_dict().values()))


@pytest.mark.parametrize("name", OPTIMISERS)
def test_every_optimiser_lowers_the_loss_of_a_network(name: str) -> None:
    model, x, y = network()
    losses = train(name, model, made_for(name, model), x, y, 60)
    assert losses[-1] < 0.98 * losses[0]


@pytest.mark.parametrize(
    "name", [name for name, found in OPTIMISERS.items() if found.one_vector and name != "LBFGS"]
)
def test_one_vector_after_a_layer_has_changed_begins_anew(name: str) -> None:
    """An edit while training gives layers other sizes; what was learned of the old vector is no use then."""
    model, x, y = network()
    optimiser = made_for(name, model)
    train(name, model, optimiser, x, y, 4)
    torch.manual_seed(2)
    larger = nn.Sequential(nn.Linear(3, 7), nn.Tanh(), nn.Linear(7, 2))
    other = made_for(name, larger)
    first, now = next(model.parameters()), next(larger.parameters())
    if optimiser.state[first]:
        other.state[now] = optimiser.state[first]
    losses = train(name, larger, other, x, y, 5)
    assert losses[-1] < losses[0]
