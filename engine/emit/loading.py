"""Reading the data: the functions a script carries for it, and the lines of its own `load` that call them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from engine.catalogue import Column, Data
from engine.catalogue.emitter import build
from engine.catalogue.identifiers import NameBook
from engine.data.pairs import check_pairs
from engine.document.shipped import datasets_folder
from engine.emit.entry import plain_text
from engine.emit.model import Assembly, blamed
from engine.emit.places import Places
from engine.emit.statements import WIDTH, Statement, quoted, under
from engine.errors import EmitError
from engine.shapes.folding import Prepared, Step


def home_text(folder: Path | None, beside: Path | None, copied: str | None = None) -> str:
    """The folder of the data as an expression: of the script itself, below it, or somewhere else.

    `copied` is what a copy of the folder is called beside the script, "" for a copy in the script's own.
    """
    own = "Path(__file__).parent"
    if folder is None:
        return own
    if folder.is_relative_to(datasets_folder()):  # copied beside the script as other installed data are
        return f"{own} / {quoted(folder.relative_to(datasets_folder()).as_posix())}"
    if beside is not None and folder.is_relative_to(beside):
        below = folder.relative_to(beside).as_posix()
        return own if below == "." else f"{own} / {quoted(below)}"
    if copied is not None:
        return f"{own} / {quoted(copied)}" if copied else own
    return f"Path({quoted(folder.as_posix())})"


def loaders(node_id: str, data: Data) -> list[Callable[..., Any]]:
    """The functions that load the data, and those that these are given. Errors: `EmitError`."""
    with blamed(node_id):
        first, given = _loader(data)
    steps = _steps(data)
    options = [*given.values(), *(value for step in steps for value in step.options.values())]
    return [first, *(one for one in options if callable(one)), *(step.function for step in steps)]


def load_lines(made: Assembly, places: Places) -> list[Statement]:
    """The script's own `load`, which calls what loads the data."""
    doc = "; ".join(f"{plain_text(column.name)} {_sizes(column)}" for column in made.columns())
    first = "{split: {column: values}} for train, validation and test"
    if len(first) + len(doc) < WIDTH - 16:
        body = [Statement(f'"""{first}: {doc}."""')]
    else:
        body = [Statement(one) for one in (f'"""{first}.', "", f"{doc}.", '"""')]
    body += _load_several(made, places) if len(places.nodes) > 1 else _load_one(made, places.nodes[0][1])
    head = "def load(folder: Path, device: str) -> dict[str, dict[str, Tensor]]:"
    return [under(head, body).of(made.source)]


def _loader(data: Data) -> tuple[Callable[..., Any], dict[str, Any]]:
    loader = build(data, "data", {}).loader
    if loader is None:
        raise EmitError(f"{data.title} does not say how it is loaded.")
    return loader


def _steps(data: Data) -> tuple[Step, ...]:
    return data.steps if isinstance(data, Prepared) else ()


def _load_one(made: Assembly, data: Data) -> list[Statement]:
    used = [column.name for column in made.columns()]
    call = _call_of(data)
    if len(data.columns()) > len(used):
        return _chosen(call, data, used)
    return [Statement(call, target="return")]


def _chosen(call: str, data: Data, used: Sequence[str]) -> list[Statement]:
    """The columns that the network uses, of all that are read and those that transforms make of them."""
    lines = [Statement(call, target="splits"), *_step_lines(data, "splits")]
    comma = "," if len(used) == 1 else ""
    lines.append(Statement(f"({', '.join(quoted(one) for one in used)}{comma})", target="used"))
    chosen = "{split: {name: columns[name] for name in used} for split, columns in splits.items()}"
    return [*lines, Statement(chosen, target="return")]


def _load_several(made: Assembly, places: Places) -> list[Statement]:
    """Each data node's splits, those that are paired checked, and the columns of all beside each other."""
    book = NameBook(("folder", "device", "split"), outer=made.names)
    titles = {one: made.graph.node(one).name or data.title for one, data in places.nodes}
    names = {one: book.give(title, "data") for one, title in titles.items()}
    lines: list[Statement] = []
    items: list[Statement] = []
    for one, data in places.nodes:
        with blamed(one):
            call = _call_of(data, places.below.get(one, ""))
        lines += [Statement(call, node_id=one, target=names[one]), *_step_lines(data, names[one])]
        for column in made.columns(one):
            own = data.own_name(column.name) if isinstance(data, Prepared) else column.name
            items.append(
                Statement(f"{quoted(column.name)}: {names[one]}[split][{quoted(own)}],", node_id=one)
            )
    for first, *others in made.streams.nodes:
        for one in others:
            given = ", ".join(quoted(plain_text(titles[which])) for which in (first, one))
            check = f"{check_pairs.__name__}({names[first]}, {names[one]}, {given})"
            lines.append(Statement(check, node_id=one))
    loop = Statement(f"for split in {names[places.nodes[0][0]]}")
    return [*lines, under("return {", [under("split: {", items), Statement("}"), loop]), Statement("}")]


def _step_lines(data: Data, splits: str) -> list[Statement]:
    """The transforms of a data node, which add columns to its `splits`."""
    lines = []
    for step in _steps(data):
        named = f"{splits}, {quoted(step.column)}, {quoted(step.into.name)}"
        lines.append(Statement(_call(step.function, named, step.options), node_id=step.node_id))
    return lines


def _call_of(data: Data, below: str = "") -> str:
    """The call that reads a data node's files, which are in the folder or `below` it."""
    first, given = _loader(data)
    return _call(first, f"folder / {quoted(below)}, device" if below else "folder, device", given)


def _call(function: Callable[..., Any], first: str, options: Mapping[str, object]) -> str:
    """A call as Python; an option that is a function of ours is handed over by its name."""
    given = "".join(f", {key}={_written(value)}" for key, value in options.items())
    return f"{function.__name__}({first}{given})"


def _written(value: object) -> str:
    """An option as Python: a function of ours by its name, text so that any editor shows it."""
    if callable(value):
        return str(getattr(value, "__name__", value))
    return repr(value) if str(value).isprintable() else ascii(value)


def _sizes(column: Column) -> str:
    sizes = [column.rows or "N", *(str(size) for size in column.shape)]
    return "(" + ", ".join(sizes) + ("," if not column.shape else "") + ")"
