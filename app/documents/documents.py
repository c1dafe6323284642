"""The documents of a window: which are open, which is in front, and how they come and go."""

from __future__ import annotations

from itertools import count
from pathlib import Path

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtWidgets import QStackedWidget

from app.documents.document_page import DocumentPage
from app.widgets.banner import Notice
from app.widgets.document_tabs import DocumentTabs
from app.workspace.document_file import UNTITLED
from app.workspace.engine_start import EngineStart
from app.workspace.event_buttons import answers_to
from app.workspace.recent_files import RecentFiles
from app.workspace.workspace import Workspace
from engine.document.graph import Project
from engine.feed.feed import Event


class Documents(QObject):
    """Keeps pages, their tabs and their place in the stack together. There is always one at least.

    Each page has a workspace of its own, and with it a trainer: one in the background goes on training.
    """

    opened = Signal(object)  # DocumentPage, before it is shown
    shown = Signal(object)  # DocumentPage now in front
    told = Signal(object)  # DocumentPage whose notice is new
    closed = Signal(object)  # DocumentPage that is about to be deleted

    def __init__(
        self,
        first: Workspace,
        recent: RecentFiles,
        tabs: DocumentTabs,
        stack: QStackedWidget,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._recent = recent
        self._tabs = tabs
        self._stack = stack
        self._engine: EngineStart | None = None
        self.pages: list[DocumentPage] = []
        self.current = self._add(first)
        tabs.currentChanged.connect(self._tab_chosen)
        tabs.tabMoved.connect(self._tab_moved)

    # -- finding ----------------------------------------------------------------------------------

    def of(self, path: Path) -> DocumentPage | None:
        """The page that has this file open, under whatever name it is reached."""
        wanted = path.resolve()
        for page in self.pages:
            known = page.workspace.document.path
            if known is not None and known.resolve() == wanted:
                return page
        return None

    # -- coming -----------------------------------------------------------------------------------

    def begin_engine(self) -> None:
        """Begins to load torch in the background, once for all documents."""
        if self._engine is None:
            self._engine = EngineStart()
            self._engine.begin()
            for page in self.pages:
                page.workspace.wait_for(self._engine)

    def spare(self) -> DocumentPage:
        """The page in front if nobody would miss what it holds, otherwise a new one, in front."""
        if not self.current.untouched:
            self.show(self.add())
        return self.current

    def add(self) -> DocumentPage:
        """A page with an empty document, in a tab of its own at the right."""
        model = self.current.workspace
        workspace = Workspace(model.places, model.catalogue)
        workspace.document.replace(Project(title=self._free_title()))
        page = self._add(workspace)
        if model.engine is not None:
            workspace.adopt_engine(model.engine)
        elif self._engine is not None:
            workspace.wait_for(self._engine)
        return page

    def _free_title(self) -> str:
        """A title for a new project that tells it from those that are open."""
        taken = {page.workspace.document.project.title for page in self.pages}
        titles = (f"{UNTITLED} {number}" for number in count(2))
        return UNTITLED if UNTITLED not in taken else next(one for one in titles if one not in taken)

    def _add(self, workspace: Workspace) -> DocumentPage:
        page = DocumentPage(workspace, self._recent)
        self.pages.append(page)
        self._stack.addWidget(page)
        _Follower(self, page)
        self._tabs.add(page.face)
        self.opened.emit(page)
        return page

    # -- showing ----------------------------------------------------------------------------------

    def show(self, page: DocumentPage) -> None:
        """Brings a page to the front."""
        self._tabs.setCurrentIndex(self.pages.index(page))
        self._bring(page)

    def step(self, by: int) -> None:
        """Shows the page so many tabs to the right, round the end."""
        index = self.pages.index(self.current)
        self.show(self.pages[(index + by) % len(self.pages)])

    def _tab_chosen(self, index: int) -> None:
        if 0 <= index < len(self.pages):
            self._bring(self.pages[index])

    def _tab_moved(self, source: int, target: int) -> None:
        self.pages.insert(target, self.pages.pop(source))

    def _bring(self, page: DocumentPage) -> None:
        if page is self.current:
            return
        page.take_sizes(self.current)
        self.current = page
        if page.mark != "training":
            page.mark = ""
        self.refresh(page)
        self.shown.emit(page)

    def refresh(self, page: DocumentPage) -> None:
        """Shows name and marks of a page on its tab."""
        if page in self.pages:
            self._tabs.show_face(self.pages.index(page), page.face)

    # -- going ------------------------------------------------------------------------------------

    def close(self, page: DocumentPage, seconds: float) -> None:
        """Ends a page; the last one leaves an empty document behind. Asks nothing."""
        if len(self.pages) == 1:
            self.add()
        index = self.pages.index(page)
        if page is self.current:
            self.show(self.pages[index + 1 if index + 1 < len(self.pages) else index - 1])
        del self.pages[self.pages.index(page)]
        self._tabs.blockSignals(True)
        self._tabs.drop(index)
        self._tabs.setCurrentIndex(self.pages.index(self.current))
        self._tabs.blockSignals(False)
        page.end(seconds)
        self._stack.removeWidget(page)
        self.closed.emit(page)
        page.workspace.setParent(page)
        page.training.deleteLater()
        page.deleteLater()

    def end(self, seconds: float) -> None:
        """Ends all pages and waits for the engine's thread, so that the process can exit."""
        for page in self.pages:
            page.end(seconds)
        if self._engine is not None:
            self._engine.join()


class _Follower(QObject):
    """Keeps tab and notice of one page up to date, also while another page is in front."""

    def __init__(self, documents: Documents, page: DocumentPage) -> None:
        super().__init__(page)
        self._documents = documents
        self._page = page
        workspace = page.workspace
        workspace.title_changed.connect(self._title_changed)
        workspace.state_changed.connect(self._state_changed)
        workspace.message.connect(self._told)
        workspace.node_message.connect(self._told)
        workspace.advised.connect(self._advised)
        workspace.settled.connect(self._settled)
        page.file.noticed.connect(self._noticed)
        page.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)

    def _title_changed(self) -> None:
        self._documents.refresh(self._page)

    def _state_changed(self, state: str) -> None:
        behind = self._page is not self._documents.current
        ended = {"finished": "done", "failed": "failed"}.get(state, "") if behind else ""
        self._page.mark = "training" if self._page.workspace.training else ended
        self._documents.refresh(self._page)

    def _told(self, text: str, kind: str, node_id: str = "") -> None:
        self._noticed(Notice(text, kind, node_id))

    def _advised(self, event: Event) -> None:
        workspace = self._page.workspace
        there = event.node_id is not None and workspace.node(event.node_id) is not None
        node_id, answers = (event.node_id or "") if there else "", answers_to(workspace, event)
        self._noticed(Notice(event.message, event.kind, node_id, answers, about=event.about or "a run"))

    def _settled(self, about: str) -> None:
        """What the run said is over: its notice goes, unless another has taken its place."""
        notice = self._page.notice
        if notice is not None and notice.about and about in ("", notice.about):
            self._page.notice = None
            self._documents.told.emit(self._page)

    def _noticed(self, notice: Notice) -> None:
        behind = self._page is not self._documents.current
        if behind and notice.passing:
            return
        self._page.notice = notice
        if behind:
            self._page.mark = self._page.mark or "told"
            self._documents.refresh(self._page)
        else:
            self._documents.told.emit(self._page)
