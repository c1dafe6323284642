"""What views of predictions have in common: the head of a node, the features it depends on, small choices."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from PySide6.QtGui import QColor
from PySide6.QtWidgets import QComboBox

from app.charts.class_marks import class_colour
from app.look.base import Subject
from app.theme import Theme
from engine.shapes.heads import CLASSES, VALUES, YES_NO, Feature, Head, features_of, head_of


def head(subject: Subject) -> Head | None:
    """What the node asks or answers; None where it does neither, or the shapes are not known yet."""
    project, book = subject.as_trained
    if book is None or (subject.node_id and subject.node_id not in project.graph.nodes):
        return None
    return head_of(project, book, subject.node_id)


def features(subject: Subject) -> tuple[Feature, ...]:
    """The numbers of a row that the answer depends on; empty for images and sequences."""
    asked = head(subject)
    project, book = subject.as_trained
    return () if asked is None or book is None else features_of(project, book, asked)


def of_one_feature(subject: Subject) -> bool:
    """Whether a line shows the whole answer: it depends on one number."""
    return len(features(subject)) == 1


def of_two_features(subject: Subject) -> bool:
    """Whether a plane shows the whole answer: it depends on two numbers."""
    return len(features(subject)) == 2


def answers_with_classes(subject: Subject) -> bool:
    """Whether the node's head has classes, or yes and no, for its answers."""
    asked = head(subject)
    return asked is not None and (asked.kind == CLASSES or (asked.kind == YES_NO and asked.size == 1))


def answers_with_values(subject: Subject) -> bool:
    """Whether the node's head has numbers for its answers."""
    asked = head(subject)
    return asked is not None and asked.kind == VALUES


def single_answer(subject: Subject) -> bool:
    """Whether an example has one answer: a class, yes or no, or a single number."""
    asked = head(subject)
    return asked is not None and (asked.kind == CLASSES or asked.size == 1)


def of_class(index: int) -> Callable[[Theme], QColor]:
    """The colour of a class, as charts take it."""
    return partial(_of_class, index)


def _of_class(index: int, theme: Theme) -> QColor:
    return class_colour(theme, index)


def rgb(colour: QColor) -> tuple[int, int, int]:
    """Red, green and blue, 0 to 255, for images that are mixed of colours."""
    return colour.red(), colour.green(), colour.blue()


def choice(names: Sequence[str], chosen: int, tip: str, name: str) -> QComboBox:
    """A small box of choices, as wide as any of them may be."""
    box = QComboBox()
    box.setObjectName(name)
    box.addItems(list(names))
    box.setCurrentIndex(chosen if chosen < len(names) else 0)
    box.setToolTip(tip)
    box.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
    box.setMinimumContentsLength(min(14, max((len(word) for word in names), default=6)))
    box.setMinimumWidth(56)  # a narrow card shortens the word
    return box


def count_words(shown: int, total: int, noun: str = "held out examples") -> str:
    """`30 held out examples`, or `2,000 of 6,000 held out examples`."""
    return f"{shown:,} of {total:,} {noun}" if shown < total else f"{shown:,} {noun}"


def example_words(example: int, fixed: int) -> str:
    """Where the features that are not shown stand."""
    others = "the other feature" if fixed == 1 else f"the other {fixed} features"
    return f"{others} as in validation example {example + 1}" if fixed else ""


def index_of(value: object, default: int, count: int) -> int:
    """A kept choice, or the default where it no longer makes sense."""
    return value if isinstance(value, int) and 0 <= value < count else default
