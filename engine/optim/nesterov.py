"""Nesterov's accelerated gradient with the slope taken at the point ahead (Nesterov 1983)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch


class Nesterov(torch.optim.Optimizer):
    """Goes where the momentum leads, and corrects that step by the slope found there.

    "velocity": χ = w + μ v, v ← μ v − η ∇L(χ), w ← w + v. "average": m ← μ m + (1 − μ) ∇L(w − η μ m),
    w ← w − η m. Between steps the weights are w, so that they can be evaluated as they are.
    """

    def __init__(
        self,
        params: Any,
        lr: float = 0.01,
        momentum: float = 0.9,
        form: str = "velocity",
        weight_decay: float = 0.0,
    ) -> None:
        super().__init__(params, {"lr": lr, "momentum": momentum, "form": form, "weight_decay": weight_decay})

    @torch.no_grad()
    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Take a step; returns the loss at the point ahead. An error in the closure changes no weight."""
        if closure is None:
            raise RuntimeError("Nesterov needs a closure: the slope is taken at a point ahead.")
        starts = {}
        for group in self.param_groups:
            lr, momentum = group["lr"], group["momentum"]
            for weight in group["params"]:
                starts[weight] = weight.clone()
                speed = self.state[weight].get("speed")
                if speed is not None:
                    weight.add_(speed, alpha=momentum if group["form"] == "velocity" else -lr * momentum)
        slopes = {}
        try:
            with torch.enable_grad():
                loss = closure()
            for group in self.param_groups:
                for weight in group["params"]:
                    if weight.grad is not None:
                        slopes[weight] = weight.grad.add(weight, alpha=group["weight_decay"])
        finally:
            for weight, start in starts.items():
                weight.copy_(start)
        for group in self.param_groups:
            lr, momentum = group["lr"], group["momentum"]
            for weight in group["params"]:
                if weight not in slopes:
                    continue
                state = self.state[weight]
                if not state:
                    state["speed"] = torch.zeros_like(weight)
                speed = state["speed"].mul_(momentum)
                if group["form"] == "velocity":
                    weight.add_(speed.sub_(slopes[weight], alpha=lr))
                else:
                    weight.sub_(speed.add_(slopes[weight], alpha=1 - momentum), alpha=lr)
        return loss
