"""What every gesture on the canvas can do."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from PySide6.QtCore import QPoint, QPointF, Qt

from app.canvas.finder import Finder
from app.canvas.overlay import CursorHint
from app.canvas.problem_popup import ProblemPopup
from app.canvas.scene.canvas import Canvas, GraphOnShow

THRESHOLD = 4  # pixels a press must travel before it is a drag


@dataclass(frozen=True, slots=True)
class Pointer:
    """Where the pointer is, in viewport pixels and in the scene, and which keys and buttons are down."""

    view: QPoint
    scene: QPointF
    modifiers: Qt.KeyboardModifier
    buttons: Qt.MouseButton

    def has(self, modifier: Qt.KeyboardModifier) -> bool:
        return bool(self.modifiers & modifier)

    @property
    def adds(self) -> bool:
        """Whether a click adds to the selection instead of replacing it."""
        return self.has(Qt.KeyboardModifier.ShiftModifier) or self.has(Qt.KeyboardModifier.ControlModifier)


class Interaction:
    """A gesture from press to release. The view holds at most one; starting another cancels it.

    A gesture shows itself with temporary items only, and changes the document in one step on release.
    """

    cursor = Qt.CursorShape.ArrowCursor

    @property
    def survives_focus_out(self) -> bool:
        """Whether it goes on when the canvas loses the keyboard: only one that has opened a popup itself."""
        return False

    @property
    def reaches_out(self) -> bool:
        """Whether the canvas moves along when this is dragged to its edge."""
        return False

    def __init__(self, view: GraphOnShow, start: Pointer) -> None:
        self.scene = view.graph_scene
        self.workspace = view.workspace
        self.start = start

    def move(self, pointer: Pointer) -> None:
        """The pointer moved."""

    def key(self, key: Qt.Key) -> bool:
        """A key was pressed meanwhile; whether it means something to the gesture."""
        return False

    def release(self, pointer: Pointer) -> None:
        """The button was let go: make the change, if there is one."""

    def cancel(self) -> None:
        """Takes away everything temporary; safe to call when nodes have gone meanwhile."""

    def travelled(self, pointer: Pointer) -> bool:
        """Whether the pointer is far enough from the press to mean a drag."""
        return (pointer.view - self.start.view).manhattanLength() >= THRESHOLD


class GestureControl(Protocol):
    """Who holds the gesture under way."""

    def turn_into(self, interaction: Interaction, pointer: Pointer) -> None: ...
    def keep(self, interaction: Interaction) -> None: ...
    def done(self, interaction: Interaction) -> None: ...


class Surface(Canvas, Protocol):
    """The canvas as a gesture uses it: what it keeps to, says, opens and hands on to."""

    snapping: bool
    hint: CursorHint
    finder: Finder
    problems: ProblemPopup

    @property
    def gestures(self) -> GestureControl: ...
