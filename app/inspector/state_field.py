"""The inspector's field for the state of a scanned block: its outputs by name, of which one comes back."""

from __future__ import annotations

from PySide6.QtCore import QSignalBlocker
from PySide6.QtWidgets import QComboBox, QWidget

from app.widgets.fields import FieldRow, QuietCombo
from app.workspace.open_document import OpenDocument
from engine.catalogue.params import ParamSpec
from engine.document.blocks import ports_of
from engine.document.graph import BLOCK_INPUT, Node
from engine.values import Value

NO_STATE = "none: a plain input"


def chooses_state(node: Node | None, spec: ParamSpec) -> bool:
    """Whether a parameter of a node is the output that comes back to it."""
    return node is not None and node.type == BLOCK_INPUT and spec.name == "state"


class StateField(FieldRow):
    """A combo box of the outputs of the block that an input belongs to."""

    def __init__(self, workspace: OpenDocument, node_id: str, spec: ParamSpec) -> None:
        self._workspace = workspace
        self._node_id = node_id
        super().__init__(spec)

    def _make_control(self) -> QWidget:
        combo = QuietCombo()
        self._options: list[Value] = [""]
        combo.activated.connect(self._chosen)
        return combo

    def show_value(self, value: Value, mixed: bool = False) -> None:
        """Shows which output comes back, offering those that the block has now."""
        combo = self.control
        assert isinstance(combo, QComboBox)
        names = {"": NO_STATE, **self._outputs()}
        if isinstance(value, str) and value not in names:
            names[value] = f"{value}, which is gone"
        offered = [combo.itemText(index) for index in range(combo.count())]
        if (self._options, offered) != (list(names), list(names.values())):
            with QSignalBlocker(combo):
                combo.clear()
                combo.addItems(list(names.values()))
            self._options = list(names)
        super().show_value(value, mixed)

    def _outputs(self) -> dict[str, str]:
        project = self._workspace.document.project
        if self._workspace.node(self._node_id) is None:
            return {}
        _, outputs = ports_of(project, project.home(self._node_id))
        return {node.id: node.name or "out" for node in outputs}
