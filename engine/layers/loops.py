"""Running a layer more than once: the same weights again and again, or along a sequence."""

from __future__ import annotations

from collections.abc import Iterable

import torch
from torch import Tensor, nn


def repeat(layer: nn.Module, times: int, x: Tensor) -> Tensor:
    """The layer applied `times` times, always with the same weights; it keeps the shape (N, ...)."""
    for _ in range(times):
        x = layer(x)
    return x


def repeat_beside(layer: nn.Module, times: int, x: Tensor, *beside: Tensor) -> Tensor:
    """The layer applied `times` times; what is `beside` x comes in each time, as it is."""
    for _ in range(times):
        x = layer(x, *beside)
    return x


def in_turn(layers: Iterable[nn.Module], x: Tensor, *beside: Tensor) -> Tensor:
    """The layers applied one after the other, each also to what is `beside` x."""
    for layer in layers:
        x = layer(x, *beside)
    return x


def scan(
    cell: nn.Module, sequences: tuple[Tensor, ...], states: tuple[Tensor, ...], fed: tuple[int, ...]
) -> tuple[Tensor, ...]:
    """The cell run along sequences (N, T, ...): every step's results, each stacked to (N, T, ...).

    At each step the cell takes that step of every sequence, then the states (N, ...); result number `fed[i]`
    becomes state i of the next step.
    """
    found = []
    for step in zip(*(sequence.unbind(1) for sequence in sequences), strict=True):
        results = cell(*step, *states)
        results = results if isinstance(results, tuple) else (results,)
        states = tuple(results[index] for index in fed)
        found.append(results)
    return tuple(torch.stack(steps, 1) for steps in zip(*found, strict=True))
