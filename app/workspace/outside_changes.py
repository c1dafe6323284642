"""Notices that another program changed the file of an open document."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path

from PySide6.QtCore import QFileSystemWatcher, QObject, QTimer, Signal

# Programs that save write, rename and touch in a burst; one look afterwards is enough.
SETTLE_MS = 250


class OutsideChanges(QObject):
    """Compares what is in the file with what was last read from or written to it.

    The watcher only hints: network folders and some editors escape it, so the window also calls `look`
    whenever it gets the focus. `changed` is emitted once for each content, `gone` once until it is back.
    """

    changed = Signal()
    gone = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._path: Path | None = None
        self._known = b""  # digest of what the document holds
        self._told = b""  # digest that was last told of
        self._stamp: tuple[int, int, int] | None = None
        self._watcher = QFileSystemWatcher(self)
        self._settle = QTimer(self)
        self._settle.setSingleShot(True)
        self._settle.setInterval(SETTLE_MS)
        self._settle.timeout.connect(self.look)
        self._watcher.fileChanged.connect(self._hint)
        self._watcher.directoryChanged.connect(self._hint)

    def follow(self, path: Path | None) -> None:
        """From now on this file counts, with what is in it now; None watches nothing."""
        self._settle.stop()
        if path != self._path:
            watched = [*self._watcher.files(), *self._watcher.directories()]
            if watched:
                self._watcher.removePaths(watched)
        self._path = path
        self.accept()

    def accept(self) -> None:
        """What is in the file now is known to the document."""
        self._stamp, self._known = self._read()
        self._told = self._known
        self._watch()

    @property
    def differs(self) -> bool:
        """Whether the file holds something else than the document knows; False where it is gone."""
        if self._path is None:
            return False
        digest = self._read()[1]
        return bool(digest) and digest != self._known

    def look(self) -> None:
        """Looks at the file, cheaply while its time stamp stands still."""
        if self._path is None:
            return
        stamp = _stamp(self._path)
        if stamp == self._stamp:
            return
        self._stamp, digest = self._read()
        self._watch()
        if digest == self._told:
            return
        self._told = digest
        if not digest:
            self.gone.emit()
        elif digest != self._known:
            self.changed.emit()

    def close(self) -> None:
        """Watches nothing any more."""
        self.follow(None)

    def _hint(self, _path: str) -> None:
        self._settle.start()

    def _watch(self) -> None:
        """A file that was replaced is another one to the watcher; its folder tells of the new one."""
        if self._path is None:
            return
        wanted = [str(one) for one in (self._path, self._path.parent) if one.exists()]
        known = {*self._watcher.files(), *self._watcher.directories()}
        fresh = [one for one in wanted if one not in known]
        if fresh:
            self._watcher.addPaths(fresh)

    def _read(self) -> tuple[tuple[int, int, int] | None, bytes]:
        """Time stamp and digest of the file; an empty digest when it cannot be read."""
        if self._path is None:
            return None, b""
        stamp = _stamp(self._path)
        try:
            return stamp, sha256(self._path.read_bytes()).digest()
        except OSError:
            return stamp, b""


def _stamp(path: Path) -> tuple[int, int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino
