"""Reads `load` into data nodes: the type whose loader it calls, or whose lines it has, and its values."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from engine.catalogue import Data
from engine.document.shipped import datasets_folder
from engine.importers.findings import quoted_code
from engine.importers.likeness import is_doc
from engine.importers.loading.sources import Part, loaded_by, source_of
from engine.importers.loading.steps import Sources, read_steps
from engine.importers.reader import Reader, Shared


def read_data(
    reader: Reader, load: ast.FunctionDef, wanted: Sequence[str], folders: Sequence[Path], title: str = ""
) -> Sources:
    """The data nodes that `load` reads.

    `wanted` are the columns that the file uses, `folders` where data may lie.
    """
    shared = reader.shared
    found = Sources()
    several = _several(load)
    if several is None:
        part, steps = _split(load)
        node_id = _read(reader, part, wanted, folders, found)
        if node_id is not None:
            made = shared.book.types.get(node_id)
            for one in made.columns() if isinstance(made, Data) else ():
                found.columns[one.name] = (node_id, one.name)
            read_steps(reader, steps, found, wanted)
        return found
    parts, returned, steps = several
    by_name: dict[str, str] = {}
    for name, whole in parts.items():
        part = inlined(shared, whole)
        own = [column for variable, column in returned.values() if variable == name]
        node_id = _read(reader, part, own, folders, found)
        if node_id is not None:
            by_name[name] = node_id
    for name, node_id in by_name.items():
        mine = [
            one for one in steps if one.args and isinstance(one.args[0], ast.Name) and one.args[0].id == name
        ]
        local = Sources({one.name: (node_id, one.name) for one in _columns(shared, node_id)}, found.nodes)
        read_steps(reader, mine, local, [column for _, column in returned.values()])
        for key, (variable, column) in returned.items():
            if variable == name and column in local.columns:
                found.columns[key] = local.columns[column]
    return found


def _columns(shared: Shared, node_id: str) -> Sequence[Any]:
    made = shared.book.types.get(node_id)
    return made.columns() if isinstance(made, Data) else ()


def _read(
    reader: Reader, part: Part, wanted: Sequence[str], folders: Sequence[Path], found: Sources
) -> str | None:
    """One data node; None where nothing reads like this part."""
    shared = reader.shared
    at = part.body[0] if part.body else part.value
    source = source_of(shared, part, wanted, folders)
    if source is None:
        shared.findings.add(at, f"{quoted_code(part.value)} reads no data that is known here.")
        return None
    if source.cost:
        shared.findings.add(
            at, f"What reads the data is taken for {source.type.title}, which reads otherwise."
        )
    node_id = reader.add(source.type.type_id, part.name, source.params, {})
    found.nodes.append(node_id)
    return node_id


# -- the parts of `load`


def _split(load: ast.FunctionDef) -> tuple[Part, list[ast.Call]]:
    """The lines of a `load` of one source, its splits, and the calls that transform columns."""
    body = [one for one in load.body if not is_doc(one)]
    *before, last = body
    value = last.value if isinstance(last, ast.Return) and last.value is not None else ast.Constant(None)
    steps: list[ast.Call] = []
    while before and isinstance(before[-1], ast.Expr | ast.Assign):
        one = before[-1]
        if (
            isinstance(one, ast.Expr)
            and isinstance(one.value, ast.Call)
            and isinstance(one.value.func, ast.Name)
        ):
            steps.insert(0, one.value)
            before.pop()
        elif (
            isinstance(one, ast.Assign)
            and isinstance(one.value, ast.Tuple)
            and _names_used(value) == _target(one)
        ):
            before.pop()
        elif isinstance(one, ast.Assign) and _chosen_from(value) == _target(one) and _target(one):
            value = one.value
            before.pop()
            break
        else:
            break
    return Part(before, value), steps


def _target(one: ast.Assign) -> str:
    return one.targets[0].id if len(one.targets) == 1 and isinstance(one.targets[0], ast.Name) else ""


def _names_used(value: ast.expr) -> str:
    """The variable of `{… for name in used}` in what chooses columns."""
    if isinstance(value, ast.DictComp) and isinstance(value.value, ast.DictComp):
        found = value.value.generators[0].iter
        return found.id if isinstance(found, ast.Name) else ""
    return ""


def _chosen_from(value: ast.expr) -> str:
    """The variable whose columns are chosen, or that is returned."""
    if isinstance(value, ast.Name):
        return value.id
    if not _names_used(value):
        return ""
    assert isinstance(value, ast.DictComp)
    found = value.generators[0].iter
    call = found.func if isinstance(found, ast.Call) else None
    return call.value.id if isinstance(call, ast.Attribute) and isinstance(call.value, ast.Name) else ""


Several = tuple[dict[str, Part], dict[str, tuple[str, str]], list[ast.Call]]


def _several(load: ast.FunctionDef) -> Several | None:
    """The parts of a `load` of several sources, by variable, and its columns; None for one source."""
    last = load.body[-1]
    made = last.value if isinstance(last, ast.Return) else None
    if not isinstance(made, ast.DictComp) or not isinstance(made.value, ast.Dict):
        return None
    returned: dict[str, tuple[str, str]] = {}
    for key, one in zip(made.value.keys, made.value.values, strict=True):
        inner = one.value if isinstance(one, ast.Subscript) else None
        if not (
            isinstance(key, ast.Constant)
            and isinstance(one, ast.Subscript)
            and isinstance(one.slice, ast.Constant)
            and isinstance(inner, ast.Subscript)
            and isinstance(inner.value, ast.Name)
        ):
            return None
        returned[str(key.value)] = (inner.value.id, str(one.slice.value))
    parts: dict[str, Part] = {}
    steps = []
    for line in load.body:
        if isinstance(line, ast.Assign) and _target(line):
            parts[_target(line)] = Part([], line.value, _target(line))
        elif isinstance(line, ast.Expr) and isinstance(line.value, ast.Call):
            steps.append(line.value)
    return parts, returned, steps


def inlined(shared: Shared, part: Part) -> Part:
    """A part that calls a function of the file's own, as the lines of that function."""
    call = part.value
    if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and not loaded_by(shared, call.func.id):
        found = shared.defined.trees.get(call.func.id)
        if isinstance(found, ast.FunctionDef):
            own, _ = _split(found)
            return Part(own.body, own.value, part.name)
    return part


def default_folders(home: str | None, file: Path) -> list[Path]:
    """Where the data of a script may lie: where it says, and where the installed ones are."""
    base = file if file.is_dir() else file.parent
    found = [base, datasets_folder()]
    if home:
        found = [base / home, datasets_folder() / home, *found]
        found.sort(key=lambda one: (one in (base, datasets_folder()), not one.exists()))
    return list(dict.fromkeys(found))
