"""Windows of series and of long texts. Portable: exports carry this source.

A reading is a row of numbers at one time; a window is some readings in a row, and the next are predicted.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor

from engine.data.lazy import Lazy


class Windows(Lazy):
    """Windows (N, length, *size) of readings (n, *size), cut when they are asked for.

    With `length` 0 a window is one reading, without an axis of time.
    """

    def __init__(self, readings: Tensor, starts: Tensor, length: int, device: str) -> None:
        size = (length, *readings.shape[1:]) if length else tuple(readings.shape[1:])
        dtype = readings.dtype if readings.is_floating_point() else torch.int64
        super().__init__(len(starts), size, dtype, device)
        self.readings, self.starts, self.length = readings, starts, length

    def read(self, rows: Tensor) -> Tensor:
        first = self.starts[rows]
        at = first[:, None] + torch.arange(self.length) if self.length else first
        return self.readings[at].to(self.dtype)


def cut_windows(readings: Tensor, starts: Tensor, length: int, device: str) -> Any:
    """The windows of readings (n, *size) as one tensor (N, length, *size) if small, else as `Windows`.

    With `length` 0 a window is one reading: (N, *size).
    """
    found = Windows(readings, starts, length, device)
    return found[:] if found.numel() <= 20_000_000 else found


def filled_gaps(values: np.ndarray[Any, Any], way: str, ends: list[int]) -> np.ndarray[Any, Any]:
    """Readings (n, F) without missing ones: "interpolate" on a line, or "carry forward" the last there is.

    Parts end before the rows `ends`; none sees a value of a later part. Where nothing is before, the first
    reading that is there stands in; where nothing follows, the last.
    """
    found, lost = values.copy(), np.isnan(values)
    at = np.arange(len(values))
    for column, blank in zip(found.T, lost.T, strict=True):
        begin = 0
        for end in ends:
            there = at[:end][~blank[:end]]
            gaps = at[begin:end][blank[begin:end]]
            if len(gaps) and len(there):
                if way == "interpolate":
                    column[gaps] = np.interp(gaps, there, column[there])
                else:
                    column[gaps] = column[there[np.maximum(np.searchsorted(there, gaps) - 1, 0)]]
            begin = end
    return found


def series_parts(n: int, splitter: Any, gap: int, splitting: dict[str, Any]) -> dict[str, tuple[int, int]]:
    """{split: (first reading, reading after the last)} of `n` in time; `gap` before a border stay out.

    A split whose fraction is 0 is not among them.
    """
    parts: dict[str, tuple[int, int]] = {}
    for split, rows in splitter(n, None, **splitting).items():
        parts[split] = (int(rows[0]), int(rows[-1]) + 1) if len(rows) else (n, n)
    firsts = {first for first, end in parts.values() if end > first}
    return {
        split: (first, max(first, end - gap) if end in firsts else end)
        for split, (first, end) in parts.items()
        if splitting.get(split) != 0  # nobody asked for it
    }


def window_starts(
    part: tuple[int, int], first: int, lag: int, horizon: int, stride: int, reach_back: bool
) -> Tensor:
    """Where the windows of a part (a, b) start: every `stride` readings, not before `first`.

    What a window is to predict lies in the part. With `reach_back` its past may lie in the part before.
    """
    begin = max(first, part[0] - lag if reach_back else part[0])
    return torch.arange(begin, max(begin, part[1] - lag - horizon + 1), stride)


def prepared_series(
    values: np.ndarray[Any, Any],
    series: list[np.ndarray[Any, Any]],
    *,
    splitter: Any,
    gap: int,
    missing: str,
    difference: int,
    standardise: bool,
    splitting: dict[str, Any],
) -> tuple[Tensor, list[dict[str, tuple[int, int]]], Tensor, Tensor]:
    """Readings (n, F) as float64, one series after the other in time, and how they were split and scaled.

    `series` are the rows of each series in the order of time. Parts are counted from the first reading of
    all. Gaps are filled, then readings become differences, then mean and deviation (F,) of those for training
    are taken out; where they are not, the mean is 0 and the deviation 1.
    """
    ready: list[Tensor] = []
    parts: list[dict[str, tuple[int, int]]] = []
    train: list[Tensor] = []
    begin = 0
    for rows in series:
        here = series_parts(len(rows), splitter, gap, splitting)
        ends = sorted({end for pair in here.values() for end in pair if end} | {len(rows)})
        readings = filled_gaps(values[rows], missing, ends) if missing != "stop" else values[rows]
        for _ in range(difference):
            readings = np.diff(readings, axis=0, prepend=np.nan)
        made = torch.from_numpy(readings)
        first, end = here["train"]
        train.append(made[max(first, difference) : end])
        ready.append(made)
        parts.append({split: (begin + a, begin + b) for split, (a, b) in here.items()})
        begin += len(rows)
    found, known = torch.cat(ready), torch.cat(train)
    mean, deviation = torch.zeros(found.shape[1]).double(), torch.ones(found.shape[1]).double()
    if standardise and len(known):
        deviation, mean = torch.std_mean(known, 0, correction=0)
        deviation = torch.where(deviation > 0, deviation, torch.ones_like(deviation))
    return (found - mean) / deviation, parts, mean, deviation


def windows_of_series(
    readings: Tensor,
    parts: list[dict[str, tuple[int, int]]],
    device: str,
    *,
    lag: int,
    horizon: int,
    stride: int,
    difference: int,
    reach_back: bool,
    inputs: list[int],
    targets: list[int],
    clock: Tensor | None = None,
) -> dict[str, dict[str, Any]]:
    """{split: {"window" (N, lag, F), "next" (N, D) or (N, horizon) or (N, horizon, D)}}; "clock" where asked.

    Errors: `ValueError` where a split is too short for a single window.
    """
    seen, wanted = readings[:, inputs].float(), readings[:, targets].float()
    ahead = 0 if horizon == 1 else horizon
    if ahead and len(targets) == 1:
        wanted = wanted[:, 0]
    found: dict[str, dict[str, Any]] = {}
    for split in parts[0]:
        first = [min(part[0] for part in here.values()) + difference for here in parts]
        starts = torch.cat(
            [
                window_starts(here[split], begin, lag, horizon, stride, reach_back)
                for here, begin in zip(parts, first, strict=True)
            ]
        )
        if not len(starts):
            longest = max(here[split][1] - here[split][0] for here in parts)
            raise ValueError(
                f"The part for {split} has {longest:,} readings in a row, but a window of {lag:,} and "
                f"{horizon:,} to predict need {lag + horizon:,}: a larger split or a shorter window helps."
            )
        found[split] = {
            "window": cut_windows(seen, starts, lag, device),
            "next": cut_windows(wanted, starts + lag, ahead, device),
        }
        if clock is not None:
            found[split]["clock"] = cut_windows(clock, starts, lag, device)
    return found


def clock_of(times: np.ndarray[Any, Any]) -> Tensor:
    """Sine and cosine of the time of day, the day of the week and the day of the year: (n, 6).

    `times` are seconds since the beginning of 1970, a Thursday.
    """
    days = times / 86_400.0
    turns = np.stack([days, (days + 3) / 7, days / 365.2425], 1) * 2 * np.pi
    return torch.from_numpy(np.stack([np.sin(turns), np.cos(turns)], 2).reshape(len(times), 6)).float()
