"""What lies on the canvas and computes nothing: frames around nodes, and notes.

Each belongs to a scope: the root graph (""), or a block by its id.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from engine.errors import GraphError
from engine.values import place

COLOURS: Final = ("grey", "blue", "green", "yellow", "red", "purple")
"""The names of a frame's colours; any other name, from another version, is kept and shown as the first."""

FRAME_ID = re.compile(r"f(0|[1-9][0-9]{0,14})")
NOTE_ID = re.compile(r"t(0|[1-9][0-9]{0,14})")
SMALLEST_NOTE, LARGEST_NOTE = 8.0, 1e5  # scene units a side


@dataclass(frozen=True, slots=True)
class Frame:
    """A titled, coloured area around the nodes that are its members, wherever they are moved to."""

    id: str
    title: str = ""
    colour: str = COLOURS[0]
    members: frozenset[str] = frozenset()
    scope: str = ""
    extra: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not all(isinstance(text, str) for text in (self.id, self.title, self.colour, self.scope)):
            raise GraphError("A frame's id, title, colour and scope are text.")
        if not FRAME_ID.fullmatch(self.id):
            raise GraphError(f'A frame\'s id is "f" and a number, not "{self.id[:40]}".')
        object.__setattr__(self, "members", frozenset(self.members))
        if not self.members:
            raise GraphError("A frame goes around one node at least.")

    def without(self, ids: frozenset[str] | set[str]) -> Frame | None:
        """Return the frame around what is left of its members; None if nothing is."""
        left = self.members - ids
        return replace(self, members=left) if left else None


@dataclass(frozen=True, slots=True)
class Note:
    """A text (Markdown) on the canvas; position is its upper left corner, in scene units."""

    id: str
    text: str = ""
    position: tuple[float, float] = (0.0, 0.0)
    size: tuple[float, float] = (240.0, 120.0)
    scope: str = ""
    extra: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not all(isinstance(text, str) for text in (self.id, self.text, self.scope)):
            raise GraphError("A note's id, text and scope are text.")
        if not NOTE_ID.fullmatch(self.id):
            raise GraphError(f'A note\'s id is "t" and a number, not "{self.id[:40]}".')
        object.__setattr__(self, "position", place(self.position, "note"))
        width, height = (float(side) for side in self.size)
        if not all(math.isfinite(side) and SMALLEST_NOTE <= side <= LARGEST_NOTE for side in (width, height)):
            raise GraphError(f"A note cannot be {width} × {height} large.")
        object.__setattr__(self, "size", (width, height))
