"""Nonlinear conjugate gradients (Nocedal & Wright 2006): Fletcher-Reeves and Polak-Ribière+."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from engine.optim.flat import flat_gradient, put_gradient
from engine.optim.wolfe import strong_wolfe


class ConjugateGradient(torch.optim.Optimizer):
    """Line searches along d ← −g + β d; starts again after as many steps as there are weights.

    `rule` is "Fletcher-Reeves" (β = gᵀg / g₋₁ᵀg₋₁) or "Polak-Ribiere+" (β = max(0, gᵀ(g − g₋₁) / g₋₁ᵀg₋₁)).
    """

    def __init__(
        self, params: Any, lr: float = 1.0, rule: str = "Polak-Ribiere+", curvature: float = 0.1
    ) -> None:
        super().__init__(params, {"lr": lr, "rule": rule, "curvature": curvature})

    @torch.no_grad()
    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """One line search. An error in the closure changes no weight."""
        if closure is None:
            raise RuntimeError("Conjugate gradients need a closure: they compute the loss at several points.")
        group = self.param_groups[0]
        weights = [weight for one in self.param_groups for weight in one["params"]]
        with torch.enable_grad():
            loss = closure()
        gradient = flat_gradient(weights)
        if not gradient.any() or not bool(gradient.isfinite().all()):
            return loss
        state = self.state[weights[0]]
        direction = -gradient
        first = group["lr"] * min(1.0, 1 / float(gradient.abs().sum()))
        before = state.get("gradient")
        if before is not None and len(before) == len(gradient) and state["count"] % len(gradient):
            change = gradient if group["rule"] == "Fletcher-Reeves" else gradient - before
            kept = max(0.0, float(gradient.dot(change) / before.dot(before)))
            bent = state["direction"].mul(kept).sub_(gradient)
            if gradient.dot(bent) < 0:
                direction = bent
                # the loss should fall about as much as it fell last time
                first = state["length"] * float(before.dot(state["direction"]) / gradient.dot(bent))
        limits = {"curvature": group["curvature"]}
        length, found = strong_wolfe(closure, weights, direction, loss.item(), gradient, first, **limits)
        if length:
            state.update(
                gradient=gradient, direction=direction, length=length, count=state.get("count", 0) + 1
            )
        else:
            state.clear()
        put_gradient(weights, found)
        return loss
