"""Which moment of the run the views show: the newest, or a step that was recorded."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal

from app.look.base import Snapshots
from app.workspace.open_document import TrainableDocument
from app.workspace.watching import Probes
from engine.feed.feed import Probe, Snapshot
from engine.feed.history import History


class Playback(QObject):
    """Live, or at one step of this run or of a stored one."""

    moved = Signal()  # another moment, or another run

    def __init__(self, workspace: TrainableDocument, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._workspace = workspace
        self._step: int | None = None
        self._stored: tuple[str, History] | None = None
        self._shown: dict[Probe, Snapshot | None] = {}  # at the step on show, so that each is unpacked once

    @property
    def step(self) -> int | None:
        """The step on show; None while live."""
        return self._step

    @property
    def live(self) -> bool:
        """Whether the newest is shown."""
        return self._step is None

    @property
    def run(self) -> str:
        """The name of the stored run that is replayed; empty for the run at hand."""
        return self._stored[0] if self._stored is not None else ""

    @property
    def history(self) -> History | None:
        """What is recorded of the run on show; None while there is no engine."""
        if self._stored is not None:
            return self._stored[1]
        trainer = self._workspace.trainer
        return trainer.feed.history if trainer is not None else None

    def steps(self) -> list[int]:
        """The recorded steps, rising."""
        history = self.history
        return history.steps() if history is not None else []

    def latest(self, probe: Probe) -> Snapshot | None:
        """What a view shows at the moment on show."""
        if self._step is None:
            trainer = self._workspace.trainer
            return trainer.feed.latest(probe) if trainer is not None else None
        if probe not in self._shown:
            history = self.history
            self._shown[probe] = history.at(probe, self._step) if history is not None else None
        return self._shown[probe]

    def go_live(self) -> None:
        """Show the newest of the run at hand."""
        if self._step is not None or self._stored is not None:
            self._step, self._stored = None, None
            self._shown.clear()
            self.moved.emit()

    def go_to(self, step: int) -> None:
        """Show what was recorded at a step."""
        if step != self._step:
            self._step = step
            self._shown.clear()
            self.moved.emit()

    def replay(self, name: str, history: History) -> None:
        """Show the end of a stored run."""
        self._stored = (name, history)
        steps = history.steps()
        self._step = steps[-1] if steps else 0
        self._shown.clear()
        self.moved.emit()

    def neighbour(self, way: int) -> int | None:
        """The recorded step after (1) or before (-1) the one on show; None where there is none."""
        steps = self.steps()
        if not steps:
            return None
        here = self._step if self._step is not None else steps[-1]
        found = [step for step in steps if (step > here if way > 0 else step < here)]
        return None if not found else (found[0] if way > 0 else found[-1])


def recorded_until(history: History, probes: Probes, step: int, known: Snapshots) -> dict[Probe, Snapshot]:
    """What a history has of probes at a step or before, else at first; what is `known` isn't read again."""
    found: dict[Probe, Snapshot] = {}
    for probe in probes:
        steps = history.steps(probe)
        if not steps:
            continue
        at = max((one for one in steps if one <= step), default=steps[0])
        held = known.get(probe)
        snapshot = held if held is not None and held.step == at else history.at(probe, at)
        if snapshot is not None:
            found[probe] = snapshot
    return found
