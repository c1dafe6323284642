"""What one probe showed through a run, thinned to a few moments that stay the same while the run goes on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

from engine.feed.feed import Probe, Snapshot
from engine.feed.history import History

Made = TypeVar("Made")


class ThroughTime(Generic[Made]):
    """At most `most` moments up to the one on show, each as what `make` makes of its snapshot.

    They are read from the record of the run; where nothing is recorded, what was on show is remembered.
    """

    def __init__(self, make: Callable[[Snapshot], Made], most: int = 60) -> None:
        self._make = make
        self._most = most
        self._made: dict[int, Made] = {}  # by step
        self._of: tuple[Probe, History | None] | None = None

    def until(self, probe: Probe, snapshot: Snapshot, history: History | None) -> list[tuple[int, Made]]:
        """The moments until a snapshot, as (step, made of it), the oldest first."""
        recorded = history.steps(probe) if history is not None else []
        source = (probe, history if recorded else None)
        if self._of is None or self._of[0] != source[0] or self._of[1] is not source[1]:
            self._made.clear()
            self._of = source
        if recorded:
            self._read(probe, [step for step in recorded if step < snapshot.step], history)
        else:
            self._made = {step: made for step, made in self._made.items() if step < snapshot.step}
        self._made[snapshot.step] = self._make(snapshot)
        while len(self._made) > self._most:
            earlier = sorted(self._made)[:-1]
            kept = {*earlier[::2], snapshot.step}
            self._made = {step: made for step, made in self._made.items() if step in kept}
        return sorted(self._made.items())

    def _read(self, probe: Probe, steps: list[int], history: History | None) -> None:
        stride = 1
        while len(steps[::stride]) >= self._most:
            stride *= 2
        wanted = steps[::stride]
        known = self._made
        self._made = {}
        for step in wanted:
            found = known.get(step)
            if found is None and history is not None:
                snapshot = history.at(probe, step)
                found = self._make(snapshot) if snapshot is not None and snapshot.step == step else None
            if found is not None:
                self._made[step] = found
