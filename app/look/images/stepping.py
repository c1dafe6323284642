"""A convolution or a pool, step by step over the pinned example."""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtCore import QTimer
from PySide6.QtGui import QHideEvent
from PySide6.QtWidgets import QWidget

from app.look.arrays import rows_of
from app.look.base import OneProbe, Subject, Table
from app.look.controls import button, choice, keep, offer, row, stacked
from app.look.images.window_steps import Stepped, Stepping
from app.look.registry import view_kind
from engine.feed.feed import Probe, Snapshot
from engine.look.images.window_steps import Window

STEP_MS = 120
MOST = 512  # filters and channels that are offered
NODES = ("Conv2d", "Conv1d", "MaxPool2d", "AvgPool2d", "MaxPool1d")


def steps(subject: Subject) -> bool:
    """Whether the node moves a window over its input."""
    return subject.node is not None and subject.node.type in NODES


@view_kind(
    "window-steps",
    "Convolution, step by step",
    "The window moves over the example: each output is a sum of products, or a maximum.",
    "Images",
    steps,
    rank=2,
)
class WindowSteps(OneProbe):
    """One channel and one filter at a time, with every number that goes into the one that is made."""

    card_size = (620, 260)

    def __init__(self, subject: Subject, parent: QWidget | None = None) -> None:
        super().__init__(subject, parent)
        self._pool = subject.node is not None and "Pool" in subject.node.type
        self.stepping = Stepping()
        self.stepping.moved.connect(self._say)
        self.filter = choice("windowFilter", [("Filter 1", 0)], "The filter whose map is computed", 86)
        self.channel = choice("windowChannel", [("Channel 1", 0)], "The channel the window moves over", 102)
        self.filter.activated.connect(self._ask_again)
        self.channel.activated.connect(self._ask_again)
        self.play = button("windowPlay", "Play", "Let the window move by itself")
        self.play.setCheckable(True)
        self.play.setFixedWidth(52)
        self.play.toggled.connect(self._play)
        self._timer = QTimer(self)
        self._timer.setInterval(STEP_MS)
        self._timer.timeout.connect(self._next)
        stacked(self, self.stepping)

    @property
    def _probe(self) -> Probe:
        chosen = (int(self.filter.currentData() or 0), int(self.channel.currentData() or 0))
        return Probe(self.subject.node_id, "window", chosen)

    def draw_snapshot(self, snapshot: Snapshot) -> None:
        facts = snapshot.extra
        offer(
            self.filter, [(f"Filter {one + 1}", one) for one in range(min(MOST, int(facts["filters"]) or 1))]
        )
        offer(self.channel, [(f"Channel {one + 1}", one) for one in range(min(MOST, int(facts["channels"])))])
        self.filter.setEnabled(self.filter.count() > 1)
        self.channel.setEnabled(self.channel.count() > 1)
        self.stepping.show_found(
            Stepped(
                facts["kind"],
                snapshot.array,
                facts["made"],
                Window(*facts["window"]),
                facts.get("kernel"),
                facts.get("others"),
                float(facts.get("bias", 0.0)),
                str(facts.get("activation", "none")),
                1 if self._pool else int(facts["channels"]),
                self._on_data(),
            )
        )
        self._say()

    def _on_data(self) -> bool:
        """Whether the window moves over the data themselves."""
        workspace, node = self.subject.workspace, self.subject.node_id
        graph = workspace.document.project.graph
        links = graph.incoming(node) if node in graph.nodes else []
        types = [workspace.type_of(graph.node(link.source)) for link in links]
        return any(made is not None and made.kind == "data" for made in types)

    def _say(self) -> None:
        found = self.stepping.found
        if found is None or self._found is None:
            return
        down, across = self.stepping.place
        at = found.window
        words = [f"row {down + 1}, column {across + 1}"]
        words += [f"stride {_two(at.stride)}"] if at.stride != (1, 1) else []
        words += [f"padding {_two(at.before)}"] if at.before != (0, 0) else []
        words += [f"dilation {_two(at.dilation)}"] if at.dilation != (1, 1) else []
        self.set_note(" · ".join([*words, f"example {int(self._found.extra['example']) + 1}"]))

    # -- controls ---------------------------------------------------------------------------------

    def controls(self) -> QWidget | None:
        if self._controls is None:
            back = button("windowBack", "<", "One step back")
            on = button("windowOn", ">", "One step on")
            for one in (back, on):
                one.setFixedWidth(24)
            back.clicked.connect(self._back)
            on.clicked.connect(self._next)
            chosen = (self.channel,) if self._pool else (self.filter, self.channel)
            self._controls = row(back, self.play, on, *chosen)
        return self._controls

    def _next(self) -> None:
        self.stepping.go(self.stepping.step + 1)

    def _back(self) -> None:
        self.stepping.go(self.stepping.step - 1)

    def _play(self, playing: bool) -> None:
        self.play.setText("Pause" if playing else "Play")
        if playing and self.isVisible():
            self._timer.start()
        else:
            self._timer.stop()

    def hideEvent(self, event: QHideEvent) -> None:
        self.play.setChecked(False)
        super().hideEvent(event)

    def table(self) -> Table | None:
        found = self.stepping.found
        return None if found is None else rows_of(found.made, "output")

    def state(self) -> dict[str, object]:
        return {"filter": self.filter.currentData(), "channel": self.channel.currentData()}

    def restore(self, state: Mapping[str, object]) -> None:
        for box, key, word in ((self.filter, "filter", "Filter"), (self.channel, "channel", "Channel")):
            kept = state.get(key)
            if isinstance(kept, int) and 0 <= kept < MOST:
                keep(box, kept, f"{word} {kept + 1}")
        self.needs_changed.emit()


def _two(pair: tuple[int, int]) -> str:
    return str(pair[0]) if pair[0] == pair[1] else f"{pair[0]} × {pair[1]}"
