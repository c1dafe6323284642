"""The file behind the document: new, open, save, recent files, and the copy that survives a crash."""

from __future__ import annotations

import logging
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from PySide6.QtCore import QObject, QTimer, Signal

from app.workspace import Workspace
from engine import autosave
from engine.errors import NeuroloomError, ProjectFileError
from engine.files import load_project, save_project
from engine.graph import Project

log = logging.getLogger(__name__)

SUFFIX = ".nloom"
MOST_RECENT = 10
AUTOSAVE_DELAY_MS = 800


class DocumentFile(QObject):
    """Reads and writes the document of a workspace; says in a message what could not be done."""

    recent_changed = Signal()

    def __init__(self, workspace: Workspace, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._workspace = workspace
        self._autosave = autosave.Autosave(workspace.places.autosaves)
        # One thread, so that a copy and its removal keep their order; writing waits for the disk.
        self._writer = ThreadPoolExecutor(max_workers=1, thread_name_prefix="autosave")
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(AUTOSAVE_DELAY_MS)
        self._timer.timeout.connect(self._write_copy)
        workspace.changed.connect(self._changed)

    @property
    def name(self) -> str:
        """What to call the document: its file name, or its title."""
        document = self._workspace.document
        if document.path is not None:
            return document.path.name
        return document.project.title or "Untitled"

    def new(self) -> None:
        """Starts an empty project."""
        self._show(Project(), None)

    def open(self, path: Path) -> bool:
        """Opens a project file; the open document is untouched, and False returned, if it cannot be read."""
        try:
            project = load_project(path)
        except NeuroloomError as error:
            self._workspace.message.emit(str(error), "error")
            self._forget(path)
            return False
        self._show(project, path.absolute())
        self._remember(path.absolute())
        self._name_unknown_types(project)
        return True

    def open_example(self, path: Path) -> bool:
        """Opens a copy of an example: it has no file until it is saved."""
        try:
            project = load_project(path)
        except NeuroloomError as error:
            self._workspace.message.emit(str(error), "error")
            return False
        self._show(project, None)
        return True

    def save(self, path: Path | None = None) -> bool:
        """Saves to `path`, or to the file the document came from; False, with a message, if that fails."""
        document = self._workspace.document
        target = path or document.path
        if target is None:
            return False
        if not target.suffix:
            target = target.with_suffix(SUFFIX)
        try:
            save_project(document.project, target)
        except NeuroloomError as error:
            self._workspace.message.emit(str(error), "error")
            return False
        document.path = target.absolute()
        document.mark_saved()
        self._timer.stop()
        self._writer.submit(self._autosave.discard)
        self._remember(document.path)
        self._workspace.announce_title()
        return True

    # -- recent files -----------------------------------------------------------------------------

    def recent(self) -> list[Path]:
        """The files opened last that are still there, newest first."""
        stored = self._workspace.settings.value("files/recent", [])
        # A list of one comes back from an INI file as its text.
        names = [stored] if isinstance(stored, str) else stored if isinstance(stored, list) else []
        return [path for path in map(Path, names) if path.is_file()]

    def _remember(self, path: Path) -> None:
        paths = [path, *(one for one in self.recent() if one != path)][:MOST_RECENT]
        self._workspace.settings.setValue("files/recent", [str(one) for one in paths])
        self.recent_changed.emit()

    def _forget(self, path: Path) -> None:
        paths = [one for one in self.recent() if one != path.absolute()]
        self._workspace.settings.setValue("files/recent", [str(one) for one in paths])
        self.recent_changed.emit()

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
        self._writer.shutdown(wait=True)
        self._autosave.close(keep)

    def _changed(self, _change: object) -> None:
        self._timer.start()

    def _write_copy(self) -> None:
        document = self._workspace.document
        if document.modified:
            self._writer.submit(self._write, document.snapshot(), document.path)
        else:
            self._writer.submit(self._autosave.discard)

    def _write(self, project: Project, path: Path | None) -> None:
        try:
            self._autosave.write(project, path)
        except ProjectFileError:
            log.exception("The recovery copy was not written")

    def _show(self, project: Project, path: Path | None) -> None:
        self._workspace.select(())
        self._workspace.document.replace(project, path)
        self._workspace.announce_title()

    def _name_unknown_types(self, project: Project) -> None:
        known = self._workspace.catalogue
        unknown = sorted({node.type for node in project.graph.nodes.values() if known.get(node.type) is None})
        if unknown:
            self._workspace.message.emit(
                f"Some node types are not installed: {', '.join(unknown)}. They are kept as they are.",
                "warning",
            )
