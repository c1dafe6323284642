"""What a run says reaches the window, each event once, and is taken back when it is over."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.feed.feed import LAYER_STEP, Event, Feed

if TYPE_CHECKING:
    from app.workspace.workspace import Workspace


class RunNews:
    """Reads the feed of a workspace's trainer; `Workspace.advised` and `settled` carry what is new there."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._last: Event | None = None

    def pass_on(self, feed: Feed) -> None:
        """Emit what has been said since the last look, and the piece of a batch that is on show."""
        events = feed.events
        seen = next((at for at in reversed(range(len(events))) if events[at] is self._last), -1)
        if seen < 0 and self._last is not None:  # another run has begun
            self._workspace.settled.emit("")
        self._last = events[-1] if events else None
        for event in events[seen + 1 :]:
            if event.kind == "settled":
                self._workspace.settled.emit(event.about)
            elif event.kind != "info" or event.remedy is not None:
                self._workspace.advised.emit(event)
        self._show_layer_step(feed)

    def _show_layer_step(self, feed: Feed) -> None:
        shown = feed.latest(LAYER_STEP)
        step = {} if shown is None else shown.extra
        if step != self._workspace.layer_step:
            self._workspace.layer_step = step
            self._workspace.layer_stepped.emit()
