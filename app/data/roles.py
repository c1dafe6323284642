"""What the columns of a data node are for: the edits that a click makes, each one step that can be undone."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from PySide6.QtGui import QAction, QActionGroup
from PySide6.QtWidgets import QMenu, QWidget

from app.widgets.background import Background
from app.workspace.open_document import OpenDocument
from engine.document.edits import Edit, SetParam
from engine.document.graph import Node
from engine.errors import NeuroloomError
from engine.values import Value
from nodes.data.table_file import KINDS, ROLES

Row = tuple[Value, ...]
TABLE = "table"  # the parameter that says name, kind and role of every column
WORDS = {
    "input": "Input",
    "target": "Target",
    "weight": "Weight of the row",
    "group": "Group: its rows stay together",
    "split": "Split: says train, validation or test",
    "time": "Time: puts the rows in order",
    "ignore": "Left out",
}
KIND_WORDS = {
    "number": "Number",
    "whole": "Whole number",
    "category": "Classes",
    "yes-no": "Yes or no",
    "date": "Date",
    "text": "Text",
    "path": "Path of a file",
}


def rows_of(node: Node | None) -> dict[str, Row]:
    """Name, kind, role and more of every column, by name; empty where a node has no such table."""
    value = node.params.get(TABLE) if node is not None else None
    rows = value if isinstance(value, tuple) else ()
    return {str(row[0]): row for row in rows if isinstance(row, tuple) and len(row) >= 3}


def with_row(node: Node, name: str, row: Row) -> Edit:
    """The edit that puts a row in the place of the one of that name."""
    rows = {**rows_of(node), name: row}
    return SetParam(node.id, TABLE, tuple(rows.values()))


class Roles:
    """Menus of roles and kinds; a kind that needs the whole column, such as its classes, reads it beside."""

    def __init__(self, workspace: OpenDocument, parent: QWidget) -> None:
        self._workspace = workspace
        self._parent = parent
        self._asked: tuple[str, str, str] = ("", "", "")
        self._worker = Background("column-kind", parent)
        self._worker.finished.connect(self._found)
        workspace.closing.connect(self._worker.close)

    def menu(self, node_id: str, column: str) -> QMenu | None:
        """The choices for a column; None where its node has no roles to give."""
        node = self._workspace.node(node_id)
        row = rows_of(node).get(column)
        if node is None or row is None:
            return None
        menu = QMenu(self._parent)
        menu.setObjectName("columnMenu")
        roles = QActionGroup(menu)
        for role in ROLES:
            self._entry(
                menu, roles, WORDS[role], row[2] == role, partial(self.set_role, node_id, column, role)
            )
        if node.type == "TableFile":
            menu.addSeparator()
            kinds = QActionGroup(menu)
            inner = menu.addMenu(f"Read as · {KIND_WORDS.get(str(row[1]), str(row[1])).lower()}")
            for kind in KINDS:
                do = partial(self.set_kind, node_id, column, kind)
                self._entry(inner, kinds, KIND_WORDS[kind], row[1] == kind, do)
        return menu

    def _entry(
        self, menu: QMenu, group: QActionGroup, words: str, on: bool, do: Callable[[], object]
    ) -> QAction:
        action = menu.addAction(words)
        action.setCheckable(True)
        action.setChecked(on)
        group.addAction(action)
        action.triggered.connect(_Do(do))
        return action

    def set_role(self, node_id: str, column: str, role: str) -> None:
        """Gives a column another role, as one step."""
        node = self._workspace.node(node_id)
        row = rows_of(node).get(column)
        if node is not None and row is not None and row[2] != role:
            edit = with_row(node, column, (*row[:2], role, *row[3:]))
            self._workspace.apply(f"{column}: {WORDS[role].split(':')[0].lower()}", edit)

    def set_kind(self, node_id: str, column: str, kind: str) -> None:
        """Reads a column as another kind, as one step."""
        node = self._workspace.node(node_id)
        row = rows_of(node).get(column)
        if node is None or row is None or row[1] == kind:
            return
        if kind not in ("text", "path"):
            self._asked = (node_id, column, kind)
            self._worker.ask(partial(_details, filled(self._workspace, node), column, kind))
        else:
            self._workspace.apply(f"Read {column} as {kind}", with_row(node, column, (row[0], kind, row[2])))

    def _found(self, details: tuple[str, ...] | None, error: NeuroloomError | None) -> None:
        node_id, column, kind = self._asked
        node = self._workspace.node(node_id)
        row = rows_of(node).get(column)
        if details is None:
            self._workspace.message.emit(str(error), "error")
        elif node is not None and row is not None:
            edit = with_row(node, column, (row[0], kind, row[2], *details))
            self._workspace.apply(f"Read {column} as {kind}", edit)


class _Do:
    """Calls without the `checked` argument that `triggered` carries."""

    def __init__(self, do: Callable[[], object]) -> None:
        self._do = do

    def __call__(self, _checked: bool = False) -> None:
        self._do()


def filled(workspace: OpenDocument, node: Node) -> dict[str, Value]:
    """A node's parameters with the defaults of its type."""
    kind = workspace.type_of(node)
    usual = {spec.name: spec.default for spec in kind.params} if kind is not None else {}
    return {**usual, **node.params}


def _details(params: dict[str, Value], column: str, kind: str) -> tuple[str, ...]:
    from engine.data.tables.looks import details_for

    return details_for(params, column, kind)
