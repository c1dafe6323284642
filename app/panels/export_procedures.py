"""Which procedures go into an export: a box for each that the network has."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QCheckBox, QHBoxLayout, QPushButton, QScrollArea, QVBoxLayout, QWidget

from app.widgets.labels import label, plain
from engine.procedures.declare import Offer

_SHOWN = 4  # boxes, before they are scrolled
_LINE = 24  # pixels from one to the next


class ProcedureBoxes(QWidget):
    """Those that the network is for are on, as on the command line; *All* and *None* set every box."""

    changed = Signal()

    def __init__(self, offers: Sequence[Offer], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.boxes = {one.name: _box(one) for one in offers}
        self.all_button, self.none_button = _small("All", "exportAll"), _small("None", "exportNone")
        self.all_button.clicked.connect(self._all)
        self.none_button.clicked.connect(self._none)
        head = QHBoxLayout()
        head.addWidget(label("Procedures", "heading"), 1)
        head.addWidget(self.all_button)
        head.addWidget(self.none_button)
        inside = QWidget()
        lines = QVBoxLayout(inside)
        lines.setContentsMargins(0, 0, 0, 0)
        lines.setSpacing(0)
        for box in self.boxes.values():
            box.setFixedHeight(_LINE)
            box.toggled.connect(self._toggled)
            lines.addWidget(box)
        area = QScrollArea()
        area.setWidget(inside)
        area.setWidgetResizable(True)
        area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        area.setFixedHeight(_LINE * min(len(self.boxes), _SHOWN) + 2)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(2)
        column.addLayout(head)
        column.addWidget(area)
        self.setVisible(bool(self.boxes))
        self._quiet = False

    @property
    def names(self) -> tuple[str, ...]:
        """The procedures whose boxes are on, in their order."""
        return tuple(name for name, box in self.boxes.items() if box.isChecked())

    def _toggled(self, _on: bool) -> None:
        if not self._quiet:
            self.changed.emit()

    def _all(self) -> None:
        self._set(True)

    def _none(self) -> None:
        self._set(False)

    def _set(self, on: bool) -> None:
        before, self._quiet = self.names, True
        for box in self.boxes.values():
            box.setChecked(on)
        self._quiet = False
        if self.names != before:
            self.changed.emit()


def _box(one: Offer) -> QCheckBox:
    box = QCheckBox(one.name)
    box.setObjectName(f"exportProcedure_{one.name}")
    box.setToolTip(plain(one.procedure.doc()))
    box.setChecked(one.procedure.main)
    return box


def _small(text: str, name: str) -> QPushButton:
    button = QPushButton(text)
    button.setObjectName(name)
    button.setProperty("kind", "small")
    button.setAutoDefault(False)
    return button
