"""The numbers of a run as a table that a spreadsheet opens."""

from __future__ import annotations

import csv
import io

import numpy as np

from engine.run.feed import Feed


def metrics_csv(feed: Feed) -> str:
    """A row an epoch: epoch, step, seconds, mean training loss, validation series, then the test scores.

    Before the first epoch has ended: a row a step with epoch, step, seconds and loss.
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    names = feed.series()
    validation = [name for name in names if name.startswith("val_")]
    test = [name for name in names if name.startswith("test_")]
    train = feed.read("train_loss")
    if not validation:
        writer.writerow(["epoch", "step", "seconds", "train_loss"])
        writer.writerows([row["epoch"], row["step"], row["seconds"], row["value"]] for row in train)
        return text.getvalue()
    columns = {name: feed.read(name) for name in validation}
    first = columns[validation[0]]
    writer.writerow(["epoch", "step", "seconds", "train_loss", *validation, *test])
    start = 0
    for index, row in enumerate(first):
        end = int(np.searchsorted(train["step"], row["step"], side="right"))
        mean = float(train["value"][start:end].mean()) if end > start else float("nan")
        start = end
        values = [found["value"][index] if index < len(found) else "" for found in columns.values()]
        last = index == len(first) - 1
        scores = [feed.last(name) if last else "" for name in test]
        writer.writerow([f"{row['epoch']:g}", row["step"], f"{row['seconds']:.3f}", mean, *values, *scores])
    return text.getvalue()
