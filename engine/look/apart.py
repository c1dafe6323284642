"""Views that take longer than a few steps, in a thread of their own, from a copy of the weights."""

from __future__ import annotations

import logging
import queue
import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from time import thread_time
from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn

from engine.devices import untouched_random, use_threads
from engine.feed.feed import Probe
from engine.look.own_random import OwnRandom
from engine.look.registry import ProbeKind
from engine.look.sight import Look, NotWanted, Watched

if TYPE_CHECKING:
    from engine.emit.program import Program

log = logging.getLogger(__name__)

Take = Callable[[ProbeKind, frozenset[Probe], Look, int], None]
LONGEST_GOODBYE = 5.0  # seconds


@dataclass(frozen=True, slots=True)
class Job:
    """Probes of a kind, to be taken of a second model once it has these weights."""

    kind: ProbeKind
    probes: frozenset[Probe]
    look: Look
    revision: int
    weights: list[Tensor]

    @torch.no_grad()
    def load(self) -> None:
        """Give the second model the weights."""
        for copy, weight in zip(_tensors(self.look.model), self.weights, strict=True):
            if copy.shape != weight.shape:  # what an estimator has learned is as long as its data
                copy.data = torch.empty_like(weight)
            copy.copy_(weight)


class SecondModel:
    """A model for another thread, of a program of its own: taps of the two would mix otherwise."""

    def __init__(self) -> None:
        self._made: tuple[Program, Program, nn.Module] | None = None

    def job(self, kind: ProbeKind, probes: frozenset[Probe], run: Watched, pinned: int) -> Job:
        """What to look at, with a copy of the run's weights. For the training thread."""
        if self._made is None or self._made[0] is not run.program:
            program = run.program.again()
            with untouched_random(run.settings.device):
                self._made = run.program, program, program.make_model(run.settings.device)
        _, program, model = self._made
        look = replace(Look.of(run, pinned), program=program, model=model)
        weights = [weight.detach().clone() for weight in _tensors(run.model)]
        return Job(kind, probes, look, run.revision, weights)


class Apart:
    """One thread, begun when it is first needed, that takes one kind at a time.

    `take` takes the probes of a kind, `charge` is told what that cost in seconds of this thread, and `wanted`
    says whether anybody still looks at the kind.
    """

    def __init__(
        self, take: Take, charge: Callable[[str, float], None], wanted: Callable[[str], bool]
    ) -> None:
        self._take = take
        self._charge = charge
        self._wanted = wanted
        self._jobs: queue.SimpleQueue[str | None] = queue.SimpleQueue()  # names of kinds
        self._next: dict[str, Job] = {}  # by kind: a later one replaces one that has not begun
        self._waiting: set[str] = set()
        self._closing = False
        self._thread: threading.Thread | None = None
        self._second = SecondModel()

    def offer(
        self, kind: ProbeKind, probes: frozenset[Probe], run: Watched, pinned: int, *, patient: bool
    ) -> bool:
        """Hand a copy of the weights over; False where the thread is busy, unless the job is `patient`.

        A patient job waits behind the one at hand, also of its own kind: that of a model which stands still
        is the last for a while, and must not be lost because an earlier one was not done.
        """
        if self._waiting and not patient:
            return False
        job = self._second.job(kind, probes, run, pinned)
        wanted = partial(self._is_wanted, kind.name)
        look = replace(job.look, wanted=wanted, standing=patient)
        self._waiting.add(kind.name)
        self._next[kind.name] = replace(job, look=look)
        if self._thread is None:
            self._closing = False
            self._thread = threading.Thread(target=self._work, name="views", daemon=True)
            self._thread.start()
        self._jobs.put(kind.name)
        return True

    def _is_wanted(self, kind_name: str) -> bool:
        return not self._closing and self._wanted(kind_name)

    def close(self) -> None:
        """End the thread, which leaves what it is at as soon as it asks whether that is wanted."""
        thread, self._thread = self._thread, None
        if thread is not None:
            self._closing = True
            self._jobs.put(None)
            thread.join(LONGEST_GOODBYE)

    def _work(self) -> None:
        use_threads(1)
        while (name := self._jobs.get()) is not None:
            job = self._next.pop(name, None)
            if job is None:
                continue  # one that was asked for later has taken its place
            began = thread_time()
            try:
                job.load()
                with OwnRandom(job.look.device):
                    self._take(job.kind, job.probes, job.look, job.revision)
            except NotWanted:
                log.debug("view %s is no longer wanted", job.kind.name)
            except Exception:
                log.exception("view %s failed", job.kind.name)
            finally:
                self._charge(job.kind.name, thread_time() - began)
                if name not in self._next:
                    self._waiting.discard(name)


def _tensors(model: nn.Module) -> list[Tensor]:
    """Everything that makes a model what it is, in a fixed order."""
    return [*model.parameters(), *model.buffers()]
