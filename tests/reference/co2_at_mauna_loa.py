"""CO2 at Mauna Loa

Exported from Neuroloom. Needs torch, numpy and polars only.

    python co2_at_mauna_loa.py --data FOLDER --epochs 30
    python co2_at_mauna_loa.py forecast --weights FILE

FOLDER holds co2.csv; --data names another than the usual.
"""

from __future__ import annotations

import argparse
import csv
import io
import json
import math
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

SEED, BATCH, EPOCHS = 0, 64, 30


# engine.data.series.files.series_in_order, 13 lines, 4629c6399dbc


# engine.data.series.windows.series_parts, 10 lines, dd4deb9fe029


# engine.data.series.windows.filled_gaps, 20 lines, 4cb8cca8fc7a


# engine.data.series.windows.prepared_series, 39 lines, f1b63d9710ad


# engine.data.series.files.complete, 23 lines, 06d70041ea12


# engine.data.series.windows.window_starts, 9 lines, 4ce1cfb97129


# engine.data.lazy.Lazy, 52 lines, dab65619d41c


# engine.data.series.windows.Windows, 16 lines, e13060344ed8


# engine.data.series.windows.cut_windows, 7 lines, 92e262a45b20


# engine.data.series.windows.windows_of_series, 44 lines, 366a9af5d099


# engine.data.series.windows.clock_of, 8 lines, 6ddaf27805ba


# engine.data.series.files.load_series, 57 lines, aae5fa561d27


# engine.data.tables.reading.separator, 3 lines, d4aa7fb7a95c


# engine.data.tables.reading.nameable, 7 lines, 475837e46a4a


# engine.data.tables.reading.is_plain, 4 lines, 0efec0f1972e


# engine.data.tables.reading.plain_lines, 21 lines, 236231b252be


# engine.data.tables.reading.decoded, 17 lines, 550887648b89


# engine.data.file_there.file_there, 21 lines, e806fb3e922a


# engine.data.tables.reading.line_end, 5 lines, dc56d691a351


# engine.data.tables.reading.cell_form, 10 lines, 37f8eb06fa4a


# engine.data.tables.reading.beginning, 7 lines, e72851c8ada2


# engine.data.tables.reading.text_rows, 20 lines, 5b41b825d49b


# engine.data.tables.reading.longer_row, 4 lines, b1a67065bee4


# engine.data.tables.reading.text_trouble, 21 lines, 9cc9230adb18


# engine.data.tables.reading.column_names, 14 lines, 3272b40470f7


# engine.data.tables.reading.named_by, 13 lines, 89fd405c13d5


# engine.data.tables.reading.text_form, 23 lines, 8e692b3d9af5


# engine.data.tables.reading.check_columns, 8 lines, cce0e015f266


# engine.data.tables.reading.read_text_table, 39 lines, c21217d6a846


# engine.data.tables.cells.written_numbers, 31 lines, ec15e9e1dce5


# engine.data.tables.cells.Cells, 95 lines, efc89a42a161


# engine.data.series.files.frame_series, 34 lines, e4f2bf2c8e2d


# engine.data.series.files.read_text_series, 9 lines, 3ecc65da3f2e


# engine.data.splits.split_in_time, 9 lines, f45d034b7b82


# engine.procedures.series.running_free, 9 lines, 100555a456a1


# engine.procedures.rows.as_many, 3 lines, 0fb81ada274e


# engine.procedures.rows.FileRows, 5 lines, 4047b69e9fef


# engine.procedures.rows.chosen_rows, 21 lines, 0d32f6f81743


# engine.procedures.rows.state_as_json, 3 lines, 96c58e94ae55


# engine.procedures.rows.state_in_words, 10 lines, b35dd774c3ec


# engine.data.weights.read_weights, 17 lines, 87ddea6fc7c9


# engine.procedures.rows.weights_of, 6 lines, f136e315ea55


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
    return load_series(
        folder,
        device,
        file="co2.csv",
        columns=(("date", "date", "time", "%Y-%m-%d"), ("co2", "number", "input")),
        read=read_text_series,
        table={
            "delimiter": ",",
            "quote": '"',
            "decimal": ".",
            "header": True,
            "skip": 0,
            "blanks": (),
            "encoding": "utf-8",
        },
        inputs=("co2",),
        targets=("co2",),
        time="date",
        series="",
        order="as in the file",
        skip=0,
        most=None,
        lag=52,
        horizon=1,
        stride=1,
        reach_back=False,
        between=0,
        missing="interpolate",
        difference=1,
        standardise=True,
        clock=False,
        splitter=split_in_time,
        validation=0.2,
        test=0.2,
    )


def batches(split: dict[str, Tensor], shuffle: torch.Generator | None = None) -> Iterator[dict[str, Tensor]]:
    n = len(split["window"])
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
        size = len(batch["window"])
        n += size
        for name, value in measure(model, batch).items():
            sums[name] = sums.get(name, 0.0) + size * value.item()
    model.train()
    return {name: value / n for name, value in sums.items()}


def optimiser_for(model: Model) -> torch.optim.Optimizer:
    return torch.optim.Adam(model.parameters(), lr=0.005)


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
    parser = argparse.ArgumentParser(description="CO2 at Mauna Loa")
    parser.add_argument(
        "--data", type=Path, default=Path(__file__).parent / "files", help="folder that holds co2.csv"
    )
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


@torch.no_grad()
def forecast(
    model: Model, batch: dict[str, Tensor], draws: torch.Generator, **options: Any
) -> Iterator[dict[str, Any]]:
    """Runs free behind a window of a series: each forecast becomes part of the next window."""
    window = batch["window"]  # (N, 52, 1)

    def ahead(window: Tensor) -> Tensor:
        return model(window)

    yield from running_free(ahead, window, draws=draws, **options)


PROCEDURES = {
    "forecast": (forecast, {
        "--steps": {"type": int, "default": 100, "help": "how many values ahead"},
    }),
}


def run(name: str, words: Sequence[str]) -> None:
    """Run a procedure over trained weights, and print its states one by one."""
    procedure, options = PROCEDURES[name]
    parser = argparse.ArgumentParser(prog=f"{Path(__file__).name} {name}", description=procedure.__doc__)
    parser.add_argument("--weights", type=Path, required=True, help="as --save writes them, or .safetensors")
    parser.add_argument(
        "--data", type=Path, default=Path(__file__).parent / "files", help="folder that holds co2.csv"
    )
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
        columns = load(args.data, args.device)[args.split]
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
