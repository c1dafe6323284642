"""How near translations come to the right texts: BLEU over many pairs at once."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import torch
from torch import Tensor

from engine.catalogue.params import Ints, param
from engine.procedures.declare import Bound, Function, Net, Part, Procedure, Tokens, Value
from engine.procedures.translation import Translate


def told_by(tokens: Sequence[int]) -> list[int]:
    """The tokens of a text up to its end token (3), without those that stand for no text (0 to 4)."""
    text = list(tokens)
    end = text.index(3) if 3 in text else len(text)
    return [one for one in text[:end] if one > 4]


def bleu(found: Sequence[Sequence[Any]], right: Sequence[Sequence[Any]], longest: int = 4) -> float:
    """BLEU of texts beside one right text each, 0 to 1: all n-grams are counted over all texts.

    It is the geometric mean, over n up to `longest`, of the part of the n-grams found that stand in the right
    text, each no oftener than there; times exp(1 - r / c) where the texts together, c tokens, are shorter
    than the right ones, r. An n that no text is long enough for is left out.
    Source: Papineni, Roukos, Ward and Zhu, 2002.
    """
    logs: list[float] = []
    for n in range(1, longest + 1):
        hits = total = 0
        for one, other in zip(found, right, strict=True):
            ours, theirs = ([tuple(a[i : i + n]) for i in range(len(a) - n + 1)] for a in (one, other))
            hits += sum(min(ours.count(gram), theirs.count(gram)) for gram in set(ours))
            total += len(ours)
        if total and not hits:
            return 0.0
        if total:
            logs.append(math.log(hits / total))
    if not logs:
        return 0.0
    c, r = (sum(map(len, texts)) for texts in (found, right))
    return math.exp(sum(logs) / len(logs) + min(0.0, 1 - r / c))


def compared(
    scores: Callable[[Tensor], Tensor],
    windows: Tensor,
    right: Tensor,
    known: Any,
    *,
    draws: torch.Generator,
    longest: int,
) -> Iterator[dict[str, Any]]:
    """Writes the second texts of all rows at once, the likeliest token at each step, and compares words.

    `scores` gives (N, T, V) for second texts (N, T) as they are read, of which `windows` (N, T) holds the
    begin tokens; `right` (N, T) are the tokens that belong there.
    """
    found = torch.zeros_like(windows)
    found[:, 0] = windows[:, 0]
    said = torch.zeros_like(windows)
    ended = torch.zeros(len(windows), dtype=torch.bool, device=windows.device)
    steps = windows.shape[1]
    for step in range(steps):
        said[:, step] = scores(found)[:, step].argmax(-1)
        ended |= said[:, step] == 3
        if step + 1 < steps:
            found[:, step + 1] = said[:, step]
        yield {"step": step + 1, "ended": ended.float().mean().item()}
        if ended.all():
            break
    both = [[told_by(row) for row in one.tolist()] for one in (said, right)]
    texts = [[known.text(row) for row in one] for one in both]
    ours, theirs = ([re.findall(r"\w+|[^\w\s]", text) for text in one] for one in texts)
    alike = [one == other for one, other in zip(ours, theirs, strict=True)]
    for row, (one, other) in enumerate(zip(ours, theirs, strict=True)):
        found_bleu = bleu([one], [other], longest)
        yield {"row": row, "text": texts[0][row], "right": texts[1][row], "bleu": found_bleu}
    yield {"rows": len(alike), "bleu": bleu(ours, theirs, longest), "exact": sum(alike) / max(1, len(alike))}


class Bleu(Procedure):
    """Translates many rows and says how near they come to the right texts, and how many are just them."""

    title = "BLEU"
    loop = staticmethod(compared)
    main = False
    shows = ("text",)
    rows: Ints = param(tuple(range(64)), minimum=0, doc="numbers of the examples, from 0")
    longest: int = param(4, minimum=1, maximum=16, label="Longest n-gram", doc="tokens in a row that count")

    @classmethod
    def bind(cls, net: Net) -> Iterator[Bound]:
        rights = {head.prediction: head.target for head in net.distinct_heads}
        for place in Translate.bind(net):
            scores, window, known = place.parts["scores"], place.parts["window"], place.parts["known"]
            assert isinstance(scores, Function) and isinstance(window, Value) and isinstance(known, Tokens)
            by_row = Function(scores.wire, scores.given, by_row=True)
            right = Value(rights[scores.wire])
            parts: dict[str, Part] = {"scores": by_row, "windows": window, "right": right, "known": known}
            yield Bound(place.node_id, parts)
