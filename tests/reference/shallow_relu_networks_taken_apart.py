"""Shallow ReLU networks taken apart

Exported from Neuroloom. Needs torch and numpy only.

    python shallow_relu_networks_taken_apart.py
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
    seed: int = 4
    epochs: int = 600
    learning_rate: float = 0.02


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


class TypedLinear(nn.Linear):
    """A dense layer that begins with typed units, each its bias and then a weight for each input."""

    def __init__(self, units: str) -> None:
        rows = torch.tensor(
            [[float(one) for one in unit.split()] for unit in units.replace(",", " ").split(";")]
        )
        super().__init__(rows.shape[1] - 1, len(rows))
        with torch.no_grad():
            self.bias.copy_(rows[:, 0])
            self.weight.copy_(rows[:, 1:])


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.three_units = nn.Linear(1, 3)
        nn.init.kaiming_uniform_(self.three_units.weight, nonlinearity="relu")
        nn.init.zeros_(self.three_units.bias)
        self.sum_of_three = nn.Linear(3, 1)
        self.first_six = nn.Linear(1, 6)
        nn.init.kaiming_uniform_(self.first_six.weight, nonlinearity="relu")
        nn.init.zeros_(self.first_six.bias)
        self.second_six = nn.Linear(6, 6)
        nn.init.kaiming_uniform_(self.second_six.weight, nonlinearity="relu")
        nn.init.zeros_(self.second_six.bias)
        self.sum_of_six = nn.Linear(6, 1)
        self.typed_four = TypedLinear("1 1; 0.5 1; 0 1; -0.5 1")
        self.sum_of_four = LeastSquares(4, 1)
        self.typed_sixteen = TypedLinear(
            "1 1; 0.875 1; 0.75 1; 0.625 1; 0.5 1; 0.375 1; 0.25 1; 0.125 1; 0 1; -0.125 1; -0.25 1; -0.375 "
            "1; -0.5 1; -0.625 1; -0.75 1; -0.875 1"
        )
        self.sum_of_sixteen = LeastSquares(16, 1)

    def forward(self, x_: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:  # (N, 1)
        x = F.relu(self.three_units(x_))         # (N, 3)
        sum_of_three = self.sum_of_three(x)      # (N, 1)
        x = F.relu(self.first_six(x_))           # (N, 6)
        x = F.relu(self.second_six(x))           # (N, 6)
        sum_of_six = self.sum_of_six(x)          # (N, 1)
        x = F.relu(self.typed_four(x_))          # (N, 4)
        sum_of_four = self.sum_of_four(x)        # (N, 1)
        x = F.relu(self.typed_sixteen(x_))       # (N, 16)
        sum_of_sixteen = self.sum_of_sixteen(x)  # (N, 1)
        return sum_of_three, sum_of_six, sum_of_four, sum_of_sixteen


def load(device: str) -> dict[str, dict[str, Tensor]]:
    """{split: {column: values}} for train, validation and test: x (N, 1); y (N, 1)."""
    noise, rows, seed = 0.0, 200, 0
    draw = torch.Generator().manual_seed(seed)
    drawn = torch.randn(rows, 1, generator=draw)
    x = torch.linspace(-1, 1, rows)[:, None]
    clean = torch.sin(math.pi * x)
    clean = (1 - noise) * ((clean - clean.mean()) / clean.std(correction=0))
    strength = torch.ones_like(x)
    deviation = noise * strength
    columns = {"x": x, "y": clean + deviation * drawn}
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


def trained(model: Model, batch: dict[str, Tensor]) -> dict[str, Tensor]:
    """trained: trains three_units, sum_of_three, first_six, second_six, sum_of_six."""
    x_ = batch["x"]                       # (N, 1)
    y = batch["y"]                        # (N, 1)
    x = F.relu(model.three_units(x_))     # (N, 3)
    sum_of_three = model.sum_of_three(x)  # (N, 1)
    x = F.relu(model.first_six(x_))       # (N, 6)
    x = F.relu(model.second_six(x))       # (N, 6)
    sum_of_six = model.sum_of_six(x)      # (N, 1)
    loss_of_three = F.mse_loss(sum_of_three, y)
    loss_of_six_and_six = F.mse_loss(sum_of_six, y)
    return {
        "loss": loss_of_three + loss_of_six_and_six,
        "loss_of_three": loss_of_three,
        "loss_of_six_and_six": loss_of_six_and_six,
    }


def trained_optimiser(model: Model) -> torch.optim.Optimizer:
    return torch.optim.Adam(
        [
            *model.three_units.parameters(),
            *model.sum_of_three.parameters(),
            *model.first_six.parameters(),
            *model.second_six.parameters(),
            *model.sum_of_six.parameters(),
        ],
        lr=CONFIG.learning_rate,
    )


def four(model: Model, batch: dict[str, Tensor]) -> dict[str, Tensor]:
    """The rule of sum of four."""
    x_ = batch["x"]                            # (N, 1)
    y = batch["y"]                             # (N, 1)
    typed_four = F.relu(model.typed_four(x_))  # (N, 4)
    return model.sum_of_four.fit(typed_four, y)


def sixteen(model: Model, batch: dict[str, Tensor]) -> dict[str, Tensor]:
    """The rule of sum of sixteen."""
    x_ = batch["x"]                                  # (N, 1)
    y = batch["y"]                                   # (N, 1)
    typed_sixteen = F.relu(model.typed_sixteen(x_))  # (N, 16)
    return model.sum_of_sixteen.fit(typed_sixteen, y)


def measure(model: Model, batch: dict[str, Tensor]) -> dict[str, Tensor]:
    """The losses and metrics of a batch."""
    x_ = batch["x"]                           # (N, 1)
    y = batch["y"]                            # (N, 1)
    x = F.relu(model.three_units(x_))         # (N, 3)
    sum_of_three = model.sum_of_three(x)      # (N, 1)
    x = F.relu(model.first_six(x_))           # (N, 6)
    x = F.relu(model.second_six(x))           # (N, 6)
    sum_of_six = model.sum_of_six(x)          # (N, 1)
    x = F.relu(model.typed_four(x_))          # (N, 4)
    sum_of_four = model.sum_of_four(x)        # (N, 1)
    x = F.relu(model.typed_sixteen(x_))       # (N, 16)
    sum_of_sixteen = model.sum_of_sixteen(x)  # (N, 1)
    loss_of_three = F.mse_loss(sum_of_three, y)
    loss_of_six_and_six = F.mse_loss(sum_of_six, y)
    return {
        "loss": loss_of_three + loss_of_six_and_six,
        "loss_of_three": loss_of_three,
        "loss_of_six_and_six": loss_of_six_and_six,
        "error_of_four": F.mse_loss(sum_of_four, y),
        "error_of_sixteen": F.mse_loss(sum_of_sixteen, y),
    }


def train(model: Model, data: dict[str, dict[str, Tensor]], seed: int, epochs: int, as_json: bool) -> None:
    objectives = [  # by name, with their optimisers (none for a rule)
        ("trained", trained, trained_optimiser(model)),
        ("four", four, None),
        ("sixteen", sixteen, None),
    ]
    shuffle = torch.Generator().manual_seed(seed)
    step = 0
    for epoch in range(epochs):
        model.typed_four.eval()
        model.typed_sixteen.eval()
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
    parser = argparse.ArgumentParser(description="Shallow ReLU networks taken apart")
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
