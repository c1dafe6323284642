"""A committee of networks

Exported from Neuroloom. Needs torch, numpy and scikit-learn only.

    python a_committee_of_networks.py --epochs 20
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
    epochs: int = 20
    learning_rate: float = 0.01


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


class Member(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.hidden = nn.Linear(64, 6)
        self.scores = nn.Linear(6, 10)

    def forward(self, x_: Tensor) -> Tensor:  # (N, 64)
        x = F.relu(self.hidden(x_))           # (N, 6)
        return self.scores(x)                 # (N, 10)


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.member_1 = Member()
        self.member_2 = Member()
        self.member_3 = Member()
        self.member_4 = Member()
        self.member_5 = Member()

    def forward(self, image: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor, Tensor]:  # (N, 1, 8, 8)
        pixels = image.flatten(1)         # (N, 64)
        member_1 = self.member_1(pixels)  # (N, 10)
        member_2 = self.member_2(pixels)  # (N, 10)
        member_3 = self.member_3(pixels)  # (N, 10)
        member_4 = self.member_4(pixels)  # (N, 10)
        member_5 = self.member_5(pixels)  # (N, 10)
        committee = torch.stack((member_1, member_2, member_3, member_4, member_5)).mean(0)  # (N, 10)
        return member_1, member_2, member_3, member_4, member_5, committee


def objective(model: Model, batch: dict[str, Tensor]) -> dict[str, Tensor]:
    """The losses of a batch; training minimises "loss"."""
    member_1, member_2, member_3, member_4, member_5, committee = model(batch["image"])
    committee_loss = F.cross_entropy(committee, batch["digit"])
    loss_1 = F.cross_entropy(member_1, batch["digit"])
    loss_2 = F.cross_entropy(member_2, batch["digit"])
    loss_3 = F.cross_entropy(member_3, batch["digit"])
    loss_4 = F.cross_entropy(member_4, batch["digit"])
    loss_5 = F.cross_entropy(member_5, batch["digit"])
    return {
        "loss": (
            0.0 * committee_loss
            + 0.2 * loss_1
            + 0.2 * loss_2
            + 0.2 * loss_3
            + 0.2 * loss_4
            + 0.2 * loss_5
        ),
        "committee_loss": committee_loss,
        "loss_1": loss_1,
        "loss_2": loss_2,
        "loss_3": loss_3,
        "loss_4": loss_4,
        "loss_5": loss_5,
    }


def measure(model: Model, batch: dict[str, Tensor]) -> dict[str, Tensor]:
    """The losses and metrics of a batch."""
    member_1, member_2, member_3, member_4, member_5, committee = model(batch["image"])
    committee_loss = F.cross_entropy(committee, batch["digit"])
    loss_1 = F.cross_entropy(member_1, batch["digit"])
    loss_2 = F.cross_entropy(member_2, batch["digit"])
    loss_3 = F.cross_entropy(member_3, batch["digit"])
    loss_4 = F.cross_entropy(member_4, batch["digit"])
    loss_5 = F.cross_entropy(member_5, batch["digit"])
    return {
        "loss": (
            0.0 * committee_loss
            + 0.2 * loss_1
            + 0.2 * loss_2
            + 0.2 * loss_3
            + 0.2 * loss_4
            + 0.2 * loss_5
        ),
        "committee_loss": committee_loss,
        "loss_1": loss_1,
        "loss_2": loss_2,
        "loss_3": loss_3,
        "loss_4": loss_4,
        "loss_5": loss_5,
        "committee_accuracy": (committee.argmax(1) == batch["digit"]).float().mean(),
        "member_1_accuracy": (member_1.argmax(1) == batch["digit"]).float().mean(),
        "member_2_accuracy": (member_2.argmax(1) == batch["digit"]).float().mean(),
        "member_3_accuracy": (member_3.argmax(1) == batch["digit"]).float().mean(),
        "member_4_accuracy": (member_4.argmax(1) == batch["digit"]).float().mean(),
        "member_5_accuracy": (member_5.argmax(1) == batch["digit"]).float().mean(),
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


def main() -> None:
    parser = argparse.ArgumentParser(description="A committee of networks")
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
