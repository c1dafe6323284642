"""Where the digits are

Exported from Neuroloom. Needs torch and numpy only.

    python where_the_digits_are.py --data FOLDER --epochs 12

FOLDER holds mnist/ and is the script's own by default.
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn


@dataclass(frozen=True)
class Config:
    seed: int = 0
    batch: int = 32
    epochs: int = 12
    learning_rate: float = 0.005


CONFIG = Config()


def read_idx(path: Path, shape: tuple[int, ...]) -> np.ndarray:
    """The bytes of a gzip-compressed IDX file, as an array of `shape`."""
    import zlib

    if not path.is_file():
        raise FileNotFoundError(
            f"There is no {path}: choose the folder that holds mnist/ with its four files."
        )
    header = 4 + 4 * len(shape)
    try:
        raw = zlib.decompress(path.read_bytes(), wbits=31)
    except zlib.error:
        raw = b""
    if len(raw) != header + math.prod(shape):
        raise ValueError(f"{path} is damaged, or is another file: copy it from MNIST again.")
    return np.frombuffer(raw, np.uint8, offset=header).reshape(shape)


def stratified_holdout(labels: Tensor, fraction: float, shuffle: torch.Generator) -> tuple[Tensor, Tensor]:
    """Rows as (kept, held): a random `fraction` is held back, in every class alike."""
    n = len(labels)
    order = torch.randperm(n, generator=shuffle)
    by_class = labels[order].argsort(stable=True)
    held = torch.zeros(n, dtype=torch.bool)
    # so that each class gives its part
    held[by_class] = (torch.arange(n + 1) * round(fraction * n) // max(n, 1)).diff() > 0
    return order[~held], order[held]


def load_mnist(folder: Path, *, seed: int = 0) -> dict[str, dict[str, Tensor]]:
    """MNIST as {split: {"image": (N, 1, 28, 28) in 0..1, "digit": (N,)}}; validation is part of train."""

    def columns(image: np.ndarray, digit: np.ndarray) -> dict[str, Tensor]:
        return {
            "image": torch.from_numpy(image).to("cpu").float().unsqueeze(1) / 255,
            "digit": torch.from_numpy(digit).to("cpu").long(),
        }

    files = folder / "mnist"
    image = read_idx(files / "train-images-idx3-ubyte.gz", (60000, 28, 28))
    digit = read_idx(files / "train-labels-idx1-ubyte.gz", (60000,))
    test_image = read_idx(files / "t10k-images-idx3-ubyte.gz", (10000, 28, 28))
    test_digit = read_idx(files / "t10k-labels-idx1-ubyte.gz", (10000,))
    kept, held = stratified_holdout(torch.tensor(digit), 0.1, torch.Generator().manual_seed(seed))
    return {
        "train": columns(image[kept.numpy()], digit[kept.numpy()]),
        "validation": columns(image[held.numpy()], digit[held.numpy()]),
        "test": columns(test_image.copy(), test_digit.copy()),
    }


def box_overlap(a: Tensor, b: Tensor) -> Tensor:
    """Intersection over union of boxes (..., n, 4) with boxes (..., m, 4): (..., n, m), 0 for empty boxes."""
    low = torch.maximum(a[..., :, None, :2], b[..., None, :, :2])
    high = torch.minimum(a[..., :, None, 2:], b[..., None, :, 2:])
    both = (high - low).clamp(min=0).prod(-1)
    areas = [(one[..., 2:] - one[..., :2]).clamp(min=0).prod(-1) for one in (a, b)]
    return both / (areas[0][..., :, None] + areas[1][..., None, :] - both).clamp(min=1e-12)


def not_suppressed(boxes: Tensor, kind: Tensor, overlap: float) -> Tensor:
    """Which boxes (N, n, 4), best first, stay: no better one of their class that stays overlaps them more."""
    clash = (box_overlap(boxes, boxes) > overlap) & (kind[..., :, None] == kind[..., None, :])
    stays = torch.ones_like(kind, dtype=torch.bool)
    for one in range(kind.shape[-1] - 1):
        stays[..., one + 1 :] &= ~(stays[..., one, None] & clash[..., one, one + 1 :])
    return stays


def boxes_of(grid: Tensor) -> Tensor:
    """The `most` best boxes of each image: (N, most, 6) of class, corners and probability, the best first."""
    classes, (rows, columns) = grid.shape[1] - 4, grid.shape[2:]
    scores, cells = grid[:, :classes].sigmoid().flatten(1).topk(min(20, classes * rows * columns))
    kind, cell = cells // (rows * columns), cells % (rows * columns)
    shape = grid[:, classes:].flatten(2).gather(2, cell[:, None].expand(-1, 4, -1)).transpose(1, 2)
    centre = torch.stack((cell % columns, cell // columns), -1) + shape[..., :2]
    half = shape[..., 2:].clamp(max=6).exp() / 2
    scale = grid.new_tensor([columns, rows])
    boxes = torch.cat(((centre - half) / scale, (centre + half) / scale), -1)
    stays = not_suppressed(boxes, kind, 0.5)
    return torch.cat(
        (torch.where(stays, kind, -1)[..., None].to(boxes), boxes, (scores * stays)[..., None]), -1
    )


def centre_point_loss(grid: Tensor, boxes: Tensor, size_weight: float) -> Tensor:
    """Focal loss of the centres' classes and `size_weight` times the error of their boxes, for each box."""
    classes, (rows, columns) = grid.shape[1] - 4, grid.shape[2:]
    real, corners, scale = (boxes[..., 0] >= 0).float(), boxes[..., 1:], boxes.new_tensor([columns, rows])
    centre = (corners[..., :2] + corners[..., 2:]) / 2 * scale
    extent = ((corners[..., 2:] - corners[..., :2]) * scale).clamp(min=1e-3).log()
    column, row = centre[..., 0].long().clamp(0, columns - 1), centre[..., 1].long().clamp(0, rows - 1)
    cell = row * columns + column
    scores = grid[:, :classes].flatten(1)
    place = boxes[..., 0].long().clamp(0) * rows * columns + cell
    right = torch.zeros_like(scores).scatter_add(1, place, real).clamp(max=1)
    wrong = (right - scores.sigmoid()) ** 2  # what is sure already counts little
    apart = F.binary_cross_entropy_with_logits(scores, right, reduction="none")
    wanted = torch.cat((centre - torch.stack((column, row), -1), extent), -1)
    shape = grid[:, classes:].flatten(2).gather(2, cell[:, None].expand(-1, 4, -1)).transpose(1, 2)
    far = ((shape - wanted).abs().sum(-1) * real).sum()
    return ((wrong * apart).sum() + size_weight * far) / real.sum().clamp(min=1)


def overlap_of_class(found: Tensor, boxes: Tensor) -> Tensor:
    """How much found boxes (N, n, 6) overlap boxes (N, m, 5) of their class, (N, n, m); others by 0."""
    same = (found[..., :1] == boxes[..., 0][:, None]) & (found[..., :1] >= 0)
    return box_overlap(found[..., 1:5], boxes[..., 1:]) * same


def mean_average_precision(found: Tensor, boxes: Tensor, *, overlap: float) -> Tensor:
    """The area below precision against recall of found boxes (N, n, 6), best first; mean over the classes."""
    fits = overlap_of_class(found, boxes)
    free, right = torch.ones_like(boxes[..., 0]), torch.zeros_like(found[..., 0])
    for one in range(found.shape[1]):
        best, place = (fits[:, one] * free).max(1)
        right[:, one] = best >= overlap
        free.scatter_(1, place[:, None], free.gather(1, place[:, None]) * (1 - right[:, one, None]))
    order = found[..., 5].flatten().argsort(descending=True, stable=True)
    order = order[found[..., 0].flatten()[order].argsort(stable=True)]  # class by class, the best first
    kind, right = found[..., 0].flatten()[order], right.flatten()[order]
    first = torch.searchsorted(kind, kind)
    hits = right.cumsum(0)
    hits = hits - hits[first] + right[first]
    precision = hits / (torch.arange(1, len(kind) + 1, device=kind.device) - first)
    precision = (precision - 2 * kind).flip(0).cummax(0).values.flip(0) + 2 * kind  # apart for each class
    true = boxes[..., 0].flatten().sort().values
    number = torch.searchsorted(true, kind, right=True) - torch.searchsorted(true, kind)
    classes = (F.pad(true, (1, 0), value=-1.0).diff() > 0).sum()
    return (precision * right / number.clamp(min=1)).sum() / classes


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.strokes = nn.Conv2d(1, 16, kernel_size=5, stride=2, padding=2, bias=False)
        self.norm_1 = nn.BatchNorm2d(16)
        self.parts = nn.Conv2d(16, 32, kernel_size=3, stride=2, padding=1, bias=False)
        self.norm_2 = nn.BatchNorm2d(32)
        self.digits = nn.Conv2d(32, 64, kernel_size=3, padding="same", bias=False)
        self.norm_3 = nn.BatchNorm2d(64)
        self.centres = nn.Conv2d(64, 64, kernel_size=3, padding="same", bias=False)
        self.norm_4 = nn.BatchNorm2d(64)
        self.grid = nn.Conv2d(64, 14, kernel_size=1)

    def forward(self, image: Tensor) -> Tensor:  # (N, 1, 48, 48)
        x = self.strokes(image)                  # (N, 16, 24, 24)
        x = self.norm_1(x)                       # (N, 16, 24, 24)
        x = F.relu(x)                            # (N, 16, 24, 24)
        x = self.parts(x)                        # (N, 32, 12, 12)
        x = self.norm_2(x)                       # (N, 32, 12, 12)
        x = F.relu(x)                            # (N, 32, 12, 12)
        x = self.digits(x)                       # (N, 64, 12, 12)
        x = self.norm_3(x)                       # (N, 64, 12, 12)
        x = F.relu(x)                            # (N, 64, 12, 12)
        x = self.centres(x)                      # (N, 64, 12, 12)
        x = self.norm_4(x)                       # (N, 64, 12, 12)
        x = F.relu(x)                            # (N, 64, 12, 12)
        return self.grid(x)                      # (N, 14, 12, 12)


def objective(model: Model, batch: dict[str, Tensor]) -> dict[str, Tensor]:
    """The losses of a batch; training minimises "loss". "weight" is how much the batch counts."""
    grid = model(batch["image"])
    return {
        "loss": centre_point_loss(grid, batch["boxes"], 1.0),
        "weight": batch["boxes"].select(-1, 0).ge(0).sum(),
    }


def measure(model: Model, batch: dict[str, Tensor]) -> dict[str, tuple[Any, Tensor | int]]:
    """The losses and metrics of a batch, each with how much the batch counts in the mean over several."""
    grid = model(batch["image"])
    return {
        "loss": (centre_point_loss(grid, batch["boxes"], 1.0), batch["boxes"].select(-1, 0).ge(0).sum()),
        "map_": (mean_average_precision(boxes_of(grid), batch["boxes"], overlap=0.5), len(batch["image"])),
        "map_ rows": ((boxes_of(grid), batch["boxes"]), len(batch["image"])),
    }


def load(folder: Path, device: str) -> dict[str, dict[str, Tensor]]:
    """{split: {column: values}} for train, validation and test: image (N, 1, 48, 48); boxes (N, 3, 5)."""
    scenes, most, seed, side, tries = 2000, 3, 0, 48, 20
    made = {}
    for number, (split, digits) in enumerate(load_mnist(folder, seed=seed).items()):
        draw = torch.Generator().manual_seed(3 * seed + number)
        n = scenes if split == "train" else max(1, scenes // 6)
        wanted = torch.randint(1, most + 1, (n,), generator=draw)
        images, boxes = torch.zeros(n, 1, side, side), torch.zeros(n, most, 5)
        boxes[..., 0] = -1
        taken = torch.zeros(n, side, side, dtype=torch.bool)
        for place in range(most):
            which = torch.randint(len(digits["digit"]), (n,), generator=draw)
            sizes = torch.randint(18, 30 + 1, (n,), generator=draw).tolist()
            corners = torch.rand(n, tries, 2, generator=draw).tolist()
            for scene in torch.nonzero(wanted > place).flatten().tolist():
                image = digits["image"][which[scene], None]
                ink = F.interpolate(
                    image, (sizes[scene], sizes[scene]), mode="bilinear", antialias=True
                )[0, 0]
                down, across = (torch.nonzero(ink.amax(axis) > 0.1).flatten() for axis in (1, 0))
                ink = ink[down[0]:down[-1] + 1, across[0]:across[-1] + 1]
                high, wide = ink.shape
                for right, below in corners[scene]:
                    x, y = int(right * (side - wide + 1)), int(below * (side - high + 1))
                    end, bottom = x + wide, y + high
                    if not taken[scene, y:bottom, x:end].any():
                        taken[scene, y:bottom, x:end] = True
                        images[scene, 0, y:bottom, x:end] = ink
                        boxes[scene, place] = torch.tensor([digits["digit"][which[scene]], x, y, end, bottom])
                        break
        boxes[..., 1:] /= side
        made[split] = {"image": images.to(device), "boxes": boxes.to(device)}
    return made


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
    rows: dict[str, list[tuple[Tensor, ...]]] = {}
    for batch in batches(split):
        for name, (value, weight) in measure(model, batch).items():
            if isinstance(value, tuple):  # rows whose value is that of all of them together
                rows.setdefault(name, []).append(tuple(column.cpu() for column in value))
                continue
            sums[name] = sums.get(name, 0.0) + float(weight) * value.item()
            weights[name] = weights.get(name, 0.0) + float(weight)
    model.train()
    found = {name: value / (weights[name] or math.nan) for name, value in sums.items()}
    kept = {name: [*map(torch.cat, zip(*parts, strict=True))] for name, parts in rows.items()}
    found["map_"] = float(mean_average_precision(*kept["map_ rows"], overlap=0.5))
    return found


def optimiser_for(model: Model) -> torch.optim.Optimizer:
    return torch.optim.Adam(model.parameters(), lr=CONFIG.learning_rate)


def schedule_for(
    optimiser: torch.optim.Optimizer, steps_per_epoch: int, epochs: int
) -> torch.optim.lr_scheduler.LRScheduler:
    """Down along half a cosine wave; stepped after each batch."""
    total = max(1, epochs * steps_per_epoch)

    def factor(step: int) -> float:
        done = min(1.0, step / total)
        return (1 + math.cos(math.pi * done)) / 2

    return torch.optim.lr_scheduler.LambdaLR(optimiser, factor)


def report(values: dict[str, float], as_json: bool) -> None:
    shown = "  ".join(f"{name} {value:.4g}" for name, value in values.items())
    print(json.dumps(values) if as_json else shown)


def train(model: Model, data: dict[str, dict[str, Tensor]], seed: int, epochs: int, as_json: bool) -> None:
    optimiser = optimiser_for(model)
    steps_per_epoch = math.ceil(len(data["train"]["image"]) / CONFIG.batch)
    schedule = schedule_for(optimiser, steps_per_epoch, epochs)
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
            schedule.step()
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
    parser = argparse.ArgumentParser(description="Where the digits are")
    parser.add_argument("--data", type=Path, default=Path(__file__).parent, help="folder that holds mnist/")
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
