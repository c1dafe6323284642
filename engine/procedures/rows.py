"""Rows that a procedure is about, and its states in words. Portable: exports carry this source."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file
from torch import Tensor


def as_many(batch: dict[str, Tensor], count: int) -> dict[str, Tensor]:
    """So many rows that all are the first of the batch."""
    return {name: column[:1].expand(count, *column.shape[1:]) for name, column in batch.items()}


def as_long(columns: dict[str, Any]) -> dict[str, Any]:
    """Columns of several streams of data, the shorter ones going round until all are as long."""
    longest = max(len(column) for column in columns.values())
    return {
        name: column if len(column) == longest else column[torch.arange(longest) % len(column)]
        for name, column in columns.items()
    }


class FileRows(dict[str, Tensor]):
    """The columns of a file. Errors: `ValueError` for one that it lacks."""

    def __missing__(self, name: str) -> Tensor:
        raise ValueError(f"The file has no {name!r}, which is needed here.")


def chosen_rows(columns: dict[str, Tensor], rows: list[int], path: Path | None = None) -> dict[str, Tensor]:
    """Some rows of a split's columns, or those of a JSON file {column: rows}, in the numbers of the columns.

    Errors: `ValueError` for rows that are not there, and for a file with other columns or sizes.
    """
    if path is None:
        count = len(next(iter(columns.values())))
        if not all(0 <= row < count for row in rows):
            raise ValueError(f"Rows are numbers from 0 to {count - 1}, for that is what the split has.")
        return {name: column[rows] for name, column in columns.items()}
    try:
        given = json.loads(path.read_text("utf-8"))
        found = {name: columns[name][:1].new_tensor(values) for name, values in given.items()}
    except KeyError as error:
        known = ", ".join(columns)
        raise ValueError(f"{path} has {error}; the columns of these data are {known}.") from error
    for name, values in found.items():
        size = columns[name].shape[1:]
        if values.shape[1:] != size:
            raise ValueError(
                f"A row of {name!r} in {path} is of {list(values.shape[1:])} instead of {list(size)}."
            )
    return FileRows(found)


def weights_of(path: Path) -> dict[str, Tensor]:
    """The weights in a .safetensors file, or in one of `torch.save`, by name."""
    if path.suffix == ".safetensors":
        return load_file(path)
    found: dict[str, Tensor] = torch.load(path, map_location="cpu", weights_only=True)
    return found


def state_in_words(state: dict[str, Any]) -> str:
    """A state as a line: large tensors by their sizes and means."""
    words = []
    for name, value in state.items():
        if isinstance(value, Tensor):
            size = "x".join(str(one) for one in value.shape)
            few = "[" + " ".join(f"{one:.4g}" for one in value.flatten().tolist()) + "]"
            value = few if value.numel() <= 12 else f"{size} mean {value.double().mean():.4g}"
        words.append(f"{name} {value:.4g}" if isinstance(value, float) else f"{name} {value}")
    return "  ".join(words)
