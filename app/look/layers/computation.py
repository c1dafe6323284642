"""The loss of one example of a small net, number by number."""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtWidgets import QFrame, QScrollArea, QWidget

from app.look.base import OneProbe, Subject, Table
from app.look.controls import button, stacked
from app.look.layers.scalar_graph import ScalarGraph, ScalarNode
from app.look.registry import view_kind
from app.look.shown import split_words
from app.widgets.labels import ElidedLabel
from engine.feed.feed import Probe, Snapshot

PROBE = Probe("", "scalars")
MOST_WEIGHTS = 60


def is_tiny(subject: Subject) -> bool:
    """Whether the network has so few weights that each number it computes can be shown."""
    shapes = subject.workspace.shapes
    return shapes is not None and 0 < shapes.total_parameters <= MOST_WEIGHTS


@view_kind(
    "computation",
    "Computation graph",
    "The loss of one example as single sums and products; step forward for values, backward for derivatives.",
    "Model",
    is_tiny,
    rank=25,
    whole=True,
)
class Computation(OneProbe):
    """Values above, derivatives of the loss below; the buttons or the arrow keys step."""

    card_size = (560, 300)
    takes = PROBE

    def __init__(self, subject: Subject, parent: QWidget | None = None) -> None:
        super().__init__(subject, parent)
        self.graph = ScalarGraph()
        self.graph.clicked.connect(self.node_asked)
        self.graph.stepped.connect(self._say)
        self._example = ""
        self.first = button("computationFirst", "«", "Before the first step")
        self.back = button("computationBack", "Back", "One step back")
        self.next = button("computationNext", "Next", "One step on")
        self.last = button("computationLast", "»", "All steps, forward and backward")
        self.first.setAccessibleName("First")
        self.last.setAccessibleName("Last")
        self.first.clicked.connect(self._go_first)
        self.back.clicked.connect(self._go_back)
        self.next.clicked.connect(self._go_next)
        self.last.clicked.connect(self._go_last)
        self._wanted = -1  # a step that was chosen before there was a graph
        self.graph.setProperty("role", "page")
        self._told = ElidedLabel(role="small")
        self._scroll = QScrollArea()
        self._scroll.setFrameShape(QFrame.Shape.NoFrame)
        self._scroll.setWidgetResizable(True)
        self._scroll.setWidget(self.graph)
        self._scroll.setAccessibleName("Computation graph")
        stacked(self, self._told, (self._scroll, 1), spacing=4)

    def draw_snapshot(self, snapshot: Snapshot) -> None:
        facts = snapshot.extra
        nodes = [
            ScalarNode(label, value, parents, role, node_id)
            for label, value, parents, role, node_id in zip(
                facts["labels"],
                snapshot.array[:, 0].tolist(),
                facts["parents"],
                facts["roles"],
                facts["nodes"],
                strict=True,
            )
        ]
        self.graph.show_nodes(nodes)
        if self._wanted >= 0:
            self.graph.go(self._wanted)
            self._wanted = -1
        split = split_words(facts)
        self._example = f"{split} example {facts['example'] + 1:,}"
        self._say()

    def controls(self) -> QWidget | None:
        return self.in_row(self.first, self.back, self.next, self.last)

    def table(self) -> Table | None:
        nodes = self.graph.nodes
        if not nodes:
            return None
        came = self.graph.derivatives()
        return ("number", "made by", "value", "derivative"), [
            (index + 1, node.label, node.value, "" if slope is None else slope)
            for index, (node, slope) in enumerate(zip(nodes, came, strict=True))
        ]

    def state(self) -> dict[str, object]:
        return {"step": self.graph.step} if self.graph.nodes else {}

    def restore(self, state: Mapping[str, object]) -> None:
        step = state.get("step")
        if isinstance(step, int):
            self._wanted = step
            if self.graph.nodes:
                self.graph.go(step)
                self._wanted = -1

    def _say(self, _step: int = 0) -> None:
        self._told.setText(self.graph.sentence())
        if self.graph.current >= 0:
            box = self.graph.box(self.graph.current).toRect()
            self._scroll.ensureVisible(box.center().x(), box.center().y(), box.width(), box.height())
        step, count = self.graph.step, self.graph.steps // 2
        way = f"forward {step} of {count}" if step <= count else f"backward {step - count} of {count}"
        self.set_note(f"{self._example} · {len(self.graph.nodes)} numbers · {way}")
        self.first.setEnabled(step > 0)
        self.back.setEnabled(step > 0)
        self.next.setEnabled(step < 2 * count)
        self.last.setEnabled(step < 2 * count)

    def _go_first(self) -> None:
        self.graph.go(0)

    def _go_back(self) -> None:
        self.graph.go(self.graph.step - 1)

    def _go_next(self) -> None:
        self.graph.go(self.graph.step + 1)

    def _go_last(self) -> None:
        self.graph.go(self.graph.steps)
