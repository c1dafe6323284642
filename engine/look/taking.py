"""What is computed of a model for views while it learns, within a fraction of the training time.

Each group of probes shares one pass over the model. A group measures its own cost and waits until training
has earned it again: all groups together take at most `BUDGET` of the time. Probes read; they change neither
weights nor gradients nor random numbers, so a run gives the same numbers whether or not it is watched.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import partial
from time import perf_counter
from typing import Any

from numpy.typing import NDArray

from engine.devices import untouched_random
from engine.errors import NeuroloomError, reason_of
from engine.feed.feed import Feed, Probe, Snapshot, Tried
from engine.look.apart import Apart
from engine.look.registry import NOTHING, Answer, ProbeKind, probe_kinds
from engine.look.sight import Look, NotWanted, Watched
from engine.look.tries import Tries

log = logging.getLogger(__name__)

BUDGET = 0.04


class Probes:
    """What is watched, when it is due, and how to take it."""

    def __init__(self, feed: Feed) -> None:
        self._feed = feed
        self._groups: dict[str, frozenset[Probe]] = {}
        self._due: dict[str, float] = {}
        self._wait: dict[str, float] = {}
        self._apart = Apart(self._take_kind, self.charge, lambda group: group in self._groups)
        self._done: set[Probe] = set()  # of kinds that are taken once
        self.pinned = 0
        self._tries = Tries(self._take_kind)
        self.spent = 0.0

    def watch(self, probes: frozenset[Probe]) -> None:
        """Take these from now on; what is new is due at once."""
        groups: dict[str, set[Probe]] = {}
        kinds = probe_kinds()
        for probe in probes:
            if probe.what in kinds:
                groups.setdefault(kinds[probe.what].group, set()).add(probe)
        before = self._groups
        self._groups = {group: frozenset(found) for group, found in groups.items()}
        # One of many, such as each point that a code was dragged over; others wait for being shown again.
        gone = frozenset().union(*before.values()) - probes
        self._feed.forget(probe for probe in gone if probe.detail)
        for group, found in self._groups.items():
            if not found <= before.get(group, frozenset()):
                self._due[group] = 0.0
        self._due = {group: self._due.get(group, 0.0) for group in self._groups}
        self._done &= probes
        self._tries.keep(frozenset(name for name in self._groups if name in kinds and kinds[name].tries))

    def refresh(self) -> None:
        """Everything is due: the model, the data or the pinned example has changed."""
        self._due = dict.fromkeys(self._groups, 0.0)
        self._done.clear()

    def try_input(self, tried: Tried | None) -> None:
        """Feed the model something; from any thread."""
        self._tries.answer(tried)

    def close(self) -> None:
        """End the thread that takes costly views, after the one it is at."""
        self._apart.close()
        self._tries.close()

    @property
    def next_due(self) -> float:
        """When the next probe is due, on the clock of `perf_counter`."""
        return min(self._due.values(), default=float("inf"))

    def take_due(self, run: Watched, now: float, *, ending: bool = False) -> None:
        """Take what is due between two batches; asks the run to be shown the next gradients if those are.

        `ending`: the next batch is the last before the run rests, so that its gradients are due.
        """
        for group, due in list(self._due.items()):
            kinds = self._kinds(group)
            if due > now and not (ending and kinds[0].backward):
                continue
            if kinds[0].backward:
                run.peek = _Peek(self, run, group)
                self._due[group] = now + _shortest(kinds)  # taken, and weighed, in the next step
            else:
                self._timed(group, run)

    def take_all(self, run: Watched) -> None:
        """Take everything that is due from a model that stands still."""
        for group in list(self._due):
            if self._due[group] == 0.0:
                self._timed(group, run, standing=True)

    def _kinds(self, group: str) -> list[ProbeKind]:
        """The kinds of a group that are watched."""
        return [probe_kinds()[name] for name in sorted({probe.what for probe in self._groups[group]})]

    def _timed(self, group: str, run: Watched, *, standing: bool = False) -> None:
        kinds = self._kinds(group)
        kind, wanted = kinds[0], self._groups[group] - self._done
        if not wanted:
            self._due[group] = float("inf")
            return
        if kind.apart:
            # Its cost is charged when it is done: that puts the next one off.
            self._due[group] = perf_counter() + kind.every
            if self._apart.offer(kind, wanted, run, self.pinned, patient=standing) and kind.once:
                self._done |= wanted
            return
        began = perf_counter()
        if kind.tries:
            self._tries.show(kind, wanted, run, self.pinned)
        else:
            look = Look.of(run, self.pinned, wanted)
            with untouched_random(run.settings.device):
                for one in kinds:
                    found = frozenset(probe for probe in wanted if probe.what == one.name)
                    self._take_kind(one, found, look, run.revision)
                    if one.once:
                        self._done |= found
        self.charge(group, perf_counter() - began)

    def charge(self, group: str, cost: float) -> None:
        """Wait until training has earned what the group cost."""
        self.spent += cost
        if group in self._groups:
            allowed = BUDGET / len(self._groups)
            self._wait[group] = max(_shortest(self._kinds(group)), cost / allowed)
            self._due[group] = perf_counter() + self._wait[group]

    def _take_kind(self, kind: ProbeKind, probes: frozenset[Probe], look: Look, revision: int) -> None:
        for probe in probes:
            seen = look.about(probe.node_id)
            if kind.apart:
                seen = replace(seen, report=partial(self._put, kind, probe, revision, look.step))
            self.take(kind, probe, partial(kind.take, seen, probe), revision, look.step)

    def take(
        self, kind: ProbeKind, probe: Probe, taker: Callable[[], Answer], revision: int, step: int
    ) -> Callable[[], object] | None:
        """Put what a taker answers into the feed; what can't be taken says so in its place.

        Where the answer is a function, it is handed back as what is left to do after the update.
        """
        array, facts = NOTHING, dict[str, Any]()
        try:
            taken = taker()
            if callable(taken):
                return partial(self.take, kind, probe, taken, revision, step)
            if taken is not None:
                array, facts = taken[0], dict(taken[1])
        except NotWanted:
            raise
        except NeuroloomError as error:
            facts = {"failed": str(error)}
        except Exception as error:  # a view that fails must not end a run; training meets the fault itself
            log.debug("view %s failed", kind.name, exc_info=error)
            facts = {"failed": f"This view could not be computed: {reason_of(error)}"}
        if array is not NOTHING or not kind.quiet:
            self._put(kind, probe, revision, step, array, facts)
        return None

    def _put(
        self,
        kind: ProbeKind,
        probe: Probe,
        revision: int,
        step: int,
        array: NDArray[Any],
        facts: Mapping[str, Any],
    ) -> None:
        wait = self._wait.get(kind.group, kind.every)
        self._feed.put(probe, Snapshot(revision, step, array, {**facts, "wait": wait}))

    def probes_of(self, kind: ProbeKind) -> list[Probe]:
        """What is watched of a kind."""
        return [probe for probe in self._groups.get(kind.group, ()) if probe.what == kind.name]


class _Peek:
    """Looks at gradients between backward and update, and at the weights after the update."""

    def __init__(self, probes: Probes, run: Watched, group: str) -> None:
        self._probes = probes
        self._run = run
        self._group = group
        self._cost = 0.0
        self._later: list[Callable[[], object]] = []

    def __call__(self) -> Callable[[], None] | None:
        began = perf_counter()
        run = self._run
        look = Look.of(run, self._probes.pinned)
        for kind in probe_kinds().values():
            if kind.group == self._group:
                for probe in self._probes.probes_of(kind):
                    taker = partial(kind.take, look.about(probe.node_id), probe)
                    later = self._probes.take(kind, probe, taker, run.revision, run.step)
                    if later is not None:
                        self._later.append(later)
        self._cost = perf_counter() - began
        if self._later:
            return self._after
        self._probes.charge(self._group, self._cost)
        return None

    def _after(self) -> None:
        began = perf_counter()
        for later in self._later:
            later()
        self._probes.charge(self._group, self._cost + perf_counter() - began)


def _shortest(kinds: Iterable[ProbeKind]) -> float:
    return min(kind.every for kind in kinds)
