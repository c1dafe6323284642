"""Forecasts by a model that maps a window to the next value. Portable: exports carry this source."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from engine.procedures.series import running_free


def forecast(model: nn.Module, window: Tensor, steps: int) -> Tensor:
    """The `steps` values after `window` (lag, D), the model being fed its own predictions: (steps, D)."""
    training = model.training
    model.eval()
    with torch.no_grad():
        states = running_free(model, window[None], draws=None, steps=steps)
        found = torch.stack([state["value"] for state in states])
    model.train(training)
    return found


def one_step(model: nn.Module, windows: Tensor) -> Tensor:
    """The value after each of `windows` (N, lag, D), every window being the true past: (N, D)."""
    training = model.training
    model.eval()
    with torch.no_grad():
        found: Tensor = model(windows).reshape(len(windows), -1)
    model.train(training)
    return found


def forecast_errors(model: nn.Module, split: dict[str, Tensor], deviation: float) -> dict[str, float]:
    """Mean squared errors on a split of "window" and "next", in raw units squared.

    `deviation` is the raw standard deviation that the data were divided by. "one_step_mse" sees the true
    past, "free_running_mse" starts from the first window and then sees only its own predictions.
    """
    target = split["next"]
    guesses = {
        "one_step_mse": one_step(model, split["window"]),
        "free_running_mse": forecast(model, split["window"][0], len(target)),
    }
    return {name: ((guess - target) * deviation).square().mean().item() for name, guess in guesses.items()}
