"""Digits, augmented

Exported from Neuroloom. Needs torch, numpy and scikit-learn only.

    python digits_augmented.py --epochs 20
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
    batch: int = 64
    epochs: int = 20
    patience: int = 6  # epochs without a better validation loss before training stops
    learning_rate: float = 0.002


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


def drawn_between(smallest: float, largest: float, count: int, device: torch.device) -> Tensor:
    """`count` numbers drawn evenly between two bounds: (count,)."""
    return smallest + (largest - smallest) * torch.rand(count, device=device)


def resampled(
    x: Tensor,
    turn: Tensor,
    size: Tensor,
    slant: Tensor,
    down: Tensor,
    right: Tensor,
    mode: str = "bilinear",
    outside: str = "zeros",
    value: float = 0.0,
) -> Tensor:
    """Images turned counter-clockwise by `turn` (radians), `size` times as large, sheared and moved."""
    height, width = x.shape[2:]
    # Where each pixel comes from, in pixels from the centre; not by a product, which autocast would round.
    rows = torch.arange(height, device=x.device) - (height - 1) / 2
    columns = torch.arange(width, device=x.device) - (width - 1) / 2
    y = rows[None, :, None] - (down * height)[:, None, None]
    x_ = columns[None, None, :] - (right * width)[:, None, None]
    cosine, sine = ((part / size)[:, None, None] for part in (torch.cos(turn), torch.sin(turn)))
    y, x_ = sine * x_ + cosine * y, cosine * x_ - sine * y
    x_ = x_ - slant[:, None, None] * y
    grid = torch.stack((x_ * 2 / width, y * 2 / height), 3)
    found = F.grid_sample(x.float() - value, grid, mode, outside, align_corners=False) + value
    return found.to(x.dtype)


class RandomAffine(nn.Module):
    """While training, turns, resizes, moves and shears images, all in one resampling about the centre."""

    def __init__(
        self,
        degrees: float = 0.0,
        smallest: float = 1.0,
        largest: float = 1.0,
        shift: float = 0.0,
        shear: float = 0.0,
        mode: str = "bilinear",
        outside: str = "zeros",
        value: float = 0.0,
    ) -> None:
        super().__init__()
        self.degrees = degrees
        self.smallest = smallest
        self.largest = largest
        self.shift = shift
        self.shear = shear
        self.mode = mode
        self.outside = outside
        self.value = value

    def forward(self, x: Tensor) -> Tensor:
        if not self.training:
            return x
        count, device = len(x), x.device
        turn = math.pi / 180 * drawn_between(-self.degrees, self.degrees, count, device)
        slant = torch.tan(math.pi / 180 * drawn_between(-self.shear, self.shear, count, device))
        size = torch.exp(drawn_between(math.log(self.smallest), math.log(self.largest), count, device))
        down = drawn_between(-self.shift, self.shift, count, device)
        right = drawn_between(-self.shift, self.shift, count, device)
        return resampled(x, turn, size, slant, down, right, self.mode, self.outside, self.value)


def cut_at_random(x: Tensor, height: int, width: int) -> Tensor:
    """A window of that size at a random place of each image."""
    top = torch.randint(x.shape[2] - height + 1, (len(x),), device=x.device)
    left = torch.randint(x.shape[3] - width + 1, (len(x),), device=x.device)
    windows = x.unfold(2, height, 1).unfold(3, width, 1)
    return windows[torch.arange(len(x), device=x.device), :, top, left]


def bordered(x: Tensor, size: tuple[int, int, int, int], mode: str, value: float) -> Tensor:
    """Images with `size` pixels more at the left, right, top and bottom; `mode` is one of F.pad."""
    return F.pad(x, size, mode, value) if mode == "constant" else F.pad(x, size, mode)


class RandomShift(nn.Module):
    """While training, moves images by up to `rows` and `columns` whole pixels; `mode` fills what is left."""

    def __init__(self, rows: int, columns: int, mode: str = "constant", value: float = 0.0) -> None:
        super().__init__()
        self.border = (columns, columns, rows, rows)
        self.mode = mode
        self.value = value

    def forward(self, x: Tensor) -> Tensor:
        if not self.training:
            return x
        return cut_at_random(bordered(x, self.border, self.mode, self.value), x.shape[2], x.shape[3])


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.shift = RandomShift(1, 1)
        self.affine = RandomAffine(degrees=12.0, smallest=0.9, largest=1.1)
        self.conv = nn.Conv2d(1, 24, kernel_size=3, padding="same")
        self.classes = nn.Linear(384, 10)

    def forward(self, image: Tensor) -> Tensor:  # (N, 1, 8, 8)
        x = self.shift(image)                    # (N, 1, 8, 8)
        x = self.affine(x)                       # (N, 1, 8, 8)
        x = F.relu(self.conv(x))                 # (N, 24, 8, 8)
        x = F.max_pool2d(x, 2)                   # (N, 24, 4, 4)
        x = x.flatten(1)                         # (N, 384)
        return self.classes(x)                   # (N, 10)


def objective(model: Model, batch: dict[str, Tensor]) -> dict[str, Tensor]:
    """The losses of a batch; training minimises "loss"."""
    classes = model(batch["image"])
    return {"loss": F.cross_entropy(classes, batch["digit"])}


def measure(model: Model, batch: dict[str, Tensor]) -> dict[str, Tensor]:
    """The losses and metrics of a batch."""
    classes = model(batch["image"])
    return {
        "loss": F.cross_entropy(classes, batch["digit"]),
        "accuracy": (classes.argmax(1) == batch["digit"]).float().mean(),
    }


def load(device: str) -> dict[str, dict[str, Tensor]]:
    """{split: {column: values}} for train, validation and test: image (N, 1, 8, 8); digit (N,)."""
    from sklearn import datasets

    values, target = datasets.load_digits(return_X_y=True)
    pixels, digit = torch.tensor(values).double(), torch.tensor(target).double()
    image = pixels.reshape(-1, 1, 8, 8) / 16
    columns = {"image": image.float(), "digit": digit.long()}
    parts = stratified_split(digit, validation=0.2, test=0.2, seed=0)
    return {split: {name: one[at].to(device) for name, one in columns.items()} for split, at in parts.items()}


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
    parser = argparse.ArgumentParser(description="Digits, augmented")
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
