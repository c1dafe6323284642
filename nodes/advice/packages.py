"""Packages that a node needs and that are not installed."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.util import find_spec
from typing import TYPE_CHECKING

from engine.document.graph import Node, Project
from engine.shapes.node_rules import lint_rule
from engine.shapes.problems import Problem
from nodes.agents.environments import Gymnasium

if TYPE_CHECKING:
    from engine.shapes.shapes import ShapeBook


@lint_rule
def without_gymnasium(project: Project, node: Node, book: ShapeBook) -> Iterator[Problem]:
    """An environment of a package that is not there."""
    if isinstance(book.types[node.id], Gymnasium) and find_spec("gymnasium") is None:
        message = 'The package gymnasium is not installed: pip install "neuroloom[gymnasium]" brings it.'
        yield Problem(node.id, message, code="no-package")
