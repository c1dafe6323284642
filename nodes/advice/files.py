"""What was found in files when they were opened, and would stop training."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from engine.document.edits import SetParam
from engine.document.graph import Node, Project
from engine.shapes.node_rules import lint_rule
from engine.shapes.problems import Problem
from engine.shapes.remedies import doing
from nodes.data.image_files import LEAVE_OUT, ImageFolder

if TYPE_CHECKING:
    from engine.shapes.shapes import ShapeBook


@lint_rule
def unreadable_images(project: Project, node: Node, book: ShapeBook) -> Iterator[Problem]:
    """Images that cannot be read stop the training that comes to them."""
    made = book.types[node.id]
    if not isinstance(made, ImageFolder) or not made.broken or made.unreadable == LEAVE_OUT:
        return
    images = "1 image" if made.broken == 1 else f"{made.broken:,} images"
    yield Problem(
        node.id,
        f"{images} of {node.name} cannot be read, and training stops there.",
        None,
        "warning",
        doing("Leave unreadable files out", SetParam(node.id, "unreadable", LEAVE_OUT)),
        "unreadable-files",
    )
