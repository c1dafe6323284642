"""Answers what the user tries in a thread of its own: nobody who draws waits for the end of a batch.

The thread works on a model of its own, with the weights that it was shown last.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn

from engine.devices import untouched_random, use_threads
from engine.feed.feed import Probe, Tried
from engine.look.apart import tensors
from engine.look.own_random import OwnRandom
from engine.look.registry import ProbeKind
from engine.look.sight import Look, Watched

if TYPE_CHECKING:
    from engine.emit.program import Program

log = logging.getLogger(__name__)

Take = Callable[[ProbeKind, frozenset[Probe], Look, int], None]
_LONGEST_GOODBYE = 5.0  # seconds


@dataclass(frozen=True, slots=True)
class _Shown:
    kind: ProbeKind
    probes: frozenset[Probe]
    look: Look
    revision: int
    weights: list[Tensor]


class Tries:
    """One thread, begun when it is first needed. `take` takes the probes of a kind."""

    def __init__(self, take: Take) -> None:
        self._take = take
        self._shown: dict[str, _Shown] = {}
        self._tried: Tried | None = None
        self._news = threading.Event()
        self._closing = False
        self._thread: threading.Thread | None = None
        self._of: Program | None = None
        self._program: Program | None = None
        self._model: nn.Module | None = None

    def show(self, kind: ProbeKind, probes: frozenset[Probe], run: Watched, pinned: int) -> None:
        """Take a copy of the weights, and answer from it until the next one. For the training thread."""
        if self._of is not run.program or self._program is None or self._model is None:
            self._of, self._program = run.program, run.program.again()
            with untouched_random(run.settings.device):
                self._model = self._program.make_model(run.settings.device)
        look = replace(Look.of(run, pinned), program=self._program, model=self._model)
        weights = [weight.detach().clone() for weight in tensors(run.model)]
        self._shown[kind.name] = _Shown(kind, probes, look, run.revision, weights)
        if self._thread is None:
            self._closing = False
            self._thread = threading.Thread(target=self._work, name="tries", daemon=True)
            self._thread.start()
        self._news.set()

    def answer(self, tried: Tried | None) -> None:
        """Answer this from now on; from any thread. Where no model was shown yet, as soon as one is."""
        self._tried = tried
        self._news.set()

    def keep(self, kinds: frozenset[str]) -> None:
        """Let go of what is shown for other kinds."""
        self._shown = {name: shown for name, shown in self._shown.items() if name in kinds}
        if not self._shown:
            self._of = self._program = self._model = None

    def close(self) -> None:
        """End the thread, after what it is at."""
        thread, self._thread = self._thread, None
        if thread is not None:
            self._closing = True
            self._news.set()
            thread.join(_LONGEST_GOODBYE)

    def _work(self) -> None:
        use_threads(1)  # more would wait for each other longer than one example takes
        loaded: list[Tensor] | None = None
        while True:
            self._news.wait()
            self._news.clear()
            if self._closing:
                return
            for shown in list(self._shown.values()):
                try:
                    if shown.weights is not loaded:
                        with torch.no_grad():
                            for copy, weight in zip(tensors(shown.look.model), shown.weights, strict=True):
                                copy.copy_(weight)
                        loaded = shown.weights
                    look = replace(shown.look, tried=self._tried)
                    with OwnRandom(look.device):
                        self._take(shown.kind, shown.probes, look, shown.revision)
                except Exception:
                    log.exception("what was tried could not be answered")
