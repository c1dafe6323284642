"""Perceptrons learn gates

Exported from Neuroloom. Needs torch and numpy only.

    python perceptrons_learn_gates.py
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor, nn


@dataclass(frozen=True)
class Config:
    seed: int = 0
    batch: int = 1
    epochs: int = 15


CONFIG = Config()


class Perceptron(nn.Module):
    """Sign units that learn from their mistakes only; a row on the boundary w·x + b = 0 is one."""
    # Source: Rosenblatt 1958; the bound: Novikoff 1962.

    updates: Tensor

    def __init__(self, inputs: int, units: int = 1, lr: float = 1.0, low: int = -1) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(units, inputs))
        self.bias = nn.Parameter(torch.zeros(units))
        self.register_buffer("updates", torch.zeros(()))
        self.lr, self.low = lr, low

    def forward(self, x: Tensor) -> Tensor:
        sign = torch.sign(x @ self.weight.T + self.bias)
        return sign if self.low else (sign + 1) / 2

    def update(self, x: Tensor, target: Tensor) -> dict[str, Tensor]:
        """Go through the rows in turn; on a mistake w += y x, b += y. The loss: the fraction of mistakes."""
        wanted = target.reshape(len(x), -1).to(x)
        wanted = wanted if self.low else 2 * wanted - 1
        mistakes = torch.zeros((), device=x.device)
        for row, y in zip(x, wanted, strict=True):
            wrong = y * (self.weight @ row + self.bias) <= 0
            step = self.lr * torch.where(wrong, y, 0.0)
            self.weight.add_(step[:, None] * row)
            self.bias.add_(step)
            mistakes += wrong.sum()
        self.updates += mistakes
        reach = wanted * (x @ self.weight.T + self.bias) / self.weight.norm(dim=1).clamp(min=1e-12)
        return {"loss": mistakes / wanted.numel(), "updates": self.updates.clone(), "margin": reach.min()}


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.and_unit = Perceptron(2, 1)
        self.or_unit = Perceptron(2, 1)
        self.xor_unit = Perceptron(2, 1)

    def forward(self, inputs: Tensor) -> tuple[Tensor, Tensor, Tensor]:  # (N, 2)
        and_unit = self.and_unit(inputs)  # (N, 1)
        or_unit = self.or_unit(inputs)    # (N, 1)
        xor_unit = self.xor_unit(inputs)  # (N, 1)
        return and_unit, or_unit, xor_unit


def load(device: str) -> dict[str, dict[str, Tensor]]:
    """{split: {column: values}} for train, validation and test.

    inputs (N, 2); both (N, 1); either (N, 1); differ (N, 1).
    """
    inputs = torch.tensor([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    ones = inputs.sum(1, keepdim=True)
    columns = {
        "inputs": inputs,
        "both": (ones == 2).float(),
        "either": (ones >= 1).float(),
        "differ": (ones == 1).float(),
    }
    columns = {name: 2 * values - 1 for name, values in columns.items()}
    rows = torch.arange(4)
    parts = dict.fromkeys(("train", "validation", "test"), rows)
    return {split: {name: one[at].to(device) for name, one in columns.items()} for split, at in parts.items()}


def batches(split: dict[str, Tensor], shuffle: torch.Generator | None = None) -> Iterator[dict[str, Tensor]]:
    n = len(split["inputs"])
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
        size = len(batch["inputs"])
        n += size
        for name, value in measure(model, batch).items():
            sums[name] = sums.get(name, 0.0) + size * value.item()
    model.train()
    return {name: value / n for name, value in sums.items()}


def report(values: dict[str, float], as_json: bool) -> None:
    shown = "  ".join(f"{name} {value:.4g}" for name, value in values.items())
    print(json.dumps(values) if as_json else shown)


def and_(model: Model, batch: dict[str, Tensor]) -> dict[str, Tensor]:
    """The rule of AND unit."""
    inputs = batch["inputs"]  # (N, 2)
    both = batch["both"]      # (N, 1)
    return model.and_unit.update(inputs, both)


def or_(model: Model, batch: dict[str, Tensor]) -> dict[str, Tensor]:
    """The rule of OR unit."""
    inputs = batch["inputs"]  # (N, 2)
    either = batch["either"]  # (N, 1)
    return model.or_unit.update(inputs, either)


def xor(model: Model, batch: dict[str, Tensor]) -> dict[str, Tensor]:
    """The rule of XOR unit."""
    inputs = batch["inputs"]  # (N, 2)
    differ = batch["differ"]  # (N, 1)
    return model.xor_unit.update(inputs, differ)


def measure(model: Model, batch: dict[str, Tensor]) -> dict[str, Tensor]:
    """The losses and metrics of a batch."""
    inputs = batch["inputs"]           # (N, 2)
    both = batch["both"]               # (N, 1)
    either = batch["either"]           # (N, 1)
    differ = batch["differ"]           # (N, 1)
    and_unit = model.and_unit(inputs)  # (N, 1)
    or_unit = model.or_unit(inputs)    # (N, 1)
    xor_unit = model.xor_unit(inputs)  # (N, 1)
    return {
        "and_accuracy": (and_unit.gt(0) == both.gt(0)).float().mean(),
        "or_accuracy": (or_unit.gt(0) == either.gt(0)).float().mean(),
        "xor_accuracy": (xor_unit.gt(0) == differ.gt(0)).float().mean(),
    }


def train(model: Model, data: dict[str, dict[str, Tensor]], seed: int, epochs: int, as_json: bool) -> None:
    rules = [("and_", and_), ("or_", or_), ("xor", xor)]
    shuffle = torch.Generator().manual_seed(seed)
    step = 0
    for epoch in range(epochs):
        mistakes = 0.0
        for batch in batches(data["train"], shuffle):
            with torch.no_grad():
                values = {name: update(model, batch)["loss"].item() for name, update in rules}
            mistakes += sum(values.values())
            step += 1
            if as_json:
                print(json.dumps({"step": step, "epoch": epoch, **values}))
        found = evaluate(model, data["validation"])
        values = {f"val_{name}": value for name, value in found.items()}
        report({"epoch": epoch, **values}, as_json)
        if mistakes == 0:
            break


def main() -> None:
    parser = argparse.ArgumentParser(description="Perceptrons learn gates")
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
