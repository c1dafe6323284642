"""A tab's document as panels, views and the canvas use it: each asks for the least that it needs.

The workspace has all of it: the document, then what is selected, what is known of its shapes, and its runs.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Protocol

from PySide6.QtCore import QObject, SignalInstance

from app.workspace.engine_parts import EngineParts, RunControl, Shapes
from app.workspace.places import Places
from app.workspace.settings import Settings
from engine.catalogue import Catalogue, NodeType
from engine.document.document import Document
from engine.document.edits import Edit
from engine.document.graph import Graph, Node
from engine.shapes.problems import Problem


class OpenDocument(Protocol):
    """A document that is read and edited; `graph` is on show: that of the block `scope`, or the whole."""

    settings: Settings
    places: Places
    catalogue: Catalogue
    document: Document
    changed: SignalInstance
    scope_changed: SignalInstance
    message: SignalInstance
    closing: SignalInstance
    title_changed: SignalInstance
    data_opened: SignalInstance
    remarks: dict[str, tuple[str, ...]]

    @property
    def owner(self) -> QObject: ...
    @property
    def scope(self) -> str: ...
    @property
    def graph(self) -> Graph: ...
    def node(self, node_id: str) -> Node | None: ...
    def graph_around(self, node_id: str) -> Graph | None: ...
    def type_of(self, node: Node) -> type[NodeType] | None: ...
    def apply(self, label: str, *edits: Edit, merge: str | None = None) -> bool: ...
    def seal(self) -> None: ...
    def undo(self) -> None: ...
    def redo(self) -> None: ...


class SelectableDocument(OpenDocument, Protocol):
    """A document in which nodes are selected and shown."""

    selection: tuple[str, ...]
    loading: bool
    selected: SignalInstance

    def select(self, ids: Iterable[str], *, seal: bool = True) -> None: ...
    def reveal(self, node_id: str) -> None: ...
    def enter(self, scope: str) -> None: ...
    def leave(self) -> None: ...

    editor_wanted: SignalInstance
    file_wanted: SignalInstance
    reading_wanted: SignalInstance
    framed: SignalInstance

    @property
    def way(self) -> tuple[tuple[str, str], ...]: ...
    def has_editor(self, node_id: str) -> bool: ...


class CheckedDocument(SelectableDocument, Protocol):
    """A document whose shapes and problems are known, once the engine has started."""

    shapes: Shapes | None
    engine_error: str | None
    inferred: SignalInstance
    engine_ready: SignalInstance

    def errors(self) -> list[Problem]: ...

    parts: dict[str, str]
    parts_shown: SignalInstance

    def show_parts(self, parts: dict[str, str]) -> None: ...
    def note(self, source: str, problems: Iterable[Problem]) -> None: ...


class TrainableDocument(CheckedDocument, Protocol):
    """A document with the runs that train it."""

    trainer: RunControl | None
    layer_step: Mapping[str, Any]
    train_when_ready: bool
    state_changed: SignalInstance
    layer_stepped: SignalInstance
    ticked: SignalInstance
    engine: EngineParts | None

    @property
    def state(self) -> str: ...
    @property
    def training(self) -> bool: ...
    @property
    def device(self) -> str: ...
    def set_device(self, name: str) -> None: ...
    @property
    def can_train_more(self) -> bool: ...
    def train(self, weights: Path | None = None, *, again: bool = False) -> bool: ...
    def go_on(self) -> bool: ...
