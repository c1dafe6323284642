"""Writes the curves of a run as TensorBoard event files, with the `tensorboard` package if it is there."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

from engine.errors import TrainingError
from engine.runs.records import read_metrics, read_settings, read_step_series

FOLDER = "tensorboard"
MISSING = "TensorBoard's own package writes these files, and it is not installed."
INSTALL = "Install it with: pip install tensorboard"
_NOT_CURVES = ("epoch", "step", "seconds")
_KINDS = {"train": "train", "val": "validation", "test": "test"}


def write_events(folder: Path, target: Path | None = None) -> Path:
    """Write event files of the run in `folder` to `target` (its folder `tensorboard`), replacing older ones.

    A point a step for the training losses and a point an epoch for the rest, against the step, at the times
    when they were recorded. Returns the folder written to.
    Errors: `TrainingError` where the package is missing, the run has no curves, or the disk refuses.
    """
    target = folder / FOLDER if target is None else target
    settings = read_settings(folder)
    points = list(_points(folder))
    if not points:
        raise TrainingError(f"{folder.name} has no curves yet.", fix="Train for an epoch at least.")
    try:
        from torch.utils.tensorboard import SummaryWriter
    except ImportError as error:
        raise TrainingError(MISSING, fix=INSTALL) from error
    began = _seconds_of(settings.get("started"))
    try:
        for old in target.glob("events.out.tfevents.*"):  # two files in one folder are drawn as a zigzag
            old.unlink()
        with SummaryWriter(str(target)) as writer:
            writer.add_text("settings", _settings(settings), walltime=began)
            for tag, value, step, seconds in points:
                writer.add_scalar(tag, value, step, began + seconds)
    except OSError as error:
        raise TrainingError(f"The event files could not be written: {error.strerror or error}.") from error
    return target


def tag_of(name: str) -> str:
    """`loss/validation` for val_loss: curves of one quantity share a chart."""
    kind, _, quantity = name.partition("_")
    return f"{quantity}/{_KINDS[kind]}" if kind in _KINDS and quantity else name


def _points(folder: Path) -> Iterator[tuple[str, float, int, float]]:
    """Tag, value, step and seconds since the beginning, curve by curve, steps growing."""
    for name, rows in read_step_series(folder).items():
        for step, _, seconds, value in rows.tolist():
            yield tag_of(name), value, step, seconds
    history = read_metrics(folder)
    names = dict.fromkeys(name for record in history for name in record if name not in _NOT_CURVES)
    for name in names:
        tag = tag_of(name) + (", mean of the epoch" if name.startswith("train_") else "")
        for record in history:
            if name in record:
                yield tag, float(record[name]), int(record["step"]), float(record.get("seconds", 0.0))


def _settings(settings: dict[str, Any]) -> str:
    """The settings as a Markdown table."""
    rows = [
        f"| {name} | {value} |"
        for name, value in settings.items()
        if isinstance(value, (str, int, float)) and value != ""
    ]
    return "\n".join(("| setting | value |", "|---|---|", *rows))


def _seconds_of(moment: object) -> float:
    try:
        return datetime.fromisoformat(str(moment)).timestamp()
    except ValueError:
        return 0.0
