"""The palette: every node type by family, to search, drag onto the canvas or add with Enter."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from PySide6.QtCore import (
    QAbstractListModel,
    QByteArray,
    QMimeData,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    QPoint,
    QRect,
    QSize,
    Qt,
    Signal,
)
from PySide6.QtGui import QDrag, QKeyEvent, QPainter, QPixmap
from PySide6.QtWidgets import (
    QAbstractItemView,
    QLabel,
    QListView,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QVBoxLayout,
    QWidget,
)

from app.theme import BODY, SMALL, current_theme, themes
from app.widgets.labels import label
from app.widgets.search_field import SearchField
from app.workspace.block_library import Kept, kept, shelf
from app.workspace.open_document import OpenDocument
from engine.catalogue import Catalogue, NodeType

NODE_MIME = "application/x-neuroloom-node"
TYPE_ROLE = Qt.ItemDataRole.UserRole + 1
FAMILY_ROLE = Qt.ItemDataRole.UserRole + 2

_ROW = 30
_BOX = 26
_HEADING = 30
_STRIPE = 3
_MARGIN = 12
MY_BLOCKS = "my blocks"
_Index = QModelIndex | QPersistentModelIndex
Row = str | type[NodeType] | Kept


class TypeModel(QAbstractListModel):
    """Headings and node types in one flat list; while a search is on, the matches alone, best first."""

    def __init__(self, catalogue: Catalogue, kept: Path, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._catalogue = catalogue
        self._kept = kept
        self._rows: list[Row] = []
        self.search("")

    def search(self, query: str) -> None:
        """Shows what matches `query`; everything, under headings, when it is empty."""
        self.beginResetModel()
        if query.strip():
            word = query.strip().casefold()
            own = [block for block in kept(self._kept) if word in block.name.casefold()]
            self._rows = [*self._catalogue.search(query), *own]
        else:
            self._rows = []
            for family, types in self._catalogue.families():
                self._rows.extend((family, *types))
            own = kept(self._kept)
            if own:
                self._rows.extend((MY_BLOCKS, *own))
        self.endResetModel()

    def first_type_row(self, start: int = 0) -> int:
        """The first row from `start` on that is a node type; -1 if there is none."""
        for row in range(start, len(self._rows)):
            if not isinstance(self._rows[row], str):
                return row
        return -1

    def rowCount(self, parent: _Index = QModelIndex()) -> int:  # noqa: B008
        return 0 if parent.isValid() else len(self._rows)

    def data(self, index: _Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not index.isValid():
            return None
        found = self._rows[index.row()]
        if isinstance(found, str):
            return (
                found if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole) else None
            )
        if isinstance(found, Kept):
            return _kept_data(found, role)
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole):
            return found.title
        if role == Qt.ItemDataRole.ToolTipRole:
            return _tooltip(found)
        if role == Qt.ItemDataRole.AccessibleDescriptionRole:
            return found.doc()
        if role == TYPE_ROLE:
            return found.type_id
        if role == FAMILY_ROLE:
            return found.family
        return None

    def flags(self, index: _Index) -> Qt.ItemFlag:
        if not index.isValid() or isinstance(self._rows[index.row()], str):
            return Qt.ItemFlag.NoItemFlags
        return Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable | Qt.ItemFlag.ItemIsDragEnabled

    def mimeTypes(self) -> list[str]:
        return [NODE_MIME]

    def mimeData(self, indexes: Sequence[QModelIndex]) -> QMimeData:
        mime = QMimeData()
        type_ids = [index.data(TYPE_ROLE) for index in indexes if index.data(TYPE_ROLE)]
        if type_ids:
            mime.setData(NODE_MIME, QByteArray(type_ids[0].encode()))
        return mime


def _kept_data(block: Kept, role: int) -> str | None:
    if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole):
        return block.name
    if role in (Qt.ItemDataRole.ToolTipRole, Qt.ItemDataRole.AccessibleDescriptionRole):
        return "A block of your own"
    return {TYPE_ROLE: block.type_id, FAMILY_ROLE: "blocks"}.get(role)


def _tooltip(found: type[NodeType]) -> str:
    text = found.doc()
    return f"{text}\n{found.source}" if found.source else text


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
            _paint_heading(painter, rect, str(index.data()))


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


def _paint_heading(painter: QPainter, rect: QRect, text: str) -> None:
    theme = current_theme()
    painter.save()
    painter.setPen(theme.hint)
    painter.setFont(theme.font(SMALL, bold=True))
    painter.drawText(
        rect.adjusted(16, 6, -12, 0), Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, text.upper()
    )
    painter.restore()


class TypeList(QListView):
    """The list itself: Enter or a double-click adds, dragging carries the type to the canvas."""

    chosen = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("paletteList")
        self.setAccessibleName("Node types")
        self.setItemDelegate(TypeDelegate(self))
        self.setDragEnabled(True)
        self.setDragDropMode(QAbstractItemView.DragDropMode.DragOnly)
        self.setMouseTracking(True)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.verticalScrollBar().setSingleStep(12)
        self.doubleClicked.connect(self._choose)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and self.currentIndex().isValid():
            self._choose(self.currentIndex())
        else:
            super().keyPressEvent(event)

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

    def __init__(self, workspace: OpenDocument, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("palette")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.search_field = SearchField("Search nodes", "Tab")
        self.search_field.setObjectName("paletteSearch")
        self.search_field.setAccessibleName("Search node types")
        self.model = TypeModel(workspace.catalogue, workspace.places.blocks, self)
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
        themes.theme_changed.connect(self._repaint)
        shelf.changed.connect(self._read_again)

    def _read_again(self) -> None:
        self._search(self.search_field.text())

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
