"""The loss around the weights, and the way that training came."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from PySide6.QtWidgets import QWidget

from app.charts.plot import number, percent
from app.look.base import LiveView, Probes, Snapshots, Subject, Table
from app.look.controls import button, choice, choose, stacked
from app.look.landscape.landscape import Landscape
from app.look.registry import view_kind
from engine.feed.feed import Probe

PATH = Probe("", "weight_path")
WAYS = (("Random", "random"), ("Path", "path"), ("Line", "line"))
SIDES = (("15 × 15", 15), ("21 × 21", 21), ("25 × 25", 25))


def has_loss(subject: Subject) -> bool:
    """Whether the network has a loss."""
    nodes = subject.workspace.document.project.graph.nodes.values()
    return any(getattr(subject.workspace.type_of(node), "kind", "") == "loss" for node in nodes)


@view_kind(
    "loss_surface",
    "Loss surface",
    "The loss in a plane through the weights, darker where it is lower, with the path of training.",
    "Model",
    has_loss,
    rank=65,
    whole=True,
)
class LossSurface(LiveView):
    """Drawn when asked for: some hundred losses. The path goes on while training does."""

    card_size = (360, 280)

    def __init__(self, subject: Subject, parent: QWidget | None = None) -> None:
        super().__init__(subject, parent)
        self._tries = 0
        self._facts: Mapping[str, Any] = {}
        self.landscape = Landscape()
        self.way = choice(
            "surfaceWay",
            WAYS,
            "A random plane through the weights, that of the path, or the line from the start",
            88,
        )
        self.side = choice("surfaceSide", SIDES, "How many losses are computed", 80)
        choose(self.side, 21)
        self.again = button("surfaceDraw", "Draw", "Compute the loss around the current weights")
        self.way.activated.connect(self._chosen)
        self.side.activated.connect(self._chosen)
        self.again.clicked.connect(self._once_more)
        stacked(self, self.landscape)
        self.landscape.say("Draw computes the loss around the current weights.")

    def probes(self) -> Probes:
        return frozenset({PATH, self._surface} if self._tries else {PATH})

    @property
    def _surface(self) -> Probe:
        detail = (str(self.way.currentData()), int(self.side.currentData()), self._tries)
        return Probe("", "loss_surface", detail)

    def essential(self) -> Probes:
        return frozenset({self._surface} if self._tries else ())

    def draw(self, found: Snapshots) -> None:
        surface = found.get(self._surface) if self._tries else None
        if surface is None:
            return
        facts = surface.extra
        if facts is not self._facts:
            self._facts = facts
            names = _axes(facts)
            self.landscape.show_losses(surface.array, facts["xs"], facts["ys"], names)
            self.set_note(_words(facts, surface.step))
        path = found.get(PATH)
        live = path is not None and path.extra["plane"] == self._surface.detail
        self.landscape.show_path(path.array if live and path is not None else facts["path"])

    def controls(self) -> QWidget | None:
        return self.in_row(self.way, self.side, self.again)

    def table(self) -> Table | None:
        losses = self.landscape.losses
        if not losses.size:
            return None
        xs, ys = self._facts["xs"], self._facts["ys"]
        rows = [(xs[column], ys[line], float(loss)) for (line, column), loss in np.ndenumerate(losses)]
        return ("x", "y", "loss"), rows

    def state(self) -> dict[str, object]:
        return {"way": self.way.currentData(), "side": self.side.currentData()}

    def restore(self, state: Mapping[str, object]) -> None:
        choose(self.way, state.get("way"))
        choose(self.side, state.get("side"))

    def _chosen(self, _index: int) -> None:
        if self._tries:
            self._once_more()

    def _once_more(self) -> None:
        if not self.landscape.losses.size:
            self.landscape.say("The loss is being computed.")
        super()._once_more()


def _axes(facts: Mapping[str, Any]) -> tuple[str, str]:
    if facts["way"] == "line":
        return "from the first weights to the current ones", "loss"
    if facts["way"] == "path":
        one, other = facts["shares"]
        return (
            f"first direction of the path · {percent(one)}",
            f"second direction of the path · {percent(other)}",
        )
    return "first random direction", "second random direction"


def _words(facts: Mapping[str, Any], step: int) -> str:
    words = [f"loss on {facts['rows']:,} training examples at step {step:,}: {number(facts['here'])}"]
    if facts["way"] != "line":
        words.append("square: where training began, ring: now")
    if facts["way"] == "random":
        words.append("1 is as long as the weights")
    return " · ".join(words)
