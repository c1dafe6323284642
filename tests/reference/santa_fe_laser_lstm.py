"""Santa Fe laser, LSTM

Exported from Neuroloom. Needs torch and numpy only.

    python santa_fe_laser_lstm.py --data FOLDER --epochs 60
    python santa_fe_laser_lstm.py forecast --weights FILE

FOLDER holds santafe/ and is the script's own by default.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections.abc import Callable, Iterator
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
    epochs: int = 60
    learning_rate: float = 0.002


CONFIG = Config()


def read_laser(folder: Path) -> Tensor:
    """The 1,100 readings of the experiment as (1100,), raw intensities 0..255."""
    path = folder / "santafe" / "santafe_laser.npy"
    if not path.is_file():
        raise FileNotFoundError(f"There is no {path}: choose the folder that holds santafe/ with that file.")
    try:
        return torch.tensor(np.load(path, allow_pickle=False).reshape(10093)[:1100]).double()
    except (ValueError, EOFError, TypeError) as error:
        raise ValueError(f"{path} is damaged, or is another file: copy it again.") from error


def running_free(
    ahead: Callable[[Tensor], Tensor], window: Tensor, *, steps: int
) -> Iterator[dict[str, Any]]:
    """The values (D,) that follow a window (1, lag, D), the model being fed its own predictions."""
    window = window[:1]
    for step in range(1, steps + 1):
        value = ahead(window).reshape(1, -1)
        window = torch.cat([window[:, 1:], value[:, None]], 1)
        yield {"step": step, "value": value[0]}


def state_in_words(state: dict[str, Any]) -> str:
    """A state as a line: large tensors by their sizes and means."""
    words = []
    for name, value in state.items():
        if isinstance(value, Tensor):
            size = "x".join(str(one) for one in value.shape)
            few = "[" + " ".join(f"{one:.4g}" for one in value.flatten().tolist()) + "]"
            value = few if value.numel() <= 12 else f"{size} mean {value.double().mean():.4g}"
        words.append(f"{name} {value:.4g}" if isinstance(value, float) else f"{name} {value}")
    return "  ".join(words)


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.lstm = nn.LSTM(1, 100, batch_first=True)
        self.forecast = nn.Linear(100, 1)

    def forward(self, window: Tensor) -> Tensor:  # (N, 50, 1)
        _, (h, _) = self.lstm(window)
        x = h[-1]                                 # (N, 100)
        return self.forecast(x)                   # (N, 1)


def objective(model: Model, batch: dict[str, Tensor]) -> dict[str, Tensor]:
    """The losses of a batch; training minimises "loss"."""
    forecast = model(batch["window"])
    return {"loss": F.mse_loss(forecast, batch["next"])}


def measure(model: Model, batch: dict[str, Tensor]) -> dict[str, Tensor]:
    """The losses and metrics of a batch."""
    forecast = model(batch["window"])
    return {
        "loss": F.mse_loss(forecast, batch["next"]),
        "absolute_error": F.l1_loss(forecast, batch["next"]),
    }


def load(folder: Path, device: str) -> dict[str, dict[str, Tensor]]:
    """{split: {column: values}} for train, validation and test: window (N, 50, 1); next (N, 1)."""
    lag = 50
    readings = read_laser(folder)
    trained = 1000 - round(1000 * 0.1)
    training = readings[:trained]
    mean, deviation = training.mean().item(), training.std(correction=0).item()
    windows = ((readings - mean) / deviation).float().unfold(0, lag + 1, 1)  # row i: readings i to i + lag
    held, tested = trained - lag, 1000 - lag
    parts = {"train": windows[:held], "validation": windows[held:tested], "test": windows[tested:]}
    return {
        split: {"window": part[:, :lag, None].to(device).clone(), "next": part[:, lag:].to(device).clone()}
        for split, part in parts.items()
    }


def batches(split: dict[str, Tensor], shuffle: torch.Generator | None = None) -> Iterator[dict[str, Tensor]]:
    n = len(split["window"])
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
        size = len(batch["window"])
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
    steps_per_epoch = math.ceil(len(data["train"]["window"]) / CONFIG.batch)
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


def command_line(description: str | None) -> argparse.ArgumentParser:
    """What training and procedures are both told."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--data", type=Path, default=Path(__file__).parent, help="folder that holds santafe/")
    parser.add_argument("--seed", type=int, default=CONFIG.seed)
    device = "cuda" if torch.cuda.is_available() else "mps" if torch.backends.mps.is_available() else "cpu"
    parser.add_argument("--device", default=device)
    parser.add_argument("--json", action="store_true", help="one JSON object a line")
    return parser


def main() -> None:
    parser = command_line("Santa Fe laser, LSTM")
    parser.add_argument("--epochs", type=int, default=CONFIG.epochs)
    parser.add_argument("--save", type=Path, help="write the trained weights here (a state_dict)")
    args = parser.parse_args()

    torch.manual_seed(args.seed)
    model = Model().to(args.device)
    data = load(args.data, args.device)
    train(model, data, args.seed, args.epochs, args.json)
    found = evaluate(model, data["test"])
    report({f"test_{name}": value for name, value in found.items()}, args.json)
    if args.save:
        torch.save(model.state_dict(), args.save)


@torch.no_grad()
def forecast(
    model: Model, batch: dict[str, Tensor], draws: torch.Generator, **options: Any
) -> Iterator[dict[str, Any]]:
    """Runs free behind a window of a series: each forecast becomes part of the next window."""
    window = batch["window"]  # (N, 50, 1)
    yield from running_free(model, window, **options)


def run() -> None:
    """Run a procedure over trained weights, and print its states one by one."""
    parser = command_line(forecast.__doc__)
    parser.prog += " forecast"
    parser.add_argument("--weights", type=Path, required=True, help="as --save writes them")
    parser.add_argument("--split", default="validation", choices=["train", "validation", "test"])
    parser.add_argument("--rows", type=int, nargs="+", default=[0], help="of the split, from 0")
    parser.add_argument("--steps", type=int, default=100, help="how many values ahead")
    args = parser.parse_args(sys.argv[2:])

    try:
        model = Model().to(args.device).eval()
        model.load_state_dict(torch.load(args.weights, map_location="cpu", weights_only=True))
        columns = load(args.data, args.device)[args.split]
        batch = {name: column[args.rows] for name, column in columns.items()}
        torch.manual_seed(args.seed)
        draws = torch.Generator().manual_seed(args.seed)
        for state in forecast(model, batch, draws, steps=args.steps):
            told = json.dumps(state, default=Tensor.tolist) if args.json else state_in_words(state)
            print(told, flush=True)
    except KeyboardInterrupt:
        parser.exit(130, f"{parser.prog}: stopped\n")
    except (OSError, ValueError, IndexError) as error:
        parser.error(str(error))


if __name__ == "__main__":
    if sys.argv[1:2] == ["forecast"]:
        run()
    else:
        main()
