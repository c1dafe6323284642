"""The heavy ball in both forms that textbooks print (Polyak 1964)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch


class HeavyBall(torch.optim.Optimizer):
    """Gradient descent that keeps part of its last step, from no speed at all at the start.

    "velocity": v ← μ v − η g, w ← w + v. "average": m ← μ m + (1 − μ) g, w ← w − η m.
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
        loss = None
        if closure is not None:
            with torch.enable_grad():
                loss = closure()
        for group in self.param_groups:
            lr, momentum = group["lr"], group["momentum"]
            for weight in group["params"]:
                if weight.grad is None:
                    continue
                slope = weight.grad.add(weight, alpha=group["weight_decay"])
                state = self.state[weight]
                if not state:
                    state["speed"] = torch.zeros_like(weight)
                speed = state["speed"].mul_(momentum)
                if group["form"] == "velocity":
                    weight.add_(speed.sub_(slope, alpha=lr))
                else:
                    weight.sub_(speed.add_(slope, alpha=1 - momentum), alpha=lr)
        return loss
