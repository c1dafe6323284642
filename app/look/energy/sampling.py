"""Gibbs sampling of a Boltzmann machine, and images on their way out of noise."""

from __future__ import annotations

from collections.abc import Mapping
from math import ceil, prod

import numpy as np
from PySide6.QtCore import QSignalBlocker
from PySide6.QtWidgets import QVBoxLayout, QWidget

from app.charts.arrays.image_rows import ImageRow, ImageRows
from app.charts.colourmaps import VIRIDIS
from app.look.base import OneProbe, Subject, Table
from app.look.controls import button, choice, choose, dial, slider, stacked
from app.look.registry import view_kind
from app.look.shown import gives, of_example
from app.widgets.labels import label
from engine.feed.feed import Probe, Snapshot
from engine.look.pixels import arriving_shape

CHAINS = (("5 steps", 5), ("20 steps", 20), ("50 steps", 50), ("100 steps", 100))
BEGINS = (("rest blank", "blank"), ("rest random", "random"))
MOST_NUMBERS = 16  # that are an example and no image
COUNTS = (("1 image", 1), ("2 images", 2), ("4 images", 4), ("8 images", 8))


def has_hidden_states(subject: Subject) -> bool:
    """Whether the node has visible and hidden states."""
    return gives(subject, "gibbs")


def denoises(subject: Subject) -> bool:
    """Whether the node makes images out of noise step by step."""
    _, book = subject.as_trained
    arriving = None if book is None else arriving_shape(book, subject.node_id)
    return gives(subject, "denoising") and arriving is not None and prod(arriving) > MOST_NUMBERS


@view_kind(
    "gibbs",
    "Gibbs sampling",
    "Chains that begin at examples and go back and forth between visible and hidden units, step by step.",
    "Generation",
    has_hidden_states,
    rank=5,
)
class Gibbs(OneProbe):
    """The examples, the probabilities after so many steps, and the hidden states; held rows are hatched."""

    card_size = (440, 260)

    def __init__(self, subject: Subject, parent: QWidget | None = None) -> None:
        super().__init__(subject, parent)
        self._wanted, self._lines = 1, 0
        self.chain = choice("gibbsChain", CHAINS, "How long the chains are", 98)
        choose(self.chain, 20)
        self.begins = choice(
            "gibbsBegins", BEGINS, "How what is not held begins; only held rows tell what the image was", 104
        )
        self.again = button("gibbsAgain", "Again", "Draw other states")
        self.chain.activated.connect(self._ask_again)
        self.begins.activated.connect(self._ask_again)
        self.again.clicked.connect(self._once_more)
        self.slider = slider("gibbsStep", "Step of the chain", "The arrow keys go step by step")
        self.slider.setRange(0, 20)
        self.slider.setValue(1)
        self.slider.valueChanged.connect(self._moved)
        self.held = slider(
            "gibbsHeld", "Rows held", "How many rows keep the example's values, from the top; 0 begins at it"
        )
        self.held.setRange(0, 0)
        self.held.valueChanged.connect(self._hold)
        self._value, self._held_value = label("", "mono"), label("", "mono")
        self.images = ImageRows()
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(4)
        for word, one, value in (("step", self.slider, self._value), ("held", self.held, self._held_value)):
            value.setFixedWidth(66)
            column.addLayout(dial(word, one, value))
        column.addWidget(self.images, 1)

    @property
    def _probe(self) -> Probe:
        detail = (int(self.chain.currentData()), self._lines, str(self.begins.currentData()), self._tries)
        return Probe(self.subject.node_id, "gibbs", detail)

    def draw_snapshot(self, snapshot: Snapshot) -> None:
        high, wide = snapshot.extra["shape"]
        for one, last, value in (
            (self.slider, len(snapshot.array) - 1, self._wanted),
            (self.held, high if high > 1 else wide, self._lines),
        ):
            with QSignalBlocker(one):
                one.setRange(0, last)
                one.setValue(value)
        self._show(snapshot)

    def _show(self, snapshot: Snapshot) -> None:
        facts, step = snapshot.extra, self.slider.value()
        shape, chain, hidden = facts["shape"], snapshot.array, facts["hidden"]
        count = chain.shape[1]
        self._value.setText(f"{step} of {len(chain) - 1}")
        units = hidden.shape[2]
        side = ceil(units**0.5)
        padded = np.zeros((count, side * ceil(units / side)))
        padded[:, :units] = hidden[step]
        held = facts["held"].reshape(shape)
        self._held_value.setText(f"{self.held.value()} of {self.held.maximum()}")
        name = {0: "start", 1: "step 1" if held.any() else "reconstruction"}.get(step, f"step {step}")
        rows = [
            ImageRow("example", facts["examples"].reshape(count, *shape), (0, 255)),
            ImageRow(name, chain[step].reshape(count, *shape), (0, 255)),
            ImageRow("hidden", _fitted(padded.reshape(count, -1, side), shape), (0, 1), VIRIDIS),
        ]
        self.images.show_rows(rows, held=held if held.any() else None, hatched=(1,))
        on = float(hidden[step].mean())
        words = f"{on:.0%} of {units} hidden units on · {of_example(facts)} first"
        self.set_note(f"{words} · hatched: held" if held.any() else words)

    def _moved(self, value: int) -> None:
        self._wanted = value
        if self._found is not None:
            self._show(self._found)

    def _hold(self, lines: int) -> None:
        self._lines = lines
        self._held_value.setText(f"{lines} of {self.held.maximum()}")
        self.needs_changed.emit()

    def controls(self) -> QWidget | None:
        return self.in_row(self.chain, self.begins, self.again)

    def table(self) -> Table | None:
        if self._found is None:
            return None
        step = self.slider.value()
        values = (self._found.array[step].astype(float) / 255).round(4)
        rows = [(chain + 1, unit + 1, value) for (chain, unit), value in np.ndenumerate(values)]
        return ("chain", "visible unit", f"probability at step {step}"), rows

    def state(self) -> dict[str, object]:
        return {
            "chain": self.chain.currentData(),
            "held": self._lines,
            "begins": self.begins.currentData(),
            "step": self._wanted,
        }

    def restore(self, state: Mapping[str, object]) -> None:
        choose(self.chain, state.get("chain"))
        choose(self.begins, state.get("begins"))
        step, lines = state.get("step"), state.get("held")
        self._wanted = step if isinstance(step, int) else 1
        self._lines = max(0, lines) if isinstance(lines, int) else 0


def _fitted(images: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """Images (n, h, w) in a frame of another shape, each number a block, for a row beside others."""
    high, wide = images.shape[1:]
    down, across = (
        np.arange(extent) * own // extent for extent, own in zip(shape, (high, wide), strict=True)
    )
    return images[:, down][:, :, across]


@view_kind(
    "denoising",
    "Out of noise",
    "Images from pure noise on the left to the finished ones on the right.",
    "Generation",
    denoises,
    rank=5,
    leads=22,
)
class Denoising(OneProbe):
    """A film strip an image, the number of steps that are left below it."""

    card_size = (460, 220)

    def __init__(self, subject: Subject, parent: QWidget | None = None) -> None:
        super().__init__(subject, parent)
        self.count = choice("denoisingCount", COUNTS, "How many images", 104)
        choose(self.count, 4)
        self.again = button("denoisingAgain", "Again", "Begin with other noise")
        self.count.activated.connect(self._ask_again)
        self.again.clicked.connect(self._once_more)
        self.film = ImageRows()
        stacked(self, self.film)

    @property
    def _probe(self) -> Probe:
        return Probe(self.subject.node_id, "denoising", (int(self.count.currentData()), self._tries))

    def draw_snapshot(self, snapshot: Snapshot) -> None:
        frames = snapshot.array.swapaxes(0, 1)  # an image a row
        if frames.ndim == 3:
            frames = frames[:, :, None]
        last = frames[:, -1]
        scale = (float(last.min()), float(last.max()))
        rows = [ImageRow("", image, scale) for image in frames]
        self.film.show_rows(rows, captions=[str(step) for step in snapshot.extra["steps"]])
        self.set_note(
            f"{snapshot.extra['total']:,} steps · below: how many are left · grey as the last images"
        )

    def controls(self) -> QWidget | None:
        return self.in_row(self.count, self.again)

    def table(self) -> Table | None:
        if self._found is None:
            return None
        frames = self._found.array
        flat = frames.reshape(*frames.shape[:2], -1).astype(float)
        rows = [
            (image + 1, step, *flat[at, image].round(4).tolist())
            for image in range(flat.shape[1])
            for at, step in enumerate(self._found.extra["steps"])
        ]
        return ("image", "steps left", *(f"value {n + 1}" for n in range(flat.shape[2]))), rows

    def state(self) -> dict[str, object]:
        return {"images": self.count.currentData()}

    def restore(self, state: Mapping[str, object]) -> None:
        choose(self.count, state.get("images"))
