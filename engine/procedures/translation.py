"""A second text from a first, token by token: greedy, or by beam search."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from engine.catalogue import Data
from engine.catalogue.params import param
from engine.procedures.declare import Bound, Function, Net, Part, Procedure, Tokens, Value
from engine.shapes.heads import CLASSES


def translated(
    scores: Callable[[Tensor], Tensor],
    window: Tensor,
    known: Any,
    *,
    draws: torch.Generator,
    method: str,
    width: int,
) -> Iterator[dict[str, Any]]:
    """The second text behind its begin token, token by token up to the end token (3) or the longest.

    `scores` gives (M, T, V) for second texts (M, T) as they are read; `window` (1, T) holds the begin token.
    A beam keeps the `width` likeliest texts, ended ones among them; of one text it is the greedy way. A
    state of it is a level of its tree, as in `continued`.
    Source: Sutskever, Vinyals and Le, 2014. `known` is the tokeniser.
    """
    name = known.text
    steps, kept = window.shape[1], width if method == "beam" else 1
    found = F.pad(window[:1, :1], (0, steps - 1))
    total = torch.zeros(1, dtype=torch.float64)
    ended = torch.zeros(1, dtype=torch.bool)
    for step in range(steps):
        every = torch.log_softmax(scores(found)[:, step].double().cpu(), 1)
        every[ended] = -torch.inf
        every[ended, 0] = 0.0  # a text that has ended stays as it is
        best = (total[:, None] + every).flatten().argsort(descending=True, stable=True)[:kept]
        total = (total[:, None] + every).flatten()[best]
        parents, tokens = best // every.shape[1], best % every.shape[1]
        found = found[parents.to(found.device)]
        if step + 1 < steps:
            found[:, step + 1] = tokens.to(found)
        ended = ended[parents] | (tokens == 3)
        told = [one for one in (*found[0, 1 : step + 1].tolist(), int(tokens[0])) if one > 4]
        state = {"step": step + 1, "text": name(told), "log_probability": total[0].item()}
        if method == "beam":
            level = {"ends": tokens, "log_probabilities": total, "kept": tokens >= 0}
            state |= {**level, "parents": parents, "names": [name([one or 3]) for one in tokens.tolist()]}
        yield state
        if ended.all():
            break
    yield {"tokens": told, "log_probability": total[0].item(), "whole": name(told)}


class Translate(Procedure):
    """Writes the second text of a pair from the first, token by token, as the network alone would."""

    title = "Translate"
    loop = staticmethod(translated)
    shows = ("text",)
    method: str = param(
        "greedy", choices=("greedy", "beam"), doc="the likeliest token at each step, or the likeliest text"
    )
    width: int = param(4, minimum=1, maximum=4096, doc="texts that a beam keeps")

    @classmethod
    def bind(cls, net: Net) -> Iterator[Bound]:
        for head in net.distinct_heads:
            data = net.type_of(head.target[0])
            if head.kind != CLASSES or not head.last or not isinstance(data, Data) or not head.labels:
                continue
            if head.target[1] not in data.token_columns[1:]:
                continue
            inputs = net.inputs_of(head.prediction)
            written = [(wire, one) for wire, one in inputs if one.name not in data.token_columns]
            read = [(wire, one) for wire, one in written if tuple(one.classes) == tuple(head.labels)]
            if len(read) != 1 or len(inputs) < 2 or len(read[0][1].shape) != 1:
                continue
            wire = read[0][0]
            parts: dict[str, Part] = {"scores": Function(head.prediction, wire), "window": Value(wire)}
            yield Bound(head.prediction[0], {**parts, "known": Tokens(last=True)})
