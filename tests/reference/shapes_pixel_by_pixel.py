"""Shapes pixel by pixel

Exported from Neuroloom. Needs torch, numpy and pillow only.

    python shapes_pixel_by_pixel.py --data FOLDER --epochs 40

FOLDER holds the images; --data names another than the usual.
"""

from __future__ import annotations

import argparse
import json
import math
import re
import unicodedata
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from PIL import Image, ImageOps
from torch import Tensor, nn


@dataclass(frozen=True)
class Config:
    seed: int = 0
    batch: int = 8
    epochs: int = 40
    patience: int = 8  # epochs without a better validation loss before training stops
    learning_rate: float = 0.01


CONFIG = Config()


def natural_key(name: str) -> tuple[Any, ...]:
    """Sorts a2 before a10, folder by folder, without regard to case."""
    parts = re.split("([0-9]+)", unicodedata.normalize("NFC", name).casefold().replace("/", "\0"))
    return (*(int(part) if at % 2 else part for at, part in enumerate(parts)), name)


def split_at_random(n: int, *, validation: float, test: float, seed: int) -> dict[str, Tensor]:
    """Any row into any split."""
    order = torch.randperm(n, generator=torch.Generator().manual_seed(seed))
    held, tested = round(validation * n), round(test * n)
    return {
        "train": order[held + tested :],
        "validation": order[tested : held + tested],
        "test": order[:tested],
    }


def counted(target: Tensor) -> Tensor:
    """How much classes (N, ...) count: each 1, or the weight of its class; -100 and `ignored` nothing."""
    counts = target != -100
    return counts.sum()


def counted_cross_entropy(scores: Tensor, target: Tensor) -> Tensor:
    """Cross-entropy of scores (N, classes, ...) with classes (N, ...): the mean over what counts."""
    total = F.cross_entropy(scores, target, None, reduction="sum", label_smoothing=0.0)
    return total / counted(target).clamp(min=1e-12)


def masked_accuracy(guessed: Tensor, target: Tensor) -> Tensor:
    """The fraction of places (N, ...) whose class is right, without those of class -100 or `ignored`."""
    there = target != -100
    return ((guessed == target) & there).sum() / there.sum().clamp(1)


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


def open_image(path: Path) -> Image.Image:
    """The image in a file, turned as its camera noted."""
    try:
        with Image.open(path, formats=("PNG", "JPEG", "BMP", "GIF", "WEBP", "TIFF", "PPM")) as image:
            image.load()
            return ImageOps.exif_transpose(image)
    except Exception as error:  # a damaged file may fail in any way
        raise SystemExit(f"{path} cannot be read: {error}.") from error


def levels_of(path: Path) -> np.ndarray[Any, Any]:
    """An image as levels, (1, 32, 32)."""
    image = open_image(path)
    if image.mode.startswith("I"):  # grey of 16 bits
        image = Image.fromarray(np.asarray(image).astype(np.float32))
        grey = (np.asarray(image.resize((32, 32), Image.Resampling.BILINEAR)) / 257).round().astype(np.uint8)
        return grey[None]
    if image.has_transparency_data:
        image = image.convert("RGBA")
        image = Image.alpha_composite(Image.new("RGBA", image.size, "white"), image)
        image = image.convert("RGB")
    return np.asarray(image.convert("L").resize((32, 32), Image.Resampling.BILINEAR))[None]


def pixel_classes(path: Path) -> np.ndarray[Any, Any]:
    """The class of each pixel of a mask, (32, 32)."""
    image = open_image(path)
    image = image.convert(image.mode[0]) if image.mode in ("LA", "PA") else image
    coloured = image.mode not in ("1", "L", "P") and not image.mode.startswith("I")
    values = np.asarray(image.convert("RGB") if coloured else image).astype(np.int64)
    values = values @ (65536, 256, 1) if coloured else values
    known = np.arange(4)
    places = np.searchsorted(known, values).clip(max=len(known) - 1)
    if ((known[places] != values) & (values != 255)).any():
        raise SystemExit(f"The mask {path} has a value that is of no class.")
    places[values == 255] = -100  # of no class, as losses leave it out
    image = Image.fromarray(places.astype(np.int32))
    return np.asarray(image.resize((32, 32), Image.Resampling.NEAREST)).astype(np.int16)


def images_below(folder: Path) -> list[str]:
    """The names of all images below a folder, 2 before 10; a folder that is linked to is read once."""
    ends = tuple(".png .jpg .jpeg .jpe .jfif .bmp .gif .webp .tif .tiff .ppm .pgm .pbm".split())
    found: list[str] = []
    seen: set[Path] = set()
    folders, links = [folder], list[Path]()
    while folders or links:
        place = (folders or links).pop()
        inside = [one for one in place.glob("*") if one.name[0] != "." and place.resolve() not in seen]
        seen.add(place.resolve())
        folders += [one for one in inside if one.is_dir() and not one.is_symlink()]
        links += [one for one in inside if one.is_dir() and one.is_symlink()]
        names = [one.relative_to(folder).as_posix() for one in inside if not one.is_dir()]
        found += [name for name in names if name.casefold().endswith(ends)]
    return sorted(found, key=natural_key)


def load(folder: Path, device: str) -> dict[str, dict[str, Tensor]]:
    """{split: {column: values}} for train, validation and test.

    image (N, 1, 32, 32); mask (N, 32, 32).
    """
    names = images_below(folder)
    mask_of = {name[6:].rpartition(".")[0]: name for name in names if name.startswith("masks/")}
    pairs = [(one, one[7:].rpartition(".")[0]) for one in names if one.startswith("images/")]
    for stem, mask in [*mask_of.items()]:
        mask_of.setdefault(re.sub("([_-]mask|_seg|_gt|_label)$", "", stem, flags=re.IGNORECASE), mask)
    listed = [(name, mask_of.get(stem, "")) for name, stem in pairs]
    if not listed or not all(one[1] for one in listed):
        raise SystemExit(f"Images in {folder} have no masks, or are no longer there.")
    with ThreadPoolExecutor(2) as pool:
        levels = np.stack(list(pool.map(levels_of, [folder / name for name, mask in listed])))
    images = torch.from_numpy(levels.astype(np.float32) / 255)
    with ThreadPoolExecutor(2) as pool:
        levels = np.stack(list(pool.map(pixel_classes, [folder / mask for name, mask in listed])))
    masks = torch.from_numpy(levels.astype(np.int64))
    rows = split_at_random(len(listed), validation=0.2, test=0.2, seed=0)
    if not all(len(at) for at in rows.values()):
        raise SystemExit("There are too few rows for three splits: has the data changed?")
    return {
        split: {"image": images[at].to(device), "mask": masks[at].to(device)} for split, at in rows.items()
    }


def batches(split: dict[str, Tensor], shuffle: torch.Generator | None = None) -> Iterator[dict[str, Tensor]]:
    n = len(split["image"])
    order = torch.arange(n) if shuffle is None else torch.randperm(n, generator=shuffle)
    for rows in order.split(CONFIG.batch):
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
    parser = argparse.ArgumentParser(description="Shapes pixel by pixel")
    parser.add_argument(
        "--data",
        type=Path,
        default=Path(__file__).parent / "files/shapes",
        help="folder that holds the images",
    )
    parser.add_argument("--epochs", type=int, default=CONFIG.epochs)
    parser.add_argument("--seed", type=int, default=CONFIG.seed)
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
