"""How far a thread is with something long: written there, read by the window, and ended from it."""

from __future__ import annotations

from threading import Event

from engine.data.watch import Watch


class ThreadProgress:
    """A fraction in 0..1 (None: not known), what is done, and whether it must stop."""

    def __init__(self, doing: str = "", name: str = "") -> None:
        self.fraction: float | None = None
        self.doing = doing
        self.name = name  # of the file that is being read
        self.stop = Event()

    def watch(self) -> Watch:
        """What the thread tells of itself, and asks."""
        return Watch(self._tell, self.stop.is_set)

    def _tell(self, fraction: float | None, doing: str) -> None:
        self.fraction, self.doing = fraction, doing
