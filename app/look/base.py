"""What every view in the views dock is: it says what it needs, and draws plain arrays."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from PySide6.QtCore import QSize, Signal
from PySide6.QtWidgets import QSizePolicy, QWidget

from app.look.controls import row
from app.workspace.open_document import TrainableDocument
from engine.catalogue import NodeType
from engine.document.graph import Node, Project
from engine.feed.feed import Probe, Snapshot
from engine.feed.history import History

if TYPE_CHECKING:
    from engine.shapes.shapes import ShapeBook

Probes = frozenset[Probe]
Snapshots = Mapping[Probe, Snapshot]
Table = tuple[
    Sequence[str], Sequence[Sequence[object]]
]  # header and rows, for a file of comma-separated values


@dataclass(frozen=True)
class Subject:
    """What a view is of: a node of the project, or the whole model where `node_id` is empty."""

    workspace: TrainableDocument
    node_id: str = ""

    @property
    def node(self) -> Node | None:
        """The node, None for the whole model or a node that is gone."""
        return self.workspace.node(self.node_id) if self.node_id else None

    @property
    def type(self) -> type[NodeType] | None:
        """The node's type, None where there is no node or its type is unknown."""
        node = self.node
        return self.workspace.type_of(node) if node is not None else None

    @property
    def kind(self) -> str:
        """The kind of the node's type: "layer", "data", "loss" ...; empty where there is none."""
        found = self.type
        return found.kind if found is not None else ""

    @property
    def has_weights(self) -> bool:
        """Whether the node owns parameters."""
        shapes = self.workspace.shapes
        return bool(self.node_id) and shapes is not None and bool(shapes.parameters(self.node_id))

    @property
    def as_trained(self) -> tuple[Project, ShapeBook | None]:
        """The project and its shapes as runs see them: transforms are columns of the data they hang on."""
        project, book = self.workspace.document.project, self.workspace.shapes
        return book.as_trained(project) if book is not None else (project, None)

    def shape_of(self, port: str = "") -> tuple[int, ...] | None:
        """The shape of one example on an output port, the first where none is named; None while unknown."""
        shapes = self.workspace.shapes
        facts = shapes.facts(self.node_id) if shapes is not None and self.node_id else None
        if facts is None:
            return None
        found = facts.outputs.get(port) if port else next(iter(facts.outputs.values()), None)
        return found.shape if found is not None else None

    @property
    def rows_apart(self) -> bool:
        """Whether what leaves the node has a row for each example; not for each node of a graph."""
        shapes = self.workspace.shapes
        facts = shapes.facts(self.node_id) if shapes is not None and self.node_id else None
        return facts is None or not any(found.rows for found in facts.outputs.values())


class LiveView(QWidget):
    """A view that follows a run.

    A subclass says which probes it needs now, draws what is new in `draw`, and calls `needs_changed` when a
    control of its own asks for other probes. What stands around it (title, note, pin, freeze, export, the
    states before and after there is something to see) is the dock's.
    """

    needs_changed = Signal()
    note_changed = Signal()
    node_asked = Signal(str)  # the user picked a node in the view

    card_size: ClassVar[tuple[int, int]] = (300, 220)  # in the dock, before the user changes it
    at_rest: ClassVar[bool] = False  # whether it shows something, such as a button, before anything is taken

    def __init__(self, subject: Subject, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.subject = subject
        self.history: History | None = None  # what was recorded of the run on show, set by who draws
        self._note = ""
        self._controls: QWidget | None = None
        self._tries = 1
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)

    def probes(self) -> Probes:
        """What the view needs of the training thread now."""
        return frozenset()

    def essential(self) -> Probes:
        """Those of the probes whose failure is the view's; where none is named, that of all of them."""
        return frozenset()

    def draw(self, found: Snapshots) -> None:
        """Draw the latest snapshots of the probes that were asked for, as far as there are any.

        Called when one of them is new, never with one that failed or is empty.
        """
        raise NotImplementedError

    @property
    def note(self) -> str:
        """What stands beside the title: the example, the range of values, the units."""
        return self._note

    def set_note(self, words: str) -> None:
        """Say something else beside the title."""
        if words != self._note:
            self._note = words
            self.note_changed.emit()

    def controls(self) -> QWidget | None:
        """A row of small controls for the head of the card; made once, None for none."""
        return None

    def in_row(self, *widgets: QWidget) -> QWidget:
        """The controls one beside the other, in the same row at each call."""
        if self._controls is None:
            self._controls = row(*widgets)
        return self._controls

    def _ask_again(self, _index: int) -> None:
        """For controls that change what is needed."""
        self.needs_changed.emit()

    def _once_more(self) -> None:
        """For a button that asks for what is computed once to be computed again."""
        self._tries += 1
        self.needs_changed.emit()

    def table(self) -> Table | None:
        """The numbers that are drawn, None where there is nothing yet."""
        return None

    def state(self) -> dict[str, object]:
        """What the user chose in the view's controls, as JSON values; kept with the layout of the dock."""
        return {}

    def restore(self, state: Mapping[str, object]) -> None:
        """Choose it again; what no longer makes sense is passed over."""

    def sizeHint(self) -> QSize:
        return QSize(*self.card_size)

    def minimumSizeHint(self) -> QSize:
        return QSize(120, 80)


class OneProbe(LiveView):
    """A view of one probe at a time; what was drawn last is kept for its table and its controls."""

    takes: ClassVar[str | Probe] = ""  # the probe, or what it is called where it is of the node

    def __init__(self, subject: Subject, parent: QWidget | None = None) -> None:
        super().__init__(subject, parent)
        self._found: Snapshot | None = None

    @property
    def _probe(self) -> Probe:
        takes = self.takes
        return takes if isinstance(takes, Probe) else Probe(self.subject.node_id, takes)

    def probes(self) -> Probes:
        return frozenset({self._probe})

    def draw(self, found: Snapshots) -> None:
        snapshot = found.get(self._probe)
        if snapshot is not None:
            self._found = snapshot
            self.draw_snapshot(snapshot)

    def draw_snapshot(self, snapshot: Snapshot) -> None:
        """Draw the latest snapshot of the probe."""
        raise NotImplementedError

    def redraw(self, _index: int = 0) -> None:
        """Draw it again, for controls that change how."""
        if self._found is not None:
            self.draw_snapshot(self._found)

    def _pin(self, index: int) -> None:
        """Pin one of the examples that are drawn, for the other views."""
        trainer = self.subject.workspace.trainer
        if trainer is not None and self._found is not None:
            trainer.pin(int(self._found.extra["rows"][index]))


@dataclass(frozen=True)
class ViewKind:
    """One kind of view: `suits` says whether it makes sense for a subject.

    `group` is where the menu lists it: "Curves", "Images", "Answers", "Sequences", "Weights", "Generation",
    "Model". `rank` orders what is proposed for a selected node, the best first. `whole`: it is of the whole
    model and needs no node. A kind that `leads` shows what a network is for, of its task: it is what is seen
    first where it suits a node and is `leads_for` it, that with the smallest number before the others.
    """

    id: str
    title: str
    about: str
    group: str
    make: Callable[[Subject], LiveView]
    suits: Callable[[Subject], bool]
    rank: int = 50
    whole: bool = False
    leads: int | None = None
    leads_for: Callable[[Subject], bool] | None = None

    def leads_at(self, subject: Subject) -> bool:
        """Whether it is what to see first of a network for which it leads, at this node."""
        return self.suits(subject) and (self.leads_for is None or self.leads_for(subject))
