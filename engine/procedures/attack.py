"""How well answers withstand an adversary who moves the input."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from engine.catalogue.params import Floats, Ints, param
from engine.optim.adversary import worst_near
from engine.procedures.attribution import widest_input
from engine.procedures.declare import Bound, Function, Net, Procedure, Value
from engine.shapes.heads import CLASSES


def attacked(
    scores: Callable[[Tensor], Tensor],
    inputs: Tensor,
    right: Tensor,
    *,
    draws: torch.Generator,
    reach: tuple[float, ...],
    steps: int,
    low: float | None,
    high: float | None,
) -> Iterator[dict[str, Any]]:
    """For each reach the fraction of rows that are still answered rightly, and the inputs that were found.

    The search is projected gradient ascent on the cross-entropy (Madry et al. 2018), in steps of 2.5 reach /
    `steps` so that it can come back from an edge. `draws` says where it begins. Inputs stay between `low` and
    `high`, where these are None between the smallest and the largest of the inputs themselves.
    """
    low = inputs.min().item() if low is None else low
    high = inputs.max().item() if high is None else high

    def objective(_: Any, rows: dict[str, Tensor]) -> dict[str, Tensor]:
        return {"loss": F.cross_entropy(scores(rows["x"]).float(), right)}

    for far in reach:
        start = (2 * torch.rand(inputs.shape, generator=draws) - 1).to(inputs)
        with torch.enable_grad():
            rate = 2.5 * far / steps
            rows = {"x": inputs}
            found = worst_near(None, rows, objective, "x", far, steps, rate, low, high, start)["x"]
        answers = scores(found).float()
        yield {
            "reach": far,
            "accuracy": (answers.argmax(1) == right).float().mean().item(),
            "loss": F.cross_entropy(answers, right).item(),
            "inputs": found,
        }


class Attack(Procedure):
    """Moves inputs by more and more to where the answer is wrong, and counts those that withstand."""

    title = "Attack"
    loop = staticmethod(attacked)
    shows = ("inputs",)
    main = False
    rows: Ints = param(tuple(range(64)), minimum=0, doc="numbers of the examples, from 0")
    reach: Floats = param(
        (0.0, 0.02, 0.05, 0.1, 0.2), minimum=0, label="ε", doc="how far each number of the input may move"
    )
    steps: int = param(20, minimum=1, maximum=10_000, doc="steps of the search")
    low: float | None = param(None, label="Lowest", doc="the least value of an input; none: that of the rows")
    high: float | None = param(
        None, label="Highest", doc="the largest value of an input; none: that of the rows"
    )

    @classmethod
    def bind(cls, net: Net) -> Iterator[Bound]:
        for head in net.distinct_heads:
            widest = widest_input(net, head.prediction)
            if head.kind != CLASSES or head.places or widest is None:
                continue
            scores = Function(head.prediction, widest[0])
            inputs, right = Value(widest[0]), Value(head.target)
            yield Bound(head.prediction[0], {"scores": scores, "inputs": inputs, "right": right})
