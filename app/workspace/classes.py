"""Where a node's values come from, and what the classes of the data are called."""

from __future__ import annotations

from app.workspace.open_document import OpenDocument
from app.workspace.scopes import upstream
from engine.catalogue import Data
from engine.errors import NeuroloomError

Classes = dict[str, tuple[str, ...]]  # column -> names


def data_of(workspace: OpenDocument, node_id: str) -> str:
    """The data node that a node is or hangs on, the first of several; empty where there is none."""
    if workspace.node(node_id) is None:
        return ""
    project, catalogue = workspace.document.project, workspace.catalogue
    before = {node_id, *upstream(project, node_id)}
    for found_id, node in project.graph.nodes.items():
        kind = catalogue.get(node.type)
        if kind is not None and kind.kind == "data" and found_id in before:
            return found_id
    return ""


def classes_of(workspace: OpenDocument, node_id: str) -> Classes:
    """The names of the classes of each column of a data node that has classes."""
    node = workspace.node(node_id)
    if node is None:
        return {}
    try:
        made = workspace.catalogue.make(node)
    except NeuroloomError:
        return {}
    return {column.name: column.classes for column in made.columns()} if isinstance(made, Data) else {}
