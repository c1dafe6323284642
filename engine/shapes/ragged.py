"""Axes along which rows differ in length: where they reach, who reads lengths, what takes filling for data.

Rows of one batch are filled up at their end to its longest row. A layer treats each place by itself, or reads
the lengths and passes over the filling; behind any other the axis is as long for all rows, and is never cut.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from engine.catalogue import Column, Composite, Data, Layer, Measure, NodeType, Output
from engine.catalogue.axes import Ragged
from engine.shapes.signatures import Signature, kept_axis

if TYPE_CHECKING:
    from engine.document.graph import Graph
    from engine.shapes.shapes import ShapeBook

Arriving = Mapping[str, Signature]


def axes_in(arriving: Arriving) -> set[Ragged]:
    """The axes along which what comes into a node differs in length."""
    return {found.ragged for found in arriving.values() if found.ragged}


def by_places(made: NodeType, arriving: Arriving) -> dict[str, Signature]:
    """What a loss or metric compares: of rows that differ in length, what one place has."""
    if not isinstance(made, Measure) or made.reads_lengths or not measured_by_place(arriving):
        return dict(arriving)
    return {
        port: replace(found, shape=found.shape[1:], axes=found.axes[1:], ragged=())
        for port, found in arriving.items()
    }


def measured_by_place(arriving: Arriving) -> bool:
    """Whether all that a loss or metric compares differs in length along one axis."""
    return bool(axes_in(arriving)) and len({found.ragged for found in arriving.values()}) == 1


def of_block(
    made: Composite, arriving: Arriving, leaving: Arriving, inside: ShapeBook
) -> dict[str, Signature]:
    """What leaves a block, with the axes of what comes in where they are left as they are."""
    made._axes_read = () if made.scan else tuple(sorted(axes_read(inside, inside.types)))
    sequences = {found.ragged for port, found in arriving.items() if port not in made.states()}
    along = next(iter(sequences)) if made.scan and len(sequences) == 1 else ()
    before = {found.ragged for found in arriving.values()}
    return {
        port: replace(
            found,
            ragged=along
            if made.scan
            else found.ragged
            if made.times == 1 or {found.ragged} == before
            else (),
        )
        for port, found in leaving.items()
    }


def axes_read(book: ShapeBook, nodes: Iterable[str]) -> set[Ragged]:
    """The axes whose lengths layers among these nodes read, also inside blocks."""
    found: set[Ragged] = set()
    for one in nodes:
        made, arriving = book.types.get(one), book.inputs(one)
        if isinstance(made, Composite):
            found.update(made.axes_read())
        elif isinstance(made, Layer) and made.asks_for_lengths(arriving):
            found |= axes_in(arriving)
    return found


def axes_measured(book: ShapeBook, nodes: Iterable[str]) -> set[Ragged]:
    """The axes whose lengths losses and metrics among these nodes read."""
    found: set[Ragged] = set()
    for one in nodes:
        made, arriving = book.types.get(one), book.inputs(one)
        if isinstance(made, Measure) and (made.reads_lengths or measured_by_place(arriving)):
            found |= axes_in(arriving)
    return found


def taken_for_data(book: ShapeBook, nodes: Iterable[str]) -> Iterator[tuple[str, set[Ragged]]]:
    """The nodes that read the filling of rows as if it were data, and of which axes; also inside blocks."""
    for one in nodes:
        made, arriving = book.types.get(one), book.inputs(one)
        axes = axes_in(arriving)
        if not axes or made is None or isinstance(made, Output):
            continue
        if isinstance(made, Composite):
            if made.scan:
                sequences = [found.ragged for port, found in arriving.items() if port not in made.states()]
                passes = len(set(sequences)) == 1
            else:
                inner = book.books.get(one)
                passes = inner is not None and not any(taken_for_data(inner, inner.types))
        elif isinstance(made, Measure):
            passes = made.reads_lengths or measured_by_place(arriving)
        else:
            passes = isinstance(made, Layer) and (made.reads_lengths or bool(kept_axis(made, arriving)))
        if not passes:
            yield one, axes


@dataclass(frozen=True, slots=True)
class Filled:
    """An axis along which rows differ in length, in a graph that is trained.

    `place` is the column that says how long rows are, `columns` are those that are filled up.
    """

    axis: Ragged
    place: tuple[str, str]
    column: Column
    columns: tuple[str, ...]
    is_cut: bool  # whether a batch has no more places than its longest row


def filled_axes(graph: Graph, book: ShapeBook) -> dict[Ragged, Filled]:
    """The axes of a graph whose lengths something reads, or that a batch has no more of than it needs."""
    used = {(link.source, link.source_port) for link in graph.links}
    lost = {axis for _, axes in taken_for_data(book, graph.nodes) for axis in axes}
    read = axes_read(book, graph.nodes) | axes_measured(book, graph.nodes)
    found: dict[Ragged, Filled] = {}
    for one in graph.order():
        data = book.types.get(one)
        for column in data.columns() if isinstance(data, Data) else ():
            axis: Ragged = (column.ragged, one)
            if not column.ragged or axis in found or (one, column.name) not in used:
                continue
            if axis not in read and axis in lost:
                continue
            assert isinstance(data, Data)
            telling = [each for each in data.columns() if each.lengths_of == column.ragged]
            telling.sort(key=lambda each: ((one, each.name) not in used, len(each.shape)))
            told = next(iter(telling), None)
            if told is None:
                continue
            filled = [each.name for each in data.columns() if each.ragged == column.ragged]
            columns = tuple(name for name in filled if (one, name) in used or name == told.name)
            found[axis] = Filled(axis, (one, told.name), told, columns, axis not in lost)
    return found
