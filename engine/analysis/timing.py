"""How long each node of a network takes."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from statistics import median

import torch
from torch import Tensor

from engine.analysis.landscape import nothing

Watcher = Callable[[str, str, Tensor], None]


def thread_clock() -> Callable[[], float]:
    """Seconds that this thread has computed, so that other work does not count; or plain seconds."""
    fine = time.get_clock_info("thread_time").resolution < 1e-5
    return time.thread_time if fine else time.perf_counter


def times(
    forward: Callable[[], object],
    tapping: Callable[[Watcher], AbstractContextManager[None]],
    *,
    passes: int = 7,
    device: str = "cpu",
    around: Mapping[str, str] | None = None,
    check: Callable[[], None] = nothing,
) -> dict[str, float]:
    """Seconds of each node in a forward pass, the median of several after one that warms up.

    A node's time is what passes between the value before its own and its own. `around` has, for a node
    inside a block, the block's node: its time counts for both.
    """
    clock = thread_clock() if device == "cpu" else time.perf_counter
    passed: list[dict[str, float]] = []
    for _ in range(passes + 1):
        check()
        passed.append(_one_pass(forward, tapping, clock, device))
    kept = passed[1:]
    outer = dict(around or {})
    whole: list[dict[str, float]] = []
    for found in kept:
        summed = dict(found)
        for node_id, seconds in found.items():
            holder = outer.get(node_id)
            while holder is not None:
                summed[holder] = summed.get(holder, 0.0) + seconds
                holder = outer.get(holder)
        whole.append(summed)
    return {node_id: median(found.get(node_id, 0.0) for found in whole) for node_id in whole[0]}


def _one_pass(
    forward: Callable[[], object],
    tapping: Callable[[Watcher], AbstractContextManager[None]],
    clock: Callable[[], float],
    device: str,
) -> dict[str, float]:
    found: dict[str, float] = {}
    last = 0.0

    def look(node_id: str, port: str, value: Tensor) -> None:
        nonlocal last
        _wait_for(device)
        now = clock()
        found[node_id] = found.get(node_id, 0.0) + now - last
        last = clock()

    with torch.no_grad(), tapping(look):
        _wait_for(device)
        last = clock()
        forward()
    return found


def _wait_for(device: str) -> None:
    if device.startswith("cuda"):
        torch.cuda.synchronize(torch.device(device))
    elif device == "mps":
        torch.mps.synchronize()
