"""The curves of stored runs, read beside the window and kept up to date while another program trains one."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from app.charts.run_curves import LEARNING_RATE, quantity
from app.charts.track import Track
from engine.feed.series import POINT
from engine.runs.records import StepsReader, read_metrics

Rows = dict[str, NDArray[Any]]
_NOT_CURVES = ("epoch", "step", "seconds")


class CurveReader:
    """Reads one run's folder; each `read` gives what is new. To be used by one thread at a time."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._steps = StepsReader(folder)
        self._epochs: dict[str, int] = {}
        self.begun = False  # whether anything was read before

    def read(self) -> Rows:
        """New points by series; `train_loss` a point a step where steps were kept, else a point an epoch.

        Errors: `OSError` and `ValueError` where the files can't be read.
        """
        found = self._steps.read()
        for name, rows in self._by_epoch().items():
            if name not in found and not (name == "train_loss" and self._steps.names):
                start = self._epochs.get(name, 0)
                if len(rows) < start:  # the run was begun again
                    start = 0
                found[name] = rows[start:]
                self._epochs[name] = len(rows)
        self.begun = True
        return {name: rows for name, rows in found.items() if len(rows)}

    def _by_epoch(self) -> Rows:
        points: dict[str, list[tuple[int, float, float, float]]] = {}
        for record in read_metrics(self.folder):
            place = int(record["step"]), float(record["epoch"]) + 1, float(record.get("seconds", 0.0))
            for name, value in record.items():
                if name not in _NOT_CURVES:
                    points.setdefault(name, []).append((*place, float(value)))
        return {name: np.array(rows, POINT) for name, rows in points.items()}


def tracks_of(rows: Rows) -> dict[str, Track]:
    """Tracks of points that were read; a run of a million steps is better taken in beside the window."""
    tracks: dict[str, Track] = {}
    take_in(tracks, rows)
    return tracks


def take_in(tracks: dict[str, Track], rows: Mapping[str, NDArray[Any] | Track]) -> None:
    """Add new points to the tracks of a run, or whole tracks."""
    for name, points in rows.items():
        if isinstance(points, Track):
            tracks[name] = points
        else:
            tracks.setdefault(name, Track()).extend(points)


def quantities(runs: list[dict[str, Track]]) -> list[str]:
    """What there is to draw of some runs: the loss first, the learning rate last."""
    found = dict.fromkeys(
        quantity(name) for tracks in runs for name in tracks if not name.startswith("test_")
    )
    return sorted(found, key=lambda name: (name == LEARNING_RATE, name != "loss"))
