"""The delta rule by hand

Exported from Neuroloom. Needs torch and numpy only.

    python the_delta_rule_by_hand.py
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from pathlib import Path

import torch
import torch.nn.functional as F
from torch import Tensor, nn

SEED, EPOCHS = 0, 20


# engine.data.splits.columns_of, 7 lines, ecfa9d4753f0


# engine.data.sets.points.three_copies, 4 lines, cff0effaadea


# engine.data.sets.points.load_worked_example, 4 lines, 621fc76dfc67


# engine.layers.delta_rule.DeltaRule, 71 lines, 355cb5d353af


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.gradient = DeltaRule(2, 2, 1, lr=1.0, start=(0.4, 0.2, -1.2, 0.7, -0.7, -0.7, 0.4, -0.5, 2.3))
        self.as_printed = DeltaRule(
            2, 2, 1, lr=1.0, slope="sigmoid's", start=(0.4, 0.2, -1.2, 0.7, -0.7, -0.7, 0.4, -0.5, 2.3)
        )

    def forward(self, inputs: Tensor) -> tuple[Tensor, Tensor]:  # (N, 2)
        gradient = self.gradient(inputs)                         # (N, 1)
        as_printed = self.as_printed(inputs)                     # (N, 1)
        return gradient, as_printed


def load(folder: Path, device: str) -> dict[str, dict[str, Tensor]]:
    """{split: {column: values}} for train, validation and test: inputs (N, 2); target (N, 1)."""
    return load_worked_example(folder, device)


def batches(split: dict[str, Tensor], shuffle: torch.Generator | None = None) -> Iterator[dict[str, Tensor]]:
    n = len(split["inputs"])
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
        size = len(batch["inputs"])
        n += size
        for name, value in measure(model, batch).items():
            sums[name] = sums.get(name, 0.0) + size * value.item()
    model.train()
    return {name: value / n for name, value in sums.items()}


def report(values: dict[str, float], as_json: bool) -> None:
    shown = "  ".join(f"{name} {value:.4g}" for name, value in values.items())
    print(json.dumps(values) if as_json else shown)


def gradient(model: Model, batch: dict[str, Tensor]) -> dict[str, Tensor]:
    """The rule of gradient."""
    inputs = batch["inputs"]  # (N, 2)
    target = batch["target"]  # (N, 1)
    return model.gradient.update(inputs, target)


def printed(model: Model, batch: dict[str, Tensor]) -> dict[str, Tensor]:
    """The rule of as printed."""
    inputs = batch["inputs"]  # (N, 2)
    target = batch["target"]  # (N, 1)
    return model.as_printed.update(inputs, target)


def measure(model: Model, batch: dict[str, Tensor]) -> dict[str, Tensor]:
    """The losses and metrics of a batch."""
    inputs = batch["inputs"]                  # (N, 2)
    target = batch["target"]                  # (N, 1)
    gradient_output = model.gradient(inputs)  # (N, 1)
    as_printed = model.as_printed(inputs)     # (N, 1)
    return {
        "gradient_error": F.mse_loss(gradient_output, target),
        "printed_error": F.mse_loss(as_printed, target),
    }


def train(model: Model, data: dict[str, dict[str, Tensor]], seed: int, epochs: int, as_json: bool) -> None:
    rules = [("gradient", gradient), ("printed", printed)]
    shuffle = torch.Generator().manual_seed(seed)
    step = 0
    for epoch in range(epochs):
        for batch in batches(data["train"], shuffle):
            values = {}
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
    parser = argparse.ArgumentParser(description="The delta rule by hand")
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
