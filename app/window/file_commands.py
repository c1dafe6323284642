"""What the File menu does: documents come, are saved and go."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Protocol

from PySide6.QtCore import QPoint, QUrl
from PySide6.QtGui import QAction, QDesktopServices
from PySide6.QtWidgets import QFileDialog, QMenu

from app.documents.document_page import DocumentPage
from app.documents.python_files import PythonFiles, notice_of
from app.panels.export_dialog import ExportDialog
from app.widgets.banner import Banner, Notice
from app.widgets.labels import plain
from app.widgets.questions import ask
from app.widgets.typing import finish_typing
from app.window.in_front import Window
from app.window.top_bar import TopBar
from app.workspace.data_files import data_filter, data_folder
from app.workspace.document_file import SUFFIX
from app.workspace.recent_files import RecentFiles
from engine.document import autosave
from engine.document.crashes import Crash
from engine.document.graph import Project
from engine.importers.findings import Finding
from engine.importers.texts import is_python

log = logging.getLogger(__name__)

_FILTER = f"Neuroloom projects (*{SUFFIX});;All files (*)"
_OPENED = f"Neuroloom projects and exports (*{SUFFIX} *.py *.ipynb);;All files (*)"
OVERWRITE = "Overwrite it"
DONT = "Cancel"


class FilesWindow(Window, Protocol):
    """The window with the files it has had open and where it tells of them."""

    recent: RecentFiles
    banner: Banner
    top_bar: TopBar
    actions_by_name: Mapping[str, QAction]

    def close_document(self, page: DocumentPage) -> bool: ...


class FileCommands:
    """Opens each project in a tab of its own; a file that is open already is only brought to the front."""

    def __init__(self, window: FilesWindow) -> None:
        self._window = window
        self._documents = window.documents
        self.python = PythonFiles(window.workspace.catalogue, window.central)
        self.python.opened.connect(self._show_python)
        self.python.failed.connect(lambda sentence: window.tell(sentence, "error"))

    # -- coming -----------------------------------------------------------------------------------

    def new_project(self) -> None:
        """Shows an empty canvas."""
        self._show(self._documents.spare())

    def open_project(self) -> None:
        """Asks for project files and opens them."""
        names, _ = QFileDialog.getOpenFileNames(
            self._window.central, "Open project", str(self.folder()), _OPENED
        )
        for name in names:
            self.open_path(Path(name))

    def open_path(self, path: Path) -> None:
        """Opens a project file. One that cannot be read is told of, and nothing else happens."""
        known = self._documents.of(path)
        if known is not None:
            self._documents.show(known)
            return
        if is_python(path):
            self._window.tell(f"Reading {path.name} …", "info")
            self.python.open(path)
            return
        project = self._window.document_page.file.read(path)
        if project is not None:
            page = self._documents.spare()
            page.notice = None
            page.file.show(project, path.absolute())
            self._show(page)

    def _show_python(self, project: Project, findings: Sequence[Finding], path: Path) -> None:
        """Shows what a script came from as a document without a file, and what of it was not read."""
        page = self._documents.spare()
        page.notice = None
        page.file.show(project, None)
        self._show(page)
        lines = "\n".join(str(one) for one in findings)
        title = f"What of {path.name} is not in the project"
        page.file.noticed.emit(
            notice_of(path, findings, lambda: ask(self._window.central, title, lines, ("Close",)))
        )

    def open_example(self, path: Path) -> None:
        """Opens a copy of an example."""
        project = self._window.document_page.file.read(path)
        if project is not None:
            page = self._documents.spare()
            page.notice = None
            page.file.show(project, None)
            self._show(page)

    def open_data(self) -> None:
        """Asks for files of data and adds a node for each."""
        names, _ = QFileDialog.getOpenFileNames(
            self._window.central, "Open data", str(self.data_folder()), data_filter()
        )
        self.open_data_paths([Path(name) for name in names])

    def open_data_folder(self) -> None:
        """Asks for a folder of data, such as images in folders by class, and adds a node for it."""
        name = QFileDialog.getExistingDirectory(
            self._window.central, "Open a folder of data", str(self.data_folder())
        )
        self.open_data_paths([Path(name)] if name else [])

    def open_any(self, paths: Sequence[Path]) -> None:
        """Opens projects, each in a tab, and adds nodes for all that is data."""
        projects = [path for path in paths if path.suffix.lower() == SUFFIX or is_python(path)]
        for path in projects:
            self.open_path(path)
        self.open_data_paths([path for path in paths if path not in projects])

    def open_data_paths(self, paths: list[Path]) -> None:
        """Adds data nodes for these files and folders to the document in front."""
        if not paths:
            return
        if not self._window.at_work:
            self._window.show_workbench()
        self._window.settings.keep("data/folder", str(paths[0].parent))
        self._window.document_page.opening.open(paths)

    def data_folder(self) -> Path:
        """Where the next file of data is likely to be."""
        return data_folder(self._window.workspace)

    def _show(self, page: DocumentPage) -> None:
        assert page is self._documents.current
        self._window.show_workbench()

    def folder(self) -> Path:
        """Where the next file is likely to be."""
        path = self._window.workspace.document.path
        recent = self._window.recent.paths()
        return path.parent if path else recent[0].parent if recent else Path.home()

    # -- staying ----------------------------------------------------------------------------------

    def save_project(self) -> bool:
        """Saves the document in front to its file, asking for one if it has none; False if not saved."""
        return self.save(self._window.document_page)

    def save_project_as(self) -> bool:
        """Asks for a file and saves the document in front to it."""
        finish_typing()
        return self._save_as(self._window.document_page)

    def save(self, page: DocumentPage) -> bool:
        """Saves a document to its file, asking for one if it has none; False if it was not saved."""
        finish_typing()
        if page.workspace.document.path is None:
            return self._save_as(page)
        if page.file.changed_outside():
            answer = ask(
                self._window.central,
                f"“{page.file.name}” was changed by another program.",
                "What that program wrote is lost if you save over it.",
                (OVERWRITE, DONT),
            )
            if answer != OVERWRITE:
                return False
        return self._saved(page, page.file.save())

    def _save_as(self, page: DocumentPage) -> bool:
        title = page.workspace.document.project.title or "untitled"
        path = page.workspace.document.path or self.folder() / f"{_file_name(title)}{SUFFIX}"
        name, _ = QFileDialog.getSaveFileName(self._window.central, "Save project", str(path), _FILTER)
        if not name:
            return False
        target = page.file.target(Path(name))
        holder = self._documents.of(target)
        if holder is not None and holder is not page:
            sentence = f"“{target.name}” is open in another tab: close it there, or choose another name."
            self._window.tell(sentence, "error")
            return False
        return self._saved(page, page.file.save(target))

    def _saved(self, page: DocumentPage, done: bool) -> bool:
        if done and page.notice is not None and page.notice.until_saved:
            page.notice = None
            self._window.banner.dismiss()
        return done

    def export_script(self) -> None:
        """Offers to save the network as Python."""
        workspace = self._window.workspace
        if workspace.engine is None:
            workspace.message.emit("The engine is still starting; export is ready in a moment.", "info")
            return
        dialog = ExportDialog(workspace, self.folder(), self._window.central)
        dialog.exec()
        dialog.deleteLater()

    def offer_file_menu(self) -> None:
        """Shows the file commands and the recent files under the file's name."""
        chip = self._window.top_bar.chip
        menu = QMenu(chip)
        actions = self._window.actions_by_name
        names = ("save_project", "save_project_as", "open_project", "new_project", "close_document")
        menu.addActions([actions[name] for name in names])
        recent = [path for path in self._window.recent.paths() if self._documents.of(path) is None]
        if recent:
            menu.addSeparator()
        chosen: dict[QAction, Path] = {}
        for path in recent:
            entry = menu.addAction(path.name.replace("&", "&&"))
            entry.setToolTip(plain(str(path)))
            chosen[entry] = path
        picked = menu.exec(chip.mapToGlobal(QPoint(0, chip.height() + 4)))
        menu.deleteLater()
        if picked in chosen:
            self.open_path(chosen[picked])

    # -- going ------------------------------------------------------------------------------------

    def close_document(self) -> None:
        """Closes the document in front, after asking about its run and its changes."""
        self._window.close_document(self._window.document_page)

    # -- after a crash ----------------------------------------------------------------------------

    def offer_recovery(self) -> bool:
        """Offers the documents that a crash left behind; True if they were opened, each in a tab."""
        found = self._window.document_page.file.left_behind()
        readable = [one for one in found if one.project is not None]
        for one in found:
            if one.project is None:
                log.error("A recovery copy cannot be read: %s", one.error)
                autosave.release(one)
        if not readable:
            return False
        restore, drop, later = "Restore", "Discard", "Ask later"
        answer = ask(
            self._window.central,
            "Restore unsaved work?",
            f"Neuroloom ended unexpectedly while {_listed(readable)} held unsaved changes.",
            (restore, drop, later),
        )
        # The newest stands in front afterwards.
        for one in reversed(readable):
            if answer == restore:
                page = self._documents.spare()
                page.file.restore(one)
                self._show(page)
            elif answer == drop:
                autosave.discard(one)
            else:
                autosave.release(one)
        return answer == restore

    def tell_of_crash(self, crash: Crash) -> None:
        """Says calmly how the program ended last time, and where, with the report and the node at hand."""
        page = self._window.document_page
        node = page.workspace.node(crash.node_id) if crash.node_id is not None else None
        there = node is not None and crash.node == (node.name or node.type)
        text = f"{crash.sentence} Saved work is untouched; a run can go on from its last checkpoint."
        answers: tuple[tuple[str, Callable[[], object]], ...] = ()
        if crash.report is not None:
            answers = (("Show the report", partial(_show_file, crash.report)),)
        page.file.noticed.emit(Notice(text, "info", (crash.node_id or "") if there else "", answers))

    # -- another program wrote to the file --------------------------------------------------------

    def offer_reload(self, page: DocumentPage, gone: bool) -> None:
        """Says that the file of a document is not what was read or saved last, and what can be done."""
        name = page.file.name
        if gone:
            text = f"“{name}” was moved or deleted by another program. Saving writes it again."
            notice = Notice(text, "warning", until_saved=True)
        else:
            lost = " Reloading drops your unsaved changes." if page.workspace.document.modified else ""
            answers = (("Reload", page.file.reload), ("Keep mine", page.file.keep_mine))
            text = f"“{name}” was changed by another program.{lost}"
            notice = Notice(text, "warning", answers=answers, until_saved=True)
        page.file.noticed.emit(notice)


def _show_file(path: Path) -> None:
    QDesktopServices.openUrl(QUrl.fromLocalFile(str(path)))


def _listed(found: Iterable[autosave.Recovered]) -> str:
    """Names and sizes of recovered documents, in words."""
    words = []
    for one in found:
        assert one.project is not None
        name = one.path.name if one.path else one.project.title or "Untitled"
        words.append(f"“{name}” ({len(one.project.graph.nodes)} nodes)")
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def _file_name(title: str) -> str:
    kept = "".join(letter if letter.isalnum() or letter in " -_." else "-" for letter in title).strip(" .")
    return kept[:80] or "untitled"
