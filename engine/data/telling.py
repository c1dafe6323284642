"""How far the reading of data has come, for whoever listens; `tell` is portable: exports carry its source.

A loader tells every few files or rows. In the application somebody listens, shows it and may end the reading
by raising; a script of its own goes on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import wraps
from typing import Any

Listener = Callable[[int, int, str], None]

_listener: ContextVar[Listener | None] = ContextVar("listener", default=None)


def tell(done: int, count: int, what: str) -> None:
    """Called as reading goes on: so many of `count` images, or what else, are read. Print it if you like."""


def _heard(function: Listener) -> Listener:
    """The same for the application, where who listens in this thread hears of it."""

    @wraps(function)  # an export carries what is wrapped
    def told(done: int, count: int, what: str) -> None:
        listener = _listener.get()
        if listener is not None:
            listener(done, count, what)

    return told


globals()["tell"] = _heard(tell)  # under the same name, which a script has for the one that is wrapped


@contextmanager
def listening(listener: Listener) -> Iterator[None]:
    """Inside, what loaders tell in this thread goes to `listener`, which may raise to end them."""
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)


def connect(names: dict[str, Any]) -> None:
    """Let the names of a compiled script tell the application."""
    if "tell" in names:
        names["tell"] = tell


def sentence(done: int, count: int, what: str) -> str:
    """What the user reads: "Reading 12,000 of 100,000 images …"."""
    return f"Reading {done:,} of {count:,} {what} …"
