"""Shapes pixel by pixel

Exported from Neuroloom. Needs torch, numpy and pillow only.

    python shapes_pixel_by_pixel.py --data FOLDER --epochs 40

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

SEED, BATCH, EPOCHS = 0, 8, 40
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


# engine.data.images.masks.mask_values, 12 lines, 400dd54fcd6f


# engine.data.images.decoding.of_size, 13 lines, 09a14173d69e


# engine.data.images.masks.mask_classes, 33 lines, 55c4ae8e1376


# engine.data.images.decoding.deep_levels, 11 lines, 45cc1733cf60


# engine.data.images.decoding.image_levels, 32 lines, 97bd3167be86


# engine.data.images.files.image_column, 16 lines, b219f67157db


# engine.data.splits.split_rows, 23 lines, bbdcf948008a


# engine.data.splits.split_columns, 18 lines, f1edd3ce763d


# engine.data.images.files.split_images, 35 lines, bcb7ab3dba55


# engine.data.images.files.load_masked_images, 26 lines, 360323d8513d


# engine.data.images.listing.is_image, 4 lines, cc12da07272d


# engine.data.images.listing.leads_to_folder, 5 lines, e70f8f8ff0c8


# engine.data.images.listing.natural_key, 4 lines, 1a6973ccf511


# engine.data.images.listing.files_below, 24 lines, 28d453c5ee40


# engine.data.images.listing.split_number, 5 lines, 43824851965d


# engine.data.images.listing.without_split, 8 lines, 25f29fc5cdbc


# engine.data.images.listing.masked_name, 4 lines, 1a9bd743856c


# engine.data.images.listing.images_with_masks, 25 lines, 206218123db5


# engine.data.splits.split_at_random, 11 lines, 2e98d906d7c2


# engine.layers.losses.counted, 8 lines, bbecc4196720


# engine.layers.losses.counted_cross_entropy, 16 lines, b630d8dfe2fb


# engine.layers.scores.masked_accuracy, 9 lines, 6eb75c4a252b


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.fine = nn.Conv2d(1, 12, kernel_size=3, padding="same")
        self.even_1 = nn.BatchNorm2d(12)
        self.coarse = nn.Conv2d(12, 24, kernel_size=3, padding="same")
        self.even_2 = nn.BatchNorm2d(24)
        self.whole_shapes = nn.Conv2d(24, 48, kernel_size=3, padding="same")
        self.even_3 = nn.BatchNorm2d(48)
        self.double_ = nn.ConvTranspose2d(48, 24, kernel_size=2, stride=2)
        self.coarse_again = nn.Conv2d(48, 24, kernel_size=3, padding="same")
        self.double_again = nn.ConvTranspose2d(24, 12, kernel_size=2, stride=2)
        self.fine_again = nn.Conv2d(24, 12, kernel_size=3, padding="same")
        self.scores = nn.Conv2d(12, 4, kernel_size=1)

    def forward(self, image: Tensor) -> Tensor:  # (N, 1, 32, 32)
        x = F.relu(self.fine(image))             # (N, 12, 32, 32)
        even_1 = self.even_1(x)                  # (N, 12, 32, 32)
        x = F.max_pool2d(even_1, 2)              # (N, 12, 16, 16)
        x = F.relu(self.coarse(x))               # (N, 24, 16, 16)
        even_2 = self.even_2(x)                  # (N, 24, 16, 16)
        x = F.max_pool2d(even_2, 2)              # (N, 24, 8, 8)
        x = F.relu(self.whole_shapes(x))         # (N, 48, 8, 8)
        x = self.even_3(x)                       # (N, 48, 8, 8)
        x = F.relu(self.double_(x))              # (N, 24, 16, 16)
        x = torch.cat((x, even_2), 1)            # (N, 48, 16, 16)
        x = F.relu(self.coarse_again(x))         # (N, 24, 16, 16)
        x = F.relu(self.double_again(x))         # (N, 12, 32, 32)
        x = torch.cat((x, even_1), 1)            # (N, 24, 32, 32)
        x = F.relu(self.fine_again(x))           # (N, 12, 32, 32)
        return self.scores(x)                    # (N, 4, 32, 32)


def objective(model: Model, batch: dict[str, Tensor]) -> dict[str, Tensor]:
    """The losses of a batch; training minimises "loss". "weight" is how much the batch counts."""
    scores = model(batch["image"])
    return {
        "loss": counted_cross_entropy(scores, batch["mask"]),
        "weight": counted(batch["mask"]),
    }


def measure(model: Model, batch: dict[str, Tensor]) -> dict[str, tuple[Tensor, Tensor | int]]:
    """The losses and metrics of a batch, each with how much the batch counts in the mean over several."""
    scores = model(batch["image"])
    return {
        "loss": (counted_cross_entropy(scores, batch["mask"]), counted(batch["mask"])),
        "accuracy": (masked_accuracy(scores.argmax(1), batch["mask"]), counted(batch["mask"])),
    }


def load(folder: Path, device: str) -> dict[str, dict[str, Tensor]]:
    """{split: {column: values}} for train, validation and test.

    image (N, 1, 32, 32); mask (N, 32, 32).
    """
    return load_masked_images(
        folder,
        device,
        rows=images_with_masks,
        where={"images": "images", "masks": "masks", "split_folders": False},
        image={"size": (32, 32), "fit": "stretch", "channels": "grey", "behind": "white", "bits": 8},
        values=(0, 1, 2, 3),
        void=255,
        unreadable="stop",
        memory=1000,
        threads=2,
        key="",
        splitter=split_at_random,
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
    """The means over what counts in a split, with dropout off."""
    model.eval()
    sums: dict[str, float] = {}
    weights: dict[str, float] = {}
    for batch in batches(split):
        for name, (value, weight) in measure(model, batch).items():
            sums[name] = sums.get(name, 0.0) + float(weight) * value.item()
            weights[name] = weights.get(name, 0.0) + float(weight)
    model.train()
    return {name: value / (weights[name] or math.nan) for name, value in sums.items()}


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
    parser = argparse.ArgumentParser(description="Shapes pixel by pixel")
    parser.add_argument(
        "--data",
        type=Path,
        default=Path(__file__).parent / "files/shapes",
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
