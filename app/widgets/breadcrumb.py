"""The way from the whole network to the block on show; each name on it leads back there."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QWidget

from app.widgets.labels import ElidedLabel, label, plain
from app.widgets.tab_order import reach_after

HEIGHT = 30
LONGEST = 28


class Breadcrumb(QWidget):
    """Hidden at the root. `scope_wanted` carries the scope of the name that was clicked."""

    scope_wanted = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("breadcrumb")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.setAccessibleName("Where this block is")
        self.setFixedHeight(HEIGHT)
        self._row = QHBoxLayout(self)
        self._row.setContentsMargins(14, 0, 14, 0)
        self._row.setSpacing(4)
        self._shown: tuple[tuple[str, str], ...] = ()
        self.hide()

    def show_way(self, way: tuple[tuple[str, str], ...]) -> None:
        """Shows scopes and their names from the root to what is on the canvas."""
        if way == self._shown:
            return
        self._shown = way
        self._clear()
        for scope, name in way[:-1]:
            self._row.addWidget(self._step(scope, name))
            self._row.addWidget(label("/", "dim"))
        if way:
            here = ElidedLabel(way[-1][1], "heading")
            here.setObjectName("breadcrumbHere")
            self._row.addWidget(here, 1)
        self.setVisible(len(way) > 1)
        reach_after(self, self)

    def names(self) -> list[str]:
        """The names on show, from the root on."""
        return [name for _, name in self._shown]

    def _step(self, scope: str, name: str) -> QPushButton:
        short = name if len(name) <= LONGEST else f"{name[: LONGEST - 1]}…"
        button = QPushButton(short.replace("&", "&&"))
        button.setObjectName("breadcrumbStep")
        button.setProperty("kind", "link")
        button.setProperty("scope", scope)
        button.setAccessibleName(f"Back to {name}")
        button.setToolTip(plain(f"Back to {name}"))
        button.setCursor(Qt.CursorShape.PointingHandCursor)
        button.clicked.connect(self._clicked)
        return button

    def _clicked(self) -> None:
        button = self.sender()
        if button is not None:
            self.scope_wanted.emit(str(button.property("scope")))

    def _clear(self) -> None:
        while (item := self._row.takeAt(0)) is not None:
            widget = item.widget()
            if widget is not None:
                # It may be the one whose click brought us here.
                widget.hide()
                widget.deleteLater()
