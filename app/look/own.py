"""What views show in the units that people know: answers and features as they stand in the data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from app.look.asked import head
from app.look.base import LiveView, Subject
from app.look.playground.cells import Part
from app.workspace.own_units import OwnUnitsFinder, cells_in, data_in, own_column, own_name, scaled, undone
from engine.shapes.heads import VALUES, Feature

if TYPE_CHECKING:
    from engine.look.own_units import OwnUnits


@dataclass(frozen=True)
class Answered:
    """How answers go back into units of their own: `name` is what the data call them."""

    name: str
    units: OwnUnits | None

    def undo(self, values: NDArray[Any]) -> NDArray[np.float64]:
        """Answers in rows `(n, size)`, or all of them in a row, as in the data; the same sizes come back."""
        if self.units is None:
            return values.astype(np.float64)
        size = int(np.prod(self.units.own.shape)) or 1
        if values.size % size:
            return values.astype(np.float64)
        found = undone(self.units, values.reshape(-1, *self.units.own.shape))
        return found.reshape(values.shape)

    def first(self, values: NDArray[Any]) -> NDArray[np.float64]:
        """Values of the first number of an answer, of any sizes."""
        if self.units is None:
            return np.asarray(values, np.float64)
        flat = np.asarray(values, np.float64).reshape(-1)
        rows = np.zeros((len(flat), int(np.prod(self.units.own.shape)) or 1))
        rows[:, 0] = flat
        found = undone(self.units, rows.reshape(-1, *self.units.own.shape)).reshape(rows.shape)
        return found[:, 0].reshape(np.shape(values))

    @property
    def factor(self) -> float:
        """How many of its own units one of the network's is; of several numbers, for the first."""
        size = int(np.prod(self.units.own.shape)) if self.units is not None else 1
        both = self.undo(np.stack([np.zeros(size), np.ones(size)]))
        return float(both[1, 0] - both[0, 0])


def answer_units(subject: Subject) -> Answered | None:
    """The units of the node's answers that are numbers; None where they are already those of the data."""
    asked, (project, book) = head(subject), subject.as_trained
    if asked is None or book is None or asked.kind != VALUES:
        return None
    column = asked.target[1]
    place = data_in(project, book)
    if place is None or place[0].id != asked.target[0]:
        return None
    known = OwnUnitsFinder.of(subject.workspace).known(project, book)
    units = known.get(column) if known else None
    if units is not None and (not units.each or len(units.own.shape) > 2):
        return None
    return Answered(own_name(project, book, column), units) if units is not None else None


def still_scaled(subject: Subject) -> bool:
    """Whether answers are on show as the network sees them, because their own units cannot be known."""
    asked, (project, book) = head(subject), subject.as_trained
    place = data_in(project, book) if book is not None else None
    if asked is None or book is None or place is None or asked.target[0] != place[0].id:
        return False
    known = OwnUnitsFinder.of(subject.workspace).known(project, book)
    return known is not None and scaled(*place, subject.workspace.catalogue) and asked.target[1] not in known


def scaled_words(subject: Subject) -> str:
    """A sentence on losses and metrics of numbers that are scaled; empty where they are those of the data."""
    own = answer_units(subject)
    if own is not None and not np.isclose(own.factor, 1.0, rtol=1e-4):
        return (
            f"It is measured in the scaled units that the network sees: 1 is {own.factor:.4g} of {own.name}."
        )
    return "It is measured in the scaled units that the network sees." if still_scaled(subject) else ""


def parts_of(subject: Subject, known: tuple[Feature, ...]) -> tuple[tuple[Part, ...], bool]:
    """The cells of the data that an answer depends on, and whether they can be shown by now.

    None where it depends on more than numbers, or where their own units cannot be known.
    """
    project, book = subject.as_trained
    place = data_in(project, book) if book is not None and known else None
    if book is None or place is None:
        return (), False
    node, made = place
    plain = not scaled(node, made, subject.workspace.catalogue)
    units = OwnUnitsFinder.of(subject.workspace).known(project, book)
    parts = []
    for name in dict.fromkeys(feature.column for feature in known):
        own = own_column(project, book, name)
        lost = not plain and units is not None and name not in units
        if own is None or len(own.shape) > 1 or lost:
            return (), False
        parts.append(Part(name, own, cells_in(made, own), units.get(name) if units else None))
    return tuple(parts), plain or units is not None


def feature_units(subject: Subject, feature: Feature) -> OneFeature | None:
    """What makes values of one feature what they were in the data; None where that is not needed or known."""
    project, book = subject.as_trained
    known = OwnUnitsFinder.of(subject.workspace).known(project, book) if book is not None else None
    units = known.get(feature.column) if known else None
    if units is None or not units.each or len(units.own.shape) > 1:
        return None
    return OneFeature(units, feature.index)


@dataclass(frozen=True)
class OneFeature:
    """Values of one feature as they were in the data."""

    units: OwnUnits
    index: int | None

    @property
    def straight(self) -> bool:
        """Whether equal steps stay equal."""
        low, middle, high = self(np.array([-1.0, 0.0, 1.0]))
        return bool(np.isclose(middle - low, high - middle, rtol=1e-3))

    def __call__(self, values: NDArray[Any]) -> NDArray[np.float64]:
        flat = np.asarray(values, np.float64).reshape(-1)
        if self.index is None:
            return undone(self.units, flat).reshape(np.shape(values))
        rows = np.zeros((len(flat), *self.units.own.shape))
        rows[:, self.index] = flat
        return undone(self.units, rows)[:, self.index].reshape(np.shape(values))


def follow_units(view: LiveView) -> None:
    """Have a view drawn once more when its units are known."""
    OwnUnitsFinder.of(view.subject.workspace).found.connect(view.needs_changed)


def answers_axis(words: str, subject: Subject, own: Answered | None) -> str:
    """What stands beside an axis of answers: `predicted, grams`; it says so where they are scaled."""
    if own is not None:
        return f"{words}, {own.name}"
    return f"{words}, scaled" if still_scaled(subject) else words
