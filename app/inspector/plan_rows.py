"""The editor's lists of phases and of objectives: rows to pick, copy, move and take away."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRect, QSignalBlocker, QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent, QPainter
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHBoxLayout,
    QListWidget,
    QListWidgetItem,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QVBoxLayout,
    QWidget,
)

from app.inspector.plan_fields import AddButton, Tool, heading
from app.theme import SMALL, current_theme
from app.widgets.labels import plain

ROW_HEIGHT = 28
MOST_SHOWN = 6
Row = tuple[str, str]  # name, what is told of it


class _Delegate(QStyledItemDelegate):
    """A name, and at the right what is told of it."""

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        theme = current_theme()
        name, told = index.data(Qt.ItemDataRole.UserRole)
        rect = QRect(option.rect)
        state = option.state
        here = bool(state & QStyle.StateFlag.State_Selected)
        focused = bool(state & QStyle.StateFlag.State_HasFocus)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if here:
            painter.setPen(theme.accent if focused else Qt.PenStyle.NoPen)
            painter.setBrush(theme.selection)
            painter.drawRoundedRect(rect.adjusted(0, 1, -1, -2), 5, 5)
        area = rect.adjusted(8, 0, -8, 0)
        side = Qt.AlignmentFlag
        painter.setFont(theme.font(bold=here))
        metrics = painter.fontMetrics()
        room = area.width()
        wanted = min(metrics.horizontalAdvance(name), room * 3 // 5 if told else room)
        painter.setPen(theme.text)
        shown = metrics.elidedText(name, Qt.TextElideMode.ElideRight, wanted + 1)
        painter.drawText(area, side.AlignVCenter | side.AlignLeft, shown)
        painter.setFont(theme.font(SMALL))
        painter.setPen(theme.dim)
        shown = painter.fontMetrics().elidedText(told, Qt.TextElideMode.ElideRight, room - wanted - 12)
        painter.drawText(area, side.AlignVCenter | side.AlignRight, shown)
        painter.restore()

    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> QSize:
        return QSize(100, ROW_HEIGHT)


class _List(QListWidget):
    """Del takes a row away, Alt with Up or Down moves it."""

    removal_wanted = Signal()
    move_wanted = Signal(int)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key, alt = event.key(), bool(event.modifiers() & Qt.KeyboardModifier.AltModifier)
        if key in (Qt.Key.Key_Delete, Qt.Key.Key_Backspace):
            self.removal_wanted.emit()
        elif alt and key in (Qt.Key.Key_Up, Qt.Key.Key_Down):
            self.move_wanted.emit(-1 if key == Qt.Key.Key_Up else 1)
        elif key == Qt.Key.Key_Escape:
            event.ignore()
        else:
            super().keyPressEvent(event)


class RowList(QWidget):
    """A heading with buttons, and the rows."""

    picked = Signal(int)
    added = Signal(str)  # key of what was picked in the list behind "Add", "" where there is none
    duplicated = Signal()
    removed = Signal()
    moved = Signal(int)

    def __init__(self, name: str, title: str, one: str, entries: Mapping[str, str] | None = None) -> None:
        """`one` is what a row is in words: "phase"; `entries` are kinds of them to choose from."""
        super().__init__()
        self.rows: tuple[Row, ...] = ()
        self.list = _List()
        self.list.setObjectName(name)
        self.list.setAccessibleName(title)
        self.list.setItemDelegate(_Delegate(self.list))
        self.list.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.list.setTabKeyNavigation(False)
        self.list.currentRowChanged.connect(self._picked)
        self.list.itemClicked.connect(self._clicked)
        self.list.removal_wanted.connect(self.removed)
        self.list.move_wanted.connect(self.moved)
        self.copy = Tool("copy", f"Duplicate {one}", f"{name}_copy")
        self.copy.clicked.connect(self.duplicated)
        self.up = Tool("chevron-up", f"Move {one} up (Alt+Up)", f"{name}_up")
        self.up.clicked.connect(self._up)
        self.down = Tool("chevron", f"Move {one} down (Alt+Down)", f"{name}_down")
        self.down.clicked.connect(self._down)
        self.remove = Tool("close", f"Remove {one} (Del)", f"{name}_remove")
        self.remove.clicked.connect(self.removed)
        self.add = AddButton(f"Add {one}", lambda: entries or {}, f"{name}_add")
        self.add.picked.connect(self.added)
        if entries is None:
            self.add.clicked.disconnect()
            self.add.clicked.connect(self._add)
        self._lay_out(title)

    def _lay_out(self, title: str) -> None:
        head = QHBoxLayout()
        head.setSpacing(0)
        head.addWidget(heading(title), 1)
        for button in (self.copy, self.up, self.down, self.remove):
            head.addWidget(button)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(2)
        column.addLayout(head)
        column.addWidget(self.list)
        column.addWidget(self.add, 0, Qt.AlignmentFlag.AlignLeft)

    def show_rows(self, rows: Sequence[Row], current: int) -> None:
        with QSignalBlocker(self.list):
            if tuple(rows) != self.rows:
                self.rows = tuple(rows)
                self._fill()
            self.list.setCurrentRow(current)
        several = len(rows) > 1
        for button, on in (
            (self.up, current > 0),
            (self.down, current < len(rows) - 1),
            (self.remove, several),
        ):
            button.setEnabled(on)
        for button in (self.up, self.down, self.remove):
            button.setVisible(several)

    def _fill(self) -> None:
        while self.list.count() > len(self.rows):
            self.list.takeItem(self.list.count() - 1)
        while self.list.count() < len(self.rows):
            self.list.addItem(QListWidgetItem())
        for place, (name, told) in enumerate(self.rows):
            item = self.list.item(place)
            item.setText(name)
            item.setData(Qt.ItemDataRole.UserRole, (name, told))
            item.setData(Qt.ItemDataRole.AccessibleTextRole, f"{name}, {told}" if told else name)
            item.setToolTip(plain(f"{name} · {told}" if told else name))
        self.list.setFixedHeight(ROW_HEIGHT * min(MOST_SHOWN, len(self.rows)) + 2)

    def _clicked(self, item: QListWidgetItem) -> None:
        """The one on show is chosen by a click, too."""
        self._picked(self.list.row(item))

    def _picked(self, row: int) -> None:
        if row >= 0:
            self.picked.emit(row)

    def _add(self) -> None:
        self.added.emit("")

    def _up(self) -> None:
        self.moved.emit(-1)

    def _down(self) -> None:
        self.moved.emit(1)
