"""Hamiltonian Monte Carlo over the weights of a network (Duane et al. 1987; Neal 2011)."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor


class HMC(torch.optim.Optimizer):
    """Draws weights with probability exp(-U), U the loss of all rows plus |w|² / 2 s² of the prior.

    A step throws the weights with a random momentum, follows the slope of U for `leaps` leaps of length `lr`
    and takes the end with probability min(1, exp(H - H')), H = U + |p|² / 2. In the first `warm_up` steps the
    length is tuned until the fraction `accept` is taken (Nesterov's dual averaging; Hoffman and Gelman 2014);
    then every `keep`-th state is kept, at most `most` of them: `samples` of each weight (K, ...).
    """

    def __init__(
        self,
        params: Any,
        lr: float = 0.01,
        leaps: int = 20,
        prior: float = 1.0,
        warm_up: int = 100,
        accept: float = 0.8,
        keep: int = 1,
        most: int = 1000,
    ) -> None:
        super().__init__(params, {"lr": lr})
        self.leaps, self.prior, self.warm_up, self.accept = leaps, prior, warm_up, accept
        self.keep, self.most = keep, most

    @property
    def weights(self) -> list[Tensor]:
        return [weight for group in self.param_groups for weight in group["params"]]

    @property
    def counts(self) -> dict[str, Any]:
        """Steps taken, those accepted after the warm-up, and what tunes the length."""
        state: dict[str, Any] = self.state[self.weights[0]]
        if "steps" not in state:
            state |= {
                "steps": 0,
                "accepted": 0.0,
                "first": self.param_groups[0]["lr"],
                "error": 0.0,
                "mean": 0.0,
            }
        return state

    @property
    def accepted(self) -> float:
        """Which fraction of the steps after the warm-up was taken."""
        steps: int = self.counts["steps"]
        return float(self.counts["accepted"]) / max(1, steps - self.warm_up)

    def samples(self) -> list[Tensor]:
        """The states that were kept, of each weight in its order: (K, ...)."""
        return [self.state[w].get("samples", w.detach()[None][:0]) for w in self.weights]

    @torch.no_grad()
    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """`closure` gives the loss of all rows and its slopes; returns that of the state before."""
        if closure is None:
            raise RuntimeError("Hamiltonian Monte Carlo needs a closure: it computes slopes along a path.")
        counts, weights, length = self.counts, self.weights, float(self.param_groups[0]["lr"])
        start = [weight.clone() for weight in weights]
        momentum = [torch.randn_like(weight) for weight in weights]
        loss = self.slopes(closure)
        before = self.energy(loss, momentum)
        now = loss
        for _ in range(self.leaps):
            self.push(momentum, length / 2)
            for weight, speed in zip(weights, momentum, strict=True):
                weight.add_(speed, alpha=length)
            now = self.slopes(closure)
            if not math.isfinite(now):
                break
            self.push(momentum, length / 2)
        change = before - self.energy(now, momentum)
        chance = min(1.0, math.exp(min(0.0, change))) if math.isfinite(change) else 0.0
        if float(torch.rand(())) >= chance:
            for weight, old in zip(weights, start, strict=True):
                weight.copy_(old)
        counts["steps"] += 1
        if counts["steps"] <= self.warm_up:
            self.tune(chance)
        else:
            counts["accepted"] += chance
            if (counts["steps"] - self.warm_up) % self.keep == 0:
                for weight in weights:
                    kept = self.state[weight].get("samples", weight.detach()[None][:0])
                    self.state[weight]["samples"] = torch.cat([kept, weight.detach()[None]])[-self.most :]
        return loss

    def slopes(self, closure: Callable[[], Any]) -> float:
        """The loss of all rows at the weights, whose `grad` is the slope of U afterwards."""
        with torch.enable_grad():
            loss = closure()
        for weight in self.weights:
            grad = torch.zeros_like(weight) if weight.grad is None else weight.grad
            weight.grad = grad.add_(weight, alpha=1 / self.prior**2)
        return float(loss)

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Forget the slopes; torch times its own method, which a leap of a small net feels."""
        for group in self.param_groups:
            for weight in group["params"]:
                weight.grad = None

    def push(self, momentum: list[Tensor], length: float) -> None:
        for speed, weight in zip(momentum, self.weights, strict=True):
            if weight.grad is not None:
                speed.sub_(weight.grad, alpha=length)

    def energy(self, loss: float, momentum: list[Tensor]) -> float:
        """H = U + |p|² / 2."""
        far = sum(float(weight.double().square().sum()) for weight in self.weights)
        fast = sum(float(speed.double().square().sum()) for speed in momentum)
        return loss + far / (2 * self.prior**2) + fast / 2

    def tune(self, chance: float) -> None:
        """Dual averaging: make the length shorter where too few steps are taken."""
        counts = self.counts
        n = counts["steps"]
        counts["error"] += (self.accept - chance - counts["error"]) / (n + 10)
        now = math.log(10 * counts["first"]) - n**0.5 / 0.05 * counts["error"]
        counts["mean"] += n**-0.75 * (now - counts["mean"])
        self.param_groups[0]["lr"] = math.exp(counts["mean"] if n == self.warm_up else now)
