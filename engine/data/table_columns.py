"""Cells of a table as numbers to train with. Portable: exports carry this source.

What is fitted (means, deviations, what fills a blank cell) is fitted on the training rows alone.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import Tensor

from engine.data.dealing import dealt_columns
from engine.data.table_cells import Cells, blank_rows


def dealt_table(
    frame: Any,
    columns: tuple[tuple[Any, ...], ...],
    device: str,
    *,
    file: str,
    first: int,
    blanks: tuple[str, ...] = (),
    decimal: str = ".",
    missing: str = "drop rows",
    scaling: str = "standardise",
    target_scaling: str = "none",
    dates: str = "days",
    by: str = "",
    deal: Callable[..., dict[str, Tensor]],
    **dealing: Any,
) -> dict[str, dict[str, Any]]:
    """A polars frame as {split: {"features": (N, D), target: (N, 1) or (N,), ...}}.

    `first` is the number of the frame's first row in the file, `by` the column whose values deal the rows.
    Errors: `ValueError` with the row and the column.
    """
    used = [(str(name), kind, role, tuple(rest)) for name, kind, role, *rest in columns if role != "ignore"]
    values: dict[str, np.ndarray[Any, Any]] = {}
    kept = ~blank_rows(frame, blanks)
    for name, kind, role, details in used:
        cells = Cells(frame[name], name, file, first, blanks, decimal)
        values[name] = cells.keys() if role in ("group", "split") else cells.values(kind, details)
        if role in ("target", "weight", "time") or (role == "input" and missing == "drop rows"):
            kept &= ~np.isnan(values[name])
    if not kept.any():
        raise ValueError(f'"{file}" has no row in which nothing is missing. Fill what is missing instead.')
    values = {name: found[kept] for name, found in values.items()}
    count = int(kept.sum())
    keys = torch.from_numpy(split_keys(values[by], by, used)) if by else None
    rows = deal(count, keys, **dealing)
    train = rows["train"].numpy()
    found: dict[str, Tensor] = {}
    parts = [
        part
        for name, kind, role, details in used
        if role == "input"
        for part in as_features(values[name], kind, details, train, missing, scaling, dates)
    ]
    if parts:
        features = np.empty((count, len(parts)), np.float32)
        for at, part in enumerate(parts):
            features[:, at] = part
        found["features"] = torch.from_numpy(features)
    for name, kind, role, _ in sorted(used, key=lambda one: one[2]):  # targets, then weights
        if role not in ("target", "weight"):
            continue
        port, column = port_name(name), values[name]
        if kind in ("category", "yes-no"):
            found[port] = torch.from_numpy(column.astype(np.int64))
            if kind == "yes-no":
                found[f"{port} as number"] = torch.from_numpy(column.astype(np.float32))[:, None]
        else:
            scaled = scaled_by(column, train, target_scaling if role == "target" else "none")
            found[port] = torch.from_numpy(scaled.astype(np.float32))[:, None]
    return dealt_columns(found, rows, device)


def port_name(name: str) -> str:
    """What a target column is called on the node: "features" is taken."""
    return "features (2)" if name == "features" else name


def split_keys(
    values: np.ndarray[Any, Any], name: str, used: list[tuple[str, str, str, tuple[Any, ...]]]
) -> np.ndarray[Any, Any]:
    """What the dealer looks at, a number a row. Errors: `ValueError` for a word that names no split."""
    role = next(role for column, _, role, _ in used if column == name)
    if role == "split":
        words = {"train": 0, "training": 0, "val": 1, "valid": 1, "validation": 1, "dev": 1, "test": 2}
        words |= {"testing": 2, "": 3}
        texts, at = np.unique(values, return_inverse=True)
        odd = [text for text in texts if text.casefold() not in words]
        if odd:
            raise ValueError(f'"{name}" says "{odd[0]}", but a split is train, validation or test.')
        return np.array([words[text.casefold()] for text in texts], np.int64)[at]
    if role == "group":
        return np.unique(values, return_inverse=True)[1].astype(np.int64)
    return values if role == "time" else values.astype(np.int64)


def as_features(
    values: np.ndarray[Any, Any],
    kind: str,
    details: tuple[Any, ...],
    train: np.ndarray[Any, Any],
    missing: str,
    scaling: str,
    dates: str,
) -> list[np.ndarray[Any, Any]]:
    """The features (N,) that an input column becomes; a class that no training row has is all zeros."""
    values = filled(values, kind, train, missing)
    if kind == "category":
        seen = np.unique(values[train])
        return [(values == at) & (at in seen) for at in range(len(details))]
    if kind == "yes-no":
        return [values]
    found = [scaled_by(values, train, scaling)]
    if kind == "date" and dates == "days and cycles":
        turns = [2 * math.pi * values / days for days in (365.2425, 7.0, 1.0)]
        found += [turn(angle) for angle in turns for turn in (np.sin, np.cos)]
    return found


def filled(
    values: np.ndarray[Any, Any], kind: str, train: np.ndarray[Any, Any], missing: str
) -> np.ndarray[Any, Any]:
    """Missing values take the training rows' mean or median; those of classes, their most common class."""
    lost = np.isnan(values)
    if not lost.any():
        return values
    known = values[train][~lost[train]]
    if not len(known):
        return np.where(lost, 0.0, values)
    if kind in ("category", "yes-no"):
        fill = float(np.bincount(known.astype(np.int64)).argmax())
    else:
        fill = float(np.median(known) if missing == "fill with median" else known.mean())
    return np.where(lost, fill, values)


def scaled_by(
    values: np.ndarray[Any, Any], train: np.ndarray[Any, Any], scaling: str
) -> np.ndarray[Any, Any]:
    """Values in the units of the training rows; what is the same in all of them becomes 0."""
    known = values[train]
    if scaling == "standardise":
        middle, unit = known.mean(), known.std()
    elif scaling == "0 to 1":
        middle, unit = known.min(), known.max() - known.min()
    else:
        return values
    scaled: np.ndarray[Any, Any] = (values - middle) / (unit if unit > 1e-12 else 1.0)
    return scaled
