"""Public data sets that nodes need and that are not here yet: listed as problems, downloaded when asked."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from PySide6.QtCore import QObject, QTimer, Signal
from PySide6.QtWidgets import QWidget

from app.widgets.background import Background
from app.workspace.open_document import CheckedDocument
from app.workspace.thread_progress import ThreadProgress
from engine.data.sets.needed import not_here
from engine.data.sets.public_files import PublicSet, folder_of, megabytes
from engine.data.watch import Stopped, Watch
from engine.errors import NeuroloomError
from engine.shapes.problems import Fix, Problem

LOOK_MS = 100
CODE = "not-downloaded"

WAITING, RUNNING, STOPPING, FAILED, DONE = "waiting", "running", "stopping", "failed", "done"


class Arrivals(QObject):
    """Tells every document that a set has come, whoever asked for it."""

    arrived = Signal(str)  # the set's id


arrivals = Arrivals()


class Download(QObject):
    """The download of one set, in a thread; `changed` is emitted in the window's thread.

    `state` is "waiting", "running", "stopping", "failed" or "done"; `fraction` of all bytes (None: unknown),
    `doing` and `error` are for people to read.
    """

    changed = Signal()

    def __init__(self, wanted: PublicSet, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.wanted = wanted
        self.folder = folder_of(wanted.id)
        self.state = DONE if not wanted.missing(self.folder) else WAITING
        self.fraction: float | None = None
        self.doing = ""
        self.error = ""
        self._progress = ThreadProgress()
        self._worker = Background("download-set", self)
        self._worker.finished.connect(self._finished)
        self._timer = QTimer(self)
        self._timer.setInterval(LOOK_MS)
        self._timer.timeout.connect(self._look)

    @property
    def busy(self) -> bool:
        return self.state in (RUNNING, STOPPING)

    @property
    def part(self) -> int:
        """How many bytes are here already."""
        return self.wanted.part(self.folder)

    def start(self) -> None:
        """Begins, or goes on from what is here."""
        if self.busy:
            return
        self._progress = ThreadProgress("looking for the server")
        self.error = ""
        self.state = RUNNING
        self._look()
        self._timer.start()
        self._worker.ask(partial(self._work, self._progress.watch()))

    def stop(self) -> None:
        """Ends it soon; what was downloaded is kept."""
        if self.state == RUNNING:
            self._progress.stop.set()
            self.state = STOPPING
            self.changed.emit()

    def close(self) -> None:
        """Ends the thread and waits for it."""
        self._progress.stop.set()
        self._timer.stop()
        self._worker.close()

    def _work(self, watch: Watch) -> bool:
        from engine.data.sets.downloads import (
            fetch,  # what speaks to the network is loaded when somebody asks
        )

        try:
            fetch(self.wanted, self.folder, watch)
        except Stopped:
            return False
        return True

    def _look(self) -> None:
        fraction, self.doing = self._progress.fraction, self._progress.doing
        self.fraction = fraction if fraction is not None else self.fraction
        self.changed.emit()

    def _finished(self, whole: bool | None, error: NeuroloomError | None) -> None:
        self._timer.stop()
        self.error = str(error) if error is not None else ""
        self.state = FAILED if error is not None else DONE if whole else WAITING
        self.fraction, self.doing = None, ""
        self.changed.emit()
        if self.state == DONE:
            arrivals.arrived.emit(self.wanted.id)


class Downloads(QObject):
    """Lists the sets that a document's nodes need and that are not here, and downloads them."""

    def __init__(self, workspace: CheckedDocument, window: QWidget) -> None:
        super().__init__(window)
        self._workspace = workspace
        self._window = window
        self._downloads: dict[str, Download] = {}
        self._dialogs: dict[str, QWidget] = {}
        self._listed: list[tuple[str, str, str]] = []
        self._closed = False
        workspace.inferred.connect(self.look)
        workspace.closing.connect(self.close)
        arrivals.arrived.connect(self.look)

    def look(self, _what: object = None) -> None:
        """Lists what is missing, where that has changed."""
        if self._closed:
            return
        found = []
        for node, wanted in not_here(self._workspace.catalogue, self._workspace.document.project):
            found.append((node.id, wanted, self._words(wanted)))
        listed = [(node_id, wanted.id, words) for node_id, wanted, words in found]
        if listed != self._listed and self._workspace.shapes is not None:
            self._listed = listed
            self._workspace.note("downloads", [self._problem(*one) for one in found])

    def download(self, wanted: PublicSet) -> Download:
        """The one download of a set in this document."""
        made = self._downloads.get(wanted.id)
        if made is None:
            made = self._downloads[wanted.id] = Download(wanted, self)
            made.changed.connect(self._changed)
        return made

    def offer(self, wanted: PublicSet) -> QWidget:
        """Shows the dialog of a set; returns it."""
        from app.data.downloads_dialog import DownloadDialog

        dialog = self._dialogs.get(wanted.id)
        if dialog is None:
            dialog = self._dialogs[wanted.id] = DownloadDialog(self.download(wanted), self._window.window())
        dialog.show()
        dialog.raise_()
        dialog.activateWindow()
        return dialog

    def close(self) -> None:
        """Ends all threads; parts of files are kept."""
        self._closed = True
        for one in self._downloads.values():
            one.close()
        for dialog in self._dialogs.values():
            dialog.close()
            dialog.deleteLater()
        self._dialogs.clear()

    def _words(self, wanted: PublicSet) -> str:
        part = wanted.part(folder_of(wanted.id))
        if self._busy(wanted):
            return "Show the download"
        if part:
            return f"Resume the download ({megabytes(part)} of {megabytes(wanted.size)})…"
        return f"Download ({megabytes(wanted.size)})…"

    def _busy(self, wanted: PublicSet) -> bool:
        made = self._downloads.get(wanted.id)
        return made is not None and made.busy

    def _problem(self, node_id: str, wanted: PublicSet, words: str) -> Problem:
        begin: Callable[[], object] = partial(self.offer, wanted)
        what = "is being downloaded" if self._busy(wanted) else "has not been downloaded yet"
        return Problem(node_id, f"{wanted.title} {what}.", fix=Fix(words, begin=begin), code=CODE)

    def _changed(self) -> None:
        found = self.sender()
        if not isinstance(found, Download):
            return
        self.look()
        dialog = self._dialogs.get(found.wanted.id)
        if dialog is not None and dialog.isVisible():
            return  # it says so itself
        if found.state == DONE:
            self._workspace.message.emit(f"{found.wanted.title} is downloaded.", "info")
        elif found.state == FAILED:
            self._workspace.message.emit(found.error, "error")
