"""Digits that move

Exported from Neuroloom. Needs torch and numpy only.

    python digits_that_move.py --epochs 40
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Iterator
from pathlib import Path

import torch
import torch.nn.functional as F
from torch import Tensor, nn

SEED, BATCH, EPOCHS = 0, 50, 40


# engine.data.sets.synthetic_images.digit_templates, 17 lines, 90082042f736


# engine.data.sets.synthetic_images.at_places, 5 lines, d86b077bafbc


# engine.data.splits.columns_of, 7 lines, ecfa9d4753f0


# engine.data.splits.evenly, 3 lines, 599b8f7d4329


# engine.data.splits.stratified, 8 lines, 87e105d15bfd


# engine.data.splits.three_ways, 6 lines, b59183928437


# engine.data.sets.synthetic_images.load_shifted_digits, 37 lines, dc158bca3a82


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv_1 = nn.Conv1d(1, 25, kernel_size=5, stride=2, padding=1)
        self.conv_2 = nn.Conv1d(25, 25, kernel_size=3, stride=2, padding=1)
        self.conv_3 = nn.Conv1d(25, 25, kernel_size=3, stride=2, padding=1)
        self.scores = nn.Linear(125, 10)
        self.dense_1 = nn.Linear(40, 100)
        self.dense_2 = nn.Linear(100, 100)
        self.dense_scores = nn.Linear(100, 10)

    def forward(self, signal: Tensor) -> tuple[Tensor, Tensor]:  # (N, 1, 40)
        x = F.relu(self.conv_1(signal))                          # (N, 25, 19)
        x = F.relu(self.conv_2(x))                               # (N, 25, 10)
        x = F.relu(self.conv_3(x))                               # (N, 25, 5)
        x = x.flatten(1)                                         # (N, 125)
        scores = self.scores(x)                                  # (N, 10)
        x = signal.flatten(1)                                    # (N, 40)
        x = F.relu(self.dense_1(x))                              # (N, 100)
        x = F.relu(self.dense_2(x))                              # (N, 100)
        dense_scores = self.dense_scores(x)                      # (N, 10)
        return scores, dense_scores


def objective(model: Model, batch: dict[str, Tensor]) -> dict[str, Tensor]:
    """The losses of a batch; training minimises "loss"."""
    scores, dense_scores = model(batch["signal"])
    conv_loss = F.cross_entropy(scores, batch["digit"])
    dense_loss = F.cross_entropy(dense_scores, batch["digit"])
    return {
        "loss": conv_loss + dense_loss,
        "conv_loss": conv_loss,
        "dense_loss": dense_loss,
    }


def measure(model: Model, batch: dict[str, Tensor]) -> dict[str, Tensor]:
    """The losses and metrics of a batch."""
    scores, dense_scores = model(batch["signal"])
    conv_loss = F.cross_entropy(scores, batch["digit"])
    dense_loss = F.cross_entropy(dense_scores, batch["digit"])
    return {
        "loss": conv_loss + dense_loss,
        "conv_loss": conv_loss,
        "dense_loss": dense_loss,
        "convolutions": (scores.argmax(1) == batch["digit"]).float().mean(),
        "dense_layers": (dense_scores.argmax(1) == batch["digit"]).float().mean(),
    }


def load(folder: Path, device: str) -> dict[str, dict[str, Tensor]]:
    """{split: {column: values}} for train, validation and test: signal (N, 1, 40); digit (N,)."""
    return load_shifted_digits(
        folder,
        device,
        shift=48,
        stretch=0.4,
        noise=0.25,
        shear=0.75,
        rows=1000,
        validation=0.2,
        test=0.2,
        seed=0,
    )


def batches(split: dict[str, Tensor], shuffle: torch.Generator | None = None) -> Iterator[dict[str, Tensor]]:
    n = len(split["signal"])
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
        size = len(batch["signal"])
        n += size
        for name, value in measure(model, batch).items():
            sums[name] = sums.get(name, 0.0) + size * value.item()
    model.train()
    return {name: value / n for name, value in sums.items()}


def optimiser_for(model: Model) -> torch.optim.Optimizer:
    return torch.optim.Adam(model.parameters(), lr=0.004)


def report(values: dict[str, float], as_json: bool) -> None:
    shown = "  ".join(f"{name} {value:.4g}" for name, value in values.items())
    print(json.dumps(values) if as_json else shown)


def train(model: Model, data: dict[str, dict[str, Tensor]], seed: int, epochs: int, as_json: bool) -> None:
    optimiser = optimiser_for(model)
    shuffle = torch.Generator().manual_seed(seed)
    step = 0
    best = float("inf")
    kept = None
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
            kept = {name: value.clone() for name, value in model.state_dict().items()}
    if kept is not None:
        model.load_state_dict(kept)


def main() -> None:
    parser = argparse.ArgumentParser(description="Digits that move")
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
