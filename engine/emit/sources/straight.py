"""What is asked of one who writes how a source is read, and what comes back."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from engine.catalogue import Data
from engine.catalogue.identifiers import NameBook
from engine.emit.statements import Statement

Function = Callable[..., Any]


@dataclass(frozen=True)
class Reading:
    """A data node whose reading is to be written.

    `options` are those that its loader takes beside the folder and the device, `wanted` the names of the
    columns that the script uses, `names` gives variables of its function, which has `folder` and `device`,
    and `outside` names of functions and classes beside it. With `keeps` it keeps its tokenisers.
    """

    data: Data
    options: Mapping[str, Any]
    wanted: tuple[str, ...]
    names: NameBook
    outside: NameBook
    keeps: bool = False


@dataclass(frozen=True)
class Straight:
    """Lines that read a source, and then `value`, an expression of its {split: {column: values}}.

    `carries` are functions that they call, all of them among those the writer says it may carry; `beside` are
    functions and classes of the script's own, whose names are given by `Reading.outside`.
    """

    lines: Sequence[Statement]
    value: str
    carries: Sequence[Function] = ()
    beside: Sequence[Sequence[Statement]] = ()


@dataclass(frozen=True)
class Writer:
    """Who writes what a loader reads: `write` gives None where the loader itself is to be carried.

    `may_carry` are all functions that its lines may call.
    """

    write: Callable[[Reading], Straight | None]
    may_carry: tuple[Function, ...] = ()
