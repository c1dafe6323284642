"""What a run has to say: growing series, latest views, events. Written by one thread, read by any.

The training thread appends a few numbers a step and must not wait for a window, so an append takes no lock.
"""

from __future__ import annotations

import threading
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine.feed.history import History
from engine.feed.series import POINT, Series

_MOST_EVENTS = 1000

Remedy = tuple[str, float]


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened. `kind` is info, warning or error; `step` counts from 1, 0 before training.

    `remedy` is what would fix it, where a number does: ("batch", 32) or ("lr", 0.003). What holds for a while
    has a word in `about`; an event "settled" about the same, which may have no message, takes it back.
    """

    kind: str
    message: str
    node_id: str | None = None
    step: int = 0
    remedy: Remedy | None = None
    about: str = ""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A small, reduced view of the model at one step of one document revision; `array` is for reading.

    Of a kind in `engine.look`, `extra` holds "wait", the seconds until the next is taken, and, in place of
    a view that could not be taken, "failed", a sentence that says why.
    """

    revision: int
    step: int
    array: NDArray[Any]
    extra: Mapping[str, Any] = field(default_factory=dict)


class Probe(NamedTuple):
    """A view somebody looks at, and its key in the feed.

    `what` is the name of a kind in `engine.look`; `node_id` is "" for
    views of the whole model. `detail` says more: which unit, which pixel, which try of a costly view.
    """

    node_id: str
    what: str
    detail: tuple[str | int | float, ...] = ()


LAYER_STEP = Probe("", "layer_step")  # what `engine.train.layer_steps` shows; its facts are empty for nothing


class Tried(NamedTuple):
    """Something the user feeds the model: `number` counts them, `columns` are `{column: array (...)}`."""

    number: int
    columns: Mapping[str, NDArray[Any]]


class Feed:
    """Everything a run shows, for a window that polls `version` and reads what it draws."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._series: dict[str, Series] = {}
        self._latest: dict[tuple[Any, ...], Snapshot] = {}
        self._events: list[Event] = []
        self._changes = 0
        self._noted = 0
        self.generation = 0
        self.history = History()
        self.higher: Collection[str] | None = None  # values that are better when they grow, if that is known

    @property
    def version(self) -> int:
        """Grows with every change."""
        return self._changes + self._noted

    def append(self, series: str, step: int, epoch: float, seconds: float, value: float) -> None:
        """Add a point; only the training thread may call this."""
        found = self._series.get(series)
        if found is None:
            found = self.open(series)
        found.append(step, epoch, seconds, value)
        self._changes += 1

    def open(self, name: str) -> Series:
        """The series of that name, made if it isn't there; who appends to it calls `changed`."""
        with self._lock:
            return self._series.setdefault(name, Series())

    def changed(self) -> None:
        """Tell readers that a series opened with `open` has grown; only the training thread may call this."""
        self._changes += 1

    def touch(self) -> None:
        """Tell readers that something beside the feed, such as the run's state, has changed."""
        with self._lock:
            self._noted += 1

    def series(self) -> tuple[str, ...]:
        """The names of the series, in the order they began."""
        with self._lock:
            return tuple(self._series)

    def read(self, name: str, start: int = 0) -> NDArray[Any]:
        """A copy of the points of a series from index `start`: fields step, epoch, seconds, value."""
        found = self._series.get(name)
        return np.empty(0, POINT) if found is None else found.read(start)

    def last(self, name: str) -> float | None:
        """The newest value of a series."""
        found = self._series.get(name)
        if found is None or not len(found):
            return None
        return float(found.read(len(found) - 1)[-1]["value"])

    def ends(self, name: str, count: int = 5) -> tuple[float, float] | None:
        """The means of the first and of the newest `count` values of a series; None where there are none."""
        found = self._series.get(name)
        if found is None or not len(found):
            return None
        first, newest = found.read(0, count)["value"], found.read(max(0, len(found) - count))["value"]
        return float(first.mean()), float(newest.mean())

    def put(self, key: tuple[Any, ...], snapshot: Snapshot) -> None:
        """Replace the latest snapshot of a key; the history takes it in if it is recorded."""
        with self._lock:
            self._latest[key] = snapshot
            self._noted += 1
        self.history.record(key, snapshot)

    def latest(self, key: tuple[Any, ...]) -> Snapshot | None:
        return self._latest.get(key)

    def forget(self, keys: Iterable[tuple[Any, ...]]) -> None:
        """Drop the snapshots of some keys."""
        with self._lock:
            for key in keys:
                self._latest.pop(key, None)

    def forget_views(self) -> None:
        """Drop all snapshots: they show a model that is gone."""
        with self._lock:
            self._latest = {}
            self._noted += 1

    def note(
        self,
        kind: str,
        message: str,
        node_id: str | None = None,
        step: int = 0,
        remedy: Remedy | None = None,
        about: str = "",
    ) -> None:
        """Record an event."""
        with self._lock:
            self._events.append(Event(kind, message, node_id, step, remedy, about))
            del self._events[:-_MOST_EVENTS]
            self._noted += 1

    @property
    def events(self) -> list[Event]:
        """The events since the run began, oldest first (the last thousand)."""
        with self._lock:
            return list(self._events)

    def cut(self, step: int) -> None:
        """Drop the points of later steps: the run has gone back. Readers start again, events stay."""
        self.history.cut(step)
        with self._lock:
            for series in self._series.values():
                series.cut(step)
            self._series = {name: series for name, series in self._series.items() if len(series)}
            self.generation += 1
            self._noted += 1

    def clear(self) -> None:
        """Begin a new run: no series, views or events; `generation` tells readers to start again."""
        self.history.clear()
        with self._lock:
            self._series, self._latest = {}, {}
            self._events = []
            self.generation += 1
            self._noted += 1
