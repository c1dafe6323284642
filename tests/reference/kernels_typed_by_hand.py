"""Kernels typed by hand

Exported from Neuroloom. Needs torch and numpy only.

    python kernels_typed_by_hand.py --data FOLDER --epochs 5

FOLDER holds mnist/ and is the script's own by default.
"""

from __future__ import annotations

import argparse
import gzip
import json
import math
import zlib
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
    batch: int = 128
    epochs: int = 5
    learning_rate: float = 0.003


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


class TypedKernel(nn.Module):
    """Slides a kernel that is not learned over each channel of a signal (N, C, L) or an image (N, C, H,
    W)."""

    kernel: Tensor

    def __init__(
        self,
        kernel: str,
        stride: int = 1,
        padding: tuple[int, ...] = (),
        dilation: int = 1,
        border: str = "constant",
        flip: bool = False,
    ) -> None:
        super().__init__()
        rows = kernel.replace(",", " ").split(";")
        typed = torch.tensor([[float(one) for one in row.split()] for row in rows])
        self.register_buffer("kernel", typed.flip(0, 1) if flip else typed, persistent=False)
        self.stride, self.dilation = stride, dilation
        self.around = [one for size in reversed(padding) for one in (size, size)]
        self.border = border

    def forward(self, x: Tensor) -> Tensor:
        flat = x.dim() == 3
        kernel = (self.kernel[0] if flat else self.kernel).to(x.dtype)
        each = kernel.expand(x.shape[1], 1, *kernel.shape)
        if self.around:
            x = F.pad(x, self.around, mode=self.border)
        slide = F.conv1d if flat else F.conv2d
        return slide(x, each, None, self.stride, 0, self.dilation, x.shape[1])


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.upright_edges = TypedKernel("-1 0 1; -2 0 2; -1 0 1", padding=(1, 1), border="replicate")
        self.level_edges = TypedKernel("-1 -2 -1; 0 0 0; 1 2 1", padding=(1, 1), border="replicate")
        self.outline = TypedKernel("-1 -1 -1; -1 8 -1; -1 -1 -1", padding=(1, 1), border="replicate")
        self.blur = TypedKernel(
            "0.0625 0.125 0.0625; 0.125 0.25 0.125; 0.0625 0.125 0.0625", padding=(1, 1), border="replicate"
        )
        self.scores = nn.Linear(196, 10)
        self.learned = nn.Conv2d(1, 4, kernel_size=3, padding="same")
        self.learned_scores = nn.Linear(196, 10)

    def forward(self, image: Tensor) -> tuple[Tensor, Tensor]:  # (N, 1, 28, 28)
        upright_edges = self.upright_edges(image)               # (N, 1, 28, 28)
        level_edges = self.level_edges(image)                   # (N, 1, 28, 28)
        outline = self.outline(image)                           # (N, 1, 28, 28)
        x = self.blur(image)                                    # (N, 1, 28, 28)
        x = torch.cat((upright_edges, level_edges, outline, x), 1)  # (N, 4, 28, 28)
        x = F.relu(x)                                           # (N, 4, 28, 28)
        x = F.max_pool2d(x, 4)                                  # (N, 4, 7, 7)
        x = x.flatten(1)                                        # (N, 196)
        scores = self.scores(x)                                 # (N, 10)
        x = F.relu(self.learned(image))                         # (N, 4, 28, 28)
        x = F.max_pool2d(x, 4)                                  # (N, 4, 7, 7)
        x = x.flatten(1)                                        # (N, 196)
        learned_scores = self.learned_scores(x)                 # (N, 10)
        return scores, learned_scores


def objective(model: Model, batch: dict[str, Tensor]) -> dict[str, Tensor]:
    """The losses of a batch; training minimises "loss"."""
    scores, learned_scores = model(batch["image"])
    typed_loss = F.cross_entropy(scores, batch["digit"])
    learned_loss = F.cross_entropy(learned_scores, batch["digit"])
    return {
        "loss": typed_loss + learned_loss,
        "typed_loss": typed_loss,
        "learned_loss": learned_loss,
    }


def measure(model: Model, batch: dict[str, Tensor]) -> dict[str, Tensor]:
    """The losses and metrics of a batch."""
    scores, learned_scores = model(batch["image"])
    typed_loss = F.cross_entropy(scores, batch["digit"])
    learned_loss = F.cross_entropy(learned_scores, batch["digit"])
    return {
        "loss": typed_loss + learned_loss,
        "typed_loss": typed_loss,
        "learned_loss": learned_loss,
        "typed": (scores.argmax(1) == batch["digit"]).float().mean(),
        "learned_kernels": (learned_scores.argmax(1) == batch["digit"]).float().mean(),
    }


def idx_bytes(path: Path, *size: int) -> np.ndarray[Any, Any]:
    """The bytes of a gzip-compressed IDX file, (N, *size)."""
    with gzip.open(path) as file:
        return np.frombuffer(file.read(), np.uint8, offset=8 + 4 * len(size)).reshape(-1, *size)


def load(folder: Path, device: str) -> dict[str, dict[str, Tensor]]:
    """{split: {column: values}} for train, validation and test: image (N, 1, 28, 28); digit (N,)."""
    files = folder / "mnist"
    try:
        images = [idx_bytes(files / f"{one}-images-idx3-ubyte.gz", 28, 28) for one in ("train", "t10k")]
        digits = [idx_bytes(files / f"{one}-labels-idx1-ubyte.gz") for one in ("train", "t10k")]
    except (OSError, EOFError, ValueError, zlib.error) as error:
        raise SystemExit(f"--data names no folder with the four files of MNIST in mnist/: {error}") from error
    draw = torch.Generator().manual_seed(0)
    kept, held = (rows.numpy() for rows in stratified_holdout(torch.tensor(digits[0]), 0.1, draw))
    splits = {
        "train": (images[0][kept], digits[0][kept]),
        "validation": (images[0][held], digits[0][held]),
        "test": (images[1].copy(), digits[1].copy()),
    }
    return {
        split: {
            "image": torch.from_numpy(image).to(device).float().unsqueeze(1) / 255,
            "digit": torch.from_numpy(digit).to(device).long(),
        }
        for split, (image, digit) in splits.items()
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
    parser = argparse.ArgumentParser(description="Kernels typed by hand")
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
