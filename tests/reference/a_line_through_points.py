"""A line through points

Exported from Neuroloom. Needs torch and numpy only.

    python a_line_through_points.py
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
import torch.nn.functional as F
from torch import Tensor, nn


@dataclass(frozen=True)
class Config:
    seed: int = 0
    epochs: int = 60
    learning_rate: float = 0.2


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


def l1(weights: Sequence[Tensor], strength: float) -> Tensor | float:
    """The sum of absolute weights times `strength`; biases and norms (fewer than two axes) don't count."""
    return strength * sum(weight.abs().sum() for weight in weights if weight.ndim >= 2)


def with_zeros(optimiser: torch.optim.Optimizer, strength: float) -> torch.optim.Optimizer:
    """The optimiser, changed so that an L1 penalty of this strength in its loss ends at exact zeros."""
    weights = [one for group in optimiser.param_groups for one in group["params"] if one.ndim >= 2]
    before: list[torch.Tensor] = []

    @torch.no_grad()
    def flatten(*_: object) -> None:
        before[:] = [weight.clone() for weight in weights]
        for weight in weights:
            if weight.grad is not None:  # at 0 that of the penalty is 0
                slope = F.softshrink(weight.grad, strength)
                weight.grad.copy_(torch.where(weight == 0, slope, weight.grad))

    @torch.no_grad()
    def stop(*_: object) -> None:
        for weight, old in zip(weights, before, strict=True):
            if weight.grad is not None:
                held = (old == 0) & (weight.grad == 0)
                weight.masked_fill_(held | (weight.sign() * old.sign() < 0), 0.0)

    optimiser.register_step_pre_hook(flatten)
    optimiser.register_step_post_hook(stop)
    return optimiser


class LeastSquares(nn.Module):
    """A linear layer whose weights minimise |A w - y|² + λ |w|² on centred data, the bias unpunished."""
    # Source: Bishop 2006, §3.1.

    def __init__(self, inputs: int, outputs: int, ridge: float = 0.0) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(outputs, inputs))
        self.bias = nn.Parameter(torch.zeros(outputs))
        self.ridge = ridge

    def forward(self, x: Tensor) -> Tensor:
        return F.linear(x, self.weight, self.bias)

    def fit(self, x: Tensor, target: Tensor) -> dict[str, Tensor]:
        """Fit all rows, whatever was known before. The loss is the mean squared error after."""
        rows, wanted = (part.reshape(len(x), -1).cpu().double() for part in (x, target))
        middle, level = rows.mean(0), wanted.mean(0)
        rows, wanted = rows - middle, wanted - level
        if self.ridge:  # as rows more, which ask each weight to be 0
            held = self.ridge**0.5 * torch.eye(rows.shape[1], dtype=rows.dtype)
            rows, wanted = (
                torch.cat([rows, held]),
                torch.cat([wanted, wanted.new_zeros(len(held), len(level))]),
            )
        weight = torch.linalg.lstsq(rows, wanted).solution.T
        self.weight.copy_(weight)
        self.bias.copy_(level - weight @ middle)
        return {"loss": F.mse_loss(self(x), target.reshape(len(x), -1).to(x))}


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.by_gradient = nn.Linear(1, 1)
        self.lasso = nn.Linear(1, 1)
        self.closed_form = LeastSquares(1, 1)
        self.ridge = LeastSquares(1, 1, ridge=10.0)

    def forward(self, x_: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:  # (N, 1)
        by_gradient = self.by_gradient(x_)  # (N, 1)
        lasso = self.lasso(x_)              # (N, 1)
        closed_form = self.closed_form(x_)  # (N, 1)
        ridge = self.ridge(x_)              # (N, 1)
        return by_gradient, lasso, closed_form, ridge


def load(device: str) -> dict[str, dict[str, Tensor]]:
    """{split: {column: values}} for train, validation and test: x (N, 1); y (N, 1)."""
    rows, seed = 100, 0
    draw = torch.Generator().manual_seed(seed)
    x = torch.linspace(-1, 1, rows)[:, None]
    y = 2.0 * x + 1.0 + 0.3 * torch.randn(rows, 1, generator=draw)
    columns = {"x": x, "y": y}
    parts = stratified_split(torch.zeros(rows), validation=0.2, test=0.2, seed=seed)
    return {split: {name: one[at].to(device) for name, one in columns.items()} for split, at in parts.items()}


def batches(split: dict[str, Tensor], shuffle: torch.Generator | None = None) -> Iterator[dict[str, Tensor]]:
    n = len(split["x"])
    order = torch.arange(n) if shuffle is None else torch.randperm(n, generator=shuffle)
    for rows in order.split(n):
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


def gradient(model: Model, batch: dict[str, Tensor]) -> dict[str, Tensor]:
    """gradient: trains by_gradient."""
    x_ = batch["x"]                      # (N, 1)
    y = batch["y"]                       # (N, 1)
    by_gradient = model.by_gradient(x_)  # (N, 1)
    return {"loss": F.mse_loss(by_gradient, y)}


def gradient_optimiser(model: Model) -> torch.optim.Optimizer:
    return torch.optim.SGD(model.by_gradient.parameters(), lr=CONFIG.learning_rate)


def lasso(model: Model, batch: dict[str, Tensor]) -> dict[str, Tensor]:
    """lasso: trains lasso."""
    x_ = batch["x"]                 # (N, 1)
    y = batch["y"]                  # (N, 1)
    lasso_output = model.lasso(x_)  # (N, 1)
    lasso_error = F.mse_loss(lasso_output, y)
    return {"loss": lasso_error + l1(lasso_weights(model), 0.5)}


def lasso_weights(model: Model) -> list[nn.Parameter]:
    return [*model.lasso.parameters()]


def lasso_optimiser(model: Model) -> torch.optim.Optimizer:
    return with_zeros(torch.optim.SGD(model.lasso.parameters(), lr=CONFIG.learning_rate), 0.5)


def closed(model: Model, batch: dict[str, Tensor]) -> dict[str, Tensor]:
    """The rule of closed form."""
    x_ = batch["x"]  # (N, 1)
    y = batch["y"]   # (N, 1)
    return model.closed_form.fit(x_, y)


def ridge(model: Model, batch: dict[str, Tensor]) -> dict[str, Tensor]:
    """The rule of ridge."""
    x_ = batch["x"]  # (N, 1)
    y = batch["y"]   # (N, 1)
    return model.ridge.fit(x_, y)


def measure(model: Model, batch: dict[str, Tensor]) -> dict[str, Tensor]:
    """The losses and metrics of a batch."""
    x_ = batch["x"]                      # (N, 1)
    y = batch["y"]                       # (N, 1)
    by_gradient = model.by_gradient(x_)  # (N, 1)
    lasso_output = model.lasso(x_)       # (N, 1)
    closed_form = model.closed_form(x_)  # (N, 1)
    ridge_output = model.ridge(x_)       # (N, 1)
    gradient_error = F.mse_loss(by_gradient, y)
    lasso_error = F.mse_loss(lasso_output, y)
    return {
        "loss": gradient_error + lasso_error,
        "gradient_error": gradient_error,
        "lasso_error": lasso_error,
        "closed_error": F.mse_loss(closed_form, y),
        "ridge_error": F.mse_loss(ridge_output, y),
    }


def train(model: Model, data: dict[str, dict[str, Tensor]], seed: int, epochs: int, as_json: bool) -> None:
    objectives = [  # by name, with their optimisers (none for a rule)
        ("gradient", gradient, gradient_optimiser(model)),
        ("lasso", lasso, lasso_optimiser(model)),
        ("closed", closed, None),
        ("ridge", ridge, None),
    ]
    shuffle = torch.Generator().manual_seed(seed)
    step = 0
    for epoch in range(epochs):
        for batch in batches(data["train"], shuffle):
            values = {}
            for name, compute, optimiser in objectives:
                if optimiser is None:
                    with torch.no_grad():
                        values[name] = compute(model, batch)["loss"].item()
                    continue
                optimiser.zero_grad()
                loss = compute(model, batch)["loss"]
                values[name] = loss.item()
                if not math.isfinite(values[name]):
                    raise SystemExit(f"{name} is {values[name]} after {step} steps: a lower rate may help.")
                loss.backward(inputs=optimiser.param_groups[0]["params"])
                optimiser.step()
            step += 1
            if as_json:
                print(json.dumps({"step": step, "epoch": epoch, **values}))
        found = evaluate(model, data["validation"])
        values = {f"val_{name}": value for name, value in found.items()}
        report({"epoch": epoch, **values}, as_json)


def main() -> None:
    parser = argparse.ArgumentParser(description="A line through points")
    parser.add_argument("--epochs", type=int, default=CONFIG.epochs)
    parser.add_argument("--seed", type=int, default=CONFIG.seed)
    device = "cuda" if torch.cuda.is_available() else "mps" if torch.backends.mps.is_available() else "cpu"
    parser.add_argument("--device", default=device)
    parser.add_argument("--save", type=Path, help="write the trained weights here (a state_dict)")
    parser.add_argument("--json", action="store_true", help="one JSON object a line")
    args = parser.parse_args()

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
