"""Which frame nodes belong to: the edits that put them into one, or take them out of theirs."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from app.canvas.items.frame_item import FrameItem
from app.workspace.open_document import OpenDocument
from engine.document.dressing import Frame
from engine.document.edits import ChangeFrame, Edit, RemoveFrame


def membership(workspace: OpenDocument, ids: Iterable[str], into: FrameItem | None) -> list[Edit]:
    """Takes nodes out of the frames they are in and puts them into one, unless they are all in it already.

    A frame that loses its last member goes.
    """
    moved = frozenset(ids)
    frames = {
        key: frame
        for key, frame in workspace.document.project.frames.items()
        if frame.scope == workspace.scope
    }
    home = into.frame.id if into is not None and into.frame.id in frames else None
    edits: list[Edit] = []
    for key, frame in frames.items():
        if key == home:
            if not moved <= frame.members:
                edits.append(ChangeFrame(replace(frame, members=frame.members | moved)))
        elif frame.members & moved and not _holds_home(frame, frames.get(home or "")):
            edits.append(_without(frame, moved))
    return edits


def _holds_home(frame: Frame, home: Frame | None) -> bool:
    """Whether a frame lies around the one that nodes go into: they stay in it."""
    return home is not None and home.members < frame.members


def _without(frame: Frame, ids: frozenset[str]) -> Edit:
    left = frame.without(ids)
    return ChangeFrame(left) if left is not None else RemoveFrame(frame.id)
