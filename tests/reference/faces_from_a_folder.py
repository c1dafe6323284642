"""Faces from a folder

Exported from Neuroloom. Needs torch, numpy and pillow only.

    python faces_from_a_folder.py --data FOLDER --epochs 30

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
    batch: int = 16
    epochs: int = 30
    patience: int = 8  # epochs without a better validation loss before training stops
    learning_rate: float = 0.003


CONFIG = Config()


def natural_key(name: str) -> tuple[Any, ...]:
    """Sorts a2 before a10, folder by folder, without regard to case."""
    parts = re.split("([0-9]+)", unicodedata.normalize("NFC", name).casefold().replace("/", "\0"))
    return (*(int(part) if at % 2 else part for at, part in enumerate(parts)), name)


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


def open_image(path: Path) -> Image.Image:
    """The image in a file, turned as its camera noted."""
    try:
        with Image.open(path, formats=("PNG", "JPEG", "BMP", "GIF", "WEBP", "TIFF", "PPM")) as image:
            image.load()
            return ImageOps.exif_transpose(image)
    except Exception as error:  # a damaged file may fail in any way
        raise SystemExit(f"{path} cannot be read: {error}.") from error


def levels_of(path: Path) -> np.ndarray[Any, Any]:
    """An image as levels, (1, 25, 25)."""
    image = open_image(path)
    if image.mode.startswith("I"):  # grey of 16 bits
        image = Image.fromarray(np.asarray(image).astype(np.float32))
        grey = (np.asarray(image.resize((25, 25), Image.Resampling.BILINEAR)) / 257).round().astype(np.uint8)
        return grey[None]
    if image.has_transparency_data:
        image = image.convert("RGBA")
        image = Image.alpha_composite(Image.new("RGBA", image.size, "white"), image)
        image = image.convert("RGB")
    return np.asarray(image.convert("L").resize((25, 25), Image.Resampling.BILINEAR))[None]


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
    """{split: {column: values}} for train, validation and test: image (N, 1, 25, 25); label (N,)."""
    classes = ("background", "face")
    numbers = {name: number for number, name in enumerate(classes)}
    names = [name for name in images_below(folder) if "/" in name]
    if {name.split("/")[0] for name in names} - numbers.keys() or not names:
        raise SystemExit(f"The images in {folder} are not those of the 2 classes that it had.")
    with ThreadPoolExecutor(2) as pool:
        levels = np.stack(list(pool.map(levels_of, [folder / name for name in names])))
    images = torch.from_numpy(levels.astype(np.float32) / 255)
    labels = torch.tensor([numbers[name.split("/")[0]] for name in names])
    rows = split_by_class(len(names), labels, validation=0.2, test=0.2, seed=0)
    if not all(len(at) for at in rows.values()):
        raise SystemExit("There are too few rows for three splits: has the data changed?")
    return {
        split: {"image": images[at].to(device), "label": labels[at].to(device)} for split, at in rows.items()
    }


def batches(split: dict[str, Tensor], shuffle: torch.Generator | None = None) -> Iterator[dict[str, Tensor]]:
    n = len(split["image"])
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
        size = len(batch["image"])
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
    parser = argparse.ArgumentParser(description="Faces from a folder")
    parser.add_argument(
        "--data",
        type=Path,
        default=Path(__file__).parent / "files/faces",
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
