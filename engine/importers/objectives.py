"""Reads what an objective of a plan computes and what moves its weights, or the rule that it is."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from engine.catalogue import Layer, Loss
from engine.catalogue.identifiers import slug
from engine.catalogue.training.adversaries import ADVERSARIES
from engine.catalogue.training.changes import CHANGES
from engine.catalogue.training.choosable import Choosable
from engine.catalogue.training.explorations import EXPLORATIONS
from engine.catalogue.training.optimisers import SAMPLERS
from engine.catalogue.training.penalties import PENALTIES
from engine.document.edits import AddNodes
from engine.document.graph import Link
from engine.document.plan import (
    Chain,
    ChangeModel,
    Choice,
    Fit,
    Follow,
    Minimise,
    Objective,
    Rollout,
    Rule,
)
from engine.importers.findings import quoted_code
from engine.importers.matching import SELF
from engine.importers.measures import TOTAL, Batch, measure_node, terms_of
from engine.importers.optimisers import optimiser_of, schedule_of
from engine.importers.reader import Reader
from engine.importers.roles import Roles
from engine.importers.spelling import dotted_name


@dataclass
class Training:
    """What reading a plan needs: the parts of the script, and how functions of a batch are read."""

    roles: Roles
    reader: Reader
    batch: Batch
    weights: Mapping[str, float] = field(default_factory=dict)  # of the losses that `measure` sums

    def add(self, at: ast.AST | None, message: str) -> None:
        self.reader.shared.findings.add(at, message)

    def function(self, node: ast.AST | None) -> ast.FunctionDef | None:
        """The function of the script that an expression names or calls."""
        if isinstance(node, ast.Call):
            node = node.func
        return self.roles.functions.get(node.id) if isinstance(node, ast.Name) else None

    def node_of(self, path: str) -> str | None:
        """The node whose layer is at a path of the model, such as `model.encoder`."""
        first = path.removeprefix("model.").split(".")[0].split("[")[0]
        return self.reader.owners.get(first)


def minimise(
    training: Training,
    function: ast.FunctionDef | None,
    optimiser: ast.FunctionDef,
    schedule: ast.FunctionDef | None,
    key: str,
) -> Minimise:
    """An objective that is lowered by gradient steps."""
    chosen, of, rates, decays = optimiser_of(training, optimiser)
    kind = Chain if chosen.name in SAMPLERS else Minimise
    made = kind(
        optimiser=chosen,
        schedule=schedule_of(training, schedule) if schedule is not None else Choice("Constant"),
        name=_title(function, key),
        of=of,
        rates=rates,
        decay_biases=decays,
    )
    if function is None:
        return made
    adversary, function = _adversary(training, function)
    weights, penalties = _lowered(training, function)
    losses = [one for one, found in training.reader.book.types.items() if isinstance(found, Loss)]
    whole = set(weights) == set(losses) and all(weight == 1 for weight in weights.values())
    loss: str | Mapping[str, float] = "all"
    if weights and not whole:
        alone = len(weights) == 1 and next(iter(weights.values())) == 1
        loss = next(iter(weights)) if alone else weights
    return replace(made, loss=loss, penalties=penalties, adversary=adversary)


def _title(function: ast.FunctionDef | None, key: str) -> str:
    """What an objective is called: as its docstring says, where that is what its key comes from."""
    doc = (ast.get_docstring(function) or "") if function is not None and key else ""
    if doc.startswith("Trains "):
        return ""  # the phase has the name
    said = doc.split(": trains ")[0] if ": trains " in doc else ""
    if (said and slug(said) == slug(key)) or key == TOTAL:
        return said
    return words(key)


def _lowered(training: Training, function: ast.FunctionDef) -> tuple[dict[str, float], tuple[Choice, ...]]:
    """The losses of an objective with their weights in it, and its penalties."""
    lines, returned, _ = training.batch.run(function)
    total = returned.get(TOTAL)
    weights: dict[str, float] = {}
    penalties: list[Choice] = []
    named = {ast.dump(tree): name for name, tree in lines.names.items()}
    for tree, weight in terms_of(total) if total is not None else ():
        penalty = _penalty(tree)
        if penalty is not None:
            penalties.append(penalty)
            continue
        node = measure_node(training.batch, tree, Loss, named.get(ast.dump(tree), ""), function.body[-1])
        if node is not None:
            own = getattr(training.reader.book.types.get(node), "weight", 1.0)
            weights[node] = weight / own if own else weight
    return weights, tuple(penalties)


def _penalty(tree: ast.expr) -> Choice | None:
    if isinstance(tree, ast.Call) and isinstance(tree.func, ast.Name):
        for name, kind in PENALTIES.items():
            if kind.function.__name__ == tree.func.id:
                given = [one.value for one in tree.keywords] + tree.args
                numbers: list[Any] = [one.value for one in given if isinstance(one, ast.Constant)]
                values = dict(zip((spec.name for spec in kind.params), numbers, strict=False))
                return Choice(name, values)
    return None


def _adversary(training: Training, function: ast.FunctionDef) -> tuple[Choice | None, ast.FunctionDef]:
    """What moves the examples of an objective first, and the function of examples as they are."""
    for one in function.body:
        value = one.value if isinstance(one, ast.Assign) else None
        if (
            isinstance(value, ast.Call)
            and len(value.args) >= 3
            and (inner := training.function(value.args[2])) is not None
        ):
            values = {str(word.arg): ast.literal_eval(word.value) for word in value.keywords}
            for name, kind in ADVERSARIES.items():
                specs = {spec.name: spec for spec in kind.params}
                if values.keys() <= specs.keys():
                    kept = {key: found for key, found in values.items() if found != specs[key].default}
                    return Choice(name, kept), inner
    return None, function


def ruled(training: Training, function: ast.FunctionDef | None, key: str, sized: bool) -> Objective | None:
    """A rule of one node or several: the layers whose `update` or `fit` a function calls."""
    if function is None:
        return None
    lines, _, returned = training.batch.run(function)
    found = []
    for node in ast.walk(returned) if returned is not None else ():
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)):
            continue
        owner = node.func.value
        if isinstance(owner, ast.Attribute) and isinstance(owner.value, ast.Name) and owner.value.id == SELF:
            one = training.reader.owners.get(owner.attr)
            if one is not None:
                found.append((one, node))
    del lines
    if not found:
        training.add(function, f"`{function.name}` is no objective that is known here.")
        return None
    for one, call in found:
        _rule_wires(training, one, call)
    first, *also = dict.fromkeys(one for one, _ in found)
    if not also:
        training.reader.rename(first, after(function, "The rule of "))
    kind = (
        Fit
        if sized and any(call.func.attr == "fit" for _, call in found if isinstance(call.func, ast.Attribute))
        else Rule
    )
    return kind(first, words(key), also=tuple(also))


def after(function: ast.FunctionDef, words_before: str) -> str:
    """The name behind these words of a docstring, without its full stop."""
    doc = ast.get_docstring(function) or ""
    return doc.partition(words_before)[2].split("\n")[0].rstrip(".")


def _rule_wires(training: Training, node_id: str, call: ast.Call) -> None:
    """Wires to inputs that only a rule reads, such as a target."""
    reader = training.reader
    made = reader.book.types.get(node_id)
    if not isinstance(made, Layer):
        return
    graph = reader.project.graph
    given = [one for one in call.args]
    links = []
    for port in made.inputs():
        if not given:
            break
        wired = graph.feeding(node_id, port.name)
        value = given[0]
        if isinstance(value, ast.Name) and value.id in reader.places:
            out = reader.places[value.id]
            if wired is None:
                links.append(Link(*out, node_id, port.name))
            elif (wired.source, wired.source_port) != out:
                continue
        given.pop(0)
    if links:
        AddNodes((), tuple(links)).apply(reader.project)
        reader.book.update(reader.view(), {node_id})


def object_of(training: Training, call: ast.Call, key: str) -> Objective | None:
    """What acts, follows or changes, as an object of ours."""
    name = dotted_name(call.func) or ""
    title = words(key)
    if name == Follow.__name__ and len(call.args) >= 2:
        ends = [training.node_of(ast.unparse(one)) for one in call.args[:2]]
        rate = next((ast.literal_eval(word.value) for word in call.keywords if word.arg == "rate"), 1.0)
        if ends[0] and ends[1]:
            return Follow(node=ends[0], leader=ends[1], name=title, rate=rate)
    if name == Rollout.__name__:
        from engine.importers.acting import rollout  # environments are read there

        return rollout(training, call, title)
    for chosen, kind in CHANGES.items():
        if kind.makes.rpartition(".")[2] == name:
            return _change(training, call, chosen, kind, title)
    training.add(call, f"{quoted_code(call)} is no step of a plan.")
    return None


def _change(
    training: Training, call: ast.Call, chosen: str, kind: type[Choosable], title: str
) -> ChangeModel:
    layers = call.args[0].elts if call.args and isinstance(call.args[0], ast.List) else []
    nodes = [found for one in layers if (found := training.node_of(ast.unparse(one)))]
    weighed = [one for one in training.reader.owners.values() if training.reader.book.parameters(one)]
    of = () if set(nodes) == set(weighed) else tuple(nodes)
    return ChangeModel(change=_choice(chosen, kind, call.keywords), of=of, name=title)


def _choice(name: str, kind: type[Choosable], words: Sequence[ast.keyword]) -> Choice:
    specs = {spec.name: spec for spec in kind.params}
    given = {str(one.arg): ast.literal_eval(one.value) for one in words if one.arg in specs}
    return Choice(name, {key: value for key, value in given.items() if value != specs[key].default})


def exploration(call: ast.expr) -> Choice | None:
    """How an agent explores, from the object that says it."""
    if isinstance(call, ast.Call):
        for name, kind in EXPLORATIONS.items():
            if getattr(kind, "makes", "").rpartition(".")[2] == dotted_name(call.func):
                return _choice(name, kind, call.keywords)
    return None


def words(key: str) -> str:
    """An identifier as words."""
    return key.strip("_").replace("_", " ")
