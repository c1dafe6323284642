"""Newton's method with damping and backtracking (Nocedal & Wright 2006)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from engine.optim.flat import flat, put, put_gradient
from engine.optim.line_search import halved


def jacobian_of(values: Tensor, weights: list[Tensor], rows: int = 64) -> Tensor:
    """The slopes (m, n) of a vector's m values for all n weights, `rows` of them at a time."""
    n = sum(weight.numel() for weight in weights)
    if not values.requires_grad:
        return values.new_zeros(len(values), n)
    found = []
    for picked in torch.split(torch.eye(len(values), dtype=values.dtype, device=values.device), rows):
        parts = torch.autograd.grad(
            values,
            weights,
            picked,
            retain_graph=True,
            is_grads_batched=True,
            allow_unused=True,
            materialize_grads=True,
        )
        found.append(torch.cat([part.reshape(len(picked), -1) for part in parts], 1))
    return torch.cat(found).detach()


def positive(matrix: Tensor, damping: float) -> Tensor:
    """The Cholesky factor of a symmetric matrix with `damping`, or the least more that it takes, added."""
    unit = torch.eye(len(matrix), dtype=matrix.dtype, device=matrix.device)
    size = float(matrix.diagonal().abs().mean()) or 1.0
    while True:
        factor: Tensor
        factor, wrong = torch.linalg.cholesky_ex(matrix + damping * unit)
        if not wrong:
            return factor
        damping = max(4 * damping, 1e-6 * size)


class Newton(torch.optim.Optimizer):
    """Solves (H + λ I) d = −g and goes d, or the first of its halves that lowers the loss.

    The closure returns the loss and does not go backward: second derivatives are taken from it.
    """

    def __init__(self, params: Any, lr: float = 1.0, damping: float = 0.0) -> None:
        super().__init__(params, {"lr": lr, "damping": damping})

    @torch.no_grad()
    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Take a step, none where nothing lowers the loss. An error in the closure changes no weight."""
        if closure is None:
            raise RuntimeError("Newton's method needs a closure: it takes second derivatives of the loss.")
        group = self.param_groups[0]
        weights = [weight for one in self.param_groups for weight in one["params"]]
        with torch.enable_grad():
            loss = closure()
            slopes = torch.autograd.grad(
                loss, weights, create_graph=True, allow_unused=True, materialize_grads=True
            )
            gradient = torch.cat([slope.reshape(-1) for slope in slopes])
            hessian = jacobian_of(gradient, weights)
        loss, gradient = loss.detach(), gradient.detach()
        put_gradient(weights, gradient)
        if not gradient.any() or not bool(hessian.isfinite().all()):
            return loss
        factor = positive((hessian + hessian.T) / 2, group["damping"])
        direction = -torch.cholesky_solve(gradient[:, None], factor)[:, 0]
        start = flat(weights)

        def at(length: float) -> float:
            put(weights, start + length * direction)
            return float(closure().item())

        try:
            length = halved(at, group["lr"], loss.item(), -1e-4 * float(gradient.dot(direction)))
        except BaseException:
            put(weights, start)
            raise
        put(weights, start + length * direction)
        return loss
