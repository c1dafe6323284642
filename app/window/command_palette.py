"""Everything the window can do in one list that a few letters search: Ctrl+Shift+P, letters, Enter."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from PySide6.QtCore import QEvent, QModelIndex, QObject, QPersistentModelIndex, QPoint, QRectF, QSize, Qt
from PySide6.QtGui import QFontMetricsF, QKeyEvent, QPainter
from PySide6.QtWidgets import (
    QApplication,
    QFrame,
    QLineEdit,
    QListWidget,
    QListWidgetItem,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QVBoxLayout,
    QWidget,
)

from app.theme import SMALL, current_theme
from app.widgets.fuzzy import score
from app.widgets.typing import is_for_files
from app.window.in_front import Window

SIZE = QSize(560, 396)
ROW = 30
MOST_RECENT = 8
MOST_SHOWN = 60
RECENT_KEY = "commands/recent"

_HINT = Qt.ItemDataRole.UserRole
_ENTRY = Qt.ItemDataRole.UserRole + 1
_STEPS = {
    Qt.Key.Key_Down: 1,
    Qt.Key.Key_Up: -1,
    Qt.Key.Key_Tab: 1,
    Qt.Key.Key_Backtab: -1,
    Qt.Key.Key_PageDown: 10,
    Qt.Key.Key_PageUp: -10,
}


@dataclass(frozen=True)
class Entry:
    """One thing to do: `key` stands for it in the list of recent ones, `hint` is its shortcut or kind.

    `also` are words that find it as well.
    """

    key: str
    text: str
    run: Callable[[], object]
    hint: str = ""
    also: str = ""
    enabled: bool = True
    lasting: bool = True  # means the same in another project and another session


def ranked(entries: list[Entry], query: str, recent: list[str]) -> list[Entry]:
    """The entries that fit, best first, and among equals the recent ones first; what can't be done, last."""
    places = {key: place for place, key in enumerate(recent)}
    scored = []
    for index, entry in enumerate(entries):
        fit = score(query, entry.text, entry.also)
        if fit is not None:
            place = places.get(entry.key, MOST_RECENT)
            # Having been used lately outweighs a slightly better fit.
            worth = fit - (3 if place < MOST_RECENT and query.strip() else 0)
            # Of names that fit alike, the shorter is nearer to what was typed.
            length = len(entry.text) if query.strip() else 0
            scored.append(((not entry.enabled, worth, place, length, index), entry))
    scored.sort(key=lambda pair: pair[0])
    return [entry for _, entry in scored]


class CommandPalette(QFrame):
    """Opens over the window; Enter or a click runs an entry, Esc or a click elsewhere gives up.

    The focus goes back to where it was before anything is run, so that a command finds what it is meant for.
    """

    def __init__(self, window: Window, entries: Callable[[], list[Entry]]) -> None:
        super().__init__(window.central)
        self.setObjectName("commandPalette")
        self.setAccessibleName("Commands")
        self._window = window
        self._host = window.central
        self._find_entries = entries
        self._entries: list[Entry] = []
        self._before: QWidget | None = None
        self._room = SIZE.height()
        self.field = QLineEdit(self)
        self.field.setObjectName("commandField")
        self.field.setPlaceholderText("What do you want to do?")
        self.field.setAccessibleName("Search commands")
        self.list = QListWidget(self)
        self.list.setObjectName("commandList")
        self.list.setAccessibleName("Commands that fit")
        self.list.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.list.setItemDelegate(_Row(self.list))
        self.list.setUniformItemSizes(True)
        self.list.setFrameShape(QFrame.Shape.NoFrame)
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        column = QVBoxLayout(self)
        column.setContentsMargins(8, 8, 8, 8)
        column.setSpacing(6)
        column.addWidget(self.field)
        column.addWidget(self.list, 1)
        self.field.textChanged.connect(self._search)
        self.field.installEventFilter(self)
        self.list.itemClicked.connect(self._run)
        self.hide()

    def open(self) -> None:
        """Shows everything that can be done, what was done last at the top."""
        if self.isVisible():
            self.dismiss()
            return
        self._before = QApplication.focusWidget()
        self._entries = self._find_entries()
        self.field.clear()
        self._search("")
        room = SIZE.boundedTo(self._host.size() - QSize(16, 16))
        self.setFixedWidth(room.width())
        self._room = room.height()
        self._fit()
        self.move(QPoint((self._host.width() - self.width()) // 2, min(56, self._host.height() // 12)))
        self.show()
        self.raise_()
        self.field.setFocus(Qt.FocusReason.PopupFocusReason)

    def dismiss(self) -> None:
        """Closes without doing anything."""
        if not self.isVisible():
            return
        had_focus = self.field.hasFocus()
        before, self._before = self._before, None
        self._entries = []
        self.hide()
        if had_focus:
            target = before if before is not None and before.isVisible() else self._window.canvas
            target.setFocus(Qt.FocusReason.PopupFocusReason)

    def shown(self) -> list[str]:
        """The texts of the entries on show."""
        return [self.list.item(row).text() for row in range(self.list.count())]

    # -- searching --------------------------------------------------------------------------------

    def _recent(self) -> list[str]:
        return self._window.settings.texts(RECENT_KEY)

    def _search(self, text: str) -> None:
        self.list.clear()
        for entry in ranked(self._entries, text, self._recent())[:MOST_SHOWN]:
            item = QListWidgetItem(entry.text)
            item.setData(_HINT, entry.hint)
            item.setData(_ENTRY, entry.key)
            item.setData(Qt.ItemDataRole.AccessibleTextRole, f"{entry.text}, {entry.hint}".rstrip(", "))
            if not entry.enabled:
                item.setFlags(Qt.ItemFlag.NoItemFlags)
            self.list.addItem(item)
        self.list.setCurrentRow(0)
        self._fit()

    def _fit(self) -> None:
        """As high as what was found needs."""
        rows = max(1, self.list.count()) * ROW + 2
        around = self.field.sizeHint().height() + 24
        self.setFixedHeight(min(self._room, rows + around))

    def _run(self, item: QListWidgetItem | None) -> None:
        if item is None or not item.flags() & Qt.ItemFlag.ItemIsEnabled:
            return
        key = str(item.data(_ENTRY))
        entry = next(entry for entry in self._entries if entry.key == key)
        if entry.lasting:
            recent = [key, *(one for one in self._recent() if one != key)][:MOST_RECENT]
            self._window.settings.keep(RECENT_KEY, recent)
        self.dismiss()
        entry.run()

    # -- keys -------------------------------------------------------------------------------------

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if watched is self.field:
            if event.type() == QEvent.Type.ShortcutOverride and isinstance(event, QKeyEvent):
                if is_for_files(event):
                    return False
                event.accept()  # the window knows many of these keys, but here they are typing
                return True
            if event.type() == QEvent.Type.KeyPress and isinstance(event, QKeyEvent):
                return self._key(event)
            if event.type() == QEvent.Type.FocusOut:
                self.dismiss()
        return super().eventFilter(watched, event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        event.accept()  # what the field has no use for is not for the window either

    def _key(self, event: QKeyEvent) -> bool:
        key = Qt.Key(event.key())
        control = bool(event.modifiers() & Qt.KeyboardModifier.ControlModifier)
        if key == Qt.Key.Key_Escape:
            self.dismiss()
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self._run(self.list.currentItem())
        elif key in _STEPS and not control:
            last = self.list.count() - 1
            self.list.setCurrentRow(max(0, min(last, self.list.currentRow() + _STEPS[key])))
        elif key == Qt.Key.Key_P and control:
            self.dismiss()
        else:
            return False
        return True


class _Row(QStyledItemDelegate):
    """A row: what it does, and at the right its shortcut or what kind of thing it is."""

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        theme = current_theme()
        rect = QRectF(option.rect)
        chosen = bool(option.state & QStyle.StateFlag.State_Selected)
        enabled = bool(option.state & QStyle.StateFlag.State_Enabled)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if chosen:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(theme.selection)
            painter.drawRoundedRect(rect.adjusted(0, 1, 0, -1), 5, 5)
        inner = rect.adjusted(10, 0, -10, 0)
        hint = str(index.data(_HINT) or "")
        small = theme.font(SMALL)
        painter.setFont(small)
        painter.setPen(theme.dim if chosen else theme.hint)
        middle = Qt.AlignmentFlag.AlignVCenter
        painter.drawText(inner, middle | Qt.AlignmentFlag.AlignRight, hint)
        room = inner.width() - QFontMetricsF(small).horizontalAdvance(hint) - 16
        font = theme.font()
        text = QFontMetricsF(font).elidedText(str(index.data()), Qt.TextElideMode.ElideRight, room)
        painter.setFont(font)
        painter.setPen(theme.text if enabled else theme.faint)
        painter.drawText(inner, middle | Qt.AlignmentFlag.AlignLeft, text)
        painter.restore()

    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> QSize:
        return QSize(0, ROW)
