"""A schedule's curve is known before training, and is that of torch's own schedule where it has one."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import torch
from torch.optim import lr_scheduler

from engine.catalogue.training.schedules import SCHEDULES, factor_curve
from engine.document.plan import Choice, Minimise
from engine.emit.optimise import schedule_lines
from engine.emit.statements import printed
from engine.errors import ParamError

STEPS, EPOCHS = 4, 10
TOTAL = STEPS * EPOCHS
BY_BATCH = [name for name, found in SCHEDULES.items() if not found.per_epoch]


def exported(name: str, optimiser: torch.optim.Optimizer, steps: int, epochs: int, **values: Any) -> Any:
    """The schedule that a script would make; None for a constant rate."""
    lines = schedule_lines(Minimise(schedule=Choice(name, values)))
    if not lines:
        return None
    names: dict[str, Any] = {"torch": torch, "math": math}
    exec("\n".join(["from __future__ import annotations", *(line.plain for line in printed(lines))]), names)
    return names["schedule_for"](optimiser, steps, epochs)


def followed(make: Any, steps: int = TOTAL) -> list[float]:
    """The learning rate of each step, the first group's being 1 at the full rate."""
    weight = torch.nn.Parameter(torch.zeros(1))
    optimiser = torch.optim.SGD([weight], lr=1.0)
    schedule, found = make(optimiser), []
    for _ in range(steps):
        found.append(optimiser.param_groups[0]["lr"])
        optimiser.step()
        if schedule is not None:
            schedule.step()
    return found


@pytest.mark.parametrize(("steps", "epochs"), [(4, 10), (1, 30), (7, 1), (1, 1)])
@pytest.mark.parametrize("name", BY_BATCH)
def test_the_curve_drawn_is_the_one_that_training_follows(name: str, steps: int, epochs: int) -> None:
    curve = factor_curve(Choice(name), steps, epochs)
    assert curve.shape == (steps * epochs,) and curve.dtype == np.float64
    found = followed(lambda optimiser: exported(name, optimiser, steps, epochs), steps * epochs)
    assert found == pytest.approx(curve.tolist(), rel=1e-12)
    assert curve.min() >= 0 and curve.max() <= 1


@pytest.mark.parametrize(
    ("choice", "torchs"),
    [
        (Choice("Step", {"every": 3, "factor": 0.5}), lambda o: lr_scheduler.StepLR(o, 3 * STEPS, 0.5)),
        (Choice("Cosine", {"final": 0.25}), lambda o: lr_scheduler.CosineAnnealingLR(o, TOTAL, 0.25)),
        (
            Choice("Linear", {"final": 0.2, "until": 0.5}),
            lambda o: lr_scheduler.LinearLR(o, start_factor=1.0, end_factor=0.2, total_iters=TOTAL // 2),
        ),
        (
            Choice("Exponential", {"factor": 0.8}),
            lambda o: lr_scheduler.ExponentialLR(o, 0.8 ** (1 / STEPS)),
        ),
        (Choice("Polynomial", {"power": 3.0}), lambda o: lr_scheduler.PolynomialLR(o, TOTAL, 3.0)),
        (
            Choice("OneCycle"),
            lambda o: lr_scheduler.OneCycleLR(o, 1.0, TOTAL, cycle_momentum=False, final_div_factor=1e4),
        ),
        (
            Choice("Restarts", {"period": 2.0, "growth": 2.0, "final": 0.1}),
            lambda o: lr_scheduler.CosineAnnealingWarmRestarts(o, 2 * STEPS, 2, 0.1),
        ),
        (
            Choice("CyclicTriangle", {"period": 2.0, "lowest": 0.1}),
            lambda o: lr_scheduler.CyclicLR(o, 0.1, 1.0, STEPS, cycle_momentum=False),
        ),
        (
            Choice("CyclicTriangle", {"period": 2.0, "lowest": 0.1, "shrink": 0.5}),
            lambda o: lr_scheduler.CyclicLR(o, 0.1, 1.0, STEPS, mode="triangular2", cycle_momentum=False),
        ),
    ],
    ids=lambda value: value.name if isinstance(value, Choice) else "",
)
def test_the_curve_is_that_of_torchs_schedule(choice: Choice, torchs: Any) -> None:
    assert factor_curve(choice, STEPS, EPOCHS).tolist() == pytest.approx(
        followed(torchs), rel=1e-9, abs=1e-12
    )


def test_the_inverse_root_rises_to_the_full_rate_and_falls_by_half_in_four_times_the_steps() -> None:
    """Vaswani et al. 2017: min(t/W, √(W/t))."""
    curve = factor_curve(Choice("InverseSqrt", {"epochs": 2.0}), STEPS, EPOCHS)
    assert curve[:8].tolist() == pytest.approx([(step + 1) / 8 for step in range(8)])
    assert curve[31] == pytest.approx(0.5) and curve.argmax() == 7


def test_a_plateau_lowers_the_rate_when_a_value_no_longer_gets_better() -> None:
    assert SCHEDULES["Plateau"].per_epoch
    assert factor_curve(Choice("Plateau"), STEPS, EPOCHS).tolist() == [1.0] * TOTAL
    for better, sign in (("lower", 1), ("higher", -1)):
        optimiser = torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], lr=1.0)
        values = {"factor": 0.5, "patience": 2, "better": better}
        schedule = exported("Plateau", optimiser, STEPS, EPOCHS, **values)
        found = []
        for value in (1.0, 0.5, 0.5, 0.6, 0.5, 0.4, 0.4, 0.4, 0.4):
            schedule.step(sign * value)
            found.append(optimiser.param_groups[0]["lr"])
        assert found == [1, 1, 1, 1, 0.5, 0.5, 0.5, 0.5, 0.25]


def test_layers_keep_the_ratio_of_their_rates() -> None:
    weights = [torch.nn.Parameter(torch.zeros(1)) for _ in range(2)]
    optimiser = torch.optim.SGD([{"params": weights[:1], "lr": 0.1}, {"params": weights[1:]}], lr=1.0)
    schedule = exported("Cosine", optimiser, STEPS, EPOCHS)
    for factor in factor_curve(Choice("Cosine"), STEPS, EPOCHS):
        assert [group["lr"] for group in optimiser.param_groups] == pytest.approx([0.1 * factor, factor])
        optimiser.step()
        schedule.step()


def test_a_wrong_value_is_an_error() -> None:
    with pytest.raises(ParamError):
        factor_curve(Choice("Polynomial", {"power": 0}), STEPS, EPOCHS)
    with pytest.raises(ParamError):
        factor_curve(Choice("Magic"), STEPS, EPOCHS)
