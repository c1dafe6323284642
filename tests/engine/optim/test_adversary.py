"""An adversary against the worst inputs that are known."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from engine.optim.adversary import worst_near


def test_on_a_linear_model_it_finds_the_corner_that_is_worst() -> None:
    torch.manual_seed(0)
    model = nn.Linear(5, 1)
    batch = {"x": torch.rand(8, 5) * 0.4 + 0.3, "y": torch.randint(2, (8, 1)).float()}

    def objective(net: nn.Module, rows: dict[str, Tensor]) -> dict[str, Tensor]:
        return {"loss": F.binary_cross_entropy_with_logits(net(rows["x"]), rows["y"])}

    found = worst_near(model, batch, objective, "x", reach=0.1, steps=20, rate=0.02, low=0.0, high=1.0)
    worst = batch["x"] - 0.1 * (2 * batch["y"] - 1) * model.weight.sign()
    assert torch.allclose(found["x"], worst.detach(), atol=1e-6)
    with torch.no_grad():
        assert objective(model, found)["loss"] > objective(model, batch)["loss"]
    assert torch.equal(found["y"], batch["y"]) and not found["x"].requires_grad
    assert all(weight.grad is None for weight in model.parameters())


@pytest.mark.parametrize("steps", [1, 7])
def test_it_stays_within_reach_and_within_bounds(steps: int) -> None:
    torch.manual_seed(1)
    model = nn.Sequential(nn.Linear(4, 9), nn.Tanh(), nn.Linear(9, 2))
    batch = {"x": torch.rand(20, 4)}

    def objective(net: nn.Module, rows: dict[str, Tensor]) -> dict[str, Tensor]:
        return {"loss": net(rows["x"]).square().mean()}

    moved = worst_near(model, batch, objective, "x", reach=0.2, steps=steps, rate=0.5, low=0.0, high=1.0)["x"]
    assert float((moved - batch["x"]).abs().max()) <= 0.2 + 1e-6
    assert float(moved.min()) >= 0 and float(moved.max()) <= 1
