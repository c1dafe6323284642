"""What is on screen: which probes the trainer is to take, and when the widgets that show them redraw."""

from __future__ import annotations

import logging
from collections.abc import Callable

from PySide6.QtCore import QEvent, QObject, QTimer
from PySide6.QtWidgets import QWidget

from app.workspace.open_document import TrainableDocument
from app.workspace.pace import Pace
from engine.feed.feed import Probe

log = logging.getLogger(__name__)

Probes = frozenset[Probe]


class Watching(QObject):
    """Keeps what each owner shows; the trainer is told the union, once for all changes of one event."""

    def __init__(self, workspace: TrainableDocument) -> None:
        super().__init__(workspace.owner)
        self._workspace = workspace
        self._shown: dict[str, Probes] = {}
        self._told: tuple[int, Probes] | None = None
        self._soon = QTimer(self)
        self._soon.setSingleShot(True)
        self._soon.setInterval(0)
        self._soon.timeout.connect(self._tell)
        workspace.engine_ready.connect(self._tell)

    def watch(self, owner: str, probes: Probes) -> None:
        """Replace what `owner` shows; an empty set when it is hidden."""
        if probes != self._shown.get(owner, frozenset()):
            if probes:
                self._shown[owner] = probes
            else:
                self._shown.pop(owner, None)
            self._soon.start()

    @property
    def union(self) -> Probes:
        """Everything on screen."""
        return frozenset().union(*self._shown.values())

    def _tell(self) -> None:
        trainer = self._workspace.trainer
        if trainer is None:
            return
        wanted = (id(trainer), self.union)
        if wanted != self._told:
            self._told = wanted
            trainer.watch(self.union)


def watching(workspace: TrainableDocument) -> Watching:
    """The one registry of a window."""
    found = workspace.owner.findChild(Watching)
    return found if found is not None else Watching(workspace)


class Live(QObject):
    """Keeps one widget up to date while it is visible, and costs nothing while it isn't.

    `probes` says what the widget shows now; `redraw` reads the feed. Both are bound methods of it.
    """

    def __init__(
        self,
        workspace: TrainableDocument,
        widget: QWidget,
        probes: Callable[[], Probes],
        redraw: Callable[[], None],
        interval_ms: int = 100,
    ) -> None:
        super().__init__(widget)
        self._widget = widget
        self._workspace = workspace
        self._probes = probes
        self._owner = f"{type(widget).__name__} {id(self)}"
        self.pace = Pace(interval_ms, redraw, self)
        widget.installEventFilter(self)
        workspace.ticked.connect(self.ask)
        workspace.engine_ready.connect(self.again)

    def ask(self) -> None:
        """Redraw soon, if anybody sees it."""
        if self._widget.isVisible():
            self.pace.ask()

    def again(self) -> None:
        """What is shown has changed: watch other probes and redraw at once."""
        if self._widget.isVisible():
            watching(self._workspace).watch(self._owner, self._probes())
            self.pace.now()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        try:
            if event.type() == QEvent.Type.Show:
                self.again()
            elif event.type() == QEvent.Type.Hide:
                self.pace.stop()
                watching(self._workspace).watch(self._owner, frozenset())
        except Exception:  # one that leaves an event filter ends the process
            log.exception("%s could not be brought up to date", type(watched).__name__)
        return False
