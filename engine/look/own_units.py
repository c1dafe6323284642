"""The units that data came in: grams, days, classes. How a run's columns were made of them, and the way back.

Networks see numbers that were scaled while they were read. For people who look at them the data are read once
more without scaling, and what lies between the two is found by comparing: what does not agree is not shown.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor

from engine.catalogue import Catalogue, Column, Data
from engine.data.fitted import Fitted
from engine.data.loading.node import read_node, too_large
from engine.document.graph import Node
from engine.document.shipped import datasets_folder, reading
from engine.shapes.folding import Prepared
from engine.values import Value

COMPARED = 2000  # rows
AGREES = 0.01  # of a deviation: how far a value may lie from what scaling says
PLAIN: dict[str, Value] = {
    "scaling": "none",
    "target_scaling": "none",
    "standardise": False,
    "standardise_target": False,
    "values": "as they are",
}
MOST_AXES = 2  # of a row; images are shown as images, not as numbers

Change = Callable[[Tensor], Tensor]


@dataclass(frozen=True, slots=True, eq=False)
class OwnUnits:
    """How one column of a run's batches came from the data, `own`, and how it goes back.

    `change` makes rows (n, *own.shape) what the network sees, `undo` gives back what they were; where `each`,
    every number is changed by itself. `rows` are some training rows in their own units.
    """

    own: Column
    change: Change
    undo: Change
    each: bool
    rows: Tensor


def plain(node: Node, catalogue: Catalogue) -> Node:
    """The data node with its scaling turned off; the node itself where it scales nothing."""
    kind = catalogue.get(node.type)
    usual = {} if kind is None else {spec.name: spec.default for spec in kind.params}
    found: dict[str, Value] = {
        name: value
        for name, value in PLAIN.items()
        if name in usual and node.params.get(name, usual[name]) != value
    }
    return replace(node, params={**node.params, **found}) if found else node


def scales(node: Node, made: Data, catalogue: Catalogue) -> bool:
    """Whether the node, or a transform behind it, gives other numbers than its files hold."""
    always = type(own_data(made)).scale is not Data.scale
    return always or isinstance(made, Prepared) or plain(node, catalogue) is not node


def own_data(made: Data) -> Data:
    """The data node's own type, without the transforms behind it."""
    return made.data if isinstance(made, Prepared) else made


def own_column(made: Data, name: str) -> Column | None:
    """The data's own column that a column of batches is made of."""
    if isinstance(made, Prepared):
        name = made.own_name(name)
        came_from = {step.into.name: step.column for step in made.steps}
        while name in came_from:
            name = came_from[name]
    return own_data(made).column(name)


def own_units(
    node: Node, made: Data, catalogue: Catalogue, splits: Mapping[str, Mapping[str, Any]]
) -> dict[str, OwnUnits]:
    """What is known of each column of a run's batches that is a number; `made` as the run sees the node.

    Columns whose own units cannot be told are left out. Errors: those of `read_node`.
    """
    if not scales(node, made, catalogue):
        return {}
    bare = plain(node, catalogue)
    if too_large(node):
        return {}
    data, steps = (made.data, made.steps) if isinstance(made, Prepared) else (made, ())
    raw = dict(read_node(bare, catalogue)["train"])
    names = made.names if isinstance(made, Prepared) else {}
    own = [column.name for column in (*data.columns(), *(step.into for step in steps))]
    called = {names.get(name, name): name for name in own}
    given = {called[name]: values for name, values in splits.get("train", {}).items() if name in called}
    with reading(node.id):
        always = data.scale(data.folder() or datasets_folder())
    if always:
        given = raw | given
        raw = {name: mean + by * raw[name][:] for name, (mean, by) in always.items()}
    elif any(step.picks for step in steps):  # the run's rows are no longer those of the file
        given = dict(raw if bare is node else read_node(node, catalogue)["train"])
    elif any(step.column not in given and data.column(step.column) for step in steps):
        given |= raw if bare is node else read_node(node, catalogue)["train"]
    found: dict[str, OwnUnits] = {}
    for column in data.columns():
        if column.dtype == "float32" and column.name in raw and column.name in given:
            scaled = bare is not node or column.name in always
            scaling = _compared(raw[column.name], given[column.name]) if scaled else _nothing()
            if scaling is not None:
                rows = _some(raw[column.name]).clone()
                found[column.name] = OwnUnits(column, scaling.change, scaling.undo, True, rows)
    fed: dict[str, dict[str, Any]] = {"train": {**given, **{f"own {name}": raw[name] for name in raw}}}
    for step in steps:
        before = found.get(step.column)
        fitted = step.function(fed, step.column, step.into.name, **step.options)
        if before is not None and isinstance(fitted, Fitted):
            found[step.into.name] = _then(before, fitted)
    if any(step.picks for step in steps):
        found = {
            name: replace(units, rows=_some(fed["train"][f"own {units.own.name}"]))
            for name, units in found.items()
        }
    found = {names.get(name, name): units for name, units in found.items()}
    return {name: units for name, units in found.items() if _agree(units, splits, name)}


def _nothing() -> Fitted:
    return Fitted(_same, _same)


def _same(rows: Tensor) -> Tensor:
    return rows


def _some(values: Any) -> Tensor:
    """At most 2,000 rows of a column, evenly over all."""
    count = len(values)
    rows = torch.arange(min(count, COMPARED)) * count // max(1, min(count, COMPARED))
    found: Tensor = values[rows].cpu()
    return found


def _compared(raw: Any, scaled: Any) -> Fitted | None:
    """The factor and the shift of each number between the same rows; None where there are no such."""
    if tuple(raw.shape) != tuple(scaled.shape) or not len(raw) or raw.dim() > 1 + MOST_AXES:
        return None
    x, y = _some(raw).double(), _some(scaled).double()
    known = x.isfinite() & y.isfinite()
    most = torch.where(known, x, -torch.inf).argmax(0, keepdim=True)
    least = torch.where(known, x, torch.inf).argmin(0, keepdim=True)
    x0, x1, y0, y1 = x.gather(0, least), x.gather(0, most), y.gather(0, least), y.gather(0, most)
    varies = (x1 > x0) & (y1 != y0)
    factor = torch.where(varies, (y1 - y0) / torch.where(varies, x1 - x0, 1.0), 1.0)
    shift = (y0 - factor * x0).nan_to_num()
    off = torch.where(known, (factor * x + shift - y).abs(), 0.0)
    if (off > AGREES * (y.nan_to_num().std(0, correction=0, keepdim=True) + 1e-6)).any():
        return None

    def change(rows: Tensor) -> Tensor:
        return (factor * rows.double().cpu() + shift).float()

    def undo(rows: Tensor) -> Tensor:
        return ((rows.double().cpu() - shift) / factor).float()

    return Fitted(change, undo)


def _then(before: OwnUnits, fitted: Fitted) -> OwnUnits:
    def change(rows: Tensor) -> Tensor:
        return fitted.change(before.change(rows))

    def undo(rows: Tensor) -> Tensor:
        return before.undo(fitted.undo(rows))

    return OwnUnits(before.own, change, undo, before.each and fitted.each, before.rows)


def _agree(units: OwnUnits, splits: Mapping[str, Mapping[str, Any]], name: str) -> bool:
    """Whether the run's rows are those that were read: its project may have been edited meanwhile."""
    seen = splits.get("train", {}).get(name)
    if seen is None or not len(seen):
        return False
    there = _some(seen).float()
    return _near(units.change(units.rows), there) or _near(units.undo(there), units.rows)


def _near(found: Tensor, wanted: Tensor) -> bool:
    if found.shape != wanted.shape:
        return False
    off = torch.where(found.isfinite() & wanted.isfinite(), (found - wanted).abs(), 0.0)
    deviation = wanted.nan_to_num().std(0, correction=0, keepdim=True)
    return bool((off <= AGREES * (deviation + 1e-6 + 1e-4 * wanted.nan_to_num().abs())).all())
