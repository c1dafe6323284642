"""Text from a model of the next token: greedy, drawn, or by beam search."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, ClassVar

import torch
from torch import Tensor, nn

from engine.catalogue import Data
from engine.catalogue.params import param
from engine.procedures.declare import Bound, Function, Loop, Model, Net, Part, Procedure, Tokens, Value
from engine.procedures.reading import GrowingText
from engine.shapes.heads import CLASSES

METHODS = ("sample", "greedy", "beam")
DRAWN = ("method", ("sample",))


def next_probabilities(
    scores: Tensor, temperature: float = 1.0, top_k: int = 0, top_p: float = 1.0
) -> Tensor:
    """The probabilities (V,) float64 on the CPU from which a token is drawn, by scores (V,).

    Only the `top_k` likeliest tokens count, all for 0 (Fan, Lewis and Dauphin, 2018), and of these the fewest
    whose probabilities come to `top_p` (nucleus sampling: Holtzman et al., 2020).
    """
    scores = scores.double().cpu() / temperature
    if 0 < top_k < len(scores):
        outside = scores.argsort(descending=True, stable=True)[top_k:]
        scores = scores.index_fill(0, outside, -torch.inf)
    probabilities = torch.softmax(scores, 0)
    if top_p < 1:
        ordered, order = probabilities.sort(descending=True, stable=True)
        outside = order[ordered.cumsum(0) - ordered >= top_p]
        probabilities = probabilities.index_fill(0, outside, 0.0)
        probabilities = probabilities / probabilities.sum()
    return probabilities


def beams(
    read: Callable[..., Tensor], window: Tensor, length: int, width: int
) -> Iterator[tuple[Tensor, Tensor, Tensor]]:
    """After each token the 2 `width` likeliest continuations (M, n), their log-probabilities and parents.

    The first `width` are kept, parents are of those. `read` gives scores (N, V). Source: Graves, 2012.
    """
    found = torch.empty(1, 0, dtype=torch.int64)
    total = torch.zeros(1, dtype=torch.float64)
    parents: Tensor | None = None
    for _ in range(length):
        texts = torch.cat([window.expand(len(found), -1), found.to(window)], 1)
        before = None if parents is None else parents[:width]
        steps = torch.log_softmax(read(texts, before).double().cpu(), 1)
        every = (total[:, None] + steps).flatten()
        best = every.argsort(descending=True, stable=True)[: 2 * width]
        parents = best // steps.shape[1]
        ranked = torch.cat([found[parents], (best % steps.shape[1])[:, None]], 1)
        yield ranked, every[best], parents
        found, total = ranked[:width], every[best][:width]


def continued(
    read: Callable[..., Tensor],
    window: Tensor,
    known: Any,
    *,
    draws: torch.Generator,
    length: int,
    method: str,
    temperature: float,
    top_k: int,
    top_p: float,
    width: int,
    prompt: str,
) -> Iterator[dict[str, Any]]:
    """Tokens after a window (1, T), one by one, then the whole text.

    A state of a beam search is a level of its tree, best first: last tokens (`ends`, `names`), which kept one
    of the level before each goes on (`parents`), log-probabilities, which are `kept`; with the best `text`.
    `read` gives scores (N, V) for texts (N, n) that grow; `known` is the tokeniser.
    Errors: `ValueError` for a `prompt` where tokens have no names.
    """
    text, name = window[:1], known.text
    if prompt:
        ids = torch.as_tensor(known.ids(prompt)).to(text)
        text = torch.cat([text, ids[None]], 1)[:, -window.shape[1] :]
    tokens: list[int] = []
    total = 0.0
    if method == "beam":
        for step, (found, totals, parents) in enumerate(beams(read, text, length, width), 1):
            tokens, total = found[0].tolist(), totals[0].item()
            names = [name([token]) for token in found[:, -1].tolist()]
            tree = {"parents": parents, "ends": found[:, -1], "names": names, "log_probabilities": totals}
            kept = {"kept": torch.arange(len(found)) < width}
            yield {"step": step, "text": name(tokens), "log_probability": total, **tree, **kept}
    else:
        for step in range(1, length + 1):
            found = read(text)[0]
            if method == "greedy":
                found = torch.log_softmax(found.double().cpu(), 0).exp()
                token = found.argmax().reshape(1)
            else:
                found = next_probabilities(found, temperature, top_k, top_p)
                token = torch.multinomial(found, 1, generator=draws)
            number, probability = int(token), found[token].item()
            total += torch.tensor(probability, dtype=torch.float64).log().item()
            tokens.append(number)
            text = torch.cat([text, token.to(text)[None]], 1)
            yield {"step": step, "token": number, "text": name([number]), "probability": probability}
    yield {"tokens": tokens, "log_probability": total, "whole": prompt + name(tokens)}


def written_on(
    scores: Callable[[Tensor], Tensor],
    window: Tensor,
    known: Any,
    model: nn.Module,
    *,
    cache: bool,
    **options: Any,
) -> Iterator[dict[str, Any]]:
    """The states of `continued` by a causal model, whose text grows up to the length of the window."""
    yield from continued(GrowingText(scores, window.shape[1], model, cache), window, known, **options)


class Generate(Procedure):
    """Writes on behind an example, token by token: the likeliest, drawn ones, or by beam search."""

    title = "Generate text"
    loop: ClassVar[Loop] = staticmethod(continued)
    shows = ("text",)
    length: int = param(200, minimum=1, maximum=100_000, doc="how many tokens are written")
    method: str = param(
        "sample",
        choices=METHODS,
        doc="each token drawn, each the likeliest, or the likeliest of several texts",
    )
    temperature: float = param(
        1.0, minimum=0.01, maximum=100, when=DRAWN, doc="below 1 the likeliest tokens come more often"
    )
    top_k: int = param(0, minimum=0, when=DRAWN, doc="so many of the likeliest tokens only; 0: all")
    top_p: float = param(
        1.0, above=0, maximum=1, when=DRAWN, doc="only the likeliest whose probabilities come to this"
    )
    width: int = param(4, minimum=1, maximum=4096, when=("method", ("beam",)), doc="texts that a beam keeps")
    prompt: str = param("", doc="text with which the new one begins, behind the example")

    @classmethod
    def bind(cls, net: Net) -> Iterator[Bound]:
        return (bound for bound, grows in _bound(net) if not grows)


class GenerateOn(Generate):
    """Writes on behind an example, token by token: the likeliest, drawn ones, or by beam search."""

    name = Generate.name
    loop = staticmethod(written_on)
    cache: bool = param(
        True, doc="attention keeps its keys and values: each token is read once, the text is the same"
    )

    @classmethod
    def bind(cls, net: Net) -> Iterator[Bound]:
        return (bound for bound, grows in _bound(net) if grows)


def _bound(net: Net) -> Iterator[tuple[Bound, bool]]:
    """Where text can be written, and whether the model reads one that grows."""
    for head in net.distinct_heads:
        inputs = net.inputs_of(head.prediction)
        data = net.type_of(head.target[0])
        if head.kind != CLASSES or len(inputs) != 1 or not isinstance(data, Data) or not head.labels:
            continue
        wire, column = inputs[0]
        follows = column.name != head.target[1] and column.name in data.token_columns[:1]
        if not follows or len(column.shape) != 1 or tuple(column.classes) != tuple(head.labels):
            continue
        last = (1 if head.last else 2) if head.places else None
        grows = last is not None and net.reads_on(wire)
        scores = Function(head.prediction, wire, last, latest=0 if grows else column.shape[0])
        parts: dict[str, Part] = {"scores": scores, "window": Value(wire), "known": Tokens()}
        yield Bound(head.prediction[0], {**parts, "model": Model()} if grows else parts), grows
