"""Gaussian process

Exported from Neuroloom. Needs torch, numpy and scikit-learn only.

    python gaussian_process.py
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

SEED, BATCH, EPOCHS = 0, 64, 1


# engine.data.sets.curves.around_gap, 6 lines, cb76a0531775


# engine.data.sets.curves.curve, 22 lines, 7da708cd3f87


# engine.data.sets.curves.noise_over, 9 lines, cab2e847b776


# engine.data.splits.columns_of, 7 lines, ecfa9d4753f0


# engine.data.splits.evenly, 3 lines, 599b8f7d4329


# engine.data.splits.stratified, 8 lines, 87e105d15bfd


# engine.data.splits.three_ways, 6 lines, b59183928437


# engine.data.sets.curves.load_curve, 40 lines, 798327980a33


# engine.layers.fitted.Fitted, 9 lines, 7b2a6ac3ae61


# engine.layers.gaussian_process.GaussianProcess, 83 lines, 15dbc98f4a34


# engine.layers.likelihood.gaussian_likelihood, 7 lines, c8dc97f66d35


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.process = GaussianProcess(1, 1)

    def forward(self, x_: Tensor) -> tuple[Tensor, Tensor]:      # (N, 1)
        process_output, process_log_variance = self.process(x_)  # (N, 1), (N, 1)
        return process_output, process_log_variance


def load(folder: Path, device: str) -> dict[str, dict[str, Tensor]]:
    """{split: {column: values}} for train, validation and test: x (N, 1); y (N, 1)."""
    splits = load_curve(
        folder,
        device,
        form="sine",
        rows=60,
        noise=0.15,
        noise_as="deviation",
        spread="even",
        placing="at random",
        gap_from=-0.4,
        gap_to=0.3,
        validation=0.2,
        test=0.2,
        seed=0,
    )
    used = ("x", "y")
    return {split: {name: columns[name] for name in used} for split, columns in splits.items()}


def batches(
    split: dict[str, Tensor], shuffle: torch.Generator | None = None, size: int | None = BATCH
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
    """The rule of process."""
    x_ = batch["x"]  # (N, 1)
    y = batch["y"]   # (N, 1)
    return model.process.fit(x_, y)


def measure(model: Model, batch: dict[str, Tensor]) -> dict[str, Tensor]:
    """The losses and metrics of a batch."""
    x_ = batch["x"]                                           # (N, 1)
    y = batch["y"]                                            # (N, 1)
    process_output, process_log_variance = model.process(x_)  # (N, 1), (N, 1)
    return {"loss": gaussian_likelihood(process_output, process_log_variance, y, 0.001)}


def train(model: Model, data: dict[str, dict[str, Tensor]], seed: int, epochs: int, as_json: bool) -> None:
    shuffle = torch.Generator().manual_seed(seed)
    step = 0
    for epoch in range(epochs):
        for batch in batches(data["train"], shuffle, len(data["train"]["x"])):
            with torch.no_grad():
                value = objective(model, batch)["loss"].item()
            step += 1
            if as_json:
                print(json.dumps({"step": step, "epoch": epoch, "loss": value}))
        found = evaluate(model, data["validation"])
        values = {f"val_{name}": value for name, value in found.items()}
        report({"epoch": epoch, **values}, as_json)


def main() -> None:
    parser = argparse.ArgumentParser(description="Gaussian process")
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
