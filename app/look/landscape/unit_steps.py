"""A hidden layer along one input, unit by unit: what arrives, what leaves it, the weights, the sum."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

import numpy as np
from numpy.typing import NDArray
from PySide6.QtGui import QColor, QResizeEvent
from PySide6.QtWidgets import QGridLayout, QWidget

from app.charts.chart import Chart, Curve, Frame, Layer, Marks
from app.charts.colourmaps import mixed
from app.charts.plot import number
from app.look.asked import of_class
from app.look.base import OneProbe, Subject, Table
from app.look.controls import choice, choose, offer
from app.look.landscape.linear_regions import spanned, stripes
from app.look.layers.activation import bends
from app.look.layers.layer_measures import name_in
from app.look.registry import view_kind
from app.theme import Theme
from app.widgets.labels import ElidedLabel
from engine.catalogue import Layer as LayerType
from engine.feed.feed import Probe, Snapshot
from engine.shapes.heads import features_of, heads

STEPS = ("arriving", "leaving", "weighted", "sum")
ALL_FROM = 210  # pixels of height that leave room for all four charts
TONES = (0.05, 0.18)  # how much of the accent regions have in turn


def is_taken_apart(subject: Subject) -> bool:
    """Whether the node is a hidden layer with a function, along one input on its way to a dense layer."""
    project, book = subject.as_trained
    graph, node_id = project.graph, subject.node_id
    if book is None or not bends(subject) or _read_by(subject) is None:
        return False
    behind = (one for one in heads(project, book) if node_id in graph.ancestors(one.prediction[0]))
    asked = next(behind, None)
    return asked is not None and len(features_of(project, book, asked)) == 1


def _read_by(subject: Subject) -> str | None:
    """The first dense layer that reads what leaves the node."""
    project, book = subject.as_trained
    if book is None or subject.node_id not in project.graph.nodes:
        return None
    for link in project.graph.outgoing(subject.node_id):
        kind = book.types.get(link.target)
        if isinstance(kind, LayerType) and kind.traits.dense:
            return link.target
    return None


@view_kind(
    "unit-steps",
    "Hidden units, step by step",
    "What arrives at each unit, what leaves it, that times its weight, and the sum; with joints and regions.",
    "Curves",
    is_taken_apart,
    rank=2,
)
class UnitSteps(OneProbe):
    """Four charts along the input, a colour for each unit; dots are joints, stripes regions between them.

    A low card has room for the last two.
    """

    card_size = (560, 380)

    def __init__(self, subject: Subject, parent: QWidget | None = None) -> None:
        super().__init__(subject, parent)
        self.output = choice("unitStepsOutput", (("output 1", 0),), "Which output the units add up to")
        self.output.activated.connect(self._ask_again)
        shape = Subject(subject.workspace, _read_by(subject) or "").shape_of()
        self._outputs = shape[-1] if shape else 1
        self.charts = [Chart() for _ in STEPS]
        self.headings = [ElidedLabel("", "small") for _ in STEPS]
        self._grid = grid = QGridLayout(self)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setHorizontalSpacing(10)
        grid.setVerticalSpacing(2)
        for place, (heading, chart) in enumerate(zip(self.headings, self.charts, strict=True)):
            down, across = divmod(place, 2)
            grid.addWidget(heading, 2 * down, across)
            grid.addWidget(chart, 2 * down + 1, across)
            grid.setRowStretch(2 * down + 1, 1)
            grid.setColumnStretch(across, 1)

    @property
    def _probe(self) -> Probe:
        return Probe(self.subject.node_id, "unit_steps", (int(self.output.currentData() or 0),))

    def draw_snapshot(self, snapshot: Snapshot) -> None:
        facts, array = snapshot.extra, snapshot.array.astype(np.float64)
        offer(self.output, [(f"output {one + 1}", one) for one in range(facts["outputs"])])
        self._make_room()
        x, total = array[:, 0], array[:, 1]
        steps = np.split(array[:, 2:], 3, axis=1)
        joints = facts["joints"][np.argsort(facts["joints"][:, 1])]
        ends = np.sort(np.concatenate([joints[:, 1], facts["earlier"], x[-1:]]))
        ground: list[Layer] = (
            [stripes(ends, partial(_two_tones, len(ends)), (x[0], x[-1]))] if facts["straight"] else []
        )
        for place, curves in enumerate(steps):
            layers = [*ground, *_curves(x, curves, joints)]
            self.charts[place].show_layers(
                self._frame(x, curves, facts["name"] if place == 2 else ""), layers
            )
        sums = [*ground, Curve(x, total, "text", 2.2), Marks(joints[:, 1], joints[:, 2], "text", "circle", 7)]
        self.charts[-1].show_layers(self._frame(x, total, facts["name"]), sums)
        read = name_in(self.subject.workspace, facts["reads"])
        for heading, words in zip(
            self.headings,
            (
                "1  arrives: w x + b",
                "2  leaves: after the function",
                f"3  times its weight in {read}",
                f"4  sum, with the bias {number(facts['offset'])}",
            ),
            strict=True,
        ):
            heading.setText(words)
        self.set_note(self._said(facts, len(joints), len(ends)))

    def _said(self, facts: Mapping[str, object], joints: int, regions: int) -> str:
        units = _counted(facts["units"], "unit")
        if not facts["straight"]:
            return f"{units} · no joints: the function is bent everywhere"
        return f"{units} · {_counted(joints, 'joint')} of this layer · {_counted(regions, 'linear region')}"

    def _frame(self, x: NDArray[np.float64], y: NDArray[np.float64], name: str) -> Frame:
        return Frame((x[0], x[-1]), spanned(y), name)

    def _make_room(self) -> None:
        everything = self.height() >= ALL_FROM
        for one in (*self.headings[:2], *self.charts[:2]):
            one.setVisible(everything)
        self._grid.setRowStretch(1, int(everything))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._make_room()

    def controls(self) -> QWidget | None:
        return self.output if self._outputs > 1 else None

    def table(self) -> Table | None:
        if self._found is None:
            return None
        facts = self._found.extra
        units = [f"{step} {unit + 1}" for step in STEPS[:3] for unit in range(facts["units"])]
        return (facts["name"], "sum", *units), self._found.array.tolist()

    def state(self) -> dict[str, object]:
        return {"output": self.output.currentData()}

    def restore(self, state: Mapping[str, object]) -> None:
        wanted = state.get("output")
        if isinstance(wanted, int) and wanted > 0 and not choose(self.output, wanted):
            self.output.addItem(f"output {wanted + 1}", wanted)
            choose(self.output, wanted)


def _curves(x: NDArray[np.float64], curves: NDArray[np.float64], joints: NDArray[np.float64]) -> list[Layer]:
    """A curve for each unit, with dots at its joints."""
    layers: list[Layer] = [Curve(x, curve, of_class(unit), 1.6) for unit, curve in enumerate(curves.T)]
    for unit in np.unique(joints[:, 0]).astype(int).tolist():
        at = joints[joints[:, 0] == unit, 1]
        layers.append(Marks(at, np.interp(at, x, curves[:, unit]), of_class(unit), "circle", 6))
    return layers


def _two_tones(count: int, theme: Theme) -> Sequence[QColor]:
    tones = [mixed(theme.panel, theme.accent, fraction) for fraction in TONES]
    return [tones[number % 2] for number in range(count)]


def _counted(count: object, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
