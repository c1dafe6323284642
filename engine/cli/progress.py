"""Progress on the command line, for whatever takes longer than a moment."""

from __future__ import annotations

import json
import shutil
import sys
from time import monotonic

from engine.cli.words import warn
from engine.errors import in_one_line

EVERY = 0.1  # seconds from one line of progress to the next on a terminal
SELDOM = 5.0  # and elsewhere


class ProgressLine:
    """Progress on stderr: one line that changes on a terminal, else a line now and then; JSON where asked."""

    def __init__(self, id: str, as_json: bool) -> None:
        self._id = id
        self._json = as_json
        self._live = sys.stderr.isatty() and not as_json
        self._next = 0.0 if self._live else monotonic() + 1.0  # what is done by then needs no word
        self._shown = False

    def show(self, fraction: float | None, doing: str) -> None:
        """`fraction` lies in 0..1, or is None where it isn't known."""
        now = monotonic()
        if now < self._next:
            return
        self._next = now + (EVERY if self._live else SELDOM)
        if self._json:
            warn(json.dumps({"id": self._id, "share": fraction, "doing": doing}))
            return
        text = in_one_line(doing) if fraction is None else f"{100 * fraction:3.0f} %  {in_one_line(doing)}"
        if not self._live:
            warn(text)
            return
        wide = shutil.get_terminal_size().columns - 1
        sys.stderr.write(f"\r{text[:wide]}\x1b[K")
        sys.stderr.flush()
        self._shown = True

    def end(self) -> None:
        """Take the line off the terminal."""
        if self._shown:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
            self._shown = False
