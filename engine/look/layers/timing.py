"""How long each node of a network takes."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from statistics import median

import torch
from torch import Tensor

from engine.look.landscape.loss_slices import nothing

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
    depth: Mapping[str, int] | None = None,
    check: Callable[[], None] = nothing,
) -> dict[str, float]:
    """Seconds of each node in a forward pass, the median of several after one that warms up.

    A node's time is what passes between the value before its own and its own. `depth` has, for nodes inside
    blocks, how many blocks are around them: the time of a block is that of everything in it.
    """
    clock = thread_clock() if device == "cpu" else time.perf_counter
    passed: list[dict[str, float]] = []
    for _ in range(passes + 1):
        check()
        passed.append(_one_pass(forward, tapping, clock, device, depth or {}))
    return {node_id: median(found.get(node_id, 0.0) for found in passed[1:]) for node_id in passed[-1]}


def _one_pass(
    forward: Callable[[], object],
    tapping: Callable[[Watcher], AbstractContextManager[None]],
    clock: Callable[[], float],
    device: str,
    depth: Mapping[str, int],
) -> dict[str, float]:
    found: dict[str, float] = {}
    last = [0.0] * (max(depth.values(), default=0) + 1)  # the latest value, at each depth

    def look(node_id: str, port: str, value: Tensor) -> None:
        _wait_for(device)
        now, level = clock(), depth.get(node_id, 0)
        found[node_id] = found.get(node_id, 0.0) + now - last[level]
        last[level:] = [clock()] * (len(last) - level)

    with torch.no_grad(), tapping(look):
        _wait_for(device)
        last[:] = [clock()] * len(last)
        forward()
    return found


def _wait_for(device: str) -> None:
    if device.startswith("cuda"):
        torch.cuda.synchronize(torch.device(device))
    elif device == "mps":
        torch.mps.synchronize()
