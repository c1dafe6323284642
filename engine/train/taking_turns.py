"""Trainers of one process take turns, and each finds torch's random numbers where it left them.

Torch has one generator for the whole process. Two runs that drew from it in a jumble would depend on each
other: neither would start from the weights that its seed gives, nor drop the units its exported script drops.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event, Lock
from weakref import WeakKeyDictionary, ref

from torch import Tensor

from engine.devices import random_state, set_random_state


class Turns:
    """First come, first served: a lock alone would let the thread that gives it up take it again at once."""

    def __init__(self) -> None:
        self._guard = Lock()
        self._taken = False
        self._waiting: deque[Event] = deque()
        self._last: ref[object] | None = None
        self._devices: WeakKeyDictionary[object, str] = WeakKeyDictionary()
        self._kept: WeakKeyDictionary[object, dict[str, Tensor]] = WeakKeyDictionary()

    @contextmanager
    def of(self, owner: object, device: str = "cpu") -> Iterator[None]:
        """Whatever runs inside draws the numbers of `owner`, and no other owner's turn overlaps it."""
        self._take()
        try:
            self._bring_back(owner, device)
            yield
        finally:
            self._give()

    def _take(self) -> None:
        with self._guard:
            if not self._taken:
                self._taken = True
                return
            mine = Event()
            self._waiting.append(mine)
        mine.wait()

    def _give(self) -> None:
        with self._guard:
            if self._waiting:
                self._waiting.popleft().set()
            else:
                self._taken = False

    def _bring_back(self, owner: object, device: str) -> None:
        last = self._last() if self._last is not None else None
        if last is not owner:
            if last is not None:
                self._kept[last] = random_state(self._devices.get(last, "cpu"))
            if owner in self._kept:
                set_random_state(device, self._kept.pop(owner))
            self._last = ref(owner)
        self._devices[owner] = device


turns = Turns()
