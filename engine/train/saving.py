"""Keeps a run in its folder whatever the disk does: training goes on, and nothing that was learned is lost.

A disk that refuses is said once. From then on every attempt begins the folder again, which fixes tables that
were cut off in the middle, until there is room again. A folder that somebody deletes is written again.
"""

from __future__ import annotations

import logging
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING

from engine.document.files import disk_is_full
from engine.errors import NeuroloomError, reason_of
from engine.feed.feed import Feed
from engine.train.run_folder import LAST_AND_BEST, WRITING_FRACTION, BusyRun, Keep, RunFolder

if TYPE_CHECKING:
    from engine.document.graph import Project
    from engine.train.loop import Run

log = logging.getLogger(__name__)

AGAIN, LATEST = 1.0, 60.0  # seconds until what was refused is tried again; each time twice as long, at most
_VIEWS_EVERY = 30.0  # seconds; they are many, and only a slider wants them
_QUICK = 0.05  # seconds that a single step may wait for them


class Saver:
    """Writes the run that is under way. Nothing here raises because of the disk; the feed hears of it."""

    def __init__(self, feed: Feed) -> None:
        self.keep: Keep = LAST_AND_BEST
        self.store: RunFolder | None = None
        self._feed = feed
        self._folder: Path | None = None
        self._project: Project | None = None
        self._fresh = False  # it has not begun in its folder yet
        self._failing = False
        self.full = False  # it was refused because there is no room
        self._pause = AGAIN  # seconds
        self._try_at = 0.0
        self._views_written = -1
        self._views_at = 0.0
        self._views_cost = 0.0

    @property
    def folder(self) -> Path | None:
        """Where the run is kept, or will be once there is room."""
        return self._folder

    def begin(self, project: Project, run: Run, folder: Path | None, *, fresh: bool = False) -> None:
        """Keep a run in `folder` from now on, over no other if it is `fresh`; None: nowhere."""
        self.forget()
        self._folder, self._project, self._fresh = folder, project, fresh
        if folder is not None:
            self._open(run)

    def adopt(self, store: RunFolder, project: Project) -> None:
        """Go on with a folder that has begun."""
        self.forget()
        self.store, self._folder, self._project = store, store.path, project

    @property
    def failing(self) -> bool:
        """Whether the last attempt to save was refused."""
        return self._failing

    def forget(self) -> None:
        """Keep nothing any more."""
        if self.store is not None:
            self.store.let_go()
        self.store = self._folder = self._project = None
        self._failing = False

    def due(self, now: float) -> bool:
        """Whether to save at the time `now` of `perf_counter`; to be asked after every batch."""
        due = self.store is not None and self.store.due(now)
        return now >= self._try_at if self._failing else due

    def save(self, run: Run) -> None:
        """Write curves, weights and checkpoint."""
        if self._folder is None:
            return
        try:
            self._ready(run).write(run)
            self._write_views(run)
        except (NeuroloomError, OSError) as error:
            self._refused(error, run)
        else:
            self._works_again(run)

    def rewound(self, run: Run) -> None:
        """The run has gone back: its tables end where it stands."""
        if self.store is None:
            return
        try:
            self.store.rewound(run)
        except (NeuroloomError, OSError) as error:
            self._refused(error, run)

    def keep_project(self, project: Project, run: Run) -> None:
        """Write the project as it is trained from now on."""
        self._project = project
        if self.store is None or self._failing:
            return
        try:
            self.store.keep_project(project)
        except (NeuroloomError, OSError) as error:
            self._refused(error, run)

    def remember(self, run: Run, **facts: object) -> None:
        """Put more about the run into its settings."""
        if self.store is None:
            return
        try:
            self.store.remember(**facts)
        except (NeuroloomError, OSError) as error:
            self._refused(error, run)

    def end(self, run: Run, state: str, error: str | None = None) -> None:
        """Write everything, and how the run ended: finished, stopped or failed."""
        if self._folder is None:
            return
        try:
            store = self._ready(run)
            self._write_views(run, at_once=True)
            store.end(run, state, error)
        except (NeuroloomError, OSError) as problem:
            self._refused(problem, run, last=True)
        else:
            self._works_again(run)

    # -- recorded views

    def recall(self, run: Run, folder: Path) -> None:
        """Take in the views that a run has kept, up to where it goes on."""
        try:
            run.feed.history.load(folder)
        except NeuroloomError as error:
            self._feed.note("warning", str(error), step=run.step)
        run.feed.history.cut(run.step)

    def keep_views(self, run: Run, *, last: bool) -> None:
        """Write what the views have shown, now that the run rests: if not `last`, only where quick."""
        if self.store is None or self._failing or self._folder is None or not self._folder.is_dir():
            return
        try:
            self._write_views(run, at_once=last or self._views_cost < _QUICK)
        except (NeuroloomError, OSError) as error:
            self._refused(error, run)

    def _write_views(self, run: Run, *, at_once: bool = False) -> None:
        history, began = run.feed.history, perf_counter()
        unchanged = history.version == self._views_written or not history.probes()
        if unchanged or self._folder is None or (began < self._views_at and not at_once):
            return
        history.save(self._folder)
        self._views_written = history.version
        self._views_cost = perf_counter() - began
        self._views_at = began + max(_VIEWS_EVERY, self._views_cost / WRITING_FRACTION)

    # -- parts of it

    def _open(self, run: Run) -> None:
        try:
            self._renew(run)
        except (NeuroloomError, OSError) as error:
            self._refused(error, run)

    def _ready(self, run: Run) -> RunFolder:
        """The folder, begun again where that is due."""
        if self.store is None or self._failing or self._folder is None or not self._folder.is_dir():
            self._renew(run)
        assert self.store is not None
        return self.store

    def _renew(self, run: Run) -> None:
        """Begin the folder, or begin it again where it is gone or was left half written."""
        assert self._folder is not None and self._project is not None
        store = self.store
        if store is None or store.path != self._folder or not self._folder.is_dir():
            gone = store is not None and store.path == self._folder
            if store is not None:
                store.let_go()
            self.store = None
            self.store = RunFolder(self._folder, self.keep)
            fresh, self._fresh = self._fresh, False
            self.store.begin(self._project, run, fresh=fresh)
            if gone:
                self._feed.note(
                    "warning",
                    f"The folder of the run ({self._folder.name}) was deleted while the run was under way. "
                    f"It has been written again; nothing is lost.",
                    step=run.step,
                )
        else:
            store.begin(self._project, run)

    def _refused(self, error: Exception, run: Run, last: bool = False) -> None:
        log.debug("the run was not saved", exc_info=error)
        if isinstance(error, BusyRun):  # it is somebody else's: not to be written to, now or later
            self.forget()
            self._feed.note("warning", f"{error} This run is not saved.", step=run.step)
            return
        if not self._failing:
            why = reason_of(error)
            if isinstance(error, OSError):
                why = f"The run could not be saved: {error.strerror or error}."
            goes_on = "" if last else " Training goes on, and the run is saved as soon as that is possible."
            self._feed.note("warning", f"{why}{goes_on}", step=run.step)
        self._failing, self.full = True, disk_is_full(error)
        self._try_at = perf_counter() + self._pause
        self._pause = min(2 * self._pause, LATEST)

    def _works_again(self, run: Run) -> None:
        if self._failing:
            self._failing, self._pause = False, AGAIN
            self._feed.note("info", "The run is saved again; nothing is missing.", step=run.step)
