"""The right of the training panel: which classes are confused, or what is predicted beside what is right."""

from __future__ import annotations

import numpy as np
from PySide6.QtGui import QFontMetrics
from PySide6.QtWidgets import QBoxLayout, QHBoxLayout, QSizePolicy, QStackedLayout, QVBoxLayout, QWidget

from app.charts.arrays.activations import example_words
from app.charts.arrays.confusion import Confusion, most_confused, short_names
from app.charts.legend import Legend
from app.charts.series import Line, SeriesPlot
from app.look.base import Subject
from app.look.own import answer_units, still_scaled
from app.look.sequences.forecast import forecasts
from app.theme import current_theme
from app.widgets.labels import ElidedLabel, label, plain
from app.widgets.segments import Segments
from app.workspace.engine_parts import split_on_show
from app.workspace.open_document import TrainableDocument
from app.workspace.own_units import OwnUnitsFinder
from app.workspace.watching import Live, Probes
from engine.catalogue import Loss, NodeType
from engine.feed.feed import Probe, Snapshot

NO_ANSWERS = "No loss compares a prediction with a target. The Views tab shows what the layers compute."
BOXES = "Boxes are compared with boxes. The Views tab draws them over their images."
NOT_HELD_OUT = "The data have no validation split, so that nothing is evaluated between epochs."
_LIST = 6
_LIST_WIDTH = 92
_FEW, _BESIDE_FROM = 4, 380  # classes, and pixels of width, with fewer of which the list stands below


class TrainingAnswers(QWidget):
    """The validation split: a confusion matrix for a head with classes, a forecast for one with numbers."""

    def __init__(self, workspace: TrainableDocument, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("trainingAnswers")
        self._workspace = workspace
        self._losses: tuple[str, ...] = ()
        self._seen: Snapshot | None = None
        self._generation = -1
        self._title = ElidedLabel("Confusion, validation", "heading")
        self._title.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        self._which = Segments([])
        self._which.setObjectName("whichLoss")
        self._legend = Legend()
        self._legend.show_entries((("right", "dim", False), ("predicted", "accent", False)))
        self.confusion = Confusion()
        self.confusion.setObjectName("confusion")
        self.forecast = SeriesPlot(unit="example")
        self.forecast.setObjectName("forecast")
        self._list_title = label("most confused", "small")
        self._list = [ElidedLabel("", "mono") for _ in range(_LIST)]
        beside = QVBoxLayout()
        beside.setSpacing(3)
        beside.addWidget(self._list_title)
        for line in self._list:
            beside.addWidget(line)
        beside.addStretch(1)
        self._beside = QWidget()
        self._beside.setLayout(beside)
        beside.setContentsMargins(0, 0, 0, 0)
        self._beside.setFixedWidth(_LIST_WIDTH)
        matrix = QWidget()
        self._row = QHBoxLayout(matrix)
        self._row.setContentsMargins(0, 0, 0, 0)
        self._row.setSpacing(12)
        self._row.addWidget(self.confusion, 1)
        self._row.addWidget(self._beside)
        self._stack = QStackedLayout()
        self._stack.addWidget(matrix)
        self._stack.addWidget(self.forecast)
        names = QHBoxLayout()
        names.setContentsMargins(0, 0, 0, 0)
        names.addWidget(self._title, 1)
        names.addWidget(self._which)
        head = self._head = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        head.setContentsMargins(0, 0, 0, 0)
        head.addLayout(names, 1)
        head.addWidget(self._legend)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(6)
        column.addLayout(head)
        column.addLayout(self._stack, 1)
        self._forget()
        self._live = Live(workspace, self, self._probes, self.refresh, 250)
        self._which.chosen.connect(self._chosen)
        workspace.changed.connect(self._changed)
        OwnUnitsFinder.of(workspace).found.connect(self._units_found)

    def _changed(self, change: object = None) -> None:
        self._live.again()

    def _units_found(self) -> None:
        self._seen = None
        self.refresh()

    def _find_losses(self) -> None:
        graph, catalogue = self._workspace.document.project.graph, self._workspace.catalogue
        kinds = {node_id: catalogue.get(node.type) for node_id, node in graph.nodes.items()}
        losses = tuple(node_id for node_id, kind in kinds.items() if _compares(kind))
        names = [
            (node_id, _short(graph.nodes[node_id].name), "Show the answers of this loss")
            for node_id in losses
        ]
        self._which.set_options(names)
        self._which.setVisible(len(losses) > 1)
        below = len(losses) > 1 and self.width() < _BESIDE_FROM  # so that the names have room
        self._head.setDirection(
            QBoxLayout.Direction.TopToBottom if below else QBoxLayout.Direction.LeftToRight
        )
        self._which.set_room(max(60, self.width() if below else self.width() * 3 // 5))
        if losses != self._losses:
            self._losses = losses
            self._forget()

    def _holds_out(self) -> bool:
        """Whether the data in use have a validation split, or are not read yet."""
        return split_on_show(self._workspace.trainer) == "validation"

    def _chosen(self, loss_id: str) -> None:
        self._forget()
        self._live.again()

    def _forget(self) -> None:
        self._seen = None
        self._legend.hide()
        self._title.setVisible(len(self._losses) < 2)
        self._held_out = self._holds_out()
        self._title.setText("Answers, validation" if self._held_out else "Answers, training")
        waiting = "Which classes are confused shows after the first step."
        waiting = BOXES if self._compares_boxes() else waiting if self._held_out else NOT_HELD_OUT
        self.confusion.say(waiting if self._losses else NO_ANSWERS)
        self._stack.setCurrentIndex(0)
        self._list_title.setText("")
        for line in self._list:
            line.setText("")

    def _compares_boxes(self) -> bool:
        node = self._workspace.document.project.graph.nodes.get(self._which.key)
        kind = self._workspace.catalogue.get(node.type) if node is not None else None
        return kind is not None and issubclass(kind, Loss) and kind.traits.boxes

    def _probes(self) -> Probes:
        self._find_losses()
        chosen = self._which.key
        return frozenset({Probe(chosen, "confusion"), Probe(chosen, "predictions")} if chosen else ())

    def refresh(self) -> None:
        """Draw what is new in the feed."""
        trainer, chosen = self._workspace.trainer, self._which.key
        if trainer is None or not chosen:
            return
        other = trainer.feed.generation != self._generation or self._held_out != self._holds_out()
        if other:  # what is drawn belongs to another run
            self._generation = trainer.feed.generation
            self._forget()
        matrix = trainer.feed.latest(Probe(chosen, "confusion"))
        if matrix is not None:
            if matrix is not self._seen:
                self._seen = matrix
                self._show_matrix(matrix)
            return
        found = trainer.feed.latest(Probe(chosen, "predictions"))
        if found is None or found is self._seen:
            return
        self._seen = found
        if found.array.ndim == 2:
            self._show_forecast(found)
        elif found.extra.get("kind") == "yes or no":
            words = [
                f"{float(probability):.1%}".replace("%", " %") for probability in found.array.reshape(-1)[:4]
            ]
            self.confusion.say(
                f"This head predicts yes or no. For {example_words(found)}: yes with {', '.join(words)}."
            )

    def _show_matrix(self, snapshot: Snapshot) -> None:
        matrix = snapshot.array
        names = class_names(snapshot.extra.get("classes", ()), len(matrix))
        self._title.setText(f"Confusion, {snapshot.extra.get('split', 'validation')}")
        right = int(np.trace(matrix))
        self._title.setToolTip(
            f"Epoch {snapshot.extra.get('epoch', '?')}: {right:,} of {int(matrix.sum()):,} right"
        )
        self.confusion.show_matrix(matrix, names)
        self._stack.setCurrentIndex(0)
        below = len(matrix) <= _FEW and self.width() < _BESIDE_FROM  # so that the names have room
        most = 1 if below else _LIST
        worst = whole = most_confused(matrix, names, most)
        self._list_title.setText("most confused" if worst else "none confused")
        metrics = QFontMetrics(current_theme().mono(12))
        widest = max((metrics.horizontalAdvance(_told(*cell, 99)) for cell in worst), default=0) + 8
        self._row.setDirection(
            QBoxLayout.Direction.TopToBottom if below else QBoxLayout.Direction.LeftToRight
        )
        room = min(max(_LIST_WIDTH, widest), max(_LIST_WIDTH, self.width() * 9 // 20))
        room = self.width() if below else room
        self._beside.setFixedWidth(room)
        if widest > room:  # what all names begin with goes first
            worst = most_confused(matrix, short_names(names), most)
        letters = next(
            (
                count
                for count in range(99, 8, -1)
                if all(metrics.horizontalAdvance(_told(*cell, count)) <= room - 4 for cell in worst)
            ),
            8,
        )
        told = [_told(*cell, letters) for cell in worst]
        for index, line in enumerate(self._list):
            line.setText(told[index] if index < len(told) else "")
            line.setVisible(index < max(1, len(told)))
            if index < len(whole):
                true, guess, count = whole[index]
                line.setToolTip(plain(f"{true} taken for {guess}: {count:,} times"))

    def _show_forecast(self, snapshot: Snapshot) -> None:
        subject, of = Subject(self._workspace, self._which.key), snapshot.extra.get("of", "")
        own = None if of else answer_units(subject)
        scaled = ", scaled" if not of and own is None and still_scaled(subject) else ""
        if of:
            name = f"{str(of).capitalize()}s of one example"
        else:
            name = "Forecast" if forecasts(subject) else "Predictions"
        self._title.setText(f"{name}{scaled}" if own is None else own.name)
        self._title.setVisible(len(self._losses) < 2)  # of several, what is chosen says which it is
        about = (
            example_words(snapshot) if of else f"{'Validation' if self._held_out else 'Training'} examples"
        )
        self._title.setToolTip(f"{about}: true and predicted values")
        pairs = snapshot.array if own is None else own.first(snapshot.array)
        predicted, right = pairs[:, 0], pairs[:, 1]
        lines = [Line("right", right, "dim"), Line("predicted", predicted, "accent")]
        self.forecast.show_lines(lines, unit=str(of) or "example")
        self._legend.show()
        self._stack.setCurrentIndex(1)


def class_names(names: object, count: int) -> tuple[str, ...]:
    """The names of the classes, numbers where there are none."""
    known = tuple(str(name) for name in names) if isinstance(names, (tuple, list)) else ()
    return known if len(known) == count else tuple(str(index) for index in range(count))


def _compares(kind: type[NodeType] | None) -> bool:
    """Whether a type of node is a loss of predictions; losses of players are not."""
    return (
        kind is not None and kind.kind == "loss" and any(port.name == "prediction" for port in kind.ports_in)
    )


def _told(true: str, guess: str, count: int, letters: int) -> str:
    """`4 as 9 14` in at most so many letters: names are cut, the number never."""
    room = max(2, (letters - len(f" as  {count}")) // 2)
    return f"{_cut(true, room)} as {_cut(guess, room)} {count}"


def _cut(name: str, letters: int) -> str:
    return name if len(name) <= letters else name[: letters - 1] + "…"


def _short(name: str) -> str:
    return _cut(name, 18)
