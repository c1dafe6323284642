"""The file behind the document: new, open, save, and the copy that survives a crash."""

from __future__ import annotations

import logging
import re
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from hashlib import sha256
from pathlib import Path

from PySide6.QtCore import QDeadlineTimer, QObject, QTimer, Signal

from app.widgets.banner import Notice
from app.workspace.agreements import Agreements
from app.workspace.outside_changes import OutsideChanges
from app.workspace.recent_files import RecentFiles
from app.workspace.workspace import Workspace
from engine.catalogue.foreign_files import foreign, held, withheld
from engine.data.sets.public_files import datasets_home
from engine.document import autosave
from engine.document.edits import SetTitle
from engine.document.files import load_project, save_project
from engine.document.graph import Project
from engine.errors import NeuroloomError, ProjectFileError

log = logging.getLogger(__name__)

SUFFIX = ".nloom"
UNTITLED = "Untitled"
_NO_TITLE = re.compile(rf"({UNTITLED}( \d+)?)?")  # what a project is called that nobody has given a name
AUTOSAVE_DELAY_MS = 800  # after an edit, so that one that follows soon is in the same copy
AUTOSAVE_OLDEST_MS = 5000  # so long edits may follow each other before a copy is written all the same
AUTOSAVE_AGAIN_MS = 10_000  # until a copy that could not be written is tried again
_LOOK_MS = 50


class DocumentFile(QObject):
    """Reads and writes the document of a workspace; says in a message what could not be done."""

    noticed = Signal(object)  # app.widgets.banner.Notice about the file
    changed_elsewhere = Signal(bool)  # another program wrote to the file; True when it took it away

    def __init__(
        self, workspace: Workspace, recent: RecentFiles | None = None, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._workspace = workspace
        self.recent = recent or RecentFiles(workspace.settings, self)
        self._autosave = autosave.Autosave(workspace.places.autosaves)
        # One thread, so that a copy and its removal keep their order; writing waits for the disk.
        self._writer = ThreadPoolExecutor(max_workers=1, thread_name_prefix="autosave")
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.timeout.connect(self._write_copy)
        self._by = QDeadlineTimer()  # when the copy is to be written at the latest
        self._writing: Future[str] = Future()
        self._look_again = QTimer(self)
        self._look_again.setSingleShot(True)
        self._look_again.setInterval(_LOOK_MS)
        self._look_again.timeout.connect(self._look_at_copy)
        self._agreements = Agreements(workspace.settings)
        self._held: frozenset[str] = frozenset()  # paths that wait for the user's agreement
        self._unprotected = False  # the last copy could not be written
        self._showing = False
        self._outside = OutsideChanges(self)
        self._outside.changed.connect(self._changed_outside)
        self._outside.gone.connect(self._gone_outside)
        workspace.changed.connect(self._changed)
        workspace.scope_changed.connect(self._remember_scope)
        workspace.starting.connect(self._write_copy)  # a layer may bring the whole program down

    @property
    def name(self) -> str:
        """What to call the document: its file name, or its title."""
        document = self._workspace.document
        if document.path is not None:
            return document.path.name
        return document.project.title or UNTITLED

    def new(self) -> None:
        """Starts an empty project."""
        self._show(Project(), None)

    def read(self, path: Path) -> Project | None:
        """Reads a project file; None, with a message, if it cannot be read. The document stays as it is."""
        try:
            project = load_project(path)
        except NeuroloomError as error:
            self._workspace.message.emit(str(error), "error")
            self.recent.forget(path.absolute())
            return None
        home, workspace = path.absolute(), self._workspace
        if home.is_relative_to(workspace.places.runs):
            return project  # a run was begun here, with data that were read
        agreed = partial(self._agreements.holds, home)
        return withheld(project, workspace.catalogue, home.parent, agreed, (datasets_home(),))

    def show(self, project: Project, path: Path | None) -> None:
        """Shows a project that was read from `path`; without one it has no file until it is saved."""
        self._show(project, path)
        if path is not None:
            self.recent.remember(path)
        self._name_unknown_types(project)

    def open(self, path: Path) -> bool:
        """Opens a project file; the open document is untouched, and False returned, if it cannot be read."""
        project = self.read(path)
        if project is not None:
            self.show(project, path.absolute())
        return project is not None

    def target(self, path: Path) -> Path:
        """The file that saving to `path` writes: a name without a suffix gets one."""
        return path if path.suffix else path.with_suffix(SUFFIX)

    def save(self, path: Path | None = None) -> bool:
        """Saves to `path`, or to the file the document came from; False, with a message, if that fails."""
        document = self._workspace.document
        target = path or document.path
        if target is None:
            return False
        target = self.target(target)
        if _NO_TITLE.fullmatch(document.project.title):  # the file's name is the first that it is given
            self._workspace.apply("Title", SetTitle(target.stem))
        try:
            save_project(document.project, target)
        except NeuroloomError as error:
            self._workspace.message.emit(str(error), "error")
            return False
        document.path = target.absolute()
        document.mark_saved()
        self._agree(document.path)
        self._outside.follow(document.path)
        self._timer.stop()
        self._writer.submit(self._autosave.discard)
        self.recent.remember(document.path)
        self._workspace.announce_title()
        return True

    # -- other programs ---------------------------------------------------------------------------

    def look(self) -> None:
        """Looks whether another program has written to the file."""
        self._outside.look()

    def changed_outside(self) -> bool:
        """Whether the file holds something that the document has not seen, so that saving would lose it."""
        return self._outside.differs

    def reload(self) -> bool:
        """Shows what is in the file now, in place of the document; False, with a message, if it cannot."""
        path = self._workspace.document.path
        return path is not None and self.open(path)

    def keep_mine(self) -> None:
        """Leaves the file as it is; the document counts as unsaved, and saving overwrites the file."""
        self._outside.accept()
        self._lose_touch()

    def _changed_outside(self) -> None:
        self.changed_elsewhere.emit(False)

    def _gone_outside(self) -> None:
        self._lose_touch()
        self.changed_elsewhere.emit(True)

    def _lose_touch(self) -> None:
        self._workspace.document.mark_modified()
        self._workspace.announce_title()
        self._write_copy()

    # -- recovery ---------------------------------------------------------------------------------

    def left_behind(self) -> list[autosave.Recovered]:
        """Copies of unsaved work that a program no longer running left behind, newest first."""
        return autosave.find(self._workspace.places.autosaves)

    def restore(self, recovered: autosave.Recovered) -> None:
        """Opens a recovered copy as unsaved work on the file it belonged to."""
        assert recovered.project is not None
        self._show(recovered.project, recovered.path)
        self._workspace.document.mark_modified()
        self._workspace.announce_title()
        self._write_copy()
        self._writer.submit(autosave.discard, recovered)

    def close(self, keep: bool = False) -> None:
        """Ends the writing thread and removes the recovery copy, unless `keep`."""
        self._timer.stop()
        self._look_again.stop()
        self._outside.close()
        self._writer.shutdown(wait=True)
        self._autosave.close(keep)

    def _agree(self, path: Path) -> None:
        """Remembers the data outside of the file's folder that the document reads."""
        project, known = self._workspace.document.project, (datasets_home(),)
        found = foreign(project, self._workspace.catalogue, path.parent, known)
        self._agreements.agree(path, [one for _, _, one in found])

    def _look_at_held(self) -> None:
        """Remembers what the user has just agreed to read."""
        held_now, path = held(self._workspace.document.project), self._workspace.document.path
        if path is not None and self._held - held_now and not self._showing:
            self._agree(path)
        self._held = held_now

    def _changed(self, _change: object) -> None:
        self._look_at_held()
        if not self._timer.isActive():
            self._by = QDeadlineTimer(AUTOSAVE_OLDEST_MS)
        self._timer.start(min(AUTOSAVE_DELAY_MS, self._by.remainingTime()))

    def _write_copy(self) -> None:
        self._timer.stop()
        document = self._workspace.document
        if document.modified:
            self._writing = self._writer.submit(self._write, document.snapshot(), document.path)
            self._look_again.start()
        else:
            self._writer.submit(self._autosave.discard)

    def _write(self, project: Project, path: Path | None) -> str:
        """Writes the copy; returns why that could not be done."""
        try:
            self._autosave.write(project, path)
        except ProjectFileError as error:
            log.info("no recovery copy", exc_info=error)
            return error.message
        return ""

    def _look_at_copy(self) -> None:
        """Tells of a copy that could not be written, once, and tries it again."""
        if not self._writing.done():
            self._look_again.start()
            return
        why = self._writing.result()
        if why and not self._unprotected:
            text = f"{why} What is not saved would be lost in a crash."
            self.noticed.emit(Notice(text, "warning", until_saved=True))
        self._unprotected = bool(why)
        if why:
            self._by = QDeadlineTimer(AUTOSAVE_AGAIN_MS)
            self._timer.start(AUTOSAVE_AGAIN_MS)

    def _show(self, project: Project, path: Path | None) -> None:
        self._showing = True
        self._workspace.show(project, path, self._remembered_scope(path))
        self._showing = False
        self._outside.follow(path)

    def _remembered_scope(self, path: Path | None) -> str:
        return self._workspace.settings.text(_scope_key(path)) if path is not None else ""

    def _remember_scope(self, scope: str) -> None:
        path, settings = self._workspace.document.path, self._workspace.settings
        if path is None or self._showing:
            return
        if scope:
            settings.keep(_scope_key(path), scope)
        else:
            settings.forget([_scope_key(path)])

    def _name_unknown_types(self, project: Project) -> None:
        known = self._workspace.catalogue
        nodes = [node for _, graph in project.graphs() for node in graph.nodes.values()]
        unknown = sorted({node.type for node in nodes if known.get(node.type) is None})
        if unknown:
            self._workspace.message.emit(
                f"Some node types are not installed: {', '.join(unknown)}. They are kept as they are.",
                "warning",
            )


def _scope_key(path: Path) -> str:
    """Where the settings keep which block of this file was on show."""
    digest = sha256(str(path.resolve()).encode("utf-8", "surrogatepass")).hexdigest()[:24]
    return f"canvas_scopes/{digest}"
