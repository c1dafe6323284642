"""The user's text: a corpus, labelled texts and pairs of texts. Portable: exports carry this source.

The tokeniser is learned from the training part alone; every token number is below the size of the vocabulary.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from engine.data.series.windows import cut_windows
from engine.data.splits import split_columns, split_rows
from engine.data.text.lines import labelled_rows, read_text, text_pairs
from engine.data.text.tokenisers import Tokeniser, portions


def load_corpus(
    folder: Path,
    device: str,
    *,
    file: str,
    encoding: str = "utf-8",
    documents: str = "one text",
    learn: Callable[..., Tokeniser],
    size: int = 256,
    lower: bool = False,
    length: int = 64,
    stride: int | None = None,
    run_on: bool = True,
    splitter: Callable[..., dict[str, Tensor]],
    **splitting: Any,
) -> dict[str, dict[str, Any]]:
    """A text as {split: {"tokens" (N, length), "next" (N, length)}}: tokens, and what follows each.

    Errors: `ValueError` where a split is too short for a window.
    """
    texts = corpus_parts(read_text(folder / file, encoding), documents, splitter, splitting)
    made = learn(texts["train"], size, lower)
    parted = documents != "one text"
    return {
        split: corpus_windows(made, part, split, device, length, stride or length, run_on, parted)
        for split, part in texts.items()
    }


def corpus_parts(
    text: str, documents: str, splitter: Callable[..., dict[str, Tensor]], splitting: dict[str, Any]
) -> dict[str, list[str]]:
    """{split: its documents}; of one text the parts in a row, each cut to a thousandth at a space.

    Errors: `ValueError` where a split gets nothing.
    """
    one = documents == "one text"
    units = portions(text, len(text) // 1000 + 1) if one else documents_of(text, documents)
    found = {}
    for split, rows in split_rows(len(units), None, splitter, splitting, [units]).items():
        part = [units[row] for row in rows.tolist()]
        if not part:
            raise ValueError(f"Nothing of the text is left for {split}: give it a larger fraction.")
        found[split] = ["".join(part)] if one else part
    return found


def documents_of(text: str, documents: str) -> list[str]:
    """The documents of a text, which "blank lines" part, or "lines" are; none is empty."""
    found = text.split("\n") if documents == "lines" else re.split(r"\n[^\S\n]*\n\s*", text)
    return [one for one in found if one.strip()]


def corpus_windows(
    made: Tokeniser,
    texts: list[str],
    split: str,
    device: str,
    length: int,
    stride: int,
    run_on: bool,
    parted: bool,
) -> dict[str, Any]:
    """Windows of tokens and of what follows each. Documents that don't run on into the next are filled up."""
    pad, begin, end = 0, 2, 3
    rows: list[np.ndarray[Any, Any]] = []
    starts: list[np.ndarray[Any, Any]] = []
    at = 0
    for text in texts:
        ids = made.ids(text)
        if parted:
            ids = np.concatenate([ids, [end]] if run_on else [[begin], ids, [end]]).astype(np.int32)
        if parted and not run_on:
            first = np.arange(0, len(ids) - 1, stride)
            fill = max(0, int(first[-1]) + length + 1 - len(ids))
            ids = np.concatenate([ids, np.full(fill, pad, np.int32)])
            starts.append(at + first)
        rows.append(ids)
        at += len(ids)
    if not (parted and not run_on):
        starts = [np.arange(0, at - length, stride)]
    if not sum(map(len, starts)):
        raise ValueError(
            f"The part for {split} has {at:,} tokens, but a window of {length:,} and the token after it need "
            f"{length + 1:,}: give it a larger fraction, or shorten the window."
        )
    read, at_first = torch.from_numpy(np.concatenate(rows)), torch.from_numpy(np.concatenate(starts))
    return {
        "tokens": cut_windows(read, at_first, length, device),
        "next": cut_windows(read, at_first + 1, length, device),
    }


def filled_up(found: list[np.ndarray[Any, Any]], length: int, ends: bool) -> tuple[Tensor, Tensor, Tensor]:
    """Token numbers of texts as (N, length), 1 where there is a token (N, length), and how many (N,).

    What is longer is cut at its end; with `ends` every text begins with [begin] and ends with [end].
    """
    tokens = np.zeros((len(found), length), np.int64)
    lengths = np.zeros(len(found), np.int64)
    for row, ids in enumerate(found):
        kept = ids[: length - 2 * ends]
        kept = np.concatenate([[2], kept, [3]]) if ends else kept
        tokens[row, : len(kept)], lengths[row] = kept, len(kept)
    mask = np.arange(length) < lengths[:, None]
    return torch.from_numpy(tokens), torch.from_numpy(mask).float(), torch.from_numpy(lengths)


def load_labelled_text(
    folder: Path,
    device: str,
    *,
    file: str,
    form: str,
    classes: tuple[str, ...],
    text: str = "text",
    label: str = "label",
    encoding: str = "utf-8",
    table: dict[str, Any],
    unlabelled: str = "stop",
    learn: Callable[..., Tokeniser],
    size: int = 2000,
    lower: bool = False,
    length: int = 64,
    ends: bool = False,
    by_folder: bool = False,
    splitter: Callable[..., dict[str, Tensor]],
    **splitting: Any,
) -> dict[str, dict[str, Any]]:
    """Texts with a class each as {split: {"tokens" (N, length), "mask", "length" (N,), "label" (N,)}}.

    Errors: `ValueError` where a text has no class, or one that is not among `classes`.
    """
    rows, parts = labelled_rows(folder / file, form, text, label, encoding, table)
    numbers = {name: number for number, name in enumerate(classes)}
    texts, labels, keys = [], [], []
    for (where, words, name), part in zip(rows, parts, strict=True):
        if not name and unlabelled == "leave out":
            continue
        if name not in numbers:
            known = ", ".join(classes[:6]) + (", ..." if len(classes) > 6 else "")
            what = f'is of class "{name[:40]}"' if name else "has no class"
            raise ValueError(
                f'"{file}", {where}: the text {what}; the classes are {known}. Open the file again.'
            )
        texts.append(words)
        labels.append(numbers[name])
        keys.append(part)
    given = torch.tensor(keys if by_folder else labels)
    splits = split_rows(len(texts), given, splitter, splitting, [texts], torch.tensor(labels))
    train = [texts[row] for row in splits["train"].tolist()]
    made = learn(train, size, lower)
    tokens, mask, lengths = filled_up([made.ids(one) for one in texts], length, ends)
    columns = {"tokens": tokens, "mask": mask, "length": lengths, "label": torch.tensor(labels)}
    return split_columns(columns, splits, device)


def load_text_pairs(
    folder: Path,
    device: str,
    *,
    file: str,
    other: str = "",
    source: str = "source",
    target: str = "target",
    encoding: str = "utf-8",
    table: dict[str, Any],
    learn: Callable[..., Tokeniser],
    size: int = 2000,
    target_size: int = 2000,
    lower: bool = False,
    length: int = 32,
    target_length: int = 32,
    splitter: Callable[..., dict[str, Tensor]],
    **splitting: Any,
) -> dict[str, dict[str, Any]]:
    """Pairs of texts, as for translation, as {split: {column: values}}.

    "source" (N, length), "source_mask" and "source_length" are what is read; "target" (N, target_length)
    begins with [begin], and "next" is the same one token on, up to [end]: what to predict at each place.
    """
    left, right = text_pairs(folder, file, other, source, target, encoding, table)
    parts = split_rows(len(left), None, splitter, splitting, [left])
    train = parts["train"].tolist()
    source_tokens = learn([left[row] for row in train], size, lower)
    target_tokens = learn([right[row] for row in train], target_size, lower)
    tokens, mask, lengths = filled_up([source_tokens.ids(one) for one in left], length, False)
    whole, there, _ = filled_up([target_tokens.ids(one) for one in right], target_length + 1, True)
    columns = {
        "source": tokens,
        "source_mask": mask,
        "source_length": lengths,
        "target": torch.where(whole[:, :-1] == 3, 0, whole[:, :-1]),
        "next": whole[:, 1:],
        "target_mask": there[:, 1:],
    }
    return split_columns(columns, parts, device)
