"""Penguins

Exported from Neuroloom. Needs torch, numpy and polars only.

    python penguins.py --data FOLDER --epochs 40

FOLDER holds penguins.csv; --data names another than the usual.
"""

from __future__ import annotations

import argparse
import csv
import io
import json
import math
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

SEED, BATCH, EPOCHS = 0, 16, 40
PATIENCE = 15  # epochs without a better validation loss before training stops


# engine.data.tables.files.wanted_columns, 3 lines, b3ffbcd7411d


# engine.data.tables.reading.separator, 3 lines, d4aa7fb7a95c


# engine.data.tables.reading.nameable, 7 lines, 475837e46a4a


# engine.data.tables.reading.is_plain, 4 lines, 0efec0f1972e


# engine.data.tables.reading.plain_lines, 21 lines, 236231b252be


# engine.data.tables.reading.decoded, 17 lines, 550887648b89


# engine.data.file_there.file_there, 21 lines, e806fb3e922a


# engine.data.tables.reading.line_end, 5 lines, dc56d691a351


# engine.data.tables.reading.cell_form, 10 lines, 37f8eb06fa4a


# engine.data.tables.reading.beginning, 7 lines, e72851c8ada2


# engine.data.tables.reading.text_rows, 20 lines, 5b41b825d49b


# engine.data.tables.reading.longer_row, 4 lines, b1a67065bee4


# engine.data.tables.reading.text_trouble, 21 lines, 9cc9230adb18


# engine.data.tables.reading.column_names, 14 lines, 3272b40470f7


# engine.data.tables.reading.named_by, 13 lines, 89fd405c13d5


# engine.data.tables.reading.text_form, 23 lines, 8e692b3d9af5


# engine.data.tables.reading.check_columns, 8 lines, cce0e015f266


# engine.data.tables.reading.read_text_table, 39 lines, c21217d6a846


# engine.data.tables.columns.used_columns, 3 lines, 50e031ee0bfa


# engine.data.tables.cells.blank_rows, 12 lines, 88c67f935dff


# engine.data.tables.cells.written_numbers, 31 lines, ec15e9e1dce5


# engine.data.tables.cells.Cells, 95 lines, efc89a42a161


# engine.data.tables.columns.split_keys, 16 lines, 028111623862


# engine.data.splits.split_rows, 23 lines, bbdcf948008a


# engine.data.tables.columns.class_numbers_of, 8 lines, 2db2bd6a6f4f


# engine.data.tables.columns.filled, 3 lines, 2ea58e70e217


# engine.data.tables.columns.in_units, 5 lines, ee6a4275577a


# engine.data.tables.columns.feature_parts, 10 lines, 309570826553


# engine.data.tables.columns.fill_of, 11 lines, 367645947d34


# engine.data.tables.columns.units_of, 9 lines, 7e3f915b4ff6


# engine.data.tables.columns.feature_fit, 22 lines, 1447b018ef1b


# engine.data.tables.columns.in_port_order, 5 lines, 0bd929ed9cd6


# engine.data.tables.columns.target_fit, 5 lines, c76b639e8a94


# engine.data.tables.columns.port_name, 3 lines, aadec8944195


# engine.data.tables.columns.target_ports, 6 lines, c77b17b102c0


# engine.data.tables.columns.target_values, 8 lines, e66e11f29286


# engine.data.lazy.Lazy, 52 lines, dab65619d41c


# engine.data.splits.split_columns, 18 lines, f1edd3ce763d


# engine.data.tables.columns.split_table, 60 lines, 75003f781836


# engine.data.tables.files.load_text_table, 39 lines, 2bb5d2baa916


# engine.data.splits.evenly, 3 lines, 599b8f7d4329


# engine.data.splits.split_by_class, 15 lines, 0ce19985f978


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
    return load_text_table(
        folder,
        device,
        file="penguins.csv",
        columns=(
            ("species", "category", "target", "Adelie", "Chinstrap", "Gentoo"),
            ("island", "category", "input", "Biscoe", "Dream", "Torgersen"),
            ("bill_length_mm", "number", "input"),
            ("bill_depth_mm", "number", "input"),
            ("flipper_length_mm", "whole", "input"),
            ("body_mass_g", "whole", "input"),
            ("sex", "category", "input", "FEMALE", "MALE"),
        ),
        missing="drop rows",
        scaling="standardise",
        target_scaling="none",
        dates="days",
        blanks=(),
        by="species",
        splitter=split_by_class,
        validation=0.2,
        test=0.2,
        seed=0,
        delimiter=",",
        quote='"',
        decimal=".",
        encoding="utf-8",
        header=True,
        skip=0,
    )


def batches(split: dict[str, Tensor], shuffle: torch.Generator | None = None) -> Iterator[dict[str, Tensor]]:
    n = len(split["features"])
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
        size = len(batch["features"])
        n += size
        for name, value in measure(model, batch).items():
            sums[name] = sums.get(name, 0.0) + size * value.item()
    model.train()
    return {name: value / n for name, value in sums.items()}


def optimiser_for(model: Model) -> torch.optim.Optimizer:
    return torch.optim.Adam(model.parameters(), lr=0.01)


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
            if waited == PATIENCE:
                break
    if kept is not None:
        model.load_state_dict(kept)


def main() -> None:
    parser = argparse.ArgumentParser(description="Penguins")
    parser.add_argument(
        "--data", type=Path, default=Path(__file__).parent / "files", help="folder that holds penguins.csv"
    )
    parser.add_argument("--epochs", type=int, default=EPOCHS)
    parser.add_argument("--seed", type=int, default=SEED)
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
