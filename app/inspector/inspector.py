"""The inspector: fields and facts of what is selected, or the training settings when nothing is."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QFrame, QScrollArea, QVBoxLayout, QWidget

from app.charts.arrays.filters import FiltersNow
from app.inspector.node_page import NodePage
from app.inspector.plan_focus import PlanFocus
from app.inspector.plan_page import PlanPage
from app.inspector.several_page import SeveralPage
from app.theme import themes
from app.widgets.tab_order import reach_after
from app.workspace.open_document import TrainableDocument
from engine.document.document import Change

MARGIN = 16
Page = NodePage | PlanPage | SeveralPage


class InspectorPanel(QWidget):
    """Shows one page, made again when the selection changes: a node's, several nodes' or the project's."""

    left = Signal()  # Esc, with nothing to take back

    def __init__(self, workspace: TrainableDocument, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("inspector")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self._workspace = workspace
        self._area = QScrollArea()
        self._area.setObjectName("inspectorScroll")
        self._area.setWidgetResizable(True)
        self._area.setFrameShape(QFrame.Shape.NoFrame)
        self._area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._area.verticalScrollBar().rangeChanged.connect(self._make_room)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(self._area)
        # The live plot outlives the pages: it follows the selection by itself.
        content = QWidget()
        content.setProperty("role", "page")
        self._content = QVBoxLayout(content)
        self._content.setContentsMargins(0, 0, MARGIN, MARGIN)
        self._content.setSpacing(0)
        self._filters = FiltersNow(workspace)
        indented = QVBoxLayout()
        indented.setContentsMargins(MARGIN, 0, 0, 0)
        indented.addWidget(self._filters)
        self._content.addLayout(indented)
        self._content.addStretch(1)
        self._area.setWidget(content)
        self.plan = PlanFocus(workspace, self)
        self._type = ""  # of the node on show
        self.page: Page = PlanPage(workspace, self.plan)
        self._show_page(self.page)
        workspace.selected.connect(self._selected)
        workspace.changed.connect(self._changed)
        workspace.inferred.connect(self._inferred)
        workspace.engine_ready.connect(self._inferred)
        themes.theme_changed.connect(self._theme_changed)

    def _selected(self, ids: tuple[str, ...]) -> None:
        if isinstance(self.page, PlanPage) and self.page.choosing:
            return  # what is selected now is what the plan is to train
        if len(ids) == 1:
            node = self._workspace.node(ids[0])
            self._type = "" if node is None else node.type
            self._show_page(NodePage(self._workspace, ids[0]))
        elif ids:
            self._show_page(SeveralPage(self._workspace, ids))
        elif not isinstance(self.page, PlanPage):
            self._show_page(PlanPage(self._workspace, self.plan))

    def _show_page(self, page: Page) -> None:
        old = self.page
        if old is not page:
            # A selection can change while one of the old page's fields handles an event.
            self._content.removeWidget(old)
            old.hide()
            old.deleteLater()
        self.page = page
        self._content.insertWidget(0, page)
        page.show()
        self._reach()
        if isinstance(page, PlanPage):
            page.grown.connect(self._reach)
        self._area.verticalScrollBar().setValue(0)

    def _reach(self) -> None:
        reach_after(self._area, self.page)

    def _make_room(self, _low: int, high: int) -> None:
        """Lets the scroll bar stand in the margin, so that fields keep their width."""
        taken = self._area.verticalScrollBar().sizeHint().width() if high > 0 else 0
        self._content.setContentsMargins(0, 0, MARGIN - taken, MARGIN)

    def _changed(self, change: Change) -> None:
        if change.kind == "load" and isinstance(self.page, PlanPage):
            self._show_page(PlanPage(self._workspace, self.plan))
        elif self._is_another():
            self._selected(self._workspace.selection)
        else:
            self.page.refresh()
            self._reach()  # another optimiser brings other fields

    def _is_another(self) -> bool:
        """Whether the selected node is of another type now: a layer and its drawing have one id."""
        chosen = self._workspace.selection
        node = self._workspace.node(chosen[0]) if len(chosen) == 1 else None
        return isinstance(self.page, NodePage) and node is not None and node.type != self._type

    def _inferred(self) -> None:
        self.page.refresh_facts()

    def _theme_changed(self, _theme: object) -> None:
        if isinstance(self.page, NodePage):
            self.page.restyle()

    def edit_plan(self) -> None:
        """Shows the whole plan, with the caret on its phases; nothing may be selected."""
        self.plan.want(True)
        if isinstance(self.page, PlanPage) and self.page.editor is not None:
            self.page.editor.phases.list.setFocus(Qt.FocusReason.ShortcutFocusReason)

    def focus_first_field(self) -> None:
        """Puts the caret into the first field of the page."""
        for field in self.page.fields.values():
            field.control.setFocus(Qt.FocusReason.ShortcutFocusReason)
            self._area.ensureWidgetVisible(field)
            return

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self.left.emit()
        else:
            super().keyPressEvent(event)
