"""The views panel: what the selected node does to one example, and what its numbers look like."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QSizePolicy, QStackedLayout, QVBoxLayout, QWidget

from app.panels.view_cards import ActivationsCard, FiltersCard, HistogramsCard, InputCard, PredictionCard
from app.scopes import upstream
from app.views.watching import Live, Probes
from app.widgets.labels import ElidedLabel, label
from app.workspace import Workspace
from engine.catalogue import Data
from engine.errors import NeuroloomError
from engine.run.feed import Feed, Probe

REDRAW_MS = 250
NOTHING = "Select a node on the canvas to see what it does to an example: its maps, weights and histograms."
SEVERAL = "Several nodes are selected; select one of them to see what it does."
WAITING = "The pictures appear when the network has been built."


class ViewsPanel(QWidget):
    """Cards for the selected node; which of them there are depends on what kind of node it is."""

    def __init__(self, workspace: Workspace, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("viewsPanel")
        self._workspace = workspace
        self._node_id = ""
        self._wanted_example = 0
        self._title = ElidedLabel("", "heading")
        self._title.setObjectName("viewsTitle")
        self._summary = ElidedLabel("", "small")
        self._example = label("", "small")
        self._example.setObjectName("viewsExample")
        self._back = self._button("previousExample", "Previous", "The validation example before this one")
        self._next = self._button("nextExample", "Next example", "Send the next validation example through")
        self.input = InputCard()
        self.activations = ActivationsCard()
        self.filters = FiltersCard()
        self.histograms = HistogramsCard()
        self.prediction = PredictionCard()
        self._cards = (self.input, self.activations, self.filters, self.histograms, self.prediction)
        self._message = label(NOTHING, "empty", wrap=True)
        self._message.setObjectName("viewsMessage")
        self._message.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._stack = QStackedLayout()
        self._stack.addWidget(self._message)
        self._stack.addWidget(self._body())
        outer = QVBoxLayout(self)
        outer.setContentsMargins(16, 8, 16, 10)
        outer.addLayout(self._stack)
        self._back.clicked.connect(self._previous_example)
        self._next.clicked.connect(self._next_example)
        self._live = Live(workspace, self, self._probes, self.refresh, REDRAW_MS)
        workspace.selected.connect(self._selected)
        workspace.changed.connect(self._changed)
        workspace.inferred.connect(self._changed)
        self._selected(workspace.selection)

    def _button(self, name: str, text: str, tip: str) -> QPushButton:
        made = QPushButton(text)
        made.setObjectName(name)
        made.setProperty("kind", "small")
        made.setToolTip(tip)
        return made

    def _body(self) -> QWidget:
        body = QWidget()
        head = QHBoxLayout()
        head.setContentsMargins(0, 0, 0, 0)
        head.setSpacing(10)
        self._title.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Preferred)
        self._summary.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        head.addWidget(self._title)
        head.addWidget(self._summary, 1)
        head.addWidget(self._example)
        head.addWidget(self._back)
        head.addWidget(self._next)
        row = QHBoxLayout()
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(24)
        for card in self._cards:
            row.addWidget(card, card.stretch)
        row.addStretch(1)
        column = QVBoxLayout(body)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(8)
        column.addLayout(head)
        column.addLayout(row, 1)
        return body

    def minimumSizeHint(self) -> QSize:
        return QSize(320, 150)

    @property
    def node_id(self) -> str:
        """The node that is shown, empty for none."""
        return self._node_id

    # -- which node -------------------------------------------------------------------------------

    def _selected(self, ids: tuple[str, ...]) -> None:
        self._node_id = ids[0] if len(ids) == 1 else ""
        for card in self._cards:
            card.forget()
        self._live.again()

    def _changed(self, change: object = None) -> None:
        self._live.again()

    def _describe(self) -> None:
        """Say whose pictures these are, and choose the cards."""
        node = self._workspace.node(self._node_id)
        kind = self._workspace.type_of(node) if node is not None else None
        if node is None or kind is None:
            several = len(self._workspace.selection) > 1
            unknown = node is not None
            self._message.setText(
                SEVERAL
                if several
                else "Nothing is known about this type of node, so there is nothing to show."
                if unknown
                else NOTHING
            )
            self._stack.setCurrentIndex(0)
            return
        shapes = self._workspace.shapes
        weighty = shapes is not None and bool(shapes.parameters(self._node_id))
        answers = kind.kind in ("loss", "metric", "output") or self._feeds_a_loss()
        self._title.setText(node.name or kind.title)
        self._summary.setText(kind.title if node.name else "")
        self.input.set_source(*self._source())
        self.input.setVisible(kind.kind != "data")
        self.activations.setVisible(kind.kind in ("layer", "data", "input"))
        self.activations.show_as_images(kind.kind == "data")
        self.filters.setVisible(weighty)
        self.histograms.set_weighty(weighty)
        self.histograms.setVisible(kind.kind in ("layer", "data", "input"))
        self.prediction.setVisible(answers)
        self._stack.setCurrentIndex(1)
        self._say_what_is_missing()

    def _source(self) -> tuple[str, dict[str, tuple[str, ...]]]:
        """The data node that the selected node hangs on, and the classes of its columns."""
        project, catalogue = self._workspace.document.project, self._workspace.catalogue
        before = {self._node_id, *upstream(project, self._node_id)}
        for node_id, node in project.graph.nodes.items():
            kind = catalogue.get(node.type)
            if kind is not None and kind.kind == "data" and node_id in before:
                return node_id, classes_of(self._workspace, node_id)
        return "", {}

    def _feeds_a_loss(self) -> bool:
        graph, catalogue = self._workspace.graph_around(self._node_id), self._workspace.catalogue
        if graph is None:
            return False
        for link in graph.outgoing(self._node_id):
            kind = catalogue.get(graph.nodes[link.target].type)
            if kind is not None and kind.kind == "loss" and link.target_port == "prediction":
                return True
        return False

    # -- pictures ---------------------------------------------------------------------------------

    def _probes(self) -> Probes:
        if self._node_id and self._workspace.node(self._node_id) is None:
            self._node_id = ""
        self._describe()
        if not self._node_id or self._stack.currentIndex() == 0:
            return frozenset()
        # A hidden card is left out; a card counts as shown although the panel itself is just about to be.
        shown = (card for card in self._cards if not card.isHidden())
        return frozenset(
            Probe(node_id, what) for card in shown for node_id, what in card.needs(self._node_id)
        )

    def refresh(self) -> None:
        """Draw what is new in the feed."""
        trainer = self._workspace.trainer
        if trainer is None or not self._node_id:
            self._say_what_is_missing()
            return
        feed: Feed = trainer.feed
        for card in self._cards:
            if not card.isHidden():
                card.refresh(feed, self._node_id)
        example = self.input.example if not self.input.isHidden() else self.activations.example
        words = f"validation example {example + 1}" if example is not None else ""
        if words != self._example.text():
            self._example.setText(words)
        if self._next.isEnabled() != (example is not None):
            self._next.setEnabled(example is not None)
        if self._back.isEnabled() != bool(example):
            self._back.setEnabled(bool(example))

    def _say_what_is_missing(self) -> None:
        words = WAITING
        errors = self._workspace.errors()
        if self._workspace.trainer is None:
            words = self._workspace.engine_error or "The engine is starting; the pictures come in a moment."
        elif errors:
            words = f"The pictures come when the network can be built. {errors[0].message}"
        for card in self._cards:
            card.wait_for(words)

    # -- the pinned example -----------------------------------------------------------------------

    def _next_example(self) -> None:
        shown = self.input.example if not self.input.isHidden() else self.activations.example
        # The trainer stays at the last example when asked for one beyond it: then begin again.
        self._pin(0 if shown is not None and shown < self._wanted_example else self._wanted_example + 1)

    def _previous_example(self) -> None:
        self._pin(max(0, self._wanted_example - 1))

    def _pin(self, example: int) -> None:
        self._wanted_example = example
        if self._workspace.trainer is not None:
            self._workspace.trainer.pin(example)


def classes_of(workspace: Workspace, node_id: str) -> dict[str, tuple[str, ...]]:
    """The names of the classes of each column of a data node that has classes."""
    node = workspace.node(node_id)
    if node is None:
        return {}
    try:
        made = workspace.catalogue.make(node)
    except NeuroloomError:
        return {}
    return {column.name: column.classes for column in made.columns()} if isinstance(made, Data) else {}
