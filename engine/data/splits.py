"""Splits the rows of a data set into train, validation and test. Portable: exports carry this source.

A splitter is a function `(n, keys, **options) -> {split: rows (int64)}` for `n` rows; `keys` (n,) are the
classes, groups, times or split numbers that it goes by. A row is in one split at most.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

from engine.data.lazy import Lazy


def evenly(n: int, count: int) -> Tensor:
    """Which `count` of `n` places in a row, spread evenly, as (n,) of yes and no."""
    return (torch.arange(n + 1) * count // max(n, 1)).diff() > 0


def stratified_holdout(labels: Tensor, fraction: float, shuffle: torch.Generator) -> tuple[Tensor, Tensor]:
    """Rows as (kept, held): a random `fraction` is held back, in every class alike."""
    n = len(labels)
    order = torch.randperm(n, generator=shuffle)
    by_class = labels[order].argsort(stable=True)
    held = torch.zeros(n, dtype=torch.bool)
    held[by_class] = evenly(n, round(fraction * n))  # so that each class gives its part
    return order[~held], order[held]


def stratified_split(labels: Tensor, validation: float, test: float, seed: int) -> dict[str, Tensor]:
    """Rows of each split; the fractions are of all rows, in every class alike."""
    shuffle = torch.Generator().manual_seed(seed)
    rest, tested = stratified_holdout(labels, test, shuffle)
    kept, held = stratified_holdout(labels[rest], validation / (1 - test), shuffle)
    return {"train": rest[kept], "validation": rest[held], "test": tested}


def standardised(values: Tensor, training: Tensor) -> Tensor:
    """`values` (N, D) in standard deviations from the mean, both of the `training` rows alone."""
    mean, deviation = values[training].mean(0), values[training].std(0, correction=0)
    return (values - mean) / torch.where(deviation > 1e-12, deviation, 1.0)


def columns_of(
    columns: dict[str, Tensor], parts: dict[str, Tensor], device: str
) -> dict[str, dict[str, Tensor]]:
    """Each split's part of every column, on `device`; `parts` are their rows."""
    return {split: {name: one[at].to(device) for name, one in columns.items()} for split, at in parts.items()}


def split_at_random(
    n: int, keys: Tensor | None, *, validation: float, test: float, seed: int
) -> dict[str, Tensor]:
    """Any row into any split.

    `keys` are not looked at.
    """
    order = torch.randperm(n, generator=torch.Generator().manual_seed(seed))
    held, tested = round(validation * n), round(test * n)
    return {
        "train": order[held + tested :],
        "validation": order[tested : held + tested],
        "test": order[:tested],
    }


def split_by_class(
    n: int, keys: Tensor | None, *, validation: float, test: float, seed: int
) -> dict[str, Tensor]:
    """Every class of `keys` alike in every split, as far as its rows go."""
    assert keys is not None
    shuffle = torch.Generator().manual_seed(seed)
    order = torch.randperm(n, generator=shuffle)
    by_class = order[keys[order].argsort(stable=True)]
    into_test = evenly(n, round(test * n))  # so that each class gives its part
    rest = by_class[~into_test]
    held = evenly(len(rest), round(validation * n))
    parts = {"train": rest[~held], "validation": rest[held], "test": by_class[into_test]}
    return {
        split: rows[torch.randperm(len(rows), generator=shuffle)] for split, rows in parts.items()
    }  # what was sorted by class must not stay so


def split_by_group(
    n: int, keys: Tensor | None, *, validation: float, test: float, seed: int
) -> dict[str, Tensor]:
    """All rows of a group into one split; whole groups are added until a split has its part of the rows."""
    assert keys is not None
    _, group, sizes = torch.unique(keys, return_inverse=True, return_counts=True)
    order = torch.randperm(len(sizes), generator=torch.Generator().manual_seed(seed))
    until = sizes[order].cumsum(0) - sizes[order] / 2  # a group goes where its middle row falls
    split = torch.zeros(len(sizes), dtype=torch.int64)
    split[order[until < (validation + test) * n]] = 1
    split[order[until < test * n]] = 2
    rows = torch.arange(n)
    return {name: rows[split[group] == number] for number, name in enumerate(("train", "validation", "test"))}


def split_in_time(n: int, keys: Tensor | None, *, validation: float, test: float) -> dict[str, Tensor]:
    """The first rows to train, later ones for validation, the last for test; `keys` are times, if any."""
    order = torch.arange(n) if keys is None else keys.argsort(stable=True)
    trained = n - round(validation * n) - round(test * n)
    return {
        "train": order[:trained],
        "validation": order[trained : n - round(test * n)],
        "test": order[n - round(test * n) :],
    }


def split_as_given(
    n: int, keys: Tensor | None, *, validation: float, test: float, seed: int
) -> dict[str, Tensor]:
    """As the data say: `keys` are 0 for train, 1 for validation, 2 for test; anything else is left out.

    Validation or test, where the data have none, is a fraction of the rows that are given to train.
    """
    assert keys is not None
    rows = torch.arange(n)
    found = {name: rows[keys == number] for number, name in enumerate(("train", "validation", "test"))}
    given = len(found["train"])
    order = torch.randperm(given, generator=torch.Generator().manual_seed(seed))
    for name, fraction in (("validation", validation), ("test", test)):
        if not len(found[name]):
            order, taken = order[round(fraction * given) :], order[: round(fraction * given)]
            found[name] = found["train"][taken]
    found["train"] = found["train"][order.sort().values]
    return found


def split_in_folds(
    n: int, keys: Tensor | None, *, folds: int, fold: int, test: float, seed: int
) -> dict[str, Tensor]:
    """Part `fold` (from 0) of `folds` equal parts for validation, a fraction for test; by class if `keys`."""
    shuffle = torch.Generator().manual_seed(seed)
    order = torch.randperm(n, generator=shuffle)
    if keys is not None:
        order = order[keys[order].argsort(stable=True)]  # each class is spread over all folds
    into_test = evenly(n, round(test * n))
    rest = order[~into_test]
    held = torch.arange(len(rest)) % folds == fold
    trained = rest[~held]
    return {
        "train": trained[torch.randperm(len(trained), generator=shuffle)],
        "validation": rest[held],
        "test": order[into_test],
    }


def split_in_blocks(
    n: int, keys: Tensor | None, *, folds: int, fold: int, gap: int, test: float
) -> dict[str, Tensor]:
    """Blocks of time: block `fold` + 1 of `folds` + 1 for validation, all before to train, the last for test.

    `gap` rows before a border are left out, so that windows of one split don't reach into another.
    """
    order = torch.arange(n) if keys is None else keys.argsort(stable=True)
    end = n - round(test * n)
    borders = [end * block // (folds + 1) for block in range(folds + 2)]
    first, last = borders[fold + 1], borders[fold + 2]
    return {
        "train": order[: max(0, first - gap)],
        "validation": order[first : max(first, last - (gap if last == end else 0))],
        "test": order[end:],
    }


def split_by_bootstrap(n: int, keys: Tensor | None, *, test: float, seed: int) -> dict[str, Tensor]:
    """As many rows as there are, drawn with replacement, to train; those never drawn for validation.

    Efron, 1979. The test rows are set apart before anything is drawn.
    """
    shuffle = torch.Generator().manual_seed(seed)
    order = torch.randperm(n, generator=shuffle)
    tested, rest = order[: round(test * n)], order[round(test * n) :]
    drawn = rest[torch.randint(len(rest), (len(rest),), generator=shuffle)]
    return {"train": drawn, "validation": rest[~torch.isin(rest, drawn)], "test": tested}


def split_rows(
    n: int,
    keys: Tensor | None,
    splitter: Callable[..., dict[str, Tensor]],
    splitting: dict[str, Any],
    inputs: Sequence[Any],
    classes: Tensor | None = None,
) -> dict[str, Tensor]:
    """Rows of each split by `splitter`; what is fitted on training rows must be fitted on these.

    `splitting` holds its options and, where wanted, `repeats`, a function that splits equal rows of
    the columns `inputs` (n, ...), and `balance`, one that picks training rows by their `classes` (n,).
    A split whose fraction is 0 is not among those that come back where it gets no row.
    Errors: `ValueError` where there are no classes to go by.
    """
    options = {name: value for name, value in splitting.items() if name not in ("repeats", "balance")}
    given = splitting.get("repeats")
    rows: dict[str, Tensor]
    rows = given(n, keys, inputs, splitter, options) if given else splitter(n, keys, **options)
    for split in ("validation", "test"):
        if options.get(split) == 0 and not len(rows[split]):
            del rows[split]  # nobody asked for it
    if "balance" in splitting:
        if classes is None:
            raise ValueError("There are no classes here that training rows could be picked by.")
        rows["train"] = splitting["balance"](rows["train"], classes, options.get("seed", 0))
    return rows


def split_columns(columns: dict[str, Any], rows: dict[str, Tensor], device: str) -> dict[str, dict[str, Any]]:
    """Each split's part of every column, tensors (N, ...) on `device`; lazy columns stay in their files.

    Errors: `ValueError` where a split has no row.
    """
    empty = [split for split, at in rows.items() if not len(at)]
    if empty:
        count = sum(len(at) for at in rows.values())
        raise ValueError(
            f"Of {count:,} rows none is left for {empty[0]}: give it a larger fraction, or more rows."
        )
    return {
        split: {
            name: values.at(at) if isinstance(values, Lazy) else values[at].to(device)
            for name, values in columns.items()
        }
        for split, at in rows.items()
    }
