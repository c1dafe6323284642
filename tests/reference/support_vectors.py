"""Support vectors

Exported from Neuroloom. Needs torch, numpy and scikit-learn only.

    python support_vectors.py
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


# engine.data.sets.points.plane_points, 47 lines, 3b3f9bb8e0f2


# engine.data.splits.columns_of, 7 lines, ecfa9d4753f0


# engine.data.splits.evenly, 3 lines, 599b8f7d4329


# engine.data.splits.stratified, 8 lines, 87e105d15bfd


# engine.data.splits.three_ways, 6 lines, b59183928437


# engine.data.sets.points.load_points, 18 lines, fe32bac357df


# engine.layers.fitted.Fitted, 9 lines, 7b2a6ac3ae61


# engine.layers.support_vectors.SupportVectors, 51 lines, 6551d79cdce1


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.machine = SupportVectors(2, 2, gamma=2.0)

    def forward(self, point: Tensor) -> Tensor:  # (N, 2)
        return self.machine(point)               # (N, 1)


def load(folder: Path, device: str) -> dict[str, dict[str, Tensor]]:
    """{split: {column: values}} for train, validation and test: point (N, 2); side (N, 1)."""
    splits = load_points(
        folder,
        device,
        form="moons",
        rows=400,
        noise=0.2,
        margin=0.2,
        spread=0.35,
        turns=1.5,
        validation=0.2,
        test=0.2,
        seed=0,
    )
    used = ("point", "side")
    return {split: {name: columns[name] for name in used} for split, columns in splits.items()}


def batches(
    split: dict[str, Tensor], shuffle: torch.Generator | None = None, size: int | None = BATCH
) -> Iterator[dict[str, Tensor]]:
    n = len(split["point"])
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
        size = len(batch["point"])
        n += size
        for name, value in measure(model, batch).items():
            sums[name] = sums.get(name, 0.0) + size * value.item()
    model.train()
    return {name: value / n for name, value in sums.items()}


def report(values: dict[str, float], as_json: bool) -> None:
    shown = "  ".join(f"{name} {value:.4g}" for name, value in values.items())
    print(json.dumps(values) if as_json else shown)


def objective(model: Model, batch: dict[str, Tensor]) -> dict[str, Tensor]:
    """The rule of machine."""
    point = batch["point"]  # (N, 2)
    side = batch["side"]    # (N, 1)
    return model.machine.fit(point, side)


def measure(model: Model, batch: dict[str, Tensor]) -> dict[str, Tensor]:
    """The losses and metrics of a batch."""
    point = batch["point"]          # (N, 2)
    side = batch["side"]            # (N, 1)
    machine = model.machine(point)  # (N, 1)
    return {"accuracy": (machine.gt(0) == side.gt(0)).float().mean()}


def train(model: Model, data: dict[str, dict[str, Tensor]], seed: int, epochs: int, as_json: bool) -> None:
    shuffle = torch.Generator().manual_seed(seed)
    step = 0
    for epoch in range(epochs):
        for batch in batches(data["train"], shuffle, len(data["train"]["point"])):
            with torch.no_grad():
                value = objective(model, batch)["loss"].item()
            step += 1
            if as_json:
                print(json.dumps({"step": step, "epoch": epoch, "loss": value}))
        found = evaluate(model, data["validation"])
        values = {f"val_{name}": value for name, value in found.items()}
        report({"epoch": epoch, **values}, as_json)


def main() -> None:
    parser = argparse.ArgumentParser(description="Support vectors")
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
