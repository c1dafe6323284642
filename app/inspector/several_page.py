"""The inspector's page for several nodes: what they are, and the parameters they have in common."""

from __future__ import annotations

from collections import Counter
from typing import Any

from PySide6.QtWidgets import QVBoxLayout, QWidget

from app.inspector.node_page import shared_specs
from app.widgets.fields import FieldRow, fact_row
from app.widgets.labels import label, rule
from app.workspace.open_document import CheckedDocument
from engine.document.edits import SetParam


class SeveralPage(QWidget):
    """A change made here is made to every selected node, in one step."""

    def __init__(
        self, workspace: CheckedDocument, ids: tuple[str, ...], parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._workspace = workspace
        self.ids = ids
        self.fields: dict[str, FieldRow] = {}
        column = QVBoxLayout(self)
        column.setContentsMargins(16, 14, 0, 0)
        column.setSpacing(4)
        heading = label(f"{len(ids)} nodes selected", "title")
        heading.setObjectName("selectionCount")
        column.addWidget(heading)
        nodes = [node for node in map(workspace.node, ids) if node is not None]
        types = [workspace.type_of(node) for node in nodes]
        names = Counter(found.title if found else node.type for node, found in zip(nodes, types, strict=True))
        text = " · ".join(f"{count} {name}" for name, count in names.most_common())
        column.addWidget(label(text, "small", wrap=True))
        column.addSpacing(12)
        specs = shared_specs(types)
        for spec in specs:
            field = FieldRow(spec)
            field.edited.connect(self._set_param)
            field.finished.connect(workspace.seal)
            self.fields[spec.name] = field
            column.addWidget(field)
        if not specs:
            column.addWidget(label("These nodes have no parameter in common.", "empty", wrap=True))
        column.addSpacing(10)
        column.addWidget(rule())
        column.addSpacing(8)
        row, self._parameters = fact_row("parameters")
        column.addWidget(row)

        self.refresh()
        self.refresh_facts()

    def refresh(self) -> None:
        """Shows the values the nodes have in common; a field whose nodes differ says so."""
        nodes = [node for node in map(self._workspace.node, self.ids) if node is not None]
        for name, field in self.fields.items():
            values = [node.params.get(name, field.spec.default) for node in nodes]
            mixed = any(value != values[0] for value in values)
            field.show_value(values[0] if values else field.spec.default, mixed)

    def refresh_facts(self) -> None:
        """Shows the weights the nodes hold together."""
        shapes = self._workspace.shapes
        if shapes is None:
            self._parameters.setText("…")
            return
        self._parameters.setText(f"{sum(shapes.parameters(node_id) for node_id in self.ids):,}")

    def _set_param(self, name: str, value: Any) -> None:
        spec = self.fields[name].spec
        known = [node_id for node_id in self.ids if self._workspace.node(node_id) is not None]
        edits = [SetParam(node_id, name, value) for node_id in known]
        self._workspace.apply(f"Set {spec.title.lower()}", *edits, merge=f"param:{','.join(self.ids)}:{name}")
