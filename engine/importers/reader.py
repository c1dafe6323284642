"""Reads expressions of a model into nodes: one scope, the whole network or the inside of a block."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import permutations
from typing import Any

from engine.catalogue import Catalogue, Composite, Layer, Measure, NodeType, Port, Source
from engine.catalogue.axes import Ragged
from engine.catalogue.identifiers import slug
from engine.catalogue.symbols import Expr, name
from engine.document.edits import AddNodes, Edit, Rename
from engine.document.graph import BLOCK, Link, Node, Project
from engine.emit.batching import lengths_in
from engine.errors import NeuroloomError
from engine.importers.findings import Finding, Findings, quoted_code
from engine.importers.fitting import fitted
from engine.importers.likely import Likely, calls_in, likely
from engine.importers.matching import HOLE, Binding, difference, size
from engine.importers.patterns import LAYER, Definitions, Pattern, outputs_of, pattern_of
from engine.importers.spelling import constants_in, spelled
from engine.importers.trees import (
    PLACE,
    as_there,
    attributes,
    cuts,
    replaced,
    shown_tree,
    values_in,
    with_names,
    with_variables,
)
from engine.shapes.inside import last_squash, within
from engine.shapes.ragged import filled_axes
from engine.shapes.shapes import ShapeBook
from engine.shapes.signatures import Signature
from engine.values import Value

FAR = 1000  # what a definition that a script carries may differ in counts less than the line itself
UNKNOWN = "Python"  # the type of a node that stands for a line that no type writes
SECOND_TRY = 40  # parts of a line that may differ in the best of all types, in per cent
Out = tuple[str, str]  # a node and one of its output ports


@dataclass(slots=True)
class Constructed:
    """What `__init__` of a class makes: layers by attribute, what begins them, and the lines."""

    layers: dict[str, ast.expr] = field(default_factory=dict)
    begins: dict[str, list[ast.expr]] = field(default_factory=dict)
    lines: dict[str, ast.AST] = field(default_factory=dict)
    ties: list[tuple[str, str, ast.AST]] = field(default_factory=list)
    values: dict[str, ast.expr] = field(default_factory=dict)  # attributes that are plain values
    blocks: dict[str, tuple[str, ast.AST]] = field(default_factory=dict)  # attribute: class, its constructor
    functions: set[str] = field(default_factory=set)  # layers without weights that were read as functions
    chains: dict[str, list[str]] = field(default_factory=dict)  # layers of `nn.Sequential`, in a row


@dataclass(frozen=True, slots=True)
class Found:
    """A node that writes a line: its type and values, what its holes and layers are there, and its port."""

    type: type[NodeType]
    params: Mapping[str, Value]
    holes: Mapping[str, str]
    layers: Mapping[str, str]
    port: str
    cost: int
    pattern: Pattern


@dataclass(frozen=True, slots=True)
class _State:
    """What was read up to some line."""

    edits: int
    known: tuple[dict[str, Any], ...]
    findings: list[Finding]


@dataclass(slots=True)
class Shared:
    """What all scopes of a file have in common."""

    project: Project
    catalogue: Catalogue
    findings: Findings
    aliases: Mapping[str, str]
    defined: Definitions
    book: ShapeBook
    likely: Likely = field(default_factory=Likely)
    composite: type[Composite] | None = None
    block_ids: dict[str, str] = field(default_factory=dict)  # class: id of its block

    @classmethod
    def of(
        cls,
        project: Project,
        catalogue: Catalogue,
        findings: Findings,
        aliases: Mapping[str, str],
        tree: ast.Module,
    ) -> Shared:
        from engine.importers.patterns import definitions_of

        known = likely(catalogue)
        block = catalogue.get(BLOCK)
        found = block if block is not None and issubclass(block, Composite) else None
        defined = definitions_of(tree, known.ours)
        return cls(project, catalogue, findings, aliases, defined, ShapeBook(catalogue), known, found)


class Reader:
    """Reads the expressions of one scope; `scope` is the id of a block, "" for the whole network.

    `made` says what layers there are. A value that is known is a variable `place_…` in trees.
    """

    def __init__(
        self, shared: Shared, made: Constructed, scope: str = "", book: ShapeBook | None = None
    ) -> None:
        self.shared = shared
        self.made = made
        self.scope = scope
        self.book = book or shared.book
        self.places: dict[str, Out] = {}
        self.known: dict[str, tuple[Out, int]] = {}  # by what writes it: the value, and the pass that read it
        self.owners: dict[str, str] = {}  # layers that are taken: the node that keeps each
        self.turn = 0  # which function is being read; the same line in two functions is one node
        self.line: ast.AST | None = None
        self._undo: list[Edit] = []  # what takes back each change of the project, in order

    # -- the graph

    @property
    def project(self) -> Project:
        return self.shared.project

    def view(self) -> Project:
        """The scope as a project of its own."""
        return within(self.project, self.scope) if self.scope else self.project

    def add(
        self, type_id: str, name: str, params: Mapping[str, Value], wires: Mapping[str, Out], shares: str = ""
    ) -> str:
        """A new node with its wires; returns its id."""
        node = Node(self.project.new_id(), type_id, name, params, shares=shares)
        links = [Link(*out, node.id, port) for port, out in wires.items()]
        self._undo.append(AddNodes((node,), tuple(links), self.scope).apply(self.project))
        self.book.update(self.view(), {node.id})
        return node.id

    def rename(self, node_id: str, name: str) -> None:
        """Call a node so, where that becomes the name that it has in the file."""
        node = self.project.node(node_id)
        if name and name != node.name and (not node.name or slug(name) == slug(node.name)):
            self._undo.append(Rename(node_id, name).apply(self.project))
            self.book.update(self.view(), {node_id})

    def place(self, out: Out) -> ast.Name:
        """A value of the graph as a variable."""
        name = next((key for key, found in self.places.items() if found == out), None)
        if name is None:
            name = f"{PLACE}{len(self.places)}"
            self.places[name] = out
        return ast.Name(name, ast.Load())

    def signature(self, variable: str) -> Signature:
        out = self.places[variable]
        found = self.book.signature(*out)
        return found or self._guessed(out)

    def _guessed(self, out: Out) -> Signature:
        """What a value is taken for while its node has a problem: what its line gives, or what comes in."""
        made = self.book.types.get(out[0])
        arriving = self.book.inputs(out[0])
        found = {} if made is None else outputs_of(made, arriving)
        return found.get(out[1]) or next(iter(arriving.values()), Signature((1,)))

    # -- values

    def value(self, tree: ast.expr, name: str = "") -> ast.Name:
        """The value of a tree, whose variables are known; its nodes are added where they are new."""
        if isinstance(tree, ast.Name) and tree.id in self.places:
            return tree
        key = ast.dump(tree)
        if key in self.known and self.known[key][1] != self.turn:
            self.known[key] = (self.known[key][0], self.turn)
            return self.place(self.known[key][0])
        known_port = self.known.get(f"port {key}")
        if known_port is not None:
            return self.place(known_port[0])
        found, cut = self._best(tree)
        if found is None:
            out = (self._unknown(cut), "output")
            self.known[f"port {key}"] = (out, self.turn)
            return self.place(out)
        return self._kept(cut, found, name, key)

    def gives(self, tree: ast.expr) -> bool:
        """Whether a node gives the value of a tree as it stands."""
        key = ast.dump(tree)
        if key in self.known or f"port {key}" in self.known:
            return True
        found = self.explained(tree)
        return found is not None and found.cost < FAR

    def _best(self, tree: ast.expr) -> tuple[Found | None, ast.expr]:
        """What writes a tree whole, or its outside once what is inside it is read."""
        found = self.explained(tree)
        if found is not None and found.cost < FAR:
            return found, tree
        for inner in cuts(tree, frozenset(self.places)):
            marked = {f"{PLACE}inner{at}": one for at, one in enumerate(inner)}
            trial = self._outside(tree, marked)
            if trial is not None:
                before = self._state()
                values = {key: self.value(one) for key, one in marked.items()}
                read = spelled(with_names(trial, values))
                again = self.explained(read)
                if again is not None:
                    return again, read
                self._go_back(before)  # what is inside of an unknown line is part of it
        return found, tree

    def _state(self) -> _State:
        known = tuple(dict(one) for one in (self.places, self.known, self.owners))
        return _State(len(self._undo), known, [*self.shared.findings.found])

    def _go_back(self, state: _State) -> None:
        """Take back all that was read since."""
        graph = self.project.graph_of(self.scope)
        there = {*graph.nodes}
        while len(self._undo) > state.edits:
            self._undo.pop().apply(self.project)
        self.places, self.known, self.owners = (dict(one) for one in state.known)
        self.shared.findings.found[:] = state.findings
        self.book.update(self.view(), there)

    def _outside(self, tree: ast.expr, marked: Mapping[str, ast.expr]) -> ast.expr | None:
        """The tree with what is inside as variables, where something writes what is left."""
        outside = with_variables(tree, marked)
        calls = calls_in([outside, *self._constructors(outside)])
        return outside if self.shared.likely.types(calls, Layer) or calls & {"BLOCK"} else None

    def explained(self, tree: ast.expr, *among: type[NodeType]) -> Found | None:
        """The node that writes a tree whole, or what is nearest to it."""
        best: Found | None = None
        constructors = self._constructors(tree)
        attribute = next(iter(attributes(tree)), "")
        said = {ast.dump(one.tree): ast.Name("lengths", ast.Load()) for one in self._lengths().values()}
        asked = replaced(tree, said) if said else tree
        kinds: list[type[NodeType]]
        if attribute in self.made.blocks and self.shared.composite is not None:
            kinds = [self.shared.composite]
        else:
            kinds = self.shared.likely.types(calls_in([asked, *constructors]), *(among or (Layer, Source)))
            if not kinds and constructors:
                kinds = self.shared.likely.types(calls_in(constructors), *(among or (Layer, Source)))
        for one in kinds:
            found = self._fit(one, tree)
            if found is not None and (best is None or found.cost < best.cost):
                best = found
                if best.cost == 0:
                    break
        return best if best is not None and self._near(best, tree) else None

    def _lengths(self) -> dict[Ragged, Expr]:
        """How long rows are, as the file says it, along axes of the data where that differs."""
        if self.scope:
            return {}
        found = filled_axes(self.project.graph, self.book)
        told = {axis: lengths_in(one.column, name(self.place(one.place).id)) for axis, one in found.items()}
        return {axis: Expr(spelled(one.tree)) for axis, one in told.items()}

    def _near(self, found: Found, tree: ast.expr) -> bool:
        """Whether what a node would write is the same call of the same layer, some numbers apart."""
        if found.cost < FAR:
            return True
        total = size(tree) + sum(size(one) for one in self._constructors(tree))
        return found.cost // FAR * 100 <= SECOND_TRY * total and bool(found.holes)

    def _constructors(self, tree: ast.expr) -> list[ast.expr]:
        return [self.made.layers[one] for one in attributes(tree) if one in self.made.layers]

    def _fit(self, kind: type[NodeType], tree: ast.expr) -> Found | None:
        """The values of a type that write a tree, or come nearest."""
        places = frozenset(self.places)
        leaves = [node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and node.id in places]
        constructors = self._constructors(tree)
        begins = [begun for one in attributes(tree) for begun in self.made.begins.get(one, ())]
        literals = constants_in([tree, *constructors, *begins])
        start: dict[str, Value] = {}
        if issubclass(kind, Composite):
            from engine.importers.classes import read_block  # it reads by this module

            attribute = next(iter(attributes(tree)))
            read_block(self, attribute, {at: self.signature(one) for at, one in enumerate(leaves)})
            start = {"block": self.shared.block_ids[self.made.blocks[attribute][0]]}
        best: Found | None = None
        for guess in self._guesses(kind, list(dict.fromkeys(leaves)), leaves, start):
            found = self._fit_at(kind, tree, guess, literals, start)
            if found is not None and (best is None or found.cost < best.cost):
                best = found
            if best is not None and best.cost < FAR:
                break
        return best

    def _guesses(
        self, kind: type[NodeType], distinct: list[str], leaves: list[str], start: Mapping[str, Value]
    ) -> Iterator[dict[str, str]]:
        """Which values may come in at which ports."""
        ports: Sequence[Port]
        if issubclass(kind, Source):
            ports = (Port("x"),)
        else:
            try:
                node = Node("n0", kind.type_id, "", start)
                ports = self.shared.catalogue.make(node, self.project).inputs()
            except NeuroloomError:
                return
        if not distinct:
            return
        if any(port.many for port in ports):
            yield {f"{ports[0].name}{at + 1}": one for at, one in enumerate(leaves)}
            return
        required = [port.name for port in ports if not port.optional]
        names = [port.name for port in ports]
        wanted = dict.fromkeys((len(required), len(names)))
        for count in wanted:
            chosen = (required if count == len(required) else names)[:count]
            for order in permutations(distinct) if len(distinct) <= 4 else (tuple(distinct),):
                yield {port: order[min(at, len(order) - 1)] for at, port in enumerate(chosen)}

    def _fit_at(
        self,
        kind: type[NodeType],
        tree: ast.expr,
        guess: Mapping[str, str],
        literals: Sequence[Any],
        start: Mapping[str, Value],
    ) -> Found | None:
        arriving = {port: self.signature(variable) for port, variable in guess.items()}
        squashes = {}
        if issubclass(kind, Measure):
            squashes = {
                port: last_squash(self.view(), self.book, self.places[one]) for port, one in guess.items()
            }
        kept: dict[str, Found] = {}
        lengths = self._lengths()

        def cost(values: Mapping[str, Value]) -> int | None:
            try:
                made = kind({**start, **values})
                if isinstance(made, Composite):
                    made.bind(self.project)
            except NeuroloomError:
                return None
            pattern = pattern_of(made, arriving, self.shared.defined, squashes, lengths)
            if pattern is None:
                return None
            found = self._compared(kind, values, pattern, tree, guess)
            if found is None:
                return None
            kept[repr(sorted(values.items()))] = found
            return found.cost

        specs = [spec for spec in kind.params if spec.name not in start]
        values, least = fitted(specs, cost, literals)
        if least is None:
            return None
        last = cost(values)
        found = kept[repr(sorted(values.items()))]
        return replace(found, params={**start, **values}, cost=least if last is None else last)

    def _compared(
        self,
        kind: type[NodeType],
        values: Mapping[str, Value],
        pattern: Pattern,
        tree: ast.expr,
        guess: Mapping[str, str],
    ) -> Found | None:
        """How far what a node writes is from the tree, at the port that is nearest."""
        places = frozenset(self.places)
        best: Found | None = None
        for port, written in pattern.ports.items():
            bound = Binding()
            apart = difference(written, tree, bound, places)
            for attribute, constructor in pattern.layers.items():
                there = bound.layers.get(attribute)
                if there is None or there not in self.made.layers:
                    apart += size(constructor)
                    continue
                apart += difference(constructor, self.made.layers[there], bound, places)
            begun = [one for there in bound.layers.values() for one in self.made.begins.get(there, ())]
            apart += sum(difference(a, b, bound, places) for a, b in zip(pattern.begins, begun, strict=False))
            apart += sum(size(one) for one in [*pattern.begins][len(begun) :])
            apart += sum(size(one) for one in begun[len(pattern.begins) :])
            wrong = {
                key: one for key, one in bound.holes.items() if guess.get(key.removeprefix(HOLE), one) != one
            }
            if apart == 0 and wrong:
                apart += sum(
                    self.signature(one) != self.signature(guess[key.removeprefix(HOLE)])
                    for key, one in wrong.items()
                )
            total = apart * FAR
            if pattern.carries and apart < 3:
                calls = [*pattern.ports.values(), *pattern.layers.values()]
                text = "\n".join(ast.unparse(ast.fix_missing_locations(ast.Expr(one))) for one in calls)
                total += min(FAR - 1, self.shared.defined.differing(pattern.carries, text))
            holes = {key.removeprefix(HOLE): one for key, one in bound.holes.items()}
            found = Found(kind, values, holes, dict(bound.layers), port, total, pattern)
            if best is None or found.cost < best.cost:
                best = found
        return best

    # -- nodes

    def _kept(self, tree: ast.expr, found: Found, name: str, key: str) -> ast.Name:
        """The node that was found, added; a layer that is called twice is shared by two nodes."""
        if found.cost >= FAR:
            self.remark(tree, found)
        wires = (
            {}
            if issubclass(found.type, Source)
            else {port: self.places[one] for port, one in found.holes.items()}
        )
        owner = next((self.owners[one] for one in found.layers.values() if one in self.owners), "")
        own = found.layers.get(LAYER, "")
        title = (own or name).replace("_", " ").strip()
        if owner and self.view().graph.node(owner).type == found.type.type_id:
            title = name or f"{own} 2"
        node_id = self.add(found.type.type_id, title, found.params, wires, owner)
        for attribute in found.layers.values():
            self.owners.setdefault(attribute, node_id)
        self._remember(node_id, found, tree, key)
        return self.place((node_id, found.port))

    def _remember(self, node_id: str, found: Found, tree: ast.expr, key: str) -> None:
        """What leaves the ports of a node, by what writes it."""
        names: dict[str, ast.expr] = {
            HOLE + port: ast.Name(one, ast.Load()) for port, one in found.holes.items()
        }
        for port, written in found.pattern.ports.items():
            there = as_there(written, names, found.layers)
            text = ast.dump(there)
            out = (node_id, port)
            if port != found.port:
                self.known[f"port {text}"] = (out, self.turn)
            self.known[text] = (out, self.turn)
        self.known[ast.dump(tree)] = ((node_id, found.port), self.turn)
        self.known[key] = ((node_id, found.port), self.turn)
        if any(isinstance(one, ast.Subscript) for one in found.pattern.ports.values()):
            for port, written in found.pattern.ports.items():  # parts of one call are one node's in any line
                text = ast.dump(as_there(written, names, found.layers))
                self.known[f"port {text}"] = ((node_id, port), self.turn)

    def remark(self, tree: ast.expr, found: Found) -> None:
        attribute = found.layers.get(LAYER)
        at = self.made.lines.get(attribute, self.line) if attribute else self.line
        written = found.pattern.layers.get(LAYER) if attribute else None
        read = quoted_code(self.made.layers[attribute]) if attribute else quoted_code(shown_tree(tree))
        as_ = quoted_code(written if written is not None else shown_tree(found.pattern.ports[found.port]))
        title = found.type.title
        self.shared.findings.add(at, f"{read} is read as {title}, which writes {as_}.")

    def _unknown(self, tree: ast.expr) -> str:
        """A node that stands for a line that no type of node writes."""
        inner = [one for one in values_in(tree, frozenset(self.places))]
        values = []
        for one in inner:
            if isinstance(one, ast.Name):
                values.append(self.places[one.id])
        wires = {f"x{at}": out for at, out in enumerate(dict.fromkeys(values), 1)}
        code = quoted_code(
            self.line.value if isinstance(self.line, ast.Assign | ast.Return) and self.line.value else tree
        )
        node_id = self.add(UNKNOWN, code.strip("`"), {"code": code.strip("`")}, wires)
        self.shared.findings.add(self.line, f"{code} has no node here.", node_id)
        return node_id
