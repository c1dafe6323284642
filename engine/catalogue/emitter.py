"""Collects what one node's `emit` asks for: its layers, its unpacked calls and the value of each port."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from engine.catalogue import Composite, Layer, Measure, NodeType, Source, Wire
from engine.catalogue.identifiers import NameBook
from engine.catalogue.symbols import Expr, lift, name
from engine.errors import EmitError, NeuroloomError, reason_of

Namer = Callable[[str], str]
Pattern = tuple[Any, ...]  # names, nested as the tuple they take apart


@dataclass(frozen=True, slots=True)
class Unpack:
    """One line that takes a tuple apart: `output, (h, c) = self.lstm(x)`."""

    pattern: Pattern
    call: Expr


@dataclass(slots=True)
class NodeCode:
    """What a node becomes: layers to construct and begin, tuples to unpack, an expression for each output."""

    modules: dict[str, Expr] = field(default_factory=dict)
    unpacks: list[Unpack] = field(default_factory=list)
    ports: dict[str, Expr] = field(default_factory=dict)
    twins: dict[str, Expr] = field(default_factory=dict)  # in the twin, in place of the tapped port
    loader: tuple[Callable[..., Any], dict[str, Any]] | None = None
    begins: list[Expr] = field(default_factory=list)
    counts: Expr | None = None  # how much a batch counts for a loss or metric, where not by its examples

    @property
    def carries(self) -> frozenset[Callable[..., Any]]:
        """Functions and classes of ours that the code calls by name."""
        parts = (*self.modules.values(), *self.ports.values(), *(unpack.call for unpack in self.unpacks))
        counts = () if self.counts is None else (self.counts,)
        return frozenset(thing for part in (*parts, *self.begins, *counts) for thing in part.carries)


class NodeBuilder:
    """The `Emitter` of one node; `attribute` is the node's name inside the model.

    `attributes` and `variables` give names that nothing else in the model, or in `forward`, has.
    """

    def __init__(
        self,
        attribute: str,
        attributes: Namer,
        variables: Namer,
        classes: Callable[[Composite], Expr] | None = None,
    ) -> None:
        self.classes = classes
        self.attribute = attribute
        self.attributes = attributes
        self.variables = variables
        self.code = NodeCode()
        self._suffixes: set[str] = set()

    def module(self, constructor: Expr, suffix: str = "") -> Expr:
        if suffix in self._suffixes:
            raise EmitError(f"This node keeps two layers called {suffix or self.attribute}.")
        self._suffixes.add(suffix)
        attribute = self.attributes(f"{self.attribute}_{suffix}") if suffix else self.attribute
        self.code.modules[attribute] = constructor
        layer: Expr = getattr(name("self"), attribute)
        return layer

    def begin(self, statements: Sequence[Expr]) -> None:
        self.code.begins += statements

    def unpack(self, call: Expr, *pattern: Any) -> Any:
        def named(part: Any) -> Any:
            return self.variables(part) if isinstance(part, str) else tuple(named(one) for one in part)

        def expressions(part: Any) -> Any:
            return name(part) if isinstance(part, str) else tuple(expressions(one) for one in part)

        names = tuple(named(part) for part in pattern)
        self.code.unpacks.append(Unpack(names, call))
        return tuple(expressions(part) for part in names)

    def class_of(self, composite: Composite) -> Expr:
        if self.classes is None:
            raise EmitError("A block cannot be built by itself.")
        return self.classes(composite)

    def load(self, loader: Callable[..., Any], **values: Any) -> dict[str, Expr]:
        self.code.loader = (loader, values)
        return {}


def build(
    node_type: NodeType,
    attribute: str,
    wires: Mapping[str, Wire],
    attributes: Namer = str,
    variables: Namer | None = None,
    classes: Callable[[Composite], Expr] | None = None,
) -> NodeCode:
    """Run a node's `emit` on the wires that come in.

    Errors: whatever `emit` raises; anything but a `NeuroloomError` becomes an `EmitError`.
    """
    builder = NodeBuilder(attribute, attributes, variables or NameBook(wires).give, classes)
    only_rule = {port.name for port in node_type.rule_ports} if isinstance(node_type, Layer) else set()
    try:
        found = node_type.emit(
            builder, **{port: wire for port, wire in wires.items() if port not in only_rule}
        )
        outputs = [port.name for port in node_type.outputs()]
        if isinstance(node_type, Measure):
            builder.code.counts = node_type.counts(**wires)
    except NeuroloomError:
        raise
    except Exception as error:  # a node type of a third party may fail in any way; the window must not
        raise EmitError(f"{node_type.title} failed to describe itself: {reason_of(error)}.") from error
    if isinstance(found, Expr) and len(outputs) <= 1:
        builder.code.ports = {outputs[0] if outputs else "value": found}
    elif isinstance(found, dict) and (set(found) == set(outputs) or builder.code.loader):
        builder.code.ports = {port: lift(found[port]) for port in outputs if port in found}
    else:
        raise EmitError(f"{node_type.title} does not say what comes out of {', '.join(outputs) or 'it'}.")
    if node_type.kind in ("loss", "metric") and (builder.code.modules or builder.code.unpacks):
        raise EmitError(
            f"{node_type.title} is a {node_type.kind}: it can keep no layers and unpack no calls."
        )
    return builder.code


def drawn(source: Source, sample: Expr) -> Expr:
    """What a source draws for the rows of `sample`, and on its device. Errors: `EmitError`."""
    found = source.emit(None, name("len")(sample), sample.device)
    if not isinstance(found, Expr):
        raise EmitError(f"{source.title} does not say what it draws.")
    return found


def names_in(tree: ast.AST) -> set[str]:
    """The variables an expression reads."""
    return {found.id for found in ast.walk(tree) if isinstance(found, ast.Name)}
