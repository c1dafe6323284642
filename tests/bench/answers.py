"""Numbers that must come out exactly."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from engine.catalogue import load_catalogue
from tests.bench.rows import row
from tests.bench.setting import gallery_project

if TYPE_CHECKING:
    from torch import Tensor


@row("cnn-parameters", "weights of the example mnist-cnn (seed 000 §1.3.5)", "parameters", "== 34826")
def parameters() -> tuple[float, str]:
    from engine.shapes.shapes import check

    return check(gallery_project("mnist-cnn"), load_catalogue()).total_parameters, "320 + 18,496 + 16,010"


@row(
    "vanishing-tanh",
    "σ₁ of a tanh recurrence above which gradients grow (Pascanu and others, 2013)",
    "σ₁",
    "== 1",
)
def vanishing_tanh() -> tuple[float, str]:
    from torch import tanh

    return threshold(tanh, 0.0), "orthogonal weights times σ₁, 60 steps, found by bisection to six digits"


@row("vanishing-logistic", "where those of a logistic recurrence do", "σ₁", "== 4")
def vanishing_logistic() -> tuple[float, str]:
    from torch import sigmoid

    return threshold(sigmoid, 0.5), "as above; the state rests at 1/2, where the slope is 1/4"


def threshold(squash: Callable[[Tensor], Tensor], rest: float) -> float:
    """The largest singular value of recurrent weights at which gradients over 60 steps neither fade nor grow.

    The state rests at `rest`, where the slope of `squash` is largest.
    """
    low, high = 0.1, 10.0
    while high - low > 1e-7:
        middle = (low + high) / 2
        faded = gains_at_rest(squash, rest, middle)[-1] < 1
        low, high = (middle, high) if faded else (low, middle)
    return round(low, 6)


def gains_at_rest(squash: Callable[[Tensor], Tensor], rest: float, largest: float) -> list[float]:
    """How much a change of the state k steps earlier is stretched, k = 0 to 60, as the views compute it."""
    import torch

    from engine.look.sequences.cells import Cell, lag_gains, slopes

    draw = torch.Generator().manual_seed(0)
    turn, _ = torch.linalg.qr(torch.randn(6, 6, dtype=torch.float64, generator=draw))
    weights = largest * turn

    def step(x: Tensor, state: Tensor) -> tuple[dict[str, Tensor], Tensor]:
        new = squash((state - rest) @ weights.T + x)
        return {"hidden": new}, new

    states = torch.full((60, 6), rest, dtype=torch.float64)
    return [most for most, _ in lag_gains(slopes(Cell("", 6, step), torch.zeros_like(states), states))]
