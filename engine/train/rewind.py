"""The way back: the states of the last steps, so that a run can return to one and go on from there.

A state is everything a step changes: weights and buffers, the optimiser's numbers, the schedule, random
numbers, the place in the data. A run that goes on from one gives the same numbers bit for bit. States are
kept within a budget of memory, the oldest give way first; what a step left alone is kept only once.
"""

from __future__ import annotations

import copy
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from engine.train import state

if TYPE_CHECKING:
    from engine.train.loop import Run

BUDGET = 200 * 2**20  # bytes, of all states together; one is kept even where it takes more


@dataclass(frozen=True, slots=True)
class Moment:
    """The state of a run between two steps; `bytes` is what it takes beyond the moment before."""

    step: int
    tensors: dict[str, Tensor]
    facts: dict[str, Any]
    history: int
    bytes: int = 0


def moment_of(run: Run, last: Moment | None = None) -> Moment:
    """A copy of the state of a run; tensors that are as they were at `last` are shared with it."""
    tensors, facts = state.capture(run)
    known = {} if last is None else last.tensors
    kept: dict[str, Tensor] = {}
    fresh = 0
    for name, value in tensors.items():
        value = value.detach().cpu()
        before = known.get(name)
        if before is not None and before.shape == value.shape and torch.equal(before, value):
            kept[name] = before
        else:
            kept[name] = value.clone()
            fresh += value.nbytes
    return Moment(run.step, kept, copy.deepcopy(facts), len(run.history), fresh)


def go_to(run: Run, moment: Moment) -> None:
    """Put a run back into a state of its own; the moment can be used again. Curves are left alone."""
    # An optimiser takes the tensors it is given for its own, and changes them with the next step.
    tensors = {name: value.clone() for name, value in moment.tensors.items()}
    state.restore(run, tensors, copy.deepcopy(moment.facts))
    run.history.cut(moment.history)


class Rewind:
    """Keeps the states of one run's last steps within `budget` bytes, the newest last."""

    def __init__(self, budget: int = BUDGET) -> None:
        self.budget = budget
        self.steps: tuple[int, ...] = ()  # that one can go back to; other threads may read it
        self.bytes = 0
        self._moments: deque[Moment] = deque()

    def __len__(self) -> int:
        return len(self.steps)

    def keep(self, run: Run) -> None:
        """Remember the state of a run that is between two steps."""
        self._drop_from(run.step)
        moment = moment_of(run, self._moments[-1] if self._moments else None)
        self._moments.append(moment)
        self.bytes += moment.bytes
        while len(self._moments) > 1 and self.bytes > self.budget:
            self._drop_oldest()
        self._show()

    def back(self, run: Run) -> bool:
        """Put the run into the newest state of an earlier step, its curves with it; False if none is kept."""
        self._drop_from(run.step)
        if not self._moments:
            self._show()
            return False
        moment = self._moments.pop()
        self.bytes -= moment.bytes
        self._show()
        go_to(run, moment)
        run.feed.cut(run.step)
        run.place()  # the curve it appends to may be another one now
        return True

    def forget(self) -> None:
        """Drop all states: the model is another one."""
        self._moments.clear()
        self.bytes = 0
        self._show()

    def _drop_from(self, step: int) -> None:
        while self._moments and self._moments[-1].step >= step:
            self.bytes -= self._moments.pop().bytes

    def _drop_oldest(self) -> None:
        gone, heir = self._moments[0], self._moments[1]
        shared = {id(value) for value in gone.tensors.values()}
        inherited = _bytes(value for value in heir.tensors.values() if id(value) in shared)
        self._moments.popleft()
        self._moments[0] = replace(heir, bytes=heir.bytes + inherited)
        self.bytes += inherited - gone.bytes

    def _show(self) -> None:
        self.steps = tuple(moment.step for moment in self._moments)


def _bytes(tensors: Iterable[Tensor]) -> int:
    return sum(value.nbytes for value in tensors)
