"""The extragradient method for games and saddle points (Korpelevich 1976)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch


class Extragradient(torch.optim.Optimizer):
    """Steps from where it stands by the slope half a step ahead: w½ = w − η ∇L(w), w ← w − η ∇L(w½).

    A group whose `lr` is below 0 climbs. Players with losses of their own take half steps together: all go
    backward, all `extrapolate()`, all go backward again from there, all `step()`.
    """

    def __init__(self, params: Any, lr: float = 0.01, weight_decay: float = 0.0) -> None:
        super().__init__(params, {"lr": lr, "weight_decay": weight_decay})

    @torch.no_grad()
    def extrapolate(self) -> None:
        """Go the half step that the gradients at hand point to, and remember where it began."""
        for group in self.param_groups:
            for weight in group["params"]:
                if weight.grad is not None:
                    self.state[weight]["start"] = weight.clone()
                    weight.sub_(self._slope(weight, group), alpha=group["lr"])

    @torch.no_grad()
    def take_back(self) -> None:
        """Return to where the half step began; without one, nothing happens."""
        for weight, state in self.state.items():
            if "start" in state:
                weight.copy_(state.pop("start"))

    @torch.no_grad()
    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Step by the gradients at the half step; with a closure, go that half step first.

        Returns the closure's first loss. An error in the closure changes no weight.
        """
        loss = None
        if closure is not None:
            with torch.enable_grad():
                loss = closure()
            self.extrapolate()
            try:
                with torch.enable_grad():
                    closure()
            except BaseException:
                self.take_back()
                raise
        for group in self.param_groups:
            for weight in group["params"]:
                state = self.state[weight]
                if "start" in state:
                    slope = self._slope(weight, group)
                    weight.copy_(state.pop("start")).sub_(slope, alpha=group["lr"])
        return loss

    def _slope(self, weight: Any, group: dict[str, Any]) -> Any:
        """The gradient with its weight decay, which pulls towards zero whether the group falls or climbs."""
        decay = group["weight_decay"] if group["lr"] >= 0 else -group["weight_decay"]
        return weight.grad.add(weight, alpha=decay)
