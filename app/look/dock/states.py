"""What a card says about its view: why there is none yet, or in what way it is not the newest."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from app.look.base import Probes, Subject
from app.workspace.open_document import TrainableDocument
from engine.feed.feed import Probe, Snapshot

GONE = "The node of this view was deleted."
NOTHING_TO_SHOW = "There is nothing to show here."
STALE = "before the last change"
_TRAINED = ("gradients", "norms")  # probes that need a step of training
_SLOW = 2.0  # times as long as a view waits at least, from which it is worth a word


@dataclass(frozen=True, slots=True)
class State:
    """`kind` is empty, waiting, failed, gone or drawn.

    `words` stand in place of the view; of a drawn one, `mark` is a short word about it, `why` the
    sentence behind that. A `dim` view shows something that no longer holds.
    """

    kind: str
    words: str = ""
    mark: str = ""
    why: str = ""
    dim: bool = False


def waiting_words(workspace: TrainableDocument, probes: Probes) -> str:
    """What a view waits for."""
    if workspace.trainer is None:
        return workspace.engine_error or "The engine is starting; the views appear in a moment."
    errors = workspace.errors()
    if errors:
        return f"The view appears when the network can be built. {errors[0].message}"
    if workspace.state in ("running", "loading"):
        return "It appears with the next steps."
    if probes and all(probe.what in _TRAINED for probe in probes):
        return "It appears with the first steps of training."
    return "It appears as soon as the network has been built."


def not_recorded(step: int, recorded: list[int]) -> str:
    """Why there is nothing to see at a step of the past."""
    if recorded:
        return f"Nothing of this was recorded before step {recorded[0]:,}."
    return f"Nothing of this was recorded until step {step:,}. Views in the dock are recorded."


def failed_words(snapshots: Mapping[Probe, Snapshot]) -> str:
    """The sentence of the first that could not be taken; empty where all could."""
    return next((str(one.extra["failed"]) for one in snapshots.values() if "failed" in one.extra), "")


def is_drawable(snapshot: Snapshot) -> bool:
    """Whether there is something to draw."""
    return bool(snapshot.array.size) and "failed" not in snapshot.extra


def slowed(snapshots: Mapping[Probe, Snapshot]) -> tuple[str, str]:
    """A short word and a sentence where the views come less often than they could; else two empty ones."""
    waits = [(probe, float(one.extra["wait"])) for probe, one in snapshots.items() if "wait" in one.extra]
    if not waits:
        return "", ""
    from engine.look.registry import probe_kinds  # needs torch, which is there once views come

    for probe, wait in waits:
        kind = probe_kinds().get(probe.what)
        if kind is not None and not kind.once and wait > max(_SLOW * kind.every, 1.0):
            every = f"every {_seconds(wait)}"
            return every, f"{every}, so that training keeps its pace"
    return "", ""


def _seconds(wait: float) -> str:
    if wait >= 120:
        return f"{wait / 60:.0f} min"
    return f"{wait:.0f} s" if wait >= 1.5 else f"{wait:.1f} s"


def step_words(snapshots: Mapping[Probe, Snapshot]) -> str:
    """`step 1,200`: of the newest of what is drawn."""
    return f"step {max((one.step for one in snapshots.values()), default=0):,}"


def name_of(subject: Subject) -> str:
    """What to call the subject: its node's name, its type where it has none, or the whole model."""
    if not subject.node_id:
        return "whole model"
    node = subject.node
    if node is None:
        return "deleted node"
    kind = subject.type
    return node.name or (kind.title if kind is not None else node.type)
