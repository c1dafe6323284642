"""Gradient descent whose step is found by trying lengths (Armijo 1966)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from engine.optim.flat import flat, put, put_gradient
from engine.optim.wolfe import strong_wolfe


def slope_of(closure: Callable[[], Any], weights: list[Tensor]) -> tuple[Any, Tensor]:
    """The loss that a closure returns, and its gradient as one vector."""
    with torch.enable_grad():
        loss = closure()
        parts = torch.autograd.grad(loss, weights, allow_unused=True, materialize_grads=True)
    return loss.detach(), flat(list(parts))


class LineSearch(torch.optim.Optimizer):
    """Steepest descent; `search` is "Armijo", "strong Wolfe" or "bracketing", `lr` the first length tried.

    The closure returns the loss and does not go backward: most of its calls need no gradient.
    """

    def __init__(
        self,
        params: Any,
        lr: float = 1.0,
        search: str = "Armijo",
        decrease: float = 1e-4,
        curvature: float = 0.9,
    ) -> None:
        super().__init__(params, {"lr": lr, "search": search, "decrease": decrease, "curvature": curvature})

    @torch.no_grad()
    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Take a step, none where no length lowers the loss. An error in the closure changes no weight."""
        if closure is None:
            raise RuntimeError("A line search needs a closure: it computes the loss at several points.")
        group = self.param_groups[0]
        weights = [weight for one in self.param_groups for weight in one["params"]]
        loss, gradient = slope_of(closure, weights)
        start, value = flat(weights), loss.item()
        put_gradient(weights, gradient)
        if not gradient.any() or not bool(gradient.isfinite().all()):
            return loss

        def at(length: float) -> float:
            put(weights, start - length * gradient)
            found = closure().item()
            return found if found - found == 0 else float("inf")

        def backward() -> Any:
            found, slope = slope_of(closure, weights)
            put_gradient(weights, slope)
            return found

        try:
            if group["search"] == "strong Wolfe":
                limits = group["decrease"], group["curvature"]
                strong_wolfe(backward, weights, -gradient, value, gradient, group["lr"], *limits)
                return loss
            if group["search"] == "Armijo":
                promised = group["decrease"] * float(gradient.dot(gradient))
                length = halved(at, group["lr"], value, promised)
            else:
                length = bracketed(at, group["lr"], value)
        except BaseException:
            put(weights, start)
            raise
        put(weights, start - length * gradient)
        return loss


def halved(at: Callable[[float], float], length: float, value: float, promised: float) -> float:
    """The first of `length` and its halves with a loss at most `value − length · promised`; 0 for none."""
    for _ in range(50):
        if at(length) <= value - length * promised:
            return length
        length /= 2
    return 0.0


def bracketed(at: Callable[[float], float], length: float, value: float) -> float:
    """The best of `length` doubled while that lowers the loss, else halved while it does; 0 for none."""
    best, found = value, at(length)
    factor = 2.0 if found < value else 0.5
    for _ in range(50):
        if found < best:
            best = found
        elif best < value:
            return length / factor
        length *= factor
        found = at(length)
    return length / factor if best < value else 0.0
