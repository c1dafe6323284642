"""Where a network of straight pieces is linear: its joints along one input, its regions over two."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QResizeEvent
from PySide6.QtWidgets import QWidget

from app.charts.chart import Areas, Chart, Curve, Entry, Frame, Ground, Layer, Marks, Pieces
from app.charts.class_marks import class_colour
from app.charts.colourmaps import mixed
from app.charts.plane import opened
from app.charts.plot import number
from app.look.asked import features, head, of_class
from app.look.base import OneProbe, Subject, Table
from app.look.controls import beside
from app.look.layers.layer_measures import name_in
from app.look.registry import view_kind
from app.theme import Theme
from app.widgets.labels import label
from engine.catalogue import Layer as LayerType
from engine.catalogue.traits import pieces_of
from engine.feed.feed import Snapshot

STRENGTH = 0.3  # of a region's colour on the panel
COLUMNS = 800  # of an image of regions side by side
MOST_CURVES = 7
WORDS_FROM = 380  # pixels of width that leave room for the numbers beside the chart
LINES = ("text", "accent", "warning", "bad", "good")  # the joints of each layer, those behind the fifth alike
SHAPES = ("circle", "square", "triangle", "diamond", "star")


def of_straight_pieces(subject: Subject) -> bool:
    """Whether the answer depends on one number or two, through functions that are straight but at joints."""
    asked, (project, book) = head(subject), subject.as_trained
    if asked is None or book is None or len(features(subject)) not in (1, 2):
        return False
    answering = asked.prediction[0]
    kinds = [book.types.get(one) for one in (answering, *project.graph.ancestors(answering))]
    layers = [kind for kind in kinds if isinstance(kind, LayerType)]
    curved = any(layer.squash() is not None and pieces_of(layer) is None for layer in layers)
    return any(pieces_of(layer) is not None for layer in layers) and not curved


@view_kind(
    "linear-regions",
    "Linear regions",
    "The pieces in which a ReLU network is linear, exactly; how many there are, and can be at most.",
    "Answers",
    of_straight_pieces,
    rank=10,
)
class LinearRegions(OneProbe):
    """Regions in the colours of how many units are active; one more or one fewer is the next colour."""

    card_size = (460, 290)
    takes = "linear_regions"

    def __init__(self, subject: Subject, parent: QWidget | None = None) -> None:
        super().__init__(subject, parent)
        self.chart = Chart()
        self.words, self.values = label("", "small"), label("", "small")
        for one in (self.words, self.values):
            one.setAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignTop)
        beside(self, (self.chart, 1), (self.words, 0), (self.values, 0))

    def draw_snapshot(self, snapshot: Snapshot) -> None:
        facts = snapshot.extra
        if facts["inputs"] == 1:
            self._show_line(snapshot)
        else:
            self._show_plane(snapshot)
        found = self._lines(snapshot)
        self.words.setText("\n".join(word for word, _ in found))
        self.values.setText("\n".join(value for _, value in found))
        count, bound = len(facts["sizes"]), facts["at_most"]
        words = (
            f"{count:,} linear regions" if bound is None else f"{count:,} of at most {_short(bound)} regions"
        )
        self.set_note(f"{words} · colour: active units")

    def _show_line(self, snapshot: Snapshot) -> None:
        facts, array = snapshot.extra, snapshot.array.astype(np.float64)
        order = np.argsort(array[:, 0], kind="stable")
        x, answers = array[order, 0], array[order, 1:]
        starts = array[:, 0].reshape(-1, 2)
        by_place = np.argsort(starts.min(1))
        layers: list[Layer] = [
            stripes(starts.max(1)[by_place], partial(shades_of, facts["active"][by_place]), (x[0], x[-1]))
        ]
        shown = answers[:, :MOST_CURVES]
        many = shown.shape[1] > 1
        for index, curve in enumerate(shown.T):
            layers.append(Curve(x, curve, of_class(index) if many else "text", 2.0))
        names = facts["classes"] or tuple(f"answer {index + 1}" for index in range(shown.shape[1]))
        legend = (
            [Entry(name, of_class(index)) for index, name in enumerate(names[:MOST_CURVES])] if many else []
        )
        joints = facts["cuts"][:, 0, 0]
        for layer, node_id in enumerate(facts["layers"]):
            at = joints[facts["cut_layers"] == layer]
            look = LINES[min(layer, len(LINES) - 1)], SHAPES[min(layer, len(SHAPES) - 1)]
            legend.append(Entry(f"joints of {name_in(self.subject.workspace, node_id)}", *look))
            layers += [Marks(at, np.interp(at, x, curve), *look, 7) for curve in shown.T]
        named = "score" if facts["classes"] else facts["target"] or "answer"
        self.chart.show_layers(
            Frame((x[0], x[-1]), spanned(shown), facts["names"][0], named, legend=legend), layers
        )

    def _show_plane(self, snapshot: Snapshot) -> None:
        facts, corners = snapshot.extra, snapshot.array[:, :2].astype(np.float64)
        cells = np.split(corners, np.cumsum(facts["sizes"])[:-1])
        layers: list[Layer] = [Areas(cells, partial(shades_of, facts["active"]))]
        legend: list[Entry] = []
        for layer, node_id in reversed(list(enumerate(facts["layers"]))):
            colour = LINES[min(layer, len(LINES) - 1)]
            layers.append(
                Pieces(facts["cuts"][facts["cut_layers"] == layer], colour, 1.6 if not layer else 1.1)
            )
            legend.insert(0, Entry(name_in(self.subject.workspace, node_id), colour))
        spans = [(float(one.min()), float(one.max())) for one in corners.T]
        across, up = facts["names"]
        self.chart.show_layers(Frame(spans[0], spans[1], across, up, legend=legend), layers)

    def _lines(self, snapshot: Snapshot) -> list[tuple[str, str]]:
        """What is told beside the chart: a word and a value each."""
        facts = snapshot.extra
        found = [("linear regions", f"{len(facts['sizes']):,}")]
        if facts["at_most"] is not None:
            found.append(("at most", _short(facts["at_most"])))
        units = " + ".join(f"{width:,}" for width in facts["widths"])
        return [*found, ("units with joints", units), ("parameters", f"{facts['parameters']:,}")]

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        for one in (self.words, self.values):
            one.setVisible(self.width() >= WORDS_FROM)

    def table(self) -> Table | None:
        if self._found is None:
            return None
        facts, found = self._found.extra, self._found.array
        answers = facts["classes"] or [
            f"answer {index + 1}" for index in range(found.shape[1] - facts["inputs"])
        ]
        region = np.repeat(np.arange(len(facts["sizes"])), facts["sizes"]) + 1
        header = ("region", "active units", *facts["names"], *answers)
        return header, [
            (int(one), int(facts["active"][one - 1]), *row.tolist())
            for one, row in zip(region, found, strict=True)
        ]


def _short(count: int) -> str:
    return f"{count:,}" if count < 10**9 else number(count)


def spanned(values: NDArray[np.float64]) -> tuple[float, float]:
    """From the least to the largest value, with a little room at both ends."""
    low, high = float(values.min()), float(values.max())
    room = 0.06 * (high - low)
    return opened((low - room, high + room))


def shades_of(numbers: NDArray[np.integer], theme: Theme) -> Sequence[QColor]:
    """A quiet colour for each number, another one for the next."""
    return [mixed(theme.panel, class_colour(theme, int(one)), STRENGTH) for one in numbers]


def stripes(
    ends: NDArray[np.float64], colours: Callable[[Theme], Sequence[QColor]], span: tuple[float, float]
) -> Ground:
    """Regions side by side up to their `ends`, in these colours."""
    middles = span[0] + (np.arange(COLUMNS) + 0.5) * (span[1] - span[0]) / COLUMNS
    return Ground(
        partial(_striped, colours, np.minimum(np.searchsorted(ends, middles), len(ends) - 1)), smooth=False
    )


def _striped(
    colours: Callable[[Theme], Sequence[QColor]], at: NDArray[np.intp], theme: Theme
) -> NDArray[np.uint32]:
    return np.array([one.rgba() for one in colours(theme)], np.uint32)[at][None]
