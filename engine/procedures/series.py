"""Forecasts of a series by a model that maps a window to the next value."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import prod
from typing import Any

import torch
from torch import Tensor

from engine.catalogue.params import param
from engine.procedures.declare import Bound, Function, Net, Procedure, Value
from engine.shapes.heads import VALUES


def running_free(
    ahead: Callable[[Tensor], Tensor], window: Tensor, *, draws: torch.Generator | None, steps: int
) -> Iterator[dict[str, Any]]:
    """The values (D,) that follow a window (1, lag, D), the model being fed its own predictions."""
    window = window[:1]
    for step in range(1, steps + 1):
        value = ahead(window).reshape(1, -1)
        window = torch.cat([window[:, 1:], value[:, None]], 1)
        yield {"step": step, "value": value[0]}


class Forecast(Procedure):
    """Runs free behind a window of a series: each forecast becomes part of the next window."""

    title = "Free-run forecast"
    loop = staticmethod(running_free)
    shows = ("value",)
    steps: int = param(100, minimum=1, maximum=1_000_000, doc="how many values ahead")

    @classmethod
    def bind(cls, net: Net) -> Iterator[Bound]:
        for head in net.distinct_heads:
            inputs = net.inputs_of(head.prediction)
            answer = net.signature(head.prediction)
            if (
                head.kind != VALUES
                or len(inputs) != 1
                or answer is None
                or head.column in ("", inputs[0][0][1])
            ):
                continue
            wire, column = inputs[0]
            if len(column.shape) == 2 and prod(answer.shape) == column.shape[1]:
                yield Bound(
                    head.prediction[0], {"ahead": Function(head.prediction, wire), "window": Value(wire)}
                )
