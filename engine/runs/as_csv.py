"""The numbers of runs as a table that a spreadsheet opens."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable
from pathlib import Path

from engine.errors import TrainingError
from engine.runs.records import METRICS, read_metrics


def runs_csv(folders: Iterable[Path]) -> str:
    """A row an epoch; with several runs, a first column names the run.

    Errors: `TrainingError` when there is no finished epoch.
    """
    tables = {folder: read_metrics(folder) for folder in folders}
    tables = {folder: rows for folder, rows in tables.items() if rows}
    if not tables:
        raise TrainingError("There are no numbers yet: no epoch has ended.")
    if len(tables) == 1:
        text = (next(iter(tables)) / METRICS).read_text("utf-8")
        return text[: text.rfind("\n") + 1]
    columns = list(dict.fromkeys(name for rows in tables.values() for row in rows for name in row))
    made = io.StringIO(newline="")
    writer = csv.DictWriter(made, ["run", *columns], restval="", lineterminator="\n")
    writer.writeheader()
    for folder, rows in tables.items():
        writer.writerows({"run": folder.name, **row, "epoch": int(row["epoch"]) + 1} for row in rows)
    return made.getvalue()
