"""Reads functions of a batch: the losses and metrics, and the network where it is written out in them."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from engine.catalogue import Layer, Loss, Measure, Metric, NodeType
from engine.data.batch import MEANS, ROWS
from engine.importers.findings import quoted_code
from engine.importers.lines import Lines
from engine.importers.matching import SELF
from engine.importers.reader import FAR, Found, Reader

WEIGHT, TOTAL = "weight", "loss"  # what a batch counts, and what is minimised: keys that are no node's


@dataclass
class Measured:
    """The losses and metrics that were read: by key, and by what computes them."""

    nodes: dict[str, str] = field(default_factory=dict)
    by_code: dict[str, str] = field(default_factory=dict)
    names: set[str] = field(default_factory=set)


@dataclass
class Batch:
    """A function of a model and a batch as it is read; `model` reads a call of the model."""

    reader: Reader
    columns: Mapping[str, tuple[str, str]]
    model: Callable[[ast.Call], list[ast.expr] | None]
    measured: Measured
    read: set[str] = field(default_factory=set)  # the functions that were read line by line

    def lines(self, function: ast.FunctionDef) -> Lines:
        self.read.add(function.name)
        names = [one.arg for one in function.args.args]
        known: dict[str, ast.expr] = {}
        if names:
            known[names[0]] = ast.Name(SELF, ast.Load())
        if len(names) > 1:
            known[names[1]] = ast.Name("batch", ast.Load())
        self.reader.turn += 1
        return Lines(self.reader, known, self.model, self._column)

    def _column(self, key: str, at: ast.AST) -> ast.expr | None:
        found = self.columns.get(key)
        if found is None:
            self.reader.shared.findings.add(
                self.reader.line, f"No data that were read have a column `{key}`."
            )
            return None
        return self.reader.place(found)

    def run(self, function: ast.FunctionDef) -> tuple[Lines, dict[str, ast.expr], ast.expr | None]:
        """The variables of a function, and what it returns by key; a value of a pair with its count alone."""
        lines = self.lines(function)
        measuring = _Measuring(lines, self)
        *body, last = function.body
        measuring.run(body)
        self.reader.line = last
        returned: dict[str, ast.expr] = {}
        value = last.value if isinstance(last, ast.Return) else None
        if isinstance(value, ast.Dict):
            for key, one in zip(value.keys, value.values, strict=True):
                if isinstance(key, ast.Constant):
                    self.reader.line = one
                    tree = lines.tree(one)
                    returned[str(key.value)] = (
                        tree.elts[0] if isinstance(tree, ast.Tuple) and tree.elts else tree
                    )
        return lines, returned, None if value is None or isinstance(value, ast.Dict) else lines.tree(value)


class _Measuring:
    """Lines whose values may be losses: those stay trees, until it is known which are."""

    def __init__(self, lines: Lines, batch: Batch) -> None:
        self.lines, self.batch = lines, batch

    def run(self, body: list[ast.stmt]) -> None:
        reader = self.lines.reader
        for one in body:
            reader.line = one
            target = one.targets[0] if isinstance(one, ast.Assign) and len(one.targets) == 1 else None
            if isinstance(one, ast.With):
                self.run(one.body)
            elif isinstance(one, ast.Assign) and isinstance(target, ast.Name):
                tree = self.lines.tree(one.value)
                if is_measure(self.batch, tree, target.id):
                    self.lines.names[target.id] = tree
                else:
                    self.lines.assign(target, tree)
            else:
                self.lines.run([one])


def _measure(batch: Batch, tree: ast.expr, kind: type[NodeType]) -> Found | None:
    found = batch.reader.explained(tree, kind)
    return found if found is not None and found.cost < FAR else None


def is_measure(batch: Batch, tree: ast.expr, name: str) -> bool:
    """Whether a line of a function of a batch computes a loss or metric, not a value of the network."""
    if isinstance(tree, ast.Name | ast.Tuple | ast.Constant) or ast.dump(tree) in batch.reader.known:
        return False
    if name in batch.measured.names or ast.dump(tree) in batch.measured.by_code:
        return True
    attributes = [one for one in ast.walk(tree) if isinstance(one, ast.Attribute)]
    if any(isinstance(one.value, ast.Name) and one.value.id == SELF for one in attributes):
        return False
    return _measure(batch, tree, Loss) is not None


def read_measures(batch: Batch, function: ast.FunctionDef) -> dict[str, float]:
    """Reads a function's losses and metrics into nodes; returns the weight of each loss in the total."""
    lines, returned, _ = batch.run(function)
    total = returned.get(TOTAL)
    weights: dict[str, float] = {}
    terms = [] if total is None else list(terms_of(total, 1.0))
    known = {ast.dump(tree): key for key, tree in returned.items() if key not in (TOTAL, WEIGHT)}
    named = {ast.dump(tree): name for name, tree in lines.names.items()}
    at = {str(one.value): two for one, two in _pairs(function)}
    for tree, weight in terms:
        text = ast.dump(tree)
        key = known.get(text, named.get(text, ""))
        node = measure_node(batch, tree, Loss, key, at.get(key, at.get(TOTAL, function)))
        if node is not None:
            weights[node] = weights.get(node, 0.0) + weight
    losses = {ast.dump(tree) for tree, _ in terms}
    for key, tree in returned.items():
        of_split = key in (TOTAL, WEIGHT) or key.endswith((MEANS, ROWS))
        if of_split or ast.dump(tree) in losses or _is_score(batch.reader, tree):
            continue
        measure_node(batch, tree, Metric, key, at.get(key, function))
    return weights


def _is_score(reader: Reader, tree: ast.expr) -> bool:
    """Whether a value is one that a layer says of itself, which is measured without a node."""
    func = tree.func if isinstance(tree, ast.Call) else None
    if not isinstance(func, ast.Attribute):
        return False
    owner = func.value
    if isinstance(owner, ast.Name) and owner.id in reader.places and func.attr == "mean":
        node_id, port = reader.places[owner.id]
        made = reader.book.types.get(node_id)
        return isinstance(made, Layer) and port in made.scores
    return isinstance(owner, ast.Attribute) and isinstance(owner.value, ast.Name) and owner.value.id == SELF


def _pairs(function: ast.FunctionDef) -> list[tuple[ast.Constant, ast.AST]]:
    last = function.body[-1]
    value = last.value if isinstance(last, ast.Return) else None
    if not isinstance(value, ast.Dict):
        return []
    return [
        (key, one) for key, one in zip(value.keys, value.values, strict=True) if isinstance(key, ast.Constant)
    ]


def measure_node(batch: Batch, tree: ast.expr, kind: type[Measure], name: str, at: ast.AST) -> str | None:
    """The node of a loss or metric, new or known; None, and a finding, where nothing writes it."""
    text = ast.dump(tree)
    reader = batch.reader
    if text in batch.measured.by_code:
        reader.rename(batch.measured.by_code[text], name.replace("_", " "))
        return batch.measured.by_code[text]
    reader.line = at
    found = reader.explained(tree, kind)
    if found is None:
        reader.shared.findings.add(at, f"{quoted_code(at)} is no {kind.kind} that is known here.")
        return None
    wires = {port: reader.places[one] for port, one in found.holes.items()}
    node_id = reader.add(found.type.type_id, name.replace("_", " "), found.params, wires)
    batch.measured.by_code[text] = node_id
    batch.measured.nodes[name] = node_id
    batch.measured.names.add(name)
    if found.cost >= FAR:
        reader.remark(tree, replace(found, layers={}))
    return node_id


def terms_of(tree: ast.expr, weight: float = 1.0) -> list[tuple[ast.expr, float]]:
    """The parts of a weighted sum."""
    if isinstance(tree, ast.BinOp) and isinstance(tree.op, ast.Add):
        return [*terms_of(tree.left, weight), *terms_of(tree.right, weight)]
    if isinstance(tree, ast.BinOp) and isinstance(tree.op, ast.Mult):
        for one, other in ((tree.left, tree.right), (tree.right, tree.left)):
            try:
                number = ast.literal_eval(one)
            except ValueError:
                continue
            if isinstance(number, int | float):
                return terms_of(other, weight * number)
    return [(tree, weight)]
