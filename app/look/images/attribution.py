"""Which pixels of the pinned example the answer hangs on: gradients, Grad-CAM, occlusion."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QSlider, QWidget

from app.charts.arrays.clouds import Clouds
from app.charts.arrays.overlay import Overlay
from app.charts.plot import number
from app.look.arrays import rows_of
from app.look.asked import head
from app.look.base import OneProbe, Subject, Table
from app.look.controls import choice, choose, keep, offer, stacked
from app.look.registry import view_kind
from engine.feed.feed import Probe, Snapshot
from engine.look.pixels import arriving_shape, asked_of_image, image_input
from engine.shapes.heads import VALUES

PREDICTED, RIGHT = -1, -2
METHODS = (
    ("Gradient", "gradient"),
    ("Gradient × input", "gradient x input"),
    ("Integrated gradients", "integrated gradients"),
)
MOST = 1000  # classes that are offered


def asks_about_images(subject: Subject) -> bool:
    """Whether the model, or this node of it, is asked something about an image or a signal."""
    project, book = subject.as_trained
    if book is None or asked_of_image(project, book, subject.node_id) is None:
        return False
    return not subject.node_id or subject.kind == "data" or head(subject) is not None


def asks_about_2d_images(subject: Subject) -> bool:
    """The same for images of rows and columns alone."""
    project, book = subject.as_trained
    if book is None or not asks_about_images(subject):
        return False
    asked = asked_of_image(project, book, subject.node_id)
    column = image_input(project, book, asked.prediction[0]) if asked is not None else None
    return column is not None and len(column.shape) == 3


def has_maps(subject: Subject) -> bool:
    """Whether the node gives maps on the way from an image to an answer."""
    project, book = subject.as_trained
    shape = subject.shape_of()
    if book is None or subject.kind != "layer" or shape is None or len(shape) != 3:
        return False
    asked, arriving = asked_of_image(project, book), arriving_shape(book, subject.node_id)
    if asked is None or arriving is None or len(arriving) != 3:
        return False
    return subject.node_id in project.graph.ancestors(asked.prediction[0])


class _Attribution(OneProbe):
    """The example, and beside it the example under a map; with the class that is asked about."""

    card_size = (420, 240)

    def __init__(self, subject: Subject, *, signed: bool, parent: QWidget | None = None) -> None:
        super().__init__(subject, parent)
        self.overlay = Overlay(signed=signed)
        self.target = choice(
            "attributedClass",
            [("Predicted", PREDICTED), ("Right", RIGHT)],
            "The class whose score is explained",
            110,
        )
        self.target.activated.connect(self._ask_again)
        self.opacity = QSlider(Qt.Orientation.Horizontal)
        self.opacity.setObjectName("attributionOpacity")
        self.opacity.setRange(0, 100)
        self.opacity.setValue(85)
        self.opacity.setFixedWidth(64)
        self.opacity.setToolTip("How much the map covers the image")
        self.opacity.setAccessibleName("Opacity of the map")
        self.opacity.valueChanged.connect(self._fade)
        self.cloud = Clouds()  # in place of the overlay, where the example is a cloud of points
        stacked(self, self.overlay, self.cloud)
        self.cloud.hide()

    @property
    def _target(self) -> int:
        found = self.target.currentData()
        return found if isinstance(found, int) else PREDICTED

    def _words(self, facts: Mapping[str, Any]) -> tuple[str, list[str]]:
        """The title of the map, and what stands beside that of the card."""
        raise NotImplementedError

    def draw_snapshot(self, snapshot: Snapshot) -> None:
        facts = snapshot.extra
        self._offer(facts)
        title, words = self._words(facts)
        is_cloud = bool(facts.get("cloud"))
        self.cloud.setVisible(is_cloud)
        self.overlay.setVisible(not is_cloud)
        self.opacity.setEnabled(not is_cloud)
        if is_cloud:
            there = facts["image"].any(1)  # the others fill up
            values = snapshot.array.sum(1)[there]
            self.cloud.show_clouds([facts["image"][there]], [title], values=[values])
        else:
            self.overlay.show_map(facts["image"], snapshot.array, ("input", title))
        self.set_note(" · ".join([self._named(facts), *words, f"example {facts['example'] + 1}"]))

    def _offer(self, facts: Mapping[str, Any]) -> None:
        if facts["kind"] == VALUES:
            offer(self.target, [(f"Value {one + 1}", one) for one in range(min(MOST, facts["size"]))])
        elif facts["kind"] == "classes":
            names = [(str(name), one) for one, name in enumerate(facts["classes"][:MOST])]
            offer(self.target, [("Predicted", PREDICTED), ("Right", RIGHT), *names])
        else:
            offer(self.target, [("Yes", PREDICTED)])

    def _named(self, facts: Mapping[str, Any]) -> str:
        score = f"score {number(facts['score'])}"
        if facts["kind"] == "classes":
            index = facts["index"]
            role = {facts["predicted"]: " (predicted)", facts["right"]: " (right)"}.get(index, "")
            if facts["predicted"] == facts["right"] == index:
                role = " (predicted, right)"
            return f"for {facts['classes'][index]}{role}, {score}"
        return f"for value {facts['index'] + 1}, {score}" if facts["kind"] == VALUES else score

    def controls(self) -> QWidget | None:
        return self.in_row(*self._choices(), self.target, self.opacity)

    def _choices(self) -> list[QWidget]:
        return []

    def _fade(self, percent: int) -> None:
        self.overlay.set_opacity(percent / 100)

    def table(self) -> Table | None:
        return None if self._found is None else rows_of(self._found.array, "attribution")

    def state(self) -> dict[str, object]:
        return {"target": self._target, "opacity": self.opacity.value()}

    def restore(self, state: Mapping[str, object]) -> None:
        target, opacity = state.get("target"), state.get("opacity")
        if isinstance(target, int) and RIGHT <= target < MOST:
            keep(self.target, target, f"{target}")
        if isinstance(opacity, int) and 0 <= opacity <= 100:
            self.opacity.setValue(opacity)
        self.needs_changed.emit()


class _Saliency(_Attribution):
    """A signed map of how a score hangs on each pixel, channels added up."""

    def __init__(self, subject: Subject, parent: QWidget | None = None) -> None:
        super().__init__(subject, signed=True, parent=parent)
        self.method = choice("saliencyMethod", METHODS, "How the map is computed", 168)
        self.method.activated.connect(self._ask_again)

    @property
    def _probe(self) -> Probe:
        return Probe(self.subject.node_id, "attribution", (str(self.method.currentData()), self._target))

    def _words(self, facts: Mapping[str, Any]) -> tuple[str, list[str]]:
        words = [f"sum lacks {number(facts['gap'])}"] if "gap" in facts else []
        return "red raises it, blue lowers it", words

    def _choices(self) -> list[QWidget]:
        return [self.method]

    def state(self) -> dict[str, object]:
        return {**super().state(), "method": self.method.currentData()}

    def restore(self, state: Mapping[str, object]) -> None:
        choose(self.method, state.get("method"))
        super().restore(state)


@view_kind(
    "saliency",
    "Saliency",
    "How a score changes with each pixel or point of the example: red raises it, blue lowers it.",
    "Images",
    asks_about_images,
    rank=14,
)
class Saliency(_Saliency):
    """For the answer of a node."""


@view_kind(
    "model-saliency",
    "Saliency",
    "How a score changes with each pixel or point of the example: red raises it, blue lowers it.",
    "Images",
    asks_about_images,
    rank=14,
    whole=True,
)
class ModelSaliency(_Saliency):
    """For the answer of the model."""


@view_kind(
    "grad-cam",
    "Grad-CAM",
    "Where the maps of this layer raise the score of a class: yellow most, dark not at all.",
    "Images",
    has_maps,
    rank=12,
)
class GradCam(_Attribution):
    """The maps weighted by what they mean for a class, over the example."""

    def __init__(self, subject: Subject, parent: QWidget | None = None) -> None:
        super().__init__(subject, signed=False, parent=parent)

    @property
    def _probe(self) -> Probe:
        return Probe(self.subject.node_id, "grad_cam", (self._target,))

    def _words(self, facts: Mapping[str, Any]) -> tuple[str, list[str]]:
        count, high, wide = facts["size"]
        lit = self._found is not None and self._found.array.max() > 0
        title = "raises the score" if lit else "nothing here raises the score"
        return title, [f"from {count} maps of {high} × {wide}"]


class _Occlusion(_Attribution):
    """How much a score falls where a patch is covered."""

    def __init__(self, subject: Subject, parent: QWidget | None = None) -> None:
        super().__init__(subject, signed=True, parent=parent)
        sides = [(f"Patch {side}", side) for side in (1, 2, 3, 4, 6, 8, 12, 16, 32)]
        self.side = choice("occlusionPatch", sides, "Side of the covered square, in pixels", 94)
        self.step = choice("occlusionStep", [(f"Step {n}", n) for n in (1, 2, 4, 8)], "Pixels it moves", 88)
        choose(self.side, 4)
        choose(self.step, 2)
        self.side.activated.connect(self._ask_again)
        self.step.activated.connect(self._ask_again)

    @property
    def _probe(self) -> Probe:
        chosen = (self._target, int(self.side.currentData()), int(self.step.currentData()))
        return Probe(self.subject.node_id, "occlusion", chosen)

    def _words(self, facts: Mapping[str, Any]) -> tuple[str, list[str]]:
        side = facts["patch"]
        return "fall of the score where covered", [f"{side} × {side} at {number(facts['fill'])}"]

    def _choices(self) -> list[QWidget]:
        return [self.side, self.step]

    def state(self) -> dict[str, object]:
        return {**super().state(), "patch": self.side.currentData(), "step": self.step.currentData()}

    def restore(self, state: Mapping[str, object]) -> None:
        choose(self.side, state.get("patch"))
        choose(self.step, state.get("step"))
        super().restore(state)


@view_kind(
    "occlusion",
    "Occlusion",
    "How much a score falls when a patch of the example is covered: red parts were needed for it.",
    "Images",
    asks_about_2d_images,
    rank=30,
)
class Occlusion(_Occlusion):
    """For the answer of a node."""


@view_kind(
    "model-occlusion",
    "Occlusion",
    "How much a score falls when a patch of the example is covered: red parts were needed for it.",
    "Images",
    asks_about_2d_images,
    rank=30,
    whole=True,
)
class ModelOcclusion(_Occlusion):
    """For the answer of the model."""
