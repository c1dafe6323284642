"""A lock that lasts as long as the program that holds it: the system frees it however that program ends."""

from __future__ import annotations

import os
from pathlib import Path
from typing import IO


def hold(path: Path) -> IO[bytes] | None:
    """Return the opened and locked file, None if another program holds it; close it to let go."""
    lock = open(path, "ab", opener=at_once)  # noqa: SIM115 - the lock lasts as long as the file is open
    try:
        if os.name == "nt":
            import msvcrt

            msvcrt.locking(lock.fileno(), msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined,unused-ignore]
        else:
            import fcntl

            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        lock.close()
        return None
    return lock


def at_once(path: str, flags: int) -> int:
    """Open a file for `open`, where a pipe in its place would wait for somebody at its other end."""
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0), 0o666)


def held(path: Path) -> bool:
    """Whether a program holds the lock; False where there is no such file, or none that can be locked."""
    try:
        if not path.is_file():
            return False
        lock = hold(path)
    except OSError:
        return False
    if lock is None:
        return True
    lock.close()
    return False
