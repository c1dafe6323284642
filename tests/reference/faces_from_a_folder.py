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
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

SEED, BATCH, EPOCHS = 0, 16, 30
PATIENCE = 8  # epochs without a better validation loss before training stops


class Lazy:
    """Rows of a file as (N, *size) of `dtype`; `picked` are their numbers in the file, all by default.

    A subclass overrides `read`. Rows arrive on `device`, whatever device their numbers are on.
    """

    def __init__(
        self, count: int, size: tuple[int, ...], dtype: torch.dtype, device: str, picked: Tensor | None = None
    ) -> None:
        self.picked = torch.arange(count) if picked is None else picked
        self.dtype = dtype
        self.device = torch.device(device)
        self.shape = torch.Size((len(self.picked), *size))

    def read(self, rows: Tensor) -> Tensor:
        """Rows of the file by number (int64, on the CPU) as (len(rows), *size) of `dtype`, on the CPU."""
        raise NotImplementedError

    def at(self, rows: Tensor) -> Lazy:
        """These rows of the column, as a column."""
        other = object.__new__(type(self))
        other.__dict__.update(self.__dict__)
        other.picked = self.picked[rows.cpu()]
        other.shape = torch.Size((len(other.picked), *self.shape[1:]))
        return other

    def __len__(self) -> int:
        return len(self.picked)

    def __getitem__(self, rows: Any) -> Tensor:
        """One row by number, or several by a slice or a tensor of numbers."""
        if isinstance(rows, int):
            return self[torch.tensor([range(len(self))[rows]])][0]
        asked = self.picked[rows.cpu() if isinstance(rows, Tensor) else rows]
        return self.read(asked).to(self.device)

    def index_select(self, dim: int, rows: Tensor) -> Tensor:
        """Rows by number, as of a tensor; `dim` is 0."""
        return self[rows]

    def dim(self) -> int:
        return len(self.shape)

    def numel(self) -> int:
        return self.shape.numel()

    def is_floating_point(self) -> bool:
        return self.dtype.is_floating_point


def values_of(levels: np.ndarray, dtype: torch.dtype) -> Tensor:
    """Levels as shares of the highest, float32 in 0..1, or as whole numbers."""
    if not dtype.is_floating_point:
        return torch.from_numpy(levels.astype(np.int64))
    return torch.from_numpy(levels.astype(np.float32) / np.float32(np.iinfo(levels.dtype).max))


class HeldLevels(Lazy):
    """Images in memory as whole levels; batches of them are float32 in 0..1, or class numbers (int64)."""

    def __init__(self, levels: np.ndarray, dtype: torch.dtype, device: str) -> None:
        super().__init__(len(levels), levels.shape[1:], dtype, device)
        self.levels = levels

    def read(self, rows: Tensor) -> Tensor:
        return values_of(self.levels[rows.numpy()], self.dtype)


class ImageFiles(Lazy):
    """A file for each row, decoded when its batch is asked for by `threads` threads; by none for 0.

    `decode(folder, name, **how)` gives an array of `size`, uint8 or uint16: levels or, if `whole`, classes.
    """

    def __init__(
        self,
        folder: Path,
        names: list[str],
        decode: Callable[..., np.ndarray],
        how: dict[str, Any],
        size: tuple[int, ...],
        threads: int,
        device: str,
        whole: bool = False,
    ) -> None:
        super().__init__(len(names), size, torch.int64 if whole else torch.float32, device)
        self.folder, self.names, self.decode, self.how, self.threads = folder, names, decode, how, threads

    def levels(self, rows: Tensor) -> np.ndarray:
        """What the files of these rows hold, as (len(rows), *size)."""
        from concurrent.futures import ThreadPoolExecutor

        def decoded(name: str) -> np.ndarray:
            return self.decode(self.folder, name, **self.how)

        asked = [self.names[row] for row in rows.tolist()]
        if not self.threads or len(asked) < 2:
            found = [decoded(name) for name in asked]
        else:
            with ThreadPoolExecutor(self.threads) as pool:
                found = list(pool.map(decoded, asked))
        return np.stack(found) if found else np.zeros((0, *self.shape[1:]), np.uint8)

    def read(self, rows: Tensor) -> Tensor:
        return values_of(self.levels(rows), self.dtype)

    def broken(self) -> set[int]:
        """The rows whose files cannot be read. Every file is decoded to know it."""
        found = set()
        for row, name in enumerate(self.names):
            try:
                self.decode(self.folder, name, **self.how)
            except ValueError:
                found.add(row)
        return found

    def at(self, rows: Tensor) -> ImageFiles:
        found = super().at(rows)
        assert isinstance(found, ImageFiles)
        return found

    def held(self, megabytes: float) -> Tensor | Lazy:
        """The column in memory, as levels where only those fit into `megabytes`; else as it is."""
        room = megabytes * 1_000_000
        first = self.levels(self.picked[:1])
        if first.itemsize * self.numel() > room:
            return self
        levels = np.empty(self.shape, first.dtype)
        for start in range(0, len(self), 256):
            levels[start : start + 256] = self.levels(self.picked[start : start + 256])
        if self.dtype.itemsize * self.numel() > room:
            return HeldLevels(levels, self.dtype, str(self.device))
        return values_of(levels, self.dtype)


def readable_name(name: str) -> str:
    """A name as text that can be shown and saved: accents in one way, no bytes that are no text."""
    text = name.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    return unicodedata.normalize("NFC", text)


def quoted_name(name: str) -> str:
    """A name within a sentence; what cannot be printed is escaped."""
    text = readable_name(name)
    return f'"{text}"' if text.isprintable() else ascii(text)


def read_image(folder: Path, name: str, take: Callable[[Any], Any]) -> Any:
    """What `take` makes of a file's PIL image while it is open."""
    import warnings

    try:
        from PIL import Image, UnidentifiedImageError
    except ImportError as error:
        raise ImportError("Images are read by Pillow: pip install pillow.") from error
    warnings.filterwarnings("ignore", module="PIL")  # what matters is told below, in words
    kinds = ("PNG", "JPEG", "BMP", "GIF", "WEBP", "TIFF", "PPM")
    most = 100_000_000
    what = quoted_name(name)
    try:
        with Image.open(folder / name, formats=kinds) as image:
            if image.width * image.height > most:
                raise Image.DecompressionBombError
            return take(image)
    except Image.DecompressionBombError as error:
        raise ValueError(f"{what} has more than {most:,} pixels, the most that are read.") from error
    except UnidentifiedImageError as error:
        empty = not (folder / name).stat().st_size
        reason = "is empty" if empty else "is no image of a kind that can be read"
        raise ValueError(f"{what} {reason}.") from error
    except FileNotFoundError as error:
        raise ValueError(f"{what} is not there: it should be in {folder}.") from error
    except PermissionError as error:
        raise ValueError(f"{what} may not be read: {error.strerror}.") from error
    except Exception as error:  # a damaged file may fail in any way
        raise ValueError(f"{what} is damaged: {error or type(error).__name__}.") from error


def upright(image: Any) -> Any:
    """The first picture of a file, turned as its camera noted."""
    from PIL import ImageOps

    image.load()
    return ImageOps.exif_transpose(image)


def of_size(image: Any, size: tuple[int, int], fit: str, smooth: bool = True, border: Any = 0) -> Any:
    """A PIL image of (height, width): stretched, cropped to fill or padded to fit."""
    from PIL import Image, ImageOps

    method = Image.Resampling.BILINEAR if smooth else Image.Resampling.NEAREST
    target = (size[1], size[0])
    if image.size == target:
        return image
    if fit == "crop to fill":
        return ImageOps.fit(image, target, method)
    if fit == "pad to fit":
        return ImageOps.pad(image, target, method, color=border)
    return image.resize(target, method)


def deep_levels(image: Any, name: str, size: tuple[int, int], fit: str, mode: str, bits: int) -> np.ndarray:
    """The levels of a grey image of 16 bits, as `image_levels` gives them."""
    from PIL import Image

    values = np.asarray(image)
    if image.mode == "F" or values.min() < 0 or values.max() > 65535:
        raise ValueError(f"{quoted_name(name)} has values beyond 16 bits: save it with 8 or 16 bits.")
    found = np.asarray(of_size(Image.fromarray(values.astype(np.float32)), size, fit))
    grey = found.round().astype(np.uint16) if bits == 16 else (found / 257).round().astype(np.uint8)
    opaque = np.full_like(grey, np.iinfo(grey.dtype).max)
    return np.stack([grey] * {"L": 1, "RGB": 3, "RGBA": 3}[mode] + [opaque] * (mode == "RGBA"))


def image_levels(
    folder: Path, name: str, *, size: tuple[int, int], fit: str, channels: str, behind: str, bits: int
) -> np.ndarray:
    """An image as (C, H, W) levels, uint8 or uint16; grey is the luma of ITU-R BT.601.

    Where no alpha is asked for, what is transparent shows the "white" or "black" that is `behind` it, or with
    "nothing" its own colour.
    """
    mode = {"grey": "L", "RGB": "RGB", "RGBA": "RGBA"}[channels]
    image = read_image(folder, name, upright)
    if image.mode.startswith(("I", "F")):
        return deep_levels(image, name, size, fit, mode, bits)
    if image.mode == "LAB":
        raise ValueError(f"{quoted_name(name)} has LAB colours: save it as RGB.")
    if image.has_transparency_data and mode != "RGBA":
        image = image.convert("RGBA")
        if behind != "nothing":
            from PIL import Image

            image = Image.alpha_composite(Image.new("RGBA", image.size, behind), image)
        image = image.convert("RGB")
    levels = np.asarray(of_size(image.convert(mode), size, fit))
    levels = levels[None] if levels.ndim == 2 else levels.transpose(2, 0, 1)
    return levels.astype(np.uint16) * np.uint16(257) if bits == 16 else levels


def image_column(
    folder: Path, names: list[str], how: dict[str, Any], threads: int, device: str
) -> ImageFiles:
    """Images in their files, one a row."""
    size = ({"grey": 1, "RGB": 3, "RGBA": 4}[how["channels"]], *how["size"])
    return ImageFiles(folder, names, image_levels, how, size, threads, device)


def dealt_columns(columns: dict[str, Any], rows: dict[str, Tensor], device: str) -> dict[str, dict[str, Any]]:
    """Each split's part of every column, tensors (N, ...) on `device`; lazy columns stay in their files.

    Errors: `ValueError` where a split has no row.
    """
    empty = [split for split, at in rows.items() if not len(at)]
    if empty:
        count = sum(len(at) for at in rows.values())
        raise ValueError(
            f"Of {count:,} rows none is left for {empty[0]}: give it a larger share, or more rows."
        )
    return {
        split: {
            name: values.at(at) if isinstance(values, Lazy) else values[at].to(device)
            for name, values in columns.items()
        }
        for split, at in rows.items()
    }


def dealt_images(
    folder: Path,
    device: str,
    listed: dict[str, list[Any]],
    files: list[ImageFiles],
    unreadable: str,
    memory: int,
    key: str,
    deal: Callable[..., dict[str, Tensor]],
    dealing: dict[str, Any],
) -> dict[str, dict[str, Any]]:
    """The columns of the images, dealt; files that cannot be read are left out where that is wanted."""
    count = len(listed["path"])
    if not count:
        raise ValueError(f"There is no image in {folder}.")
    left_out = set().union(*(one.broken() for one in files)) if unreadable == "leave out" else set()
    if len(left_out) == count:
        raise ValueError(f"None of the {count:,} images in {folder} can be read.")
    kept = torch.tensor([row for row in range(count) if row not in left_out])
    columns: dict[str, Any] = {}
    for name, column in zip(("image", "mask"), files, strict=False):
        column = column.at(kept) if left_out else column
        columns[name] = column.held(memory / len(files))
    labels = [listed["label"][row] for row in kept.tolist()] if "label" in listed else []
    if labels and isinstance(labels[0], float):
        columns["value"] = torch.tensor(labels)[:, None]
    elif labels:
        columns["label"] = torch.tensor(labels)
    keys = None
    if key:
        values = [listed[key][row] for row in kept.tolist()]
        numbers = {value: number for number, value in enumerate(dict.fromkeys(values))}
        keys = torch.tensor(values if key == "split" else [numbers[value] for value in values])
    return dealt_columns(columns, deal(len(kept), keys, **dealing), device)


def load_image_files(
    folder: Path,
    device: str,
    *,
    rows: Callable[..., dict[str, list[Any]]],
    where: dict[str, Any],
    image: dict[str, Any],
    unreadable: str,
    memory: int,
    threads: int,
    key: str,
    deal: Callable[..., dict[str, Tensor]],
    **dealing: Any,
) -> dict[str, dict[str, Any]]:
    """Images as {split: {"image": (N, C, H, W) in 0..1, "label": (N,) classes, or "value": (N, 1)}}.

    `rows(folder, **where)` lists them, `image` says how they are decoded, `key` which of the lists the dealer
    looks at. What takes at most `memory` megabytes is held in memory.
    """
    listed = rows(folder, **where)
    files = [image_column(folder, listed["path"], image, threads, device)]
    return dealt_images(folder, device, listed, files, unreadable, memory, key, deal, dealing)


def is_image(name: str) -> bool:
    """Whether a file's name says that it is an image."""
    ends = (".png", ".jpg", ".jpeg", ".jpe", ".jfif", ".bmp", ".gif", ".webp", ".tif", ".tiff")
    return name.casefold().endswith((*ends, ".ppm", ".pgm", ".pbm"))


def leads_to_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:  # a link that leads to itself
        return False


def natural_key(name: str) -> tuple[Any, ...]:
    """Sorts a2 before a10, folder by folder, without regard to case."""
    parts = re.split("([0-9]+)", unicodedata.normalize("NFC", name).casefold().replace("/", "\0"))
    return (*(int(part) if at % 2 else part for at, part in enumerate(parts)), name)


def files_below(folder: Path) -> list[str]:
    """All files below a folder, as names from there with slashes; a folder that is linked to is read once."""
    found: list[str] = []
    seen = set()
    folders: list[tuple[str, str]] = [("", os.fspath(folder))]
    links: list[tuple[str, str]] = []
    while folders or links:
        below, place = (folders or links).pop()  # links last: none takes the place of the folder itself
        about = os.stat(place)
        if (about.st_dev, about.st_ino) in seen:
            continue
        seen.add((about.st_dev, about.st_ino))
        inner = []
        with os.scandir(place) as entries:
            for entry in entries:
                if entry.name.startswith("."):
                    continue
                if leads_to_folder(entry):
                    inner.append((below + entry.name + "/", entry.path, entry.is_symlink()))
                elif entry.is_symlink() or entry.is_file():  # a link to nothing is a file that cannot be read
                    found.append(below + entry.name)
        for name, path, linked in sorted(inner, reverse=True):
            (links if linked else folders).append((name, path))
    return sorted(found, key=natural_key)


def split_number(name: str) -> int:
    """The split that a folder's or a column's word means: 0, 1 or 2; -1 for any other word."""
    words = (("train", "training"), ("validation", "val", "valid", "dev"), ("test", "testing"))
    return next((number for number, known in enumerate(words) if name.strip().casefold() in known), -1)


def without_split(name: str, split_folders: bool) -> tuple[int, str]:
    """The split that one of the folders on the way says, and the name without that folder."""
    *folders, file = name.split("/")
    for at, part in enumerate(folders[:2] if split_folders else ()):
        if split_number(part) >= 0:
            return split_number(part), "/".join([*folders[:at], *folders[at + 1 :], file])
    return -1, name


def images_by_class(folder: Path, *, classes: tuple[str, ...], split_folders: bool) -> dict[str, list[Any]]:
    """Images in a folder for each class; those of one folder are a group. Others are left alone."""
    numbers = {name: number for number, name in enumerate(classes)}
    found: dict[str, list[Any]] = {"path": [], "label": [], "split": [], "group": []}
    for name in filter(is_image, files_below(folder)):
        split, inner = without_split(name, split_folders)
        if "/" not in inner or (split_folders and split < 0):
            continue
        label = readable_name(inner.split("/")[0])
        if label not in numbers:
            raise ValueError(
                f"{folder} has a new class, {quoted_name(label)}: choose the folder again, so that it counts."
            )
        row = (name, numbers[label], split, inner.rpartition("/")[0])
        for column, value in zip(found.values(), row, strict=True):
            column.append(value)
    return found


def dealt_by_class(
    n: int, keys: Tensor | None, *, validation: float, test: float, seed: int
) -> dict[str, Tensor]:
    """Every class of `keys` alike in every split, as far as its rows go."""
    assert keys is not None
    shuffle = torch.Generator().manual_seed(seed)
    order = torch.randperm(n, generator=shuffle)
    by_class = order[keys[order].argsort(stable=True)]
    at = torch.arange(n + 1)
    into_test = (at * round(test * n) // max(n, 1)).diff() > 0  # rises evenly, so each class gives its part
    rest = by_class[~into_test]
    at = torch.arange(len(rest) + 1)
    held = (at * round(validation * n) // max(len(rest), 1)).diff() > 0
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
        deal=dealt_by_class,
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
