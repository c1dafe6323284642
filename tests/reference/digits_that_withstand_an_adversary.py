"""Digits that withstand an adversary

Exported from Neuroloom. Needs torch, numpy and scikit-learn only.

    python digits_that_withstand_an_adversary.py
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
    epochs: int = 30
    learning_rate: float = 0.002


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


def worst_near(
    model: nn.Module | None,
    batch: dict[str, Tensor],
    objective: Callable[[Any, dict[str, Tensor]], dict[str, Tensor]],
    reach: float,
    steps: int,
    rate: float,
    low: float,
    high: float,
) -> dict[str, Tensor]:
    """The batch with each number of a column at most `reach` away, where the loss is larger."""
    clean = batch["image"].detach()
    moved = clean + reach * (2 * torch.rand_like(clean) - 1)
    for _ in range(steps):
        moved = moved.clamp(low, high).requires_grad_()
        slope, = torch.autograd.grad(objective(model, {**batch, "image": moved})["loss"], moved)
        moved = (moved.detach() + rate * slope.sign()).clamp(clean - reach, clean + reach)
    return {**batch, "image": moved.clamp(low, high)}


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.hidden = nn.Linear(64, 64)
        self.classes = nn.Linear(64, 10)

    def forward(self, image: Tensor) -> Tensor:  # (N, 1, 8, 8)
        x = image.flatten(1)                     # (N, 64)
        x = F.relu(self.hidden(x))               # (N, 64)
        return self.classes(x)                   # (N, 10)


def load(device: str) -> dict[str, dict[str, Tensor]]:
    """{split: {column: values}} for train, validation and test: image (N, 1, 8, 8); digit (N,)."""
    from sklearn import datasets

    values, target = datasets.load_digits(return_X_y=True)
    pixels, digit = torch.tensor(values).double(), torch.tensor(target).double()
    image = pixels.reshape(-1, 1, 8, 8) / 16
    columns = {"image": image.float(), "digit": digit.long()}
    parts = stratified_split(digit, validation=0.2, test=0.2, seed=0)
    return {split: {name: one[at].to(device) for name, one in columns.items()} for split, at in parts.items()}


def batches(split: dict[str, Tensor], shuffle: torch.Generator | None = None) -> Iterator[dict[str, Tensor]]:
    n = len(split["image"])
    order = torch.arange(n) if shuffle is None else torch.randperm(n, generator=shuffle)
    for rows in order.split(CONFIG.batch):
        yield {name: column.index_select(0, rows.to(column.device)) for name, column in split.items()}


@torch.no_grad()
def evaluate(model: Model, split: dict[str, Tensor]) -> dict[str, float]:
    """The means over a split, with dropout off."""
    model.eval()
    n = 0
    sums: dict[str, float] = {}
    for batch in batches(split):
        size = len(batch["image"])
        n += size
        for name, value in measure(model, batch).items():
            sums[name] = sums.get(name, 0.0) + size * value.item()
    model.train()
    return {name: value / n for name, value in sums.items()}


def report(values: dict[str, float], as_json: bool) -> None:
    shown = "  ".join(f"{name} {value:.4g}" for name, value in values.items())
    print(json.dumps(values) if as_json else shown)


def objective_clean(model: Model, batch: dict[str, Tensor]) -> dict[str, Tensor]:
    """Trains everything."""
    image = batch["image"]       # (N, 1, 8, 8)
    digit = batch["digit"]       # (N,)
    x = image.flatten(1)         # (N, 64)
    x = F.relu(model.hidden(x))  # (N, 64)
    classes = model.classes(x)   # (N, 10)
    return {"loss": F.cross_entropy(classes, digit)}


def objective(model: Model, batch: dict[str, Tensor]) -> dict[str, Tensor]:
    """Trains everything, on the worst examples near those of the batch."""
    batch = worst_near(model, batch, objective_clean, reach=0.1, steps=5, rate=0.03, low=0.0, high=1.0)
    return objective_clean(model, batch)


def objective_optimiser(model: Model) -> torch.optim.Optimizer:
    return torch.optim.Adam(model.parameters(), lr=CONFIG.learning_rate)


def measure(model: Model, batch: dict[str, Tensor]) -> dict[str, Tensor]:
    """The losses and metrics of a batch."""
    image = batch["image"]       # (N, 1, 8, 8)
    digit = batch["digit"]       # (N,)
    x = image.flatten(1)         # (N, 64)
    x = F.relu(model.hidden(x))  # (N, 64)
    classes = model.classes(x)   # (N, 10)
    return {
        "loss": F.cross_entropy(classes, digit),
        "accuracy": (classes.argmax(1) == digit).float().mean(),
    }


def train(model: Model, data: dict[str, dict[str, Tensor]], seed: int, epochs: int, as_json: bool) -> None:
    optimiser = objective_optimiser(model)
    shuffle = torch.Generator().manual_seed(seed)
    step = 0
    for epoch in range(epochs):
        for batch in batches(data["train"], shuffle):
            optimiser.zero_grad()
            loss = objective(model, batch)["loss"]
            value = loss.item()
            if not math.isfinite(value):
                raise SystemExit(f"The loss is {value} after {step} steps: a lower rate may help.")
            loss.backward()
            optimiser.step()
            step += 1
            if as_json:
                print(json.dumps({"step": step, "epoch": epoch, "loss": value}))
        found = evaluate(model, data["validation"])
        values = {f"val_{name}": value for name, value in found.items()}
        report({"epoch": epoch, **values}, as_json)


def main() -> None:
    parser = argparse.ArgumentParser(description="Digits that withstand an adversary")
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
