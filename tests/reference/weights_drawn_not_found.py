"""Weights drawn, not found

Exported from Neuroloom. Needs torch and numpy only.

    python weights_drawn_not_found.py
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn


@dataclass(frozen=True)
class Config:
    seed: int = 0
    batch: int = 64
    epochs: int = 260
    step: float = 0.01


CONFIG = Config()


def stratified_holdout(labels: Tensor, fraction: float, shuffle: torch.Generator) -> tuple[Tensor, Tensor]:
    """Rows as (kept, held): a random `fraction` is held back, in every class alike."""
    n = len(labels)
    order = torch.randperm(n, generator=shuffle)
    by_class = labels[order].argsort(stable=True)
    held = torch.zeros(n, dtype=torch.bool)
    # so that each class gives its part
    held[by_class] = (torch.arange(n + 1) * round(fraction * n) // max(n, 1)).diff() > 0
    return order[~held], order[held]


def stratified_split(labels: Tensor, validation: float, test: float, seed: int) -> dict[str, Tensor]:
    """Rows of each split; the fractions are of all rows, in every class alike."""
    shuffle = torch.Generator().manual_seed(seed)
    rest, tested = stratified_holdout(labels, test, shuffle)
    kept, held = stratified_holdout(labels[rest], validation / (1 - test), shuffle)
    return {"train": rest[kept], "validation": rest[held], "test": tested}


class HMC(torch.optim.Optimizer):
    """Draws weights with probability exp(-U), U the loss of all rows plus |w|² / 2 s² of the prior."""

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


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.hidden = nn.Linear(1, 20)
        self.value = nn.Linear(20, 1)

    def forward(self, x_: Tensor) -> Tensor:  # (N, 1)
        x = torch.tanh(self.hidden(x_))       # (N, 20)
        return self.value(x)                  # (N, 1)


def load(device: str) -> dict[str, dict[str, Tensor]]:
    """{split: {column: values}} for train, validation and test: x (N, 1); y (N, 1)."""
    rows, seed = 60, 0
    draw = torch.Generator().manual_seed(seed)
    drawn = torch.randn(rows, 1, generator=draw)
    x = 2 * torch.rand(rows, 1, generator=draw) - 1
    gap_from, gap_to = -0.4, 0.3
    fraction = (x + 1) / 2
    at = fraction * (2 - (gap_to - gap_from)) - 1
    x = torch.where(at < gap_from, at, at + (gap_to - gap_from))
    clean = torch.sin(math.pi * x)
    strength = torch.ones_like(x)
    deviation = 0.15 * strength
    columns = {"x": x, "y": clean + deviation * drawn}
    parts = stratified_split(torch.zeros(rows), validation=0.2, test=0.2, seed=seed)
    return {split: {name: one[at].to(device) for name, one in columns.items()} for split, at in parts.items()}


def batches(
    split: dict[str, Tensor], shuffle: torch.Generator | None = None, size: int | None = CONFIG.batch
) -> Iterator[dict[str, Tensor]]:
    n = len(split["x"])
    order = torch.arange(n) if shuffle is None else torch.randperm(n, generator=shuffle)
    for rows in order.split(size or n):
        yield {name: column.index_select(0, rows.to(column.device)) for name, column in split.items()}


@torch.no_grad()
def evaluate(model: Model, split: dict[str, Tensor]) -> dict[str, float]:
    """The means over a split, with dropout off."""
    model.eval()
    n = 0
    sums: dict[str, float] = {}
    for batch in batches(split):
        size = len(batch["x"])
        n += size
        for name, value in measure(model, batch).items():
            sums[name] = sums.get(name, 0.0) + size * value.item()
    model.train()
    return {name: value / n for name, value in sums.items()}


def report(values: dict[str, float], as_json: bool) -> None:
    shown = "  ".join(f"{name} {value:.4g}" for name, value in values.items())
    print(json.dumps(values) if as_json else shown)


def objective(model: Model, batch: dict[str, Tensor]) -> dict[str, Tensor]:
    """Trains everything."""
    x_ = batch["x"]                   # (N, 1)
    y = batch["y"]                    # (N, 1)
    x = torch.tanh(model.hidden(x_))  # (N, 20)
    value = model.value(x)            # (N, 1)
    error = F.mse_loss(value, y)
    return {"loss": 22.2 * error}


def objective_optimiser(model: Model) -> torch.optim.Optimizer:
    return HMC(model.parameters(), lr=CONFIG.step, leaps=30, prior=2.0, warm_up=60)


def measure(model: Model, batch: dict[str, Tensor]) -> dict[str, Tensor]:
    """The losses and metrics of a batch."""
    x_ = batch["x"]                   # (N, 1)
    y = batch["y"]                    # (N, 1)
    x = torch.tanh(model.hidden(x_))  # (N, 20)
    value = model.value(x)            # (N, 1)
    return {"loss": F.mse_loss(value, y)}


def train(model: Model, data: dict[str, dict[str, Tensor]], seed: int, epochs: int, as_json: bool) -> None:
    optimiser = objective_optimiser(model)
    shuffle = torch.Generator().manual_seed(seed)
    step = 0
    for epoch in range(epochs):
        for batch in batches(data["train"], shuffle, len(data["train"]["x"])):
            def closure() -> Any:
                optimiser.zero_grad()
                found = objective(model, batch)
                loss = len(batch["x"]) * found["loss"]  # of all rows together
                loss.backward()
                return loss.detach()

            value = torch.as_tensor(optimiser.step(closure) / len(batch["x"])).item()
            if not math.isfinite(value):
                raise SystemExit(f"The loss is {value} after {step} steps: a lower rate may help.")
            step += 1
            if as_json:
                print(json.dumps({"step": step, "epoch": epoch, "loss": value}))
        found = evaluate(model, data["validation"])
        values = {f"val_{name}": value for name, value in found.items()}
        report({"epoch": epoch, **values}, as_json)


def main() -> None:
    parser = argparse.ArgumentParser(description="Weights drawn, not found")
    parser.add_argument("--epochs", type=int, default=CONFIG.epochs)
    parser.add_argument("--seed", type=int, default=CONFIG.seed)
    device = "cuda" if torch.cuda.is_available() else "mps" if torch.backends.mps.is_available() else "cpu"
    parser.add_argument("--device", default=device)
    parser.add_argument("--save", type=Path, help="write the trained weights here (a state_dict)")
    parser.add_argument("--json", action="store_true", help="one JSON object a line")
    args = parser.parse_args()

    torch.set_num_threads(1)  # faster than several for so small a network
    torch.manual_seed(args.seed)
    model = Model().to(args.device)
    data = load(args.device)
    train(model, data, args.seed, args.epochs, args.json)
    found = evaluate(model, data["test"])
    report({f"test_{name}": value for name, value in found.items()}, args.json)
    if args.save:
        torch.save(model.state_dict(), args.save)


if __name__ == "__main__":
    main()
