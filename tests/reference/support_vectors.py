"""Support vectors

Exported from Neuroloom. Needs torch, numpy and scikit-learn only.

    python support_vectors.py
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn


@dataclass(frozen=True)
class Config:
    seed: int = 0
    batch: int = 64
    epochs: int = 1


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


class Fitted(nn.Module):
    """Keeps what it was fitted to in buffers, whose sizes come with the data and with a file of weights."""

    def _load_from_state_dict(self, state_dict: dict[str, Any], prefix: str, *rest: Any) -> None:
        for name, value in self.named_buffers(recurse=False):
            stored = state_dict.get(prefix + name)
            if stored is not None and stored.shape != value.shape:
                setattr(self, name, value.new_empty(stored.shape))
        super()._load_from_state_dict(state_dict, prefix, *rest)


class SupportVectors(Fitted):
    """The boundary with the widest margin, held by the few rows that touch it or lie beyond."""
    # Source: Cortes and Vapnik 1995.

    rows: Tensor
    weights: Tensor
    bias: Tensor

    def __init__(
        self, inputs: int, classes: int = 2, kernel: str = "Gaussian", c: float = 1.0, gamma: float = 1.0
    ) -> None:
        super().__init__()
        outputs = 1 if classes == 2 else classes
        self.register_buffer("rows", torch.zeros(0, inputs))
        self.register_buffer("weights", torch.zeros(0, outputs))
        self.register_buffer("bias", torch.zeros(outputs))
        self.kernel, self.c, self.gamma = kernel, c, gamma

    def forward(self, x: Tensor) -> Tensor:
        between = x @ self.rows.T
        if self.kernel == "Gaussian":
            far = x.square().sum(1, keepdim=True) - 2 * between + self.rows.square().sum(1)
            between = torch.exp(-self.gamma * far)
        return between @ self.weights + self.bias

    def fit(self, x: Tensor, target: Tensor) -> dict[str, Tensor]:
        """Find the boundary of the rows. The loss: the mean hinge, max(0, 1 - y f(x)) with y of -1 and 1."""
        from sklearn.svm import SVC

        label = target.reshape(len(x), -1)[:, 0].long()
        outputs = len(self.bias)
        sides = label[:, None] == (
            torch.arange(outputs).to(label) if outputs > 1 else torch.ones(1).to(label)
        )
        kernel = "rbf" if self.kernel == "Gaussian" else "linear"
        rows = x.reshape(len(x), -1)
        weights, bias = torch.zeros(len(x), outputs, dtype=torch.double), torch.zeros(outputs)
        for one in range(outputs):
            found = SVC(C=self.c, kernel=kernel, gamma=self.gamma)
            found.fit(rows.cpu().double().numpy(), sides[:, one].cpu().numpy())
            weights[torch.from_numpy(found.support_).long(), one] = torch.from_numpy(found.dual_coef_[0])
            bias[one] = float(found.intercept_[0])
        held = weights.ne(0).any(1)
        self.rows, self.weights, self.bias = rows[held.to(x.device)].clone(), weights[held].to(x), bias.to(x)
        hinge = (1 - (2.0 * sides - 1) * self(rows)).clamp(min=0)
        return {"loss": hinge.mean(), "support_vectors": held.sum().to(x)}


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.machine = SupportVectors(2, 2, gamma=2.0)

    def forward(self, point: Tensor) -> Tensor:  # (N, 2)
        return self.machine(point)               # (N, 1)


def load(device: str) -> dict[str, dict[str, Tensor]]:
    """{split: {column: values}} for train, validation and test: point (N, 2); side (N, 1)."""
    seed, rows = 0, 400
    draw = torch.Generator().manual_seed(seed)
    side = torch.arange(rows) % 2
    along = torch.rand(rows, generator=draw)
    torch.rand(rows, generator=draw)  # so that what is drawn next stays the same
    jitter = 0.2 * torch.randn(rows, 2, generator=draw)
    sign = 2 * side - 1.0
    angle = math.pi * along
    x, y = sign * angle.cos() + 0.5 * sign, sign * angle.sin() - 0.25 * sign
    point = torch.stack([x, y], 1) + jitter
    columns = {"point": point, "side": 2 * side[:, None] - 1.0}
    parts = stratified_split(side, validation=0.2, test=0.2, seed=seed)
    return {split: {name: one[at].to(device) for name, one in columns.items()} for split, at in parts.items()}


def batches(
    split: dict[str, Tensor], shuffle: torch.Generator | None = None, size: int | None = CONFIG.batch
) -> Iterator[dict[str, Tensor]]:
    n = len(split["point"])
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
    """The rule of machine."""
    point = batch["point"]  # (N, 2)
    side = batch["side"]    # (N, 1)
    return model.machine.fit(point, side)


def measure(model: Model, batch: dict[str, Tensor]) -> dict[str, Tensor]:
    """The losses and metrics of a batch."""
    point = batch["point"]          # (N, 2)
    side = batch["side"]            # (N, 1)
    machine = model.machine(point)  # (N, 1)
    return {"accuracy": (machine.gt(0) == side.gt(0)).float().mean()}


def train(model: Model, data: dict[str, dict[str, Tensor]], seed: int, epochs: int, as_json: bool) -> None:
    shuffle = torch.Generator().manual_seed(seed)
    step = 0
    for epoch in range(epochs):
        for batch in batches(data["train"], shuffle, len(data["train"]["point"])):
            with torch.no_grad():
                value = objective(model, batch)["loss"].item()
            step += 1
            if as_json:
                print(json.dumps({"step": step, "epoch": epoch, "loss": value}))
        found = evaluate(model, data["validation"])
        values = {f"val_{name}": value for name, value in found.items()}
        report({"epoch": epoch, **values}, as_json)


def main() -> None:
    parser = argparse.ArgumentParser(description="Support vectors")
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
