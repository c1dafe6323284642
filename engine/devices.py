"""Which device a run uses, and the state of its random numbers."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import torch
from torch import Tensor

_THREADS_AT_FIRST = torch.get_num_threads()


def choose_device(wanted: str | None = None) -> tuple[str, str | None]:
    """The device to use and, where it isn't the one asked for, a sentence that says so.

    `wanted` is "auto" or None for the best there is (cuda, mps, cpu), or a torch name such as "cuda:1".
    """
    best = best_device()
    if wanted is None or wanted == "auto":
        return best, None
    try:
        device = torch.device(wanted)
    except RuntimeError:
        return best, f"There is no device called {wanted!r}; training uses {device_name(best)} instead."
    if _exists(device):
        return wanted, None
    return (
        best,
        f"This computer has no {wanted} device that torch can use; training uses {device_name(best)}.",
    )


def best_device() -> str:
    if torch.cuda.is_available():
        return "cuda"
    if torch.backends.mps.is_available():
        return "mps"
    return "cpu"


def device_name(device: str) -> str:
    """What to call a device on screen: `CPU · 2 threads`, `NVIDIA H100`."""
    if device.startswith("cuda"):
        return torch.cuda.get_device_name(torch.device(device))
    if device == "cpu":
        threads = torch.get_num_threads()
        return f"CPU · {threads} thread{'s' if threads != 1 else ''}"
    return device.upper()


def largest_memory(wanted: int) -> int | None:
    """The bytes of this computer's memory, or of the accelerator that has more where `wanted` asks for more.

    None where the system does not tell.
    """
    own = _own_memory()
    if own is None or wanted <= own or not torch.cuda.is_available():
        return own
    cards = range(torch.cuda.device_count())
    return max(own, *(torch.cuda.get_device_properties(card).total_memory for card in cards))


def memory_of(device: str) -> int | None:
    """The bytes of memory that a device computes in; None where the system does not tell."""
    if device.startswith("cuda"):
        return int(torch.cuda.get_device_properties(torch.device(device)).total_memory)
    return _own_memory()


def _own_memory() -> int | None:
    """The bytes of this computer's memory, or what a container leaves of it."""
    try:
        whole = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return None
    try:
        limit = Path("/sys/fs/cgroup/memory.max").read_text().strip()
    except (OSError, ValueError):
        return whole
    return min(whole, int(limit)) if limit.isdigit() else whole


def use_threads(count: int | None) -> None:
    """Let torch compute on this many threads in the calling thread; None for as many as it had at first."""
    torch.set_num_threads(_THREADS_AT_FIRST if count is None else count)


def _exists(device: torch.device) -> bool:
    if device.type == "cpu":
        return True
    if device.type == "cuda":
        return torch.cuda.is_available() and (device.index or 0) < torch.cuda.device_count()
    if device.type == "mps":
        return torch.backends.mps.is_available()
    return False


def random_state(device: str) -> dict[str, Tensor]:
    """The state of torch's own generators that a run on `device` draws from, as uint8 tensors."""
    state = {"cpu": torch.get_rng_state()}
    if device.startswith("cuda"):
        state["cuda"] = torch.cuda.get_rng_state(torch.device(device))
    elif device == "mps":
        state["mps"] = torch.mps.get_rng_state()
    return state


def set_random_state(device: str, state: dict[str, Tensor]) -> None:
    torch.set_rng_state(state["cpu"])
    if device.startswith("cuda") and "cuda" in state:
        torch.cuda.set_rng_state(state["cuda"], torch.device(device))
    elif device == "mps" and "mps" in state:
        torch.mps.set_rng_state(state["mps"])


@contextmanager
def untouched_random(device: str) -> Iterator[None]:
    """Whatever is drawn inside leaves no trace in the random numbers of the run."""
    before = random_state(device)
    try:
        yield
    finally:
        set_random_state(device, before)


def release_memory(device: str) -> None:
    """Give memory that torch keeps in reserve back to the device."""
    if device.startswith("cuda"):
        torch.cuda.empty_cache()
    elif device == "mps":
        torch.mps.empty_cache()
