"""Penguins

Exported from Neuroloom. Needs torch, numpy and polars only.

    python penguins.py --data FOLDER --epochs 40

FOLDER holds penguins.csv; --data names another than the usual.
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl
import torch
import torch.nn.functional as F
from torch import Tensor, nn


@dataclass(frozen=True)
class Config:
    seed: int = 0
    batch: int = 16
    epochs: int = 40
    patience: int = 15  # epochs without a better validation loss before training stops
    learning_rate: float = 0.01


CONFIG = Config()


def evenly(n: int, count: int) -> Tensor:
    """Which `count` of `n` places in a row, spread evenly, as (n,) of yes and no."""
    return (torch.arange(n + 1) * count // max(n, 1)).diff() > 0


def split_by_class(
    n: int, keys: Tensor | None, *, validation: float, test: float, seed: int
) -> dict[str, Tensor]:
    """Every class of `keys` alike in every split, as far as its rows go."""
    assert keys is not None
    shuffle = torch.Generator().manual_seed(seed)
    order = torch.randperm(n, generator=shuffle)
    by_class = order[keys[order].argsort(stable=True)]
    into_test = evenly(n, round(test * n))  # so that each class gives its part
    rest = by_class[~into_test]
    held = evenly(len(rest), round(validation * n))
    parts = {"train": rest[~held], "validation": rest[held], "test": by_class[into_test]}
    return {
        split: rows[torch.randperm(len(rows), generator=shuffle)] for split, rows in parts.items()
    }  # what was sorted by class must not stay so


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.hidden1 = nn.Linear(9, 16)
        self.hidden2 = nn.Linear(16, 16)
        self.species = nn.Linear(16, 3)

    def forward(self, features: Tensor) -> Tensor:  # (N, 9)
        x = F.relu(self.hidden1(features))          # (N, 16)
        x = F.relu(self.hidden2(x))                 # (N, 16)
        return self.species(x)                      # (N, 3)


def objective(model: Model, batch: dict[str, Tensor]) -> dict[str, Tensor]:
    """The losses of a batch; training minimises "loss"."""
    species = model(batch["features"])
    return {"loss": F.cross_entropy(species, batch["species"])}


def measure(model: Model, batch: dict[str, Tensor]) -> dict[str, Tensor]:
    """The losses and metrics of a batch."""
    species = model(batch["features"])
    return {
        "loss": F.cross_entropy(species, batch["species"]),
        "accuracy": (species.argmax(1) == batch["species"]).float().mean(),
    }


def load(folder: Path, device: str) -> dict[str, dict[str, Tensor]]:
    """{split: {column: values}} for train, validation and test: features (N, 9); species (N,)."""
    file = folder / "penguins.csv"
    schema = {
        "species": pl.Enum(["Adelie", "Chinstrap", "Gentoo"]),
        "island": pl.Enum(["Biscoe", "Dream", "Torgersen"]),
        "bill_length_mm": pl.Float64(),
        "bill_depth_mm": pl.Float64(),
        "flipper_length_mm": pl.Float64(),
        "body_mass_g": pl.Float64(),
        "sex": pl.Enum(["FEMALE", "MALE"]),
    }
    try:
        table = pl.read_csv(file, infer_schema=False)
        table = table.select(pl.col(name).cast(kind) for name, kind in schema.items())
    except (OSError, UnicodeError, pl.exceptions.PolarsError) as error:
        raise SystemExit(f"{file} is no longer as it was: {str(error).splitlines()[0]}") from error
    table = table.drop_nulls()
    keys = table["species"].to_physical().cast(pl.Int64).to_torch()
    rows = split_by_class(len(table), keys, validation=0.2, test=0.2, seed=0)
    if not all(len(at) for at in rows.values()):
        raise SystemExit("There are too few rows for three splits: has the data changed?")
    training = rows["train"].numpy()
    features = []
    for column in table.drop("species").iter_columns():
        kind = column.dtype
        values = column.to_physical().to_numpy()
        if isinstance(kind, pl.Enum):
            hot = values[:, None] == np.arange(len(kind.categories))
            features.append(hot & hot[training].any(0))  # zeros for a class that no training row has
        else:
            known = values[training]
            unit = known.std()
            features.append((values - known.mean()) / (unit if unit > 1e-12 else 1.0))
    columns = {"features": torch.from_numpy(np.column_stack(features).astype(np.float32)), "species": keys}
    return {
        split: {name: values[at].to(device) for name, values in columns.items()} for split, at in rows.items()
    }


def batches(split: dict[str, Tensor], shuffle: torch.Generator | None = None) -> Iterator[dict[str, Tensor]]:
    n = len(split["features"])
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
        size = len(batch["features"])
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
    parser = argparse.ArgumentParser(description="Penguins")
    parser.add_argument(
        "--data", type=Path, default=Path(__file__).parent / "files", help="folder that holds penguins.csv"
    )
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
    data = load(args.data, args.device)
    train(model, data, args.seed, args.epochs, args.json)
    found = evaluate(model, data["test"])
    report({f"test_{name}": value for name, value in found.items()}, args.json)
    if args.save:
        torch.save(model.state_dict(), args.save)


if __name__ == "__main__":
    main()
