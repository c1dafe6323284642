"""The table of runs: sorted, filtered, with a coloured box for each run whose curves are drawn."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QAbstractItemModel, QEvent, QModelIndex, QPoint, QRectF, Qt, Signal
from PySide6.QtGui import QColor, QKeyEvent, QMouseEvent, QPainter, QPainterPath, QPen
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHeaderView,
    QMenu,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTableView,
    QWidget,
)

from app.charts.plot import colour_of
from app.runs.columns import EDITABLE, STATE_ROLES, TICK, Column, first_choice
from app.runs.model import Index, RunsModel
from app.theme import SMALL, current_theme, themes
from engine.runs.index import RunRecord

ROW_HEIGHT = 26
_AROUND, _BESIDE = 26, 6  # pixels around a heading with its arrow, beside the words of a cell
_WIDEST = 240  # for words of rows; the rest is in their tool tips
_BOX = 14


class TickBox(QStyledItemDelegate):
    """A box in the colour of the run's curves, full when they are drawn; a click or Space turns it over."""

    def initStyleOption(self, option: QStyleOptionViewItem, index: Index) -> None:
        super().initStyleOption(option, index)
        option.features &= ~QStyleOptionViewItem.ViewItemFeature.HasCheckIndicator

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        super().paint(painter, option, index)
        model = index.model()
        assert isinstance(model, RunsModel)
        name = model.shown[index.row()].name
        theme = current_theme()
        box = QRectF(0, 0, _BOX, _BOX)
        box.moveCenter(QRectF(option.rect).center())
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if name in model.ticked:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(colour_of(theme, model.colour(name)))
            painter.drawRoundedRect(box, 3, 3)
            check = QPainterPath(box.topLeft() + QPoint(3, 7))
            check.lineTo(box.topLeft() + QPoint(6, 10))
            check.lineTo(box.topLeft() + QPoint(11, 4))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.setPen(QPen(QColor("#10131a"), 2))
            painter.drawPath(check)
        else:
            painter.setPen(QPen(theme.faint, 1))
            painter.drawRoundedRect(box.adjusted(0.5, 0.5, -0.5, -0.5), 3, 3)
        painter.restore()

    def editorEvent(
        self, event: QEvent, model: QAbstractItemModel, option: QStyleOptionViewItem, index: Index
    ) -> bool:
        clicked = (
            event.type() == QEvent.Type.MouseButtonRelease
            and isinstance(event, QMouseEvent)
            and event.button() == Qt.MouseButton.LeftButton
        )
        if clicked:
            return model.setData(index, None, Qt.ItemDataRole.CheckStateRole)
        # A double click would turn the box over twice, and its first half opens nothing.
        return event.type() in (QEvent.Type.MouseButtonPress, QEvent.Type.MouseButtonDblClick)


class StateMark(QStyledItemDelegate):
    """A dot in the colour of the state before its word."""

    def initStyleOption(self, option: QStyleOptionViewItem, index: Index) -> None:
        super().initStyleOption(option, index)
        option.text = ""

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        super().paint(painter, option, index)
        model = index.model()
        assert isinstance(model, RunsModel)
        theme = current_theme()
        rect = QRectF(option.rect)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(colour_of(theme, STATE_ROLES.get(model.shown[index.row()].state, "faint")))
        painter.drawEllipse(QRectF(rect.left() + 8, rect.center().y() - 3, 7, 7))
        painter.setPen(theme.text)
        painter.setFont(theme.font(12))
        words = str(index.data() or "")
        area = rect.adjusted(21, 0, -4, 0)
        shown = painter.fontMetrics().elidedText(words, Qt.TextElideMode.ElideRight, int(area.width()))
        painter.drawText(area, int(Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft), shown)
        painter.restore()


class RunsTable(QTableView):
    """Rows to select, several with Ctrl or Shift; the heading sorts, and its menu chooses columns."""

    chosen_changed = Signal()  # other rows are selected
    opened = Signal()  # Enter, or a double click on a cell that is not typed into
    removed = Signal()  # Del
    menu_wanted = Signal(QPoint)  # in global coordinates
    columns_chosen = Signal()

    def __init__(self, model: RunsModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("runsTable")
        self.setAccessibleName("Runs")
        self._runs = model
        self._chosen_columns: set[str] | None = None
        self._names: list[str] = []
        self.setModel(model)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.setEditTriggers(
            QAbstractItemView.EditTrigger.DoubleClicked | QAbstractItemView.EditTrigger.EditKeyPressed
        )
        self.setShowGrid(False)
        self.setWordWrap(False)
        self.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self._tick_box = TickBox(self)
        self._state_mark = StateMark(self)
        self.verticalHeader().hide()
        self.verticalHeader().setDefaultSectionSize(ROW_HEIGHT)
        self.verticalHeader().setMinimumSectionSize(ROW_HEIGHT)
        head = self.horizontalHeader()
        head.setHighlightSections(False)
        head.setMinimumSectionSize(28)
        head.setSectionResizeMode(QHeaderView.ResizeMode.Interactive)
        head.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        head.customContextMenuRequested.connect(self._offer_columns)
        self.setSortingEnabled(True)
        head.setSortIndicator(3, Qt.SortOrder.DescendingOrder)
        self.customContextMenuRequested.connect(self._menu_asked)
        self.doubleClicked.connect(self._double_clicked)
        model.modelAboutToBeReset.connect(self._remember)
        model.modelReset.connect(self._again)
        self.selectionModel().selectionChanged.connect(self._selection_changed)
        themes.theme_changed.connect(self._dress)
        self._dress(current_theme())
        self._arrange()

    # -- selection --------------------------------------------------------------------------------

    def chosen(self) -> list[RunRecord]:
        """The selected runs, from above."""
        rows = sorted(index.row() for index in self.selectionModel().selectedRows())
        return [self._runs.shown[row] for row in rows if row < len(self._runs.shown)]

    def choose(self, names: Sequence[str]) -> None:
        """Select runs by name, and bring the first into view."""
        self.clearSelection()
        mode = self.selectionModel().SelectionFlag
        for name in names:
            row = self._runs.row_of(name)
            if row >= 0:
                index = self._runs.index(row, 0)
                self.selectionModel().select(index, mode.Select | mode.Rows)
                if name == names[0]:
                    self.selectionModel().setCurrentIndex(self._runs.index(row, 1), mode.NoUpdate)
                    self.scrollTo(index)

    @property
    def typing(self) -> bool:
        """Whether somebody types into a cell."""
        return self.state() == QAbstractItemView.State.EditingState

    def _selection_changed(self, *_: object) -> None:
        self.chosen_changed.emit()

    def _remember(self) -> None:
        self._names = [record.name for record in self.chosen()]

    def _again(self) -> None:
        self._arrange()
        self.choose(self._names)
        self.chosen_changed.emit()

    # -- columns ----------------------------------------------------------------------------------

    def choose_columns(self, keys: set[str] | None) -> None:
        """Show these columns; None for the first choice."""
        self._chosen_columns = keys
        self._arrange()

    @property
    def chosen_columns(self) -> set[str] | None:
        """The columns that the user has chosen; None before that."""
        return self._chosen_columns

    def _arrange(self) -> None:
        shown = first_choice(self._runs.columns) if self._chosen_columns is None else self._chosen_columns
        drawn = {TICK: self._tick_box, "state": self._state_mark}
        for section, column in enumerate(self._runs.columns):
            self.setColumnHidden(section, column.key not in shown and column.key != TICK)
            self.setItemDelegateForColumn(section, drawn.get(column.key, self.itemDelegate()))
            self.setColumnWidth(section, self._room(section, column))

    def _room(self, section: int, column: Column) -> int:
        """As wide as its words: those of the heading, and those of the rows as far as there is room."""
        heading = self.horizontalHeader().fontMetrics().horizontalAdvance(column.title) + _AROUND
        rows = 0 if column.key in (TICK, *EDITABLE) else self.sizeHintForColumn(section) + _BESIDE
        return max(column.width, heading if column.title else 0, min(rows, _WIDEST))

    def _offer_columns(self, at: QPoint) -> None:
        menu = QMenu(self)
        entries = {}
        for section, column in enumerate(self._runs.columns):
            if column.key != TICK:
                entry = menu.addAction(column.title)
                entry.setCheckable(True)
                entry.setChecked(not self.isColumnHidden(section))
                entries[entry] = column.key
        menu.addSeparator()
        again = menu.addAction("As at first")
        picked = menu.exec(self.horizontalHeader().mapToGlobal(at))
        if picked is again:
            self.choose_columns(None)
            self.columns_chosen.emit()
        elif picked in entries:
            self.choose_columns({key for entry, key in entries.items() if entry.isChecked()})
            self.columns_chosen.emit()
        menu.deleteLater()

    # -- pointer and keys -------------------------------------------------------------------------

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key = event.key()
        if self.typing:
            super().keyPressEvent(event)
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.opened.emit()
        elif key == Qt.Key.Key_Delete:
            self.removed.emit()
        elif key == Qt.Key.Key_Space:
            for record in self.chosen():
                self._runs.tick(record.name, record.name not in self._runs.ticked)
        else:
            super().keyPressEvent(event)

    def _double_clicked(self, index: QModelIndex) -> None:
        if self._runs.columns[index.column()].key not in (*EDITABLE, TICK):
            self.opened.emit()

    def _menu_asked(self, at: QPoint) -> None:
        if self.indexAt(at).isValid():
            self.menu_wanted.emit(self.viewport().mapToGlobal(at))

    def _dress(self, theme: object) -> None:
        found = current_theme()
        self.setFont(found.font(12))
        self.horizontalHeader().setFont(found.font(SMALL))
        self.viewport().update()
