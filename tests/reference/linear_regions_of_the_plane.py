"""Linear regions of the plane

Exported from Neuroloom. Needs torch and numpy only.

    python linear_regions_of_the_plane.py --epochs 100
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
    epochs: int = 100
    learning_rate: float = 0.01


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
        self.eight_units = nn.Linear(2, 8)
        nn.init.kaiming_uniform_(self.eight_units.weight, nonlinearity="relu")
        nn.init.zeros_(self.eight_units.bias)
        self.scores_of_eight = nn.Linear(8, 2)
        self.first_four = nn.Linear(2, 4)
        nn.init.kaiming_uniform_(self.first_four.weight, nonlinearity="relu")
        nn.init.zeros_(self.first_four.bias)
        self.second_four = nn.Linear(4, 4)
        nn.init.kaiming_uniform_(self.second_four.weight, nonlinearity="relu")
        nn.init.zeros_(self.second_four.bias)
        self.third_four = nn.Linear(4, 4)
        nn.init.kaiming_uniform_(self.third_four.weight, nonlinearity="relu")
        nn.init.zeros_(self.third_four.bias)
        self.scores_of_fours = nn.Linear(4, 2)

    def forward(self, point: Tensor) -> tuple[Tensor, Tensor]:  # (N, 2)
        x = F.relu(self.eight_units(point))                     # (N, 8)
        scores_of_eight = self.scores_of_eight(x)               # (N, 2)
        x = F.relu(self.first_four(point))                      # (N, 4)
        x = F.relu(self.second_four(x))                         # (N, 4)
        x = F.relu(self.third_four(x))                          # (N, 4)
        scores_of_fours = self.scores_of_fours(x)               # (N, 2)
        return scores_of_eight, scores_of_fours


def objective(model: Model, batch: dict[str, Tensor]) -> dict[str, Tensor]:
    """The losses of a batch; training minimises "loss"."""
    scores_of_eight, scores_of_fours = model(batch["point"])
    loss_of_eight = F.cross_entropy(scores_of_eight, batch["label"])
    loss_of_fours = F.cross_entropy(scores_of_fours, batch["label"])
    return {
        "loss": loss_of_eight + loss_of_fours,
        "loss_of_eight": loss_of_eight,
        "loss_of_fours": loss_of_fours,
    }


def load(device: str) -> dict[str, dict[str, Tensor]]:
    """{split: {column: values}} for train, validation and test: point (N, 2); label (N,)."""
    seed, margin, rows = 0, 0.2, 400
    draw = torch.Generator().manual_seed(seed)
    side = torch.arange(rows) % 2
    along = torch.rand(rows, generator=draw)
    across = torch.rand(rows, generator=draw)  # drawn whatever the form
    jitter = 0.1 * torch.randn(rows, 2, generator=draw)
    inner = (1 - margin / 2) * along.sqrt()
    outer = ((1 + margin / 2) ** 2 + (4 - (1 + margin / 2) ** 2) * along).sqrt()
    radius, angle = torch.where(side == 0, inner, outer), 2 * math.pi * across
    x, y = radius * angle.cos(), radius * angle.sin()
    point = torch.stack([x, y], 1) + jitter
    columns = {"point": point, "label": side}
    parts = stratified_split(side, validation=0.2, test=0.2, seed=seed)
    return {split: {name: one[at].to(device) for name, one in columns.items()} for split, at in parts.items()}


def batches(split: dict[str, Tensor], shuffle: torch.Generator | None = None) -> Iterator[dict[str, Tensor]]:
    n = len(split["point"])
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
        size = len(batch["point"])
        n += size
        for name, value in objective(model, batch).items():
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
    parser = argparse.ArgumentParser(description="Linear regions of the plane")
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
