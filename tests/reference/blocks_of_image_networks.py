"""Blocks of image networks

Exported from Neuroloom. Needs torch, numpy and scikit-learn only.

    python blocks_of_image_networks.py --epochs 12
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
    batch: int = 32
    epochs: int = 12
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


class TwoConvolutions(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(16, 16, kernel_size=3, padding="same")
        self.conv2 = nn.Conv2d(16, 16, kernel_size=3, padding="same")

    def forward(self, x_: Tensor) -> Tensor:  # (N, 16, 8, 8)
        x = F.relu(self.conv1(x_))            # (N, 16, 8, 8)
        return F.relu(self.conv2(x))          # (N, 16, 8, 8)


class Head(nn.Module):
    def __init__(self, in_features: int) -> None:
        super().__init__()
        self.classes = nn.Linear(in_features, 10)

    def forward(self, x_: Tensor) -> Tensor:  # (N, 16, 8, 8)
        x = F.adaptive_avg_pool2d(x_, 1)      # (N, 16, 1, 1)
        x = x.flatten(1)                      # (N, 16)
        return self.classes(x)                # (N, 10)


class Residual(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(16, 16, kernel_size=3, padding="same", bias=False)
        self.norm1 = nn.BatchNorm2d(16)
        self.conv2 = nn.Conv2d(16, 16, kernel_size=3, padding="same", bias=False)
        self.norm2 = nn.BatchNorm2d(16)

    def forward(self, x_: Tensor) -> Tensor:  # (N, 16, 8, 8)
        x = self.conv1(x_)                    # (N, 16, 8, 8)
        x = self.norm1(x)                     # (N, 16, 8, 8)
        x = F.relu(x)                         # (N, 16, 8, 8)
        x = self.conv2(x)                     # (N, 16, 8, 8)
        x = self.norm2(x)                     # (N, 16, 8, 8)
        x = x + x_                            # (N, 16, 8, 8)
        return F.relu(x)                      # (N, 16, 8, 8)


class DenseLayer(nn.Module):
    def __init__(self, num_features: int) -> None:
        super().__init__()
        self.norm1 = nn.BatchNorm2d(num_features)
        self.narrow = nn.Conv2d(num_features, 32, kernel_size=1, bias=False)
        self.norm2 = nn.BatchNorm2d(32)
        self.grow = nn.Conv2d(32, 8, kernel_size=3, padding="same", bias=False)

    def forward(self, x_: Tensor) -> Tensor:  # (N, 16, 8, 8)
        x = self.norm1(x_)                    # (N, 16, 8, 8)
        x = F.relu(x)                         # (N, 16, 8, 8)
        x = self.narrow(x)                    # (N, 32, 8, 8)
        x = self.norm2(x)                     # (N, 32, 8, 8)
        x = F.relu(x)                         # (N, 32, 8, 8)
        x = self.grow(x)                      # (N, 8, 8, 8)
        return torch.cat((x_, x), 1)          # (N, 24, 8, 8)


class DenseBlock(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layer1 = DenseLayer(num_features=16)
        self.layer2 = DenseLayer(num_features=24)

    def forward(self, x_: Tensor) -> Tensor:  # (N, 16, 8, 8)
        x = self.layer1(x_)                   # (N, 24, 8, 8)
        return self.layer2(x)                 # (N, 32, 8, 8)


class SqueezeAndExcitation(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.narrow = nn.Conv2d(16, 4, kernel_size=1)
        self.wide = nn.Conv2d(4, 16, kernel_size=1)

    def forward(self, x_: Tensor) -> Tensor:  # (N, 16, 8, 8)
        x = F.adaptive_avg_pool2d(x_, 1)      # (N, 16, 1, 1)
        x = F.relu(self.narrow(x))            # (N, 4, 1, 1)
        x = torch.sigmoid(self.wide(x))       # (N, 16, 1, 1)
        return x_ * x                         # (N, 16, 8, 8)


class SeResidual(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(16, 16, kernel_size=3, padding="same", bias=False)
        self.norm1 = nn.BatchNorm2d(16)
        self.conv2 = nn.Conv2d(16, 16, kernel_size=3, padding="same", bias=False)
        self.norm2 = nn.BatchNorm2d(16)
        self.channels = SqueezeAndExcitation()

    def forward(self, x_: Tensor) -> Tensor:  # (N, 16, 8, 8)
        x = self.conv1(x_)                    # (N, 16, 8, 8)
        x = self.norm1(x)                     # (N, 16, 8, 8)
        x = F.relu(x)                         # (N, 16, 8, 8)
        x = self.conv2(x)                     # (N, 16, 8, 8)
        x = self.norm2(x)                     # (N, 16, 8, 8)
        x = self.channels(x)                  # (N, 16, 8, 8)
        x = x + x_                            # (N, 16, 8, 8)
        return F.relu(x)                      # (N, 16, 8, 8)


class SeparableConvolution(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.depthwise = nn.Conv2d(16, 16, kernel_size=3, padding="same", groups=16, bias=False)
        self.norm1 = nn.BatchNorm2d(16)
        self.pointwise = nn.Conv2d(16, 16, kernel_size=1, bias=False)
        self.norm2 = nn.BatchNorm2d(16)

    def forward(self, x_: Tensor) -> Tensor:  # (N, 16, 8, 8)
        x = self.depthwise(x_)                # (N, 16, 8, 8)
        x = self.norm1(x)                     # (N, 16, 8, 8)
        x = F.relu(x)                         # (N, 16, 8, 8)
        x = self.pointwise(x)                 # (N, 16, 8, 8)
        x = self.norm2(x)                     # (N, 16, 8, 8)
        return F.relu(x)                      # (N, 16, 8, 8)


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.stem_plain = nn.Conv2d(1, 16, kernel_size=3, padding="same")
        self.plain = TwoConvolutions()
        self.head_plain = Head(in_features=16)
        self.stem_residual = nn.Conv2d(1, 16, kernel_size=3, padding="same")
        self.residual = Residual()
        self.head_residual = Head(in_features=16)
        self.stem_dense = nn.Conv2d(1, 16, kernel_size=3, padding="same")
        self.dense = DenseBlock()
        self.head_dense = Head(in_features=32)
        self.stem_se = nn.Conv2d(1, 16, kernel_size=3, padding="same")
        self.se = SeResidual()
        self.head_se = Head(in_features=16)
        self.stem_separable = nn.Conv2d(1, 16, kernel_size=3, padding="same")
        self.separable = SeparableConvolution()
        self.head_separable = Head(in_features=16)

    def forward(self, image: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:  # (N, 1, 8, 8)
        x = F.relu(self.stem_plain(image))       # (N, 16, 8, 8)
        x = self.plain(x)                        # (N, 16, 8, 8)
        head_plain = self.head_plain(x)          # (N, 10)
        x = F.relu(self.stem_residual(image))    # (N, 16, 8, 8)
        x = self.residual(x)                     # (N, 16, 8, 8)
        head_residual = self.head_residual(x)    # (N, 10)
        x = F.relu(self.stem_dense(image))       # (N, 16, 8, 8)
        x = self.dense(x)                        # (N, 32, 8, 8)
        head_dense = self.head_dense(x)          # (N, 10)
        x = F.relu(self.stem_se(image))          # (N, 16, 8, 8)
        x = self.se(x)                           # (N, 16, 8, 8)
        head_se = self.head_se(x)                # (N, 10)
        x = F.relu(self.stem_separable(image))   # (N, 16, 8, 8)
        x = self.separable(x)                    # (N, 16, 8, 8)
        head_separable = self.head_separable(x)  # (N, 10)
        return head_plain, head_residual, head_dense, head_se, head_separable


def objective(model: Model, batch: dict[str, Tensor]) -> dict[str, Tensor]:
    """The losses of a batch; training minimises "loss"."""
    head_plain, head_residual, head_dense, head_se, head_separable = model(batch["image"])
    plain_loss = F.cross_entropy(head_plain, batch["digit"])
    residual_loss = F.cross_entropy(head_residual, batch["digit"])
    dense_loss = F.cross_entropy(head_dense, batch["digit"])
    se_loss = F.cross_entropy(head_se, batch["digit"])
    separable_loss = F.cross_entropy(head_separable, batch["digit"])
    return {
        "loss": plain_loss + residual_loss + dense_loss + se_loss + separable_loss,
        "plain_loss": plain_loss,
        "residual_loss": residual_loss,
        "dense_loss": dense_loss,
        "se_loss": se_loss,
        "separable_loss": separable_loss,
    }


def measure(model: Model, batch: dict[str, Tensor]) -> dict[str, Tensor]:
    """The losses and metrics of a batch."""
    head_plain, head_residual, head_dense, head_se, head_separable = model(batch["image"])
    plain_loss = F.cross_entropy(head_plain, batch["digit"])
    residual_loss = F.cross_entropy(head_residual, batch["digit"])
    dense_loss = F.cross_entropy(head_dense, batch["digit"])
    se_loss = F.cross_entropy(head_se, batch["digit"])
    separable_loss = F.cross_entropy(head_separable, batch["digit"])
    return {
        "loss": plain_loss + residual_loss + dense_loss + se_loss + separable_loss,
        "plain_loss": plain_loss,
        "residual_loss": residual_loss,
        "dense_loss": dense_loss,
        "se_loss": se_loss,
        "separable_loss": separable_loss,
        "plain_accuracy": (head_plain.argmax(1) == batch["digit"]).float().mean(),
        "residual_accuracy": (head_residual.argmax(1) == batch["digit"]).float().mean(),
        "dense_accuracy": (head_dense.argmax(1) == batch["digit"]).float().mean(),
        "se_accuracy": (head_se.argmax(1) == batch["digit"]).float().mean(),
        "separable_accuracy": (head_separable.argmax(1) == batch["digit"]).float().mean(),
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
    parser = argparse.ArgumentParser(description="Blocks of image networks")
    parser.add_argument("--epochs", type=int, default=CONFIG.epochs)
    parser.add_argument("--seed", type=int, default=CONFIG.seed)
    device = "cuda" if torch.cuda.is_available() else "mps" if torch.backends.mps.is_available() else "cpu"
    parser.add_argument("--device", default=device)
    parser.add_argument("--save", type=Path, help="write the trained weights here (a state_dict)")
    parser.add_argument("--json", action="store_true", help="one JSON object a line")
    args = parser.parse_args()

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
