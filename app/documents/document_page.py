"""One open document and everything that shows it: canvas, palette, inspector and the panels below."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import count

from PySide6.QtCore import Qt
from PySide6.QtGui import QPainter, QPaintEvent, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QSplitter, QSplitterHandle, QVBoxLayout, QWidget

from app.canvas.view import GraphView
from app.data.downloads import Downloads
from app.data.opening import DataOpening
from app.data.points_window import PointsWindow
from app.documents.bottom_panels import BottomPanels
from app.inspector.inspector import InspectorPanel
from app.look.dock.on_nodes import OnNodes
from app.panels.palette import PalettePanel
from app.runs.progress import TrainingBar
from app.theme import current_theme
from app.widgets.banner import Notice
from app.widgets.breadcrumb import Breadcrumb
from app.widgets.document_tabs import TabFace
from app.widgets.wearing import Wearing
from app.workspace.data_files import DataFiles
from app.workspace.document_file import DocumentFile
from app.workspace.recent_files import RecentFiles
from app.workspace.settings import Settings
from app.workspace.start_check import StartCheck
from app.workspace.workspace import Workspace

PALETTE_WIDTH = 216
INSPECTOR_WIDTH = 300
# Of the height below the top bar; the rest is canvas.
BOTTOM_FRACTION = 0.44
ENLARGED_FRACTION = 0.75  # for the views, where they are what one wants to see

_SIZES = "window/panels"

_numbers = count(1)


@dataclass(frozen=True)
class PanelSizes:
    """What the panels are to have, in pixels, as the user chose it; the canvas has the rest of a page."""

    palette: int = PALETTE_WIDTH
    inspector: int = INSPECTOR_WIDTH
    bottom: int = 0  # its usual fraction


class DocumentPage(QWidget):
    """What a tab of the window holds. Nothing here knows another document.

    `training` stands in the window's top bar while the page is in front; `notice` is the message that waits
    to be read there, and `mark` what the tab shows of a run (a key of `app.widgets.document_tabs.MARKS`).
    """

    def __init__(self, workspace: Workspace, recent: RecentFiles, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("documentPage")
        self.number = next(_numbers)
        self.workspace = workspace
        self.file = DocumentFile(workspace, recent, self)
        self.training = TrainingBar(workspace)
        self.palette_panel = PalettePanel(workspace)
        self.breadcrumb = Breadcrumb()
        self.canvas = GraphView(workspace)
        self.inspector = InspectorPanel(workspace)
        self.bottom = BottomPanels(workspace)
        self.opening = DataOpening(self, self)
        self.data_files = DataFiles(self.workspace, self)
        self.start_check = StartCheck(self.workspace, self.data_files, self)
        self.downloads = Downloads(self.workspace, self)
        self.on_nodes = OnNodes(self.canvas, self.canvas, self.bottom.views.dock.kind_of_card)
        self._sizes = PanelSizes()
        self.views_enlarged = False
        self._enlarged_for_card = False
        self.at_work = False
        self.notice: Notice | None = None
        self.mark = ""
        self._lay_out()
        self.palette_panel.add_requested.connect(self._add_in_centre)
        self.inspector.left.connect(self.focus_canvas)
        self.canvas.files_dropped.connect(self.opening.open)
        self.breadcrumb.scope_wanted.connect(self._enter)
        self.bottom.views.dock.show_on(self.on_nodes)
        self.bottom.views.dock.room_wanted.connect(self._make_room_for_card)
        workspace.editor_wanted.connect(self._open_editor)
        workspace.scope_changed.connect(self._show_way)
        workspace.changed.connect(self._show_way)
        workspace.layer_stepped.connect(self._layer_stepped)

    def _lay_out(self) -> None:
        self.palette_panel.setMinimumWidth(160)
        self.palette_panel.setMaximumWidth(360)
        self.inspector.setMinimumWidth(250)
        self.inspector.setMaximumWidth(460)
        self.canvas.setMinimumSize(240, 160)
        self.bottom.setMinimumHeight(120)
        sheet = QWidget()
        sheet.setAutoFillBackground(True)
        above = QVBoxLayout(sheet)
        above.setContentsMargins(0, 0, 0, 0)
        above.setSpacing(0)
        above.addWidget(self.breadcrumb)
        above.addWidget(self.canvas, 1)
        self._upper = _splitter(Qt.Orientation.Horizontal, "upperSplitter", sheet, self.inspector)
        self._right = _splitter(Qt.Orientation.Vertical, "rightSplitter", self._upper, self.bottom)
        self._whole = _splitter(Qt.Orientation.Horizontal, "wholeSplitter", self.palette_panel, self._right)
        self._upper.setStretchFactor(0, 1)
        self._upper.setStretchFactor(1, 0)
        self._right.setStretchFactor(0, 1)
        self._right.setStretchFactor(1, 0)
        self._whole.setStretchFactor(0, 0)
        self._whole.setStretchFactor(1, 1)
        for splitter in (self._upper, self._right, self._whole):
            splitter.splitterMoved.connect(self._handle_moved)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(self._whole)
        splitters = (self._whole, self._right, self._upper)
        self._wearing = Wearing((self, *splitters, sheet, *self.bottom.containers), self)

    # -- what it holds ----------------------------------------------------------------------------

    @property
    def untouched(self) -> bool:
        """Whether it holds nothing anybody would miss, so that another project may take its place."""
        document = self.workspace.document
        empty = not document.project.graph.nodes and document.path is None
        return empty and not document.modified and not self.workspace.training

    @property
    def face(self) -> TabFace:
        """What its tab shows."""
        document = self.workspace.document
        place = str(document.path) if document.path is not None else ""
        name = self.file.name if self.at_work or not self.untouched else "Welcome"
        return TabFace(name, place, document.modified, self.mark)

    def focus_canvas(self) -> None:
        """Lets keys and the clipboard work on the graph."""
        self.canvas.setFocus(Qt.FocusReason.OtherFocusReason)

    def _enter(self, scope: str) -> None:
        self.workspace.enter(scope)
        self.focus_canvas()

    def _show_way(self, _what: object) -> None:
        self.breadcrumb.show_way(self.workspace.way)

    def _layer_stepped(self) -> None:
        """The node that a batch has come to is in view, and a screen reader says what happened there."""
        step = self.workspace.layer_step
        if self.canvas.isVisible() and step:
            for node_id in step["nodes"][:1]:
                self.canvas.reveal(node_id)
            self.canvas.spoken.announce(step["sentence"])

    def _add_in_centre(self, type_id: str) -> None:
        self.canvas.add_node(type_id, None)
        self.focus_canvas()

    def show_data(self) -> None:
        """Brings the data panel to the front."""
        self.bottom.show()
        self.bottom.show_panel("Data")

    def _open_editor(self, node_id: str) -> None:
        """Opens the pad of a node that has one, or brings it to the front."""
        for window in self.findChildren(PointsWindow):
            if window.pad.node_id == node_id and window.isVisible():
                window.raise_()
                window.activateWindow()
                return
        PointsWindow(self.workspace, node_id, self).show()

    def side_panels(self) -> dict[str, QWidget]:
        """The panels that can be hidden, by the name of the command that does it."""
        return {
            "toggle_palette": self.palette_panel,
            "toggle_inspector": self.inspector,
            "toggle_bottom": self.bottom,
        }

    # -- views ------------------------------------------------------------------------------------

    def enlarge_views(self, enlarged: bool) -> None:
        """Gives the views the place of the canvas, of which a strip stays; or gives it back."""
        if enlarged == self.views_enlarged:
            return
        self.views_enlarged = enlarged
        if enlarged:
            self.bottom.show()
            self.bottom.show_panel("Views")
        else:
            self._enlarged_for_card = False
        self._fit_panels()

    def _make_room_for_card(self, wanted: bool) -> None:
        """One view fills the dock: it has little room in the panel below, and then more."""
        if self.bottom.views.own_window is not None:
            return
        if wanted and not self.views_enlarged:
            self.enlarge_views(True)
            self._enlarged_for_card = True
        elif not wanted and self._enlarged_for_card:
            self.enlarge_views(False)

    # -- sizes ------------------------------------------------------------------------------------

    def _fit_panels(self) -> None:
        """Gives the panels the sizes they are to have, as far as there is room."""
        width, height, sizes = self.width(), self.height(), self._sizes
        below = sizes.bottom or round(height * BOTTOM_FRACTION)
        if self.views_enlarged:
            below = round(height * ENLARGED_FRACTION)
        self._whole.setSizes([sizes.palette, max(1, width - sizes.palette - 1)])
        self._right.setSizes([max(1, height - below - 1), below])
        beside = sizes.inspector + (0 if self.palette_panel.isHidden() else sizes.palette + 1)
        self._upper.setSizes([max(1, width - beside - 1), sizes.inspector])

    def _handle_moved(self, _place: int, _index: int) -> None:
        """Keeps what the user made of the panels: it holds in every tab, and the next time."""
        sender = self.sender()
        if sender is self._whole:
            self._sizes = replace(self._sizes, palette=self.palette_panel.width())
        elif sender is self._upper:
            self._sizes = replace(self._sizes, inspector=self.inspector.width())
        elif not self.views_enlarged:
            self._sizes = replace(self._sizes, bottom=self.bottom.height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit_panels()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._fit_panels()

    def restore_sizes(self, settings: Settings) -> None:
        """Takes the sizes and hidden panels of the last session."""
        if sizes := settings.numbers(_SIZES, 3):
            self._sizes = PanelSizes(*sizes)
        for name, panel in self.side_panels().items():
            panel.setVisible(settings.flag(f"window/{name}", True))
        self.bottom.show_panel(settings.text("window/bottomPanel"))

    def remember_sizes(self, settings: Settings) -> None:
        """Keeps sizes and hidden panels for the next session."""
        self.enlarge_views(False)
        settings.keep(_SIZES, [self._sizes.palette, self._sizes.inspector, self._sizes.bottom])
        for name, panel in self.side_panels().items():
            settings.keep(f"window/{name}", not panel.isHidden())
        settings.keep("window/bottomPanel", self.bottom.tabs.tabText(self.bottom.tabs.currentIndex()))

    def take_sizes(self, other: DocumentPage) -> None:
        """Looks like another page, so that nothing jumps from tab to tab."""
        self._sizes = other._sizes
        for name, panel in self.side_panels().items():
            panel.setVisible(not other.side_panels()[name].isHidden())
        self._fit_panels()

    # -- end --------------------------------------------------------------------------------------

    def end(self, seconds: float) -> None:
        """Removes the recovery copy, ends a run with a checkpoint and waits for the threads."""
        self.canvas.hide()  # notes where the project was looked at
        self.file.close()
        self.workspace.close(seconds)


class _Handle(QSplitterHandle):
    """A line of the theme: a splitter that is a container has no style sheet to paint it."""

    def paintEvent(self, event: QPaintEvent) -> None:
        QPainter(self).fillRect(self.contentsRect(), current_theme().line)


class _Splitter(QSplitter):
    """A splitter whose handles need no style sheet."""

    def createHandle(self) -> QSplitterHandle:
        return _Handle(self.orientation(), self)


def _splitter(orientation: Qt.Orientation, name: str, first: QWidget, second: QWidget) -> QSplitter:
    splitter = _Splitter(orientation)
    splitter.setObjectName(name)
    # One pixel is drawn; Qt lets the pointer take hold of a few more.
    splitter.setHandleWidth(1)
    splitter.setChildrenCollapsible(False)
    splitter.addWidget(first)
    splitter.addWidget(second)
    return splitter
