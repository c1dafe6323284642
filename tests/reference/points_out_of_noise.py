"""Points out of noise

Exported from Neuroloom. Needs torch and numpy only.

    python points_out_of_noise.py --epochs 200
    python points_out_of_noise.py sample --weights FILE
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

SEED, BATCH, EPOCHS = 0, 128, 200


# engine.data.sets.points.plane_points, 47 lines, 3b3f9bb8e0f2


# engine.data.splits.columns_of, 7 lines, ecfa9d4753f0


# engine.data.splits.evenly, 3 lines, 599b8f7d4329


# engine.data.splits.stratified, 8 lines, 87e105d15bfd


# engine.data.splits.three_ways, 6 lines, b59183928437


# engine.data.sets.points.load_points, 18 lines, fe32bac357df


# engine.procedures.denoising.denoised, 32 lines, 768039c56be3


# engine.procedures.rows.as_many, 3 lines, 0fb81ada274e


# engine.procedures.rows.FileRows, 5 lines, 4047b69e9fef


# engine.procedures.rows.chosen_rows, 21 lines, 0d32f6f81743


# engine.procedures.rows.state_as_json, 3 lines, 96c58e94ae55


# engine.procedures.rows.state_in_words, 10 lines, b35dd774c3ec


# engine.data.weights.read_weights, 17 lines, 87ddea6fc7c9


# engine.procedures.rows.weights_of, 6 lines, f136e315ea55


# engine.layers.diffusion.Diffusion, 26 lines, 54ca54070377


# engine.layers.encodings.waves, 9 lines, a9428a65d243


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.mixture = Diffusion()
        self.hidden_1 = nn.Linear(10, 128)
        self.hidden_2 = nn.Linear(128, 128)
        self.hidden_3 = nn.Linear(128, 128)
        self.which_noise = nn.Linear(128, 2)

    def forward(self, point: Tensor, noise: Tensor, time_2: Tensor) -> Tensor:  # (N, 2), (N, 2), (N, 1)
        mixture = self.mixture(point, noise, time_2)  # (N, 2)
        x = waves(time_2, 4, 2.0)                     # (N, 8)
        x = torch.cat((mixture, x), 1)                # (N, 10)
        x = F.silu(self.hidden_1(x))                  # (N, 128)
        x = F.silu(self.hidden_2(x))                  # (N, 128)
        x = F.silu(self.hidden_3(x))                  # (N, 128)
        return self.which_noise(x)                    # (N, 2)


def objective(model: Model, batch: dict[str, Tensor]) -> dict[str, Tensor]:
    """The losses of a batch; training minimises "loss"."""
    noise = torch.randn(len(batch["point"]), 2, device=batch["point"].device)  # (N, 2)
    which_noise = model(
        batch["point"],
        noise,
        torch.empty(len(batch["point"]), 1, device=batch["point"].device).uniform_(0.0, 1.0),
    )
    return {"loss": F.mse_loss(which_noise, noise)}


def load(folder: Path, device: str) -> dict[str, dict[str, Tensor]]:
    """{split: {column: values}} for train, validation and test: point (N, 2)."""
    splits = load_points(
        folder,
        device,
        form="moons",
        rows=4000,
        noise=0.05,
        margin=0.2,
        spread=0.35,
        turns=1.5,
        validation=0.2,
        test=0.2,
        seed=0,
    )
    used = ("point",)
    return {split: {name: columns[name] for name in used} for split, columns in splits.items()}


def batches(split: dict[str, Tensor], shuffle: torch.Generator | None = None) -> Iterator[dict[str, Tensor]]:
    n = len(split["point"])
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
        size = len(batch["point"])
        n += size
        for name, value in objective(model, batch).items():
            sums[name] = sums.get(name, 0.0) + size * value.item()
    model.train()
    return {name: value / n for name, value in sums.items()}


def optimiser_for(model: Model) -> torch.optim.Optimizer:
    return torch.optim.Adam(model.parameters(), lr=0.003)


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
    steps_per_epoch = math.ceil(len(data["train"]["point"]) / BATCH)
    schedule = schedule_for(optimiser, steps_per_epoch, epochs)
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
            schedule.step()
            step += 1
            if as_json:
                print(json.dumps({"step": step, "epoch": epoch, "loss": value}))
        found = evaluate(model, data["validation"])
        values = {f"val_{name}": value for name, value in found.items()}
        report({"epoch": epoch, **values}, as_json)


def main() -> None:
    parser = argparse.ArgumentParser(description="Points out of noise")
    parser.add_argument("--epochs", type=int, default=EPOCHS)
    parser.add_argument("--seed", type=int, default=SEED)
    device = "cuda" if torch.cuda.is_available() else "mps" if torch.backends.mps.is_available() else "cpu"
    parser.add_argument("--device", default=device)
    parser.add_argument("--save", type=Path, help="write the trained weights here (a state_dict)")
    parser.add_argument("--json", action="store_true", help="one JSON object a line")
    args = parser.parse_args()

    torch.manual_seed(args.seed)
    model = Model().to(args.device)
    data = load(Path(), args.device)
    train(model, data, args.seed, args.epochs, args.json)
    found = evaluate(model, data["test"])
    report({f"test_{name}": value for name, value in found.items()}, args.json)
    if args.save:
        torch.save(model.state_dict(), args.save)


@torch.no_grad()
def sample(
    model: Model, batch: dict[str, Tensor], draws: torch.Generator, **options: Any
) -> Iterator[dict[str, Any]]:
    """Begins with noise and takes away, step by step, what the network says is noise in it."""

    def noise_in(code: Tensor, time_2: Tensor) -> Tensor:
        x = waves(time_2, 4, 2.0)           # (N, 8)
        x = torch.cat((code, x), 1)         # (N, 10)
        x = F.silu(model.hidden_1(x))       # (N, 128)
        x = F.silu(model.hidden_2(x))       # (N, 128)
        x = F.silu(model.hidden_3(x))       # (N, 128)
        which_noise = model.which_noise(x)  # (N, 2)
        return which_noise

    yield from denoised(noise_in, model.mixture, next(model.parameters()), (2,), (1,), draws=draws, **options)


PROCEDURES = {
    "sample": (sample, {
        "--count": {"type": int, "default": 200, "help": "how many examples"},
        "--steps": {"type": int, "default": 50, "help": "from noise to examples"},
        "--noise": {
            "type": float, "default": 1.0,
            "help": "of each step: 1 as on the way there, 0 none at all",
        },
    }),
}


def run(name: str, words: Sequence[str]) -> None:
    """Run a procedure over trained weights, and print its states one by one."""
    procedure, options = PROCEDURES[name]
    parser = argparse.ArgumentParser(prog=f"{Path(__file__).name} {name}", description=procedure.__doc__)
    parser.add_argument("--weights", type=Path, required=True, help="as --save writes them, or .safetensors")
    parser.add_argument("--split", default="validation", choices=["train", "validation", "test"])
    parser.add_argument("--rows", type=int, nargs="+", default=[0], help="of the split, from 0")
    parser.add_argument("--input", type=Path, help="JSON of {column: rows}, in place of rows")
    parser.add_argument("--seed", type=int, default=SEED)
    device = "cuda" if torch.cuda.is_available() else "mps" if torch.backends.mps.is_available() else "cpu"
    parser.add_argument("--device", default=device)
    parser.add_argument("--json", action="store_true", help="one JSON object a line")
    own = [parser.add_argument(option, **facts).dest for option, facts in options.items()]
    args = parser.parse_args(words)

    try:
        model = Model().to(args.device).eval()
        model.load_state_dict(weights_of(args.weights))
        columns = load(Path(), args.device)[args.split]
        batch = chosen_rows(columns, args.rows, args.input)
        torch.manual_seed(args.seed)
        draws = torch.Generator().manual_seed(args.seed)
        for state in procedure(model, batch, draws, **{name: vars(args)[name] for name in own}):
            print(json.dumps(state_as_json(state)) if args.json else state_in_words(state))
    except (OSError, ValueError) as error:
        parser.error(str(error))


if __name__ == "__main__":
    if sys.argv[1:] and sys.argv[1] in PROCEDURES:
        run(sys.argv[1], sys.argv[2:])
    else:
        main()
