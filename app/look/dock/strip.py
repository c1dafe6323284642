"""The head of the views dock: views for the selected node, more of them, and which example is shown."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QPoint, QSize, Qt, Signal
from PySide6.QtGui import QAction, QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QMenu, QPushButton, QSizePolicy, QToolButton, QWidget

from app.look.base import Subject, ViewKind
from app.look.registry import GROUPS, proposed
from app.theme import current_theme, themes
from app.widgets.icons import icon
from app.widgets.labels import ElidedLabel, label

HEIGHT = 22
_GAP = 4


class Chips(QWidget):
    """One small switch a view; those that have no room wait behind a last one that counts them."""

    toggled = Signal(str, bool)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._kinds: tuple[ViewKind, ...] = ()
        self._shown: frozenset[str] = frozenset()
        self._chips: list[QToolButton] = []
        self._more = self._chip("")
        self._more.clicked.connect(self._offer_more)
        self.setFixedHeight(HEIGHT)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)

    def show_kinds(self, kinds: Sequence[ViewKind], shown: frozenset[str]) -> None:
        """Offers these kinds; those in `shown` are pressed."""
        if tuple(kinds) == self._kinds:
            if shown != self._shown:
                self._shown = shown
                for kind, chip in zip(self._kinds, self._chips, strict=True):
                    chip.setChecked(kind.id in shown)
            return
        for chip in self._chips:
            chip.hide()
            chip.deleteLater()
        self._kinds, self._shown = tuple(kinds), shown
        self._chips = []
        for kind in kinds:
            chip = self._chip(kind.title)
            chip.setObjectName(f"chip_{kind.id}")
            chip.setCheckable(True)
            chip.setChecked(kind.id in shown)
            chip.setToolTip(kind.about)
            chip.setProperty("view", kind.id)
            chip.clicked.connect(self._clicked)
            self._chips.append(chip)
        self._arrange()

    def sizeHint(self) -> QSize:
        return QSize(200, HEIGHT)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._arrange()

    def _chip(self, text: str) -> QToolButton:
        made = QToolButton(self)
        made.setProperty("kind", "chip")
        made.setText(text)
        made.setFixedHeight(HEIGHT)
        made.setCursor(Qt.CursorShape.PointingHandCursor)
        return made

    def _arrange(self) -> None:
        widths = [chip.sizeHint().width() for chip in self._chips]
        count = len(widths)
        if sum(widths) + _GAP * (count - 1) > self.width():
            room = self.width() - self._more_width(count)
            while count and sum(widths[:count]) + _GAP * count > room:
                count -= 1
        x = 0
        for index, chip in enumerate(self._chips):
            if index < count:
                chip.setGeometry(x, 0, widths[index], HEIGHT)
                x += widths[index] + _GAP
            chip.setVisible(index < count)
        rest = len(self._chips) - count
        self._more.setVisible(bool(rest))
        if rest:
            self._more.setText(f"+{rest}")
            self._more.setToolTip("More views for this node")
            self._more.setAccessibleName(f"{rest} more views for this node")
            self._more.setGeometry(x, 0, self._more.sizeHint().width(), HEIGHT)

    def _more_width(self, count: int) -> int:
        self._more.setText(f"+{count}")
        return self._more.sizeHint().width()

    def _offer_more(self) -> None:
        menu = QMenu(self)
        menu.setToolTipsVisible(True)
        hidden = [kind for kind, chip in zip(self._kinds, self._chips, strict=True) if chip.isHidden()]
        for kind in hidden:
            action = menu.addAction(kind.title)
            action.setCheckable(True)
            action.setChecked(kind.id in self._shown)
            action.setToolTip(kind.about)
            action.setData(kind.id)
        menu.triggered.connect(self._picked)
        menu.aboutToHide.connect(menu.deleteLater)
        menu.popup(self._more.mapToGlobal(QPoint(0, HEIGHT)))

    def _picked(self, action: QAction) -> None:
        self.toggled.emit(action.data(), action.isChecked())

    def _clicked(self, checked: bool) -> None:
        self.toggled.emit(str(self.sender().property("view")), checked)


class Strip(QWidget):
    """One row over the cards."""

    example_wanted = Signal(int)  # the one before (-1) or after (1)
    kind_toggled = Signal(str, bool)
    added = Signal(str, bool)  # a kind to pin, of the whole model or of the selected node
    menu_wanted = Signal(QPoint)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._subject: Subject | None = None
        self.title = ElidedLabel("", "heading")
        self.title.setObjectName("viewsTitle")
        self.title.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Preferred)
        self.hint = label("Select a node for its views", "small")
        self.chips = Chips()
        self.chips.toggled.connect(self.kind_toggled)
        self.example = label("", "small")
        self.example.setObjectName("viewsExample")
        self.back = self._small("previousExample", "Previous", "The example before this one", -1)
        self.forward = self._small("nextExample", "Next", "Send the next example through", 1)
        self.add = QToolButton()
        self.add.setObjectName("addView")
        self.add.setProperty("kind", "chip")
        self.add.setText("Add a view…")
        self.add.setToolTip("Views of the selected node and of the whole model, to pin")
        self.add.setFixedHeight(HEIGHT)
        self.add.clicked.connect(self._offer)
        self.more = QToolButton()
        self.more.setObjectName("viewsMenu")
        self.more.setProperty("kind", "icon")
        self.more.setFixedSize(HEIGHT, HEIGHT)
        self.more.setToolTip("More: replay a run, what is recorded, a window of its own")
        self.more.setAccessibleName("More about the views")
        self.more.clicked.connect(self._ask_menu)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(8)
        row.addWidget(self.title)
        row.addWidget(self.hint)
        row.addWidget(self.chips, 1)
        row.addWidget(self.example)
        pair = QHBoxLayout()
        pair.setSpacing(2)
        pair.addWidget(self.back)
        pair.addWidget(self.forward)
        row.addLayout(pair)
        row.addWidget(self.add)
        row.addWidget(self.more)
        themes.theme_changed.connect(self._dress)
        self._dress()

    def _small(self, name: str, text: str, tip: str, way: int) -> QPushButton:
        made = QPushButton(text)
        made.setObjectName(name)
        made.setProperty("kind", "small")
        made.setFixedHeight(HEIGHT)
        made.setToolTip(tip)
        made.setAccessibleName(tip)
        made.clicked.connect(self._before if way < 0 else self._after)
        return made

    def show_subject(
        self, subject: Subject | None, title: str, kinds: Sequence[ViewKind], shown: frozenset[str]
    ) -> None:
        """Offers what fits the selected node."""
        self._subject = subject
        if title != self.title.text():
            self.title.setText(title)
        if self.hint.isHidden() != bool(title):
            self.hint.setVisible(not title)
        self.title.setVisible(bool(title))
        self.chips.show_kinds(kinds, shown)

    def show_example(self, example: int | None, split: str = "validation") -> None:
        """Says which example of a split is sent through; None for none."""
        words = f"{split} example {example + 1}" if example is not None else ""
        if words != self.example.text():
            self.example.setText(words)
        for button, on in ((self.forward, example is not None), (self.back, bool(example))):
            if button.isEnabled() != on:
                button.setEnabled(on)
            if button.isHidden() == (example is not None):
                button.setVisible(example is not None)

    def _before(self) -> None:
        self.example_wanted.emit(-1)

    def _after(self) -> None:
        self.example_wanted.emit(1)

    def _ask_menu(self) -> None:
        self.menu_wanted.emit(self.more.mapToGlobal(QPoint(0, HEIGHT)))

    def menu(self, whole: Subject) -> QMenu:
        """Every kind that fits, by group; those of the whole model come after those of the node."""
        menu = QMenu(self)
        menu.setToolTipsVisible(True)
        if self._subject is not None:
            self._list(menu, f"Of {self.title.text()}", proposed(self._subject), whole=False)
        self._list(menu, "Of the whole model", proposed(whole), whole=True)
        if menu.isEmpty():
            menu.addAction("Nothing fits yet: add data and layers first").setEnabled(False)
        return menu

    def _list(self, menu: QMenu, title: str, kinds: Sequence[ViewKind], *, whole: bool) -> None:
        if not kinds:
            return
        head = menu.addAction(title)
        head.setEnabled(False)
        for group in GROUPS:
            inside = [kind for kind in kinds if kind.group == group]
            if not inside:
                continue
            part = menu.addMenu(group)
            part.setToolTipsVisible(True)
            for kind in inside:
                action = part.addAction(kind.title)
                action.setToolTip(kind.about)
                action.setData((kind.id, whole))
        menu.addSeparator()

    def _offer(self) -> None:
        assert self._whole is not None
        menu = self.menu(self._whole)
        menu.triggered.connect(self._chosen)
        menu.aboutToHide.connect(menu.deleteLater)
        menu.popup(self.add.mapToGlobal(QPoint(0, HEIGHT)))

    _whole: Subject | None = None

    def set_whole(self, whole: Subject) -> None:
        """What views of the whole model are of."""
        self._whole = whole

    def _chosen(self, action: QAction) -> None:
        data = action.data()
        if data:
            self.added.emit(data[0], bool(data[1]))

    def _dress(self, _theme: object = None) -> None:
        self.more.setIcon(icon("menu", current_theme().dim, 14))
