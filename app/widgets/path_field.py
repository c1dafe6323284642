"""The inspector's field for a file or folder: its name, Choose and Read again, and what is wrong with it."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from app.widgets.fields import FieldRow
from app.widgets.labels import ElidedLabel, plain, restyle
from engine.catalogue.params import ParamSpec
from engine.values import Value

NONE = "no file chosen"


class PathLabel(ElidedLabel):
    """A file's name, shortened in the middle; the whole path is the tool tip."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(NONE, "path", parent)
        self.elide_middle()
        self.setMinimumWidth(40)
        self.path = ""

    def show_path(self, path: str) -> None:
        self.path = path
        self.setText(Path(path).name or path if path else NONE)

    def _offer_tooltip(self) -> None:
        self.setToolTip(plain(getattr(self, "path", "")))


class PathField(FieldRow):
    """A path that is chosen, not typed. `chosen` asks for another one, `again` for the same to be read."""

    chosen = Signal()
    again = Signal()

    def __init__(self, spec: ParamSpec, parent: QWidget | None = None) -> None:
        super().__init__(spec, parent)
        grid = self.layout()
        assert isinstance(grid, QGridLayout)
        row = QHBoxLayout()
        row.setSpacing(6)
        row.addStretch(1)
        row.addWidget(self.reread)
        row.addWidget(self.choose)
        grid.removeWidget(self.error)
        grid.addLayout(row, 1, 0, 1, 2)
        grid.addWidget(self.error, 2, 0, 1, 2)

    def _make_control(self) -> QWidget:
        box = QWidget()
        self.name = PathLabel()
        self.name.setTextInteractionFlags(Qt.TextInteractionFlag.NoTextInteraction)
        self.choose = QPushButton("Choose…")
        self.choose.setProperty("kind", "small")
        self.choose.setObjectName(f"choose_{self.spec.name}")
        self.reread = QPushButton("Read again")
        self.reread.setProperty("kind", "small")
        self.reread.setObjectName(f"again_{self.spec.name}")
        self.reread.setToolTip("Look into the file as it is now")
        self.choose.clicked.connect(self._choose)
        self.reread.clicked.connect(self._again)
        column = QVBoxLayout(box)
        column.setContentsMargins(0, 3, 0, 0)
        column.addWidget(self.name)
        box.setFocusProxy(self.choose)
        return box

    def show_value(self, value: Value, mixed: bool = False) -> None:
        """Shows the file's name."""
        self._value = value
        path = value if isinstance(value, str) and not mixed else ""
        self.name.show_path(path)
        if mixed:
            self.name.setText("several files")
        self.reread.setVisible(bool(path))

    def show_wrong(self, sentence: str) -> None:
        """Shows what is wrong with the file, in red; "" when nothing is."""
        if sentence == self.error_text:
            return
        self._show_error(sentence)
        self.name.setProperty("bad", "true" if sentence else "false")
        restyle(self.name)

    def _choose(self) -> None:
        self.chosen.emit()

    def _again(self) -> None:
        self.again.emit()
