"""Weights drawn, not found

Exported from Neuroloom. Needs torch and numpy only.

    python weights_drawn_not_found.py
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

SEED, BATCH, EPOCHS = 0, 64, 260


# engine.data.sets.curves.around_gap, 6 lines, cb76a0531775


# engine.data.sets.curves.curve, 22 lines, 7da708cd3f87


# engine.data.sets.curves.noise_over, 9 lines, cab2e847b776


# engine.data.splits.columns_of, 7 lines, ecfa9d4753f0


# engine.data.splits.evenly, 3 lines, 599b8f7d4329


# engine.data.splits.stratified, 8 lines, 87e105d15bfd


# engine.data.splits.three_ways, 6 lines, b59183928437


# engine.data.sets.curves.load_curve, 40 lines, 798327980a33


# engine.optim.hmc.HMC, 121 lines, 75586f4b1519


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.hidden = nn.Linear(1, 20)
        self.value = nn.Linear(20, 1)

    def forward(self, x_: Tensor) -> Tensor:  # (N, 1)
        x = torch.tanh(self.hidden(x_))       # (N, 20)
        return self.value(x)                  # (N, 1)


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
    """Trains everything."""
    x_ = batch["x"]                   # (N, 1)
    y = batch["y"]                    # (N, 1)
    x = torch.tanh(model.hidden(x_))  # (N, 20)
    value = model.value(x)            # (N, 1)
    error = F.mse_loss(value, y)
    return {"loss": 22.2 * error}


def objective_optimiser(model: Model) -> torch.optim.Optimizer:
    return HMC(model.parameters(), lr=0.01, leaps=30, prior=2.0, warm_up=60)


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
            def closure() -> Tensor:
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
