"""The inspector's page for one node: name, help, typed fields, facts and problems."""

from __future__ import annotations

import re
from functools import partial
from html import escape
from pathlib import Path
from typing import Any
from unicodedata import normalize

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from app.inspector.state_field import StateField, chooses_state
from app.theme import current_theme
from app.widgets.fields import FieldRow, fact_row
from app.widgets.icons import pixmap
from app.widgets.labels import ElidedLabel, label, rule, title_field
from app.widgets.path_field import PathField
from app.workspace.data_files import MISSING, choose, path_spec
from app.workspace.event_buttons import use_fix
from app.workspace.open_document import TrainableDocument
from engine.catalogue import NodeType
from engine.catalogue.params import ParamSpec
from engine.data.open.opening import readers
from engine.document.edits import Rename, SetParam
from engine.document.graph import Node
from engine.errors import NeuroloomError
from engine.shapes.problems import Problem
from engine.shapes.signatures import Signature

_WAITING = "…"
_UNKNOWN = "unknown"
_LOW = re.compile("[₀-₎ₐ-ₜⱼᵢ-ᵥ]+")
_HIGH = re.compile("[⁰ⁱ⁴-ⁿ¹²³ˣᵀ]+")


class NodePage(QWidget):
    """Everything about one node. It is made for one id and thrown away with the selection."""

    def __init__(self, workspace: TrainableDocument, node_id: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._workspace = workspace
        self.node_id = node_id
        self.fields: dict[str, FieldRow] = {}
        self._facts: dict[str, QLabel] = {}
        self._fact_names: tuple[str, ...] = ()
        self._problems_shown: tuple[object, ...] = ()
        node = workspace.node(node_id)
        self._type = workspace.type_of(node) if node is not None else None
        column = QVBoxLayout(self)
        column.setContentsMargins(16, 12, 0, 0)
        column.setSpacing(0)
        column.addLayout(self._header(node))
        column.addSpacing(2)
        self._help = self._help_label(node)
        column.addWidget(self._help)
        column.addSpacing(14)
        self._field_column = QVBoxLayout()
        self._field_column.setSpacing(4)
        column.addLayout(self._field_column)
        self._make_fields(node)
        column.addSpacing(10)
        column.addWidget(rule())
        column.addSpacing(8)
        self._fact_column = QVBoxLayout()
        self._fact_column.setSpacing(4)
        column.addLayout(self._fact_column)
        self._problem_column = QVBoxLayout()
        self._problem_column.setSpacing(8)
        column.addLayout(self._problem_column)
        self._last_rule = rule()
        column.addSpacing(12)
        column.addWidget(self._last_rule)
        column.addSpacing(8)
        self.refresh()
        self.refresh_facts()

    # -- building ---------------------------------------------------------------------------------

    def _header(self, node: Node | None) -> QHBoxLayout:
        self.name_field = title_field()
        self.name_field.setObjectName("nodeName")
        self.name_field.setAccessibleName("Node name")
        self.name_field.setToolTip("The node's name; click to change it")
        self.name_field.setMaxLength(300)
        self.name_field.textEdited.connect(self._rename)
        self.name_field.editingFinished.connect(self._seal)
        kind = ElidedLabel(self._type.title if self._type else node.type if node else "", "dim")
        kind.setObjectName("nodeType")
        kind.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        kind.setFixedWidth(min(130, kind.fontMetrics().horizontalAdvance(kind.text()) + 4))
        row = QHBoxLayout()
        row.addWidget(self.name_field, 1)
        row.addWidget(kind)
        return row

    def _help_label(self, node: Node | None) -> QLabel:
        if self._type is None:
            name = node.type if node is not None else ""
            text = f"This installation does not know the node type “{name}”. Its data is kept as it is."
            return label(text, "warning", wrap=True)
        made = label(self._help_text(self._type), "small", wrap=True)
        made.setTextFormat(Qt.TextFormat.RichText)
        made.setObjectName("nodeHelp")
        return made

    def _help_text(self, kind: type[NodeType]) -> str:
        text = kind.doc()
        ink = current_theme().text.name()  # what is computed stands out of what is said about it
        formula = f'<span style="color:{ink}">{_written(kind.formula)}</span>'
        said = "" if "of your own" in kind.source else kind.source  # the file's field says it
        parts = [escape(text), formula if kind.formula else "", escape(said[:1].upper() + said[1:])]
        return "<br>".join(filter(None, parts))

    def _make_fields(self, node: Node | None) -> None:
        specs = self._type.params if self._type else ()
        for spec in sorted(specs, key=_after_files):
            if spec.hidden or spec.kind == "rows":
                continue
            state = chooses_state(node, spec)
            field = StateField(self._workspace, self.node_id, spec) if state else self._field(spec)
            field.edited.connect(self._set_param)
            field.finished.connect(self._seal)
            self.fields[spec.name] = field
            self._field_column.addWidget(field)
        if self._type is not None and self._type.editor:
            button = QPushButton(f"{self._type.editor}…")
            button.setObjectName("nodeEditor")
            button.clicked.connect(partial(self._workspace.editor_wanted.emit, self.node_id))
            self._field_column.insertWidget(0, button)
        if self._type is not None and self._type.type_id in readers():
            self._field_column.insertWidget(1, self._reading(self._type.type_id))
        if self._type is None and node is not None:
            for name, value in node.params.items():
                row, _ = fact_row(name, str(value))
                self._field_column.addWidget(row)

    def _reading(self, own: str) -> FieldRow:
        """What else the file may be: the user knows, its first lines do not always say."""
        kinds = {type_id: self._workspace.catalogue.get(type_id) for type_id in readers()}
        titles = {kind.title: type_id for type_id, kind in kinds.items() if kind is not None}
        now = next((title for title, type_id in titles.items() if type_id == own), own)
        doc = "another node takes this one's place and reads the same file"
        field = FieldRow(ParamSpec("read_as", "choice", now, "Read as", doc, choices=tuple(titles)))
        field.show_value(now)

        def chosen(_name: str, title: str) -> None:
            field.show_value(now)  # until it is so
            if titles.get(title, own) != own:
                self._workspace.reading_wanted.emit(self.node_id, titles[title])

        field.edited.connect(chosen)
        return field

    def _field(self, spec: ParamSpec) -> FieldRow:
        if spec.kind != "path":
            return FieldRow(spec)
        field = PathField(spec)
        field.chosen.connect(partial(self._choose_file, spec))
        field.again.connect(partial(self._read_again, spec))
        field.reread.setEnabled(path_spec(self._type) == spec)
        return field

    # -- showing ----------------------------------------------------------------------------------

    def refresh(self) -> None:
        """Shows name and parameters as the document holds them."""
        node = self._workspace.node(self.node_id)
        if node is None:
            return
        if self.name_field.text() != node.name:
            self.name_field.setText(node.name)
        for name, field in self.fields.items():
            value = node.params.get(name, field.spec.default)
            field.show_value(value)
            if field.spec.when is not None and self._type is not None:
                other, values = field.spec.when
                spec = self._type.param_spec(other)
                default = spec.default if spec is not None else None
                field.setVisible(node.params.get(other, default) in values)

    def restyle(self) -> None:
        """Takes on the colours of another theme, where they are in texts and marks."""
        if self._type is not None:
            self._help.setText(self._help_text(self._type))
        self._problems_shown = ()
        self._show_problems()

    def refresh_facts(self) -> None:
        """Shows shapes, counts and problems as last inferred."""
        node = self._workspace.node(self.node_id)
        if node is None:
            return
        facts = _facts(self._workspace, node)
        if tuple(facts) != self._fact_names:
            self._fact_names = tuple(facts)
            _empty(self._fact_column)
            self._facts = {}
            for name in facts:
                row, shown = fact_row(name)
                shown.setObjectName(f"fact_{name.replace(' ', '_').replace('-', '_')}")
                self._facts[name] = shown
                self._fact_column.addWidget(row)
        for name, value in facts.items():
            if self._facts[name].text() != value:
                self._facts[name].setText(value)
        shapes = self._workspace.shapes
        # The plot of the weights follows under the page.
        self._last_rule.setVisible(shapes is not None and bool(shapes.parameters(self.node_id)))
        self._show_problems()

    def _show_problems(self) -> None:
        shapes = self._workspace.shapes
        found = [p for p in shapes.problems if p.node_id == self.node_id] if shapes is not None else []
        missing = {p.port: p.message for p in found if p.code == MISSING}
        for name, field in self.fields.items():
            if isinstance(field, PathField):
                field.show_wrong(missing.get(name, ""))
        found = [p for p in found if p.code != MISSING]  # the field says it, and offers to choose
        known = tuple((p.severity, p.message, p.fix.label if p.fix else "") for p in found)
        if known == self._problems_shown:
            return
        self._problems_shown = known
        _empty(self._problem_column)
        if found:
            self._problem_column.addSpacing(10)
            self._problem_column.addWidget(rule())
        for problem in found:
            self._problem_column.addWidget(ProblemNote(self._workspace, problem))

    # -- editing ----------------------------------------------------------------------------------

    def _set_param(self, name: str, value: Any) -> None:
        spec = self.fields[name].spec
        self._workspace.apply(
            f"Set {spec.title.lower()}",
            SetParam(self.node_id, name, value),
            merge=f"param:{self.node_id}:{name}",
        )

    def _choose_file(self, spec: ParamSpec) -> None:
        """The file that the node reads is looked into first; any other path is a parameter like others."""
        if spec == path_spec(self._type):
            self._workspace.file_wanted.emit(self.node_id, None)
            return
        node = self._workspace.node(self.node_id)
        now = node.params.get(spec.name, "") if node is not None else ""
        path = choose(self, self._workspace, spec, str(now))
        if path is not None:
            self._set_param(spec.name, str(path.absolute()))
            self._seal()
            first = path_spec(self._type)
            read = node.params.get(first.name) if node is not None and first is not None else None
            if isinstance(read, str) and read:  # what both hold together is looked into again
                self._workspace.file_wanted.emit(self.node_id, Path(read))

    def _read_again(self, spec: ParamSpec) -> None:
        node = self._workspace.node(self.node_id)
        path = node.params.get(spec.name) if node is not None else None
        if isinstance(path, str) and path:
            self._workspace.file_wanted.emit(self.node_id, Path(path))

    def _rename(self, text: str) -> None:
        self._workspace.apply("Rename", Rename(self.node_id, text), merge=f"rename:{self.node_id}")

    def _seal(self) -> None:
        self._workspace.document.seal()


class ProblemNote(QWidget):
    """A problem's sentence with its fix as a button."""

    def __init__(self, workspace: TrainableDocument, problem: Problem, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._workspace = workspace
        self._problem = problem
        theme = current_theme()
        error = problem.severity == "error"
        mark = label("")
        mark.setPixmap(pixmap(problem.severity, theme.bad if error else theme.warning, 14))
        mark.setAccessibleName(problem.severity)
        node = workspace.node(problem.node_id) if problem.node_id is not None else None
        text = label(sentence(problem, node.name if node is not None else ""), wrap=True)
        text.setObjectName("problemText")
        grid = QGridLayout(self)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setHorizontalSpacing(8)
        grid.setVerticalSpacing(6)
        grid.addWidget(mark, 0, 0, Qt.AlignmentFlag.AlignTop)
        grid.addWidget(text, 0, 1)
        grid.setColumnStretch(1, 1)
        if problem.fix is not None:
            button = QPushButton(problem.fix.label)
            button.setProperty("kind", "small")
            button.setObjectName("fixButton")
            button.clicked.connect(self._fix)
            grid.addWidget(button, 1, 1, Qt.AlignmentFlag.AlignLeft)

    def _fix(self) -> None:
        apply_fix(self._workspace, self._problem)


def sentence(problem: Problem, name: str) -> str:
    """A problem's message without the node's name in front, for places that show the name already."""
    bare = problem.message.removeprefix(f"{name}: ") if name else problem.message
    return bare if bare == problem.message else bare[:1].upper() + bare[1:]


def apply_fix(workspace: TrainableDocument, problem: Problem) -> None:
    """Makes the step that a problem's fix proposes, or begins it."""
    fix = problem.fix
    if fix is not None and fix.begin is not None:
        fix.begin()
    elif fix is not None:
        use_fix(workspace, fix)


def _after_files(spec: ParamSpec) -> bool:
    """What is read comes first, all else stays in its order."""
    return spec.kind != "path"


def _written(formula: str) -> str:
    """A formula as rich text: interface fonts lack most of the small letters that Unicode has."""
    plain = _LOW.sub(partial(_set, "sub"), escape(formula))
    return _HIGH.sub(partial(_set, "sup"), plain)


def _set(tag: str, found: re.Match[str]) -> str:
    return f"<{tag}>{normalize('NFKC', found.group()).replace(chr(0x2212), '-')}</{tag}>"


def shape_text(signature: Signature | None) -> str:
    """A signature with the batch in front: `N×32×26×26`."""
    return _UNKNOWN if signature is None else signature.full


def _facts(workspace: TrainableDocument, node: Node) -> dict[str, str]:
    """The facts of a node in the order they are shown; "…" while the engine starts."""
    shapes = workspace.shapes
    graph = workspace.graph_around(node.id) or workspace.graph
    made = _made(workspace, node)
    facts: dict[str, str] = {}
    inputs = [link.target_port for link in graph.incoming(node.id)]
    if made is not None:
        single = [port.name for port in made.inputs() if not port.many]
        inputs = single + [name for name in inputs if name not in single]
    for name in inputs:
        title = "in" if len(inputs) == 1 else f"in · {name}"
        facts[title] = _WAITING if shapes is None else shape_text(shapes.input_signature(node.id, name))
    outputs = [port.name for port in made.outputs()] if made is not None else []
    for name in outputs:
        title = "out" if len(outputs) == 1 else f"out · {name}"
        facts[title] = _WAITING if shapes is None else shape_text(shapes.signature(node.id, name))
    if made is not None and made.kind == "layer":
        facts["parameters"] = _WAITING if shapes is None else f"{shapes.parameters(node.id):,}"
        facts["multiply-adds"] = _WAITING if shapes is None else f"{shapes.multiply_adds(node.id):,}"
    return facts


def _made(workspace: TrainableDocument, node: Node) -> NodeType | None:
    try:
        return workspace.catalogue.make(node)
    except NeuroloomError:
        return None


def _empty(column: QVBoxLayout) -> None:
    while (item := column.takeAt(0)) is not None:
        widget = item.widget()
        if widget is not None:
            widget.hide()
            widget.deleteLater()


def shared_specs(types: list[type[NodeType] | None]) -> list[ParamSpec]:
    """The parameters with a field that all of these types declare alike; each reads a file of its own."""
    if not types or any(found is None for found in types):
        return []
    first, *rest = [found for found in types if found is not None]
    fields = [spec for spec in first.params if not spec.hidden and spec.kind not in ("rows", "path")]
    return [spec for spec in fields if all(other.param_spec(spec.name) == spec for other in rest)]
