"""The welcome page: start something new, go on with something old, or open an example."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QMouseEvent, QResizeEvent
from PySide6.QtWidgets import (
    QFrame,
    QGridLayout,
    QHBoxLayout,
    QPushButton,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from app.theme import themes
from app.widgets.fuzzy import score
from app.widgets.labels import ElidedLabel, label
from app.widgets.search_field import SearchField
from app.widgets.segments import Segments
from app.window.example_card import CARD, Card
from app.window.gallery import OTHERS, contents, examples
from app.workspace.recent_files import RecentFiles
from engine.catalogue import Catalogue

EVERY_LEVEL = ""

_GAP = 16
_WIDEST = 4 * CARD.width() + 3 * _GAP
_MOST_RECENT = 4


class Section(QWidget):
    """The cards of one topic below its title, as many in a row as there is room for."""

    def __init__(self, title: str, cards: list[Card], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.cards = cards
        self._grid = QGridLayout()
        self._grid.setSpacing(_GAP)
        self._grid.setAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignTop)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 24)
        column.setSpacing(8)
        column.addWidget(label(title, "dim"))
        column.addLayout(self._grid)
        for card in cards:
            card.setParent(self)

    def show_only(self, fitting: set[Card], columns: int) -> None:
        """Lays out the cards that fit, `columns` in a row; hides itself where none does."""
        shown = [card for card in self.cards if card in fitting]
        for card in self.cards:
            self._grid.removeWidget(card)
            card.setVisible(card in fitting)
        for index, card in enumerate(shown):
            self._grid.addWidget(card, index // columns, index % columns)
        self.setVisible(bool(shown))


class WelcomePage(QWidget):
    """New and Open, recent files, and the gallery as cards by topic, with a search and a choice of level."""

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
        listed = contents()
        self._sections = [
            Section(topic, cards)
            for topic in (*listed.topics, OTHERS)
            if (cards := [card for card in self._cards if card.example.topic == topic])
        ]
        self.search = SearchField("Search examples")
        self.search.setObjectName("exampleSearch")
        self.search.setFixedWidth(CARD.width())
        self.search.textChanged.connect(self._show_fitting)
        self.levels = Segments(
            [
                (EVERY_LEVEL, "All", "Examples of every level"),
                *((level, level, f"Only examples of the level “{level}”") for level in listed.levels),
            ]
        )
        self.levels.setObjectName("exampleLevels")
        self.levels.chosen.connect(self._show_fitting)
        self._none = label("No example fits.", "dim")
        self._none.hide()
        self._columns = 1
        self._recents = QWidget()
        self._recent = QGridLayout()
        self._recent.setHorizontalSpacing(_GAP)
        self._recent.setVerticalSpacing(8)
        self._recent.setAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignTop)
        recents = QVBoxLayout(self._recents)
        recents.setContentsMargins(0, 0, 0, 28)
        recents.setSpacing(10)
        recents.addWidget(label("Recent", "heading"))
        recents.addLayout(self._recent)
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
        self._show_fitting()
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
        for button in (new, browse, data):
            buttons.addWidget(button)
        buttons.addStretch(1)
        finding = QHBoxLayout()
        finding.setSpacing(_GAP)
        finding.addWidget(label("Examples", "heading"))
        finding.addWidget(self.levels)
        finding.addStretch(1)
        finding.addWidget(self.search)
        inner = QVBoxLayout()
        inner.setSpacing(0)
        inner.addSpacing(36)
        inner.addWidget(title)
        inner.addSpacing(4)
        inner.addWidget(line)
        inner.addSpacing(20)
        inner.addLayout(buttons)
        inner.addSpacing(28)
        inner.addWidget(self._recents)
        inner.addLayout(finding)
        inner.addSpacing(12)
        inner.addWidget(self._none)
        for section in self._sections:
            inner.addWidget(section)
        inner.addStretch(1)
        self._row = QHBoxLayout(self._page)
        self._row.setContentsMargins(32, 0, 32, 0)
        self._row.addStretch(1)
        self._row.addLayout(inner, 0)
        self._row.addStretch(1)

    def cards(self) -> list[Card]:
        """All examples, also those that the search hides."""
        return self._cards

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        room = min(self.width() - 64, _WIDEST)
        columns = max(1, (room + _GAP) // (CARD.width() + _GAP))
        if columns != self._columns:
            self._columns = columns
            self._show_fitting()
            self._show_recent()

    def _show_fitting(self) -> None:
        fitting = {card for card in self._cards if self._fits(card)}
        for section in self._sections:
            section.show_only(fitting, self._columns)
        self._none.setVisible(not fitting)

    def _fits(self, card: Card) -> bool:
        example = card.example
        if self.levels.key not in (EVERY_LEVEL, example.level):
            return False
        also = " ".join((example.topic, *example.covers, example.notes))
        typed = self.search.text().casefold().split()
        words = f"{example.title} {also}".casefold()
        return all(word in words for word in typed) or score(self.search.text(), example.title) is not None

    def _show_recent(self) -> None:
        while (item := self._recent.takeAt(0)) is not None:
            widget = item.widget()
            if widget is not None:
                widget.hide()
                widget.deleteLater()
        paths = self._files.paths()[:_MOST_RECENT]
        self._recents.setVisible(bool(paths))
        for index, path in enumerate(paths):
            tile = RecentTile(path)
            tile.chosen.connect(self.recent_chosen)
            self._recent.addWidget(tile, index // self._columns, index % self._columns)

    def _repaint(self, _theme: object) -> None:
        self.update()


class RecentTile(QFrame):
    """A recent file: a click opens it; its folder stands below its name."""

    chosen = Signal(object)

    def __init__(self, path: Path, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._path = path
        self.setObjectName("card")
        self.setFixedWidth(CARD.width())
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        button = QPushButton(path.name)
        button.setProperty("kind", "link")
        button.setObjectName("recentFile")
        button.clicked.connect(self._choose)
        folder = ElidedLabel(str(path.parent), "small")
        folder.elide_middle()
        column = QVBoxLayout(self)
        column.setContentsMargins(12, 6, 12, 8)
        column.setSpacing(0)
        column.addWidget(button)
        column.addWidget(folder)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton and self.rect().contains(event.position().toPoint()):
            self._choose()

    def _choose(self) -> None:
        self.chosen.emit(self._path)
