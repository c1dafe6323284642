"""Two heads

Exported from Neuroloom. Needs torch, numpy and scikit-learn only.

    python two_heads.py --epochs 30
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
    seed: int = 0
    batch: int = 32
    epochs: int = 30
    patience: int = 6  # epochs without a better validation loss before training stops
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


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(1, 16, kernel_size=3, padding="same")
        self.conv2 = nn.Conv2d(16, 16, kernel_size=3, padding="same")
        self.ink = nn.Linear(16, 16)
        self.shared = nn.Linear(272, 32)
        self.digit = nn.Linear(32, 10)
        self.odd = nn.Linear(32, 1)

    def forward(self, image: Tensor, profile: Tensor) -> tuple[Tensor, Tensor]:  # (N, 1, 8, 8), (N, 16)
        conv1 = F.relu(self.conv1(image))  # (N, 16, 8, 8)
        x = F.relu(self.conv2(conv1))      # (N, 16, 8, 8)
        x = conv1 + x                      # (N, 16, 8, 8)
        x = F.max_pool2d(x, 2)             # (N, 16, 4, 4)
        flatten = x.flatten(1)             # (N, 256)
        x = F.relu(self.ink(profile))      # (N, 16)
        x = torch.cat((flatten, x), 1)     # (N, 272)
        shared = F.relu(self.shared(x))    # (N, 32)
        digit = self.digit(shared)         # (N, 10)
        odd = self.odd(shared)             # (N, 1)
        return digit, odd


def objective(model: Model, batch: dict[str, Tensor]) -> dict[str, Tensor]:
    """The losses of a batch; training minimises "loss"."""
    digit, odd = model(batch["image"], batch["profile"])
    digit_loss = F.cross_entropy(digit, batch["digit"])
    odd_loss = F.binary_cross_entropy_with_logits(odd, batch["odd"])
    return {
        "loss": digit_loss + 0.5 * odd_loss,
        "digit_loss": digit_loss,
        "odd_loss": odd_loss,
    }


def measure(model: Model, batch: dict[str, Tensor]) -> dict[str, Tensor]:
    """The losses and metrics of a batch."""
    digit, odd = model(batch["image"], batch["profile"])
    digit_loss = F.cross_entropy(digit, batch["digit"])
    odd_loss = F.binary_cross_entropy_with_logits(odd, batch["odd"])
    return {
        "loss": digit_loss + 0.5 * odd_loss,
        "digit_loss": digit_loss,
        "odd_loss": odd_loss,
        "digit_accuracy": (digit.argmax(1) == batch["digit"]).float().mean(),
        "odd_accuracy": (odd.gt(0) == batch["odd"].gt(0)).float().mean(),
    }


def load(device: str) -> dict[str, dict[str, Tensor]]:
    """{split: {column: values}} for train, validation and test.

    image (N, 1, 8, 8); profile (N, 16); digit (N,); odd (N, 1).
    """
    from sklearn import datasets

    values, target = datasets.load_digits(return_X_y=True)
    pixels, digit = torch.tensor(values).double(), torch.tensor(target).double()
    image = pixels.reshape(-1, 1, 8, 8) / 16
    columns = {
        "image": image.float(),
        "profile": torch.cat([image.mean(3), image.mean(2)], dim=2).squeeze(1).float(),
        "digit": digit.long(),
        "odd": (digit % 2).float()[:, None],
    }
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


def optimiser_for(model: Model) -> torch.optim.Optimizer:
    return torch.optim.Adam(model.parameters(), lr=CONFIG.learning_rate)


def report(values: dict[str, float], as_json: bool) -> None:
    shown = "  ".join(f"{name} {value:.4g}" for name, value in values.items())
    print(json.dumps(values) if as_json else shown)


def train(model: Model, data: dict[str, dict[str, Tensor]], seed: int, epochs: int, as_json: bool) -> None:
    optimiser = optimiser_for(model)
    shuffle = torch.Generator().manual_seed(seed)
    step = 0
    best = float("inf")
    kept = None
    waited = 0
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
        if found["loss"] < best:
            best = found["loss"]
            waited = 0
            kept = {name: value.clone() for name, value in model.state_dict().items()}
        else:
            waited += 1
            if waited == CONFIG.patience:
                break
    if kept is not None:
        model.load_state_dict(kept)


def main() -> None:
    parser = argparse.ArgumentParser(description="Two heads")
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
