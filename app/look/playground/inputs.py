"""Ways to make an input: take an example, draw, open a file, type numbers or text."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from math import inf, isfinite

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QDragEnterEvent, QDropEvent, QFontMetrics, QImage, QResizeEvent
from PySide6.QtWidgets import (
    QBoxLayout,
    QCheckBox,
    QFileDialog,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QPushButton,
    QScrollArea,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from app.charts.arrays.activations import Activations
from app.charts.colourmaps import GREY
from app.charts.plot import number
from app.look.playground.example_view import ExampleView
from app.look.playground.pad import Pad
from app.look.playground.rows import Row, Rows
from app.theme import SMALL, current_theme
from app.widgets.fields import NumberEdit
from app.widgets.labels import ElidedLabel, WholeLabel, label, restyle
from engine.catalogue import Column
from engine.look.images.ink import MNIST_BOX, MNIST_SIDE, centred
from engine.shapes.heads import Feature

UNKNOWN = 1  # the token of what a vocabulary lacks
BESIDE_BELOW = 130  # pixels of height
LONGEST_WORD = 12  # letters of a name that goes on in the next line
IMAGE_FILES = "Images (*.png *.jpg *.jpeg *.bmp *.gif *.webp)"


def small_button(text: str, tip: str, name: str) -> QPushButton:
    """A button for a row below an input."""
    made = QPushButton(text)
    made.setProperty("kind", "small")
    made.setToolTip(tip)
    made.setAccessibleName(tip)
    made.setObjectName(name)
    return made


class Input(QWidget):
    """One way to make an input: `make` gives the row to try."""

    changed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.rows = Rows(None)
        self.column = QVBoxLayout(self)
        self.column.setContentsMargins(0, 0, 0, 0)
        self.column.setSpacing(6)
        self._buttons: QBoxLayout | None = None

    def take_rows(self, rows: Rows) -> None:
        """Other data have been loaded."""
        self.rows = rows

    def begin(self, row: Row) -> None:
        """Start from an example."""

    def make(self, base: Row) -> Row | None:
        """`base` with what was made in its place; None where nothing was made yet."""
        raise NotImplementedError

    def said(self) -> str:
        """What is to be known of how the input is made."""
        return ""

    def add_buttons(self, *buttons: QWidget) -> None:
        """Buttons below."""
        self._buttons = QHBoxLayout()
        self._buttons.setSpacing(4)
        for button in buttons:
            self._buttons.addWidget(button)
        self._buttons.addStretch(1)
        self.column.addLayout(self._buttons)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        low = self.height() < BESIDE_BELOW  # then the buttons stand beside, for the input to keep its height
        across, down = QBoxLayout.Direction.LeftToRight, QBoxLayout.Direction.TopToBottom
        self.column.setDirection(across if low else down)
        if self._buttons is not None:
            self._buttons.setDirection(down if low else across)


class ExampleInput(Input):
    """An example of the data: the one before, the one after, any."""

    def __init__(self, column: Column | None, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._shown = column
        self.index = 0
        self.view = ExampleView()
        self._draw = random.Random(0)
        self.column.addWidget(self.view, 1)
        back = small_button("←", "The example before this one", "tryPrevious")
        on = small_button("→", "The example after this one", "tryNext")
        any_ = small_button("Random", "Any example", "tryRandom")
        back.clicked.connect(self._back)
        on.clicked.connect(self._on)
        any_.clicked.connect(self._any)
        self.add_buttons(back, on, any_)

    def make(self, base: Row) -> Row | None:
        if not self.rows.count:
            return None
        row = self.rows.row(self.index)
        self.view.show_row(row, self._shown)
        return row

    def said(self) -> str:
        return f"{self.rows.split} example {self.index + 1:,} of {self.rows.count:,}"

    def go(self, index: int) -> None:
        """Take another example; beyond the last comes the first."""
        self.index = index % max(1, self.rows.count)
        self.changed.emit()

    def _back(self) -> None:
        self.go(self.index - 1)

    def _on(self) -> None:
        self.go(self.index + 1)

    def _any(self) -> None:
        self.go(self._draw.randrange(max(1, self.rows.count)))


class PadInput(Input):
    """A drawing, brought to the size and place that the data have."""

    def __init__(self, column: Column, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._for = column
        self.pad = Pad()
        self.pad.drawn.connect(self.changed)
        self.column.addWidget(self.pad, 1)
        self._erase = small_button(
            "Erase", "Draw with the eraser; the right button does the other", "tryErase"
        )
        self._erase.setCheckable(True)
        self._erase.toggled.connect(self._erasing)
        clear = small_button("Clear", "Remove the drawing", "tryClear")
        clear.clicked.connect(self.pad.clear)
        self.add_buttons(self._erase, clear)

    @property
    def as_mnist(self) -> bool:
        """Whether the input has the size of MNIST's digits, and so is centred as they are."""
        return self._for.shape[1:] == (MNIST_SIDE, MNIST_SIDE)

    def make(self, base: Row) -> Row | None:
        _, height, width = self._for.shape
        box = float(MNIST_BOX if self.as_mnist else min(height, width))
        ink = centred(self.pad.ink(), height, width, box, by_mass=self.as_mnist)
        low, high = self.rows.reach(self._for.name)
        return {**base, self._for.name: (low + (high - low) * ink[None]).astype(np.float32)}

    def said(self) -> str:
        if self.as_mnist:
            return (
                "the drawing is scaled to 20 × 20 and centred by its mass in 28 × 28, as MNIST's digits are"
            )
        return f"the drawing is scaled to fill {self._for.shape[1]} × {self._for.shape[2]}"

    def _erasing(self, on: bool) -> None:
        self.pad.erasing = on


class FileInput(Input):
    """An image from a file, dropped or chosen, in the size, channels and range that the data have."""

    def __init__(self, column: Column, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._for = column
        self._image: QImage | None = None
        self._name = ""
        self.setAcceptDrops(True)
        self.view = Activations(table=GREY)
        self.view.say("Drop an image here, or choose one.")
        self.column.addWidget(self.view, 1)
        choose = small_button("Choose …", "Open an image", "tryChoose")
        choose.clicked.connect(self._choose)
        self.invert = QCheckBox("Invert")
        self.invert.setToolTip("Dark ink on light paper becomes light ink on dark")
        self.invert.toggled.connect(self.changed)
        self.add_buttons(choose, self.invert)

    def open(self, path: str) -> bool:
        """Take a file; False where it is no image."""
        image = QImage(path)
        if image.isNull():
            self.view.say("This file is not an image that can be read.")
            return False
        self._image, self._name = image, path.replace("\\", "/").rpartition("/")[2]
        self.changed.emit()
        return True

    def make(self, base: Row) -> Row | None:
        if self._image is None:
            return None
        channels, height, width = self._for.shape
        values = pixels(self._image, channels, height, width)
        if self.invert.isChecked():
            values = 1 - values
        low, high = self.rows.reach(self._for.name)
        made = (low + (high - low) * values).astype(np.float32)
        self.view.show_array(made.mean(axis=0, keepdims=True))
        return {**base, self._for.name: made}

    def said(self) -> str:
        return f"{self._name}, resized to {self._for.shape[1]} × {self._for.shape[2]}" if self._image else ""

    def _choose(self) -> None:
        path, _ = QFileDialog.getOpenFileName(self, "Open an image", "", IMAGE_FILES)
        if path:
            self.open(path)

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        if event.mimeData().hasUrls() and event.mimeData().urls()[0].isLocalFile():
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:
        event.acceptProposedAction()
        self.open(event.mimeData().urls()[0].toLocalFile())


def pixels(image: QImage, channels: int, height: int, width: int) -> NDArray[np.float32]:
    """A whole image as `(channels, height, width)` of 0..1; a single channel is its brightness."""
    form = QImage.Format.Format_Grayscale8 if channels == 1 else QImage.Format.Format_RGB888
    fill = Qt.AspectRatioMode.IgnoreAspectRatio
    # Resized before the colours go: Qt's smooth resizing takes means of what it covers.
    small = image.scaled(width, height, fill, Qt.TransformationMode.SmoothTransformation).convertToFormat(
        form
    )
    bits = np.frombuffer(small.constBits(), np.uint8).reshape(height, small.bytesPerLine())
    depth = 1 if channels == 1 else 3
    found = bits[:, : width * depth].reshape(height, width, depth).transpose(2, 0, 1)
    return found.astype(np.float32) / np.float32(255)


class NumberField(NumberEdit):
    """A number that is typed, or changed by Up and Down in fortieths of the range that the data have."""

    typed = Signal()

    def __init__(self, name: str, digits: int = 4, whole: bool = False) -> None:
        super().__init__()
        self.value = 0.0
        self._step, self._digits, self._whole = 0.1, digits, whole
        self.setProperty("role", "number")
        self.setAccessibleName(name)
        metrics = QFontMetrics(current_theme().mono(SMALL))
        self.setMinimumWidth(metrics.horizontalAdvance("8" * (digits + 5)) + 18)  # a number is never cut
        self.textEdited.connect(self._read)
        self.stepped.connect(self._by)

    def set_range(self, low: float, high: float) -> None:
        """What the data span; other numbers may be typed, too."""
        step = float(f"{((high - low) or 1.0) / 40:.1g}")
        self._step = max(1.0, round(step)) if self._whole else step
        self.setToolTip(f"in the data {low:.{self._digits}g} to {high:.{self._digits}g}")

    def set_value(self, value: float) -> None:
        """Show another number."""
        self.value = value
        self.setText(f"{value:.{self._digits}g}" if isfinite(value) else "")
        mark_bad(self, False)

    def _read(self, text: str) -> None:
        try:
            value = float(text.replace(",", "."))
        except ValueError:
            value = inf
        mark_bad(self, not isfinite(value))
        if isfinite(value) and value != self.value:
            self.value = value
            self.typed.emit()

    def _by(self, steps: int) -> None:
        self.set_value(round(self.value + steps * self._step, 10))
        self.typed.emit()


def mark_bad(field: QWidget, bad: bool) -> None:
    """Draws a field as one whose text can't be read, or again as usual."""
    if field.property("bad") != str(bad).lower():
        field.setProperty("bad", str(bad).lower())
        restyle(field)


def _name_label(name: str) -> QLabel:
    """A name in as many lines as it needs, or shortened where a word of it is too long for that."""
    short = all(len(word) <= LONGEST_WORD for word in name.split())
    named = WholeLabel(name, "small") if short else ElidedLabel(name, "small")
    named.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
    return named


def sloped(fields: Sequence[tuple[str, QWidget]], tip: str) -> tuple[QScrollArea, list[QLabel]]:
    """Fields below each other under their names, and beside each a place for a slope."""
    inside, slopes = QWidget(), []
    grid = QGridLayout(inside)
    grid.setContentsMargins(0, 0, 6, 0)
    grid.setVerticalSpacing(4)
    for line, (name, field) in enumerate(fields):
        field.setObjectName(f"tryNumber{line}")
        named = _name_label(name)
        slope = label("", "mono")
        slope.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        slope.setFixedWidth(64)
        slope.setToolTip(tip)
        for column, widget in enumerate((named, field, slope)):
            grid.addWidget(widget, line, column)
        slopes.append(slope)
    grid.setColumnStretch(0, 1)
    grid.setColumnStretch(1, 1)
    grid.setRowStretch(len(slopes), 1)
    scroll = QScrollArea()
    scroll.setWidgetResizable(True)
    scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
    scroll.setWidget(inside)
    return scroll, slopes


class NumbersInput(Input):
    """One field a feature, and beside it how fast the answer changes with it."""

    def __init__(
        self, features: Sequence[Feature], *, scaled: bool = False, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._features = tuple(features)
        self._scaled = scaled
        self.fields = [NumberField(feature.name) for feature in self._features]
        for field in self.fields:
            field.typed.connect(self.changed)
        named = [(feature.name, field) for feature, field in zip(features, self.fields, strict=True)]
        scroll, self.slopes = sloped(named, "Slope: how fast the answer changes with this feature")
        self.column.addWidget(scroll, 1)

    def take_rows(self, rows: Rows) -> None:
        super().take_rows(rows)
        for feature, field in zip(self._features, self.fields, strict=True):
            low, high = (
                float(end if feature.index is None else end[feature.index])
                for end in rows.span(feature.column)
            )
            field.set_range(low, high)

    def begin(self, row: Row) -> None:
        for feature, field in zip(self._features, self.fields, strict=True):
            value = row[feature.column] if feature.index is None else row[feature.column][feature.index]
            field.set_value(float(value))

    def make(self, base: Row) -> Row | None:
        made = {name: np.array(values) for name, values in base.items()}
        for feature, field in zip(self._features, self.fields, strict=True):
            if feature.index is None:
                made[feature.column] = np.asarray(field.value, made[feature.column].dtype)
            else:
                made[feature.column][feature.index] = field.value
        return made

    def said(self) -> str:
        return "scaled, as the network sees them" if self._scaled else ""

    def show_slopes(self, slopes: NDArray[np.floating] | None) -> None:
        """Write beside each field how fast the answer changes with it; `slopes` (k,) or None."""
        known = slopes is not None and len(slopes) == len(self.slopes)
        for index, place in enumerate(self.slopes):
            place.setText(signed(float(slopes[index])) if known and slopes is not None else "")


def signed(value: float) -> str:
    """A number with its sign."""
    told = number(value)
    return told if value < 0 else f"+{told}"


class TextInput(Input):
    """Text for a model of tokens, split as its data are: `typed` says what a row holds for a text.

    Where the data have not said yet, by the names of the tokens: characters, else words apart by spaces.
    """

    def __init__(
        self,
        column: Column,
        parent: QWidget | None = None,
        typed: Callable[[str, str], Row | None] | None = None,
    ) -> None:
        super().__init__(parent)
        self._for = column
        self._typed_as = typed
        self._said = ""
        self.unknown: tuple[str, ...] = ()
        self.field = QLineEdit()
        self.field.setObjectName("tryText")
        self.field.setPlaceholderText("type here")
        self.field.textEdited.connect(self._typed)
        self.column.addWidget(label("Text", "small"))
        self.column.addWidget(self.field)
        self.column.addStretch(1)

    def make(self, base: Row) -> Row | None:
        text = self.field.text()
        found = self._typed_as(self._for.name, text) if self._typed_as is not None and text else None
        if not text:
            self.unknown, self._said = (), ""
            return None
        if found is None:
            self._said = f"the last {self._for.shape[0]} tokens count; before them stands the example"
            return self._by_names(base)
        ids, length = np.asarray(found[self._for.name]), self._for.shape[0]
        missed = int((ids == UNKNOWN).sum())
        self.unknown = ()
        self._said = f"the first {length} tokens count"
        if set(found) == {self._for.name}:  # what is typed comes last: that is what a next token follows
            ids = np.concatenate([base[self._for.name], ids])[-length:]
            self._said = f"the last {length} tokens count; before them stands the example"
        if missed:
            self._said = f"{missed} unknown · {self._said}"
        made = {**found, self._for.name: ids}
        return {**base, **{name: np.asarray(made[name], base[name].dtype) for name in made if name in base}}

    def _by_names(self, base: Row) -> Row | None:
        tokens = {token: number for number, token in enumerate(self._for.classes)}
        plain = [token for token in tokens if not (token.startswith("[") and token.endswith("]"))]
        letters = all(len(token) == 1 for token in plain)
        words = list(self.field.text()) if letters else self.field.text().split()
        words = ["␣" if word == " " and "␣" in tokens else word for word in words]
        self.unknown = tuple(word for word in words if word not in tokens)
        length = self._for.shape[0]
        known = [tokens[word] for word in words if word in tokens][-length:]
        made = np.array(base[self._for.name])
        if known:  # what is typed comes last: that is what a next token follows
            made[length - len(known) :] = known
        return {**base, self._for.name: made} if known else None

    def said(self) -> str:
        more = f"unknown: {' '.join(self.unknown[:5])}" if self.unknown else ""
        return more or self._said or f"{self._for.shape[0]} tokens count"

    def _typed(self, text: str) -> None:
        self.changed.emit()
