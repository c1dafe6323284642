"""Three learning rates

Exported from Neuroloom. Needs torch and numpy only.

    python three_learning_rates.py
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import torch
import torch.nn.functional as F
from torch import Tensor, nn


@dataclass(frozen=True)
class Config:
    seed: int = 0
    epochs: int = 25
    crawls_lr: float = 0.002
    converges_lr: float = 0.2
    diverges_lr: float = 2.0


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


def explained(means: Tensor) -> Tensor:
    """R² out of `moments`, (): the mean over the targets; 0 for one that never varies."""
    error, mean, square = means
    variance = square - mean.square()
    varies = variance > 1e-12 * square
    return torch.where(varies, 1 - error / variance.clamp(1e-300), 0.0).mean()


def explained_as(means: Tensor, form: str) -> Tensor:
    """R² out of `joint_moments`, (): "regression" is Σ (p - mean y)² / Σ (y - mean y)², else corr(p, y)²."""
    mean, square, level, power, product = means
    variance, spread = square - mean.square(), power - level.square()
    if form == "regression":
        found = (power - 2 * mean * level + mean.square()) / variance.clamp_min(1e-300)
    else:
        found = (product - mean * level).square() / (variance * spread).clamp_min(1e-300)
        variance = torch.where(spread > 1e-12 * power, variance, 0.0)
    return torch.where(variance > 1e-12 * square, found, 0.0).mean()


def joint_moments(prediction: Tensor, target: Tensor) -> Tensor:
    """Means over a batch (N, ...) of y, y², p, p² and p y, p predicted and y right, (5, D), as doubles."""
    pair = (one.cpu() if one.is_mps else one for one in (prediction, target))  # which has no doubles
    guess, right = (one.double().reshape(len(one), -1) for one in pair)
    return torch.stack((right, right.square(), guess, guess.square(), guess * right)).mean(1)


def moments(prediction: Tensor, target: Tensor) -> Tensor:
    """Means over a batch (N, ...) of squared errors, targets and squared targets, (3, D), as doubles."""
    pair = (one.cpu() if one.is_mps else one for one in (prediction, target))  # which has no doubles
    guess, right = (one.double().reshape(len(one), -1) for one in pair)
    return torch.stack(((right - guess).square().mean(0), right.mean(0), right.square().mean(0)))


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.rate_0_002 = nn.Linear(1, 1)
        self.rate_0_2 = nn.Linear(1, 1)
        self.rate_2_0 = nn.Linear(1, 1)
        self.closed_form = LeastSquares(1, 1)

    def forward(self, x_: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:  # (N, 1)
        rate_0_002 = self.rate_0_002(x_)    # (N, 1)
        rate_0_2 = self.rate_0_2(x_)        # (N, 1)
        rate_2_0 = self.rate_2_0(x_)        # (N, 1)
        closed_form = self.closed_form(x_)  # (N, 1)
        return rate_0_002, rate_0_2, rate_2_0, closed_form


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
    """The means over what counts in a split, with dropout off."""
    model.eval()
    sums: dict[str, Tensor] = {}
    weights: dict[str, float] = {}
    for batch in batches(split):
        for name, (value, weight) in measure(model, batch).items():
            value = float(weight) * value.cpu().double()
            sums[name] = sums[name] + value if name in sums else value
            weights[name] = weights.get(name, 0.0) + float(weight)
    model.train()
    means = {name: value / (weights[name] or math.nan) for name, value in sums.items()}
    found = {name: value.item() for name, value in means.items() if not name.endswith(" means")}
    found["r2_of_residuals"] = float(explained(means["r2_of_residuals means"]))
    found["r2_of_regression"] = float(explained_as(means["r2_of_regression means"], "regression"))
    found["r2_of_correlation"] = float(explained_as(means["r2_of_correlation means"], "correlation"))
    found["loss"] = found["crawling"] + found["converging"] + found["diverging"]
    return found


def report(values: dict[str, float], as_json: bool) -> None:
    shown = "  ".join(f"{name} {value:.4g}" for name, value in values.items())
    print(json.dumps(values) if as_json else shown)


def crawls(model: Model, batch: dict[str, Tensor]) -> dict[str, Tensor]:
    """crawls: trains rate_0_002."""
    x_ = batch["x"]                    # (N, 1)
    y = batch["y"]                     # (N, 1)
    rate_0_002 = model.rate_0_002(x_)  # (N, 1)
    return {"loss": F.mse_loss(rate_0_002, y)}


def crawls_optimiser(model: Model) -> torch.optim.Optimizer:
    return torch.optim.SGD(model.rate_0_002.parameters(), lr=CONFIG.crawls_lr)


def converges(model: Model, batch: dict[str, Tensor]) -> dict[str, Tensor]:
    """converges: trains rate_0_2."""
    x_ = batch["x"]                # (N, 1)
    y = batch["y"]                 # (N, 1)
    rate_0_2 = model.rate_0_2(x_)  # (N, 1)
    return {"loss": F.mse_loss(rate_0_2, y)}


def converges_optimiser(model: Model) -> torch.optim.Optimizer:
    return torch.optim.SGD(model.rate_0_2.parameters(), lr=CONFIG.converges_lr)


def diverges(model: Model, batch: dict[str, Tensor]) -> dict[str, Tensor]:
    """diverges: trains rate_2_0."""
    x_ = batch["x"]                # (N, 1)
    y = batch["y"]                 # (N, 1)
    rate_2_0 = model.rate_2_0(x_)  # (N, 1)
    return {"loss": F.mse_loss(rate_2_0, y)}


def diverges_optimiser(model: Model) -> torch.optim.Optimizer:
    return torch.optim.SGD(model.rate_2_0.parameters(), lr=CONFIG.diverges_lr)


def closed(model: Model, batch: dict[str, Tensor]) -> dict[str, Tensor]:
    """The rule of closed form."""
    x_ = batch["x"]  # (N, 1)
    y = batch["y"]   # (N, 1)
    return model.closed_form.fit(x_, y)


def measure(model: Model, batch: dict[str, Tensor]) -> dict[str, tuple[Tensor, Tensor | int]]:
    """The losses and metrics of a batch, each with how much the batch counts in the mean over several."""
    x_ = batch["x"]                      # (N, 1)
    y = batch["y"]                       # (N, 1)
    rate_0_002 = model.rate_0_002(x_)    # (N, 1)
    rate_0_2 = model.rate_0_2(x_)        # (N, 1)
    rate_2_0 = model.rate_2_0(x_)        # (N, 1)
    closed_form = model.closed_form(x_)  # (N, 1)
    crawling = F.mse_loss(rate_0_002, y)
    converging = F.mse_loss(rate_0_2, y)
    diverging = F.mse_loss(rate_2_0, y)
    return {
        "loss": (crawling + converging + diverging, len(batch["x"])),
        "crawling": (crawling, len(batch["x"])),
        "converging": (converging, len(batch["x"])),
        "diverging": (diverging, len(batch["x"])),
        "closed_error": (F.mse_loss(closed_form, y), len(batch["x"])),
        "r2_of_residuals": (explained(moments(closed_form, y)), len(batch["x"])),
        "r2_of_regression": (explained_as(joint_moments(closed_form, y), "regression"), len(batch["x"])),
        "r2_of_correlation": (explained_as(joint_moments(closed_form, y), "correlation"), len(batch["x"])),
        "r2_of_residuals means": (moments(closed_form, y), len(batch["x"])),
        "r2_of_regression means": (joint_moments(closed_form, y), len(batch["x"])),
        "r2_of_correlation means": (joint_moments(closed_form, y), len(batch["x"])),
    }


def train(model: Model, data: dict[str, dict[str, Tensor]], seed: int, epochs: int, as_json: bool) -> None:
    objectives = [  # by name, with their optimisers (none for a rule)
        ("crawls", crawls, crawls_optimiser(model)),
        ("converges", converges, converges_optimiser(model)),
        ("diverges", diverges, diverges_optimiser(model)),
        ("closed", closed, None),
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
    parser = argparse.ArgumentParser(description="Three learning rates")
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
