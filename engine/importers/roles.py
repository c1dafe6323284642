"""Which function of a script does what, whatever it is called: found from where the script begins."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TypeVar

Definition = TypeVar("Definition", ast.FunctionDef, ast.ClassDef)


@dataclass
class Roles:
    """The parts of a script; None for one that it does not have."""

    model: ast.ClassDef | None = None
    load: ast.FunctionDef | None = None
    train: ast.FunctionDef | None = None
    measure: ast.FunctionDef | None = None
    batches: ast.FunctionDef | None = None
    evaluate: ast.FunctionDef | None = None
    main: ast.FunctionDef | None = None
    functions: dict[str, ast.FunctionDef] = field(default_factory=dict)
    constants: dict[str, ast.expr] = field(default_factory=dict)
    home: str | None = None  # the folder of the data, as the script names it


def roles_of(tree: ast.Module, carried: Mapping[str, object]) -> Roles:
    """The parts of a script. `carried` are names of functions and classes of ours that it may carry."""
    functions = {one.name: one for one in tree.body if isinstance(one, ast.FunctionDef)}
    classes = {one.name: one for one in tree.body if isinstance(one, ast.ClassDef)}
    found = Roles(functions=functions, constants=constants_of(tree))
    top = [one for one in tree.body if not isinstance(one, ast.FunctionDef | ast.ClassDef)]
    begins = [one for one in calls([*top]) if one.func_name in functions]
    found.main = functions.get("main") or next((functions[one.func_name] for one in begins), None)
    where: list[ast.stmt] = [*top, *(found.main.body if found.main is not None else [])]
    made = [
        one.func_name
        for one in calls(where)
        if one.func_name in classes and _is_module(classes[one.func_name])
    ]
    inside = {one.func_name for kind in classes.values() for one in calls(kind.body)}
    outer = [
        name for name in classes if _is_module(classes[name]) and name not in inside and name not in carried
    ]
    chosen = next(iter([*made, *(["Model"] if "Model" in classes else []), *reversed(outer)]), None)
    found.model = classes.get(chosen) if chosen else None
    called = [one.func_name for one in calls(where) if one.func_name in functions]
    found.train = _first(functions, ["train", *called], _trains)
    found.load = _first(functions, ["load", *called], _loads)
    inner = [one.func_name for one in calls(found.train.body)] if found.train is not None else []
    found.evaluate = _first(functions, ["evaluate", *called, *inner], _evaluates)
    found.batches = _first(functions, ["batches", *inner], _makes_batches)
    if found.evaluate is not None:
        names = [one.func_name for one in calls(found.evaluate.body) if one.func_name in functions]
        others = [one for one in names if found.batches is None or one != found.batches.name]
        found.measure = next((functions[one] for one in others), None)
    found.home = _home([*where, *tree.body])
    return found


@dataclass(frozen=True, slots=True)
class Called:
    """A call by name, and where it stands."""

    func_name: str
    call: ast.Call


def calls(body: list[ast.stmt]) -> list[Called]:
    """The calls of names in statements, in order."""
    return [
        Called(node.func.id, node)
        for one in body
        for node in _walk(one)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    ]


def _walk(tree: ast.AST) -> Iterator[ast.AST]:
    """All parts of a tree, in the order of the text."""
    yield tree
    for child in ast.iter_child_nodes(tree):
        yield from _walk(child)


def _is_module(tree: ast.ClassDef) -> bool:
    return any(ast.unparse(one).endswith("Module") for one in tree.bases)


def constants_of(tree: ast.Module) -> dict[str, ast.expr]:
    """What the names at the top of a file are."""
    found: dict[str, ast.expr] = {}
    for one in tree.body:
        if isinstance(one, ast.AnnAssign) and isinstance(one.target, ast.Name) and one.value is not None:
            found[one.target.id] = one.value
        if not isinstance(one, ast.Assign) or len(one.targets) != 1:
            continue
        target, value = one.targets[0], one.value
        if isinstance(target, ast.Name):
            found[target.id] = value
        elif isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
            for name, part in zip(target.elts, value.elts, strict=False):
                if isinstance(name, ast.Name):
                    found[name.id] = part
    return found


def _first(
    functions: Mapping[str, ast.FunctionDef], names: list[str], fits: object
) -> ast.FunctionDef | None:
    assert callable(fits)
    for name in names:
        if name in functions and fits(functions[name]):
            return functions[name]
    return next((one for one in functions.values() if fits(one)), None)


def _text(tree: ast.AST) -> str:
    return ast.unparse(tree)


def _trains(one: ast.FunctionDef) -> bool:
    text = _text(one)
    return "manual_seed" in text and "for " in text and len(one.args.args) >= 4 and "randperm" not in text


def _loads(one: ast.FunctionDef) -> bool:
    returns = "" if one.returns is None else _text(one.returns)
    names = [arg.arg for arg in one.args.args]
    return (
        returns.startswith("dict[str, dict[str")
        and names in (["device"], ["folder", "device"])
        and not one.args.kwonlyargs
    )


def _evaluates(one: ast.FunctionDef) -> bool:
    return (
        any("no_grad" in _text(decorator) for decorator in one.decorator_list)
        and "model.eval()" in _text(one).replace(one.args.args[0].arg if one.args.args else "model", "model")
        and len(one.args.args) == 2
    )


def _makes_batches(one: ast.FunctionDef) -> bool:
    return any(isinstance(node, ast.Yield) for node in ast.walk(one)) and len(one.args.args) >= 2


def _home(body: list[ast.stmt]) -> str | None:
    """The folder of the data by default: what `--data` has, as text."""
    for one in body:
        for node in ast.walk(one):
            if not (isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Constant)):
                continue
            if node.args[0].value == "--data":
                default = next((word.value for word in node.keywords if word.arg == "default"), None)
                return _folder(default)
        if isinstance(one, ast.Assign) and _text(one.targets[0]) == "folder":
            return _folder(one.value)
    return None


def _folder(value: ast.expr | None) -> str | None:
    if value is None:
        return None
    texts = [
        node.value
        for node in ast.walk(value)
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    ]
    return texts[-1] if texts else None
