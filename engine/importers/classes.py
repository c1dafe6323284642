"""Reads the class of a network: what it constructs, its `forward`, and the blocks it is made of."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping, Sequence

from engine.document.edits import AddNodes, SetShares
from engine.document.graph import BLOCK, BLOCK_INPUT, BLOCK_OUTPUT, Block, Graph, Link, Node
from engine.importers.findings import quoted_code
from engine.importers.lines import Lines
from engine.importers.matching import SELF
from engine.importers.reader import Constructed, Reader, Shared
from engine.importers.spelling import Spelling, dotted_name, spelled
from engine.shapes.signatures import Signature


def constructed(
    shared: Shared, tree: ast.ClassDef, arguments: Mapping[str, ast.expr] | None = None
) -> Constructed:
    """What `__init__` of a class makes, with its own arguments put in."""
    made = Constructed()
    init = method(tree, "__init__")
    if init is None:
        return made
    spelling = Spelling(shared.aliases, {**_defaults(init), **(arguments or {})}, shared.defined.signatures)
    for one in init.body:
        if isinstance(one, ast.Assign) and len(one.targets) == 1:
            _assigned(shared, made, one.targets[0], one.value, spelled(one.value, spelling), one)
        elif isinstance(one, ast.AnnAssign) and one.value is not None:
            _assigned(shared, made, one.target, one.value, spelled(one.value, spelling), one)
        elif isinstance(one, ast.Expr) and isinstance(one.value, ast.Call):
            begun = spelled(one.value, spelling)
            named = _of_self(begun)
            if named:
                made.begins.setdefault(named, []).append(begun)
            elif "super" not in ast.unparse(one):
                shared.findings.add(one, f"{quoted_code(one)} has no node here.")
        elif not isinstance(one, ast.Pass) and not (isinstance(one, ast.Expr)):
            shared.findings.add(one, f"{quoted_code(one)} has no node here.")
    return made


def _assigned(
    shared: Shared, made: Constructed, target: ast.expr, written: ast.expr, value: ast.expr, line: ast.stmt
) -> None:
    if not isinstance(target, ast.Attribute):
        shared.findings.add(line, f"{quoted_code(line)} has no node here.")
        return
    if isinstance(target.value, ast.Attribute) and isinstance(value, ast.Attribute):
        owner, other = target.value.attr, _of_self(value)
        if other:
            made.ties.append((owner, other, line))
            return
    attribute = target.attr
    made.lines[attribute] = line
    if not isinstance(value, ast.Call):
        made.values[attribute] = value
        return
    inner = _block_call(shared, value)
    if inner is not None:
        made.blocks[attribute] = (dotted_name(inner.func) or "", inner)
        value = _Blank(inner).visit(value)
    elif dotted_name(value.func) == "nn.Sequential" and not any(
        isinstance(one, ast.Starred) for one in value.args
    ):
        made.chains[attribute] = [f"{attribute}_{at}" for at in range(len(value.args))]
        for name, one in zip(made.chains[attribute], value.args, strict=True):
            made.lines[name] = line
            made.layers[name] = one
        return
    made.layers[attribute] = value


def _block_call(shared: Shared, value: ast.Call) -> ast.Call | None:
    """The construction of a class of the file's own that a layer is, once or several times."""
    for node in ast.walk(value):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            found = shared.defined.trees.get(node.func.id)
            if isinstance(found, ast.ClassDef) and node.func.id not in shared.likely.ours:
                return node
    return None


class _Blank(ast.NodeTransformer):
    def __init__(self, call: ast.Call) -> None:
        self.call = call

    def visit_Call(self, node: ast.Call) -> ast.AST:
        if node is self.call:
            return ast.Call(ast.Name(BLOCK, ast.Load()), [], [])
        return self.generic_visit(node)


def read_forward(
    reader: Reader, tree: ast.ClassDef, given: Sequence[ast.expr]
) -> tuple[list[ast.expr], list[str]]:
    """The values that `forward` returns for what it is given, and what its variables call them."""
    forward = method(tree, "forward")
    if forward is None:
        reader.shared.findings.add(tree, f"{tree.name} has no `forward`.")
        return [], []
    names = [one.arg for one in forward.args.args][1:]
    lines = Lines(reader, {SELF: ast.Name(SELF, ast.Load()), **dict(zip(names, given, strict=False))})
    lines.names[forward.args.args[0].arg] = ast.Name(SELF, ast.Load())
    before = reader.line
    reader.turn += 1
    ensure_blocks(reader)
    returned = lines.run(forward.body)
    last = forward.body[-1]
    value = last.value if isinstance(last, ast.Return) else None
    parts = returned.elts if isinstance(returned, ast.Tuple) else [] if returned is None else [returned]
    titles = [
        one.id if isinstance(one, ast.Name) else ""
        for one in (value.elts if isinstance(value, ast.Tuple) else [value])
    ]
    found = [lines.value(one) for one in parts]
    reader.line = before
    _tie(reader)
    return found, titles


def _tie(reader: Reader) -> None:
    """Nodes that take another's matrix share it."""

    for owner, other, line in reader.made.ties:
        one, shared = reader.owners.get(owner), reader.owners.get(other)
        if one is None or shared is None:
            reader.shared.findings.add(line, f"{quoted_code(line)} has no node here.")
            continue
        graph = reader.project.graph_of(reader.scope)
        if graph.node(one).shares != shared:
            SetShares(one, shared).apply(reader.project)
            reader.book.update(reader.view(), {one})


def ensure_blocks(reader: Reader) -> None:
    """Each class of the file that is a layer here gets the id of a block; it is read where it is called."""
    for name, _ in reader.made.blocks.values():
        reader.shared.block_ids.setdefault(name, "")


def read_block(reader: Reader, attribute: str, given: Mapping[int, Signature]) -> None:
    """The definition of a block, read for what arrives at its first use."""
    shared = reader.shared
    name, call = reader.made.blocks[attribute]
    if shared.block_ids.get(name):
        return
    tree = shared.defined.trees[name]
    assert isinstance(tree, ast.ClassDef) and isinstance(call, ast.Call)
    project = shared.project
    block_id = shared.block_ids[name] = project.new_id("b")
    project.blocks[block_id] = Block(block_id, spaced(name), Graph())
    init = method(tree, "__init__")
    arguments = _given(init, call) if init is not None else {}
    forward = method(tree, "forward")
    names = [one.arg for one in forward.args.args][1:] if forward is not None else []
    entrances = []
    for at, one in enumerate(names):
        node = Node(project.new_id(), BLOCK_INPUT, one, {"order": at} if at else {})
        AddNodes((node,), (), block_id).apply(project)
        entrances.append(node.id)
    known = {one: given.get(at, Signature((1,))) for at, one in enumerate(entrances)}
    book = shared.book.inside(known)
    inside = Reader(shared, constructed(shared, tree, arguments), block_id, book)
    book.update(inside.view())
    found, titles = read_forward(inside, tree, [inside.place((one, "output")) for one in entrances])
    for at, (value, title) in enumerate(zip(found, titles, strict=False)):
        if not isinstance(value, ast.Name) or value.id not in inside.places:
            continue
        source, port = inside.places[value.id]
        node = Node(
            project.new_id(),
            BLOCK_OUTPUT,
            title if title not in ("x", "") else "output",
            {"order": at} if at else {},
        )
        AddNodes((node,), (Link(source, port, node.id, "x"),), block_id).apply(project)
    book.update(inside.view())


def _given(init: ast.FunctionDef, call: ast.Call) -> dict[str, ast.expr]:
    names = [one.arg for one in init.args.args][1:]
    found = dict(zip(names, call.args, strict=False))
    found.update({str(one.arg): one.value for one in call.keywords})
    return found


def _defaults(init: ast.FunctionDef) -> dict[str, ast.expr]:
    places = init.args.args[len(init.args.args) - len(init.args.defaults) :]
    return {one.arg: value for one, value in zip(places, init.args.defaults, strict=True)}


def method(tree: ast.ClassDef, name: str) -> ast.FunctionDef | None:
    found = (one for one in tree.body if isinstance(one, ast.FunctionDef) and one.name == name)
    return next(found, None)


def _of_self(tree: ast.AST) -> str:
    """The layer that an expression is about."""
    found = (
        node.attr
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == SELF
    )
    return next(found, "")


def spaced(name: str) -> str:
    """The words of a class's name: `QNetwork` as `Q network`."""
    words = re.findall(r"[A-Z]+(?=[A-Z][a-z]|\d|$)|[A-Z]?[a-z]+|[A-Z]|\d+", name)
    return (
        " ".join([words[0], *(one if one.isupper() and len(one) > 1 else one.lower() for one in words[1:])])
        if words
        else name
    )
