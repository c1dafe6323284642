"""The numbers of a run as a table that a spreadsheet opens."""

from __future__ import annotations

import csv
import io
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.feed.feed import Feed


def metrics_csv(feed: Feed) -> str:
    """A row an epoch: epoch, step, seconds, mean training loss, validation series, then the test scores.

    A plan of several objectives has a column for each in place of the loss. Before the first epoch has ended:
    a row a step with epoch, step, seconds and loss.
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    names = feed.series()
    training = [name for name in names if name.startswith("train_")]
    training = ["train_loss"] if "train_loss" in names or not training else training
    validation = [name for name in names if name.startswith("val_")]
    test = [name for name in names if name.startswith("test_")]
    trained = {name: feed.read(name) for name in training}
    if not validation:
        writer.writerow(["epoch", "step", "seconds", *training])
        writer.writerows(_steps(trained))
        return text.getvalue()
    columns = {name: feed.read(name) for name in validation}
    first = columns[validation[0]]
    writer.writerow(["epoch", "step", "seconds", *training, *validation, *test])
    start = 0
    for index, row in enumerate(first):
        means = [_mean(found, start, row["step"]) for found in trained.values()]
        start = row["step"]
        values = [found["value"][index] if index < len(found) else "" for found in columns.values()]
        last = index == len(first) - 1
        scores = [feed.last(name) if last else "" for name in test]
        writer.writerow([f"{row['epoch']:g}", row["step"], f"{row['seconds']:.3f}", *means, *values, *scores])
    return text.getvalue()


def _mean(points: NDArray[Any], after: int, until: int) -> float:
    """The mean over the steps after one, up to another; not a number where there are none."""
    start, end = np.searchsorted(points["step"], (after, until), side="right")
    return float(points["value"][start:end].mean()) if end > start else float("nan")


def _steps(trained: dict[str, NDArray[Any]]) -> list[list[Any]]:
    """A row a step, empty where an objective was not trained."""
    rows: dict[int, list[Any]] = {}
    for place, points in enumerate(trained.values()):
        for point in points:
            step = point["step"]
            row = rows.setdefault(step, [point["epoch"], step, point["seconds"], *[""] * len(trained)])
            row[3 + place] = point["value"]
    return [rows[step] for step in sorted(rows)]
