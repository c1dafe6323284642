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

from engine.data.splits import split_columns, split_rows
from engine.data.tables.cells import Cells, blank_rows


def split_table(
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
    splitter: Callable[..., dict[str, Tensor]],
    **splitting: Any,
) -> dict[str, dict[str, Any]]:
    """A polars frame as {split: {"features": (N, D), target: (N, 1) or (N,), ...}}.

    `first` is the number of the frame's first row in the file, `by` the column whose values split the rows.
    Errors: `ValueError` with the row and the column.
    """
    used = used_columns(columns)
    if not used:
        raise ValueError(f'No column of "{file}" is used: set one to input, and one to target.')
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
    inputs = [values[name] for name, _, role, _ in used if role == "input"]
    rows = split_rows(count, keys, splitter, splitting, inputs, class_numbers_of(used, values))
    train = rows["train"].numpy()
    found: dict[str, Tensor] = {}
    parts = [
        part
        for name, kind, role, details in used
        if role == "input"
        for part in feature_parts(
            values[name], feature_fit(values[name], kind, details, train, missing, scaling, dates)
        )
    ]
    if parts:
        features = np.empty((count, len(parts)), np.float32)
        for at, part in enumerate(parts):
            features[:, at] = part
        found["features"] = torch.from_numpy(features)
    for name, kind, role, _ in in_port_order(used):
        scaling = target_scaling if role == "target" else "none"
        fit = target_fit(values[name], kind, train, scaling)
        for port, ending in target_ports(name, kind).items():
            found[port] = torch.from_numpy(target_values(values[name], fit, ending))
    return split_columns(found, rows, device)


def used_columns(columns: tuple[tuple[Any, ...], ...]) -> list[tuple[str, str, str, tuple[Any, ...]]]:
    """Name, kind, role and details of the columns that are not ignored."""
    return [(str(name), kind, role, tuple(rest)) for name, kind, role, *rest in columns if role != "ignore"]


def in_port_order(
    used: list[tuple[str, str, str, tuple[Any, ...]]],
) -> list[tuple[str, str, str, tuple[Any, ...]]]:
    """The targets, then the weights."""
    return [one for one in sorted(used, key=lambda one: one[2]) if one[2] in ("target", "weight")]


def class_numbers_of(
    used: list[tuple[str, str, str, tuple[Any, ...]]], values: dict[str, np.ndarray[Any, Any]]
) -> Tensor | None:
    """The classes (N,) of the first target that has any."""
    for name, kind, role, _ in used:
        if role == "target" and kind in ("category", "yes-no"):
            return torch.from_numpy(values[name].astype(np.int64))
    return None


def port_name(name: str) -> str:
    """What a target column is called on the node: "features" is taken."""
    return "features (2)" if name == "features" else name


def split_keys(
    values: np.ndarray[Any, Any], name: str, used: list[tuple[str, str, str, tuple[Any, ...]]]
) -> np.ndarray[Any, Any]:
    """What the splitter goes by, a number a row. Errors: `ValueError` for a word that names no split."""
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


def feature_fit(
    values: np.ndarray[Any, Any],
    kind: str,
    details: tuple[Any, ...],
    train: np.ndarray[Any, Any],
    missing: str,
    scaling: str,
    dates: str,
) -> dict[str, Any]:
    """What the training rows say of an input column (N,): how `feature_parts` makes features of it."""
    fill = fill_of(values, kind, train, missing)
    known = filled(values[train], fill)
    if kind == "category":
        return {"kind": kind, "fill": fill, "count": len(details), "seen": np.unique(known)}
    middle, unit = units_of(known, "none" if kind == "yes-no" else scaling)
    return {
        "kind": kind,
        "fill": fill,
        "middle": middle,
        "unit": unit,
        "cycles": kind == "date" and dates == "days and cycles",
    }


def feature_parts(values: np.ndarray[Any, Any], fit: dict[str, Any]) -> list[np.ndarray[Any, Any]]:
    """The features (N,) that an input column becomes; a class that no training row has is all zeros."""
    values = filled(values, fit["fill"])
    if fit["kind"] == "category":
        return [(values == at) & (at in fit["seen"]) for at in range(fit["count"])]
    found = [in_units(values, fit["middle"], fit["unit"])]
    if fit["cycles"]:
        turns = [2 * math.pi * values / days for days in (365.2425, 7.0, 1.0)]
        found += [turn(angle) for angle in turns for turn in (np.sin, np.cos)]
    return found


def target_ports(name: str, kind: str) -> dict[str, str]:
    """The ports of a target or weight, and what each holds of it."""
    port = port_name(name)
    if kind == "yes-no":
        return {port: "class", f"{port} as number": "number"}
    return {port: "class" if kind == "category" else "number"}


def target_fit(
    values: np.ndarray[Any, Any], kind: str, train: np.ndarray[Any, Any], scaling: str
) -> tuple[float, float]:
    """What is subtracted from a target or weight, and what it is divided by."""
    return units_of(values[train], "none" if kind in ("category", "yes-no") else scaling)


def target_values(
    values: np.ndarray[Any, Any], fit: tuple[float, float], ending: str
) -> np.ndarray[Any, Any]:
    """A target as classes (N,) int64, or as numbers (N, 1) float32."""
    if ending == "class":
        return values.astype(np.int64)
    found: np.ndarray[Any, Any] = in_units(values, *fit).astype(np.float32)[:, None]
    return found


def fill_of(values: np.ndarray[Any, Any], kind: str, train: np.ndarray[Any, Any], missing: str) -> float:
    """What a missing value becomes: the training rows' mean or median, or their most common class."""
    if not np.isnan(values).any():
        return 0.0
    known = values[train]
    known = known[~np.isnan(known)]
    if not len(known):
        return 0.0
    if kind in ("category", "yes-no"):
        return float(np.bincount(known.astype(np.int64)).argmax())
    return float(np.median(known) if missing == "fill with median" else known.mean())


def filled(values: np.ndarray[Any, Any], fill: float) -> np.ndarray[Any, Any]:
    lost = np.isnan(values)
    return np.where(lost, fill, values) if lost.any() else values


def units_of(known: np.ndarray[Any, Any], scaling: str) -> tuple[float, float]:
    """What training values (N,) are scaled by: what is subtracted, and the unit to divide by."""
    if scaling == "standardise":
        middle, unit = float(known.mean()), float(known.std())
    elif scaling == "0 to 1":
        middle, unit = float(known.min()), float(known.max() - known.min())
    else:
        return 0.0, 1.0
    return middle, unit if unit > 1e-12 else 1.0  # what never varies becomes 0


def in_units(values: np.ndarray[Any, Any], middle: float, unit: float) -> np.ndarray[Any, Any]:
    if middle == 0.0 and unit == 1.0:
        return values
    found: np.ndarray[Any, Any] = (values - middle) / unit
    return found
