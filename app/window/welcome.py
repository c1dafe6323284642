"""The welcome page: start something new, go on with something old, or open an example."""

from __future__ import annotations

import json
import logging
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPainterPath,
    QPaintEvent,
    QPen,
    QResizeEvent,
)
from PySide6.QtWidgets import (
    QFrame,
    QGridLayout,
    QHBoxLayout,
    QPushButton,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from app.theme import current_theme, themes
from app.widgets.labels import ElidedLabel, label
from app.workspace.recent_files import RecentFiles
from engine.catalogue import Catalogue

log = logging.getLogger(__name__)

FIRST = ("mnist-cnn", "two-spirals", "iris", "gan-digits", "santa-fe-lstm", "mnist-mlp")

_CARD = QSize(252, 196)
_WIDEST = 1072
_MOST_RECENT = 6


@dataclass(frozen=True)
class Example:
    """What a card shows of a project of the gallery: `places` and `types` are by node id."""

    path: Path
    title: str
    notes: str
    covers: tuple[str, ...]
    places: dict[str, tuple[float, float]]
    types: dict[str, str]
    links: tuple[tuple[str, str], ...]

    @property
    def line(self) -> str:
        """The first sentence of its notes."""
        words = [line.strip() for line in self.notes.splitlines()]
        text = next((line for line in words if line and not line.startswith("#")), "")
        sentence = text.partition(". ")[0]
        return sentence if not sentence or sentence[-1] in ".?!" else f"{sentence}."


def example_path(example_id: str) -> Path:
    """Where the example called `example_id` is installed, if there is one."""
    return Path(str(files("resources").joinpath("gallery"))) / f"{example_id}.nloom"


def examples() -> list[Example]:
    """The gallery that is installed, the easiest ways in first.

    A project that cannot be read is left out, and logged.
    """
    found = []
    for path in sorted(example_path("").parent.glob("*.nloom"), key=_rank):
        try:
            found.append(_read(path))
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            log.exception("The example %s cannot be read", path.name)
    return found


def _rank(path: Path) -> tuple[int, str]:
    name = path.stem
    return (FIRST.index(name) if name in FIRST else len(FIRST)), name


def _read(path: Path) -> Example:
    # Not opened as a project: checking the graph would load networkx, a fifth of a second of the start.
    data = json.loads(path.read_text(encoding="utf-8"))
    nodes = data["nodes"]
    return Example(
        path,
        str(data["title"]),
        str(data["notes"]),
        tuple(str(row) for row in data.get("covers", ())),
        {node["id"]: (float(node["position"][0]), float(node["position"][1])) for node in nodes},
        {node["id"]: str(node["type"]) for node in nodes},
        tuple((link[0], link[2]) for link in data["links"]),
    )


class GraphPreview(QWidget):
    """A small drawing of a graph, from the positions of its nodes."""

    def __init__(self, example: Example, catalogue: Catalogue, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setFixedHeight(88)
        self._nodes = {node_id: QPointF(*place) for node_id, place in example.places.items()}
        types = {node_id: catalogue.get(type_id) for node_id, type_id in example.types.items()}
        self._families = {node_id: found.family if found else "other" for node_id, found in types.items()}
        self._links = example.links

    def paintEvent(self, event: QPaintEvent) -> None:
        if not self._nodes:
            return
        theme = current_theme()
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(theme.canvas)
        painter.drawRoundedRect(self.rect(), 5, 5)
        places = self._places()
        size = QSize(16, 10)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(theme.wire, 1.2))
        for source, target in self._links:
            start = places[source] + QPointF(size.width() / 2, 0)
            end = places[target] - QPointF(size.width() / 2, 0)
            bend = max(8.0, abs(end.x() - start.x()) / 2)
            path = QPainterPath(start)
            path.cubicTo(start + QPointF(bend, 0), end - QPointF(bend, 0), end)
            painter.drawPath(path)
        painter.setPen(Qt.PenStyle.NoPen)
        for node_id, place in places.items():
            painter.setBrush(theme.family(self._families[node_id]))
            box = QRectF(
                place.x() - size.width() / 2, place.y() - size.height() / 2, size.width(), size.height()
            )
            painter.drawRoundedRect(box, 3, 3)
        painter.end()

    def _places(self) -> dict[str, QPointF]:
        xs = [place.x() for place in self._nodes.values()]
        ys = [place.y() for place in self._nodes.values()]
        width, height = max(xs) - min(xs), max(ys) - min(ys)
        room = QRectF(self.rect()).adjusted(20, 16, -20, -16)
        scale = min(room.width() / max(width, 1.0), room.height() / max(height, 1.0), 0.25)
        middle = QPointF((max(xs) + min(xs)) / 2, (max(ys) + min(ys)) / 2)
        return {node_id: (place - middle) * scale + room.center() for node_id, place in self._nodes.items()}


class Card(QFrame):
    """One example: its drawing, title and first sentence. Click or Enter opens it."""

    chosen = Signal(object)

    def __init__(self, example: Example, catalogue: Catalogue, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.example = example
        self.setObjectName("card")
        self.setAccessibleName(f"Example {example.title}")
        self.setAccessibleDescription(example.line)
        self.setFixedSize(_CARD)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        title = ElidedLabel(example.title, "heading")
        line = label(example.line, "small", wrap=True)
        line.setAlignment(Qt.AlignmentFlag.AlignTop)
        column = QVBoxLayout(self)
        column.setContentsMargins(12, 12, 12, 10)
        column.setSpacing(6)
        column.addWidget(GraphPreview(example, catalogue))
        column.addWidget(title)
        column.addWidget(line, 1)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton and self.rect().contains(event.position().toPoint()):
            self.chosen.emit(self.example.path)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space):
            self.chosen.emit(self.example.path)
        else:
            super().keyPressEvent(event)


class WelcomePage(QWidget):
    """New and Open, recent files, and the gallery as cards."""

    new_requested = Signal()
    open_requested = Signal()
    data_requested = Signal()
    recent_chosen = Signal(object)
    example_chosen = Signal(object)

    def __init__(self, catalogue: Catalogue, recent: RecentFiles, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("welcome")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self._files = recent
        self._page = QWidget()
        self._page.setObjectName("welcomePage")
        self._page.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self._cards = [Card(example, catalogue) for example in examples()]
        for card in self._cards:
            card.chosen.connect(self.example_chosen)
        self._grid = QGridLayout()
        self._grid.setSpacing(16)
        self._grid.setAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignTop)
        self._columns = 0
        self._recent = QVBoxLayout()
        self._recent.setSpacing(2)
        self._recent_title = label("Recent", "heading")
        self._build()
        area = QScrollArea()
        area.setWidgetResizable(True)
        area.setFrameShape(QFrame.Shape.NoFrame)
        area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        area.setWidget(self._page)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(area)
        recent.changed.connect(self._show_recent)
        themes.theme_changed.connect(self._repaint)
        self._show_recent()

    def _build(self) -> None:
        title = label("Neuroloom", "display")
        line = label("Draw a neural network, watch it learn, take the Python with you.", "dim")
        new = QPushButton("New project")
        new.setObjectName("welcomeNew")
        new.setProperty("kind", "main")
        new.clicked.connect(self.new_requested)
        browse = QPushButton("Open…")
        browse.setObjectName("welcomeOpen")
        browse.clicked.connect(self.open_requested)
        data = QPushButton("Open data…")
        data.setObjectName("welcomeData")
        data.setToolTip(
            "Begin with a file of your own: a table, images, arrays, text; a folder may be dropped here"
        )
        data.clicked.connect(self.data_requested)
        buttons = QHBoxLayout()
        buttons.setSpacing(8)
        buttons.addWidget(new)
        buttons.addWidget(browse)
        buttons.addWidget(data)
        buttons.addStretch(1)
        inner = QVBoxLayout()
        inner.setSpacing(0)
        inner.addSpacing(44)
        inner.addWidget(title)
        inner.addSpacing(4)
        inner.addWidget(line)
        inner.addSpacing(20)
        inner.addLayout(buttons)
        inner.addSpacing(32)
        inner.addWidget(label("Examples", "heading"))
        inner.addSpacing(10)
        inner.addLayout(self._grid)
        inner.addSpacing(28)
        inner.addWidget(self._recent_title)
        inner.addSpacing(6)
        inner.addLayout(self._recent)
        inner.addSpacing(32)
        inner.addStretch(1)
        self._row = QHBoxLayout(self._page)
        self._row.setContentsMargins(32, 0, 32, 0)
        self._row.addStretch(1)
        self._row.addLayout(inner, 0)
        self._row.addStretch(1)

    def cards(self) -> list[Card]:
        """The examples on show."""
        return self._cards

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        room = min(self.width() - 64, _WIDEST)
        columns = max(1, (room + 16) // (_CARD.width() + 16))
        if columns != self._columns:
            self._columns = columns
            for index, card in enumerate(self._cards):
                self._grid.addWidget(card, index // columns, index % columns)

    def _show_recent(self) -> None:
        while (item := self._recent.takeAt(0)) is not None:
            widget = item.widget()
            if widget is not None:
                widget.hide()
                widget.deleteLater()
        paths = self._files.paths()[:_MOST_RECENT]
        self._recent_title.setVisible(bool(paths))
        for path in paths:
            row = RecentRow(path)
            row.chosen.connect(self.recent_chosen)
            self._recent.addWidget(row)

    def _repaint(self, _theme: object) -> None:
        self.update()


class RecentRow(QWidget):
    """A recent file: its name opens it, its folder stands beside."""

    chosen = Signal(object)

    def __init__(self, path: Path, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._path = path
        button = QPushButton(path.name)
        button.setProperty("kind", "link")
        button.setObjectName("recentFile")
        button.setCursor(Qt.CursorShape.PointingHandCursor)
        button.clicked.connect(self._choose)
        folder = ElidedLabel(str(path.parent), "small")
        folder.elide_middle()
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(12)
        row.addWidget(button)
        row.addWidget(folder, 1)

    def _choose(self) -> None:
        self.chosen.emit(self._path)
