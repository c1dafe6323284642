"""Loads, ahead of need, what torch loads when the first optimiser is built."""

from __future__ import annotations


def warm_up() -> None:
    """Build and step a tiny Adam; meant for a background thread at start.

    The first optimiser of a process imports a second or two of torch, which would otherwise stall the
    window in the moment that training begins.
    """
    import torch

    weight = torch.nn.Parameter(torch.zeros(1))
    optimiser = torch.optim.Adam([weight])
    torch.optim.lr_scheduler.LambdaLR(optimiser, _constant)
    weight.grad = torch.zeros(1)
    optimiser.step()


def _constant(step: int) -> float:
    return 1.0
