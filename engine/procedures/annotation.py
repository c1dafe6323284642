"""What a network that reads a whole text says of it: hidden words, its class, tags, an answer in the text."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import Tensor

from engine.catalogue import Data, Layer
from engine.catalogue.params import param
from engine.procedures.declare import Bound, Function, Net, Part, Procedure, Tokens, Value
from engine.shapes.heads import CLASSES, Head, Wire

OWN_TEXT = "a text of your own in place of the row's; | stands between two texts, [mask] for a hidden word"


def tokens_read(window: Tensor, known: Any, text: str) -> tuple[Tensor, Tensor]:
    """The tokens (1, n) of a text, or those of the first row (N, T) without its filling, and how many (1,).

    A text begins and ends as the row does; `known` is the tokeniser. Errors: `ValueError` for a text that
    cannot be read.
    """
    tokens = window[:1, : int((window[0] != 0).sum())]
    if text:
        special = {"|": [3], "[mask]": [4]}
        parts = [one for one in re.split(r"(\[mask\]|\|)", text) if one.strip() or len(one) == 1]
        ids = [one for part in parts for one in special.get(part) or known.ids(part).tolist()]
        ids = [2, *ids, 3] if window[0, 0] == 2 else ids
        if not 0 < len(ids) <= window.shape[1]:
            raise ValueError(f"The text has {len(ids)} tokens; the network reads 1 to {window.shape[1]}.")
        tokens = torch.tensor([ids]).to(window)
    return tokens, torch.tensor([tokens.shape[1]], device=tokens.device)


def filled_in(
    scores: Callable[..., Tensor],
    window: Tensor,
    reads: int,
    known: Any,
    *,
    draws: torch.Generator,
    text: str,
    count: int,
) -> Iterator[dict[str, Any]]:
    """The `count` likeliest tokens for each that is hidden, then the whole text with the likeliest ones.

    `scores` gives (1, T, V) for tokens (1, T), and takes how many they are where it `reads` that.
    """
    tokens, lengths = tokens_read(window, known, text)
    name = known.text
    found = scores(tokens, *[lengths] * reads)[0].double().softmax(-1)
    whole = tokens[0].tolist()
    for place in (tokens[0] == 4).nonzero().flatten().tolist():
        best = found[place].topk(min(count, found.shape[-1]))
        names = [name([one]) for one in best.indices.tolist()]
        whole[place] = int(best.indices[0])
        yield {"place": place, "text": names[0], "likeliest": names, "probabilities": best.values}
    yield {"tokens": whole, "whole": name([one for one in whole if one > 4])}


def classified(
    scores: Callable[..., Tensor],
    window: Tensor,
    reads: int,
    known: Any,
    names: tuple[str, ...],
    *,
    draws: torch.Generator,
    text: str,
) -> Iterator[dict[str, Any]]:
    """The class of a text with its probability, by `scores` (1, classes) as in `filled_in`."""
    tokens, lengths = tokens_read(window, known, text)
    found = scores(tokens, *[lengths] * reads)[0].double().softmax(-1)
    best = int(found.argmax())
    yield {"class": best, "text": names[best], "probability": found[best].item(), "probabilities": found}


def tagged(
    scores: Callable[..., Tensor],
    window: Tensor,
    reads: int,
    known: Any,
    names: tuple[str, ...],
    *,
    draws: torch.Generator,
    text: str,
) -> Iterator[dict[str, Any]]:
    """The tag of each token of a text, by `scores` (1, T, tags) as in `filled_in`."""
    tokens, lengths = tokens_read(window, known, text)
    name = known.text
    found = scores(tokens, *[lengths] * reads)[0].double().softmax(-1)
    for place, one in enumerate(tokens[0].tolist()):
        tag = int(found[place].argmax())
        if one > 3:
            probability = found[place, tag].item()
            yield {"place": place, "text": name([one]), "tag": names[tag], "probability": probability}


def answered(
    begins: Callable[..., Tensor],
    ends: Callable[..., Tensor],
    window: Tensor,
    reads: int,
    known: Any,
    *,
    draws: torch.Generator,
    text: str,
    count: int,
    longest: int,
) -> Iterator[dict[str, Any]]:
    """The `count` likeliest spans of a text, from scores (1, T) of where they begin and end; place 0: none.

    Source: Devlin, Chang, Lee and Toutanova, 2018.
    """
    tokens, lengths = tokens_read(window, known, text)
    name = known.text
    first, last = (one(tokens, *[lengths] * reads)[0].double().softmax(-1) for one in (begins, ends))
    there = torch.ones(len(first), len(last)).triu().tril(longest - 1)  # ends are not before begins
    there[0, 1:] = 0
    both = (first[:, None] * last * there.to(first)).flatten()
    count = min(count, int(there.sum()))
    for place in both.argsort(descending=True, stable=True)[:count].tolist():
        start, end = place // len(last), place % len(last)
        said = name(tokens[0, start : end + 1].tolist()) if start else "no answer"
        yield {"text": said, "start": start, "end": end, "probability": both[place].item()}


class OwnText(Procedure):
    """Base of what is said of a row of tokens, or of a text that is typed."""

    shows = ("text",)
    main = False
    text: str = param("", doc=OWN_TEXT)

    @classmethod
    def bind(cls, net: Net) -> Iterator[Bound]:
        return iter(())


class FillIn(OwnText):
    """Says which words are likely where some are hidden."""

    title = "Fill in"
    name = "fill_in"
    loop = staticmethod(filled_in)
    count: int = param(5, minimum=1, maximum=100, doc="how many of the likeliest words")

    @classmethod
    def bind(cls, net: Net) -> Iterator[Bound]:
        for head in net.distinct_heads:
            hiding = net.type_of(head.target[0])
            hidden = isinstance(hiding, Layer) and head.target[1] in hiding.classes_of
            if hidden and head.kind == CLASSES and head.last and head.labels:
                yield from _bound(net, [head], (head.target[0], "tokens"))


class Classify(OwnText):
    """Says of which class a text is."""

    title = "Classify"
    loop = staticmethod(classified)

    @classmethod
    def bind(cls, net: Net) -> Iterator[Bound]:
        for head in net.distinct_heads:
            if head.kind == CLASSES and not head.places and head.column and head.labels:
                yield from _bound(net, [head], names=head.labels)


class Tag(OwnText):
    """Says of which kind each word of a text is."""

    title = "Tag"
    loop = staticmethod(tagged)

    @classmethod
    def bind(cls, net: Net) -> Iterator[Bound]:
        for head in net.distinct_heads:
            if head.kind == CLASSES and head.last and head.column and head.labels:
                yield from _bound(net, [head], names=head.labels)


class Answer(OwnText):
    """Finds the words of a text that answer a question before it."""

    title = "Answer"
    loop = staticmethod(answered)
    count: int = param(3, minimum=1, maximum=100, doc="how many of the likeliest answers")
    longest: int = param(8, minimum=1, maximum=10_000, doc="tokens of an answer at most")

    @classmethod
    def bind(cls, net: Net) -> Iterator[Bound]:
        pointers = net.showing("places")
        heads = [one for one in net.distinct_heads if one.prediction[0] in pointers and one.column]
        for begin, end in zip(heads[::2], heads[1::2], strict=False):
            yield from _bound(net, [begin, end])


def _bound(
    net: Net, heads: list[Head], given: Wire | None = None, names: tuple[str, ...] = ()
) -> Iterator[Bound]:
    """The scores of heads as functions of the only row of tokens that they are computed from."""
    inputs = net.inputs_of(heads[0].prediction)
    tokens = [(wire, one) for wire, one in inputs if one.dtype == "int64" and len(one.shape) == 1]
    if len(tokens) != 1:
        return
    wire, column = tokens[0]
    data = net.type_of(wire[0])
    if not isinstance(data, Data) or column.name not in data.token_columns or tuple(column.classes) == names:
        return
    told = [one for one in data.columns() if column.ragged and one.lengths_of == column.ragged]
    lengths = [one for one in told if not one.shape]
    if told and not lengths:
        return
    also = tuple((wire[0], one.name) for one in lengths[:1])
    functions = [Function(one.prediction, given or wire, also=also) for one in heads]
    called = ("begins", "ends") if len(heads) > 1 else ("scores",)
    parts: dict[str, Part] = dict(zip(called, functions, strict=True))
    parts |= {"window": Value(given or wire), "reads": len(also), "known": Tokens()}
    yield Bound(heads[0].prediction[0], {**parts, "names": tuple(names)} if names else parts)
