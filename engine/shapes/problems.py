"""A problem is data: the node it belongs to, a sentence, and the step that fixes it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

from engine.document.edits import Edit
from engine.document.graph import Project

Severity = Literal["error", "warning"]


def no_edits(_project: Project) -> tuple[Edit, ...]:
    """Nothing in the project changes."""
    return ()


@dataclass(frozen=True, slots=True)
class Fix:
    """A step that fixes a problem: `edits(project)` gives the edits of one undoable step called `label`.

    What needs the window, such as another file to be chosen, is begun by `begin` in their place.
    """

    label: str
    edits: Callable[[Project], tuple[Edit, ...]] = no_edits
    begin: Callable[[], object] | None = None
    spreads: bool = False  # so many nodes come that the whole graph is to be shown afterwards


@dataclass(frozen=True, slots=True)
class Problem:
    """What is wrong, where, and how to fix it. An error keeps the graph from training, a warning doesn't.

    `code` names the rule, for tests and for machines.
    """

    node_id: str | None
    message: str
    port: str | None = None
    severity: Severity = "error"
    fix: Fix | None = field(default=None, compare=False)
    code: str = ""
