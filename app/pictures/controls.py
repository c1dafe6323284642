"""Small controls for the heads of pictures, and what they stand in."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QSignalBlocker
from PySide6.QtWidgets import (
    QBoxLayout,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QSizePolicy,
    QSlider,
    QVBoxLayout,
    QWidget,
)

from app.widgets.fields import QuietCombo
from app.widgets.labels import label


def choice(name: str, entries: Sequence[tuple[str, object]], tip: str, width: int = 104) -> QuietCombo:
    """A combo box of (text, value) that keeps its width; `name` is its object name."""
    combo = QuietCombo()
    combo.setObjectName(name)
    combo.setToolTip(tip)
    combo.setAccessibleName(tip)
    combo.setFixedWidth(width)
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
    """Controls one beside the other."""
    holder = QWidget()
    layout = QHBoxLayout(holder)
    layout.setContentsMargins(0, 0, 0, 0)
    layout.setSpacing(6)
    for widget in widgets:
        layout.addWidget(widget)
    return holder


def dial(word: str, slider: QSlider, value: QLabel) -> QHBoxLayout:
    """A slider as wide as there is room, between what it sets and the value it stands at."""
    layout = QHBoxLayout()
    layout.setSpacing(8)
    layout.addWidget(label(word, "small"))
    layout.addWidget(slider, 1)
    layout.addWidget(value)
    return layout


def stacked(owner: QWidget, *widgets: QWidget | tuple[QWidget, int], spacing: int = 0) -> QBoxLayout:
    """Fills a widget with others, one above the other; a widget may come with its share of the height."""
    return _laid(QVBoxLayout(owner), widgets, spacing)


def beside(owner: QWidget, *widgets: QWidget | tuple[QWidget, int], spacing: int = 10) -> QBoxLayout:
    """Fills a widget with others, one beside the other; a widget may come with its share of the width."""
    return _laid(QHBoxLayout(owner), widgets, spacing)


def _laid(layout: QBoxLayout, widgets: Sequence[QWidget | tuple[QWidget, int]], spacing: int) -> QBoxLayout:
    layout.setContentsMargins(0, 0, 0, 0)
    layout.setSpacing(spacing)
    for one in widgets:
        widget, share = one if isinstance(one, tuple) else (one, 0)
        layout.addWidget(widget, share)
    return layout
