"""Texts with classes, a tag for each word, and an answer in them. Portable: exports carry this source.

A file is a table with tabs and a first line of names: `first` and `second` are texts, `tags` has a tag for
each of their words, `answer` words of the second one; every other column is one of classes.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from engine.data.splits import split_columns, split_rows
from engine.data.text.lines import read_text
from engine.data.text.tokenisers import Tokeniser, words_of


def load_annotated(
    folder: Path,
    device: str,
    *,
    file: str,
    encoding: str = "utf-8",
    classes: dict[str, tuple[str, ...]],
    tags: tuple[str, ...],
    learn: Callable[..., Tokeniser],
    size: int = 2000,
    lower: bool = False,
    length: int = 64,
    splitter: Callable[..., dict[str, Tensor]],
    **splitting: Any,
) -> dict[str, dict[str, Any]]:
    """Annotated texts as {split: columns}: those of `annotated_columns`, and one for each of the `classes`.

    Errors: `ValueError` with the line.
    """
    rows = annotated_rows(read_text(folder / file, encoding), file)
    texts = [" ".join((row.get("first", ""), row.get("second", ""))) for row in rows]
    splits = split_rows(len(rows), None, splitter, splitting, [texts])
    made = learn([texts[row] for row in splits["train"].tolist()], size, lower)
    columns = annotated_columns(made, rows, tags, length)
    for name, known in classes.items():
        strange = next((at for at, row in enumerate(rows, 2) if row.get(name) not in known), None)
        if strange is not None:
            raise ValueError(f'"{file}", line {strange:,}: no known class in the column "{name}".')
        columns[name] = torch.tensor([known.index(row[name]) for row in rows])
    return split_columns(columns, splits, device)


def annotated_rows(text: str, file: str) -> list[dict[str, str]]:
    """The rows of a table as {column: cell}. Errors: `ValueError` with the line where cells lack."""
    lines = [line.split("\t") for line in text.split("\n") if line.strip()]
    if not lines:
        raise ValueError(f'"{file}" has no rows.')
    names, *rows = lines
    wrong = next((at for at, row in enumerate(rows, 2) if len(row) != len(names)), None)
    if wrong is not None:
        raise ValueError(f'"{file}", line {wrong:,}: there are not {len(names)} cells, one a column.')
    return [dict(zip(names, row, strict=True)) for row in rows]


def annotated_columns(
    made: Any, rows: list[dict[str, str]], tags: tuple[str, ...], length: int
) -> dict[str, Tensor]:
    """Columns of pairs of texts [begin] first [end] second [end], cut at `length` and filled up.

    "tokens" (N, length), "length" (N,); "tags" (N, length), from 1 on for the first token of each word, else
    0; and where the answer's first and last tokens are, "start" and "end" (N,): 0 where a row has none.
    """
    numbers = {tag: number for number, tag in enumerate(tags, 1)}
    pieces: dict[str, list[int]] = {}
    tokens, told = torch.zeros(2, len(rows), length, dtype=torch.int64)
    lengths, start, end = torch.zeros(3, len(rows), dtype=torch.int64)
    for at, row in enumerate(rows):
        ids, kinds = [2], [0]
        given = [numbers.get(tag, 0) for tag in row.get("tags", "").split()]
        texts = [words_of(row.get(name, "")) for name in ("first", "second")]
        for words in texts if texts[1] else texts[:1]:
            places = []
            for word in words:
                if word not in pieces:
                    pieces[word] = made.ids(word).tolist()
                places.append(len(ids))
                ids += pieces[word]
                kinds += [given.pop(0) if given else 0] + [0] * (len(pieces[word]) - 1)
            places.append(len(ids))
            ids.append(3)
            kinds.append(0)
        answer = words_of(row.get("answer", ""))
        fitting = range(len(words) - len(answer) + 1) if answer else []
        first = next((one for one in fitting if words[one : one + len(answer)] == answer), None)
        if first is not None and places[first + len(answer)] <= length:
            start[at], end[at] = places[first], places[first + len(answer)] - 1
        lengths[at] = min(len(ids), length)
        tokens[at, : lengths[at]], told[at, : lengths[at]] = (
            torch.tensor(one[:length]) for one in (ids, kinds)
        )
    return {"tokens": tokens, "length": lengths, "tags": told, "start": start, "end": end}
