"""MNIST CNN

Exported from Neuroloom. Needs torch and numpy only.

    python mnist_cnn.py --data FOLDER --epochs 12

FOLDER holds mnist/ and is the script's own by default.
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

SEED, BATCH, EPOCHS = 0, 128, 12
PATIENCE = 3  # epochs without a better validation loss before training stops


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


def evenly(n: int, count: int) -> Tensor:
    """Which `count` of `n` places in a row, spread evenly, as (n,) of yes and no."""
    return (torch.arange(n + 1) * count // max(n, 1)).diff() > 0


def stratified_holdout(labels: Tensor, fraction: float, shuffle: torch.Generator) -> tuple[Tensor, Tensor]:
    """Rows as (kept, held): a random `fraction` is held back, in every class alike."""
    n = len(labels)
    order = torch.randperm(n, generator=shuffle)
    by_class = labels[order].argsort(stable=True)
    held = torch.zeros(n, dtype=torch.bool)
    held[by_class] = evenly(n, round(fraction * n))  # so that each class gives its part
    return order[~held], order[held]


def load_mnist(
    folder: Path, device: str, *, validation: float = 0.1, seed: int = 0
) -> dict[str, dict[str, Tensor]]:
    """MNIST as {split: {"image": (N, 1, 28, 28) in 0..1, "digit": (N,)}}; validation is part of train."""

    def columns(image: np.ndarray, digit: np.ndarray) -> dict[str, Tensor]:
        return {
            "image": torch.from_numpy(image).to(device).float().unsqueeze(1) / 255,
            "digit": torch.from_numpy(digit).to(device).long(),
        }

    files = folder / "mnist"
    image = read_idx(files / "train-images-idx3-ubyte.gz", (60000, 28, 28))
    digit = read_idx(files / "train-labels-idx1-ubyte.gz", (60000,))
    test_image = read_idx(files / "t10k-images-idx3-ubyte.gz", (10000, 28, 28))
    test_digit = read_idx(files / "t10k-labels-idx1-ubyte.gz", (10000,))
    kept, held = stratified_holdout(torch.tensor(digit), validation, torch.Generator().manual_seed(seed))
    return {
        "train": columns(image[kept.numpy()], digit[kept.numpy()]),
        "validation": columns(image[held.numpy()], digit[held.numpy()]),
        "test": columns(test_image.copy(), test_digit.copy()),
    }


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(1, 32, kernel_size=3)
        self.conv2 = nn.Conv2d(32, 64, kernel_size=3)
        self.dropout = nn.Dropout(0.5)
        self.classes = nn.Linear(1600, 10)

    def forward(self, image: Tensor) -> Tensor:  # (N, 1, 28, 28)
        x = F.relu(self.conv1(image))            # (N, 32, 26, 26)
        x = F.max_pool2d(x, 2)                   # (N, 32, 13, 13)
        x = F.relu(self.conv2(x))                # (N, 64, 11, 11)
        x = F.max_pool2d(x, 2)                   # (N, 64, 5, 5)
        x = x.flatten(1)                         # (N, 1600)
        x = self.dropout(x)                      # (N, 1600)
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


def load(folder: Path, device: str) -> dict[str, dict[str, Tensor]]:
    """{split: {column: values}} for train, validation and test: image (N, 1, 28, 28); digit (N,)."""
    return load_mnist(folder, device, validation=0.1, seed=0)


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
    return torch.optim.Adam(model.parameters(), lr=0.001)


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
    parser = argparse.ArgumentParser(description="MNIST CNN")
    parser.add_argument("--data", type=Path, default=Path(__file__).parent, help="folder that holds mnist/")
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
