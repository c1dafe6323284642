"""Digits that move

Exported from Neuroloom. Needs torch and numpy only.

    python digits_that_move.py --epochs 40
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
    batch: int = 50
    epochs: int = 40
    learning_rate: float = 0.004


CONFIG = Config()


def digit_templates() -> Tensor:
    """The ten digits as curves (10, 12), mean 0 and deviation 1 before each is moved to begin at 0."""
    heights = (
        (5, 6, 6.5, 6.75, 7, 7, 7, 7, 6.75, 6.5, 6, 5),
        (5, 3, 3, 3.4, 3.8, 4.2, 4.6, 5, 5.4, 5.8, 5, 5),
        (5, 6, 6.5, 6.5, 6, 5.25, 4.75, 4, 3.5, 3.5, 4, 5),
        (5, 6, 6.5, 6.5, 6, 5, 5, 6, 6.5, 6.5, 6, 5),
        (5, 4.4, 3.8, 3.2, 2.6, 2.6, 5, 5, 5, 5, 5, 5),
        (5, 3, 3, 3, 3, 5, 6, 6.5, 6.5, 6, 4.5, 5),
        (5, 4, 3.5, 3.25, 3, 3, 3, 3, 3.25, 3.5, 4, 5),
        (5, 7, 7, 6.6, 6.2, 5.8, 5.4, 5, 4.6, 4.2, 5, 5),
        (5, 4, 3.5, 3.5, 4, 5, 5, 4, 3.5, 3.5, 4, 5),
        (5, 4, 3.5, 3.5, 4, 5, 5, 5, 5, 4.7, 4.3, 5),
    )
    curves = torch.tensor(heights)
    curves = (curves - curves.mean(1, keepdim=True)) / curves.std(1, keepdim=True, correction=0)
    return curves - curves[:, :1]


def at_places(rows: Tensor, places: Tensor) -> Tensor:
    """The values of rows (N, L) at places (N, M) in 0..L-1, on straight lines between neighbours."""
    before = places.floor().long().clamp(0, rows.shape[1] - 2)
    fraction = places - before
    return rows.gather(1, before) * (1 - fraction) + rows.gather(1, before + 1) * fraction


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


def load(device: str) -> dict[str, dict[str, Tensor]]:
    """{split: {column: values}} for train, validation and test: signal (N, 1, 40); digit (N,)."""
    # Source of the recipe: MNIST-1D, Greydanus, 2020.
    noise, rows, seed = 0.25, 1000, 0
    draw = torch.Generator().manual_seed(seed)
    label = torch.arange(rows) % 10
    padded = torch.cat([digit_templates()[label], torch.zeros(rows, 60)], 1)
    length = 12 + torch.randint(36, 61, (rows, 1), generator=draw)
    signal = at_places(padded, torch.arange(72) * (length - 1) / 71)
    signal = signal * (1 + 0.4 * (torch.rand(rows, 1, generator=draw) - 0.5))
    moved = torch.randint(48, (rows, 1), generator=draw)
    signal = signal.gather(1, (torch.arange(72) - moved) % 72)
    kernel = (-torch.arange(-8.0, 9.0) ** 2 / 8).exp()
    white = torch.randn(rows, 1, 72 + 16, generator=draw)
    smooth = torch.nn.functional.conv1d(white, (kernel / kernel.sum())[None, None])[:, 0]
    signal = torch.where(signal.abs() > 1e-06, signal, noise * smooth)
    signal = signal + 0.08 * noise * torch.randn(rows, 72, generator=draw)
    tilt = 0.75 * (torch.rand(rows, 1, generator=draw) - 0.5)
    signal = signal - tilt * torch.linspace(-0.5, 0.5, 72)
    signal = at_places(signal, torch.linspace(0, 71, 40).expand(rows, 40))
    columns = {"signal": signal[:, None], "digit": label}
    parts = stratified_split(label, validation=0.2, test=0.2, seed=seed)
    return {split: {name: one[at].to(device) for name, one in columns.items()} for split, at in parts.items()}


def batches(split: dict[str, Tensor], shuffle: torch.Generator | None = None) -> Iterator[dict[str, Tensor]]:
    n = len(split["signal"])
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
        size = len(batch["signal"])
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
