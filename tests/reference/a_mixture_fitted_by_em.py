"""A mixture fitted by EM

Exported from Neuroloom. Needs torch and numpy only.

    python a_mixture_fitted_by_em.py
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor, nn


@dataclass(frozen=True)
class Config:
    seed: int = 0
    epochs: int = 60


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


def shares(responsibilities: Tensor) -> Tensor:
    """The part of each point in each component, so that those of a component add up to 1."""
    return responsibilities / responsibilities.sum(0).clamp(min=1e-12)


class Covariances(nn.Module):
    """The covariances of K Gaussian components: deviations (N, K, D) -> log-densities (N, K)."""

    def __init__(self, components: int, features: int, ridge: float = 1e-6) -> None:
        super().__init__()
        self.covariance = nn.Parameter(torch.eye(features).repeat(components, 1, 1))
        self.ridge = ridge

    def forward(self, deviations: Tensor) -> Tensor:
        lower: Tensor = torch.linalg.cholesky(self.covariance)
        whitened = torch.linalg.solve_triangular(lower.mT, deviations.transpose(0, 1), upper=True, left=False)
        volume = lower.diagonal(dim1=1, dim2=2).log().sum(1)
        distance: Tensor = whitened.square().sum(2).T
        return -(distance + deviations.shape[2] * math.log(2 * math.pi)) / 2 - volume

    def update(self, deviations: Tensor, responsibilities: Tensor) -> dict[str, Tensor]:
        """Each covariance is that of the points about their new mean, weighed by the responsibilities."""
        share = shares(responsibilities)
        centred = deviations - torch.einsum("nk,nkd->kd", share, deviations)
        self.covariance.copy_(torch.einsum("nk,nkd,nke->kde", share, centred, centred))
        self.covariance.diagonal(dim1=1, dim2=2).add_(self.ridge)
        return {}


class Means(nn.Module):
    """The means of K Gaussian components: how far a point lies from each, x (N, D) -> (N, K, D)."""
    # Source of the update: Dempster, Laird and Rubin 1977.

    def __init__(self, features: int, components: int = 3, spread: float = 1.0) -> None:
        super().__init__()
        self.mean = nn.Parameter(spread * torch.randn(components, features))

    def forward(self, x: Tensor) -> Tensor:
        return x[:, None] - self.mean

    def update(self, x: Tensor, responsibilities: Tensor) -> dict[str, Tensor]:
        """Each mean is that of the points (N, D), weighed by the responsibilities (N, K)."""
        self.mean.copy_(shares(responsibilities).T @ x)
        return {}


class MixingWeights(nn.Module):
    """How common each of K components is: log-densities (N, K) -> these with log-weights added, (N, K)."""

    def __init__(self, components: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.full((components,), 1 / components))

    def forward(self, densities: Tensor) -> Tensor:
        return densities + self.weight.log()

    def update(self, densities: Tensor, responsibilities: Tensor) -> dict[str, Tensor]:
        """Each weight is the mean responsibility of its component."""
        self.weight.copy_(responsibilities.mean(0))
        return {}


class Responsibilities(nn.Module):
    """From joint log-densities (N, K): the probability of each component (N, K), log-likelihoods (N, 1)."""

    def forward(self, joint: Tensor) -> tuple[Tensor, Tensor]:
        total = joint.logsumexp(1, keepdim=True)
        return (joint - total).exp(), total

    def update(self, joint: Tensor) -> dict[str, Tensor]:
        """Nothing changes here. The loss is minus the mean log-likelihood."""
        return {"loss": -joint.logsumexp(1).mean()}


def in_one_step(*updates: dict[str, Tensor]) -> dict[str, Tensor]:
    """What several updates give: "loss" is the sum of their losses, any other value the mean of its name."""
    found: dict[str, list[Tensor]] = {}
    for update in updates:
        for name, value in update.items():
            found.setdefault(name, []).append(value)
    return {
        name: torch.stack(values).sum() if name == "loss" else torch.stack(values).mean()
        for name, values in found.items()
    }


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


def load(device: str) -> dict[str, dict[str, Tensor]]:
    """{split: {column: values}} for train, validation and test: point (N, 2)."""
    rows, seed = 1500, 0
    weights = (0.5, 0.2, 0.3)
    draw = torch.Generator().manual_seed(seed)
    fraction = torch.tensor(weights, dtype=torch.float64) / sum(weights)
    means = torch.tensor([(-1.2, 0.6, 1.8), (0.0, 1.6, -0.4)], dtype=torch.float64).T
    deviation = torch.tensor((0.8, 0.4, 0.6), dtype=torch.float64)
    component = torch.multinomial(fraction, rows, replacement=True, generator=draw)
    moved = torch.randn(rows, means.shape[1], generator=draw, dtype=torch.float64)
    point = means[component] + deviation[component][:, None] * moved
    columns = {"point": point.float()}
    parts = stratified_split(component, validation=0.2, test=0.2, seed=seed)
    return {split: {name: one[at].to(device) for name, one in columns.items()} for split, at in parts.items()}


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
    point = batch["point"]                      # (N, 2)
    x = model.means(point)                      # (N, 3, 2)
    x = model.covariances(x)                    # (N, 3)
    mixing_weights = model.mixing_weights(x)    # (N, 3)
    _, mixture = model.mixture(mixing_weights)  # (N, 1)
    return {"log_likelihood": mixture.mean()}


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
