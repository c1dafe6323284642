"""The palette: every node type by family, to search, drag onto the canvas or add with Enter."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import (
    QModelIndex,
    QPersistentModelIndex,
    QPoint,
    QPointF,
    QRect,
    QSize,
    Qt,
    Signal,
)
from PySide6.QtGui import QDrag, QKeyEvent, QMouseEvent, QPainter, QPixmap
from PySide6.QtWidgets import (
    QAbstractItemView,
    QLabel,
    QListView,
    QMenu,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QVBoxLayout,
    QWidget,
)

from app.panels.palette_rows import FAMILY_ROLE, FOLDED_ROLE, TYPE_ROLE, PaletteRows
from app.theme import BODY, SMALL, current_theme, themes
from app.widgets.labels import label
from app.widgets.search_field import SearchField
from app.workspace.block_library import Defined, Kept, forget, shelf
from app.workspace.open_document import SelectableDocument
from engine.document.edits import RemoveBlock

_ROW = 30
_BOX = 26
_HEADING = 30
_STRIPE = 3
_MARGIN = 12
_Index = QModelIndex | QPersistentModelIndex
_FOLDED = "palette/folded"


class TypeDelegate(QStyledItemDelegate):
    """Paints headings as small capitals and types as a box with the family's stripe."""

    def sizeHint(self, option: QStyleOptionViewItem, index: _Index) -> QSize:
        return QSize(100, _ROW if index.data(TYPE_ROLE) else _HEADING)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: _Index) -> None:
        rect: QRect = option.rect
        state: QStyle.StateFlag = option.state
        if index.data(TYPE_ROLE):
            view: QWidget = option.widget
            focused = bool(state & QStyle.StateFlag.State_Selected) and view.hasFocus()
            hovered = bool(state & QStyle.StateFlag.State_MouseOver)
            # The scroll bar stands in the margin, so that rows keep the width of the search field.
            box = rect.adjusted(_MARGIN, 2, -(_MARGIN - max(0, _width_of(view) - rect.width())), 0)
            paint_row(painter, box, str(index.data()), index.data(FAMILY_ROLE), hovered, focused)
        else:
            hovered = bool(state & (QStyle.StateFlag.State_MouseOver | QStyle.StateFlag.State_Selected))
            _paint_heading(painter, rect, str(index.data()), index.data(FOLDED_ROLE), hovered)


def _width_of(view: QWidget) -> int:
    return view.contentsRect().width()


def paint_row(painter: QPainter, rect: QRect, title: str, family: str, hovered: bool, focused: bool) -> None:
    """Paints one node type: title in a raised box, 3 px of the family's colour at its left."""
    theme = current_theme()
    box = QRect(rect.left(), rect.top(), rect.width(), _BOX)
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(theme.accent if focused else Qt.PenStyle.NoPen)
    painter.setBrush(theme.hover if hovered else theme.raised)
    painter.drawRoundedRect(box, 5, 5)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(theme.family(family))
    painter.drawRoundedRect(QRect(box.left(), box.top(), _STRIPE, box.height()), 1.5, 1.5)
    painter.setPen(theme.text)
    painter.setFont(theme.font(BODY))
    inner = box.adjusted(12, 0, -8, 0)
    shown = painter.fontMetrics().elidedText(title, Qt.TextElideMode.ElideRight, inner.width())
    painter.drawText(inner, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, shown)
    painter.restore()


def _paint_heading(painter: QPainter, rect: QRect, text: str, folded: bool, hovered: bool) -> None:
    theme = current_theme()
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(theme.text if hovered else theme.hint)
    painter.setFont(theme.font(SMALL, bold=True))
    centre = QPointF(rect.left() + 19, rect.top() + rect.height() / 2 + 3)
    along, across = (QPointF(2.5, 0), QPointF(0, 3.5)) if folded else (QPointF(0, 2.5), QPointF(3.5, 0))
    painter.drawPolyline([centre - along - across, centre + along, centre - along + across])
    painter.drawText(
        rect.adjusted(30, 6, -12, 0), Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, text.upper()
    )
    painter.restore()


class TypeList(QListView):
    """The list itself: Enter or a double-click adds, dragging carries the type to the canvas."""

    chosen = Signal(str)
    fold_wanted = Signal(int, bool)  # row of a heading, and whether what is under it goes

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("paletteList")
        self.setAccessibleName("Node types")
        self.setItemDelegate(TypeDelegate(self))
        self.setDragEnabled(True)
        self.setEditTriggers(QAbstractItemView.EditTrigger.EditKeyPressed)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.setDragDropMode(QAbstractItemView.DragDropMode.DragOnly)
        self.setMouseTracking(True)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.verticalScrollBar().setSingleStep(12)
        self.doubleClicked.connect(self._choose)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        index, key = self.currentIndex(), event.key()
        if not index.isValid():
            super().keyPressEvent(event)
        elif key in (Qt.Key.Key_Left, Qt.Key.Key_Right):
            self._fold(index, key == Qt.Key.Key_Left)
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space) and not index.data(TYPE_ROLE):
            self._fold(index, not index.data(FOLDED_ROLE))
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self._choose(index)
        else:
            super().keyPressEvent(event)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        index = self.indexAt(event.position().toPoint())
        if event.button() == Qt.MouseButton.LeftButton and index.isValid() and not index.data(TYPE_ROLE):
            self.setFocus(Qt.FocusReason.MouseFocusReason)
            self._fold(index, not index.data(FOLDED_ROLE))
        else:
            super().mousePressEvent(event)

    def _fold(self, index: QModelIndex, folded: bool) -> None:
        """Folds the group of a row, or unfolds it."""
        row = index.row()
        while row >= 0 and self.model().index(row, 0).data(TYPE_ROLE):
            row -= 1
        if row >= 0:
            self.fold_wanted.emit(row, folded)

    def startDrag(self, actions: Qt.DropAction) -> None:
        index = self.currentIndex()
        if not index.data(TYPE_ROLE):
            return
        drag = QDrag(self)
        drag.setMimeData(self.model().mimeData([index]))
        drag.setPixmap(_drag_pixmap(str(index.data()), index.data(FAMILY_ROLE), self.devicePixelRatioF()))
        drag.setHotSpot(QPoint(20, _ROW // 2))
        drag.exec(Qt.DropAction.CopyAction)

    def _choose(self, index: QModelIndex) -> None:
        type_id = index.data(TYPE_ROLE)
        if type_id:
            self.chosen.emit(type_id)


def _drag_pixmap(title: str, family: str, ratio: float) -> QPixmap:
    drag_image = QPixmap(round(180 * ratio), round(_ROW * ratio))
    drag_image.setDevicePixelRatio(ratio)
    drag_image.fill(Qt.GlobalColor.transparent)
    painter = QPainter(drag_image)
    paint_row(painter, QRect(1, 1, 178, _ROW), title, family, True, True)
    painter.end()
    return drag_image


class PalettePanel(QWidget):
    """Search field over the list of node types; `add_requested` carries the id of the type to add."""

    add_requested = Signal(str)

    def __init__(self, workspace: SelectableDocument, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("palette")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.search_field = SearchField("Search nodes", "Tab")
        self.search_field.setObjectName("paletteSearch")
        self.search_field.setAccessibleName("Search node types")
        self._workspace = workspace
        self.model = PaletteRows(workspace, frozenset(workspace.settings.texts(_FOLDED)), self)
        self.list = TypeList()
        self.list.setModel(self.model)
        self._nothing: QLabel = label("", "empty", wrap=True)
        self._nothing.setContentsMargins(16, 12, 16, 0)
        self._nothing.hide()
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 12, 0, 0)
        column.setSpacing(0)
        field = QVBoxLayout()
        field.setContentsMargins(12, 0, 12, 4)
        field.addWidget(self.search_field)
        column.addLayout(field)
        column.addWidget(self._nothing)
        column.addWidget(self.list, 1)
        self.search_field.textChanged.connect(self._search)
        self.search_field.returnPressed.connect(self._add_first)
        self.search_field.moved_down.connect(self._enter_list)
        self.list.chosen.connect(self.add_requested)
        self.list.fold_wanted.connect(self._fold)
        self.list.customContextMenuRequested.connect(self._offer_menu)
        workspace.changed.connect(self._changed)
        workspace.scope_changed.connect(self._changed)
        themes.theme_changed.connect(self._repaint)
        shelf.changed.connect(self._read_again)

    def _read_again(self) -> None:
        at = self.list.verticalScrollBar().value()
        self._search(self.search_field.text())
        self.list.verticalScrollBar().setValue(at)

    def _changed(self, _what: object) -> None:
        if self.model.blocks_differ():
            self._read_again()

    def _fold(self, row: int, folded: bool) -> None:
        at = self.list.verticalScrollBar().value()
        self.model.fold(row, folded)
        self.list.verticalScrollBar().setValue(at)
        self.list.setCurrentIndex(self.model.index(row))
        self._workspace.settings.keep(_FOLDED, sorted(self.model.folded))

    def _offer_menu(self, place: QPoint) -> None:
        """What can be done with a block of the project or of the user's own."""
        index = self.list.indexAt(place)
        block = self.model.block_at(index.row())
        if block is None:
            return
        menu = QMenu(self.list)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.addAction("Add to the canvas").triggered.connect(partial(self._add, block.type_id))
        if isinstance(block, Kept):
            gone = menu.addAction("Remove from my blocks")
            gone.triggered.connect(partial(self._forget, block.name))
        else:
            menu.addAction("Open").triggered.connect(partial(self._enter, block.block_id))
            menu.addAction("Rename\tF2").triggered.connect(partial(self.list.edit, index))
            gone = menu.addAction("Delete")
            gone.setEnabled(not block.uses)
            gone.triggered.connect(partial(self._delete, block))
        menu.popup(self.list.viewport().mapToGlobal(place))

    def _add(self, type_id: str, _checked: bool = False) -> None:
        self.add_requested.emit(type_id)

    def _forget(self, name: str, _checked: bool = False) -> None:
        forget(self._workspace.places.blocks, name)

    def _enter(self, block_id: str, _checked: bool = False) -> None:
        self._workspace.enter(block_id)

    def _delete(self, block: Defined, _checked: bool = False) -> None:
        self._workspace.apply(f"Delete {block.name}", RemoveBlock(block.block_id))

    def focus_search(self) -> None:
        """Puts the caret into the search field."""
        self.search_field.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.search_field.selectAll()

    def _search(self, text: str) -> None:
        self.model.search(text)
        row = self.model.first_type_row()
        self._nothing.setText(f"No node type matches “{text.strip()}”.")
        self._nothing.setVisible(row < 0)
        if text.strip() and row >= 0:
            self.list.setCurrentIndex(self.model.index(row))

    def _add_first(self) -> None:
        row = self.model.first_type_row()
        if self.search_field.text().strip() and row >= 0:
            self.add_requested.emit(self.model.index(row).data(TYPE_ROLE))

    def _enter_list(self) -> None:
        row = self.model.first_type_row()
        if row >= 0:
            self.list.setCurrentIndex(self.model.index(row))
            self.list.setFocus(Qt.FocusReason.TabFocusReason)

    def _repaint(self, _theme: object) -> None:
        self.list.viewport().update()
