"""Project files (.nloom): JSON, one node a line, written so that a crash leaves the old or the new file.

Opening a file only reads it: nothing in it is executed, and what this version doesn't know is kept
and saved again. Every error is a ProjectFileError with one sentence.
"""

from __future__ import annotations

import errno
import json
import math
import os
import re
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any, TypeVar
from uuid import uuid4

from engine.document.dressing import COLOURS, Frame, Note
from engine.document.edit_base import NODE_ID, keep_ids
from engine.document.fields import Fields, kind_of
from engine.document.graph import Block, Graph, Link, Node, Points, Project
from engine.document.locks import at_once, hold
from engine.document.paths import portable, settled
from engine.document.plan import Plan
from engine.document.scopes import verify
from engine.errors import GraphError, ProjectFileError, reason_of
from engine.values import natural

SCHEMA = 2  # the newest format; a project that needs nothing of it is written in format 1
TEMPORARY = ".nloom-tmp"  # what the name of a file ends in until it is whole
_SETTLED = 1.0  # seconds
LARGEST_FILE = 64 * 1024 * 1024  # bytes; a project of 100,000 nodes takes a third of it

Thing = TypeVar("Thing", Block, Frame, Note)

_encode = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(", ", ": ")).encode
# Line breaks that JSON leaves alone would break "one node a line"; halves of surrogate pairs aren't UTF-8.
_AWKWARD = re.compile("[\x7f-\x9f\u2028\u2029\ud800-\udfff]")


# -- writing


def to_text(project: Project) -> str:
    """Return the file's text: equal projects give equal text, ending in a newline."""
    parts = [
        f'"neuroloom": {schema_of(project)}',
        f'"title": {dump(project.title)}',
        f'"notes": {dump(project.notes)}',
        f'"plan": {dump(project.plan.to_json())}',
        f'"next_id": {project.next_id}',
        *parts_of(project),
        *(f"{dump(name)}: {dump(value)}" for name, value in project.extra.items()),
    ]
    return "{\n" + ",\n".join(parts) + "\n}\n"


def schema_of(project: Project) -> int:
    """Return the number of the lowest format that holds a project."""
    if project.blocks or project.frames or project.notes_on_canvas or project.graph._bends:
        return 2
    return 2 if any(node.muted or node.shares for node in project.graph.nodes.values()) else 1


def parts_of(project: Project) -> Iterator[str]:
    """Give the fields that hold what can be drawn, as they stand in a file: nodes, links, blocks ..."""
    yield from _graph_to_text(project.graph)
    if project.blocks:
        yield f'"blocks": {_list(_block_to_text(block) for block in project.blocks.values())}'
    if project.frames:
        yield f'"frames": {_list(dump(frame_to_json(frame)) for frame in project.frames.values())}'
    if project.notes_on_canvas:
        notes = project.notes_on_canvas.values()
        yield f'"notes_on_canvas": {_list(dump(note_to_json(note)) for note in notes)}'


def _graph_to_text(graph: Graph) -> Iterator[str]:
    yield f'"nodes": {_list(dump(node_to_json(node)) for node in graph.nodes.values())}'
    yield f'"links": {_list(dump(link_to_json(link, graph.bends(link))) for link in graph.links)}'


def _block_to_text(block: Block) -> str:
    parts = [
        f'"id": {dump(block.id)}, "name": {dump(block.name)}',
        *_graph_to_text(block.graph),
        *(f"{dump(name)}: {dump(value)}" for name, value in block.extra.items()),
    ]
    return "{" + ",\n".join(parts) + "}"


def dump(value: object) -> str:
    """Return JSON on one line, readable in any language and safe to encode as UTF-8."""
    return _AWKWARD.sub(lambda match: f"\\u{ord(match[0]):04x}", _encode(value))


def _list(lines: Iterator[str]) -> str:
    body = ",\n".join(f"  {line}" for line in lines)
    return f"[\n{body}\n]" if body else "[]"


def node_to_json(node: Node) -> dict[str, Any]:
    """Return a node as the object that stands in a file."""
    data: dict[str, Any] = {
        "id": node.id,
        "type": node.type,
        "name": node.name,
        "params": dict(node.params),
        "position": _pair(node.position),
    }
    if node.muted:
        data["muted"] = True
    if node.shares:
        data["shares"] = node.shares
    return {**data, **node.extra}


def link_to_json(link: Link, bends: Points = ()) -> list[Any]:
    """Return a link as the list that stands in a file; the points it is led through come fifth."""
    ends = [link.source, link.source_port, link.target, link.target_port]
    return [*ends, [_pair(point) for point in bends]] if bends else ends


def frame_to_json(frame: Frame) -> dict[str, Any]:
    """Return a frame as the object that stands in a file."""
    members = sorted(frame.members, key=natural)
    data = {"id": frame.id, "title": frame.title, "colour": frame.colour, "members": members}
    return {**data, **({"scope": frame.scope} if frame.scope else {}), **frame.extra}


def note_to_json(note: Note) -> dict[str, Any]:
    """Return a note on the canvas as the object that stands in a file."""
    data = {"id": note.id, "text": note.text, "position": _pair(note.position), "size": _pair(note.size)}
    return {**data, **({"scope": note.scope} if note.scope else {}), **note.extra}


def _pair(point: tuple[float, float]) -> list[int | float]:
    return [int(value) if value.is_integer() else value for value in point]


def save_project(project: Project, path: Path | str) -> None:
    """Write a project file; at every moment the path holds the old file or the new one, whole."""
    path = Path(path)
    write_atomically(path, to_text(portable(project, path.parent)).encode("utf-8"))


def write_atomically(path: Path, content: bytes) -> None:
    """Write to a temporary file in the same folder and rename it. Raises ProjectFileError.

    What programs that were killed while they wrote have left there is removed.
    """
    try:
        path = Path(os.path.realpath(path))  # a link stays a link to the file that changes
        temporary = path.with_name(f".{uuid4().hex}{TEMPORARY}")
        if path.exists() and not path.is_file():  # a device would be replaced, a folder can't be
            raise ValueError("it is no ordinary file")
        mode = stat.S_IMODE(path.stat().st_mode) if path.exists() else None
        try:
            with hold(temporary) or open(temporary, "wb") as file:  # some disks know no locks
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
                if mode is not None:
                    os.chmod(temporary, mode)
                if os.name != "nt":  # where an open file cannot be renamed
                    os.replace(temporary, path)
            if os.name == "nt":
                os.replace(temporary, path)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise
        _sync_folder(path.parent)
        _sweep(path.parent)
    except (OSError, ValueError) as error:
        raise ProjectFileError(f'"{path.name}" cannot be saved: {reason(error)}.') from error


def _sweep(folder: Path) -> None:
    """Remove temporary files that no program writes any more."""
    for left in folder.glob(f".*{TEMPORARY}"):
        with suppress(OSError):
            if time.time() - left.stat().st_mtime < _SETTLED:  # perhaps made and not locked yet
                continue
            lock = hold(left)
            if lock is not None:
                left.unlink(missing_ok=True)
                lock.close()


def _sync_folder(folder: Path) -> None:
    if os.name != "posix":
        return  # elsewhere a folder cannot be opened, and the rename is durable by itself
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def reason(error: Exception) -> str:
    """Why a file could not be read or written, to stand at the end of a sentence."""
    error = error.__cause__ if isinstance(error.__cause__, OSError) else error
    text = error.strerror if isinstance(error, OSError) else None
    return (text or reason_of(error)).rstrip(".").lower()


def disk_is_full(error: BaseException | None) -> bool:
    """Whether an error, or the one it came from, is that of a disk without room."""
    if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
        return True
    return error is not None and disk_is_full(error.__cause__)


# -- reading


def ordinary(path: Path) -> IO[bytes]:
    """The file, opened to be read. Errors: `OSError`, also for a pipe, a device or a folder."""
    file = open(path, "rb", opener=at_once)  # noqa: SIM115 - whoever asked for it closes it
    if stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        return file
    file.close()
    raise OSError(errno.EINVAL, "It is not an ordinary file", str(path))


def load_project(path: Path | str) -> Project:
    """Read a project file. Raises ProjectFileError with a sentence that names the file."""
    path = Path(path)
    try:
        with ordinary(path) as file:
            content = file.read(LARGEST_FILE + 1)
    except (OSError, ValueError) as error:
        raise _unreadable(path.name, reason(error)) from error
    if len(content) > LARGEST_FILE:
        raise _unreadable(path.name, f"it is larger than {LARGEST_FILE >> 20} MB")
    if not content.strip():
        raise _unreadable(path.name, "it is empty")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise _unreadable(path.name, "it is not text in UTF-8, so it is not a project file") from error
    return from_text(text, path.name, path.parent)


def from_text(text: str, origin: str = "", folder: Path | None = None) -> Project:
    """Read a project from a file's text; `origin` names it in errors, `folder` is where it lies.

    Raises ProjectFileError.
    """
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
        blocks, frames, on_canvas = read_blocks(fields), read_frames(fields), read_notes(fields)
        project = Project(title, notes, graph, plan, next_id, fields.rest(), blocks, frames, on_canvas)
        verify(project)
        keep_ids(project, *_all_ids(project))  # an id that was ever in use is never given again
        return settled(project, folder)


def _all_ids(project: Project) -> Iterator[str]:
    for _, graph in project.graphs():
        yield from graph.nodes
    yield from (*project.blocks, *project.frames, *project.notes_on_canvas)


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


def read_graph(fields: Fields, where: str = "") -> Graph:
    """Read "nodes" and "links", in whatever order they stand. Raises ProjectFileError, GraphError."""
    nodes = [_read_node(item, f"node number {i}{where}") for i, item in enumerate(fields.items("nodes"), 1)]
    links: list[Link] = []
    bends: dict[Link, Points] = {}
    for i, item in enumerate(fields.items("links", []), 1):
        link, points = _read_link(item, f"link number {i}{where}")
        links.append(link)
        if points:
            bends[link] = points
    return Graph(nodes, links, bends)


def _read_node(item: object, where: str) -> Node:
    fields = Fields(item, where)
    id = fields.text("id")
    if not NODE_ID.fullmatch(id):
        raise ProjectFileError(f'{where}: an id is "n" and a number, not "{id[:40]}"')
    fields.where = f'node "{id}"'
    try:
        return Node(
            id,
            fields.text("type"),
            fields.text("name", ""),
            fields.mapping("params", {}),
            fields.point("position", (0.0, 0.0)),
            muted=fields.flag("muted", False),
            shares=fields.text("shares", ""),
            extra=fields.rest(),
        )
    except (GraphError, ProjectFileError) as error:
        place = "" if error.message.startswith("node") else f'node "{id}": '
        raise ProjectFileError(place + error.message, node_id=id) from error


def _read_link(item: object, where: str) -> tuple[Link, Points]:
    if not isinstance(item, list) or len(item) not in (4, 5) or not all(isinstance(s, str) for s in item[:4]):
        raise ProjectFileError(f"{where} should be four texts: source, port, target, port")
    points = item[4] if len(item) == 5 else []
    if not isinstance(points, list):
        raise ProjectFileError(f"{where}: its bends should be a list, not {kind_of(points)}")
    return Link(*item[:4]), tuple(Fields({"bend": point}, where).point("bend") for point in points)


def read_blocks(fields: Fields) -> dict[str, Block]:
    """Read "blocks", by id in order. Raises ProjectFileError, GraphError."""
    blocks = [_read_block(item, f"block number {i}") for i, item in enumerate(fields.items("blocks", []), 1)]
    return _by_id(blocks, "blocks")


def _read_block(item: object, where: str) -> Block:
    fields = Fields(item, where)
    id, name = fields.text("id"), fields.text("name", "")
    fields.where = f'block "{id[:40]}"'
    try:
        return Block(id, name, read_graph(fields, f" of {fields.where}"), fields.rest())
    except GraphError as error:
        raise ProjectFileError(f"{fields.where}: {error.message}", node_id=error.node_id) from error


def read_frames(fields: Fields) -> dict[str, Frame]:
    """Read "frames", by id in order. Raises ProjectFileError, GraphError."""
    found = [Fields(item, f"frame number {i}") for i, item in enumerate(fields.items("frames", []), 1)]
    return _by_id([_read_frame(one) for one in found], "frames")


def _read_frame(fields: Fields) -> Frame:
    id, title, colour = fields.text("id"), fields.text("title", ""), fields.text("colour", COLOURS[0])
    members, scope = fields.items("members"), fields.text("scope", "")
    if not all(isinstance(member, str) for member in members):
        raise ProjectFileError(f'{fields.where}: "members" should be ids of nodes')
    return Frame(id, title, colour, frozenset(members), scope, fields.rest())


def read_notes(fields: Fields) -> dict[str, Note]:
    """Read "notes_on_canvas", by id in order. Raises ProjectFileError, GraphError."""
    items = fields.items("notes_on_canvas", [])
    found = [Fields(item, f"note number {i} on the canvas") for i, item in enumerate(items, 1)]
    return _by_id([_read_note(one) for one in found], "notes")


def _read_note(fields: Fields) -> Note:
    id, text, scope = fields.text("id"), fields.text("text", ""), fields.text("scope", "")
    position, size = fields.point("position", (0.0, 0.0)), fields.point("size", (240.0, 120.0))
    return Note(id, text, position, size, scope, fields.rest())


def _by_id(things: list[Thing], what: str) -> dict[str, Thing]:
    found: dict[str, Thing] = {}
    for thing in sorted(things, key=lambda one: natural(one.id)):
        if thing.id in found:
            raise ProjectFileError(f'there are two {what} with the id "{thing.id}"')
        found[thing.id] = thing
    return found
