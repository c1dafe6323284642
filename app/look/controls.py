"""Small controls for the heads of views, and what they stand in."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QObject, QRect, QSignalBlocker, QSize, Qt, Signal
from PySide6.QtGui import QFontMetrics
from PySide6.QtWidgets import (
    QBoxLayout,
    QHBoxLayout,
    QLabel,
    QLayout,
    QLayoutItem,
    QPushButton,
    QSizePolicy,
    QSlider,
    QVBoxLayout,
    QWidget,
)

from app.theme import current_theme
from app.widgets.fields import QuietCombo
from app.widgets.labels import label

_GAP, _LINE_GAP = 6, 4
_BESIDE_TEXT, _WIDEST = 46, 200  # pixels of a combo box beside its text, and of one in all


def choice(name: str, entries: Sequence[tuple[str, object]], tip: str, width: int = 104) -> QuietCombo:
    """A combo box of (text, value) that keeps its width, which cuts none; `name` is its object name."""
    combo = QuietCombo()
    combo.setObjectName(name)
    combo.setToolTip(tip)
    combo.setAccessibleName(tip)
    metrics = QFontMetrics(current_theme().font())
    longest = max((metrics.horizontalAdvance(text) for text, _ in entries), default=0)
    combo.setFixedWidth(max(width, min(longest + _BESIDE_TEXT, _WIDEST)))
    combo.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
    offer(combo, entries)
    return combo


def offer(combo: QuietCombo, entries: Sequence[tuple[str, object]]) -> None:
    """Offer other entries; the one that was chosen stays so where it is among them."""
    chosen = combo.currentData()
    before = [(combo.itemText(index), combo.itemData(index)) for index in range(combo.count())]
    if before == list(entries):
        return
    with QSignalBlocker(combo):
        combo.clear()
        for text, value in entries:
            combo.addItem(text, value)
        choose(combo, chosen)


def choose(combo: QuietCombo, value: object) -> bool:
    """Choose an entry by its value; False, with the choice as it was, where there is none such."""
    index = combo.findData(value)
    if value is None or index < 0:
        return False
    combo.setCurrentIndex(index)
    return True


def keep(combo: QuietCombo, value: object, text: str) -> None:
    """Choose a value that was kept, under this text where it is not offered yet."""
    if not choose(combo, value):
        combo.addItem(text, value)
        choose(combo, value)


def button(name: str, text: str, tip: str) -> QPushButton:
    """A small button."""
    made = QPushButton(text)
    made.setObjectName(name)
    made.setProperty("kind", "small")
    made.setToolTip(tip)
    made.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
    return made


def row(*widgets: QWidget) -> QWidget:
    """Controls one beside the other; those that find no room stand in the next line."""
    holder = QWidget()
    layout = _Lines(holder)
    for widget in widgets:
        layout.addWidget(widget)
    return holder


class _Lines(QLayout):
    """Items from left to right in as many lines as the width asks for."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setContentsMargins(0, 0, 0, 0)
        self._items: list[QLayoutItem] = []

    def addItem(self, item: QLayoutItem) -> None:
        self._items.append(item)

    def count(self) -> int:
        return len(self._items)

    def itemAt(self, index: int) -> QLayoutItem | None:
        return self._items[index] if 0 <= index < len(self._items) else None

    def takeAt(self, index: int) -> QLayoutItem | None:
        return self._items.pop(index) if 0 <= index < len(self._items) else None

    def hasHeightForWidth(self) -> bool:
        return True

    def heightForWidth(self, width: int) -> int:
        return sum(self._heights(self._lines(width)))

    def sizeHint(self) -> QSize:
        shown = self._shown()
        wide = sum(item.sizeHint().width() for item in shown) + _GAP * max(0, len(shown) - 1)
        return QSize(wide, max((item.sizeHint().height() for item in shown), default=0))

    def minimumSize(self) -> QSize:
        sizes = [item.sizeHint() for item in self._shown()]
        return QSize(
            max((one.width() for one in sizes), default=0), max((one.height() for one in sizes), default=0)
        )

    def setGeometry(self, rect: QRect) -> None:
        super().setGeometry(rect)
        lines = self._lines(rect.width())
        top = rect.top()
        for line, height in zip(lines, self._heights(lines), strict=True):
            left = rect.left()
            for item in line:
                size = item.sizeHint()
                wide = min(size.width(), rect.width())
                item.setGeometry(QRect(left, top + (height - size.height()) // 2, wide, size.height()))
                left += wide + _GAP
            top += height

    def _shown(self) -> list[QLayoutItem]:
        return [item for item in self._items if not item.isEmpty()]

    def _lines(self, width: int) -> list[list[QLayoutItem]]:
        lines: list[list[QLayoutItem]] = []
        used = 0
        for item in self._shown():
            wide = item.sizeHint().width()
            if lines and used + _GAP + wide <= width:
                lines[-1].append(item)
                used += _GAP + wide
            else:
                lines.append([item])
                used = wide
        return lines

    def _heights(self, lines: list[list[QLayoutItem]]) -> list[int]:
        last = len(lines) - 1
        return [
            max(item.sizeHint().height() for item in line) + (_LINE_GAP if at < last else 0)
            for at, line in enumerate(lines)
        ]


def slider(name: str, what: str, tip: str) -> QSlider:
    """A slider from left to right; `name` is its object name, `what` it sets is its accessible name."""
    made = QSlider(Qt.Orientation.Horizontal)
    made.setObjectName(name)
    made.setAccessibleName(what)
    made.setToolTip(tip)
    return made


class Steps(QObject):
    """A slider over the states of something, from 0, that stays at the last one until it is moved back.

    `name` is the slider's object name, `what` one state is called on it. `moved` is emitted when a hand moves
    it; `layout` holds it with its place, such as 3 of 9.
    """

    moved = Signal()

    def __init__(self, name: str, what: str, parent: QObject) -> None:
        super().__init__(parent)
        self.slider = slider(name, what.capitalize(), f"The arrow keys go {what} by {what}")
        self.slider.setRange(0, 0)
        self.slider.valueChanged.connect(self._moved)
        self._place = label("", "mono")
        self._place.setFixedWidth(74)
        self._at: int | None = None  # none: the last one
        self.layout = dial(what, self.slider, self._place)

    @property
    def at(self) -> int:
        """The state that is shown."""
        return self.slider.value()

    def reset(self) -> None:
        """Stand at the last state of what comes next."""
        self._at = None

    def show(self, last: int) -> None:
        """States 0 to `last` are there now."""
        with QSignalBlocker(self.slider):
            self.slider.setRange(0, last)
            self.slider.setValue(last if self._at is None else min(self._at, last))
        self._tell()

    def _moved(self, value: int) -> None:
        self._at = None if value == self.slider.maximum() else value
        self._tell()
        self.moved.emit()

    def _tell(self) -> None:
        self._place.setText(f"{self.at + 1} of {self.slider.maximum() + 1}")


def dial(word: str, slider: QSlider, value: QLabel) -> QHBoxLayout:
    """A slider as wide as there is room, between what it sets and the value it stands at."""
    layout = QHBoxLayout()
    layout.setSpacing(8)
    layout.addWidget(label(word, "small"))
    layout.addWidget(slider, 1)
    layout.addWidget(value)
    return layout


def stacked(owner: QWidget, *widgets: QWidget | tuple[QWidget, int], spacing: int = 0) -> QBoxLayout:
    """Fills a widget with others, one above the other; a widget may come with its fraction of the height."""
    return _laid(QVBoxLayout(owner), widgets, spacing)


def beside(owner: QWidget, *widgets: QWidget | tuple[QWidget, int], spacing: int = 10) -> QBoxLayout:
    """Fills a widget with others, one beside the other; a widget may come with its fraction of the width."""
    return _laid(QHBoxLayout(owner), widgets, spacing)


def _laid(layout: QBoxLayout, widgets: Sequence[QWidget | tuple[QWidget, int]], spacing: int) -> QBoxLayout:
    layout.setContentsMargins(0, 0, 0, 0)
    layout.setSpacing(spacing)
    for one in widgets:
        widget, fraction = one if isinstance(one, tuple) else (one, 0)
        layout.addWidget(widget, fraction)
    return layout
