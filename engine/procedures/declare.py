"""What a procedure is: a named loop over a trained model, declared once.

It says what it takes as typed parameters, which networks it is for, and what of them its loop needs. The loop
is a portable generator function that yields states one by one, each a dict of tensors, numbers and texts;
whoever runs it may watch, step and stop it. Playground, views, command line and exported scripts go by the
declaration alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

from engine.catalogue import Composite, Data
from engine.catalogue import Layer as LayerType
from engine.catalogue.params import Ints, Parametrised, ParamSpec, collect, param
from engine.errors import ParamError
from engine.shapes.heads import Head, Wire, heads, input_columns

if TYPE_CHECKING:
    from engine.catalogue import Column, NodeType
    from engine.document.graph import Project
    from engine.shapes.shapes import ShapeBook, Signature

SPLITS = ("train", "validation", "test")
State = dict[str, Any]
Loop = Callable[..., Iterator[State]]


@dataclass(frozen=True, slots=True)
class Layer:
    """The layer of a node, in the model."""

    node_id: str


@dataclass(frozen=True, slots=True)
class Model:
    """The whole model."""


@dataclass(frozen=True, slots=True)
class LayerPaths:
    """A dict of the places of layers in the model, by what the procedure calls them: `{name: node id}`."""

    names: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class FirstWeight:
    """A weight of the model, for its device and dtype."""


@dataclass(frozen=True, slots=True)
class Value:
    """What is on a wire for the rows that the procedure was given."""

    wire: Wire


@dataclass(frozen=True, slots=True)
class Function:
    """What is on a wire as a function of what is on another one.

    The other columns are those of the first row given, or `by_row` those of each. `last` names an axis, the
    batch being 0, of which only the last place counts; `also` are more wires that it is a function of. Of a
    value that grows so many of the `latest` places are read, whatever the `parents` of its rows; 0: all.
    """

    wire: Wire
    given: Wire
    last: int | None = None
    also: tuple[Wire, ...] = ()
    by_row: bool = False
    latest: int = 0


@dataclass(frozen=True, slots=True)
class Tokens:
    """The tokeniser that was learned from the data: the first, or the `last` of several."""

    last: bool = False


Plain = int | float | str | tuple[int, ...] | tuple[str, ...]
Part = Layer | LayerPaths | Model | FirstWeight | Value | Function | Tokens | Plain


@dataclass(frozen=True, slots=True)
class Bound:
    """A procedure's place in a network: `parts` are the first arguments of its loop by name.

    `params` stand in place of the declared ones of the same name, such as a choice of the network's layers.
    """

    node_id: str
    parts: Mapping[str, Part]
    params: Mapping[str, ParamSpec] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Net:
    """A network as declarations see it: the graph as it is trained, and what is known of its wires."""

    project: Project
    book: ShapeBook

    @property
    def heads(self) -> tuple[Head, ...]:
        return heads(self.project, self.book)

    @property
    def distinct_heads(self) -> list[Head]:
        """One head for each prediction: that of a loss, where there is one."""
        return list({one.prediction: one for one in reversed(self.heads)}.values())[::-1]

    def type_of(self, node_id: str) -> NodeType:
        return self.book.types[node_id]

    def showing(self, what: str) -> list[str]:
        """The nodes whose layer has states or values of its own that go by this name, such as "energy"."""
        return [one for one in self.project.graph.order() if what in self.type_of(one).shows]

    def arriving(self, node_id: str) -> Wire | None:
        """The wire that ends at a node's first input."""
        link = next(iter(self.project.graph.incoming(node_id)), None)
        return None if link is None else (link.source, link.source_port)

    def signature(self, wire: Wire) -> Signature | None:
        return self.book.signature(*wire)

    def inputs_of(self, wire: Wire) -> list[tuple[Wire, Column]]:
        """The columns of data that a value is computed from."""
        graph, columns = self.project.graph, input_columns(self.project, self.book, wire[0])
        before = {wire[0], *graph.ancestors(wire[0])}
        data = [one for one in before if isinstance(self.book.types.get(one), Data)]
        return [((one, column.name), column) for column in columns for one in data if self._has(one, column)]

    def reads_on(self, wire: Wire) -> bool:
        """Whether all layers behind a sequence treat each step by itself, or read on from what they kept.

        Then the model may be given steps from the first to any, or those alone that are new.
        """
        signature = self.signature(wire)
        behind = [one for one in self.project.graph.descendants(wire[0]) if one in self.book.types]
        return (
            signature is not None
            and not signature.ragged
            and all(_reads_on(self.book, one) for one in behind)
        )

    def _has(self, node_id: str, column: Column) -> bool:
        made = self.type_of(node_id)
        return isinstance(made, Data) and made.column(column.name) == column


def _reads_on(book: ShapeBook, node_id: str) -> bool:
    made = book.types[node_id]
    if isinstance(made, Composite):
        inside = book.books.get(node_id)
        return inside is not None and not made.scan and all(_reads_on(inside, one) for one in inside.types)
    arriving = book.inputs(node_id).values()
    return (
        not isinstance(made, LayerType)
        or made.reads_on()
        or all(made.treats_each_place(one.shape) for one in arriving)
    )


class Procedure(Parametrised):
    """A named loop over a trained model; subclasses declare `param()`s, a `loop` and where they `bind`.

    A loop is called with the parts that are bound, with `draws`, a generator on the CPU for all that it
    draws, and with the parameters by name. With `examples` it is about rows of the data, which the user
    names. One that is `main` is what such a network is for: exported scripts have it unasked. `shows`
    names the tensors, or the text, of a state that views draw: the first of them that there is.
    """

    name: ClassVar[str] = ""
    loop: ClassVar[Loop]
    examples: ClassVar[bool] = True
    main: ClassVar[bool] = True
    shows: ClassVar[tuple[str, ...]] = ("state",)

    split: str = param("validation", choices=SPLITS, doc="the part of the data that rows are of")
    rows: Ints = param((0,), minimum=0, doc="numbers of the examples, from 0")

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        cls.name = cls.__dict__.get("name") or cls.__name__.lower()
        found = collect(cls)
        cls.params = found if cls.examples else tuple(one for one in found if one.name not in ABOUT_ROWS)

    @classmethod
    def bind(cls, net: Net) -> Iterator[Bound]:
        """Where in a network the loop can run; nowhere for networks that it is not for."""
        raise NotImplementedError


ABOUT_ROWS = ("split", "rows")
Procedure.params = collect(Procedure)


@dataclass(frozen=True, slots=True)
class Offer:
    """A procedure that a network has, by the name that it goes by there."""

    name: str
    procedure: type[Procedure]
    bound: Bound

    @property
    def params(self) -> tuple[ParamSpec, ...]:
        """What it takes in this network."""
        return tuple(self.bound.params.get(one.name, one) for one in self.procedure.params)

    @property
    def options(self) -> tuple[ParamSpec, ...]:
        """What the loop itself takes: all but which rows of the data it is about."""
        return tuple(one for one in self.params if one.name not in ABOUT_ROWS)

    def checked(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """Values for all parameters. Errors: `ParamError` for an unknown name or a value out of range."""
        unknown = next((one for one in values if all(spec.name != one for spec in self.params)), None)
        if unknown is not None:
            known = ", ".join(spec.name for spec in self.params)
            raise ParamError(f"{self.name} takes no {unknown[:60]!r}; it takes {known}.")
        return {spec.name: spec.check(values.get(spec.name, spec.default)) for spec in self.params}
