"""What of the dock is recorded for the timeline, within what budget, and whether while it is hidden."""

from __future__ import annotations

from collections.abc import Iterable

from PySide6.QtCore import QObject

from app.look.dock.card import ViewCard
from app.workspace.open_document import TrainableDocument
from app.workspace.watching import Probes, watching
from engine.feed.history import DEFAULT_BUDGET

_BUDGET, _HIDDEN = "views/record_mb", "views/record_hidden"
MEGABYTE = 2**20
MOST_MEGABYTES = 2**20


class Recording(QObject):
    """Tells the history what to keep. The choices are the user's, for every project."""

    def __init__(self, workspace: TrainableDocument, parent: QObject) -> None:
        super().__init__(parent)
        self._workspace = workspace
        self._owner = f"recorded {id(self)}"
        workspace.engine_ready.connect(self._set_budget)
        self._set_budget()

    def record(self, cards: Iterable[ViewCard], *, hidden: bool) -> None:
        """Record what these cards show; of a hidden dock the first, pinned and cheap ones."""
        cards = list(cards)
        trainer = self._workspace.trainer
        if trainer is not None:
            trainer.feed.history.record_only(_probes(cards))
        unseen = hidden and self.while_hidden and self._workspace.training
        wanted: Probes = frozenset()
        if unseen and trainer is not None:
            kept = (card for card in cards if card.pinned or card is cards[0])  # the first says most
            wanted = _probes(kept) | _cheap(_probes(cards))
        watching(self._workspace).watch(self._owner, wanted)

    @property
    def budget(self) -> int:
        """Megabytes that recorded views may take."""
        return self._workspace.settings.number(_BUDGET, DEFAULT_BUDGET // MEGABYTE, 1, MOST_MEGABYTES)

    def set_budget(self, megabytes: int) -> None:
        """Changes it, now and for later runs."""
        self._workspace.settings.keep(_BUDGET, megabytes)
        self._set_budget()

    @property
    def while_hidden(self) -> bool:
        """Whether views are recorded while the dock is hidden."""
        return self._workspace.settings.flag(_HIDDEN, True)

    def set_while_hidden(self, on: bool) -> None:
        """Changes it, now and for later runs."""
        self._workspace.settings.keep(_HIDDEN, on)

    def _set_budget(self) -> None:
        if self._workspace.trainer is not None:
            self._workspace.trainer.feed.history.budget = self.budget * MEGABYTE


def _cheap(probes: Probes) -> Probes:
    """Those that are taken in the training thread, each within a few steps' time."""
    from engine.look.registry import probe_kinds

    kinds = probe_kinds()
    return frozenset(one for one in probes if one.what in kinds and not kinds[one.what].apart)


def _probes(cards: Iterable[ViewCard]) -> Probes:
    return frozenset().union(*(card.recorded() for card in cards))
