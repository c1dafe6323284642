"""Answers what the user tries in a thread of its own: nobody who draws waits for the end of a batch.

The thread works on a model of its own, with the weights that it was shown last.
"""

from __future__ import annotations

import logging
import threading
from dataclasses import replace

from torch import Tensor

from engine.devices import use_threads
from engine.feed.feed import Probe, Tried
from engine.look.apart import LONGEST_GOODBYE, Job, SecondModel, Take
from engine.look.own_random import OwnRandom
from engine.look.registry import ProbeKind
from engine.look.sight import Watched

log = logging.getLogger(__name__)


class Tries:
    """One thread, begun when it is first needed. `take` takes the probes of a kind."""

    def __init__(self, take: Take) -> None:
        self._take = take
        self._shown: dict[str, Job] = {}
        self._tried: Tried | None = None
        self._news = threading.Event()
        self._closing = False
        self._thread: threading.Thread | None = None
        self._second: SecondModel | None = None

    def show(self, kind: ProbeKind, probes: frozenset[Probe], run: Watched, pinned: int) -> None:
        """Take a copy of the weights, and answer from it until the next one. For the training thread."""
        self._second = self._second or SecondModel()
        self._shown[kind.name] = self._second.job(kind, probes, run, pinned)
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
            self._second = None

    def close(self) -> None:
        """End the thread, after what it is at."""
        thread, self._thread = self._thread, None
        if thread is not None:
            self._closing = True
            self._news.set()
            thread.join(LONGEST_GOODBYE)

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
                        shown.load()
                        loaded = shown.weights
                    look = replace(shown.look, tried=self._tried)
                    with OwnRandom(look.device):
                        self._take(shown.kind, shown.probes, look, shown.revision)
                except Exception:
                    log.exception("what was tried could not be answered")
