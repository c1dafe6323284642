"""CO2 at Mauna Loa

Exported from Neuroloom. Needs torch, numpy and polars only.

    python co2_at_mauna_loa.py --data FOLDER --epochs 30
    python co2_at_mauna_loa.py forecast --weights FILE

FOLDER holds co2.csv; --data names another than the usual.
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
import polars as pl
import torch
import torch.nn.functional as F
from torch import Tensor, nn


@dataclass(frozen=True)
class Config:
    seed: int = 0
    batch: int = 64
    epochs: int = 30
    learning_rate: float = 0.005


CONFIG = Config()


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
        self.gru = nn.GRU(1, 32, batch_first=True)
        self.forecast = nn.Linear(32, 1)

    def forward(self, window: Tensor) -> Tensor:  # (N, 52, 1)
        _, h = self.gru(window)
        x = h[-1]                                 # (N, 32)
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
    """{split: {column: values}} for train, validation and test: window (N, 52, 1); next (N, 1)."""
    file = folder / "co2.csv"
    schema = {
        "CO2 (ppm)": pl.Float64(),
    }
    try:
        table = pl.read_csv(file, infer_schema=False)
        table = table.select(pl.col(name).cast(kind) for name, kind in schema.items())
    except (OSError, UnicodeError, pl.exceptions.PolarsError) as error:
        raise SystemExit(f"{file} is no longer as it was: {str(error).splitlines()[0]}") from error
    values = table.to_numpy(order="c", writable=True)
    values = values[: np.flatnonzero(~np.isnan(values).all(1)).max(initial=-1) + 1]  # blank lines may follow
    n = len(values)
    held, tested = round(0.2 * n), round(0.2 * n)
    parts = {
        "train": (0, n - held - tested),
        "validation": (n - held - tested, n - tested),
        "test": (n - tested, n),
    }
    if np.isnan(values).all(0).any():
        raise SystemExit(f"{file} has a series without any reading.")
    ends = sorted({at for part in parts.values() for at in part if at} | {n})
    for column, lost in zip(values.T, np.isnan(values.T), strict=True):
        for begin, end in zip([0, *ends], ends, strict=False):  # no part sees a later one
            there = np.flatnonzero(~lost[:end])
            gaps = begin + np.flatnonzero(lost[begin:end])
            if len(gaps) and len(there):
                column[gaps] = np.interp(gaps, there, column[there])
    values = np.diff(values, axis=0, prepend=np.nan)
    readings = torch.from_numpy(values)
    deviation, mean = torch.std_mean(readings[1 : parts["train"][1]], 0, correction=0)
    readings = (readings - mean) / torch.where(deviation > 0, deviation, 1.0)
    seen = readings.float()
    windows: dict[str, dict[str, Tensor]] = {}
    for split, (first, end) in parts.items():
        begin = max(1, first)
        starts = torch.arange(begin, max(begin, end - 52))
        if not len(starts):
            raise SystemExit(f"{file} has too few readings for a window in {split}.")
        windows[split] = {
            "window": seen[starts[:, None] + torch.arange(52)].to(device),
            "next": seen[starts + 52].to(device),
        }
    return windows


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


def command_line(description: str | None) -> argparse.ArgumentParser:
    """What training and procedures are both told."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument(
        "--data", type=Path, default=Path(__file__).parent / "files", help="folder that holds co2.csv"
    )
    parser.add_argument("--seed", type=int, default=CONFIG.seed)
    device = "cuda" if torch.cuda.is_available() else "mps" if torch.backends.mps.is_available() else "cpu"
    parser.add_argument("--device", default=device)
    parser.add_argument("--json", action="store_true", help="one JSON object a line")
    return parser


def main() -> None:
    parser = command_line("CO2 at Mauna Loa")
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
    window = batch["window"]  # (N, 52, 1)
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
