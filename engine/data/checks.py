"""What a person should know of their data before training: a sentence each, and a fix where one is near.

Findings are counted on whole arrays; of long ones on rows of a sample, which the sentence says. The window
knows them before torch is there; therefore functions import it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.data.table_looks import ColumnLook, TableLook
from engine.values import Value

MOST_CELLS = 50_000_000  # numbers that are hashed for a split; of more, a sample of the rows
MOST_LOOKED = 50_000  # rows that are looked at where a column determines another
IMBALANCE = 10.0  # rows of the largest class for one of the smallest
FEW = 10  # training rows of a class
FAR = 30.0  # from 0, for an input that is not scaled
IN_TIME = ("in time", "blocks of time")
NAMED = 3

Splits = Mapping[str, Mapping[str, Any]]
Marks = dict[str, tuple[NDArray[np.uint64], bool]]


@dataclass(frozen=True)
class Change:
    """What one click would do to the data node: set parameters, or roles of columns."""

    label: str
    params: Mapping[str, Value] = field(default_factory=dict)
    roles: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Finding:
    """`serious` ones make a result worthless, or training fail, and are sure. `code` names the check."""

    code: str
    message: str
    change: Change | None = None
    serious: bool = False


@dataclass(frozen=True)
class Asked:
    """What is known of the node: its parameters, classes of columns, which columns are targets.

    `heads` is the number of scores that a column of class numbers is compared with in the network.
    """

    params: Mapping[str, Value] = field(default_factory=dict)
    classes: Mapping[str, Sequence[str]] = field(default_factory=dict)
    targets: Collection[str] = ()
    heads: Mapping[str, int] = field(default_factory=dict)


def findings(splits: Splits, asked: Asked, look: TableLook | None = None) -> tuple[Finding, ...]:
    """All that is found in the splits and, for a table, in the file; the serious first."""
    marks = _marks(splits, asked)
    found = [
        *_labels(splits, asked),
        *(_between_columns(look) if look is not None else ()),
        *_across(marks),
        *_sorted_file(splits, asked),
        *(_in_columns(look, asked) if look is not None else ()),
        *_constant(splits, asked, look),
        *_unscaled(splits, asked),
        *_class_sizes(splits, asked),
        *_within(marks),
    ]
    return tuple(sorted(found, key=lambda one: not one.serious))


# -- labels and classes ---------------------------------------------------------------------------


def _class_columns(splits: Splits, asked: Asked) -> Iterator[tuple[str, dict[str, NDArray[np.int64]]]]:
    first = next(iter(splits.values()), {})
    for name, values in first.items():
        known = asked.classes.get(name) or name in asked.targets or name in asked.heads
        if known and values.dim() == 1 and not values.is_floating_point():
            yield name, {split: _array(part[name], None) for split, part in splits.items()}


def _labels(splits: Splits, asked: Asked) -> Iterator[Finding]:
    """Class numbers that no score stands for (case A-20)."""
    for name, parts in _class_columns(splits, asked):
        every = np.concatenate(list(parts.values()))
        scores = asked.heads.get(name, 0)
        if len(every) and scores and (every.min() < 0 or every.max() >= scores):
            yield Finding(
                "labels",
                f"“{name}” goes from {every.min()} to {every.max()}, but the {scores} scores it is compared "
                f"with stand for 0 to {scores - 1}.",
                serious=True,
            )


def _sorted_file(splits: Splits, asked: Asked) -> Iterator[Finding]:
    """Classes that stand one after the other in the file, dealt in the order of the file."""
    for name, parts in _class_columns(splits, asked):
        if any(len(part) == 0 or part.min() < 0 for part in parts.values()):
            continue
        size = max(int(part.max()) for part in parts.values()) + 1
        counts = {split: np.bincount(part, minlength=size) for split, part in parts.items()}
        zero = np.zeros(size, np.int64)
        held = sum((count for split, count in counts.items() if split != "train"), zero)
        train = counts.get("train", held)
        unseen = np.flatnonzero((train == 0) & (held > 0))
        in_time = asked.params.get("split") in IN_TIME
        fix = Change("Deal the rows by class", {"split": "by class"}) if "split" in asked.params else None
        if len(unseen):
            why = ", as the file is sorted by it and its rows are dealt in order" if in_time else ""
            yield Finding(
                "unseen-class",
                f"No training row is {_names(name, unseen, asked)}{why}: it can't be learned.",
                fix,
                serious=True,
            )
        elif in_time:
            share = train / max(1, train.sum())
            for split, count in counts.items():
                far = 0.5 * np.abs(count / max(1, count.sum()) - share).sum()
                if split != "train" and far > 0.5:
                    words = f"Classes of “{name}” in {split} differ from those in train: the file is sorted."
                    yield Finding("sorted", words, fix)
                    break


def _class_sizes(splits: Splits, asked: Asked) -> Iterator[Finding]:
    for name, parts in _class_columns(splits, asked):
        train = parts.get("train", np.empty(0, np.int64))
        if not len(train) or train.min() < 0:
            continue
        counts = np.bincount(train, minlength=len(asked.classes.get(name, ())))
        there = np.flatnonzero(counts)
        if len(there) < 2:
            continue
        few = there[counts[there] < FEW]
        ratio = counts[there].max() / counts[there].min()
        if ratio >= IMBALANCE:
            large, small = int(counts.argmax()), int(there[counts[there].argmin()])
            yield Finding(
                "imbalance",
                f"Classes of “{name}” differ in size: {counts[large]:,} training rows are "
                f"{_names(name, [large], asked)}, {counts[small]:,} {_names(name, [small], asked)}. "
                f"Always answering the largest class would be right in {counts[large] / len(train):.0%}"
                " of them.".replace("%", " %"),
            )
        if len(few):
            yield Finding(
                "few-rows",
                f"{len(few)} class{'es have' if len(few) > 1 else ' has'} fewer than {FEW} training rows: "
                f"{_names(name, few, asked)}.",
            )


def _names(column: str, numbers: Collection[Any], asked: Asked) -> str:
    known = asked.classes.get(column, ())
    shown = [f"“{known[int(at)] if int(at) < len(known) else int(at)}”" for at in list(numbers)[:NAMED]]
    more = len(numbers) - len(shown)
    return ", ".join(shown) + (f" and {more} more" if more > 0 else "")


# -- the same rows --------------------------------------------------------------------------------


def _inputs(part: Mapping[str, Any], asked: Asked) -> list[str]:
    """Columns that a network would look at: all but targets and classes."""
    targets = set(asked.targets) or {name for name in part if asked.classes.get(name)}
    return [name for name in part if name not in targets and name not in asked.classes] or [
        name for name in part if name not in targets
    ]


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
        names = _inputs(part, asked)
        if names and len(part[names[0]]):
            marks = row_marks([part[name] for name in names])
            found[split] = marks, len(marks) < len(part[names[0]])
    return found


def _across(marks: Marks) -> Iterator[Finding]:
    """Rows of a held-out split whose inputs are in the training rows too."""
    if "train" not in marks or _tiny(marks["train"][0]):
        return
    train, part_of_it = marks["train"]
    for split in ("validation", "test"):
        if split not in marks:
            continue
        held, sampled = marks[split]
        same = int(np.isin(held, train).sum())
        if same:
            of = f" of {len(held):,} rows looked at" if sampled or part_of_it else f" of {len(held):,} rows"
            yield Finding(
                "leak",
                f"{same:,}{of} in {split} have the same inputs as a training row: results on {split} look "
                "better than they are.",
                serious=same >= 0.01 * len(held),
            )


def _within(marks: Marks) -> Iterator[Finding]:
    if "train" not in marks or _tiny(marks["train"][0]):
        return
    train, sampled = marks["train"]
    again = len(train) - len(np.unique(train))
    if again:
        looked = " of those looked at" if sampled else ""
        words = f"{again:,} of {len(train):,} training rows{looked} repeat the inputs of another row."
        yield Finding("duplicates", words)


def _tiny(marks: NDArray[np.uint64]) -> bool:
    """Whether there are so few different rows that copies are to be expected: XOR has four."""
    different = len(np.unique(marks))
    return different <= 64 or different < 0.1 * len(marks)


# -- numbers --------------------------------------------------------------------------------------


def _unscaled(splits: Splits, asked: Asked) -> Iterator[Finding]:
    part = splits.get("train", {})
    for name in _inputs(part, asked):
        values = part[name]
        if not values.is_floating_point() or not len(values):
            continue
        found = _array(values, 4096)
        low, high = float(np.nanmin(found)), float(np.nanmax(found))
        if max(abs(low), abs(high)) <= FAR:
            continue
        fix = None
        if asked.params.get("scaling") == "none":
            fix = Change("Standardise the inputs", {"scaling": "standardise"})
        yield Finding(
            "unscaled",
            f"“{name}” reaches from {low:.4g} to {high:.4g}: networks learn faster from inputs near 0, "
            "scaled by the training rows.",
            fix,
        )


def _constant(splits: Splits, asked: Asked, look: TableLook | None) -> Iterator[Finding]:
    """Columns that say nothing; those of a table are named as the file names them."""
    if look is not None:
        for one in look.columns:
            if one.role == "input" and not one.trouble and len(one.values) > 1 and one.distinct <= 1:
                words = f"“{one.name}” is the same in every row, so nothing can be learned from it."
                yield Finding("constant", words, _leave_out(one.name))
        return
    part = splits.get("train", {})
    for name in _inputs(part, asked):
        if part[name].dim() == 2 and part[name].is_floating_point() and len(part[name]) > 1:
            found = _array(part[name], MOST_LOOKED)
            same = np.flatnonzero(found.min(0) == found.max(0))
            if len(same):
                which = ", ".join(str(at + 1) for at in same[:NAMED]) + (" …" if len(same) > NAMED else "")
                words = f"{len(same)} of {found.shape[1]} numbers of “{name}” never change ({which})."
                yield Finding("constant", words)


def _in_columns(look: TableLook, asked: Asked) -> Iterator[Finding]:
    of = "" if look.whole else f" of the first {look.rows:,} rows"
    for one in look.columns:
        if one.role not in ("input", "target") or one.trouble:
            continue
        if one.role == "input" and _counts_rows(one):
            words = f"“{one.name}” numbers the rows{of}: it says nothing of a row that is new."
            yield Finding("id", words, _leave_out(one.name))
        if one.missing and one.distinct > 1:
            yield _missing(one, asked, look.rows, of)


_IN_A_SERIES = {  # a row that is left out would shift all that follow
    "interpolate": "they are put on the line between the readings around them",
    "carry forward": "the reading before stands in for them",
    "stop": "the series cannot be read until Missing readings says what is put there",
}


def _missing(one: ColumnLook, asked: Asked, rows: int, of: str) -> Finding:
    how = str(asked.params.get("missing", ""))
    what, fix = "", None
    if one.role == "target" or how == "drop rows":
        what = "; such rows are left out"
    elif how:
        filled = f"they are {how.replace('fill with', 'filled with the')} of the training rows"
        what = f"; {_IN_A_SERIES.get(how, filled)}"
    if one.role == "input" and how == "drop rows":
        fix = Change("Fill with the median", {"missing": "fill with median"})
    elif one.role == "input" and how and how not in _IN_A_SERIES:
        fix = Change("Leave such rows out", {"missing": "drop rows"})
    cells = f"{one.missing:,} of {rows:,} cells{' looked at' if of else ''} of “{one.name}” are blank{what}."
    return Finding("missing", cells, fix)


def _counts_rows(one: ColumnLook) -> bool:
    """Whether a column is all different and nothing but numbers close together, or texts that never recur."""
    known = one.known
    if len(known) < 20 or one.distinct < len(known):
        return False
    if one.kind == "whole":
        return float(known.max() - known.min()) + 1 <= 1.2 * len(known)
    return one.kind == "category"


def _between_columns(look: TableLook) -> Iterator[Finding]:
    """Inputs that are a target in another form."""
    for target in look.columns:
        if target.role != "target" or target.trouble or target.distinct < 2:
            continue
        for one in look.columns:
            if one.role == "input" and not one.trouble and one.distinct > 1 and not _counts_rows(one):
                how = determines(one, target)
                if how:
                    words = f"“{one.name}” {how} “{target.name}”, the target: the answer is among the inputs."
                    yield Finding("target-in-inputs", words, _leave_out(one.name), serious=True)


def determines(one: ColumnLook, target: ColumnLook) -> str:
    """Whether a column "equals" or "determines" the target in the rows where both are known; "" if not."""
    both = np.isfinite(one.values) & np.isfinite(target.values)
    x, y = one.values[both][:MOST_LOOKED], target.values[both][:MOST_LOOKED]
    if len(x) < 20 or x.min() == x.max() or y.min() == y.max():
        return ""
    if np.array_equal(x, y):
        return "equals"
    if target.kind in ("number", "whole", "date") and one.kind in ("number", "whole", "date"):
        slope, start = np.polyfit((x - x.mean()) / x.std(), y, 1)
        rest = y - (slope * (x - x.mean()) / x.std() + start)
        return "determines" if np.abs(rest).max() <= 1e-6 * y.std() else ""
    keys, at = np.unique(x, return_inverse=True)
    if len(keys) > len(x) / 5:
        return ""  # few rows of each value: they agree by chance
    low, high = np.full(len(keys), np.inf), np.full(len(keys), -np.inf)
    np.minimum.at(low, at, y)
    np.maximum.at(high, at, y)
    return "determines" if np.array_equal(low, high) else ""


def _leave_out(name: str) -> Change:
    return Change(f"Leave out {name}" if len(name) <= 24 else "Leave it out", roles={name: "ignore"})


def _array(values: Any, most: int | None) -> NDArray[Any]:
    from engine.data.preview import spread_rows

    found: NDArray[Any] = (spread_rows(values, most) if most else values[:]).detach().cpu().numpy()
    return found
