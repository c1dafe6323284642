"""What can be done with all of the dock: replaying stored runs, what is recorded, what is pinned."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QMenu

from app.look.dock.card_menu import entry

if TYPE_CHECKING:
    from app.look.dock.dock import ViewsDock

BUDGETS = (16, 64, 256, 1024)  # megabytes


class DockMenu(QObject):
    """The menu at the right of the dock's head."""

    def __init__(self, dock: ViewsDock) -> None:
        super().__init__(dock)
        self._dock = dock

    def menu(self) -> QMenu:
        """All that can be done; made again each time, for runs come and go."""
        dock, recording = self._dock, self._dock.recording
        menu = QMenu(dock)
        menu.setObjectName("dockMenu")
        runs = menu.addMenu("Replay another run")
        found = dock.stored_runs.list()
        for run in found:
            words = f"{run.name} · {run.steps:,} steps" if run.steps else run.name
            entry(runs, words, partial(dock.stored_runs.read, run.name, dock.playback.replay))
        if not found:
            runs.addAction("No other run has recorded views").setEnabled(False)
        back = entry(menu, "Back to live", dock.playback.go_live)
        back.setEnabled(not dock.playback.live)
        menu.addSeparator()
        budget = menu.addMenu("Memory for recorded views")
        for megabytes in sorted({*BUDGETS, recording.budget}):
            action = entry(budget, f"{megabytes:,} MB", partial(recording.set_budget, megabytes))
            action.setCheckable(True)
            action.setChecked(megabytes == recording.budget)
        history = dock.playback.history
        if history is not None:
            used = f"{history.size / 2**20:.1f} MB in use, {len(history.steps()):,} steps"
            budget.addSeparator()
            budget.addAction(used).setEnabled(False)
        hidden = entry(
            menu,
            "Record views while hidden",
            partial(dock.record_while_hidden, not recording.while_hidden),
        )
        hidden.setCheckable(True)
        hidden.setChecked(recording.while_hidden)
        menu.addSeparator()
        on_nodes = dock.on_nodes
        take_off = entry(menu, "Remove views from the nodes", self._take_off)
        take_off.setEnabled(on_nodes is not None and bool(on_nodes.places()))
        close = entry(menu, "Close all pinned views", self.close_pinned)
        close.setEnabled(any(card.pinned for card in dock.cards))
        return menu

    def close_pinned(self) -> None:
        """Ends all pinned cards."""
        for card in self._dock.cards:
            if card.pinned:
                self._dock.close_card(card)

    def _take_off(self) -> None:
        if self._dock.on_nodes is not None:
            self._dock.on_nodes.take_all_off()
