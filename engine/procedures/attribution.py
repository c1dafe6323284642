"""Which parts of an input an answer hangs on."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import prod
from typing import Any

import torch
from torch import Tensor

from engine.catalogue import Column
from engine.catalogue.params import param
from engine.procedures.declare import Bound, Function, Net, Procedure, Value
from engine.procedures.saliency import gradient_times_input, integrated_gradients, occlusion, saliency
from engine.shapes.heads import CLASSES, Wire

GRADIENT, TIMES_INPUT, INTEGRATED, OCCLUSION = (
    "gradient",
    "gradient x input",
    "integrated gradients",
    "occlusion",
)


def attributed(
    scores: Callable[[Tensor], Tensor],
    inputs: Tensor,
    classes: int,
    *,
    draws: torch.Generator,
    method: str,
    target: int | None,
    steps: int,
    patch: int,
    stride: int,
) -> Iterator[dict[str, Any]]:
    """What of each row of `inputs` (N, ...) one of its scores hangs on: "attribution", of an input's shape.

    Without a target it is the largest score of classes, else the first. Of integrated gradients "gap" is what
    they lack of the difference to the score of a blank input. Errors: `ValueError` for a target that is no
    score, or a patch on what is neither image nor sequence.
    """
    for row, x in enumerate(torch.split(inputs, 1)):
        found = scores(x).reshape(-1).float()
        index = target if target is not None else int(found.argmax()) if classes else 0
        if index >= len(found):
            raise ValueError(f"There are {len(found)} scores, from 0 to {len(found) - 1}.")

        def score(rows: Tensor, index: int = index) -> Tensor:
            return scores(rows).reshape(len(rows), -1)[:, index].float()

        state: dict[str, Any] = {"row": row, "target": index, "score": found[index].item()}
        if method == "occlusion":
            if x.dim() not in (3, 4):
                raise ValueError("A patch covers a part of an image or of a sequence; this input is neither.")
            state["attribution"] = occlusion(score, x, patch, stride)
        elif method == "integrated gradients":
            state["attribution"] = integrated_gradients(score, x, steps=steps)
            blank = score(torch.zeros_like(x))[0].item()
            state["gap"] = state["score"] - blank - state["attribution"].sum().item()
        elif method == "gradient x input":
            state["attribution"] = gradient_times_input(score, x)
        else:
            state["attribution"] = saliency(score, x)
        yield state


class Attribute(Procedure):
    """Says which parts of the input an answer hangs on, by its gradient or by covering a part."""

    title = "Attribution"
    loop = staticmethod(attributed)
    shows = ("attribution",)
    main = False
    method: str = param(
        INTEGRATED,
        choices=(GRADIENT, TIMES_INPUT, INTEGRATED, OCCLUSION),
        doc="the slope, the slope times the input, its mean on the way from blank, or covered patches",
    )
    target: int | None = param(None, minimum=0, doc="number of the score, from 0; none: the likeliest class")
    steps: int = param(
        64, minimum=1, maximum=100_000, when=("method", (INTEGRATED,)), doc="places on the way from blank"
    )
    patch: int = param(4, minimum=1, when=("method", (OCCLUSION,)), doc="side of what is covered, in pixels")
    stride: int = param(2, minimum=1, when=("method", (OCCLUSION,)), doc="pixels from one patch to the next")

    @classmethod
    def bind(cls, net: Net) -> Iterator[Bound]:
        for head in net.distinct_heads:
            widest = widest_input(net, head.prediction)
            if head.places or widest is None:
                continue
            wire, _ = widest
            scores, classes = Function(head.prediction, wire), int(head.kind == CLASSES)
            yield Bound(head.prediction[0], {"scores": scores, "inputs": Value(wire), "classes": classes})


def widest_input(net: Net, wire: Wire) -> tuple[Wire, Column] | None:
    """The column of measurements with the most numbers that a value is computed from."""
    fitting = [
        (place, column)
        for place, column in net.inputs_of(wire)
        if column.dtype == "float32" and column.shape and not column.rows
    ]
    return max(fitting, key=lambda one: prod(one[1].shape), default=None)
