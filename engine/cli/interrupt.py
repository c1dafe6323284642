"""What Ctrl+C does while libraries load: it ends the program at once, with one line.

Modules written in C lose a KeyboardInterrupt that comes while they are imported, or make another error of it.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

STOPPED, INTERRUPTED = "neuroloom: stopped", 130


@contextmanager
def ended_at_once() -> Iterator[None]:
    """Inside, nothing is begun that would have to be finished: Ctrl+C ends the program where it stands."""
    raises = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if not raises or threading.current_thread() is not threading.main_thread():
        yield  # who started the program wants it to be ignored, or listens
        return
    signal.signal(signal.SIGINT, _end)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def _end(*_: Any) -> None:
    os.write(2, f"{STOPPED}\n".encode())
    os._exit(INTERRUPTED)
