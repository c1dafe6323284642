"""A line through points

Exported from Neuroloom. Needs torch and numpy only.

    python a_line_through_points.py
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Iterator
from pathlib import Path

import torch
import torch.nn.functional as F
from torch import Tensor, nn

SEED, EPOCHS = 0, 60


# engine.data.splits.columns_of, 7 lines, ecfa9d4753f0


# engine.data.splits.evenly, 3 lines, 599b8f7d4329


# engine.data.splits.stratified, 8 lines, 87e105d15bfd


# engine.data.splits.three_ways, 6 lines, b59183928437


# engine.data.sets.curves.load_line, 20 lines, 9fc0ca7fa9a7


# engine.catalogue.training.penalties.l1, 3 lines, 57a4617021d3


# engine.optim.zeros.with_zeros, 28 lines, 98d64f1509cd


# engine.layers.least_squares.LeastSquares, 31 lines, 39a20ad72e9d


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


def load(folder: Path, device: str) -> dict[str, dict[str, Tensor]]:
    """{split: {column: values}} for train, validation and test: x (N, 1); y (N, 1)."""
    return load_line(
        folder, device, slope=2.0, intercept=1.0, noise=0.3, rows=100, validation=0.2, test=0.2, seed=0
    )


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


def gradient_weights(model: Model) -> list[nn.Parameter]:
    return [*model.by_gradient.parameters()]


def gradient_optimiser(model: Model) -> torch.optim.Optimizer:
    return torch.optim.SGD(model.by_gradient.parameters(), lr=0.2)


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
    return with_zeros(torch.optim.SGD(model.lasso.parameters(), lr=0.2), 0.5)


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
    objectives = [  # by name, with the weights that each moves, and by what
        ("gradient", gradient, gradient_weights(model), gradient_optimiser(model)),
        ("lasso", lasso, lasso_weights(model), lasso_optimiser(model)),
    ]
    rules = [("closed", closed), ("ridge", ridge)]
    shuffle = torch.Generator().manual_seed(seed)
    step = 0
    for epoch in range(epochs):
        for batch in batches(data["train"], shuffle):
            values = {}
            for name, compute, weights, optimiser in objectives:
                optimiser.zero_grad()
                loss = compute(model, batch)["loss"]
                values[name] = loss.item()
                if not math.isfinite(values[name]):
                    raise SystemExit(f"{name} is {values[name]} after {step} steps: a lower rate may help.")
                loss.backward(inputs=weights)
                optimiser.step()
            with torch.no_grad():
                for name, update in rules:
                    values[name] = update(model, batch)["loss"].item()
            step += 1
            if as_json:
                print(json.dumps({"step": step, "epoch": epoch, **values}))
        found = evaluate(model, data["validation"])
        values = {f"val_{name}": value for name, value in found.items()}
        report({"epoch": epoch, **values}, as_json)


def main() -> None:
    parser = argparse.ArgumentParser(description="A line through points")
    parser.add_argument("--epochs", type=int, default=EPOCHS)
    parser.add_argument("--seed", type=int, default=SEED)
    device = "cuda" if torch.cuda.is_available() else "mps" if torch.backends.mps.is_available() else "cpu"
    parser.add_argument("--device", default=device)
    parser.add_argument("--save", type=Path, help="write the trained weights here (a state_dict)")
    parser.add_argument("--json", action="store_true", help="one JSON object a line")
    args = parser.parse_args()

    torch.manual_seed(args.seed)
    model = Model().to(args.device)
    data = load(Path(), args.device)
    train(model, data, args.seed, args.epochs, args.json)
    found = evaluate(model, data["test"])
    report({f"test_{name}": value for name, value in found.items()}, args.json)
    if args.save:
        torch.save(model.state_dict(), args.save)


if __name__ == "__main__":
    main()
