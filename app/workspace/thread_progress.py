"""How far a thread is with something long: written there, read by the window, and ended from it."""

from __future__ import annotations

from threading import Event

from engine.data.watch import Watch


class ThreadProgress:
    """A share in 0..1 (None: not known), what is done, and whether it shall stop."""

    def __init__(self, doing: str = "", name: str = "") -> None:
        self.share: float | None = None
        self.doing = doing
        self.name = name  # of the file that is being read
        self.stop = Event()

    def watch(self) -> Watch:
        """What the thread tells of itself, and asks."""
        return Watch(self._tell, self.stop.is_set)

    def _tell(self, share: float | None, doing: str) -> None:
        self.share, self.doing = share, doing
