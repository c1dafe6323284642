"""What a network makes of a point among its codes: dragged, on the way between two, over a grid."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from PySide6.QtWidgets import QBoxLayout, QWidget

from app.charts.arrays.image_rows import ImageRow, ImageRows
from app.charts.chart import Curve, Entry, Frame, Layer, Marks
from app.charts.class_marks import class_shape
from app.charts.pad import Pad
from app.charts.plot import number
from app.look.asked import of_class
from app.look.base import LiveView, Probes, Snapshots, Subject, Table
from app.look.controls import choice, choose
from app.look.registry import view_kind
from engine.feed.feed import Probe, Snapshot
from engine.procedures.latents import Latent, latent_of

POINT, WAY, GRID = "point", "way", "grid"
WAYS = (("point", POINT), ("between", WAY), ("grid", GRID))
STEPS = 9  # on the way between two codes
SIDE = 7  # of the grid
FINENESS = 32  # steps from the middle to the edge of the pad: a drag asks for few different points
MOST_PAIRS = 16
BASES = 8
LEGEND_FROM = 180  # pixels of height


def has_codes(subject: Subject) -> bool:
    """Whether the node hands on codes, or makes something of them."""
    return _latent(subject) is not None


def _latent(subject: Subject) -> Latent | None:
    project, book = subject.as_trained
    return None if book is None else latent_of(project, book, subject.node_id)


@view_kind(
    "latent-explorer",
    "Latent space",
    "Drag a point among the codes and see what it is decoded to, or go from one code to another.",
    "Generation",
    has_codes,
    rank=6,
)
class LatentExplorer(LiveView):
    """A pad of two numbers, or of two directions, of the code; beside it what is decoded."""

    card_size = (440, 280)

    def __init__(self, subject: Subject, parent: QWidget | None = None) -> None:
        super().__init__(subject, parent)
        latent = _latent(subject)
        self._size = latent.size if latent is not None else 2
        self._at: tuple[float, float] | None = None  # where the base is
        self._ends = (0, 1)
        self._codes: Snapshot | None = None
        self._made: Snapshot | None = None
        pairs = [("PCA", (-1, -1))]
        pairs += [(f"{n + 1}, {n + 2}", (n, n + 1)) for n in range(0, min(self._size, 2 * MOST_PAIRS) - 1, 2)]
        self.way = choice("latentWay", WAYS, "What is decoded", 96)
        self.plane = choice(
            "latentPlane",
            pairs,
            "Which two numbers of the code; PCA: where codes vary most",
            82,
        )
        named = "draw" if latent is not None and latent.spread is not None else "example"
        bases = [("middle", 0), *((f"{named} {n + 1}", n + 1) for n in range(BASES))]
        self.base = choice("latentBase", bases, "What the other numbers of the code are", 102)
        for box in (self.way, self.plane, self.base):
            box.activated.connect(self._chosen)
        self.pad, self.images = Pad(), ImageRows()
        self.pad.moved.connect(self._moved)
        self.pad.nudged.connect(self._nudged)
        self.pad.read = self._read
        self._box = QBoxLayout(QBoxLayout.Direction.LeftToRight, self)
        self._box.setContentsMargins(0, 0, 0, 0)
        self._box.setSpacing(8)
        self._box.addWidget(self.pad, 3)
        self._box.addWidget(self.images, 2)

    # -- what is asked for

    @property
    def _pair(self) -> tuple[int, int]:
        i, j = self.plane.currentData()
        return int(i), int(j)

    @property
    def _codes_probe(self) -> Probe:
        return Probe(self.subject.node_id, "codes", self._pair)

    @property
    def _made_probe(self) -> Probe:
        way, base = str(self.way.currentData()), int(self.base.currentData())
        rest: tuple[float, ...] = self._at or ()
        if way == WAY:
            rest, base = (*self._ends, STEPS), 0
        elif way == GRID:
            rest = (SIDE,)
        return Probe(self.subject.node_id, "decoding", (way, *self._pair, base, *rest))

    def probes(self) -> Probes:
        return frozenset({self._codes_probe, self._made_probe})

    # -- what is drawn

    def draw(self, found: Snapshots) -> None:
        codes, made = found.get(self._codes_probe), found.get(self._made_probe)
        if codes is not None:
            self._codes = codes
        if made is not None:
            self._made = made
            self._show_made(made)
        if self._codes is not None:
            self._show_pad(self._codes)

    def _show_pad(self, codes: Snapshot) -> None:
        facts, places = codes.extra, codes.array[:, :2].astype(float)
        spans = self._spans()
        layers: list[Layer] = []
        legend: list[Entry] = []
        classes, labels = facts.get("classes") or (), codes.array[:, 2]
        for index, name in enumerate(classes):
            own = places[labels == index]
            layers.append(Marks(own[:, 0], own[:, 1], of_class(index), class_shape(index), 5.5))
            legend.append(Entry(name, of_class(index), class_shape(index)))
        if not classes:
            layers.append(Marks(places[:, 0], places[:, 1], "dim", "circle", 4.0))
        if self.way.currentData() == WAY:
            ends = places[[end % len(places) for end in self._ends]]
            layers.append(Curve(ends[:, 0], ends[:, 1], "text", 1.6))
            layers.append(Marks(ends[:, 0], ends[:, 1], "text", "diamond", 13, True))
        else:
            x, y = self._here
            layers.append(Curve(np.array(spans[0]), np.full(2, y), "text", 0.8))
            layers.append(Curve(np.full(2, x), np.array(spans[1]), "text", 0.8))
            layers.append(Marks(np.array([x]), np.array([y]), "text", "circle", 13, True))
        across, up = facts["names"]
        self.pad.show_layers(
            Frame(spans[0], spans[1], across, up, legend=legend if self.height() >= LEGEND_FROM else ()),
            layers,
        )

    @property
    def _here(self) -> tuple[float, float]:
        """The point that is decoded."""
        if self._at is not None:
            return self._at
        if self._made is None or self.way.currentData() != POINT or "places" not in self._made.extra:
            return 0.0, 0.0
        x, y = self._made.extra["places"][0].tolist()
        return x, y

    def _spans(self) -> tuple[tuple[float, float], tuple[float, float]]:
        if self._codes is None:
            return (-1.0, 1.0), (-1.0, 1.0)
        places = self._codes.array[:, :2].astype(float)
        spans = []
        for axis in (0, 1):
            low, high = float(places[:, axis].min()), float(places[:, axis].max())
            pad = 0.06 * (high - low) or 0.5
            spans.append((low - pad, high + pad))
        return spans[0], spans[1]

    def _show_made(self, made: Snapshot) -> None:
        way, facts = self.way.currentData(), made.extra
        images = made.array if made.array.ndim > 2 else made.array[:, None]
        low, high = float(images.min()), float(images.max())
        self.pad.setVisible(way != GRID)
        wide = QBoxLayout.Direction.TopToBottom if way == WAY else QBoxLayout.Direction.LeftToRight
        self._box.setDirection(wide)
        self._box.setStretch(0, 3)
        self._box.setStretch(1, 1 if way == WAY else 2)
        if way == GRID:
            side = round(len(images) ** 0.5)
            places = facts["places"].reshape(side, side, 2)
            rows = [
                ImageRow(f"{line[0, 1]:.2f}", images[at * side : (at + 1) * side], (low, high))
                for at, line in enumerate(places)
            ]
            self.images.show_rows(rows, captions=[f"{x:.2f}" for x in places[0, :, 0]])
            names = facts["names"]
            told = f"{names[0]} → · {names[1]} ↑ · equal probability of the prior between neighbours"
        elif way == WAY:
            fraction = [f"{part:.2f}" for part in np.linspace(0, 1, len(images))]
            self.images.show_rows([ImageRow("", images, (low, high))], captions=fraction)
            noun = "draw" if facts["drawn"] else "example"
            told = f"from {noun} {facts['ends'][0] + 1} to {facts['ends'][1] + 1} · click another to go on"
        else:
            self.images.show_rows([ImageRow("", images, None)])
            x, y = facts["places"][0]
            told = (
                f"({number(float(x))}, {number(float(y))}) of a code of {self._size} numbers · drag the point"
            )
        self.set_note(f"{told} · {number(low)} to {number(high)}")

    def _read(self, x: float, y: float) -> str:
        return f"{number(x)}, {number(y)}"

    # -- what the user does

    def _moved(self, x: float, y: float) -> None:
        if self.way.currentData() == WAY:
            self._pick(x, y)
            return
        self._go(x, y)

    def _nudged(self, across: int, up: int) -> None:
        if self.way.currentData() == POINT:
            spans = self._spans()
            steps = [(high - low) / (2 * FINENESS) for low, high in spans]
            x, y = self._here
            self._go(x + across * steps[0], y + up * steps[1])

    def _go(self, x: float, y: float) -> None:
        found = []
        for value, (low, high) in zip((x, y), self._spans(), strict=True):
            step = (high - low) / (2 * FINENESS)
            found.append(round(round(min(max(value, low), high) / step) * step, 6))
        at = (found[0], found[1])
        if at != self._at:
            self._at = at
            if self._codes is not None:
                self._show_pad(self._codes)
            self.needs_changed.emit()

    def _pick(self, x: float, y: float) -> None:
        if self._codes is None:
            return
        (left, right), (low, high) = self._spans()
        away = (self._codes.array[:, :2] - (x, y)) / (right - left, high - low)
        nearest = int(np.square(away).sum(axis=1).argmin())
        if nearest != self._ends[1]:
            self._ends = (self._ends[1], nearest)
            self._show_pad(self._codes)
            self.needs_changed.emit()

    def _chosen(self, _index: int) -> None:
        self._at = None
        self.needs_changed.emit()

    def controls(self) -> QWidget | None:
        return self.in_row(self.way, self.plane, self.base)

    def table(self) -> Table | None:
        if self._made is None:
            return None
        flat = self._made.array.reshape(len(self._made.array), -1).astype(float)
        rows = [(at + 1, *values) for at, values in enumerate(flat.round(5).tolist())]
        return ("decoding", *(f"value {n + 1}" for n in range(flat.shape[1]))), rows

    def state(self) -> dict[str, object]:
        return {
            "way": self.way.currentData(),
            "plane": list(self._pair),
            "base": self.base.currentData(),
            "at": None if self._at is None else list(self._at),
            "ends": list(self._ends),
        }

    def restore(self, state: Mapping[str, object]) -> None:
        choose(self.way, state.get("way"))
        choose(self.base, state.get("base"))
        plane, at, ends = state.get("plane"), state.get("at"), state.get("ends")
        if isinstance(plane, list) and len(plane) == 2:
            choose(self.plane, (plane[0], plane[1]))
        if isinstance(at, list) and len(at) == 2 and all(isinstance(value, int | float) for value in at):
            self._at = (float(at[0]), float(at[1]))
        if isinstance(ends, list) and len(ends) == 2 and all(isinstance(value, int) for value in ends):
            self._ends = (ends[0], ends[1])
