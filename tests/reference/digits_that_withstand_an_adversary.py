"""Digits that withstand an adversary

Exported from Neuroloom. Needs torch, numpy and scikit-learn only.

    python digits_that_withstand_an_adversary.py
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

SEED, BATCH, EPOCHS = 0, 64, 30


# engine.data.sets.scikit_learn.scikit_learn_set, 8 lines, 61276bf3f0a8


# engine.data.splits.columns_of, 7 lines, ecfa9d4753f0


# engine.data.splits.evenly, 3 lines, 599b8f7d4329


# engine.data.splits.stratified, 8 lines, 87e105d15bfd


# engine.data.splits.three_ways, 6 lines, b59183928437


# engine.data.sets.scikit_learn.load_digits, 16 lines, ee441eb1a319


# engine.optim.adversary.worst_near, 26 lines, 960b042f59b3


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.hidden = nn.Linear(64, 64)
        self.classes = nn.Linear(64, 10)

    def forward(self, image: Tensor) -> Tensor:  # (N, 1, 8, 8)
        x = image.flatten(1)                     # (N, 64)
        x = F.relu(self.hidden(x))               # (N, 64)
        return self.classes(x)                   # (N, 10)


def load(folder: Path, device: str) -> dict[str, dict[str, Tensor]]:
    """{split: {column: values}} for train, validation and test: image (N, 1, 8, 8); digit (N,)."""
    splits = load_digits(folder, device, validation=0.2, test=0.2, seed=0)
    used = ("image", "digit")
    return {split: {name: columns[name] for name in used} for split, columns in splits.items()}


def batches(split: dict[str, Tensor], shuffle: torch.Generator | None = None) -> Iterator[dict[str, Tensor]]:
    n = len(split["image"])
    order = torch.arange(n) if shuffle is None else torch.randperm(n, generator=shuffle)
    for rows in order.split(BATCH):
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
    batch = worst_near(
        model, batch, objective_clean, "image", reach=0.1, steps=5, rate=0.03, low=0.0, high=1.0
    )
    return objective_clean(model, batch)


def objective_optimiser(model: Model) -> torch.optim.Optimizer:
    return torch.optim.Adam(model.parameters(), lr=0.002)


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
    parser.add_argument("--epochs", type=int, default=EPOCHS)
    parser.add_argument("--seed", type=int, default=SEED)
    device = "cuda" if torch.cuda.is_available() else "mps" if torch.backends.mps.is_available() else "cpu"
    parser.add_argument("--device", default=device)
    parser.add_argument("--save", type=Path, help="write the trained weights here (a state_dict)")
    parser.add_argument("--json", action="store_true", help="one JSON object a line")
    args = parser.parse_args()

    torch.set_num_threads(1)  # faster than several for so small a network
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
