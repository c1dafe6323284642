"""Progress of whatever reads files: how far it has come, and whether the person still wants it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


class Stopped(Exception):
    """The person no longer wants what was under way."""


@dataclass
class Watch:
    """Tells how far a file is read, and asks whether to go on.

    `tell(share, doing)` gets a share in 0..1, or None where it isn't known, and a word on what is done.
    """

    tell: Callable[[float | None, str], None] = lambda share, doing: None
    stopped: Callable[[], bool] = lambda: False

    def look(self, share: float | None, doing: str) -> None:
        """Tell, and raise `Stopped` if the person cancelled."""
        if self.stopped():
            raise Stopped
        self.tell(share, doing)
