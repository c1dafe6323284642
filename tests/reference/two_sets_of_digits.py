"""Two sets of digits

Exported from Neuroloom. Needs torch, numpy and scikit-learn only.

    python two_sets_of_digits.py --data FOLDER --epochs 4

FOLDER holds mnist/ and is the script's own by default.
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

SEED, BATCH, EPOCHS = 0, 128, 4


# engine.data.sets.scikit_learn.scikit_learn_set, 8 lines, 61276bf3f0a8


# engine.data.splits.columns_of, 7 lines, ecfa9d4753f0


# engine.data.splits.evenly, 3 lines, 599b8f7d4329


# engine.data.splits.stratified, 8 lines, 87e105d15bfd


# engine.data.splits.three_ways, 6 lines, b59183928437


# engine.data.sets.scikit_learn.load_digits, 16 lines, ee441eb1a319


# engine.data.sets.mnist.read_idx, 16 lines, a3e72ca008ae


# engine.data.sets.mnist.load_mnist, 22 lines, 9dee75e5d816


# engine.layers.losses.covariance_gap, 11 lines, 7dcaadb09eda


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.hidden = nn.Linear(64, 64)
        self.features = nn.Linear(64, 64)
        self.digit = nn.Linear(64, 10)

    def forward(self, image: Tensor, mnist_image: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        shrunk = F.avg_pool2d(mnist_image, 7, stride=3)  # (N, 1, 8, 8)
        pixels = image.flatten(1)                        # (N, 64)
        pixels_2 = shrunk.flatten(1)                     # (N, 64)
        x = F.relu(self.hidden(pixels))                  # (N, 64)
        features = F.relu(self.features(x))              # (N, 64)
        digit = self.digit(features)                     # (N, 10)
        x = F.relu(self.hidden(pixels_2))                # (N, 64)
        features_2 = F.relu(self.features(x))            # (N, 64)
        digit_2 = self.digit(features_2)                 # (N, 10)
        return features, digit, features_2, digit_2


def objective(model: Model, batch: dict[str, Tensor]) -> dict[str, Tensor]:
    """The losses of a batch; training minimises "loss"."""
    features, digit, features_2, _ = model(batch["image"], batch["mnist_image"])
    error = F.cross_entropy(digit, batch["digit"])
    alignment = covariance_gap(features, features_2)
    return {
        "loss": error + 1000.0 * alignment,
        "error": error,
        "alignment": alignment,
    }


def measure(model: Model, batch: dict[str, Tensor]) -> dict[str, tuple[Tensor, Tensor | int]]:
    """The losses and metrics of a batch, each with how much the batch counts in the mean over several."""
    features, digit, features_2, digit_2 = model(batch["image"], batch["mnist_image"])
    error = F.cross_entropy(digit, batch["digit"])
    alignment = covariance_gap(features, features_2)
    return {
        "loss": (error + 1000.0 * alignment, len(batch["image"])),
        "error": (error, len(batch["image"])),
        "alignment": (alignment, len(batch["image"])),
        "accuracy": ((digit.argmax(1) == batch["digit"]).float().mean(), len(batch["image"])),
        "on_mnist": ((digit_2.argmax(1) == batch["mnist_digit"]).float().mean(), len(batch["mnist_image"])),
    }


def load(folder: Path, device: str) -> dict[str, dict[str, Tensor]]:
    """{split: {column: values}} for train, validation and test.

    image (N, 1, 8, 8); digit (N,); mnist_image (N, 1, 28, 28); mnist_digit (N,).
    """
    small_digits = load_digits(folder, device, validation=0.2, test=0.2, seed=0)
    mnist = load_mnist(folder, device, validation=0.1, seed=0)
    return {
        split: {
            "image": small_digits[split]["image"],
            "digit": small_digits[split]["digit"],
            "mnist_image": mnist[split]["image"],
            "mnist_digit": mnist[split]["digit"],
        }
        for split in small_digits
    }


STREAMS = (("image", "digit"), ("mnist_image", "mnist_digit"))  # columns whose rows belong together


def steps_of(split: dict[str, Tensor], size: int | None) -> int:
    """How many batches an epoch has: those of the longest stream."""
    rows = [len(split[names[0]]) for names in STREAMS]
    return max(math.ceil(n / (size or n)) for n in rows)


def parts_of(n: int, steps: int, shuffle: torch.Generator | None, size: int | None) -> list[Tensor]:
    """The n rows of a stream in so many batches; where they are too few, they go round in a new order."""
    if shuffle is None:  # each row comes equally often
        return list(torch.arange(n).repeat(math.ceil(steps / n)).tensor_split(steps))
    found: list[Tensor] = []
    while len(found) < steps:
        parts = list(torch.randperm(n, generator=shuffle).split(size or n))
        found += parts
    return found[:steps]


def batches(
    split: dict[str, Tensor], shuffle: torch.Generator | None = None, size: int | None = BATCH
) -> Iterator[dict[str, Tensor]]:
    """A batch of each stream beside those of the others, until the longest is through."""
    streams = [{name: split[name] for name in names} for names in STREAMS]
    rows, steps = [len(split[names[0]]) for names in STREAMS], steps_of(split, size)
    orders = [parts_of(n, steps, shuffle, size) for n in rows]
    for parts in zip(*orders, strict=True):
        batch = {}
        for columns, at in zip(streams, parts, strict=True):
            batch |= {name: column.index_select(0, at.to(column.device)) for name, column in columns.items()}
        yield batch


@torch.no_grad()
def evaluate(model: Model, split: dict[str, Tensor]) -> dict[str, float]:
    """The means over what counts in a split, with dropout off."""
    model.eval()
    sums: dict[str, float] = {}
    weights: dict[str, float] = {}
    for batch in batches(split):
        for name, (value, weight) in measure(model, batch).items():
            sums[name] = sums.get(name, 0.0) + float(weight) * value.item()
            weights[name] = weights.get(name, 0.0) + float(weight)
    model.train()
    found = {name: value / (weights[name] or math.nan) for name, value in sums.items()}
    found["loss"] = found["error"] + 1000.0 * found["alignment"]
    return found


def optimiser_for(model: Model) -> torch.optim.Optimizer:
    return torch.optim.Adam(model.parameters(), lr=0.001)


def report(values: dict[str, float], as_json: bool) -> None:
    shown = "  ".join(f"{name} {value:.4g}" for name, value in values.items())
    print(json.dumps(values) if as_json else shown)


def train(model: Model, data: dict[str, dict[str, Tensor]], seed: int, epochs: int, as_json: bool) -> None:
    optimiser = optimiser_for(model)
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
    parser = argparse.ArgumentParser(description="Two sets of digits")
    parser.add_argument("--data", type=Path, default=Path(__file__).parent, help="folder that holds mnist/")
    parser.add_argument("--epochs", type=int, default=EPOCHS)
    parser.add_argument("--seed", type=int, default=SEED)
    device = "cuda" if torch.cuda.is_available() else "mps" if torch.backends.mps.is_available() else "cpu"
    parser.add_argument("--device", default=device)
    parser.add_argument("--save", type=Path, help="write the trained weights here (a state_dict)")
    parser.add_argument("--json", action="store_true", help="one JSON object a line")
    args = parser.parse_args()

    torch.manual_seed(args.seed)
    model = Model().to(args.device)
    data = load(args.data, args.device)
    train(model, data, args.seed, args.epochs, args.json)
    found = evaluate(model, data["test"])
    report({f"test_{name}": value for name, value in found.items()}, args.json)
    if args.save:
        torch.save(model.state_dict(), args.save)


if __name__ == "__main__":
    main()
