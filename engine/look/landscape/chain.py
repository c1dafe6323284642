"""What a chain has drawn: single weights from sample to sample, and what the samples are worth."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray

from engine.feed.feed import Probe
from engine.look.registry import Taken, probe_kind
from engine.look.sight import Look

SHOWN = 4  # weights whose way is kept
MOST = 1000  # samples that are looked at


@probe_kind("chain", every=1.0)
def chain(look: Look, probe: Probe) -> Taken | None:
    """Single weights at each kept sample, (K, W); `names` are the weights', `effective` (W,) their sizes.

    The weights are spread evenly over all that the chain moves. None where nothing is drawn yet.
    """
    named = [(name, weight) for name, weight in look.model.named_parameters() if weight.requires_grad]
    whole = sum(weight.numel() for _, weight in named)
    picked = sorted({round(at) for at in np.linspace(0, max(0, whole - 1), min(whole, SHOWN))})
    kept = []
    for _ in look.drawn(MOST):
        look.check()
        flat = torch.cat([weight.detach().reshape(-1) for _, weight in named])
        kept.append(flat[picked].cpu().numpy())
    if not kept:
        return None
    ways = np.stack(kept)
    names = tuple(_named(named, at) for at in picked)
    return ways, {"names": names, "effective": tuple(effective_size(way) for way in ways.T)}


def _named(named: list[tuple[str, torch.nn.Parameter]], at: int) -> str:
    """What one of all weights is called: `hidden.weight[3, 0]`."""
    for name, weight in named:
        if at < weight.numel():
            place = ", ".join(str(int(index)) for index in np.unravel_index(at, tuple(weight.shape) or (1,)))
            return f"{name}[{place}]"
        at -= weight.numel()
    raise IndexError(at)


def effective_size(way: NDArray[np.floating]) -> float:
    """How many independent draws tell as much of the mean as these (K,): K / (1 + 2 Σ correlations).

    The sum ends where two correlations in a row add up to less than zero (Geyer 1992).
    """
    count = len(way)
    apart = np.asarray(way, np.float64) - np.mean(way)
    spread = float(apart @ apart)
    if count < 4 or spread <= 0:
        return float(count)
    size = 1 << (2 * count - 1).bit_length()
    seen = np.fft.rfft(apart, size)
    correlations = np.fft.irfft(seen * seen.conj(), size)[:count] / spread
    pairs = correlations[: count - count % 2].reshape(-1, 2).sum(1)
    ends = np.flatnonzero(pairs <= 0)
    total = 2 * float(pairs[: ends[0] if len(ends) else None].sum()) - 1
    return min(float(count), count / max(total, 1 / count))
