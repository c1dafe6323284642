"""What the user should know of their data before training: a sentence each, and a fix where one is near.

Findings are counted on whole arrays; of long ones on rows of a sample, which the sentence says. The window
knows them before torch is there; therefore functions import it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.catalogue.traits import Preparation
from engine.data.checks.classes import Splits, class_sizes, labels, sorted_file
from engine.data.checks.findings import Asked, Change, Finding
from engine.data.checks.tables import between_columns, constant_columns, in_columns
from engine.data.tables.looks import TableLook

MOST_CELLS = 50_000_000  # numbers that are hashed for a split; of more, a sample of the rows
MOST_LOOKED = 50_000  # rows in which numbers that never change are looked for
SAMPLED = 4096  # rows that say how far numbers reach; of columns that stay in files, also whether some lack
FAR = 30.0  # from 0, for an input that is not scaled
NAMED = 3

Marks = dict[str, tuple[NDArray[np.uint64], bool]]


def findings(splits: Splits, asked: Asked, look: TableLook | None = None) -> tuple[Finding, ...]:
    """All that is found in the splits and, for a table, in the file; the serious first."""
    marks = _marks(splits, asked)
    found = [
        *labels(splits, asked),
        *_gaps(splits, asked),
        *(between_columns(look) if look is not None else ()),
        *_across(marks, splits, asked),
        *sorted_file(splits, asked),
        *(in_columns(look, asked) if look is not None else ()),
        *(constant_columns(look) if look is not None else _constant(splits, asked)),
        *_unscaled(splits, asked),
        *class_sizes(splits, asked),
        *_within(marks, splits, asked),
    ]
    return tuple(sorted(found, key=lambda one: not one.serious))


# -- the same rows --------------------------------------------------------------------------------


def inputs_of(part: Mapping[str, Any], asked: Asked) -> list[str]:
    """Columns that the network looks at, or would: all but targets and classes, one a row."""
    labels = {name for name, values in part.items() if asked.classes.get(name) and values.dim() == 1}
    masks = {"mask"} if "image" in part else set()
    targets = set(asked.targets) or labels | masks
    found = [name for name in part if name not in targets | labels]
    found = found or [name for name in part if name not in targets]
    return [name for name in found if name in asked.wires] or found


def row_marks(columns: Sequence[Any], most: int = MOST_CELLS) -> NDArray[np.uint64]:
    """A 64-bit mark of each row of columns (N, ...): rows that are equal have equal marks.

    Where there are more than `most` numbers, only rows spread evenly are marked.
    """
    from engine.data.preview import spread_rows

    count = len(columns[0])
    width = sum(max(1, column.numel() // max(1, count)) for column in columns)
    rows = max(1, min(count, most // max(1, width)))
    marks = np.zeros(rows, np.uint64)
    random = np.random.default_rng(1)
    for column in columns:
        values = np.ascontiguousarray(spread_rows(column, rows).detach().cpu().numpy()).reshape(rows, -1)
        if values.dtype.kind == "f":
            values = (values + 0.0).astype(np.float32)  # -0 is 0
            bits = values.view(np.uint32)
        else:
            bits = values.astype(np.int64).view(np.uint64)
        keys = random.integers(1, 2**63, bits.shape[1], dtype=np.uint64) * np.uint64(2) + np.uint64(1)
        step = max(1, 2_000_000 // bits.shape[1])
        for start in range(0, rows, step):
            block = bits[start : start + step].astype(np.uint64)
            block = (block ^ (block >> np.uint64(7))) * keys
            block ^= block >> np.uint64(29)
            marks[start : start + step] += (block * np.uint64(0x9E3779B97F4A7C15)).sum(1, dtype=np.uint64)
    return marks


def _marks(splits: Splits, asked: Asked) -> Marks:
    """Marks of each split's rows, and whether they are of a sample."""
    found = {}
    for split, part in splits.items():
        names = inputs_of(part, asked)
        if names and len(part[names[0]]):
            marks = row_marks([_one_a_row(part[name]) for name in names])
            found[split] = marks, len(marks) < len(part[names[0]])
    return found


def _one_a_row(column: Any) -> Any:
    """The column itself, or, where an example has many rows of it, a mark of each example's."""
    from engine.data.lazy import is_ragged

    if not is_ragged(column):
        return column
    import hashlib

    import torch

    from engine.data.repeats import bytes_of_rows

    kinds = bytes_of_rows(column, 0, len(column))
    marks = b"".join(hashlib.blake2b(kind, digest_size=16).digest() for kind in kinds)
    return torch.frombuffer(bytearray(marks), dtype=torch.int64).reshape(len(column), 2)


def _across(marks: Marks, splits: Splits, asked: Asked) -> Iterator[Finding]:
    """Rows of a held-out split whose inputs are in the training rows too."""
    if "train" not in marks or _tiny(marks["train"][0]) or _behind_any(splits, asked, Preparation.DISTINCT):
        return
    train, part_of_it = marks["train"]
    fix, others = None, []
    if asked.can("repeats", "in one split") and asked.can("repeats", "left out"):
        fix = Change("Put equal rows in one split", {"repeats": "in one split"})
        others.append(Change("Leave repeats out", {"repeats": "left out"}))
    elif "repeats" not in asked.params:
        fix = _without_repeats(splits, asked)
    for split in ("validation", "test"):
        if split not in marks:
            continue
        held, sampled = marks[split]
        same = int(np.isin(held, train).sum())
        if same:
            of = f" of {len(held):,} rows looked at" if sampled or part_of_it else f" of {len(held):,} rows"
            together = asked.params.get("repeats", "as they are") != "as they are"
            why = ", though they differ in the file" if together else ""
            yield Finding(
                "leak",
                f"{same:,}{of} in {split} have the same inputs as a training row{why}: results on {split} "
                "look better than they are.",
                fix,
                same >= 0.01 * len(held),
                tuple(others),
            )


def _within(marks: Marks, splits: Splits, asked: Asked) -> Iterator[Finding]:
    """Training rows that repeat another, unless they were asked to."""
    if "train" not in marks or _tiny(marks["train"][0]):
        return
    if asked.params.get("split") == "bootstrap" or asked.params.get("balance") == "repeat the rare":
        return
    if _behind_any(splits, asked, Preparation.DISTINCT, Preparation.BALANCED):
        return
    train, sampled = marks["train"]
    again = len(train) - len(np.unique(train))
    if again:
        looked = " of those looked at" if sampled else ""
        words = f"{again:,} of {len(train):,} training rows{looked} repeat the inputs of another row."
        fix = None
        if asked.can("repeats", "left out"):
            fix = Change("Leave repeats out", {"repeats": "left out"})
        elif "repeats" not in asked.params:
            fix = _without_repeats(splits, asked)
        yield Finding("duplicates", words, fix)


def _without_repeats(splits: Splits, asked: Asked) -> Change | None:
    """A node that leaves them out, where one column is all that a row is known by."""
    names = inputs_of(splits["train"], asked)
    if len(names) != 1:
        return None
    return asked.insert(names[0], "Leave repeats out", Preparation.DISTINCT)


def _behind_any(splits: Splits, asked: Asked, *preparations: Preparation) -> bool:
    return any(asked.has_behind(name, *preparations) for name in splits.get("train", {}))


def _tiny(marks: NDArray[np.uint64]) -> bool:
    """Whether there are so few different rows that copies are to be expected: XOR has four."""
    different = len(np.unique(marks))
    return different <= 64 or different < 0.1 * len(marks)


# -- numbers --------------------------------------------------------------------------------------


def _unscaled(splits: Splits, asked: Asked) -> Iterator[Finding]:
    part = splits.get("train", {})
    for name in inputs_of(part, asked):
        values = part[name]
        if not values.is_floating_point() or not len(values) or asked.has_behind(name, Preparation.SCALED):
            continue
        found = _array(values, SAMPLED)
        found = found[np.isfinite(found)]
        if not len(found):
            continue
        low, high = float(found.min()), float(found.max())
        if max(abs(low), abs(high)) <= FAR:
            continue
        label = "Standardise the inputs"
        if asked.can("scaling", "standardise") and asked.params["scaling"] == "none":
            fix: Change | None = Change(label, {"scaling": "standardise"})
        elif asked.params.get("standardise") is False:
            fix = Change(label, {"standardise": True})
        else:
            over = "each channel" if values.dim() > 2 else "each number"
            fix = asked.insert(name, label, Preparation.SCALED, over)
        yield Finding(
            "unscaled",
            f"“{name}” reaches from {low:.4g} to {high:.4g}: networks learn faster from inputs near 0, "
            "scaled by the training rows.",
            fix,
        )


def _constant(splits: Splits, asked: Asked) -> Iterator[Finding]:
    """Numbers of a row that say nothing."""
    part = splits.get("train", {})
    for name in inputs_of(part, asked):
        if part[name].dim() != 2 or not part[name].is_floating_point() or len(part[name]) < 2:
            continue
        if asked.has_behind(name, Preparation.VARYING) or name.endswith("mask"):
            continue
        found = _array(part[name], MOST_LOOKED)
        same = np.flatnonzero(found.min(0) == found.max(0))
        if len(same):
            which = ", ".join(str(at + 1) for at in same[:NAMED]) + (" …" if len(same) > NAMED else "")
            words = f"{len(same)} of {found.shape[1]} numbers of “{name}” never change ({which})."
            fix = None
            if len(same) < found.shape[1]:
                numbers = tuple(int(at) + 1 for at in same)
                label = "Leave it out" if len(same) == 1 else "Leave them out"
                fix = asked.insert(name, label, Preparation.VARYING, numbers)
            yield Finding("constant", words, fix)


def _gaps(splits: Splits, asked: Asked) -> Iterator[Finding]:
    """Numbers that are missing (NaN) where nothing fills them: every loss would be NaN."""
    from torch import Tensor

    names = {name: None for part in splits.values() for name in part}
    for name in names:
        parts = [part[name] for part in splits.values() if name in part]
        if not parts[0].is_floating_point() or asked.has_behind(name, Preparation.FILLED, Preparation.WHOLE):
            continue
        lost = rows = numbers = looked = 0
        for values in parts:
            width = max(1, values.numel() // max(1, len(values)))
            most = max(1, MOST_CELLS // width) if isinstance(values, Tensor) else SAMPLED
            looked_at = _array(values, most)
            found = np.isnan(looked_at.reshape(len(looked_at), -1))
            lost, numbers = lost + int(found.sum()), numbers + found.size
            rows, looked = rows + int(found.any(1).sum()), looked + len(found)
        if not lost:
            continue
        of = " looked at" if looked < sum(map(len, parts)) else ""
        words = (
            f"{lost:,} of {numbers:,} numbers{of} of “{name}” are missing, in {rows:,} rows: training would "
            "fail."
        )
        drop = asked.insert(name, "Leave such rows out", Preparation.WHOLE)
        if name in asked.targets:
            yield Finding("missing", words, drop, serious=True)
        else:
            fill = asked.insert(name, "Fill with the median", Preparation.FILLED)
            yield Finding("missing", words, fill, True, (drop,) if drop is not None else ())


def _array(values: Any, most: int | None) -> NDArray[Any]:
    from engine.data.preview import spread_rows

    found: NDArray[Any] = (spread_rows(values, most) if most else values[:]).detach().cpu().numpy()
    return found
