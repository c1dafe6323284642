"""Exact zeros under an L1 penalty, whatever the optimiser (Andrew and Gao 2007)."""

from __future__ import annotations

import torch
import torch.nn.functional as F


def with_zeros(optimiser: torch.optim.Optimizer, strength: float) -> torch.optim.Optimizer:
    """The optimiser, changed so that an L1 penalty of this strength in its loss ends at exact zeros.

    The slope of |w| jumps at 0, so that plain steps swing across it for ever. Here a step that would change
    a weight's sign ends at 0, and a weight leaves 0 only where the rest of the loss is steeper than
    `strength`, whatever momentum it had. Biases and norms (fewer than two axes) have no penalty.
    """
    weights = [one for group in optimiser.param_groups for one in group["params"] if one.ndim >= 2]
    before: list[torch.Tensor] = []

    @torch.no_grad()
    def flatten(*_: object) -> None:
        before[:] = [weight.clone() for weight in weights]
        for weight in weights:
            if weight.grad is not None:  # at 0 that of the penalty is 0
                slope = F.softshrink(weight.grad, strength)
                weight.grad.copy_(torch.where(weight == 0, slope, weight.grad))

    @torch.no_grad()
    def stop(*_: object) -> None:
        for weight, old in zip(weights, before, strict=True):
            if weight.grad is not None:
                held = (old == 0) & (weight.grad == 0)
                weight.masked_fill_(held | (weight.sign() * old.sign() < 0), 0.0)

    optimiser.register_step_pre_hook(flatten)
    optimiser.register_step_post_hook(stop)
    return optimiser
