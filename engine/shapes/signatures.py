"""What a wire carries, and what is known of a node."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from engine.catalogue import Layer, NodeType, Wire
from engine.catalogue.axes import Axes, Ragged
from engine.catalogue.symbols import name
from engine.shapes.problems import Problem


@dataclass(frozen=True, slots=True, order=True)
class Signature:
    """What a wire carries: `shape` without the batch axis, and the dtype's name.

    `per_batch` marks a value that has no batch axis at all, such as a loss. `rows` says of what a row is one,
    where it is not an example: "nodes" or "edges" of graphs that lie side by side. `axes` says what those of
    the shape stand for, and `ragged` is the first where rows differ in length along it; signatures that
    differ in these alone are equal.
    """

    shape: tuple[int, ...]
    dtype: str = "float32"
    per_batch: bool = False
    rows: str = ""
    axes: Axes = field(default=(), compare=False)
    ragged: Ragged = field(default=(), compare=False)

    def __str__(self) -> str:
        return "×".join(self.sizes) or "scalar"

    @property
    def sizes(self) -> list[str]:
        """The sizes of an example; "tokens ≤ 64" where rows differ in length."""
        sizes = [str(size) for size in self.shape]
        return [f"{self.ragged[0]} ≤ {sizes[0]}", *sizes[1:]] if self.ragged else sizes

    @property
    def full(self) -> str:
        """With the batch: `N×32×26×26`."""
        return "×".join([self.rows or "N", *self.sizes])


@dataclass(frozen=True, slots=True)
class Facts:
    """What is known of one node. Sizes count numbers; `multiply_adds` is for one example.

    `layers` counts the nodes inside a block, in every copy of it.

    `carries` are the functions and classes of ours that its lines use, `constructors` the layers it keeps, as
    text.
    """

    outputs: Mapping[str, Signature] = field(default_factory=dict)
    parameters: int = 0
    multiply_adds: int = 0
    layers: int = 1
    problem: Problem | None = None
    carries: frozenset[Callable[..., Any]] = frozenset()
    constructors: tuple[str, ...] = ()


def marks(carried: Mapping[str, Signature]) -> tuple[tuple[str, Signature, Axes, Ragged], ...]:
    """What wires carry, in a form that tells apart those whose axes stand for other things, too."""
    return tuple((port, found, found.axes, found.ragged) for port, found in carried.items())


def wires_of(arriving: Mapping[str, Signature]) -> dict[str, Wire]:
    """The wires a node's `emit` gets, each called after its port."""
    return {
        port: Wire(name(port), found.shape, found.dtype, found.rows, ragged=found.ragged)
        for port, found in arriving.items()
    }


def with_axes(
    made: NodeType, arriving: Mapping[str, Signature], leaving: Mapping[str, Signature]
) -> dict[str, Signature]:
    """What leaves a layer with what its axes stand for; several inputs must agree on theirs."""
    if not isinstance(made, Layer):
        return dict(leaving)
    known = [found.axes for found in arriving.values() if found.axes]
    alike = all(axes == known[0] for axes in known if len(axes) == len(known[0]))
    given = known[0] if known and alike else ()
    along = kept_axis(made, arriving)
    first = next(iter(arriving.values()), Signature(())).shape[:1]

    def keeps(port: str, found: Signature) -> bool:
        return port in made.keeps_places if made.reads_lengths else found.shape[:1] == first

    return {
        port: replace(
            found,
            axes=made.axes_after(given, len(found.shape)),
            ragged=along if keeps(port, found) else (),
        )
        for port, found in leaving.items()
    }


def kept_axis(made: Layer, arriving: Mapping[str, Signature]) -> Ragged:
    """The axis along which rows differ in length behind a layer as before it; () where there is none."""
    if made.reads_lengths:
        found = arriving.get(next((port.name for port in made.inputs()), ""))
        return found.ragged if found is not None else ()
    axes = {found.ragged for found in arriving.values()}
    by_place = all(made.treats_each_place(found.shape) for found in arriving.values())
    return next(iter(axes)) if len(axes) == 1 and by_place else ()
