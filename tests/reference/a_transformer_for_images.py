"""A transformer for images

Exported from Neuroloom. Needs torch and numpy only.

    python a_transformer_for_images.py --data FOLDER --epochs 5

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


class ClassToken(nn.Module):
    """A learned step before each sequence: (N, T, F) gives (N, T + 1, F)."""
    # Source: Devlin, Chang, Lee and Toutanova, 2018.

    def __init__(self, features: int) -> None:
        super().__init__()
        self.token = nn.Parameter(0.02 * torch.randn(features))

    def forward(self, x: Tensor) -> Tensor:
        return torch.cat((self.token.expand(len(x), 1, -1), x), 1)


class Placed(nn.Module):
    """A table of positions, added to each sequence (N, T, F), or joined to it as more features."""

    positions: Tensor

    def __init__(self, joined: bool = False) -> None:
        super().__init__()
        self.joined = joined

    def forward(self, x: Tensor, first: int = 0) -> Tensor:
        """Step 0 is number `first`."""
        positions = self.positions[first : first + x.shape[1]].to(x.dtype)
        return torch.cat((x, positions.expand(len(x), -1, -1)), 2) if self.joined else x + positions


class LearnedPositions(Placed):
    """A learned vector for each step of a sequence (N, T, F), added, or joined as `size` more numbers."""
    # Source: Gehring and others, 2017.

    def __init__(self, steps: int, size: int, joined: bool = False) -> None:
        super().__init__(joined)
        self.positions = nn.Parameter(0.02 * torch.randn(steps, size))


class SelfAttention(nn.Module):
    """Each step of a sequence (N, T, F) reads the steps that its query fits; causal: none behind itself."""
    # Source: Vaswani and others, 2017.

    def __init__(self, features: int, heads: int = 4, causal: bool = True) -> None:
        super().__init__()
        self.heads, self.causal = heads, causal
        self.projection = nn.Linear(features, 3 * features)
        self.output = nn.Linear(features, features)

    def split(self, x: Tensor) -> tuple[Tensor, ...]:
        """Queries, keys and values (N, heads, T, F / heads)."""
        parts: Tensor = self.projection(x).unflatten(2, (3, self.heads, -1))
        return parts.permute(2, 0, 3, 1, 4).unbind()

    def forward(self, x: Tensor) -> Tensor:
        query, key, value = self.split(x)
        read = F.scaled_dot_product_attention(query, key, value, is_causal=self.causal)
        found: Tensor = self.output(read.transpose(1, 2).flatten(2))
        return found


def patches(x: Tensor, height: int, width: int) -> Tensor:
    """Images (N, C, H, W) as sequences (N, P, C · height · width) of patches, row by row."""
    return F.unfold(x, (height, width), stride=(height, width)).transpose(1, 2)


class EncoderLayer(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.norm_1 = nn.LayerNorm(64)
        self.attention = SelfAttention(64, causal=False)
        self.norm_2 = nn.LayerNorm(64)
        self.wide = nn.Linear(64, 128)
        self.narrow = nn.Linear(128, 64)

    def forward(self, in_: Tensor) -> Tensor:  # (N, 17, 64)
        x = self.norm_1(in_)                   # (N, 17, 64)
        x = self.attention(x)                  # (N, 17, 64)
        read = in_ + x                         # (N, 17, 64)
        x = self.norm_2(read)                  # (N, 17, 64)
        x = F.gelu(self.wide(x))               # (N, 17, 128)
        x = self.narrow(x)                     # (N, 17, 64)
        return read + x                        # (N, 17, 64)


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Linear(49, 64)
        self.class_token = ClassToken(64)
        self.positions = LearnedPositions(17, 64)
        self.layers = nn.Sequential(*[EncoderLayer() for _ in range(2)])
        self.norm = nn.LayerNorm(64)
        self.classes = nn.Linear(64, 10)

    def forward(self, image: Tensor) -> Tensor:  # (N, 1, 28, 28)
        x = patches(image, 7, 7)                 # (N, 16, 49)
        x = self.embedding(x)                    # (N, 16, 64)
        x = self.class_token(x)                  # (N, 17, 64)
        x = self.positions(x)                    # (N, 17, 64)
        x = self.layers(x)                       # (N, 17, 64)
        x = self.norm(x)                         # (N, 17, 64)
        x = x[:, 0]                              # (N, 64)
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
    return torch.optim.AdamW(model.parameters(), lr=CONFIG.learning_rate)


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
    parser = argparse.ArgumentParser(description="A transformer for images")
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
