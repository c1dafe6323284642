"""What the user should know of the classes in data: labels without a score, sorted files, rare classes."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.catalogue.traits import Answer, Preparation
from engine.data.checks.findings import Asked, Change, Finding
from engine.shapes.heads import UNCOUNTED

IMBALANCE = 10.0  # rows of the largest class for one of the smallest
FEW = 10  # training rows of a class
IN_TIME = ("in time", "blocks of time")
NAMED = 3
MOST_UNITS = 10_000

Splits = Mapping[str, Mapping[str, Any]]
Labels = dict[str, NDArray[np.int64]]  # by split


def class_columns(splits: Splits, asked: Asked) -> Iterator[tuple[str, Labels]]:
    """Columns of one class a row; also those of 0 and 1 that a yes-or-no loss compares."""
    first = next(iter(splits.values()), {})
    seen: list[Labels] = []
    for name, values in first.items():
        known = asked.classes.get(name) or name in asked.targets or name in asked.compared
        if known and values.dim() == 1 and not values.is_floating_point():
            seen.append({split: _numbers(part[name]).astype(np.int64) for split, part in splits.items()})
            yield name, seen[-1]
    for name, one in asked.compared.items():
        if one.answers is not Answer.YES_NO or name not in first or first[name][:1].numel() != 1:
            continue
        parts = {split: _numbers(part[name]).reshape(-1) for split, part in splits.items()}
        whole = {split: part.astype(np.int64) for split, part in parts.items()}
        yes_or_no = all(np.isin(part, (0, 1)).all() for part in parts.values())
        if yes_or_no and not any(_same(whole, other) for other in seen):
            yield name, whole


def labels(splits: Splits, asked: Asked) -> Iterator[Finding]:
    """Class numbers that no score stands for (case A-20)."""
    for name, parts in class_columns(splits, asked):
        every = np.concatenate(list(parts.values()))
        every = every[every != UNCOUNTED]
        one = asked.compared.get(name)
        scores = one.scores if one is not None else 0
        if len(every) and scores and (every.min() < 0 or every.max() >= scores):
            units, fix = int(every.max()) + 1, None
            if one is not None and one.layer_id and every.min() >= 0 and units <= MOST_UNITS:
                label = f"Give {one.layer_name or 'the layer'} {units:,} units"
                fix = Change(label, others={one.layer_id: {one.units: units}})
            yield Finding(
                "labels",
                f"“{name}” goes from {every.min()} to {every.max()}, but the {scores} scores it is compared "
                f"with stand for 0 to {scores - 1}.",
                fix,
                serious=True,
            )


def sorted_file(splits: Splits, asked: Asked) -> Iterator[Finding]:
    """Classes that stand one after the other in the file, split in the order of the file."""
    for name, parts in class_columns(splits, asked):
        if any(len(part) == 0 or part.min() < 0 for part in parts.values()):
            continue
        size = max(int(part.max()) for part in parts.values()) + 1
        counts = {split: np.bincount(part, minlength=size) for split, part in parts.items()}
        zero = np.zeros(size, np.int64)
        held = sum((count for split, count in counts.items() if split != "train"), zero)
        train = counts.get("train", held)
        unseen = np.flatnonzero((train == 0) & (held > 0))
        in_time = asked.params.get("split") in IN_TIME
        fix = Change("Split the rows by class", {"split": "by class"})
        found = fix if asked.can("split", "by class") else None
        if len(unseen):
            why = ", as the file is sorted by it and its rows are split in order" if in_time else ""
            yield Finding(
                "unseen-class",
                f"No training row is {named(name, unseen, asked)}{why}: it can't be learned.",
                found,
                serious=True,
            )
        elif in_time:
            proportions = train / max(1, train.sum())
            for split, count in counts.items():
                far = 0.5 * np.abs(count / max(1, count.sum()) - proportions).sum()
                if split != "train" and far > 0.5:
                    words = f"Classes of “{name}” in {split} differ from those in train: the file is sorted."
                    yield Finding("sorted", words, found)
                    break


def class_sizes(splits: Splits, asked: Asked) -> Iterator[Finding]:
    """Classes with far fewer training rows than others, or with hardly any."""
    for name, parts in class_columns(splits, asked):
        train = parts.get("train", np.empty(0, np.int64))
        if not len(train) or train.min() < 0 or asked.has_behind(name, Preparation.BALANCED):
            continue
        counts = np.bincount(train, minlength=len(asked.classes.get(name, ())))
        there = np.flatnonzero(counts)
        if len(there) < 2:
            continue
        few = there[counts[there] < FEW]
        ratio = counts[there].max() / counts[there].min()
        even = _repeat_rare(name, asked) if ratio > 1 else None
        weights, weighed = _weigh(counts, asked, splits, parts)
        if ratio >= IMBALANCE and not weighed:
            large, small = int(counts.argmax()), int(there[counts[there].argmin()])
            yield Finding(
                "imbalance",
                f"Classes of “{name}” differ in size: {counts[large]:,} training rows are "
                f"{named(name, [large], asked)}, {counts[small]:,} {named(name, [small], asked)}. "
                f"Always answering the largest class would be right in {counts[large] / len(train):.0%}"
                " of them.".replace("%", " %"),
                even or weights,
                also=(weights,) if even and weights else (),
            )
        if len(few):
            yield Finding(
                "few-rows",
                f"{len(few)} class{'es have' if len(few) > 1 else ' has'} fewer than {FEW} training rows: "
                f"{named(name, few, asked)}.",
                even,
            )


def _repeat_rare(name: str, asked: Asked) -> Change | None:
    label = "Repeat the rare classes"
    if asked.can("balance", "repeat the rare"):
        return Change(label, {"balance": "repeat the rare"})
    if "balance" in asked.params and "repeat the rare" in asked.choices.get("balance", ()):
        return None
    return asked.insert(name, label, Preparation.BALANCED)


def _weigh(
    counts: NDArray[np.int64], asked: Asked, splits: Splits, parts: Labels
) -> tuple[Change | None, bool]:
    """Weights for the loss that compares these classes, and whether it has some already.

    Each class counts as much as the others in all: rows / (classes · rows of the class); King and Zeng, 2001.
    """
    there = counts > 0
    for name, one in asked.compared.items():
        if name not in splits.get("train", {}):
            continue
        values = _numbers(splits["train"][name]).reshape(-1)
        if len(values) != len(parts["train"]) or not np.array_equal(values, parts["train"]):
            continue
        if one.weighed:
            return None, True
        if not one.weights:
            continue
        label = "Weigh the classes in the loss"
        if one.answers is Answer.CLASSES and one.scores >= len(counts):
            weights = np.ones(one.scores)
            found = counts.sum() / (there.sum() * np.maximum(counts, 1))
            weights[: len(counts)] = np.where(there, found, 1.0)
            rounded = tuple(float(f"{weight:.4g}") for weight in weights)
            return Change(label, others={one.node_id: {one.weights: rounded}}), False
        if one.answers is Answer.YES_NO and len(counts) == 2 and there.all():
            weight = float(f"{counts[0] / counts[1]:.4g}")
            return Change(label, others={one.node_id: {one.weights: weight}}), False
    return None, False


def named(column: str, numbers: Collection[Any], asked: Asked) -> str:
    """The first few of these classes by name, and how many more there are."""
    known = asked.classes.get(column, ())
    shown = [f"“{known[int(at)] if int(at) < len(known) else int(at)}”" for at in list(numbers)[:NAMED]]
    more = len(numbers) - len(shown)
    return ", ".join(shown) + (f" and {more} more" if more > 0 else "")


def _numbers(values: Any) -> NDArray[Any]:
    found: NDArray[Any] = values[:].detach().cpu().numpy()
    return found


def _same(left: Labels, right: Labels) -> bool:
    return all(np.array_equal(left[split], right[split]) for split in left)
