"""Small pictures of a model while it learns, for what is on screen, within a share of the training time.

Each group of probes shares one pass over the model. A group measures its own cost and waits until training
has earned it again: all groups together take at most `BUDGET` of the time. Probes read; they change neither
weights nor gradients nor random numbers, so a run gives the same numbers whether or not it is watched.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor

from engine.devices import untouched_random
from engine.errors import NeuroloomError
from engine.feed.feed import Feed, Probe, Snapshot, Tried
from engine.look import reduce
from engine.look.apart import Apart
from engine.look.heads import CLASSES, VALUES, YES_NO, Head
from engine.look.registry import NOTHING, ProbeKind, probe_kinds
from engine.look.sight import Look, NotWanted, evaluating
from engine.look.tries import Tries

if TYPE_CHECKING:
    from engine.data.batch import Batch
    from engine.train.loop import Run

log = logging.getLogger(__name__)

BUDGET = 0.04
KINDS = (
    "activations",
    "filters",
    "weights",
    "gradients",
    "output_histogram",
    "predictions",
    "confusion",
    "norms",
)

_GROUPS = {
    "activations": "example",
    "predictions": "example",
    "output_histogram": "sample",
    "filters": "weights",
    "weights": "weights",
    "gradients": "backward",
    "norms": "backward",
}
_SHORTEST = {
    "example": 0.25,
    "sample": 0.5,
    "weights": 0.25,
    "backward": 0.25,
}  # seconds between two pictures
_SAMPLE_ROWS = 64
_FORECAST_ROWS = 256
_MOVEMENT_EVERY = 1.0


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
        for probe in probes:
            group = _GROUPS.get(probe.what) or (probe.what if probe.what in probe_kinds() else None)
            if group is not None:
                groups.setdefault(group, set()).add(probe)
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
        kinds = probe_kinds()
        self._tries.keep(frozenset(name for name in self._groups if name in kinds and kinds[name].tries))

    def refresh(self) -> None:
        """Everything is due: the model, the data or the pinned example has changed."""
        self._due = dict.fromkeys(self._groups, 0.0)
        self._done.clear()

    def try_input(self, tried: Tried | None) -> None:
        """Feed the model something; from any thread."""
        self._tries.answer(tried)

    def close(self) -> None:
        """End the thread that takes costly pictures, after the one it is at."""
        self._apart.close()
        self._tries.close()

    @property
    def next_due(self) -> float:
        """When the next picture is due, on the clock of `perf_counter`."""
        return min(self._due.values(), default=float("inf"))

    def take_due(self, run: Run, now: float) -> None:
        """Take what is due between two batches; asks the run to be shown the next gradients if those are."""
        for group, due in list(self._due.items()):
            if due > now:
                continue
            if group == "backward":
                run.peek = _Peek(self, run)
                self._due[group] = now + _SHORTEST[group]  # taken, and weighed, in the next step
            else:
                self._timed(group, run)

    def take_all(self, run: Run) -> None:
        """Take everything that is due from a model that stands still."""
        for group in list(self._due):
            if self._due[group] == 0.0:
                self._timed(group, run, standing=True)

    def _timed(self, group: str, run: Run, *, standing: bool = False) -> None:
        kind = probe_kinds().get(group)
        wanted = self._groups[group] - self._done
        if kind is not None and kind.once and not wanted:
            self._due[group] = float("inf")
            return
        if kind is not None and kind.apart:
            # Its cost is charged when it is done: that puts the next one off.
            self._due[group] = perf_counter() + kind.every
            if self._apart.offer(kind, wanted, run, self.pinned, patient=standing) and kind.once:
                self._done |= wanted
            return
        began = perf_counter()
        if kind is not None and kind.tries:
            self._tries.show(kind, wanted, run, self.pinned)
        else:
            self._take(group, run)
        self.charge(group, perf_counter() - began)

    def charge(self, group: str, cost: float) -> None:
        """Wait until training has earned what the group cost."""
        self.spent += cost
        share = BUDGET / max(1, len(self._groups))
        kind = probe_kinds().get(group)
        wait = max(kind.every if kind is not None else _SHORTEST[group], cost / share)
        self._wait[group] = wait
        if group in self._groups:
            self._due[group] = perf_counter() + wait

    def _take(self, group: str, run: Run) -> None:
        probes = self._groups.get(group, frozenset())
        try:
            if group == "example":
                self._take_example(run, probes)
            elif group == "sample":
                self._take_sample(run, probes)
            elif group == "weights":
                self._take_weights(run, probes)
            elif group == "backward":
                self.take_gradients(run)
            else:
                kind, wanted = probe_kinds()[group], probes - self._done
                with untouched_random(run.settings.device):
                    self._take_kind(kind, wanted, Look.of(run, self.pinned), run.revision)
                if kind.once:
                    self._done |= wanted
        except Exception as error:  # a picture that fails must not end a run; training meets the fault itself
            log.debug("probe %s failed", group, exc_info=error)

    def _take_kind(self, kind: ProbeKind, probes: frozenset[Probe], look: Look, revision: int) -> None:
        """Take each probe of a kind; what can't be taken says so in its place."""
        for probe in probes:
            try:
                taken = kind.take(look, probe)
                array, facts = taken if taken is not None else (NOTHING, {})
            except NotWanted:
                raise
            except NeuroloomError as error:
                array, facts = NOTHING, {"failed": str(error)}
            except Exception as error:  # a picture that fails must not end a run
                log.debug("picture %s failed", kind.name, exc_info=error)
                array, facts = NOTHING, {"failed": f"This picture could not be computed: {error}"}
            facts = {**facts, "wait": self._wait.get(kind.name, kind.every)}
            self._feed.put(probe, Snapshot(revision, look.step, array, facts))

    # -- one example and a sample of the validation split

    def _take_example(self, run: Run, probes: frozenset[Probe]) -> None:
        rows = run.rows("validation")
        if not rows:
            return
        pinned = min(self.pinned, rows - 1)
        look = Look.of(run, pinned)
        wanted = {probe.node_id for probe in probes if probe.what == "activations"}
        asked = {probe: look.head(probe.node_id) for probe in probes if probe.what == "predictions"}
        heads = {probe: head for probe, head in asked.items() if head is not None}
        several = any(head.kind == VALUES for head in heads.values())
        seen: dict[str, dict[str, Tensor]] = {}
        wires = {head.prediction[0] for head in heads.values()} | {head.target[0] for head in heads.values()}
        _forward(run, _rows(run, pinned, 1), _keeper(seen, wanted | wires))
        about = {"example": pinned, "split": "validation"}
        for node_id in wanted & seen.keys():
            known = {port: value for port, value in seen[node_id].items() if value.dim() and len(value)}
            ports = {port: look.of_one(node_id, port, value) for port, value in known.items()}
            lists = {port for port in ports if look.rows_of(node_id, port) == "edges"}
            arrays = {
                port: reduce.listed(value) if port in lists else reduce.maps(value)
                for port, value in ports.items()
            }
            if arrays:
                first = next(iter(arrays))
                facts = {"port": first, "ports": arrays, "shape": tuple(ports[first].shape), **about}
                if look.rows_of(node_id, first):
                    facts["rows"] = look.rows_of(node_id, first)
                self._put(run, Probe(node_id, "activations"), arrays[first], facts)
        for probe, head in heads.items():
            if head.kind != VALUES:
                self._put(run, probe, *_probabilities(head, seen, about))
        if several:
            self._take_forecasts(run, {probe: head for probe, head in heads.items() if head.kind == VALUES})

    def _take_forecasts(self, run: Run, heads: Mapping[Probe, Head]) -> None:
        """For heads that predict numbers: the first 256 validation examples, `(n, 2)` predicted and right."""
        seen: dict[str, dict[str, Tensor]] = {}
        wires = {wire[0] for head in heads.values() for wire in (head.prediction, head.target)}
        _forward(run, _rows(run, 0, _FORECAST_ROWS), _keeper(seen, wires))
        for probe, head in heads.items():
            predicted, right = (
                _values_of(seen, wire).flatten(1)[:, 0] for wire in (head.prediction, head.target)
            )
            pairs = torch.stack([predicted.float(), right.float()], 1).cpu().numpy()
            self._put(
                run, probe, pairs, {"kind": VALUES, "split": "validation", "columns": ("predicted", "right")}
            )

    def _take_sample(self, run: Run, probes: frozenset[Probe]) -> None:
        if not run.rows("validation"):
            return
        seen: dict[str, dict[str, Tensor]] = {}
        _forward(run, _rows(run, 0, _SAMPLE_ROWS), _keeper(seen, {probe.node_id for probe in probes}))
        for probe in probes:
            ports = seen.get(probe.node_id)
            if ports:
                counts, facts = reduce.histogram([next(iter(ports.values()))])
                self._put(run, probe, counts, facts)

    # -- weights and gradients

    def _take_weights(self, run: Run, probes: frozenset[Probe]) -> None:
        for probe in probes:
            weights = list(Look.of(run, self.pinned).weights(probe.node_id).values())
            if not weights:
                continue
            if probe.what == "filters":
                self._put(run, probe, *reduce.kernels(weights[0]))
            else:
                self._put(run, probe, *reduce.histogram(weights))

    def take_gradients(self, run: Run) -> None:
        """Histograms of the gradients as backward left them, and the norms of all layers."""
        for probe in self._groups.get("backward", frozenset()):
            if probe.what == "gradients":
                weights = Look.of(run, self.pinned).weights(probe.node_id).values()
                gradients = [weight.grad for weight in weights if weight.grad is not None]
                if gradients:
                    self._put(run, probe, *reduce.histogram(gradients))

    @property
    def wants_norms(self) -> bool:
        return any(probe.what == "norms" for probe in self._groups.get("backward", ()))

    def _put(self, run: Run, probe: Probe, array: reduce.Array, facts: Mapping[str, Any]) -> None:
        self._feed.put(probe, Snapshot(run.revision, run.step, array, facts))


class _Peek:
    """Looks at gradients between backward and update, and at how far the update moved the weights."""

    def __init__(self, probes: Probes, run: Run) -> None:
        self._probes = probes
        self._run = run
        self._cost = 0.0
        self._before: dict[str, list[Tensor]] = {}
        self._gradients: list[float] = []

    def __call__(self) -> Callable[[], None] | None:
        began = perf_counter()
        after = None
        try:
            self._probes.take_gradients(self._run)
            if self._probes.wants_norms:
                look = Look.of(self._run, 0)
                weights = {node: list(look.weights(node).values()) for node in self._run.program.modules}
                kept = {node: group for node, group in weights.items() if group}
                self._gradients = reduce.norms(
                    {node: [w.grad for w in group if w.grad is not None] for node, group in kept.items()}
                )
                self._before = {node: [w.detach().clone() for w in group] for node, group in kept.items()}
                after = self._measure
        except Exception as error:  # see Probes._take
            log.debug("gradients could not be taken", exc_info=error)
        self._cost = perf_counter() - began
        if after is None:
            self._probes.charge("backward", self._cost)
        return after

    def _measure(self) -> None:
        began = perf_counter()
        look = Look.of(self._run, 0)
        now = {node: list(look.weights(node).values()) for node in self._before}
        with torch.no_grad():
            moved = {
                node: [w - old for w, old in zip(now[node], group, strict=True)]
                for node, group in self._before.items()
            }
            sizes, steps = reduce.norms(now), reduce.norms(moved)
        array = np.array([self._gradients, sizes, steps], np.float64).T.reshape(-1, 3)
        facts = {"nodes": tuple(self._before), "columns": ("gradient", "weight", "update")}
        self._probes._put(self._run, Probe("", "norms"), array, facts)
        self._probes.charge("backward", self._cost + perf_counter() - began)


def _rows(run: Run, start: int, count: int) -> Batch:
    return {name: column[start : start + count] for name, column in run.data["validation"].items()}


def _keeper(seen: dict[str, dict[str, Tensor]], wanted: set[str]) -> Callable[[str, str, Tensor], None]:
    def keep(node_id: str, port: str, value: Tensor) -> None:
        if node_id in wanted:
            seen.setdefault(node_id, {})[port] = value

    return keep


def _forward(run: Run, batch: Batch, look: Callable[[str, str, Tensor], None]) -> None:
    """Measure a batch as evaluation does, and show every value to `look`."""
    with (
        untouched_random(run.settings.device),
        torch.no_grad(),
        evaluating(run.model),
        run.program.tapping(look),
    ):
        run.program.measure(run.model, batch)


def _values_of(seen: Mapping[str, Mapping[str, Tensor]], wire: tuple[str, str]) -> Tensor:
    value = seen[wire[0]][wire[1]]
    return value[:, None] if value.dim() == 1 else value


def _probabilities(
    head: Head, seen: Mapping[str, Mapping[str, Tensor]], about: Mapping[str, Any]
) -> tuple[reduce.Array, dict[str, Any]]:
    """The probability of each class `(classes,)` for one example, the mean of its places; and its target."""
    scores = head.by_class(seen[head.prediction[0]][head.prediction[1]])[0].float()
    right = seen[head.target[0]][head.target[1]][0]
    if head.kind == YES_NO:
        found = scores.sigmoid().flatten()
    else:
        found = scores.softmax(0)
        found = found.flatten(1).mean(1) if found.dim() > 1 else found
    target = (
        int(right) if head.kind == CLASSES and right.dim() == 0 else right.flatten().float().cpu().numpy()
    )
    facts = {"kind": head.kind, "target": target, "classes": head.labels, **about}
    if head.kind == CLASSES and right.dim():  # a class for each place: means over them
        facts["places"] = right.numel()
    return found[: reduce.MOST_VALUES].cpu().numpy(), facts
