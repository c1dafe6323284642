"""Progress of whatever reads files: how far it has come, and whether the user still wants it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


class Stopped(Exception):
    """The user no longer wants what was under way."""


@dataclass
class Watch:
    """Tells how far a file is read, and asks whether to go on.

    `tell(fraction, doing)` gets a fraction in 0..1, or None where it isn't known, and a word on what is done.
    """

    tell: Callable[[float | None, str], None] = lambda fraction, doing: None
    stopped: Callable[[], bool] = lambda: False

    def look(self, fraction: float | None, doing: str) -> None:
        """Tell, and raise `Stopped` if the user cancelled."""
        if self.stopped():
            raise Stopped
        self.tell(fraction, doing)
