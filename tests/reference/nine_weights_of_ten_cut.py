"""Nine weights of ten cut

Exported from Neuroloom. Needs torch, numpy and scikit-learn only.

    python nine_weights_of_ten_cut.py
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

SEED, BATCH = 0, 64


def scikit_learn_set() -> tuple[Tensor, Tensor]:
    """A data set of scikit-learn as (values (N, D), target (N,) or (N, M)), both float64."""
    try:
        from sklearn import datasets
    except ImportError as error:
        raise ImportError("The digits data come with scikit-learn: pip install scikit-learn.") from error
    values, target = getattr(datasets, "load_digits")(return_X_y=True)
    return torch.tensor(values).double(), torch.tensor(target).double()


def columns_of(
    columns: dict[str, Tensor], rows: dict[str, Tensor], device: str
) -> dict[str, dict[str, Tensor]]:
    """Each split's part of every column, on `device`."""
    return {
        split: {name: values[at].to(device) for name, values in columns.items()} for split, at in rows.items()
    }


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


def stratified_split(labels: Tensor, validation: float, test: float, seed: int) -> dict[str, Tensor]:
    """Rows of each split; the fractions are of all rows, in every class alike."""
    shuffle = torch.Generator().manual_seed(seed)
    rest, tested = stratified_holdout(labels, test, shuffle)
    kept, held = stratified_holdout(labels[rest], validation / (1 - test), shuffle)
    return {"train": rest[kept], "validation": rest[held], "test": tested}


def load_digits(
    device: str, *, validation: float=0.2, test: float=0.2, seed: int=0
) -> dict[str, dict[str, Tensor]]:
    """Small digits as {split: {"image": (N, 1, 8, 8), "profile": (N, 16), "digit": (N,), "odd": (N, 1)}}."""
    pixels, digit = scikit_learn_set()
    image = pixels.reshape(-1, 1, 8, 8) / 16
    columns = {
        "image": image.float(),
        "profile": torch.cat([image.mean(3), image.mean(2)], dim=2).squeeze(1).float(),
        "digit": digit.long(),
        "odd": (digit % 2).float()[:, None],
    }
    return columns_of(columns, stratified_split(digit, validation, test, seed), device)


class Prune:
    """Sets the smallest weights of layers to zero, until `fraction` of all of theirs are, and holds them.

    Biases and norms (fewer than two axes) stay. Called after each step; what it returns is the fraction of
    weights that are left. A model that has as many zeros is left as it is, so that a run can go on.
    """

    each_alike = True  # in several processes

    @torch.no_grad()
    def __init__(self, layers: list[nn.Module], fraction: float) -> None:
        weights = [weight for layer in layers for weight in layer.parameters() if weight.ndim >= 2]
        self.weights = list(dict.fromkeys(weights))
        sizes = torch.cat([weight.abs().flatten() for weight in self.weights])
        count = round(fraction * len(sizes))
        bound = sizes.kthvalue(count).values if count else sizes.new_tensor(-1.0)
        self.masks = [weight.abs() > bound for weight in self.weights]
        self.left = sum(int(mask.sum()) for mask in self.masks) / len(sizes)
        self.hold()

    @torch.no_grad()
    def hold(self) -> None:
        for weight, mask in zip(self.weights, self.masks, strict=True):
            weight.mul_(mask)

    def __call__(self, *_: Any) -> dict[str, Tensor]:
        self.hold()
        return {"loss": torch.tensor(self.left)}


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.hidden = nn.Linear(64, 64)
        self.classes = nn.Linear(64, 10)

    def forward(self, image: Tensor) -> Tensor:  # (N, 1, 8, 8)
        x = image.flatten(1)                     # (N, 64)
        x = F.relu(self.hidden(x))               # (N, 64)
        return self.classes(x)                   # (N, 10)


def load(device: str) -> dict[str, dict[str, Tensor]]:
    """{split: {column: values}} for train, validation and test: image (N, 1, 8, 8); digit (N,)."""
    splits = load_digits(device, validation=0.2, test=0.2, seed=0)
    used = ("image", "digit")
    return {split: {name: columns[name] for name in used} for split, columns in splits.items()}


def batches(
    split: dict[str, Tensor], shuffle: torch.Generator | None = None, size: int | None = BATCH
) -> Iterator[dict[str, Tensor]]:
    n = len(split["image"])
    order = torch.arange(n) if shuffle is None else torch.randperm(n, generator=shuffle)
    for rows in order.split(size or n):
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


def report(values: dict[str, float], as_json: bool) -> None:
    shown = "  ".join(f"{name} {value:.4g}" for name, value in values.items())
    print(json.dumps(values) if as_json else shown)


def first(model: Model, batch: dict[str, Tensor]) -> dict[str, Tensor]:
    """first: trains everything."""
    image = batch["image"]       # (N, 1, 8, 8)
    digit = batch["digit"]       # (N,)
    x = image.flatten(1)         # (N, 64)
    x = F.relu(model.hidden(x))  # (N, 64)
    classes = model.classes(x)   # (N, 10)
    return {"loss": F.cross_entropy(classes, digit)}


def first_weights(model: Model) -> list[nn.Parameter]:
    return [*model.parameters()]


def first_optimiser(model: Model) -> torch.optim.Optimizer:
    return torch.optim.Adam(model.parameters(), lr=0.002)


def round_1(model: Model, batch: dict[str, Tensor]) -> dict[str, Tensor]:
    """round 1: trains everything."""
    image = batch["image"]       # (N, 1, 8, 8)
    digit = batch["digit"]       # (N,)
    x = image.flatten(1)         # (N, 64)
    x = F.relu(model.hidden(x))  # (N, 64)
    classes = model.classes(x)   # (N, 10)
    return {"loss": F.cross_entropy(classes, digit)}


def round_1_weights(model: Model) -> list[nn.Parameter]:
    return [*model.parameters()]


def round_1_optimiser(model: Model) -> torch.optim.Optimizer:
    return torch.optim.Adam(model.parameters(), lr=0.002)


def round_2(model: Model, batch: dict[str, Tensor]) -> dict[str, Tensor]:
    """round 2: trains everything."""
    image = batch["image"]       # (N, 1, 8, 8)
    digit = batch["digit"]       # (N,)
    x = image.flatten(1)         # (N, 64)
    x = F.relu(model.hidden(x))  # (N, 64)
    classes = model.classes(x)   # (N, 10)
    return {"loss": F.cross_entropy(classes, digit)}


def round_2_weights(model: Model) -> list[nn.Parameter]:
    return [*model.parameters()]


def round_2_optimiser(model: Model) -> torch.optim.Optimizer:
    return torch.optim.Adam(model.parameters(), lr=0.002)


def round_3(model: Model, batch: dict[str, Tensor]) -> dict[str, Tensor]:
    """round 3: trains everything."""
    image = batch["image"]       # (N, 1, 8, 8)
    digit = batch["digit"]       # (N,)
    x = image.flatten(1)         # (N, 64)
    x = F.relu(model.hidden(x))  # (N, 64)
    classes = model.classes(x)   # (N, 10)
    return {"loss": F.cross_entropy(classes, digit)}


def round_3_weights(model: Model) -> list[nn.Parameter]:
    return [*model.parameters()]


def round_3_optimiser(model: Model) -> torch.optim.Optimizer:
    return torch.optim.Adam(model.parameters(), lr=0.002)


def measure(model: Model, batch: dict[str, Tensor]) -> dict[str, Tensor]:
    """The losses and metrics of a batch."""
    image = batch["image"]       # (N, 1, 8, 8)
    digit = batch["digit"]       # (N,)
    x = image.flatten(1)         # (N, 64)
    x = F.relu(model.hidden(x))  # (N, 64)
    classes = model.classes(x)   # (N, 10)
    return {
        "loss": F.cross_entropy(classes, digit),
        "accuracy": (classes.argmax(1) == digit).float().mean(),
    }


@dataclass
class Player:
    """An objective at work: what it computes, the weights it moves, and what moves them."""

    name: str
    objective: Callable[[Model, dict[str, Tensor]], dict[str, Tensor]]
    weights: list[nn.Parameter] = field(default_factory=list)
    optimiser: Any = None  # none: a rule, which moves them itself
    schedule: Any = None
    every: int = 1


def take_turn(player: Player, model: Model, batch: dict[str, Tensor], turn: int) -> dict[str, Tensor]:
    """One step of an objective; returns what it computed before the step."""
    if player.optimiser is None:
        with torch.no_grad():
            return player.objective(model, batch)
    player.optimiser.zero_grad()
    found = player.objective(model, batch)
    loss = found["loss"]
    if not math.isfinite(loss.item()):
        raise FloatingPointError(f"{player.name} is {loss.item()} after {turn} steps.")
    loss.backward(inputs=player.weights)
    player.optimiser.step()
    return found


def phase_1(model: Model, steps_per_epoch: int, epochs: int) -> list[Player]:
    """The objectives of "dense", with fresh optimisers."""
    first_by = first_optimiser(model)
    return [
        Player("first", first, first_weights(model), first_by),
    ]


def phase_2(model: Model, steps_per_epoch: int, epochs: int) -> list[Player]:
    """The objectives of "50 % cut", with fresh optimisers."""
    round_1_by = round_1_optimiser(model)
    return [
        Player("round_1", round_1, round_1_weights(model), round_1_by),
        Player("left_1", Prune([model.hidden, model.classes], fraction=0.5)),
    ]


def phase_3(model: Model, steps_per_epoch: int, epochs: int) -> list[Player]:
    """The objectives of "80 % cut", with fresh optimisers."""
    round_2_by = round_2_optimiser(model)
    return [
        Player("round_2", round_2, round_2_weights(model), round_2_by),
        Player("left_2", Prune([model.hidden, model.classes], fraction=0.8)),
    ]


def phase_4(model: Model, steps_per_epoch: int, epochs: int) -> list[Player]:
    """The objectives of "90 % cut", with fresh optimisers."""
    round_3_by = round_3_optimiser(model)
    return [
        Player("round_3", round_3, round_3_weights(model), round_3_by),
        Player("left_3", Prune([model.hidden, model.classes], fraction=0.9)),
    ]


@dataclass
class Phase:
    """A stretch of training: its players take turns until one of its stop rules holds."""

    players: Callable[[Model, int, int], list[Player]]
    epochs: int
    batch: int | None = None  # none: all rows at once
    frozen: tuple[str, ...] = ()  # layers that are not trained: dropout and batch statistics rest
    monitor: str = "val_loss"
    sign: int = 1  # -1: the monitored value is better when it grows
    patience: int | None = None  # epochs without a better value before the phase ends
    restore_best: bool = True
    until: tuple[tuple[str, str, float], ...] = ()  # ends as soon as one of these holds


PHASES = (
    Phase(phase_1, 20, batch=64, monitor="val_loss", restore_best=False),  # dense
    Phase(phase_2, 10, batch=64, monitor="val_loss", restore_best=False),  # 50 % cut
    Phase(phase_3, 10, batch=64, monitor="val_loss", restore_best=False),  # 80 % cut
    Phase(phase_4, 10, batch=64, monitor="val_loss", restore_best=False),  # 90 % cut
)


def set_modes(model: Model, phase: Phase) -> None:
    """Training mode, but for the layers that the phase leaves alone."""
    model.train()
    for layer in phase.frozen:
        model.get_submodule(layer).eval()


def train(
    model: Model,
    data: dict[str, dict[str, Tensor]],
    seed: int,
    epochs: int | None,
    as_json: bool,
) -> None:
    shuffle = torch.Generator().manual_seed(seed)
    n = len(data["train"]["image"])
    step = epoch = 0
    for number, phase in enumerate(PHASES):
        limit = epochs or phase.epochs
        players = phase.players(model, math.ceil(n / (phase.batch or n)), limit)
        best, kept, waited, turn = math.inf, None, 0, 0
        for _ in range(limit):
            set_modes(model, phase)
            sums: dict[str, tuple[float, float]] = {}  # (sum, weight) by objective
            for batch in batches(data["train"], shuffle, phase.batch):
                values = {}
                for player in players:
                    if turn % player.every == 0:
                        found = take_turn(player, model, batch, turn)
                        values[player.name] = value = found["loss"].item()
                        weight = len(batch["image"])
                        total, count = sums.get(player.name, (0.0, 0.0))
                        sums[player.name] = total + weight * value, count + weight
                step, turn = step + 1, turn + 1
                if as_json:
                    print(json.dumps({"step": step, "phase": number, "epoch": epoch, **values}))
            found = evaluate(model, data["validation"])
            record = {f"val_{name}": value for name, value in found.items()}
            report({"epoch": epoch, **record}, as_json)
            epoch += 1
            means = {f"train_{name}": total / count for name, (total, count) in sums.items()}
            seen = {**record, **means}
            value = phase.sign * seen.get(phase.monitor, math.nan)
            if value < best:
                best, waited = value, 0
                if phase.restore_best:
                    kept = {name: value.clone() for name, value in model.state_dict().items()}
            else:
                waited += 1
            if waited == phase.patience:
                break
        if kept is not None:
            model.load_state_dict(kept)


def main() -> None:
    parser = argparse.ArgumentParser(description="Nine weights of ten cut")
    parser.add_argument("--epochs", type=int, help="of each phase, in place of the plan's own")
    parser.add_argument("--seed", type=int, default=SEED)
    device = "cuda" if torch.cuda.is_available() else "mps" if torch.backends.mps.is_available() else "cpu"
    parser.add_argument("--device", default=device)
    parser.add_argument("--save", type=Path, help="write the trained weights here (a state_dict)")
    parser.add_argument("--json", action="store_true", help="one JSON object a line")
    args = parser.parse_args()

    torch.set_num_threads(1)  # faster than several for so small a network
    torch.manual_seed(args.seed)
    model = Model().to(args.device)
    data = load(args.device)
    try:
        train(model, data, args.seed, args.epochs, args.json)
    except FloatingPointError as error:
        raise SystemExit(f"{error} A lower learning rate may help.") from None
    found = evaluate(model, data["test"])
    report({f"test_{name}": value for name, value in found.items()}, args.json)
    if args.save:
        torch.save(model.state_dict(), args.save)


if __name__ == "__main__":
    main()
