"""The main window: bar, palette, canvas, inspector and the panels below, and how the window ends."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QMargins, QSize, Qt, Signal
from PySide6.QtGui import QCloseEvent, QGuiApplication, QShowEvent
from PySide6.QtWidgets import QMainWindow, QSplitter, QStackedWidget, QVBoxLayout, QWidget

from app.actions import build_menus
from app.bottom_panels import BottomPanels
from app.commands import Commands
from app.document_file import DocumentFile
from app.editor.view import GraphView
from app.panels.inspector import InspectorPanel
from app.panels.palette import PalettePanel
from app.theme import current_theme, themes
from app.top_bar import TopBar
from app.welcome import WelcomePage, example_path
from app.widgets.banner import Banner
from app.widgets.questions import ask
from app.workspace import Workspace

DEFAULT_SIZE = QSize(1440, 900)
# What a window manager adds around the window; unknown before it is shown.
_FRAME = QMargins(0, 0, 0, 32)
PALETTE_WIDTH = 216
INSPECTOR_WIDTH = 300
# Of the height below the top bar; the rest is canvas.
BOTTOM_SHARE = 0.39
_CLOSE_SECONDS = 10.0

STOP_AND_CLOSE = "Stop and close"
KEEP_TRAINING = "Keep training"
SAVE = "Save"
DISCARD = "Don't save"
CANCEL = "Cancel"


class MainWindow(QMainWindow):
    """One document and everything that shows it. `closed` is emitted when nothing of it runs any more."""

    closed = Signal()

    def __init__(self, workspace: Workspace, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("mainWindow")
        self.workspace = workspace
        self.file = DocumentFile(workspace, self)
        self.top_bar = TopBar(workspace, self.file)
        self.welcome = WelcomePage(workspace, self.file)
        self.palette_panel = PalettePanel(workspace)
        self.canvas = GraphView(workspace)
        self.inspector = InspectorPanel(workspace)
        self.bottom = BottomPanels(workspace)
        self._closed = False
        self._lay_out()
        self.commands = Commands(self)
        self.actions_by_name = build_menus(self.top_bar.menu_bar, self, self.canvas, self.commands.handlers())
        self._connect()
        self._restore_sizes()
        self.commands.refresh()
        self._show_title()

    # -- building ---------------------------------------------------------------------------------

    def _lay_out(self) -> None:
        self.palette_panel.setMinimumWidth(160)
        self.palette_panel.setMaximumWidth(360)
        self.inspector.setMinimumWidth(250)
        self.inspector.setMaximumWidth(460)
        self.canvas.setMinimumSize(240, 160)
        self.bottom.setMinimumHeight(120)
        self._upper = _splitter(Qt.Orientation.Horizontal, "upperSplitter", self.canvas, self.inspector)
        self._right = _splitter(Qt.Orientation.Vertical, "rightSplitter", self._upper, self.bottom)
        self._whole = _splitter(Qt.Orientation.Horizontal, "wholeSplitter", self.palette_panel, self._right)
        self._upper.setStretchFactor(0, 1)
        self._upper.setStretchFactor(1, 0)
        self._right.setStretchFactor(0, 1)
        self._right.setStretchFactor(1, 0)
        self._whole.setStretchFactor(0, 0)
        self._whole.setStretchFactor(1, 1)
        self.pages = QStackedWidget()
        self.pages.addWidget(self.welcome)
        self.pages.addWidget(self._whole)
        central = QWidget()
        central.setObjectName("central")
        column = QVBoxLayout(central)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.top_bar)
        column.addWidget(self.pages, 1)
        self.setCentralWidget(central)
        self.banner = Banner(self.pages)

    def _connect(self) -> None:
        workspace = self.workspace
        workspace.message.connect(self.banner.show_message)
        workspace.node_message.connect(self.banner.show_message)
        self.banner.node_wanted.connect(workspace.reveal)
        workspace.title_changed.connect(self._show_title)
        workspace.revealed.connect(self._reveal)
        self.palette_panel.add_requested.connect(self._add_in_centre)
        self.inspector.left.connect(self._focus_canvas)
        self.bottom.code.export_requested.connect(self.commands.export_script)
        self.welcome.new_requested.connect(self.commands.new_project)
        self.welcome.open_requested.connect(self.commands.open_project)
        self.welcome.recent_chosen.connect(self.commands.open_path)
        self.welcome.example_chosen.connect(self.commands.open_example)
        self.top_bar.chip.clicked.connect(self.commands.offer_file_menu)
        themes.theme_changed.connect(self._remember_theme)

    # -- beginning --------------------------------------------------------------------------------

    def begin(self, path: Path | None, example: str = "") -> None:
        """Shows the welcome page, a project or an example, after offering work that a crash left behind."""
        if self.commands.offer_recovery():
            return
        if path is not None:
            self.commands.open_path(path)
        elif example:
            self.commands.open_example(example_path(example))

    def show_workbench(self) -> None:
        """Shows canvas and panels in place of the welcome page, the whole graph in view."""
        self.banner.dismiss()
        self.pages.setCurrentWidget(self._whole)
        self.canvas.setFocus(Qt.FocusReason.OtherFocusReason)

    def show_welcome(self) -> None:
        """Shows the welcome page; the document stays as it is."""
        self.pages.setCurrentWidget(self.welcome)

    @property
    def at_work(self) -> bool:
        """Whether canvas and panels are on show, rather than the welcome page."""
        return self.pages.currentWidget() is self._whole

    # -- sizes ------------------------------------------------------------------------------------

    def _restore_sizes(self) -> None:
        settings = self.workspace.settings
        geometry = settings.value("window/geometry")
        if geometry is None or not self.restoreGeometry(geometry):
            screen = QGuiApplication.primaryScreen()
            room = screen.availableSize().shrunkBy(_FRAME) if screen else DEFAULT_SIZE
            self.resize(DEFAULT_SIZE.boundedTo(room))
        self.reset_sizes()
        for splitter in (self._whole, self._right, self._upper):
            state = settings.value(f"window/{splitter.objectName()}")
            if state is not None:
                splitter.restoreState(state)
                splitter.setHandleWidth(1)
        for name, panel in self.side_panels().items():
            panel.setVisible(bool(settings.value(f"window/{name}", True, type=bool)))

    def reset_sizes(self) -> None:
        """Gives every panel the share of the window it has at first."""
        width, height = self.width(), self.height() - self.top_bar.height()
        below = round(height * BOTTOM_SHARE)
        self._whole.setSizes([PALETTE_WIDTH, width - PALETTE_WIDTH - 1])
        self._right.setSizes([height - below - 1, below])
        self._upper.setSizes([width - PALETTE_WIDTH - INSPECTOR_WIDTH - 2, INSPECTOR_WIDTH])

    def side_panels(self) -> dict[str, QWidget]:
        """The panels that can be hidden, by the name of the command that does it."""
        return {
            "toggle_palette": self.palette_panel,
            "toggle_inspector": self.inspector,
            "toggle_bottom": self.bottom,
        }

    def _remember_sizes(self) -> None:
        settings = self.workspace.settings
        settings.setValue("window/geometry", self.saveGeometry())
        for splitter in (self._whole, self._right, self._upper):
            settings.setValue(f"window/{splitter.objectName()}", splitter.saveState())
        for name, panel in self.side_panels().items():
            settings.setValue(f"window/{name}", not panel.isHidden())

    def _remember_theme(self, _theme: object) -> None:
        self.workspace.settings.setValue("window/theme", current_theme().name)
        self.commands.retint()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.commands.refresh()

    # -- slots ------------------------------------------------------------------------------------

    def _show_title(self) -> None:
        self.setWindowTitle(f"{self.file.name}[*] — Neuroloom")
        self.setWindowModified(self.workspace.document.modified)

    def _reveal(self, _node_id: str) -> None:
        if not self.at_work:
            self.show_workbench()

    def _add_in_centre(self, type_id: str) -> None:
        self.canvas.add_node(type_id, None)
        self._focus_canvas()

    def _focus_canvas(self) -> None:
        self.canvas.setFocus(Qt.FocusReason.OtherFocusReason)

    # -- ending -----------------------------------------------------------------------------------

    def closeEvent(self, event: QCloseEvent) -> None:
        if self._closed:
            event.accept()
            return
        if not (self.may_stop_training("close the window") and self.may_lose_changes()):
            event.ignore()
            return
        self._closed = True
        self._remember_sizes()
        self.hide()
        self.file.close()
        # Ends the run with a checkpoint, and waits for the threads, so that the process can exit.
        self.workspace.close(_CLOSE_SECONDS)
        event.accept()
        self.closed.emit()

    def may_stop_training(self, purpose: str) -> bool:
        """Whether a run that is under way may end; asks if there is one."""
        if not self.workspace.training:
            return True
        answer = ask(
            self,
            "Training is running",
            f"To {purpose}, the run has to stop. Its weights are saved as a checkpoint.",
            (STOP_AND_CLOSE if "close" in purpose else "Stop the run", KEEP_TRAINING),
        )
        return answer != KEEP_TRAINING

    def may_lose_changes(self) -> bool:
        """Whether unsaved changes are dealt with: saved, or given up on purpose."""
        if not self.workspace.document.modified:
            return True
        answer = ask(
            self,
            f"Save the changes to “{self.file.name}”?",
            "They are lost if you don't save them.",
            (SAVE, DISCARD, CANCEL),
        )
        if answer == SAVE:
            return self.commands.save_project()
        return answer == DISCARD


def _splitter(orientation: Qt.Orientation, name: str, first: QWidget, second: QWidget) -> QSplitter:
    splitter = QSplitter(orientation)
    splitter.setObjectName(name)
    # One pixel is drawn; Qt lets the pointer take hold of a few more.
    splitter.setHandleWidth(1)
    splitter.setChildrenCollapsible(False)
    splitter.addWidget(first)
    splitter.addWidget(second)
    return splitter
