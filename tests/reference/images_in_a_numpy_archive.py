"""Images in a NumPy archive

Exported from Neuroloom. Needs torch and numpy only.

    python images_in_a_numpy_archive.py --data FOLDER --epochs 15

FOLDER holds small_digits.npz; --data names another than the usual.
"""

from __future__ import annotations

import argparse
import gzip
import json
import math
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

SEED, BATCH, EPOCHS = 0, 64, 15


# engine.data.lazy.Lazy, 52 lines, dab65619d41c


# engine.data.file_there.file_there, 21 lines, e806fb3e922a


# engine.data.array_reading.npz_member, 24 lines, 81adc3286b25


# engine.data.array_reading.npy_header, 40 lines, 05c92509aa9b


# engine.data.array_reading.mapped, 8 lines, 9cc85f3417ab


# engine.data.array_reading.stored_npz, 28 lines, 7f706b81f30f


# engine.data.array_reading.idx_header, 11 lines, 8d4d44af1288


# engine.data.array_reading.stored_idx, 27 lines, 81f4ac6f893b


# engine.data.array_reading.stored_array, 18 lines, 992c08cb50b5


# engine.data.array_files.FileRows, 19 lines, d53e7c61344c


# engine.data.array_files.Stored, 134 lines, c407f1b11571


# engine.data.array_files.stored_column, 25 lines, 907df62cdbe7


# engine.data.splits.split_rows, 23 lines, bbdcf948008a


# engine.data.splits.split_columns, 18 lines, f1edd3ce763d


# engine.data.telling.tell, 2 lines, cd0b0cc30e4a


# engine.data.array_files.in_memory, 8 lines, 24496b61cdb7


# engine.data.array_files.load_arrays, 49 lines, cc2cd3777fbd


# engine.data.splits.evenly, 3 lines, 599b8f7d4329


# engine.data.splits.split_by_class, 15 lines, 0ce19985f978


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.edges = nn.Conv2d(1, 16, kernel_size=3)
        self.digit = nn.Linear(576, 10)

    def forward(self, images: Tensor) -> Tensor:  # (N, 1, 8, 8)
        x = F.relu(self.edges(images))            # (N, 16, 6, 6)
        x = x.flatten(1)                          # (N, 576)
        return self.digit(x)                      # (N, 10)


def objective(model: Model, batch: dict[str, Tensor]) -> dict[str, Tensor]:
    """The losses of a batch; training minimises "loss"."""
    digit = model(batch["images"])
    return {"loss": F.cross_entropy(digit, batch["labels"])}


def measure(model: Model, batch: dict[str, Tensor]) -> dict[str, Tensor]:
    """The losses and metrics of a batch."""
    digit = model(batch["images"])
    return {
        "loss": F.cross_entropy(digit, batch["labels"]),
        "accuracy": (digit.argmax(1) == batch["labels"]).float().mean(),
    }


def load(folder: Path, device: str) -> dict[str, dict[str, Tensor]]:
    """{split: {column: values}} for train, validation and test: images (N, 1, 8, 8); labels (N,)."""
    return load_arrays(
        folder,
        device,
        columns=(
            {"name": "images", "files": (("", "small_digits.npz", "images"),), "size": (8, 8)},
            {
                "name": "labels",
                "files": (("", "small_digits.npz", "labels"),),
                "size": (),
                "role": "target",
                "classes": (0, 1, 2, 3, 4, 5, 6, 7, 8, 9),
            },
        ),
        values="0 to 1",
        axes="add a channel",
        memory=1024,
        by="labels",
        splitter=split_by_class,
        validation=0.2,
        test=0.2,
        seed=0,
    )


def batches(split: dict[str, Tensor], shuffle: torch.Generator | None = None) -> Iterator[dict[str, Tensor]]:
    n = len(split["images"])
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
        size = len(batch["images"])
        n += size
        for name, value in measure(model, batch).items():
            sums[name] = sums.get(name, 0.0) + size * value.item()
    model.train()
    return {name: value / n for name, value in sums.items()}


def optimiser_for(model: Model) -> torch.optim.Optimizer:
    return torch.optim.Adam(model.parameters(), lr=0.003)


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
    parser = argparse.ArgumentParser(description="Images in a NumPy archive")
    parser.add_argument(
        "--data",
        type=Path,
        default=Path(__file__).parent / "files",
        help="folder that holds small_digits.npz",
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
