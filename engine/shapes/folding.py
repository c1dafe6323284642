"""Transforms become part of the data node they hang on: steps of the script's `load`, a column each.

Columns of several data nodes get names that no two of them share, for a batch holds them all.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

from engine.catalogue import Column, Data, Emitted, Emitter, Transform
from engine.catalogue.identifiers import NameBook
from engine.document.graph import Graph, Link, Project
from engine.shapes.shapes import ShapeBook
from engine.shapes.streams import feeding


@dataclass(frozen=True, slots=True)
class Step:
    """One transform: the node, the function, the column it reads, the column it adds, its options.

    `picks` says that it decides which rows there are.
    """

    node_id: str
    function: Callable[..., object]
    column: str
    into: Column
    options: dict[str, Any]
    picks: bool = False


class Prepared(Data, abstract=True):
    """A data source with the transforms behind it; `names` are those of columns that go by another name."""

    palette = False

    def __init__(
        self, data: Data, steps: tuple[Step, ...] = (), names: Mapping[str, str] = MappingProxyType({})
    ) -> None:
        super().__init__()
        self.data, self.steps, self.names = data, steps, names
        self.path = str(getattr(data, "path", ""))
        self.title, self.files = data.title, data.files  # type: ignore[misc]  # as those of its type

    def columns(self) -> tuple[Column, ...]:
        columns = (*self.data.columns(), *(step.into for step in self.steps))
        return tuple(replace(one, name=self.names.get(one.name, one.name)) for one in columns)

    def own_name(self, column: str) -> str:
        """What the data source itself calls a column of a batch."""
        return next((own for own, name in self.names.items() if name == column), column)

    def lacks(self) -> frozenset[str]:
        return self.data.lacks()

    def folder(self) -> Path | None:
        return self.data.folder()

    def holds(self) -> tuple[str, ...]:
        return self.data.holds()

    def read_by_batch(self) -> bool:
        return self.data.read_by_batch()

    def held(self, size: int) -> int:
        return self.data.held(size)

    def typed(self, column: str, text: str) -> dict[str, Any] | None:
        found = self.data.typed(self.own_name(column), text)
        return found and {self.names.get(own, own): value for own, value in found.items()}

    def plainly(self) -> bool:
        return self.data.plainly()

    def loosely(self) -> bool:
        return self.data.loosely()

    def dtypes(self) -> Mapping[str, str]:
        return self.data.dtypes()

    def forms(self) -> tuple[str, ...]:
        return self.data.forms()

    def learned_key(self) -> Hashable | None:
        return self.data.learned_key()

    def summary(self) -> str:
        return self.data.summary()

    def split_by(self) -> Hashable:
        return self.data.split_by()

    def row_count(self) -> int:
        return self.data.row_count()

    def emit(self, e: Emitter) -> Emitted:
        found: Emitted = self.data.emit(e)
        return found


def folded(project: Project, book: ShapeBook) -> tuple[Project, ShapeBook]:
    """The project without transforms, and a book in which their columns belong to the data."""
    return _distinct(*_without_transforms(project, book))


def _without_transforms(project: Project, book: ShapeBook) -> tuple[Project, ShapeBook]:
    graph = project.graph
    order = [one for one in graph.order() if isinstance(book.types.get(one), Transform)]
    if not order:
        return project, book
    transforms = set(order)
    used: set[str] = set()
    for one in reversed(order):
        if any(link.target in used or link.target not in transforms for link in graph.outgoing(one)):
            used.add(one)
    steps: dict[str, list[Step]] = {}
    names: dict[str, NameBook] = {}
    place: dict[str, tuple[str, str]] = {}  # transform -> data node and column
    for one in order:
        made = book.types[one]
        link = next(iter(graph.incoming(one)), None)
        assert isinstance(made, Transform)
        if link is None or one not in used:
            continue
        source, column = place.get(link.source, (link.source, link.source_port))
        data = book.types[source]
        if not isinstance(data, Data):
            continue
        known = names.setdefault(source, NameBook([found.name for found in data.columns()]))
        into = known.give(graph.node(one).name, made.title)
        place[one] = source, into
        function, options = made.fit()
        step = Step(one, function, column, replace(made.columns()[0], name=into), options, made.picks)
        steps.setdefault(source, []).append(step)
    links = [
        Link(*place.get(link.source, (link.source, link.source_port)), link.target, link.target_port)
        for link in graph.links
        if link.target not in transforms
    ]
    nodes = [node for node in graph.nodes.values() if node.id not in transforms]
    for source, found in steps.items():
        data = book.types[source]
        assert isinstance(data, Data)
        book = book.folded(source, Prepared(data, tuple(found)), order)
    return replace(project, graph=Graph(nodes, links)), book


def _distinct(project: Project, book: ShapeBook) -> tuple[Project, ShapeBook]:
    """The project with another name for each column of a data node that one before it has, too."""
    graph = project.graph
    data = feeding(graph, book.types)
    if len(data) < 2:
        return project, book
    used = {(one, link.source_port) for one in data for link in graph.outgoing(one)}
    known: set[str] = set()
    renamed: dict[str, dict[str, str]] = {}
    for one in data:
        for port in [port.name for port in book.types[one].outputs() if (one, port.name) in used]:
            given = port
            if port in known:
                title = graph.node(one).name or book.types[one].title
                given = NameBook((*known, *(name for _, name in used))).give(f"{title} {port}")
                renamed.setdefault(one, {})[port] = given
            known.add(given)
    for one, names in renamed.items():
        made = book.types[one]
        assert isinstance(made, Data)
        steps = made.steps if isinstance(made, Prepared) else ()
        plain = made.data if isinstance(made, Prepared) else made
        book = book.folded(one, Prepared(plain, steps, names), ())
    links = [
        replace(link, source_port=renamed.get(link.source, {}).get(link.source_port, link.source_port))
        for link in graph.links
    ]
    return replace(project, graph=Graph(list(graph.nodes.values()), links)), book
