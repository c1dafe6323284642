"""Chaotic series by their equations, as windows to forecast from. Portable: exports carry this source."""

from __future__ import annotations

from pathlib import Path

import torch
from torch import Tensor


def chaotic(form: str, steps: int, start: float) -> list[float]:
    """`steps` values of a chaotic system, after 500 to forget the start; `start` is a small shift of it.

    Mackey-Glass: dx/dt = 0.2 x(t-17) / (1 + x(t-17)^10) - 0.1 x, a value each unit of time.
    Lorenz: x of sigma 10, rho 28, beta 8/3, a value each 0.02. Henon: 1 - 1.4 x^2 + 0.3 times the x before.
    Logistic map: 3.9 x (1 - x).
    """
    return {"Lorenz": _lorenz, "Henon": _henon, "logistic map": _logistic}.get(form, _mackey_glass)(
        steps, start
    )[500:]


def _logistic(steps: int, start: float) -> list[float]:
    found = [0.5 + start]
    while len(found) < steps + 500:
        found.append(3.9 * found[-1] * (1 - found[-1]))
    return found


def _henon(steps: int, start: float) -> list[float]:
    found = [start, 0.0]
    while len(found) < steps + 500:
        found.append(1 - 1.4 * found[-1] ** 2 + 0.3 * found[-2])
    return found


def _mackey_glass(steps: int, start: float) -> list[float]:
    step, delay = 0.1, 170  # of a step each: a delay of 17
    path = [1.2 + start] * (delay + 1)
    for _ in range(10 * (steps + 500)):
        now, then = path[-1], path[-1 - delay]
        feed = 0.2 * then / (1 + then**10)
        k1 = feed - 0.1 * now
        k2 = feed - 0.1 * (now + step * k1 / 2)
        k3 = feed - 0.1 * (now + step * k2 / 2)
        k4 = feed - 0.1 * (now + step * k3)
        path.append(now + step * (k1 + 2 * k2 + 2 * k3 + k4) / 6)
    return path[delay + 1 :: 10][: steps + 500]


def _lorenz(steps: int, start: float) -> list[float]:
    def slope(x: float, y: float, z: float) -> tuple[float, float, float]:
        return 10 * (y - x), x * (28 - z) - y, x * y - 8 / 3 * z

    step, found = 0.01, []
    at = (1.0 + start, 1.0, 1.0)
    for number in range(2 * (steps + 500)):
        if number % 2 == 0:
            found.append(at[0])
        k1 = slope(*at)
        k2 = slope(*(one + step * by / 2 for one, by in zip(at, k1, strict=True)))
        k3 = slope(*(one + step * by / 2 for one, by in zip(at, k2, strict=True)))
        k4 = slope(*(one + step * by for one, by in zip(at, k3, strict=True)))
        sums = (a + 2 * b + 2 * c + d for a, b, c, d in zip(k1, k2, k3, k4, strict=True))
        x, y, z = (one + step * by / 6 for one, by in zip(at, sums, strict=True))
        at = (x, y, z)
    return found


def load_chaos(
    folder: Path,
    device: str,
    *,
    form: str = "Mackey-Glass",
    lag: int = 20,
    horizon: int = 1,
    noise: float = 0.0,
    standardise: bool = True,
    rows: int = 2000,
    validation: float = 0.15,
    test: float = 0.15,
    seed: int = 0,
) -> dict[str, dict[str, Tensor]]:
    """Windows of a chaotic series as {split: {"window": (N, lag, 1), "next": (N, 1)}}, in the order of time.

    "next" lies `horizon` steps behind the window. `noise` is added to what is read, in deviations of the
    series. Mean and deviation are of the readings before those of the validation targets.
    """
    draw = torch.Generator().manual_seed(seed)
    start = 0.01 * torch.rand(1, generator=draw).item()
    series = torch.tensor(chaotic(form, rows + lag + horizon - 1, start), dtype=torch.float64)
    moved = torch.randn(len(series), generator=draw, dtype=torch.float64)
    series = series + noise * series.std(correction=0) * moved
    held, tested = round(validation * rows), round(test * rows)
    trained = rows - held - tested
    if standardise:
        known = series[: trained + lag + horizon - 1]
        series = (series - known.mean()) / known.std(correction=0)
    windows = series.float().unfold(0, lag + horizon, 1)
    parts = torch.split(windows, [trained, held, tested])
    return {
        split: {"window": part[:, :lag, None].to(device).clone(), "next": part[:, -1:].to(device).clone()}
        for split, part in zip(("train", "validation", "test"), parts, strict=True)
    }
