"""Every layer of a network in a table: shapes, sizes, work, memory and time."""

from __future__ import annotations

from math import prod

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRectF, Qt, Signal
from PySide6.QtGui import QPainter, QResizeEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHeaderView,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTableView,
    QWidget,
)

from app.look.base import LiveView, Probes, Snapshots, Subject, Table
from app.look.controls import stacked
from app.look.registry import view_kind
from app.look.sizes.layers_model import COLUMNS, FRACTION, NODE, LayerRow, LayersModel, duration_words
from app.theme import SMALL, current_theme
from app.workspace.plan_parts import FROZEN, TRAINED, parts_of
from engine.document.graph import Graph
from engine.feed.feed import Probe, Snapshot

PROBE = Probe("", "node_times")
ROW_HEIGHT = 24
# The fields of the columns, those first that a view too narrow for all keeps longest.
WANTED = (
    "name", "parameters", "shape", "fraction", "seconds", "multiply_adds", "trains", "bytes", "type"
)  # fmt: skip
LEAST_NAME = 84  # pixels; names longer than most of the view may be cut, numbers and headings never
SHOWN = ("layer", "data", "input", "output", "source")
_BYTES = {"float64": 8, "int64": 8, "complex64": 8, "float16": 2, "bfloat16": 2, "int16": 2, "bool": 1}
_BYTES |= {"uint8": 1, "int8": 1}


def has_nodes(subject: Subject) -> bool:
    """Whether there is a network."""
    return bool(subject.workspace.document.project.graph.nodes)


def is_block(subject: Subject) -> bool:
    """Whether the node is a block with something inside."""
    node = subject.node
    return node is not None and node.block in subject.workspace.document.project.blocks


class FractionBar(QStyledItemDelegate):
    """A bar behind the number, as long as the fraction."""

    def paint(
        self,
        painter: QPainter,
        option: QStyleOptionViewItem,
        index: QModelIndex | QPersistentModelIndex,
    ) -> None:
        fraction = index.data(FRACTION)
        if fraction:
            theme = current_theme()
            whole = QRectF(option.rect).adjusted(4, 5, -4, -5)
            colour = theme.accent.lighter(100)
            colour.setAlphaF(0.35)
            painter.fillRect(
                QRectF(whole.left(), whole.top(), fraction * whole.width(), whole.height()), colour
            )
        super().paint(painter, option, index)


class _Sheet(QTableView):
    """Tells when its room changes, also where a scroll bar takes some of it."""

    resized = Signal()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.resized.emit()


@view_kind(
    "block_table",
    "Layers inside",
    "The layers inside the block: shapes, parameters, multiply-adds, memory, and the time of each.",
    "Model",
    is_block,
    rank=30,
)
@view_kind(
    "layer_table",
    "Layer table",
    "Every layer with its shape, parameters, multiply-adds, memory, and the time it takes. Click a row.",
    "Model",
    has_nodes,
    rank=10,
    whole=True,
)
class LayerTable(LiveView):
    """The nodes of the network, or of a block, in the order of computing; any column sorts."""

    card_size = (640, 260)

    def __init__(self, subject: Subject, parent: QWidget | None = None) -> None:
        super().__init__(subject, parent)
        self._times: Snapshot | None = None
        self.model = LayersModel()
        self.view = _Sheet()
        self.view.setObjectName("layerTable")
        self.view.setAccessibleName("Layers")
        self.view.setModel(self.model)
        self.view.setItemDelegateForColumn(len(COLUMNS) - 1, FractionBar(self.view))
        self.view.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.view.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.view.setShowGrid(False)
        self.view.setWordWrap(False)
        self.view.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.view.verticalHeader().hide()
        self.view.verticalHeader().setDefaultSectionSize(ROW_HEIGHT)
        head = self.view.horizontalHeader()
        head.setSectionsClickable(True)
        head.setHighlightSections(False)
        head.setFont(current_theme().font(SMALL))
        head.setSortIndicatorShown(True)
        head.setSortIndicator(-1, Qt.SortOrder.AscendingOrder)
        head.setSortIndicatorClearable(True)
        head.setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
        head.setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        head.setMinimumSectionSize(52)
        head.sortIndicatorChanged.connect(self.model.sort)
        self.view.clicked.connect(self._picked)
        self.view.resized.connect(self._fit_columns)
        stacked(self, self.view)
        subject.workspace.inferred.connect(self.refresh)
        subject.workspace.engine_ready.connect(self.refresh)
        self.refresh()

    def _fit_columns(self) -> None:
        """Leave out the columns that there is no room for: what is shown is shown whole."""
        for index in range(len(COLUMNS)):
            self.view.setColumnHidden(index, False)
        head, whole = self.view.horizontalHeader(), self.view.viewport().width()
        room = whole - max(LEAST_NAME, min(self.view.sizeHintForColumn(0), whole * 3 // 5))
        places = {column.field: index for index, column in enumerate(COLUMNS)}
        for field in WANTED[1:]:
            index = places[field]
            room -= max(head.sectionSizeHint(index), self.view.sizeHintForColumn(index))
            if room < 0:
                self.view.setColumnHidden(index, True)

    def probes(self) -> Probes:
        return frozenset({PROBE})

    def draw(self, found: Snapshots) -> None:
        self._times = found.get(PROBE)
        self.refresh()

    def refresh(self) -> None:
        """Show what the document and the last measurement say now."""
        rows = self._rows()
        self.model.show(rows, self._total(rows) if rows else None)
        self._fit_columns()
        words = [f"{len(rows)} nodes"]
        times = self._times
        total = self.model.total
        if times is not None and total is not None and total.seconds is not None:
            batch = times.extra["rows"]
            device = str(times.extra["device"])
            where = "one thread" if device == "cpu" else device
            words.append(f"{duration_words(total.seconds)} for a batch of {batch:,} forward, {where}")
        self.set_note(" · ".join(words))

    def table(self) -> Table | None:
        rows = [*self.model.rows, *([self.model.total] if self.model.total else [])]
        if not rows:
            return None
        header = ("layer", "type", "output", "parameters", "trained", "multiply_adds", "bytes", "seconds")
        return header, [
            (row.name, row.type, row.shape, row.parameters, row.trains, row.multiply_adds, row.bytes,
             "" if row.seconds is None else row.seconds)
            for row in rows
        ]  # fmt: skip

    @property
    def _graph(self) -> Graph:
        project, node = self.subject.workspace.document.project, self.subject.node
        inside = node is not None and node.block in project.blocks
        return project.graph_of(node.block) if node is not None and inside else project.graph

    def _rows(self) -> list[LayerRow]:
        workspace, graph = self.subject.workspace, self._graph
        shapes, times = workspace.shapes, self._seconds()
        parts = self._parts()
        rows = []
        for node_id in graph.order():
            node = graph.nodes[node_id]
            kind = workspace.type_of(node)
            if kind is None or kind.kind not in SHOWN:
                continue
            facts = shapes.facts(node_id) if shapes is not None else None
            outputs = facts.outputs if facts is not None else {}
            size = sum(_BYTES.get(one.dtype, 4) * prod(one.shape) for one in outputs.values())
            parameters = shapes.parameters(node_id) if shapes is not None else 0
            rows.append(
                LayerRow(
                    node_id,
                    node.name or kind.title,
                    kind.title,
                    ", ".join(str(one) for one in outputs.values()),
                    parameters,
                    {TRAINED: "yes", FROZEN: "frozen"}.get(parts.get(node_id, ""), "") if parameters else "",
                    shapes.multiply_adds(node_id) if shapes is not None else 0,
                    size,
                    times.get(node_id),
                )
            )
        return rows

    def _total(self, rows: list[LayerRow]) -> LayerRow:
        known = [row.seconds for row in rows if row.seconds is not None]
        trained = sum(row.parameters for row in rows if row.trains == "yes")
        whole = sum(row.parameters for row in rows)
        return LayerRow(
            "",
            "Total",
            "",
            "",
            whole,
            "" if trained == whole else f"{trained:,}",
            sum(row.multiply_adds for row in rows),
            sum(row.bytes for row in rows),
            sum(known) if known else None,
        )

    def _seconds(self) -> dict[str, float]:
        if self._times is None:
            return {}
        return dict(zip(self._times.extra["nodes"], self._times.array.tolist(), strict=True))

    def _parts(self) -> dict[str, str]:
        """Of each node what the plan does with it; "trained" where any objective does."""
        workspace = self.subject.workspace
        found: dict[str, str] = {}
        for phase in workspace.document.project.plan.phases:
            for objective in phase.objectives:
                for node_id, part in parts_of(workspace, objective).items():
                    if found.get(node_id) != TRAINED:
                        found[node_id] = part
        return found

    def _picked(self, index: QModelIndex) -> None:
        node_id = index.data(NODE)
        if node_id:
            self.node_asked.emit(node_id)
