"""The files that data nodes read: whether they are still there, and still what was read."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache, partial
from os.path import isdir
from pathlib import Path
from typing import NamedTuple

from PySide6.QtCore import QObject, QTimer, Signal
from PySide6.QtWidgets import QFileDialog, QWidget

from app.widgets.background import Background
from app.workspace.open_document import CheckedDocument
from engine.catalogue import NodeType
from engine.catalogue.params import ParamSpec
from engine.data.open.opening import OPENERS, stamp
from engine.document.document import Change
from engine.document.graph import Node
from engine.document.paths import ASK
from engine.errors import NeuroloomError
from engine.shapes.problems import Fix, Problem
from engine.values import Value

SETTLE_MS = 250
TABLE_FILE = "TableFile"
MISSING, CHANGED = "file-missing", "file-changed"


class Read(NamedTuple):
    """A file that a node reads; `stamp` is the mark of its content as it was read, "" where none is kept."""

    node_id: str
    parameter: str
    path: str
    stamp: str
    form: tuple[tuple[str, Value], ...] = ()  # parameters of a node that reads a table


class State(NamedTuple):
    """What is wrong with a file: MISSING or CHANGED, and a sentence."""

    read: Read
    code: str
    sentence: str


def path_spec(kind: type[NodeType] | None) -> ParamSpec | None:
    """The parameter that names the file or folder a data node reads; None where it reads none."""
    if kind is None or kind.kind != "data":
        return None
    return next((spec for spec in kind.params if spec.kind == "path"), None)


def look_at(reads: Sequence[Read]) -> list[State]:
    """What is wrong with these files. Called in a thread: a folder on a network may take its time."""
    return [state for read in reads if (state := _state(read)) is not None]


def _state(read: Read) -> State | None:
    path = Path(read.path)
    try:
        if not path.exists():
            return State(read, MISSING, f"There is no “{path.name}” in {path.parent}.")
        if read.stamp and path.is_file() and stamp(path) != read.stamp:
            changed = f"“{path.name}” has changed since it was read: its columns and classes may differ."
            return State(read, CHANGED, changed)
        if read.form and (lost := _lacking(read.form, path.stat().st_mtime_ns)):
            return State(read, CHANGED, lost)
    except OSError as error:
        why = error.strerror or str(error)
        return State(read, MISSING, f"“{path.name}” cannot be read: {why}.")
    return None


@lru_cache(maxsize=64)
def _lacking(form: tuple[tuple[str, Value], ...], _written: int) -> str:
    """A sentence on columns that a table lacks when it is read as the node says; "" if it lacks none."""
    from engine.data.tables.looks import lacking

    params = dict(form)
    try:
        lost = lacking(params)
    except NeuroloomError as error:
        return str(error)
    name = Path(str(params["path"])).name
    return f"Read in this way, “{name}” has no column “{lost[0]}”." if lost else ""


class DataFiles(QObject):
    """Lists what is wrong with the files of a document's data nodes among its problems.

    `looked` follows each look at them.
    """

    looked = Signal()

    def __init__(self, workspace: CheckedDocument, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._workspace = workspace
        self.states: list[State] = []
        self._worker = Background("data-files", self)
        self._worker.finished.connect(self._looked)
        self._settle = QTimer(self)
        self._settle.setSingleShot(True)
        self._settle.setInterval(SETTLE_MS)
        self._settle.timeout.connect(self.look)
        workspace.changed.connect(self._changed)
        workspace.engine_ready.connect(self.look)
        workspace.closing.connect(self.close)

    def look(self) -> None:
        """Looks at the files, beside the window."""
        reads = self.reads()
        if reads or self.states:
            self._worker.ask(partial(look_at, reads))

    def reads(self) -> list[Read]:
        """The files that data nodes read."""
        found = []
        for node in self._workspace.document.project.graph.nodes.values():
            kind = self._workspace.type_of(node)
            spec = path_spec(kind)
            for one in kind.params if kind is not None and spec is not None else ():
                path = node.params.get(one.name, "") if one.kind == "path" else ""
                if path and spec is not None and one is not spec:  # may be named from where the first lies
                    path = str(Path(str(node.params.get(spec.name, ""))).parent / str(path))
                mark = node.params.get("stamp", "") if one is spec else ""
                if isinstance(path, str) and path.startswith(ASK):
                    break  # its problem says so; nothing looks there
                if isinstance(path, str) and path and isinstance(mark, str):
                    table = table_params(self._workspace, node) if one is spec else None
                    form = tuple(table.items()) if table is not None and node.params.get("table") else ()
                    found.append(Read(node.id, one.name, path, mark, form))
        return found

    def close(self) -> None:
        """Ends the thread."""
        self._settle.stop()
        self._worker.close()

    def _changed(self, change: Change) -> None:
        if self.states or self.reads():
            self._settle.start()

    def _looked(self, states: list[State] | None, error: NeuroloomError | None) -> None:
        now = set(self.reads())
        self.states = [state for state in states or [] if state.read in now]
        self._workspace.note("files", map(self._problem, self.states))
        self.looked.emit()

    def _problem(self, state: State) -> Problem:
        read = state.read
        wanted = self._workspace.file_wanted
        if state.code == MISSING:
            fix = Fix("Choose another file", begin=partial(wanted.emit, read.node_id, None))
            return Problem(read.node_id, state.sentence, read.parameter, "error", fix, MISSING)
        fix = Fix("Read again", begin=partial(wanted.emit, read.node_id, Path(read.path)))
        return Problem(read.node_id, state.sentence, read.parameter, "warning", fix, CHANGED)


def table_params(workspace: CheckedDocument, node: Node) -> dict[str, Value] | None:
    """The parameters of a node that reads a table, defaults included; None for any other."""
    if node.type != TABLE_FILE:
        return None
    kind = workspace.type_of(node)
    usual = {spec.name: spec.default for spec in kind.params} if kind is not None else {}
    return {**usual, **node.params}


# -- choosing -------------------------------------------------------------------------------------


def data_filter() -> str:
    """The kinds of files that can be opened, for a file dialog."""
    ends = " ".join(f"*{end}" for found in OPENERS.values() for end in found)
    return f"Data ({ends});;All files (*)"


def data_folder(workspace: CheckedDocument) -> Path:
    """Where the next file of data is likely to be: where the last was, else beside the project."""
    stored = workspace.settings.text("data/folder")
    path = workspace.document.path
    if stored and isdir(stored):
        return Path(stored)
    return path.parent if path is not None else Path.home()


def choose(parent: QWidget, workspace: CheckedDocument, spec: ParamSpec, now: str) -> Path | None:
    """Asks for a file or folder in the place of `now`; None if the user cancels."""
    start = Path(now).parent if now and Path(now).parent.is_dir() else data_folder(workspace)
    if spec.folder or (now and Path(now).is_dir()):
        name = QFileDialog.getExistingDirectory(parent, "Choose a folder", str(start))
    else:
        name, _ = QFileDialog.getOpenFileName(parent, "Choose a file", str(start), data_filter())
    if not name:
        return None
    workspace.settings.keep("data/folder", str(Path(name).parent))
    return Path(name)
