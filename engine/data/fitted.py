"""Transforms fitted on the training rows alone, applied to all rows. Portable: exports carry this source.

Each is `f(splits, column, into, ...)`: it reads `column` of every split, adds the column `into` and returns
what it found. A column that stays in its file goes on doing so: its rows are changed as they are read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import Tensor

from engine.data.lazy import Lazy


class Changed(Lazy):
    """A lazy column whose rows are changed as they are read; `change` keeps (rows, ...) as it is or not."""

    def __init__(self, column: Lazy, change: Callable[[Tensor], Tensor], size: tuple[int, ...]) -> None:
        super().__init__(len(column), size, torch.float32, str(column.device))
        self.column, self.change, self.ragged = column, change, column.ragged

    def read(self, rows: Tensor) -> Tensor:
        return self.change(self.column[rows].cpu())


class Fitted:
    """What was found in the training rows: `change` changes rows (n, ...), `undo` gives back what they were.

    `each` says that every number is changed by itself, so that it keeps its place and its name.
    """

    def __init__(
        self, change: Callable[[Tensor], Tensor], undo: Callable[[Tensor], Tensor], each: bool = True
    ) -> None:
        self.change, self.undo, self.each = change, undo, each


def change_all(splits: dict[str, dict[str, Any]], column: str, into: str, found: Fitted) -> Fitted:
    """Add `into`, the values of `column` as `found` changes them, to every split."""
    change = found.change
    for columns in splits.values():
        values = columns[column]
        if isinstance(values, Lazy):
            size = tuple(change(values[:1].cpu()).shape[1:])
            columns[into] = Changed(values, change, size)
        else:
            columns[into] = change(values)
    return found


def training_rows(splits: dict[str, dict[str, Any]], column: str) -> Iterator[Tensor]:
    """The training rows of a column, float64, a few thousand at a time, so that any amount can be fitted."""
    values = splits["train"][column]
    for first in range(0, len(values), 4096):
        yield values[first : first + 4096].double().cpu()


def moments(splits: dict[str, dict[str, Any]], column: str, axes: tuple[int, ...]) -> tuple[Tensor, Tensor]:
    """Mean and standard deviation (population) of the training rows over `axes`, sizes kept as 1."""
    n, total, squares = 0, torch.tensor(0.0), torch.tensor(0.0)
    mean = None
    for values in training_rows(splits, column):
        if mean is None:  # the first rows' mean is near enough to keep the sums of squares exact
            mean = values.mean(axes, keepdim=True)
        n += values.numel() // mean.numel()
        total = total + (values - mean).sum(axes, keepdim=True)
        squares = squares + (values - mean).square().sum(axes, keepdim=True)
    assert mean is not None
    shift = total / n
    return mean + shift, (squares / n - shift.square()).clamp(min=0).sqrt()


def axes_of(over: str, dimensions: int) -> tuple[int, ...]:
    """The axes that share their statistics, for values of `dimensions` axes with the rows'."""
    if over == "all numbers":
        return tuple(range(dimensions))
    if over == "each channel":
        return (0, *range(2, dimensions))
    return (0,)


def standardise(
    splits: dict[str, dict[str, Any]], column: str, into: str, over: str = "each number"
) -> Fitted:
    """Standard deviations from the mean; what never varies becomes 0."""
    mean, deviation = moments(splits, column, axes_of(over, splits["train"][column].dim()))
    scale = torch.where(deviation > 1e-12, deviation, 1.0)

    def change(x: Tensor) -> Tensor:
        return ((x - mean.to(x.device)) / scale.to(x.device)).float()

    def undo(y: Tensor) -> Tensor:
        return (y * scale.to(y.device) + mean.to(y.device)).float()

    return change_all(splits, column, into, Fitted(change, undo))


def rescale(
    splits: dict[str, dict[str, Any]],
    column: str,
    into: str,
    low: float = 0.0,
    high: float = 1.0,
    over: str = "each number",
) -> Fitted:
    """The least training value becomes `low`, the greatest `high`; other rows may lie outside."""
    axes = axes_of(over, splits["train"][column].dim())
    least = torch.stack([values.amin(axes, keepdim=True) for values in training_rows(splits, column)]).amin(0)
    most = torch.stack([values.amax(axes, keepdim=True) for values in training_rows(splits, column)]).amax(0)
    reach = torch.where(most > least, most - least, 1.0)

    def change(x: Tensor) -> Tensor:
        part = (x - least.to(x.device)) / reach.to(x.device)
        return (low + (high - low) * part).float()

    def undo(y: Tensor) -> Tensor:
        return ((y - low) / (high - low) * reach.to(y.device) + least.to(y.device)).float()

    return change_all(splits, column, into, Fitted(change, undo))


def whiten(
    splits: dict[str, dict[str, Any]],
    column: str,
    into: str,
    kind: str = "PCA",
    components: int | None = None,
    epsilon: float = 1e-5,
) -> Fitted:
    """Uncorrelated with variance 1: along the principal axes ("PCA"), or turned back ("ZCA").

    "projection" only turns to the principal axes and leaves their variances. Rows are (D,); PCA and
    projection keep `components` axes of the greatest variance. `epsilon` is added to each variance. Where
    axes are left out, undoing it gives the mean along them. Bell and Sejnowski, 1997.
    """
    mean, _ = moments(splits, column, (0,))
    n, products = 0, torch.zeros(mean.shape[1], mean.shape[1], dtype=torch.float64)
    for values in training_rows(splits, column):
        n += len(values)
        products += (values - mean).T @ (values - mean)
    variances, axes = torch.linalg.eigh(products / n)
    variances, axes = variances.flip(0), axes.flip(1)
    largest = axes.gather(0, axes.abs().argmax(0)[None])
    axes = axes * torch.where(largest < 0, -1.0, 1.0)  # one sign, whoever computes it
    spread = (variances + epsilon).sqrt()
    turn: Tensor
    back: Tensor
    if kind == "ZCA":
        turn = axes @ torch.diag((variances + epsilon).rsqrt()) @ axes.T
        back = axes @ torch.diag(spread) @ axes.T
    else:
        kept = slice(components)
        turn = axes[:, kept]
        back = turn.T
        if kind == "PCA":
            turn = turn * (variances[kept] + epsilon).rsqrt()
            back = back * spread[kept, None]

    def change(x: Tensor) -> Tensor:
        return ((x.double() - mean.to(x.device)) @ turn.to(x.device)).float()

    def undo(y: Tensor) -> Tensor:
        return (y.double() @ back.to(y.device) + mean.to(y.device)).float()

    return change_all(splits, column, into, Fitted(change, undo, each=False))


def impute(
    splits: dict[str, dict[str, Any]],
    column: str,
    into: str,
    by: str = "mean",
    value: float = 0.0,
    marks: bool = False,
) -> Fitted:
    """What is missing (NaN) becomes the training rows' mean or median, or `value`; rows are (D,).

    With `marks`, D more numbers say which were missing, as 1.
    """
    train = splits["train"][column][:].double().cpu()
    filled = torch.full(train.shape[1:], value, dtype=torch.float64)
    if by != "value":
        found = train.nanmean(0) if by == "mean" else train.nanquantile(0.5, 0)
        filled = torch.where(found.isnan(), filled, found)

    def change(x: Tensor) -> Tensor:
        missing = x.isnan()
        whole = torch.where(missing, filled.to(x.device), x.double()).float()
        return torch.cat([whole, missing.float()], 1) if marks else whole

    def undo(y: Tensor) -> Tensor:
        values, lost = y.chunk(2, 1) if marks else (y, torch.zeros_like(y))
        return torch.where(lost > 0, torch.nan, values)

    return change_all(splits, column, into, Fitted(change, undo, each=not marks))


def ranks(splits: dict[str, dict[str, Any]], column: str, into: str, steps: int = 1000) -> Fitted:
    """Each number becomes its place among the training rows, 0 to 1, by `steps` quantiles; rows are (D,)."""
    train = splits["train"][column][:].double().cpu()
    levels = torch.linspace(0, 1, steps, dtype=torch.float64)
    known = torch.sort(train, 0).values[(levels * (len(train) - 1)).round().long()].T.contiguous()

    def change(x: Tensor) -> Tensor:
        asked = x.double().cpu().T.contiguous()
        below = torch.searchsorted(known, asked) + torch.searchsorted(known, asked, right=True)
        return (below.T / (2 * steps)).clamp(0, 1).float().to(x.device)

    def undo(y: Tensor) -> Tensor:
        at = (y.double().cpu() * steps).round().long().clamp(1, steps) - 1
        return known.gather(1, at.T).T.float().to(y.device)

    return change_all(splits, column, into, Fitted(change, undo))
