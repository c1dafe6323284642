"""Project files (.nloom): JSON, one node a line, written so that a crash leaves the old or the new file.

Opening a file only reads it: nothing in it is executed, and what this version doesn't know is kept
and saved again. Every error is a ProjectFileError with one sentence.
"""

from __future__ import annotations

import json
import math
import os
import re
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from uuid import uuid4

from engine.edits import NODE_ID
from engine.errors import GraphError, ProjectFileError
from engine.fields import Fields, kind_of
from engine.graph import Graph, Link, Node, Project
from engine.plan import Plan

SCHEMA = 1
LARGEST_FILE = 64 * 1024 * 1024  # bytes; a project of 100,000 nodes takes a third of it

_encode = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(", ", ": ")).encode
# Line breaks that JSON leaves alone would break "one node a line"; halves of surrogate pairs aren't UTF-8.
_AWKWARD = re.compile("[\x7f-\x9f\u2028\u2029\ud800-\udfff]")


# -- writing


def to_text(project: Project) -> str:
    """Return the file's text: equal projects give equal text, ending in a newline."""
    graph = project.graph
    parts = [
        f'"neuroloom": {SCHEMA}',
        f'"title": {dump(project.title)}',
        f'"notes": {dump(project.notes)}',
        f'"plan": {dump(project.plan.to_json())}',
        f'"next_id": {project.next_id}',
        f'"nodes": {_list(dump(node_to_json(node)) for node in graph.nodes.values())}',
        f'"links": {_list(dump(link_to_json(link)) for link in graph.links)}',
        *(f"{dump(name)}: {dump(value)}" for name, value in project.extra.items()),
    ]
    return "{\n" + ",\n".join(parts) + "\n}\n"


def dump(value: object) -> str:
    """Return JSON on one line, readable in any language and safe to encode as UTF-8."""
    return _AWKWARD.sub(lambda match: f"\\u{ord(match[0]):04x}", _encode(value))


def _list(lines: Iterator[str]) -> str:
    body = ",\n".join(f"  {line}" for line in lines)
    return f"[\n{body}\n]" if body else "[]"


def node_to_json(node: Node) -> dict[str, Any]:
    """Return a node as the object that stands in a file."""
    position = [int(value) if value.is_integer() else value for value in node.position]
    return {
        "id": node.id,
        "type": node.type,
        "name": node.name,
        "params": dict(node.params),
        "position": position,
        **node.extra,
    }


def link_to_json(link: Link) -> list[str]:
    """Return a link as the list that stands in a file."""
    return [link.source, link.source_port, link.target, link.target_port]


def save_project(project: Project, path: Path | str) -> None:
    """Write a project file; at every moment the path holds the old file or the new one, whole."""
    write_atomically(Path(path), to_text(project).encode("utf-8"))


def write_atomically(path: Path, content: bytes) -> None:
    """Write to a temporary file in the same folder and rename it. Raises ProjectFileError."""
    try:
        path = Path(os.path.realpath(path))  # a link stays a link to the file that changes
        temporary = path.with_name(f".{uuid4().hex}.nloom-tmp")
        mode = stat.S_IMODE(path.stat().st_mode) if path.exists() else None
        try:
            with open(temporary, "xb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            if mode is not None:
                os.chmod(temporary, mode)
            os.replace(temporary, path)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise
        _sync_folder(path.parent)
    except (OSError, ValueError) as error:
        raise ProjectFileError(f'"{path.name}" cannot be saved: {_reason(error)}.') from error


def _sync_folder(folder: Path) -> None:
    if os.name != "posix":
        return  # elsewhere a folder cannot be opened, and the rename is durable by itself
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _reason(error: Exception) -> str:
    text = error.strerror if isinstance(error, OSError) else None
    return (text or str(error) or type(error).__name__).rstrip(".").lower()


# -- reading


def load_project(path: Path | str) -> Project:
    """Read a project file. Raises ProjectFileError with a sentence that names the file."""
    path = Path(path)
    try:
        with open(path, "rb") as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise _unreadable(path.name, "it is not an ordinary file")
            content = file.read(LARGEST_FILE + 1)
    except (OSError, ValueError) as error:
        raise _unreadable(path.name, _reason(error)) from error
    if len(content) > LARGEST_FILE:
        raise _unreadable(path.name, f"it is larger than {LARGEST_FILE >> 20} MB")
    if not content.strip():
        raise _unreadable(path.name, "it is empty")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise _unreadable(path.name, "it is not text in UTF-8, so it is not a project file") from error
    return from_text(text, path.name)


def from_text(text: str, origin: str = "") -> Project:
    """Read a project from a file's text; `origin` names it in errors. Raises ProjectFileError."""
    with reading(origin):
        data = parse(text)
        if not isinstance(data, dict) or "neuroloom" not in data:
            raise ProjectFileError("it is not a Neuroloom project")
        fields = Fields(data, "the project")
        check_schema(fields.raw("neuroloom"), SCHEMA)
        title, notes = fields.text("title", "Untitled"), fields.text("notes", "")
        plan = Plan.from_json(fields.raw("plan")) if "plan" in data else Plan()
        next_id = fields.whole("next_id", 1)
        graph = read_graph(fields)
        # An id that was ever in use is never given again, so a counter behind the ids is mended.
        next_id = max(1, next_id, *(int(id[1:]) + 1 for id in graph.nodes))
        return Project(title, notes, graph, plan, next_id, fields.rest())


@contextmanager
def reading(origin: str, doing: str = "opened") -> Iterator[None]:
    """Turn whatever goes wrong inside into one ProjectFileError sentence that names the origin."""
    try:
        yield
    except (GraphError, ProjectFileError) as error:
        raise _unreadable(origin, error.message, error.node_id, error.fix, doing) from error
    except RecursionError as error:
        raise _unreadable(origin, "it is nested too deeply", doing=doing) from error


def _unreadable(
    origin: str, why: str, node_id: str | None = None, fix: str | None = None, doing: str = "opened"
) -> ProjectFileError:
    what = f'"{origin}"' if origin else "This text"
    why = why[:1].lower() + why[1:].rstrip(".")
    return ProjectFileError(f"{what} cannot be {doing}: {why}.", node_id=node_id, fix=fix)


def parse(text: str) -> Any:
    """Read strict JSON: no NaN, no infinities, no field twice. Raises ProjectFileError."""
    try:
        return json.loads(text, object_pairs_hook=_object, parse_float=_float, parse_constant=_constant)
    except json.JSONDecodeError as error:
        if error.pos >= len(text.rstrip()) or error.msg.startswith("Unterminated string"):
            raise ProjectFileError(f"it breaks off in line {error.lineno}; part of it is missing") from error
        raise ProjectFileError(f"line {error.lineno}, column {error.colno} is not valid JSON") from error
    except ValueError as error:  # a whole number of more digits than Python reads
        raise ProjectFileError("it has a number that is too long") from error


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ProjectFileError(f'it has the field "{twice[:40]}" twice in one object')
    return result


def _float(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ProjectFileError(f"it has the number {text[:40]}, which is too large")
    return value


def _constant(text: str) -> float:
    raise ProjectFileError(f"it has {text} in it, which is no number in JSON")


def check_schema(number: object, known: int) -> None:
    """Raise ProjectFileError unless this version reads the given format."""
    if isinstance(number, bool) or not isinstance(number, int):
        raise ProjectFileError(f"its format should be a whole number, not {kind_of(number)}")
    if number > known:
        raise ProjectFileError(
            f"it was made by a newer Neuroloom (format {number}; this one reads up to {known})",
            fix="Update Neuroloom to open it.",
        )
    if number < 1:
        raise ProjectFileError(f"there is no format {number}")


def read_graph(fields: Fields) -> Graph:
    """Read "nodes" and "links", in whatever order they stand. Raises ProjectFileError, GraphError."""
    nodes = [_read_node(item, i) for i, item in enumerate(fields.items("nodes"), start=1)]
    links = [_read_link(item, i) for i, item in enumerate(fields.items("links", []), start=1)]
    return Graph(nodes, links)


def _read_node(item: object, index: int) -> Node:
    fields = Fields(item, f"node number {index}")
    id = fields.text("id")
    if not NODE_ID.fullmatch(id):
        raise ProjectFileError(f'node number {index}: an id is "n" and a number, not "{id[:40]}"')
    fields.where = f'node "{id}"'
    try:
        return Node(
            id,
            fields.text("type"),
            fields.text("name", ""),
            fields.mapping("params", {}),
            fields.point("position", (0.0, 0.0)),
            fields.rest(),
        )
    except (GraphError, ProjectFileError) as error:
        place = "" if error.message.startswith("node") else f'node "{id}": '
        raise ProjectFileError(place + error.message, node_id=id) from error


def _read_link(item: object, index: int) -> Link:
    if not isinstance(item, list) or len(item) != 4 or not all(isinstance(part, str) for part in item):
        raise ProjectFileError(f"link number {index} should be four texts: source, port, target, port")
    return Link(*item)
