"""The curve that a model has laid through its data along one feature."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from PySide6.QtCore import Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QComboBox, QWidget

from app.charts.chart import Band, Chart, Curve, Entry, Frame, Layer, Marks, beyond
from app.charts.class_marks import class_shape
from app.charts.plane import around, opened
from app.charts.plot import number
from app.look.asked import choice, example_words, features, index_of, of_class, of_one_feature, single_answer
from app.look.base import LiveView, Probes, Snapshots, Subject, Table
from app.look.controls import row, stacked
from app.look.own import Answered, OneFeature, answer_units, answers_axis, feature_units, follow_units
from app.look.registry import view_kind
from engine.feed.feed import Probe, Snapshot
from engine.look.predictions.scores import fit as errors_of

RESIDUALS_FROM = 190  # pixels of height that leave room for the residuals


def has_a_line(subject: Subject) -> bool:
    """Whether the answer depends on numbers and is one."""
    return bool(features(subject)) and single_answer(subject)


@view_kind(
    "fit",
    "Fit",
    "The prediction along one feature, over the data; below, the errors for held out examples.",
    "Answers",
    has_a_line,
    rank=9,
    leads=100,
    leads_for=of_one_feature,
)
class Fit(LiveView):
    """The mean, with a band of two deviations where the model has them; for classes their probabilities."""

    card_size = (340, 280)

    def __init__(self, subject: Subject, parent: QWidget | None = None) -> None:
        super().__init__(subject, parent)
        self._names = [feature.name for feature in features(subject)]
        self._feature = 0
        self._box: QComboBox | None = None
        self._found: Snapshot | None = None
        self.chart = Chart()
        self.residuals = Chart()
        self.residuals.hide()
        follow_units(self)
        stacked(self, (self.chart, 5), (self.residuals, 3), spacing=2)

    def _probe(self, what: str) -> Probe:
        return Probe(self.subject.node_id, what, (self._feature,))

    def probes(self) -> Probes:
        return frozenset({self._probe("fit"), self._probe("points")})

    def draw(self, found: Snapshots) -> None:
        curve = found.get(self._probe("fit"))
        if curve is None:
            return
        points = found.get(self._probe("points"))
        asked = features(self.subject)
        feature = feature_units(self.subject, asked[self._feature]) if self._feature < len(asked) else None
        own = answer_units(self.subject)
        curve, points = _in_own_units(curve, feature, own), _points_in_own_units(points, feature, own)
        if feature is None and self._feature < len(asked):
            facts = {**curve.extra, "name": asked[self._feature].as_seen}
            curve = Snapshot(curve.revision, curve.step, curve.array, facts)
        self._found = curve
        if curve.extra["kind"] == "values":
            self._draw_values(curve, points)
        else:
            self._draw_classes(curve, points)
        self._make_room()

    def _draw_values(self, curve: Snapshot, points: Snapshot | None) -> None:
        facts, (x, mean) = curve.extra, curve.array[:, :2].T
        layers: list[Layer] = []
        legend = [Entry("answer", "accent")]
        reached = [mean]
        if points is not None:
            training = int(points.extra["training"])
            reached.append(points.array[:, 1])
            layers.append(_marks(points.array[:training], False))
            legend.append(Entry("training", "convolution", "circle"))
            if len(points.array) > training:
                layers.append(_marks(points.array[training:], True))
                legend.append(Entry("validation", "dim", "circle", hollow=True))
        if facts["deviation"]:
            wide = 2 * curve.array[:, 2]
            layers.insert(0, Band(x, mean - wide, mean + wide))
            legend.insert(1, Entry("± 2 deviations", "accent", "square", hollow=True))
            reached += [mean - wide, mean + wide]
        layers.append(Curve(x, mean, "accent", 2.2))
        span = opened(around(np.concatenate(reached)))
        if points is not None:
            layers += beyond(points.array[:, 0], points.array[:, 1], span)
        self.chart.show_layers(
            Frame((x[0], x[-1]), span, facts["name"], self._answered(facts["target"]), legend=legend), layers
        )
        there, right, predicted = facts["residuals"].T
        off = right - predicted
        zero = Curve(x[[0, -1]], np.zeros(2), "dim", 1.0)
        reach = float(np.abs(off[np.isfinite(off)]).max(initial=0.0)) * 1.15 or 1.0
        self.residuals.show_layers(
            Frame((x[0], x[-1]), (-reach, reach), "", "right - answer"),
            [zero, Marks(there, off, "dim", "circle", 5.5, True)],
        )
        score = errors_of(right, predicted)
        fixed = example_words(facts["example"], facts["fixed"])
        words = f"R² {score.r_squared:.3f} · RMSE {number(score.root_mean_square)} (validation)"
        self.set_note(" · ".join(part for part in (words, fixed) if part))

    def _answered(self, target: str) -> str:
        own = answer_units(self.subject)
        return own.name if own is not None else answers_axis(target or "answer", self.subject, None)

    def _draw_classes(self, curve: Snapshot, points: Snapshot | None) -> None:
        facts, x = curve.extra, curve.array[:, 0]
        layers: list[Layer] = []
        legend = []
        for index, name in enumerate(facts["classes"]):
            colour = of_class(index)
            layers.append(Curve(x, curve.array[:, 1 + index], colour, 2.0, _STYLES[index % len(_STYLES)]))
            legend.append(Entry(name, colour, style=_STYLES[index % len(_STYLES)]))
            if points is not None:
                training = int(points.extra["training"])
                for part, hollow in ((points.array[:training], False), (points.array[training:], True)):
                    own = part[part[:, 1].astype(int) == index]
                    level = np.full(len(own), -0.05 - 0.06 * (index % 3))
                    layers.append(Marks(own[:, 0], level, colour, class_shape(index), 6, hollow))
        frame = Frame(
            (x[0], x[-1]), (-0.2, 1.03), facts["name"], "probability", y_scale="fraction", legend=legend
        )
        self.chart.show_layers(frame, layers)
        fixed = example_words(facts["example"], facts["fixed"])
        self.set_note(
            " · ".join(part for part in ("marks below: the data, hollow: validation", fixed) if part)
        )

    def _make_room(self) -> None:
        found = self._found
        there = found is not None and found.extra["kind"] == "values" and len(found.extra["residuals"]) > 0
        self.residuals.setVisible(there and self.height() >= RESIDUALS_FROM)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._make_room()

    def table(self) -> Table | None:
        found = self._found
        if found is None:
            return None
        facts = found.extra
        if facts["kind"] == "values":
            header = (facts["name"], "answer", *(["deviation"] if facts["deviation"] else []))
        else:
            header = (facts["name"], *facts["classes"])
        return header, found.array.tolist()

    def controls(self) -> QWidget | None:
        if len(self._names) < 2:
            return None
        if self._controls is None:
            self._box = choice(self._names, self._feature, "The feature from left to right", "fitFeature")
            self._box.activated.connect(self._choose)
            self._controls = row(self._box)
        return self._controls

    def _choose(self, index: int) -> None:
        self._feature = index
        if self._box is not None:
            self._box.setCurrentIndex(index)
        self.needs_changed.emit()

    def state(self) -> dict[str, object]:
        return {"feature": self._feature}

    def restore(self, state: Mapping[str, object]) -> None:
        self._choose(index_of(state.get("feature"), 0, len(self._names)))


_STYLES = (Qt.PenStyle.SolidLine, Qt.PenStyle.DashLine, Qt.PenStyle.DotLine, Qt.PenStyle.DashDotLine)


def _in_own_units(curve: Snapshot, feature: OneFeature | None, own: Answered | None) -> Snapshot:
    """The curve and its residuals as in the data, as far as their units are known."""
    facts, array = dict(curve.extra), np.array(curve.array, np.float64)
    residuals = np.array(facts.get("residuals", np.empty((0, 3))), np.float64)
    if feature is not None:
        array[:, 0] = feature(array[:, 0])
        residuals[:, 0] = feature(residuals[:, 0])
    if own is not None:
        array[:, 1], residuals[:, 1:] = own.first(array[:, 1]), own.first(residuals[:, 1:])
        array[:, 2:] *= abs(own.factor)
    if "residuals" in facts:
        facts["residuals"] = residuals
    return Snapshot(curve.revision, curve.step, array, facts)


def _points_in_own_units(
    points: Snapshot | None, feature: OneFeature | None, own: Answered | None
) -> Snapshot | None:
    if points is None:
        return None
    array = np.array(points.array, np.float64)
    if feature is not None:
        array[:, 0] = feature(array[:, 0])
    if own is not None:
        array[:, 1] = own.first(array[:, 1])
    return Snapshot(points.revision, points.step, array, points.extra)


def _marks(rows: np.ndarray, hollow: bool) -> Marks:
    return Marks(rows[:, 0], rows[:, 1], "dim" if hollow else "convolution", "circle", 5.5, hollow)
