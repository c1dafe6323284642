"""The open document: a project, changed in steps that can be undone, and heard of by whoever asks."""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Literal

from engine.document.edits import Edit, does_nothing, supersedes
from engine.document.graph import Project
from engine.errors import GraphError

log = logging.getLogger(__name__)

Kind = Literal["do", "undo", "redo", "load"]


@dataclass(frozen=True)
class Change:
    """What just happened to a document: the edits as applied, in order; none of them for a load."""

    edits: tuple[Edit, ...]
    label: str
    revision: int
    kind: Kind

    @property
    def touched(self) -> frozenset[str]:
        """The ids of the nodes that the edits touched; some may be gone by now."""
        return frozenset().union(*(edit.touched for edit in self.edits))


@dataclass
class _Step:
    """One entry of the history: the edits, and what takes each of them back."""

    label: str
    merge: str | None = None
    edits: list[Edit] = field(default_factory=list)
    inverses: list[Edit] = field(default_factory=list)
    before: int = 0
    after: int = 0


class Document:
    """A project with its history. Everything happens on one thread; others take a `snapshot`.

    `revision` grows with each step, undo, redo and load. `modified` is false exactly when the
    project is what was last loaded or saved, also when undo led back there.
    """

    def __init__(self, project: Project | None = None, path: Path | None = None) -> None:
        self.project = project if project is not None else Project()
        self.path = path
        self.revision = 0
        self._done: list[_Step] = []
        self._undone: list[_Step] = []
        self._open: _Step | None = None
        self._states = count(1)
        self._state = self._saved = 0  # each state of the history has a number that is never reused
        self._subscribers: dict[int, Callable[[Change], None]] = {}
        self._keys = count()
        self._news: deque[Change] = deque()
        self._telling = False

    # -- steps

    @contextmanager
    def step(self, label: str, merge: str | None = None) -> Iterator[None]:
        """Group edits into one undo step; an exception takes them all back and goes on.

        Consecutive steps with the same `merge` key become one (typing in one field). A step inside
        a step belongs to the outer one. A step that changes nothing leaves no history.
        """
        if self._open is not None:
            mark = len(self._open.edits)
            try:
                yield
            except BaseException:
                self._take_back(self._open, mark)
                raise
            return
        step = self._open = _Step(label, merge)
        try:
            yield
        except BaseException:
            self._take_back(step, 0)
            raise
        finally:
            self._open = None
        _cancel_out(step)
        if step.edits:
            self._commit(step)

    def apply(self, edit: Edit) -> None:
        """Apply an edit inside the open step. Raises GraphError, and then nothing has changed."""
        if self._open is None:
            raise GraphError("Edits are made inside a step: with document.step(...).")
        inverse = edit.apply(self.project)
        if not does_nothing(edit, inverse):
            self._open.edits.append(edit)
            self._open.inverses.append(inverse)

    def seal(self) -> None:
        """End merging: the next step stands alone, whatever its merge key."""
        if self._done:
            self._done[-1].merge = None

    def _take_back(self, step: _Step, mark: int) -> None:
        while len(step.edits) > mark:
            step.inverses.pop().apply(self.project)
            step.edits.pop()

    def _commit(self, step: _Step) -> None:
        step.before, step.after = self._state, next(self._states)
        self._state = step.after
        self._undone.clear()
        news = tuple(step.edits)
        last = self._done[-1] if self._done else None
        if last is not None and step.merge is not None and last.merge == step.merge:
            _merge(last, step)
            if len(last.edits) == 1 and does_nothing(last.edits[0], last.inverses[0]):
                self._done.pop()  # what was typed has been typed back
                self._state = last.before
        else:
            self._done.append(step)
        self._tell(news, step.label, "do")

    # -- history

    @property
    def undo_label(self) -> str | None:
        """What undo would take back, if anything."""
        return self._done[-1].label if self._done else None

    @property
    def redo_label(self) -> str | None:
        """What redo would do again, if anything."""
        return self._undone[-1].label if self._undone else None

    def undo(self) -> str | None:
        """Take back the last step and return its label; None, and no change, without history."""
        self._between_steps("undo")
        if not self._done:
            return None
        step = self._done.pop()
        edits = tuple(reversed(step.inverses))
        for edit in edits:
            edit.apply(self.project)
        self._undone.append(step)
        self._state = step.before
        self.seal()
        self._tell(edits, step.label, "undo")
        return step.label

    def redo(self) -> str | None:
        """Do the last undone step again and return its label; None if there is none."""
        self._between_steps("redo")
        if not self._undone:
            return None
        step = self._undone.pop()
        for edit in step.edits:
            edit.apply(self.project)
        step.merge = None
        self._done.append(step)
        self._state = step.after
        self._tell(tuple(step.edits), step.label, "redo")
        return step.label

    def _between_steps(self, what: str) -> None:
        if self._open is not None:
            raise GraphError(f'Cannot {what} while "{self._open.label}" is under way.')

    # -- the file behind it

    @property
    def modified(self) -> bool:
        """Whether the project differs from what was last loaded or saved."""
        return self._state != self._saved

    def mark_saved(self) -> None:
        """Note that the project, as it is now, is on disk."""
        self._saved = self._state
        self.seal()

    def mark_modified(self) -> None:
        """Note that the project isn't on disk as it is now (it was restored after a crash)."""
        self._saved = -1

    def replace(self, project: Project, path: Path | None = None) -> None:
        """Show another project; the history starts afresh."""
        self._between_steps("open a project")
        self.project, self.path = project, path
        self._done.clear()
        self._undone.clear()
        self._state = self._saved = next(self._states)
        self._tell((), "Open", "load")

    def snapshot(self) -> Project:
        """Return an independent copy, for another thread or for keeping."""
        return self.project.copy()

    # -- telling

    def subscribe(self, callback: Callable[[Change], None]) -> Callable[[], None]:
        """Call back after every change; returns the callable that ends it."""
        key = next(self._keys)
        self._subscribers[key] = callback

        def unsubscribe() -> None:
            self._subscribers.pop(key, None)

        return unsubscribe

    def _tell(self, edits: tuple[Edit, ...], label: str, kind: Kind) -> None:
        self.revision += 1
        self._news.append(Change(edits, label, self.revision, kind))
        if self._telling:  # a subscriber made this change: everyone hears of the first one first
            return
        self._telling = True
        try:
            while self._news:
                change = self._news.popleft()
                for key, callback in list(self._subscribers.items()):
                    if key in self._subscribers:
                        self._call(callback, change)
        finally:
            self._telling = False

    def _call(self, callback: Callable[[Change], None], change: Change) -> None:
        # The step stands, whatever a view makes of it: an error in one must not stop the others.
        try:
            callback(change)
        except Exception:
            log.exception("A view failed on %r", change.label)


def _cancel_out(step: _Step) -> None:
    """Drop pairs of edits that take each other back: a wire lifted and dropped where it was."""
    edits: list[Edit] = []
    inverses: list[Edit] = []
    for edit, inverse in zip(step.edits, step.inverses, strict=True):
        if inverses and inverses[-1] == edit and repr(inverses[-1]) == repr(edit):
            edits.pop()
            inverses.pop()
        else:
            edits.append(edit)
            inverses.append(inverse)
    step.edits, step.inverses = edits, inverses


def _merge(last: _Step, step: _Step) -> None:
    """Append a step to the one before it, dropping what it overwrites."""
    for edit, inverse in zip(step.edits, step.inverses, strict=True):
        if len(last.edits) == 1 and supersedes(edit, last.edits[0]):
            last.edits[0] = edit
        else:
            last.edits.append(edit)
            last.inverses.append(inverse)
    last.after = step.after
