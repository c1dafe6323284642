"""Faces from a folder

Exported from Neuroloom. Needs torch, numpy and pillow only.

    python faces_from_a_folder.py --data FOLDER --epochs 30

FOLDER holds the images; --data names another than the usual.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

SEED, BATCH, EPOCHS = 0, 16, 30
PATIENCE = 8  # epochs without a better validation loss before training stops


# engine.data.lazy.Lazy, 52 lines, dab65619d41c


# engine.data.telling.tell, 2 lines, cd0b0cc30e4a


# engine.data.images.files.values_of, 5 lines, f30a373d5bde


# engine.data.images.files.HeldLevels, 9 lines, aa5e074e9160


# engine.data.images.files.ImageFiles, 70 lines, ada90521f4cc


# engine.data.images.listing.readable_name, 4 lines, 103e8c022ae5


# engine.data.images.listing.quoted_name, 4 lines, 7ec715b1fb03


# engine.data.images.decoding.check_image_file, 14 lines, d93891da08ce


# engine.data.images.decoding.read_image, 31 lines, e18153bf10a9


# engine.data.images.decoding.upright, 6 lines, 58df1be79c7b


# engine.data.images.decoding.of_size, 13 lines, 09a14173d69e


# engine.data.images.decoding.deep_levels, 11 lines, 45cc1733cf60


# engine.data.images.decoding.image_levels, 32 lines, 97bd3167be86


# engine.data.images.files.image_column, 16 lines, b219f67157db


# engine.data.splits.split_rows, 23 lines, bbdcf948008a


# engine.data.splits.split_columns, 18 lines, f1edd3ce763d


# engine.data.images.files.split_images, 35 lines, bcb7ab3dba55


# engine.data.images.files.load_image_files, 22 lines, ca6634648206


# engine.data.images.listing.is_image, 4 lines, cc12da07272d


# engine.data.images.listing.leads_to_folder, 5 lines, e70f8f8ff0c8


# engine.data.images.listing.natural_key, 4 lines, 1a6973ccf511


# engine.data.images.listing.files_below, 24 lines, 28d453c5ee40


# engine.data.images.listing.split_number, 5 lines, 43824851965d


# engine.data.images.listing.without_split, 8 lines, 25f29fc5cdbc


# engine.data.images.listing.images_by_class, 17 lines, 6100d2f5da66


# engine.data.splits.evenly, 3 lines, 599b8f7d4329


# engine.data.splits.split_by_class, 15 lines, 0ce19985f978


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(1, 12, kernel_size=3)
        self.conv2 = nn.Conv2d(12, 16, kernel_size=3)
        self.dropout = nn.Dropout(0.5)
        self.classes = nn.Linear(256, 2)

    def forward(self, image: Tensor) -> Tensor:  # (N, 1, 25, 25)
        x = F.relu(self.conv1(image))            # (N, 12, 23, 23)
        x = F.max_pool2d(x, 2)                   # (N, 12, 11, 11)
        x = F.relu(self.conv2(x))                # (N, 16, 9, 9)
        x = F.max_pool2d(x, 2)                   # (N, 16, 4, 4)
        x = x.flatten(1)                         # (N, 256)
        x = self.dropout(x)                      # (N, 256)
        return self.classes(x)                   # (N, 2)


def objective(model: Model, batch: dict[str, Tensor]) -> dict[str, Tensor]:
    """The losses of a batch; training minimises "loss"."""
    classes = model(batch["image"])
    return {"loss": F.cross_entropy(classes, batch["label"])}


def measure(model: Model, batch: dict[str, Tensor]) -> dict[str, Tensor]:
    """The losses and metrics of a batch."""
    classes = model(batch["image"])
    return {
        "loss": F.cross_entropy(classes, batch["label"]),
        "accuracy": (classes.argmax(1) == batch["label"]).float().mean(),
    }


def load(folder: Path, device: str) -> dict[str, dict[str, Tensor]]:
    """{split: {column: values}} for train, validation and test: image (N, 1, 25, 25); label (N,)."""
    return load_image_files(
        folder,
        device,
        rows=images_by_class,
        where={"classes": ("background", "face"), "split_folders": False},
        image={"size": (25, 25), "fit": "stretch", "channels": "grey", "behind": "white", "bits": 8},
        unreadable="stop",
        memory=1000,
        threads=2,
        key="label",
        splitter=split_by_class,
        validation=0.2,
        test=0.2,
        seed=0,
    )


def batches(split: dict[str, Tensor], shuffle: torch.Generator | None = None) -> Iterator[dict[str, Tensor]]:
    n = len(split["image"])
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
        size = len(batch["image"])
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
    parser = argparse.ArgumentParser(description="Faces from a folder")
    parser.add_argument(
        "--data",
        type=Path,
        default=Path(__file__).parent / "files/faces",
        help="folder that holds the images",
    )
    parser.add_argument("--epochs", type=int, default=EPOCHS)
    parser.add_argument("--seed", type=int, default=SEED)
    device = "cuda" if torch.cuda.is_available() else "mps" if torch.backends.mps.is_available() else "cpu"
    parser.add_argument("--device", default=device)
    parser.add_argument("--save", type=Path, help="write the trained weights here (a state_dict)")
    parser.add_argument("--json", action="store_true", help="one JSON object a line")
    args = parser.parse_args()

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
