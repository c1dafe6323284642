"""Levenberg-Marquardt for sums of squares (Levenberg 1944, Marquardt 1963)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from engine.optim.flat import flat, put, put_gradient
from engine.optim.newton import jacobian_of, positive


class LevenbergMarquardt(torch.optim.Optimizer):
    """Solves (JᵀJ + λ I) d = −Jᵀr; λ falls by `factor` after a step that helps and grows until one does.

    The closure returns the residuals r (m,), whose sum of squares is the loss, and does not go backward.
    """

    def __init__(self, params: Any, lr: float = 1.0, damping: float = 1e-3, factor: float = 10.0) -> None:
        super().__init__(params, {"lr": lr, "damping": damping, "factor": factor})

    @torch.no_grad()
    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Take a step, none where nothing lowers the loss; returns the loss before it, as a tensor.

        An error in the closure changes no weight.
        """
        if closure is None:
            raise RuntimeError("Levenberg-Marquardt needs a closure that returns the single errors.")
        group = self.param_groups[0]
        weights = [weight for one in self.param_groups for weight in one["params"]]
        with torch.enable_grad():
            errors = closure()
            slopes = jacobian_of(errors, weights)
        errors = errors.detach()
        loss, gradient = errors.square().sum(), slopes.T @ errors
        put_gradient(weights, 2 * gradient)
        if not gradient.any() or not bool(slopes.isfinite().all()):
            return loss
        state = self.state[weights[0]]
        damping = state.get("damping", group["damping"])
        start = flat(weights)
        moved = False
        try:
            for _ in range(20):
                factor = positive(slopes.T @ slopes, damping)
                direction = -torch.cholesky_solve(gradient[:, None], factor)[:, 0]
                put(weights, start + group["lr"] * direction)
                if closure().square().sum() < loss:
                    moved = True
                    break
                damping *= group["factor"]
        finally:
            if not moved:
                put(weights, start)
        state["damping"] = max(damping / group["factor"], 1e-12) if moved else group["damping"]
        return loss
