"""What an edit is. The edits themselves are in `engine.document.edits`: import them from there."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Final, TypeVar

from engine.document.graph import Link, Project
from engine.errors import GraphError
from engine.values import natural

Thing = TypeVar("Thing")


class _Unset(Enum):
    UNSET = "unset"

    def __repr__(self) -> str:
        return "UNSET"


UNSET: Final = _Unset.UNSET
"""As a value in SetParam: back to the type's default."""

Unset = _Unset

NODE_ID = re.compile(r"n(0|[1-9][0-9]{0,14})")


class Edit(ABC):
    """One change of a project."""

    @abstractmethod
    def apply(self, project: Project) -> Edit:
        """Change the project and return the edit that takes the change back. Raises GraphError."""

    @property
    def touched(self) -> frozenset[str]:
        """The ids of the nodes whose own data or inputs this changes; none, unless an edit says so."""
        return frozenset()


@dataclass(frozen=True)
class Together(Edit):
    """Several edits as one: all of them, or none."""

    edits: tuple[Edit, ...] = ()

    def apply(self, project: Project) -> Edit:
        inverses: list[Edit] = []
        try:
            for edit in self.edits:
                inverses.append(edit.apply(project))
        except GraphError:
            for inverse in reversed(inverses):
                inverse.apply(project)
            raise
        return Together(tuple(reversed(inverses)))

    @property
    def touched(self) -> frozenset[str]:
        return frozenset().union(*(edit.touched for edit in self.edits))


def ends(links: Iterable[Link]) -> frozenset[str]:
    """Return the ids of the nodes at both ends of links."""
    return frozenset(end for link in links for end in (link.source, link.target))


def keep_ids(project: Project, *ids: str) -> None:
    """Move the counter of ids past ids that are in use now."""
    project.next_id = max(project.next_id, *(int(id[1:]) + 1 for id in ids), 1)


def checked_text(value: object, what: str) -> str:
    """Return a text; raises GraphError for anything else, as "`what` is text."."""
    if not isinstance(value, str):
        raise GraphError(f"{what} is text.")
    return value


def one_of(things: Mapping[str, Thing], id: str, what: str) -> Thing:
    """Return the thing with an id; raises GraphError if there is none."""
    if id not in things:
        raise GraphError(f'There is no {what} "{id}".')
    return things[id]


def with_one(things: Mapping[str, Thing], id: str, thing: Thing) -> dict[str, Thing]:
    """Return the things with one more, in order of the numbers of their ids."""
    return dict(sorted({**things, id: thing}.items(), key=lambda item: natural(item[0])))
