"""Two sets of digits

Exported from Neuroloom. Needs torch, numpy and scikit-learn only.

    python two_sets_of_digits.py --data FOLDER --epochs 4

FOLDER holds mnist/ and is the script's own by default.
"""

from __future__ import annotations

import argparse
import gzip
import json
import math
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn


@dataclass(frozen=True)
class Config:
    seed: int = 0
    batch: int = 128
    epochs: int = 4
    learning_rate: float = 0.001


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


def covariance_gap(features: Tensor, others: Tensor) -> Tensor:
    """|C - C'|² / 4 d² of the covariances C (d, d) of features (N, d) and C' of others (M, d)."""
    # Source: Sun and Saenko 2016 (CORAL).
    covariances = []
    for part in (features, others):
        off = part.flatten(1) - part.flatten(1).mean(0)
        covariances.append(off.T @ off / max(1, len(off) - 1))
    first, second = covariances
    return (first - second).square().mean() / 4


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


def idx_bytes(path: Path, *size: int) -> np.ndarray[Any, Any]:
    """The bytes of a gzip-compressed IDX file, (N, *size)."""
    with gzip.open(path) as file:
        return np.frombuffer(file.read(), np.uint8, offset=8 + 4 * len(size)).reshape(-1, *size)


def load_small_digits(device: str) -> dict[str, dict[str, Tensor]]:
    from sklearn import datasets

    values, target = datasets.load_digits(return_X_y=True)
    pixels, digit = torch.tensor(values).double(), torch.tensor(target).double()
    image = pixels.reshape(-1, 1, 8, 8) / 16
    columns = {"image": image.float(), "digit": digit.long()}
    parts = stratified_split(digit, validation=0.2, test=0.2, seed=0)
    return {split: {name: one[at].to(device) for name, one in columns.items()} for split, at in parts.items()}


def load_mnist_2(folder: Path, device: str) -> dict[str, dict[str, Tensor]]:
    files = folder / "mnist"
    try:
        images = [idx_bytes(files / f"{one}-images-idx3-ubyte.gz", 28, 28) for one in ("train", "t10k")]
        digits = [idx_bytes(files / f"{one}-labels-idx1-ubyte.gz") for one in ("train", "t10k")]
    except (OSError, EOFError, ValueError, zlib.error) as error:
        raise SystemExit(f"--data names no folder with the four files of MNIST in mnist/: {error}") from error
    draw = torch.Generator().manual_seed(0)
    kept, held = (rows.numpy() for rows in stratified_holdout(torch.tensor(digits[0]), 0.1, draw))
    splits = {
        "train": (images[0][kept], digits[0][kept]),
        "validation": (images[0][held], digits[0][held]),
        "test": (images[1].copy(), digits[1].copy()),
    }
    return {
        split: {
            "image": torch.from_numpy(image).to(device).float().unsqueeze(1) / 255,
            "digit": torch.from_numpy(digit).to(device).long(),
        }
        for split, (image, digit) in splits.items()
    }


def load(folder: Path, device: str) -> dict[str, dict[str, Tensor]]:
    """{split: {column: values}} for train, validation and test.

    image (N, 1, 8, 8); digit (N,); mnist_image (N, 1, 28, 28); mnist_digit (N,).
    """
    small_digits = load_small_digits(device)
    mnist = load_mnist_2(folder, device)
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
    split: dict[str, Tensor], shuffle: torch.Generator | None = None, size: int | None = CONFIG.batch
) -> Iterator[dict[str, Tensor]]:
    """A batch of each stream beside those of the others, until the longest is through."""
    streams = [{name: split[name] for name in names} for names in STREAMS]
    rows, steps = [len(split[names[0]]) for names in STREAMS], steps_of(split, size)
    orders = [parts_of(n, steps, shuffle, size) for n in rows]
    for parts in zip(*orders, strict=True):
        batch: dict[str, Tensor] = {}
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
    return torch.optim.Adam(model.parameters(), lr=CONFIG.learning_rate)


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
    parser.add_argument("--epochs", type=int, default=CONFIG.epochs)
    parser.add_argument("--seed", type=int, default=CONFIG.seed)
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
