"""Words whose vectors in an embedding lie nearest to a word's, or to a sum and difference of some."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import torch
from torch import Tensor

from engine.catalogue import Data
from engine.catalogue import Layer as LayerType
from engine.catalogue.params import param
from engine.procedures.declare import Bound, Layer, Net, Procedure, Tokens


def terms_of(question: str, numbers: dict[str, int]) -> list[tuple[int, int]]:
    """Tokens and signs of a question such as "king - man + woman". Errors: `ValueError` for unknown words."""
    found, sign = [], 1
    for part in question.split():
        if part in ("+", "-"):
            sign = 1 if part == "+" else -1
        elif part in numbers:
            found.append((numbers[part], sign))
            sign = 1
        else:
            raise ValueError(f"{part[:40]!r} is not in the vocabulary.")
    if not found:
        raise ValueError("Name a word, or several with + and - between them.")
    return found


def first_word(names: Sequence[str]) -> str:
    """The first of the tokens that is made of letters, the first of all where none is."""
    return next((name for name in names if name.isalpha()), names[0])


def nearest_rows(table: Tensor, terms: Sequence[tuple[int, int]], count: int, first: int = 0) -> Any:
    """The rows of a table (V, D) nearest to a sum of rows, and the cosines: (M,) each, the nearest first.

    Rows are brought to length 1 before they are added, by their signs; those that are in the sum, and those
    before `first`, are left out. Source: Mikolov, Chen, Corrado and Dean, 2013.
    """
    unit = torch.nn.functional.normalize(table.detach().float(), dim=1)
    wanted = sum((sign * unit[row] for row, sign in terms), torch.zeros_like(unit[0]))
    cosines = unit @ torch.nn.functional.normalize(wanted, dim=0)
    left_out = torch.tensor([row for row, _ in terms], device=cosines.device)
    cosines = cosines.index_fill(0, left_out, -torch.inf)
    cosines[:first] = -torch.inf
    kept = max(0, min(count, int(cosines.isfinite().sum())))
    found = cosines.topk(kept)
    return found.indices, found.values


def nearest_words(
    layer: Any, known: Any, *, draws: torch.Generator, question: str, count: int
) -> Iterator[dict[str, Any]]:
    """The words nearest to a word, or to what a sum and difference of words gives, one by one.

    `known` is the tokeniser; where its tokens have no names, words are the numbers of rows.
    Errors: `ValueError` for a word that is not in the vocabulary.
    """
    table = layer.weight
    names = known.tokens
    names = [*names, *(str(row) for row in range(len(names), len(table)))][: len(table)]
    numbers, first = {name: row for row, name in enumerate(names)}, 5 if known.tokens else 0
    terms = terms_of(question or first_word(names[first:] or names), numbers)
    rows, cosines = nearest_rows(table, terms, count, first)
    for step, (row, cosine) in enumerate(zip(rows.tolist(), cosines.tolist(), strict=True), 1):
        yield {"step": step, "text": names[row], "number": row, "cosine": cosine}


class Nearest(Procedure):
    """Finds the words whose vectors are nearest to a word's: those that are used like it.

    With + and - between several words it completes analogies: "king - man + woman".
    """

    title = "Nearest words"
    loop = staticmethod(nearest_words)
    shows = ("text",)
    examples = False
    main = False
    question: str = param(
        "", doc="a word, or words with + and - between them: king - man + woman; empty: the commonest word"
    )
    count: int = param(10, minimum=1, maximum=1000, doc="how many words are found")

    @classmethod
    def bind(cls, net: Net) -> Iterator[Bound]:
        for node_id in net.project.graph.order():
            column = token_column(net, node_id)
            if column:
                yield Bound(node_id, {"layer": Layer(node_id), "known": Tokens()})


def token_column(net: Net, node_id: str) -> str:
    """The column of tokens that a table of vectors looks up, "" for any other layer."""
    made = net.book.types.get(node_id)
    arriving = net.arriving(node_id)
    traits = made.traits if isinstance(made, LayerType) else None
    if arriving is None or traits is None or traits.matrix is None or traits.class_count is None:
        return ""
    found = net.inputs_of(arriving)
    if len(found) != 1:
        return ""
    (data_id, name), column = found[0]
    data = net.type_of(data_id)
    whole = column.dtype == "int64" and bool(column.shape)
    return name if whole and isinstance(data, Data) and name in data.token_columns[:1] else ""
