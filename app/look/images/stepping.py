"""A convolution or a pool, step by step over the pinned example."""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtCore import QTimer
from PySide6.QtGui import QHideEvent
from PySide6.QtWidgets import QWidget

from app.look.arrays import rows_of
from app.look.base import OneProbe, Probes, Snapshots, Subject, Table
from app.look.controls import button, choice, keep, offer, row, stacked
from app.look.images.sums import Field, Stepped
from app.look.images.window_steps import Stepping
from app.look.registry import view_kind
from engine.feed.feed import Probe, Snapshot
from engine.look.images.window_steps import Window

STEP_MS = 120
MOST = 512  # filters and channels that are offered
CONVOLUTIONS = (
    *("Conv2d", "Conv1d", "Conv3d", "ConvTranspose2d", "DepthwiseConv2d"),
    *("LocallyConnected2d", "TypedKernel2d", "TypedKernel1d"),
)
POOLS = ("MaxPool2d", "MaxPoolWithPlaces", "MinPool2d", "AvgPool2d", "LpPool2d", "MaxPool1d", "AvgPool1d")


def steps(subject: Subject) -> bool:
    """Whether the node moves a window over its input."""
    return subject.node is not None and subject.node.type in CONVOLUTIONS + POOLS


@view_kind(
    "window-steps",
    "Convolution, step by step",
    "The window moves over the example: each output is a sum of products, or what a pool keeps.",
    "Images",
    steps,
    rank=2,
)
class WindowSteps(OneProbe):
    """One channel and one filter at a time, with every number that goes into the one that is made."""

    card_size = (620, 260)

    def __init__(self, subject: Subject, parent: QWidget | None = None) -> None:
        super().__init__(subject, parent)
        self._pool = subject.node is not None and subject.node.type in POOLS
        self.stepping = Stepping()
        self.stepping.moved.connect(self._say)
        self.filter = choice("windowFilter", [("Filter 1", 0)], "The filter whose map is computed", 86)
        self.channel = choice("windowChannel", [("Channel 1", 0)], "The channel the window moves over", 102)
        self.slice = choice("windowDepth", [("Slice 1", 0)], "The slice of the volume that is made", 86)
        self.slice.hide()
        for box in (self.filter, self.channel, self.slice):
            box.activated.connect(self._ask_again)
        self.field = button("windowField", "Field", "Show the pixels of the image that the place depends on")
        self.field.setCheckable(True)
        self.field.setFixedWidth(52)
        self.field.toggled.connect(self._show_field)
        self.play = button("windowPlay", "Play", "Let the window move by itself")
        self.play.setCheckable(True)
        self.play.setFixedWidth(52)
        self.play.toggled.connect(self._play)
        self._typed = subject.node is not None and subject.node.type.startswith("TypedKernel")
        self._timer = QTimer(self)
        self._timer.setInterval(STEP_MS)
        self._timer.timeout.connect(self._next)
        stacked(self, self.stepping)

    @property
    def _probe(self) -> Probe:
        chosen = [int(box.currentData() or 0) for box in (self.filter, self.channel, self.slice)]
        return Probe(self.subject.node_id, "window", tuple(chosen if chosen[2] else chosen[:2]))

    @property
    def _fields(self) -> Probe:
        return Probe(self.subject.node_id, "fields")

    def probes(self) -> Probes:
        return frozenset({self._probe, self._fields}) if self.field.isChecked() else super().probes()

    def essential(self) -> Probes:
        return super().probes()

    def draw(self, found: Snapshots) -> None:
        field = found.get(self._fields) if self.field.isChecked() else None
        if field is not None:
            self.stepping.field = Field(field.array, field.extra["rows"], field.extra["columns"])
            self.stepping.changed()
        super().draw(found)

    def draw_snapshot(self, snapshot: Snapshot) -> None:
        facts = snapshot.extra
        offer(
            self.filter, [(f"Filter {one + 1}", one) for one in range(min(MOST, int(facts["filters"]) or 1))]
        )
        offer(self.channel, _channels(min(MOST, int(facts["channels"])), int(facts.get("slices", 1))))
        _, deep = facts.get("depth", (0, 1))
        offer(self.slice, [(f"Slice {one + 1}", one) for one in range(min(MOST, deep))])
        self.slice.setVisible(deep > 1)
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
                facts.get("bias", 0.0),
                str(facts.get("activation", "none")),
                1 if self._pool else int(facts["channels"]),
                self._on_data(),
                facts.get("framed"),
                float(facts.get("power", 1.0)),
                not self._typed,
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
        stretched = self._found.extra.get("stretched", (0, 0))
        if max(stretched) > 0:
            words.append(f"{_two(stretched)} zero{'s' if max(stretched) > 1 else ''} between inputs")
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
            chosen = (self.channel,) if self._pool else (self.filter, self.channel, self.slice)
            self._controls = row(back, self.play, on, *chosen, self.field)
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

    def _show_field(self, shown: bool) -> None:
        if not shown:
            self.stepping.field = None
            self.stepping.changed()
        self.needs_changed.emit()

    def hideEvent(self, event: QHideEvent) -> None:
        self.play.setChecked(False)
        super().hideEvent(event)

    def table(self) -> Table | None:
        found = self.stepping.found
        return None if found is None else rows_of(found.made, "output")

    def state(self) -> dict[str, object]:
        chosen = {"filter": self.filter.currentData(), "channel": self.channel.currentData()}
        shown = {"field": self.field.isChecked(), "step": self.stepping.step}
        return {**chosen, "slice": self.slice.currentData(), **shown}

    def restore(self, state: Mapping[str, object]) -> None:
        self.field.setChecked(state.get("field") is True)
        step = state.get("step")
        if isinstance(step, int):
            self.stepping.begin_at(step)
        boxes = ((self.filter, "filter"), (self.channel, "channel"), (self.slice, "slice"))
        for box, key, word in ((box, key, key.capitalize()) for box, key in boxes):
            kept = state.get(key)
            if isinstance(kept, int) and 0 <= kept < MOST:
                keep(box, kept, f"{word} {kept + 1}")
        self.needs_changed.emit()


def _channels(count: int, slices: int) -> list[tuple[str, object]]:
    """The channels that are offered; of a volume each slice under the window is one."""
    if slices == 1:
        return [(f"Channel {one + 1}", one) for one in range(count)]
    return [(f"Channel {one // slices + 1}, slice {one % slices + 1}", one) for one in range(count)]


def _two(pair: tuple[int, int]) -> str:
    return str(pair[0]) if pair[0] == pair[1] else f"{pair[0]} × {pair[1]}"
