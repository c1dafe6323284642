"""A mixture fitted by EM

Exported from Neuroloom. Needs torch and numpy only.

    python a_mixture_fitted_by_em.py
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Iterator
from pathlib import Path

import torch
from torch import Tensor, nn

SEED, EPOCHS = 0, 60


# engine.data.splits.columns_of, 7 lines, ecfa9d4753f0


# engine.data.splits.evenly, 3 lines, 599b8f7d4329


# engine.data.splits.stratified, 8 lines, 87e105d15bfd


# engine.data.splits.three_ways, 6 lines, b59183928437


# engine.data.sets.synthetic_clouds.load_mixture, 31 lines, 851d69b628af


# engine.layers.mixture.shares, 3 lines, 77f09e1f4b01


# engine.layers.mixture.Covariances, 25 lines, b4d9f8bd0cf7


# engine.layers.mixture.Means, 17 lines, d30ec8b763ee


# engine.layers.mixture.MixingWeights, 14 lines, 8919b6d17c65


# engine.layers.mixture.Responsibilities, 10 lines, 04dc74013b92


# engine.optim.together.in_one_step, 10 lines, 49ff63255497


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.means = Means(2, 3)
        self.covariances = Covariances(3, 2)
        self.mixing_weights = MixingWeights(3)
        self.mixture = Responsibilities()

    def forward(self, point: Tensor) -> Tensor:  # (N, 2)
        x = self.means(point)                    # (N, 3, 2)
        x = self.covariances(x)                  # (N, 3)
        x = self.mixing_weights(x)               # (N, 3)
        component, _ = self.mixture(x)           # (N, 3)
        return component


def load(folder: Path, device: str) -> dict[str, dict[str, Tensor]]:
    """{split: {column: values}} for train, validation and test: point (N, 2)."""
    splits = load_mixture(
        folder,
        device,
        dimensions="2-D",
        weights=(0.5, 0.2, 0.3),
        x=(-1.2, 0.6, 1.8),
        y=(0.0, 1.6, -0.4),
        deviations=(0.8, 0.4, 0.6),
        rows=1500,
        validation=0.2,
        test=0.2,
        seed=0,
    )
    used = ("point",)
    return {split: {name: columns[name] for name in used} for split, columns in splits.items()}


def batches(split: dict[str, Tensor], shuffle: torch.Generator | None = None) -> Iterator[dict[str, Tensor]]:
    n = len(split["point"])
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
    """The rule of means, covariances, mixing weights and mixture."""
    point = batch["point"]                              # (N, 2)
    means = model.means(point)                          # (N, 3, 2)
    covariances = model.covariances(means)              # (N, 3)
    mixing_weights = model.mixing_weights(covariances)  # (N, 3)
    mixture, _ = model.mixture(mixing_weights)          # (N, 3)
    return in_one_step(
        model.means.update(point, mixture),
        model.covariances.update(means, mixture),
        model.mixing_weights.update(covariances, mixture),
        model.mixture.update(mixing_weights),
    )


def measure(model: Model, batch: dict[str, Tensor]) -> dict[str, Tensor]:
    """The losses and metrics of a batch."""
    point = batch["point"]                    # (N, 2)
    x = model.means(point)                    # (N, 3, 2)
    x = model.covariances(x)                  # (N, 3)
    mixing_weights = model.mixing_weights(x)  # (N, 3)
    mixture_responsibilities, mixture_log_likelihood = model.mixture(mixing_weights)  # (N, 3), (N, 1)
    return {"log_likelihood": mixture_log_likelihood.mean()}


def train(model: Model, data: dict[str, dict[str, Tensor]], seed: int, epochs: int, as_json: bool) -> None:
    shuffle = torch.Generator().manual_seed(seed)
    step = 0
    for epoch in range(epochs):
        for batch in batches(data["train"], shuffle):
            with torch.no_grad():
                value = objective(model, batch)["loss"].item()
            step += 1
            if as_json:
                print(json.dumps({"step": step, "epoch": epoch, "loss": value}))
        found = evaluate(model, data["validation"])
        values = {f"val_{name}": value for name, value in found.items()}
        report({"epoch": epoch, **values}, as_json)


def main() -> None:
    parser = argparse.ArgumentParser(description="A mixture fitted by EM")
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
