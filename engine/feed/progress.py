"""How far a run is, for whoever shows it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Progress:
    """Where a run is. `epoch` and `step` count what is done; `seconds_left` is None before it can be told.

    `phase` is the phase under way, from 1, and `phases` how many the plan has.
    """

    epoch: int = 0
    epochs: int = 0
    step: int = 0
    steps_per_epoch: int = 0
    seconds: float = 0.0
    seconds_left: float | None = None
    loss: float | None = None
    device: str = ""
    phase: int = 1
    phases: int = 1
    reading: str = ""  # how far the reading of the data has come, as a sentence
