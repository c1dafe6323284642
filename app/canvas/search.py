"""The popup that finds a node type by a few letters and adds it."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QEvent, QModelIndex, QObject, QPersistentModelIndex, QPoint, QRectF, QSize, Qt
from PySide6.QtGui import QFontMetricsF, QKeyEvent, QPainter
from PySide6.QtWidgets import (
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

from app.canvas.overlay import kept_inside
from app.theme import SMALL, current_theme
from app.widgets.labels import label
from app.widgets.typing import is_for_files
from app.workspace.block_library import Drawn, Kept, Placeable
from engine.catalogue import Catalogue, NodeType

SIZE = QSize(264, 316)
ROW = 26
RECENT = 4
MY_BLOCKS = "my blocks"
_TYPE = Qt.ItemDataRole.UserRole
_FAMILY = Qt.ItemDataRole.UserRole + 1


class SearchPopup(QFrame):
    """Opens over the canvas at the cursor; Enter or a click chooses, Esc or a click elsewhere gives up.

    A child of the canvas rather than a window, so that it needs no help from the window manager.
    """

    def __init__(self, catalogue: Catalogue, parent: QWidget) -> None:
        super().__init__(parent)
        self._canvas = parent
        self.setObjectName("nodeSearch")
        self.resize(SIZE)
        self._catalogue = catalogue
        self._types: list[type[NodeType]] = []
        self._own: list[Placeable] = []
        self._recent: list[str] = []
        self._choose: Callable[[str], object] | None = None
        self._give_up: Callable[[], None] | None = None
        self.field = QLineEdit(self)
        self.field.setObjectName("nodeSearchField")
        self.field.setPlaceholderText("Search nodes")
        self.list = QListWidget(self)
        self.list.setObjectName("nodeSearchList")
        self.list.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.list.setItemDelegate(_Row(self.list))
        self.list.setUniformItemSizes(True)
        self.list.setFrameShape(QFrame.Shape.NoFrame)
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.about = label("", wrap=True, parent=self)
        self.about.setObjectName("nodeSearchAbout")
        self.about.setFixedHeight(44)
        self.about.setAlignment(Qt.AlignmentFlag.AlignTop | Qt.AlignmentFlag.AlignLeft)
        box = QVBoxLayout(self)
        box.setContentsMargins(8, 8, 8, 8)
        box.setSpacing(6)
        box.addWidget(self.field)
        box.addWidget(self.list, 1)
        box.addWidget(self.about)
        self.field.textChanged.connect(self._search)
        self.field.installEventFilter(self)
        self.list.currentItemChanged.connect(self._tell)
        self.list.itemClicked.connect(self._clicked)
        self.hide()

    @property
    def active(self) -> bool:
        """Whether the popup is open."""
        return self._choose is not None

    def open_at(
        self,
        place: QPoint,
        types: list[type[NodeType]] | None,
        choose: Callable[[str], object],
        give_up: Callable[[], None],
        own: list[Placeable] | None = None,
    ) -> None:
        """Opens near `place` (pixels of the parent) with all types, or these; one of both calls follows.

        `own` are blocks of the project and of the user's library, offered after the types.
        """
        self.dismiss()
        self._own = own or []
        self._types = self._catalogue.types() if types is None else types
        self._choose, self._give_up = choose, give_up
        self.field.clear()
        self._search("")
        self.resize(SIZE.boundedTo(self._canvas.size() - QSize(8, 8)))
        self.move(kept_inside(place, self.size(), self._canvas.size()))
        self.show()
        self.raise_()
        self.field.setFocus(Qt.FocusReason.PopupFocusReason)

    def dismiss(self) -> None:
        """Closes without a choice."""
        give_up = self._give_up
        self._end()
        if give_up is not None:
            give_up()

    def _accept(self, item: QListWidgetItem | None) -> None:
        choose = self._choose
        if item is None or choose is None:
            return
        type_id = str(item.data(_TYPE))
        self._recent = [type_id, *(known for known in self._recent if known != type_id)][:RECENT]
        self._end()
        choose(type_id)

    def _end(self) -> None:
        self._choose = self._give_up = None
        if self.isVisible():
            had_focus = self.field.hasFocus()
            self.hide()
            if had_focus:
                self._canvas.setFocus(Qt.FocusReason.PopupFocusReason)

    def _clicked(self, item: QListWidgetItem) -> None:
        self._accept(item)

    def _search(self, text: str) -> None:
        word = text.strip().casefold()
        types = self._catalogue.search(text, self._types) if word else self._by_recency()
        found = [(one.title, one.type_id, one.family) for one in types]
        own = [one for one in self._own if word in one.name.casefold()]
        found += [(one.name, one.type_id, _family_of(one)) for one in own]
        self.list.clear()
        for title, type_id, family in found:
            item = QListWidgetItem(title)
            item.setData(_TYPE, type_id)
            item.setData(_FAMILY, family)
            item.setSizeHint(QSize(0, ROW))
            self.list.addItem(item)
        self.list.setCurrentRow(0)
        if not found:
            known = "No node of that name." if self._types else "Nothing can be joined to this port."
            self.about.setText(known)

    def _by_recency(self) -> list[type[NodeType]]:
        recent = [found for type_id in self._recent for found in self._types if found.type_id == type_id]
        return recent + [found for found in self._types if found not in recent]

    def _tell(self, item: QListWidgetItem | None) -> None:
        node_type = self._catalogue.get(str(item.data(_TYPE))) if item is not None else None
        if node_type is not None:
            self.about.setText(node_type.doc())
        elif item is not None:
            own = next(one for one in self._own if one.type_id == item.data(_TYPE))
            self.about.setText(own.about)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if watched is self.field:
            if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.ShortcutOverride:
                if is_for_files(event):
                    return False
                event.accept()  # the canvas knows many of these keys, but here they are typing
                return True
            if event.type() == QEvent.Type.KeyPress and isinstance(event, QKeyEvent):
                return self._key(event)
            if event.type() == QEvent.Type.FocusOut and self.active:
                self.dismiss()
        return super().eventFilter(watched, event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        event.accept()  # what the field has no use for is not for the canvas either

    def _key(self, event: QKeyEvent) -> bool:
        key = event.key()
        steps = {
            Qt.Key.Key_Down: 1,
            Qt.Key.Key_Up: -1,
            Qt.Key.Key_PageDown: 8,
            Qt.Key.Key_PageUp: -8,
            Qt.Key.Key_Tab: 1,
            Qt.Key.Key_Backtab: -1,
        }
        if key == Qt.Key.Key_Escape:
            self.dismiss()
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self._accept(self.list.currentItem())
        elif key in steps:
            last = self.list.count() - 1
            self.list.setCurrentRow(max(0, min(last, self.list.currentRow() + steps[Qt.Key(key)])))
        else:
            return False
        return True


class _Row(QStyledItemDelegate):
    """A row: family stripe, title, family name."""

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        theme = current_theme()
        rect = QRectF(option.rect)
        chosen = bool(option.state & QStyle.StateFlag.State_Selected)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        if chosen:
            painter.setBrush(theme.selection)
            painter.drawRoundedRect(rect.adjusted(0, 1, 0, -1), 5, 5)
        family = str(index.data(_FAMILY))
        painter.setBrush(theme.family(family))
        painter.drawRoundedRect(QRectF(rect.left() + 4, rect.top() + 6, 3, rect.height() - 12), 1.5, 1.5)
        inner = rect.adjusted(14, 0, -8, 0)
        small = theme.font(SMALL)
        painter.setFont(small)
        painter.setPen(theme.dim if chosen else theme.hint)
        painter.drawText(inner, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight, family)
        room = inner.width() - QFontMetricsF(small).horizontalAdvance(family) - 8
        font = theme.font()
        title = QFontMetricsF(font).elidedText(str(index.data()), Qt.TextElideMode.ElideRight, room)
        painter.setFont(font)
        painter.setPen(theme.text)
        painter.drawText(inner, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, title)
        painter.restore()

    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> QSize:
        return QSize(0, ROW)


def _family_of(block: Placeable) -> str:
    if isinstance(block, Drawn):
        return block.family
    return MY_BLOCKS if isinstance(block, Kept) else "blocks"
