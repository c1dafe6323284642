"""Reading the data: the functions a script carries for it, and the lines of its own `load` that call them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from engine.catalogue import Column, Data
from engine.catalogue.emitter import build
from engine.catalogue.identifiers import NameBook
from engine.catalogue.symbols import Expr, name
from engine.data.pairs import check_pairs
from engine.data.text.token_names import OPTION, TOKENISERS
from engine.data.text.tokenisers import keeping
from engine.emit.entry import plain_text
from engine.emit.model import Assembly, blamed
from engine.emit.places import Places
from engine.emit.sources.parts import tuple_text
from engine.emit.sources.straight import Function, Reading, Straight
from engine.emit.sources.writers import may_carry, straight
from engine.emit.statements import WIDTH, Statement, printed, quoted, under
from engine.errors import EmitError
from engine.procedures.declare import SPLITS
from engine.shapes.folding import Prepared, Step


def loaders(node_id: str, data: Data) -> list[Function]:
    """The functions that may load the data, and those that these are given. Errors: `EmitError`."""
    with blamed(node_id):
        first, given = _loader(data)
    return [first, *_callables(given), *may_carry(first), *_of_steps(data)]


@dataclass(frozen=True)
class Loading:
    """The script's own `load` as a script has it, and as the application reads: strictly, telling how far.

    `carries` and `strict_carries` are the functions of ours that they use; `strict` is empty where both read
    alike. `parts` are its functions, `load` the last.
    """

    parts: list[list[Statement]] = field(default_factory=list)
    carries: list[Function] = field(default_factory=list)
    strict: list[Statement] = field(default_factory=list)
    strict_carries: list[Function] = field(default_factory=list)

    def key(self) -> str:
        """The text of `load` as the application reads."""
        part = self.strict or (self.parts[-1] if self.parts else [])
        return "\n".join(line.plain for line in printed(part))


def loading(made: Assembly, places: Places, keeps: bool = False) -> Loading:
    """The script's own `load`, which `keeps` tokenisers that procedures ask for. Errors: `EmitError`."""
    written: dict[str, Straight] = {}
    carries: list[Function] = []
    strict: list[Function] = []
    outside: list[list[Statement]] = []
    for one, data in places.nodes:
        with blamed(one):
            loader, given = _loader(data)
            names = NameBook(("folder", "device", "split", "splits", "used"), outer=made.names)
            reading = Reading(data, given, _wanted(made, one, data), names, made.names, keeps)
            found = None if data.lacks() else straight(loader, reading)
        carried = [loader, *_callables(given), *_of_steps(data)]
        strict += carried
        if found is not None:
            written[one] = found
            carried = [*found.carries, *_of_steps(data)]
            outside += [[line.of(one) for line in part] for part in found.beside]
        elif keeps and data.learned_key() is not None:
            carried.append(keeping)
        carries += carried
    if keeps:
        about = "that are learned from the data, in their order"
        outside.append([Statement(f"{TOKENISERS}: list[Any] = []  # {about}")])
    doc = _doc(made)
    if len(places.nodes) > 1:
        beside, values = _written_beside(made, places, written)
        lines = _load_several(made, places, values, keeps)
        strictly = _load_several(made, places, {})
        checks = [check_pairs] if any(len(nodes) > 1 for nodes in made.streams.nodes) else []
        carries, strict = [*carries, *checks], [*strict, *checks]
    else:
        [(one, data)] = places.nodes
        beside, lines = [], _load_one(made, data, written.get(one), keeps)
        strictly = _load_one(made, data, None)
    takes = "folder: Path, device: str" if places.holds() else "device: str"
    head = f"def load({takes}) -> dict[str, dict[str, Tensor]]:"
    return Loading(
        [*outside, *beside, [under(head, [*doc, *lines]).of(made.source)]],
        carries,
        [under(head, strictly).of(made.source)] if written else [],
        strict if written else [],
    )


def _doc(made: Assembly) -> list[Statement]:
    """What `load` gives, with its sizes."""
    doc = "; ".join(f"{plain_text(column.name)} {_sizes(column)}" for column in made.columns())
    first = "{split: {column: values}} for train, validation and test"
    if len(first) + len(doc) < WIDTH - 16:
        return [Statement(f'"""{first}: {doc}."""')]
    return [Statement(one) for one in (f'"""{first}.', "", f"{doc}.", '"""')]


def _wanted(made: Assembly, node_id: str, data: Data) -> tuple[str, ...]:
    """The data's own columns that the script uses, or that a transform of it reads."""
    used = {one.name for one in made.columns(node_id)}
    if isinstance(data, Prepared):
        used = {data.own_name(one) for one in used} | {step.column for step in data.steps}
        data = data.data
    return tuple(one.name for one in data.columns() if one.name in used)


def _written_beside(
    made: Assembly, places: Places, written: Mapping[str, Straight]
) -> tuple[list[list[Statement]], dict[str, str]]:
    """A function for each data node that is read in lines, and their names by node."""
    parts, names = [], {}
    holds = dict(places.nodes)
    for one, found in written.items():
        title = made.graph.node(one).name or made.book.types[one].title
        names[one] = made.names.give(f"load {title}")
        takes = "folder: Path, device: str" if holds[one].holds() else "device: str"
        head = f"def {names[one]}({takes}) -> dict[str, dict[str, Tensor]]:"
        parts.append([under(head, [*found.lines, Statement(found.value, target="return")]).of(one)])
    return parts, names


def _loader(data: Data) -> tuple[Callable[..., Any], dict[str, Any]]:
    loader = build(data, "data", {}).loader
    if loader is None:
        raise EmitError(f"{data.title} does not say how it is loaded.")
    return loader


def _steps(data: Data) -> tuple[Step, ...]:
    return data.steps if isinstance(data, Prepared) else ()


def _callables(given: Mapping[str, Any]) -> list[Function]:
    return [one for one in given.values() if callable(one)]


def _of_steps(data: Data) -> list[Function]:
    steps = _steps(data)
    return [step.function for step in steps] + [one for step in steps for one in _callables(step.options)]


def _load_one(made: Assembly, data: Data, written: Straight | None, keeps: bool = False) -> list[Statement]:
    used = [column.name for column in made.columns()]
    call = _call_of(data, _folder(data), keeps) if written is None else written.value
    lines = [] if written is None else [*written.lines]
    read = len(
        data.columns() if written is None else [*_wanted(made, made.source or "", data), *_steps(data)]
    )
    if read > len(used):
        return [*lines, *_chosen(call, data, used)]
    return [*lines, Statement(call, target="return")]


def _chosen(call: str, data: Data, used: Sequence[str]) -> list[Statement]:
    """The columns that the network uses, of all that are read and those that transforms make of them."""
    lines = [Statement(call, target="splits"), *_step_lines(data, "splits")]
    lines.append(Statement(tuple_text([quoted(one) for one in used]), target="used"))
    chosen = "{split: {name: columns[name] for name in used} for split, columns in splits.items()}"
    return [*lines, Statement(chosen, target="return")]


def _load_several(
    made: Assembly, places: Places, functions: Mapping[str, str], keeps: bool = False
) -> list[Statement]:
    """Each data node's splits, those that are paired checked, and the columns of all beside each other.

    `functions` are the script's own that read data nodes.
    """
    book = NameBook(("folder", "device", "split"), outer=made.names)
    titles = {one: made.graph.node(one).name or data.title for one, data in places.nodes}
    names = {one: book.give(title, "data") for one, title in titles.items()}
    lines: list[Statement] = []
    items: list[Statement] = []
    for one, data in places.nodes:
        with blamed(one):
            below = places.below.get(one, "")
            given = _folder(data, below)
            own = given.removeprefix("Path(), ")
            call = f"{functions[one]}({own})" if one in functions else _call_of(data, given, keeps)
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
    if made.splits != SPLITS:
        loop = Statement(f"for split in {tuple_text([quoted(one) for one in made.splits])}")
    return [*lines, under("return {", [under("split: {", items), Statement("}"), loop]), Statement("}")]


def _step_lines(data: Data, splits: str) -> list[Statement]:
    """The transforms of a data node, which add columns to its `splits`."""
    lines = []
    for step in _steps(data):
        named = f"{splits}, {quoted(step.column)}, {quoted(step.into.name)}"
        lines.append(Statement(_call(step.function, named, step.options), node_id=step.node_id))
    return lines


def _call_of(data: Data, where: str, keeps: bool = False) -> str:
    """The call that reads a data node's files, and perhaps `keeps` the tokenisers that it learns."""
    first, given = _loader(data)
    if keeps and callable(learn := given.get(OPTION)):
        given = {**given, OPTION: name(keeping.__name__)(name(learn.__name__), name(TOKENISERS))}
    return _call(first, where, given)


def _folder(data: Data, below: str = "") -> str:
    """Where a data node's files are, which may be `below` the folder of the script's; and the device."""
    if not data.holds():
        return "Path(), device"
    return f"folder / {quoted(below)}, device" if below else "folder, device"


def _call(function: Callable[..., Any], first: str, options: Mapping[str, object]) -> str:
    """A call as Python; an option that is a function of ours is handed over by its name."""
    given = "".join(f", {key}={_written(value)}" for key, value in options.items())
    return f"{function.__name__}({first}{given})"


def _written(value: object) -> str:
    """An option as Python: a function of ours by its name, text so that any editor shows it."""
    if isinstance(value, Expr):
        return str(value)
    if callable(value):
        return str(getattr(value, "__name__", value))
    return repr(value) if str(value).isprintable() else ascii(value)


def _sizes(column: Column) -> str:
    sizes = [column.rows or "N", *(str(size) for size in column.shape)]
    return "(" + ", ".join(sizes) + ("," if not column.shape else "") + ")"
