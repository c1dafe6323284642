"""The data panel: how much there is, of which classes, in which ranges, and what it looks like."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt, QTimer
from PySide6.QtGui import QHideEvent, QShowEvent
from PySide6.QtWidgets import (
    QGridLayout,
    QHBoxLayout,
    QPushButton,
    QSizePolicy,
    QStackedLayout,
    QVBoxLayout,
    QWidget,
)

from app.classes import classes_of
from app.panels.data_facts import DataFacts, FactsReader
from app.panels.data_samples import DataSamples
from app.views.bars import Bar, Bars
from app.views.picture import number
from app.views.segments import Segments
from app.widgets.labels import ElidedLabel, label
from app.workspace import Workspace

SPLITS = (
    ("train", "train", "The rows that the network learns from"),
    ("validation", "validation", "The rows that decide when to stop"),
    ("test", "test", "The rows that are only looked at in the end"),
)
POLL_MS = 100
_COLUMN_HEADS = ("column", "shape", "type", "range", "mean ± std")


class DataPanel(QWidget):
    """Facts and samples of the data node; with several data nodes, of the one that the network uses."""

    def __init__(self, workspace: Workspace, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("dataPanel")
        self._workspace = workspace
        self.reader = FactsReader()
        self._shown: tuple[int, str, str] | None = None
        self._title = ElidedLabel("Data", "heading")
        self._title.setObjectName("dataTitle")
        self._title.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Preferred)
        self._doc = ElidedLabel("", "small")
        self._split = Segments(SPLITS)
        self._split.setObjectName("dataSplit")
        self._more = QPushButton("More")
        self._more.setObjectName("moreSamples")
        self._more.setProperty("kind", "small")
        self._more.setToolTip("Show other rows of this split")
        self.counts = Bars(unit="rows")
        self.counts.setObjectName("splitCounts")
        self.classes = Bars(unit="rows")
        self.classes.setObjectName("classCounts")
        self._class_title = label("Classes", "heading")
        self._columns = QGridLayout()
        self.samples = DataSamples()
        self.samples.setObjectName("dataSamples")
        self._message = label("", "empty", wrap=True)
        self._message.setObjectName("dataMessage")
        self._message.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._stack = QStackedLayout()
        self._stack.addWidget(self._message)
        self._stack.addWidget(self._body())
        outer = QVBoxLayout(self)
        outer.setContentsMargins(16, 8, 16, 10)
        outer.addLayout(self._stack)
        self._split.chosen.connect(self._split_chosen)
        self._more.clicked.connect(self.samples.turn)
        self._poll = QTimer(self)
        self._poll.setInterval(POLL_MS)
        self._poll.timeout.connect(self.refresh)
        for signal in (workspace.changed, workspace.inferred, workspace.selected, workspace.state_changed):
            signal.connect(self._look)
        workspace.engine_ready.connect(self._look)

    def _body(self) -> QWidget:
        body = QWidget()
        head = QHBoxLayout()
        head.setContentsMargins(0, 0, 0, 0)
        head.setSpacing(10)
        head.addWidget(self._title, 0)
        head.addWidget(self._doc, 1)
        head.addWidget(self._split)
        head.addWidget(self._more)
        facts = QVBoxLayout()
        facts.setSpacing(6)
        facts.addWidget(label("Rows", "heading"))
        facts.addWidget(self.counts)
        facts.addSpacing(6)
        self._columns.setHorizontalSpacing(14)
        self._columns.setVerticalSpacing(3)
        facts.addLayout(self._columns)
        facts.addStretch(1)
        classes = QVBoxLayout()
        classes.setSpacing(6)
        classes.addWidget(self._class_title)
        classes.addWidget(self.classes)
        classes.addStretch(1)
        self._class_box = QWidget()
        self._class_box.setLayout(classes)
        classes.setContentsMargins(0, 0, 0, 0)
        row = QHBoxLayout()
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(28)
        row.addLayout(facts, 4)
        row.addWidget(self._class_box, 2)
        row.addWidget(self.samples, 5)
        column = QVBoxLayout(body)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(8)
        column.addLayout(head)
        column.addLayout(row, 1)
        return body

    def minimumSizeHint(self) -> QSize:
        return QSize(320, 150)

    # -- when to look -----------------------------------------------------------------------------

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._look()

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self._poll.stop()

    def close_reader(self) -> None:
        """Wait for a summary that is under way."""
        self._poll.stop()
        self.reader.join()

    def _look(self, reason: object = None) -> None:
        if self.isVisible():
            self.refresh()

    def _split_chosen(self, split: str) -> None:
        self.refresh()

    def refresh(self) -> None:
        """Show what is known, and ask for what isn't."""
        node_id = self._data_node()
        trainer = self._workspace.trainer
        data = trainer.data if trainer is not None and node_id else None
        self.reader.ask(data)
        facts = self.reader.facts
        waiting = bool(node_id) and (data is None or facts is None) and not self.reader.error
        # Data arrive without a signal of their own, so a visible panel that waits for them looks again.
        if waiting and self.isVisible() and not self._workspace.errors():
            self._poll.start()
        else:
            self._poll.stop()
        if not node_id or data is None or facts is None:
            self._say(node_id)
            return
        shown = (id(facts), node_id, self._split.key)
        if shown != self._shown:
            self._shown = shown
            self._show(node_id, facts)
        self._stack.setCurrentIndex(1)

    def _data_node(self) -> str:
        graph, catalogue = self._workspace.document.project.graph, self._workspace.catalogue
        found = [
            node_id
            for node_id, node in graph.nodes.items()
            if (kind := catalogue.get(node.type)) is not None and kind.kind == "data"
        ]
        used = [node_id for node_id in found if graph.outgoing(node_id)]
        return next(iter(used or found), "")

    def _say(self, node_id: str) -> None:
        self._shown = None
        errors = self._workspace.errors()
        if not node_id:
            words = "Add a data node from the palette; its rows, classes and ranges will stand here."
        elif self._workspace.trainer is None:
            words = self._workspace.engine_error or "The engine is starting; the data are read after that."
        elif self.reader.error:
            words = self.reader.error
        elif errors:
            words = f"The data are read when the network can be built. {errors[0].message}"
        else:
            words = "Reading the data …"
        if words != self._message.text():
            self._message.setText(words)
        self._stack.setCurrentIndex(0)

    # -- what is shown ----------------------------------------------------------------------------

    def _show(self, node_id: str, facts: DataFacts) -> None:
        split = self._split.key
        node = self._workspace.node(node_id)
        kind = self._workspace.type_of(node) if node is not None else None
        if node is None or kind is None:
            return
        self._title.setText(node.name or kind.title)
        self._doc.setText(kind.doc())
        rows = facts.summary.rows
        roles = {"train": "accent", "validation": "convolution", "test": "dim"}
        self.counts.show_bars(
            [
                Bar(name, float(count), roles.get(name, "accent"), strong=name == split)
                for name, count in rows.items()
            ]
        )
        names = classes_of(self._workspace, node_id)
        self._show_columns(facts, split, names)
        self._show_classes(facts, split, names)
        self.samples.show_samples(facts.samples.get(split, {}), names)
        self._more.setVisible(self.samples.can_turn)

    def _show_columns(self, facts: DataFacts, split: str, names: dict[str, tuple[str, ...]]) -> None:
        while (item := self._columns.takeAt(0)) is not None:
            if (widget := item.widget()) is not None:
                widget.deleteLater()
        for column, head in enumerate(_COLUMN_HEADS):
            self._columns.addWidget(label(head, "small"), 0, column)
        for row, (name, found) in enumerate(facts.summary.columns.get(split, {}).items(), start=1):
            shape = "×".join(str(size) for size in found.shape) or "scalar"
            # What is left of a mean that was subtracted is rounding, not a mean.
            mean = 0.0 if abs(found.mean) < 1e-6 * found.deviation else found.mean
            spread = f"{number(mean)} ± {number(found.deviation)}"
            classes = len(names.get(name, ()))
            if classes:
                spread = f"{classes} classes"
            reach = f"{number(found.minimum)} to {number(found.maximum)}"
            for column, text in enumerate((name, shape, found.dtype, reach, spread)):
                made = label(text, "mono")
                self._columns.addWidget(made, row, column)
        self._columns.setColumnStretch(len(_COLUMN_HEADS), 1)

    def _show_classes(self, facts: DataFacts, split: str, names: dict[str, tuple[str, ...]]) -> None:
        for name, found in facts.summary.columns.get(split, {}).items():
            if found.classes and names.get(name):
                total = sum(found.classes) or 1
                known = names[name]
                self.classes.show_bars(
                    [
                        Bar(
                            known[index] if index < len(known) else str(index),
                            float(count),
                            "accent",
                            f"{count / total:.1%} of this split".replace("%", " %"),
                        )
                        for index, count in enumerate(found.classes)
                    ]
                )
                self._class_title.setText(f"{name}, {split}")
                self._class_box.setVisible(True)
                return
        self._class_box.setVisible(False)
