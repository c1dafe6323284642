"""Which views the dock offers for what is selected, and the words where there are none."""

from __future__ import annotations

from app.look.base import Subject, ViewKind
from app.look.registry import proposed

NOTHING = "Select a node on the canvas to see what it does to an example: its maps, weights and histograms."
SEVERAL = "Several nodes are selected; select one of them to see what it does."
NONE_ON = "Turn on a view in the row above."
NONE_FIT = "There are no views for this type of node."
UNKNOWN = "Nothing is known about this type of node, so there is nothing to show."


def offered(subject: Subject, *, pinned: bool) -> list[ViewKind]:
    """Those of the selected node; of the whole network where nothing is selected, nor any card pinned."""
    if subject.node_id:
        return proposed(subject) if subject.type is not None else []
    return [] if subject.workspace.selection or pinned else proposed(subject)


def why_empty(subject: Subject, kinds: list[ViewKind]) -> str:
    """What stands in the place of views where none is on show."""
    if subject.node_id:
        return UNKNOWN if subject.type is None else NONE_ON if kinds else NONE_FIT
    if kinds:
        return NONE_ON
    return SEVERAL if len(subject.workspace.selection) > 1 else NOTHING


def sign_of(subject: Subject) -> object:
    """What a view was made for: where this differs, it must be made again."""
    node = subject.node
    return (node.type if node is not None else "", subject.has_weights, subject.shape_of())
