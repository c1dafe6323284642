"""The main window: bar, tabs and the documents in them, and how the window ends."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from PySide6.QtCore import QByteArray, QEvent, QMargins, QSize, Qt, Signal
from PySide6.QtGui import QCloseEvent, QDragEnterEvent, QDropEvent, QGuiApplication, QShowEvent
from PySide6.QtWidgets import QMainWindow, QStackedWidget, QVBoxLayout, QWidget

from app.canvas.tools.drop_files import dropped_paths
from app.canvas.view import GraphView
from app.documents.document_page import DocumentPage
from app.documents.documents import Documents
from app.theme import themes
from app.widgets.banner import Banner
from app.widgets.document_tabs import DocumentTabs
from app.widgets.questions import ask
from app.widgets.typing import finish_typing
from app.widgets.wearing import Wearing
from app.window.actions import CANVAS_COMMANDS, build_menus
from app.window.commands import Commands
from app.window.file_commands import FileCommands
from app.window.gallery import example_path
from app.window.open_files import OpenFiles
from app.window.run_commands import RunCommands
from app.window.top_bar import TopBar
from app.window.welcome import WelcomePage
from app.workspace.recent_files import RecentFiles
from app.workspace.workspace import Workspace

DEFAULT_SIZE = QSize(1440, 900)
# What a window manager adds around the window; unknown before it is shown.
_FRAME = QMargins(0, 0, 0, 32)
_CLOSE_SECONDS = 10.0

STOP_AND_CLOSE = "Stop and close"
KEEP_TRAINING = "Keep training"
SAVE = "Save"
DISCARD = "Don't save"
CANCEL = "Cancel"


class MainWindow(QMainWindow):
    """Documents in tabs, one of them in front. `closed` is emitted when nothing of them runs any more."""

    closed = Signal()

    def __init__(self, workspace: Workspace, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("mainWindow")
        self.settings = workspace.settings
        self.recent = RecentFiles(workspace.settings, self)
        self.open_files = OpenFiles(workspace.settings)
        self.top_bar = TopBar()
        self.tabs = DocumentTabs()
        self.pages = QStackedWidget()
        self.welcome = WelcomePage(workspace.catalogue, self.recent)
        self.pages.addWidget(self.welcome)
        self.documents = Documents(workspace, self.recent, self.tabs, self.pages, self)
        self._closed = False
        self._lay_out()
        self.files = FileCommands(self)
        self.runs = RunCommands(self, self.files)
        self.commands = Commands(self)
        self.actions_by_name = build_menus(self.top_bar.menu_bar, self, self.commands.handlers())
        self._connect()
        self._restore_sizes()
        self._welcome_page(self.documents.current)
        self._show_document(self.documents.current)
        self.setAcceptDrops(True)
        self._wearing = Wearing((self, self.central, self.pages), self)

    # -- the document in front --------------------------------------------------------------------

    @property
    def document_page(self) -> DocumentPage:
        """The document in front and what shows it."""
        return self.documents.current

    @property
    def workspace(self) -> Workspace:
        return self.documents.current.workspace

    @property
    def canvas(self) -> GraphView:
        return self.documents.current.canvas

    # -- building ---------------------------------------------------------------------------------

    def _lay_out(self) -> None:
        self.central = QWidget()
        self.central.setObjectName("central")
        column = QVBoxLayout(self.central)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.top_bar)
        column.addWidget(self.tabs)
        column.addWidget(self.pages, 1)
        self.setCentralWidget(self.central)
        self.banner = Banner(self.pages, self._stage)

    def _connect(self) -> None:
        self.documents.opened.connect(self._welcome_page)
        self.documents.shown.connect(self._show_document)
        self.documents.told.connect(self._show_notice)
        self.documents.closed.connect(self._let_go)
        self.tabs.close_wanted.connect(self._close_tab)
        self.banner.node_wanted.connect(self._reveal_node)
        self.banner.dismissed.connect(self._notice_read)
        self.welcome.new_requested.connect(self.files.new_project)
        self.welcome.open_requested.connect(self.files.open_project)
        self.welcome.data_requested.connect(self.files.open_data)
        self.welcome.recent_chosen.connect(self.files.open_path)
        self.welcome.example_chosen.connect(self.files.open_example)
        self.top_bar.chip.clicked.connect(self.files.offer_file_menu)
        themes.theme_changed.connect(self._theme_changed)

    def _welcome_page(self, page: DocumentPage) -> None:
        """Ties a new page to the window."""
        self.top_bar.add_controls(page.training)
        page.canvas.addActions([self.actions_by_name[name] for name in CANVAS_COMMANDS])
        self.commands.follow(page)
        page.workspace.title_changed.connect(self._title_changed)
        page.workspace.revealed.connect(self._revealed)
        page.file.changed_elsewhere.connect(partial(self.files.offer_reload, page))
        page.bottom.code.export_requested.connect(self.files.export_script)
        self.runs.follow(page)

    def _let_go(self, page: DocumentPage) -> None:
        self.top_bar.drop_controls(page.training)

    # -- beginning --------------------------------------------------------------------------------

    def begin(self, paths: Sequence[Path] = (), examples: Sequence[str] = ()) -> None:
        """Shows projects, data and examples, after offering work that a crash left behind.

        Where none are named it shows what was open when the window was closed last, else the welcome page.
        """
        asked = bool(paths or examples)
        again = self.open_files.paths() if self.open_files.wanted and not asked else []
        front = self.open_files.front()
        self.files.offer_recovery()
        self.files.open_any(paths)
        for path in again:
            self.files.open_path(path)
        if front in again and (page := self.documents.of(front)) is not None:
            self.documents.show(page)
        for example in examples:
            self.files.open_example(example_path(example))
        # Last, for a page that comes to the front takes the banner; what it says of a file goes first.
        if (left_out := self.workspace.catalogue.left_out.values()) and self.banner.isHidden():
            self.tell(" ".join([*left_out, "Its nodes are left out."]), "warning")

    def show_workbench(self) -> None:
        """Shows canvas and panels of the document in front, in place of the welcome page."""
        self.document_page.at_work = True
        self._show_document(self.document_page)

    def show_welcome(self) -> None:
        """Shows the welcome page, in a tab of its own where the document in front is not an empty one."""
        page = self.documents.spare()
        page.at_work = False
        self._show_document(page)

    @property
    def at_work(self) -> bool:
        """Whether canvas and panels are on show, rather than the welcome page."""
        return self.pages.currentWidget() is not self.welcome

    def _show_document(self, page: DocumentPage) -> None:
        # Whatever is in it, a document that holds something is never hidden behind the welcome page.
        page.at_work = page.at_work or not page.untouched
        self.pages.setCurrentWidget(page if page.at_work else self.welcome)
        self.documents.refresh(page)
        self._show_title()
        self.commands.refresh()
        self._show_notice(page)
        if page.at_work:
            page.focus_canvas()
        else:
            self.welcome.setFocus(Qt.FocusReason.OtherFocusReason)
        page.file.look()

    def _remember_files(self) -> None:
        pages = [page.workspace.document.path for page in self.documents.pages]
        front = self.workspace.document.path
        self.open_files.remember([path for path in pages if path is not None], front)

    # -- sizes ------------------------------------------------------------------------------------

    def _restore_sizes(self) -> None:
        geometry = QByteArray.fromBase64(self.settings.text("window/geometry").encode("ascii", "ignore"))
        if not self.restoreGeometry(geometry):
            screen = QGuiApplication.primaryScreen()
            room = screen.availableSize().shrunkBy(_FRAME) if screen else DEFAULT_SIZE
            self.resize(DEFAULT_SIZE.boundedTo(room))
        self.document_page.restore_sizes(self.settings)

    def _remember_sizes(self) -> None:
        self.settings.keep("window/geometry", bytes(self.saveGeometry().toBase64().data()).decode("ascii"))
        self.document_page.remember_sizes(self.settings)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.commands.refresh()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.ActivationChange and self.isActiveWindow():
            # Somebody may have come back from another program that wrote to the file.
            self.document_page.file.look()
            self.document_page.data_files.look()

    def _theme_changed(self, _theme: object) -> None:
        self.commands.refresh()

    # -- messages ---------------------------------------------------------------------------------

    def tell(self, text: str, kind: str) -> None:
        """Shows a sentence that is about no document; `kind` as for a workspace's message."""
        self.banner.show_message(text, kind)

    def _show_notice(self, page: DocumentPage) -> None:
        if page is not self.document_page:
            return
        if page.notice is None or (not page.notice.answers and page.bottom.training.tells(page.notice.text)):
            self.banner.dismiss()
        else:
            self.banner.show_notice(page.notice)
            if page.notice.passing:
                page.notice = None

    def _stage(self) -> QWidget | None:
        """What messages stand over: the panels beside it stay free."""
        return self.canvas if self.at_work else None

    def _notice_read(self) -> None:
        self.document_page.notice = None

    def _reveal_node(self, node_id: str) -> None:
        self.workspace.reveal(node_id)

    def _revealed(self, _node_id: str) -> None:
        if not self.at_work and self.sender() is self.workspace:
            self.show_workbench()

    def _title_changed(self) -> None:
        if self.sender() is self.workspace:
            self._show_title()

    def _show_title(self) -> None:
        page, document = self.document_page, self.workspace.document
        path = str(document.path) if document.path is not None else ""
        self.top_bar.show_document(page.training, page.file.name, path, document.modified)
        self.top_bar.show_work(self.at_work)
        self.setWindowTitle(f"{page.file.name}[*] — Neuroloom" if self.at_work else "Neuroloom[*]")
        self.setWindowModified(document.modified)

    # -- files dragged here -----------------------------------------------------------------------

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        if dropped_paths(event.mimeData()):
            event.setDropAction(Qt.DropAction.CopyAction)
            event.accept()

    def dropEvent(self, event: QDropEvent) -> None:
        paths = dropped_paths(event.mimeData())
        event.setDropAction(Qt.DropAction.CopyAction)
        event.accept()
        self.files.open_any(paths)
        self.activateWindow()

    # -- ending -----------------------------------------------------------------------------------

    def _close_tab(self, index: int) -> None:
        self.close_document(self.documents.pages[index])

    def close_document(self, page: DocumentPage) -> bool:
        """Closes a tab, after asking about its run and its changes; False if it stays."""
        finish_typing()
        if not page.untouched:
            self.documents.show(page)
        if not (self._may_stop(page, "close this document") and self.may_lose_changes(page)):
            return False
        self.documents.close(page, _CLOSE_SECONDS)
        return True

    def closeEvent(self, event: QCloseEvent) -> None:
        if self._closed:
            event.accept()
            return
        finish_typing()
        for page in list(self.documents.pages):
            if page.workspace.training or page.bottom.runs.sweeping or page.workspace.document.modified:
                self.documents.show(page)
            if not (self._may_stop(page, "close the window") and self.may_lose_changes(page)):
                event.ignore()
                return
        self._closed = True
        self._remember_sizes()
        self._remember_files()
        self.hide()
        # Ends the runs with a checkpoint, and waits for the threads, so that the process can exit.
        self.files.python.close()
        self.documents.end(_CLOSE_SECONDS)
        event.accept()
        self.closed.emit()

    def may_stop_training(self, page: DocumentPage, purpose: str) -> bool:
        """Whether a run that is under way may end; asks if there is one."""
        if not page.workspace.training:
            return True
        answer = ask(
            self,
            "Training is running",
            f"To {purpose}, the run has to stop. Its weights are saved as a checkpoint.",
            (STOP_AND_CLOSE if "close" in purpose else "Stop the run", KEEP_TRAINING),
        )
        return answer != KEEP_TRAINING

    def _may_stop(self, page: DocumentPage, purpose: str) -> bool:
        """Whether the run and the sweep of a page may end; asks where there is one."""
        if page.bottom.runs.sweeping:
            answer = ask(
                self,
                "A sweep is running",
                f"To {purpose}, its runs have to stop. What has been trained is kept.",
                (STOP_AND_CLOSE, KEEP_TRAINING),
            )
            if answer == KEEP_TRAINING:
                return False
        return self.may_stop_training(page, purpose)

    def may_lose_changes(self, page: DocumentPage) -> bool:
        """Whether unsaved changes are settled: saved, or given up on purpose."""
        if not page.workspace.document.modified:
            return True
        answer = ask(
            self,
            f"Save the changes to “{page.file.name}”?",
            "They are lost if you don't save them.",
            (SAVE, DISCARD, CANCEL),
        )
        if answer == SAVE:
            return self.files.save(page)
        return answer == DISCARD
