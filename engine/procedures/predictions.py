"""What a network answers to rows of the data."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor

from engine.procedures.declare import Bound, Net, Part, Procedure, Value
from engine.shapes.heads import CLASSES, VALUES, YES_NO, Head

MOST_NAMED = 50


def predicted(
    answers: Tensor, kind: str, axis: int, names: tuple[str, ...], *, draws: torch.Generator
) -> Iterator[dict[str, Any]]:
    """The answer to each row: the likeliest class along an axis with its probability, a yes, or values.

    `kind` is "classes", "logit" or "probability" for a yes, or "values".
    """
    for row, answer in enumerate(answers):
        if kind == "classes":
            probabilities = answer.float().softmax(axis)
            probability, best = probabilities.max(axis)
            found: dict[str, Any] = {"row": row, "class": best.tolist()}
            if best.dim() == 0 and names:
                found["name"] = names[int(best)]
            yield {**found, "probability": probability, "probabilities": probabilities}
        elif kind == "values":
            yield {"row": row, "value": answer}
        else:
            yes = answer.float().sigmoid() if kind == "logit" else answer.float().clamp(0, 1)
            yield {"row": row, "yes": (yes > 0.5).tolist(), "probability": yes}


class Predict(Procedure):
    """Answers for rows of the data: the likeliest class and its probability, or the values."""

    title = "Predict"
    loop = staticmethod(predicted)
    shows = ("probabilities", "probability", "value")
    main = False

    @classmethod
    def bind(cls, net: Net) -> Iterator[Bound]:
        for head in net.distinct_heads:
            axis = -1 if head.last or not head.places else 0
            names = head.labels if head.kind == CLASSES and _are_fixed(net, head) else ()
            parts: dict[str, Part] = {"answers": Value(head.prediction), "kind": _kind(head), "axis": axis}
            yield Bound(head.prediction[0], {**parts, "names": tuple(names)})


def _kind(head: Head) -> str:
    if head.kind == YES_NO:
        return "logit" if head.plain_scores else "probability"
    return "values" if head.kind == VALUES else "classes"


def _are_fixed(net: Net, head: Head) -> bool:
    """Whether the names of the classes are few, and known before the data are read."""
    learned = [name for made in net.book.types.values() for name in getattr(made, "token_columns", ())]
    return len(head.labels) <= MOST_NAMED and not learned
