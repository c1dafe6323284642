"""BFGS with the whole inverse curvature matrix (Nocedal & Wright 2006)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from engine.optim.flat import flat_gradient, put_gradient
from engine.optim.wolfe import strong_wolfe


class BFGS(torch.optim.Optimizer):
    """Quasi-Newton descent along −H g, H an estimate of the inverse Hessian, strong Wolfe steps."""

    def __init__(self, params: Any, lr: float = 1.0, curvature: float = 0.9) -> None:
        super().__init__(params, {"lr": lr, "curvature": curvature})

    @torch.no_grad()
    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """One line search. An error in the closure changes no weight."""
        if closure is None:
            raise RuntimeError("BFGS needs a closure: it computes the loss at several points.")
        group = self.param_groups[0]
        weights = [weight for one in self.param_groups for weight in one["params"]]
        with torch.enable_grad():
            loss = closure()
        gradient = flat_gradient(weights)
        if not gradient.any() or not bool(gradient.isfinite().all()):
            return loss
        state = self.state[weights[0]]
        inverse = state.get("inverse")
        if inverse is not None and len(inverse) != len(gradient):
            inverse = None  # layers have changed
        direction = -gradient if inverse is None else -(inverse @ gradient)
        if gradient.dot(direction) >= 0:
            inverse, direction = None, -gradient
        first = group["lr"] * (min(1.0, 1 / float(gradient.abs().sum())) if inverse is None else 1.0)
        limits = {"curvature": group["curvature"]}
        length, found = strong_wolfe(closure, weights, direction, loss.item(), gradient, first, **limits)
        if length:
            inverse = updated_inverse(inverse, length * direction, found - gradient)
        if length and inverse is not None:
            state["inverse"] = inverse
        else:
            state.clear()
        put_gradient(weights, found)
        return loss


def updated_inverse(inverse: Tensor | None, step: Tensor, bend: Tensor) -> Tensor | None:
    """The inverse Hessian (n, n) that explains how a step bent the gradient; None is one of no knowledge yet.

    Without curvature along the step it stays as it was.
    """
    along = step.dot(bend)
    if along <= 1e-10 * step.norm() * bend.norm():
        return inverse
    if inverse is None:
        inverse = torch.diag(torch.ones_like(step)) * (along / bend.dot(bend))
    turned = inverse @ bend
    rest = torch.outer(step, turned)
    grown = (1 + bend.dot(turned) / along) * torch.outer(step, step)
    return inverse + (grown - rest - rest.T) / along
