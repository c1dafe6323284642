"""The class that is drawn, picked among the marks of all of them; more and fewer classes, and their names."""

from __future__ import annotations

from PySide6.QtCore import QPointF, Qt, Signal
from PySide6.QtGui import QIcon, QPainter, QPixmap
from PySide6.QtWidgets import (
    QButtonGroup,
    QGridLayout,
    QHBoxLayout,
    QLineEdit,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from app.charts.class_marks import class_colour, class_shape, shape_path
from app.theme import themes
from app.widgets.labels import plain
from nodes.data.drawn import FEWEST_CLASSES, MOST_CLASSES

IN_A_ROW = 7
_ICON = 16


class ClassPicker(QWidget):
    """A button for each class with its mark; number keys pick too, which the pad passes on."""

    picked = Signal(int)
    count_wanted = Signal(int)
    named = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._names: tuple[str, ...] = ()
        self.current = 0
        self.buttons: list[QToolButton] = []
        self._group = QButtonGroup(self)
        self._group.idClicked.connect(self.pick)
        self.fewer = _button("−", "Remove the last class and its points", "fewerClasses")
        self.more = _button("+", "Add a class", "moreClasses")
        self.fewer.clicked.connect(self._fewer)
        self.more.clicked.connect(self._more)
        self.name = QLineEdit()
        self.name.setObjectName("className")
        self.name.setMaxLength(40)
        self.name.setAccessibleName("Name of the class")
        self.name.setToolTip("Name of the selected class")
        self.name.editingFinished.connect(self._renamed)
        self._grid = QGridLayout()
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setSpacing(3)
        count = QHBoxLayout()
        count.setSpacing(3)
        count.addWidget(self.name, 1)
        count.addWidget(self.fewer)
        count.addWidget(self.more)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(4)
        column.addLayout(self._grid)
        column.addLayout(count)
        themes.theme_changed.connect(self._dress)

    def show_classes(self, names: tuple[str, ...]) -> None:
        """Offer these classes."""
        self._names = names
        while len(self.buttons) > len(names):
            gone = self.buttons.pop()
            self._group.removeButton(gone)
            self._grid.removeWidget(gone)
            gone.hide()
            gone.deleteLater()
        while len(self.buttons) < len(names):
            index = len(self.buttons)
            made = _button("", "", f"class{index}")
            made.setCheckable(True)
            self.buttons.append(made)
            self._group.addButton(made, index)
            self._grid.addWidget(made, index // IN_A_ROW, index % IN_A_ROW)
        self._grid.setColumnStretch(IN_A_ROW, 1)
        self.fewer.setEnabled(len(names) > FEWEST_CLASSES)
        self.more.setEnabled(len(names) < MOST_CLASSES)
        self._dress()
        self.pick(min(self.current, len(names) - 1))

    def pick(self, index: int) -> None:
        """Draw this class from now on; nothing where there is none of that number."""
        if not 0 <= index < len(self._names):
            return
        changed, self.current = index != self.current, index
        self.buttons[index].setChecked(True)
        if not self.name.hasFocus() or changed:
            self.name.setText(self._names[index])
        if changed:
            self.picked.emit(index)

    def _dress(self, _theme: object = None) -> None:
        for index, (button, name) in enumerate(zip(self.buttons, self._names, strict=True)):
            button.setIcon(_mark(index))
            button.setToolTip(plain(f"Draw {name} (key {(index + 1) % 10})"))
            button.setAccessibleName(name)

    def _fewer(self) -> None:
        self.count_wanted.emit(len(self._names) - 1)

    def _more(self) -> None:
        self.count_wanted.emit(len(self._names) + 1)

    def _renamed(self) -> None:
        name = " ".join(self.name.text().replace(",", " ").split())
        if name and name != self._names[self.current]:
            self.named.emit(name)
        else:
            self.name.setText(self._names[self.current])


def _button(text: str, tip: str, name: str) -> QToolButton:
    made = QToolButton()
    made.setText(text)
    made.setToolTip(tip)
    made.setObjectName(name)
    made.setProperty("kind", "mark")
    made.setFixedSize(28, 24)
    made.setAccessibleName(tip)
    return made


def _mark(index: int) -> QIcon:
    pixmap = QPixmap(2 * _ICON, 2 * _ICON)
    pixmap.fill(Qt.GlobalColor.transparent)
    painter = QPainter(pixmap)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(class_colour(themes.current, index))
    painter.drawPath(shape_path(class_shape(index), 22).translated(QPointF(_ICON, _ICON)))
    painter.end()
    pixmap.setDevicePixelRatio(2)
    return QIcon(pixmap)
