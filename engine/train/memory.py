"""How the C library hands out memory to threads, where it stands in the way of training.

glibc gives each thread a heap of its own and returns what is free at its end to the system at once. The
buffers of a layer come and go with every batch, so a training thread would have megabytes mapped and cleared
again at each step: up to a fifth of its time for a net of convolutions.
"""

from __future__ import annotations

import ctypes
import sys

_TRIM_THRESHOLD, _MMAP_THRESHOLD, _ARENA_MAX = -1, -3, -8  # of malloc.h
_KEPT = 512 * 2**20  # bytes that may lie free before the system gets them back
_LARGEST_ON_HEAP = 32 * 2**20  # the most that glibc allows


def share_one_heap() -> bool:
    """Let all threads allocate from the main thread's heap, which keeps what is freed for the next batch.

    It holds for heaps that are not made yet: call it before a thread is started. Returns whether the C
    library took the wish.
    """
    if not sys.platform.startswith("linux"):
        return False
    wishes = ((_ARENA_MAX, 1), (_MMAP_THRESHOLD, _LARGEST_ON_HEAP), (_TRIM_THRESHOLD, _KEPT))
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (OSError, AttributeError):  # a C library without it, such as musl, keeps one heap anyway
        return False
    return all([bool(mallopt(wish, value)) for wish, value in wishes])


def give_back() -> bool:
    """Let the system have the pages of the heap that hold nothing; returns whether there were any.

    What stays for long, such as recorded views, comes to lie between buffers that come and go: the heap grows
    by what is free in its middle, which it keeps otherwise.
    """
    if not sys.platform.startswith("linux"):
        return False
    try:
        return bool(ctypes.CDLL(None).malloc_trim(0))
    except (OSError, AttributeError):  # a C library without it
        return False
