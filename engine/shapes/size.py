"""Networks too large to be built, or for this computer's memory: said before anything is allocated."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from engine.devices import largest_memory
from engine.errors import TrainingError
from engine.shapes.problems import Problem

if TYPE_CHECKING:
    from engine.shapes.shapes import ShapeBook

MOST_LAYERS = 100_000
WEIGHT = 4  # bytes of a number in float32
GIB = 2**30
TOO_LARGE = "memory"  # a problem of this code keeps a network from being trained here, not from export


def size_problems(book: ShapeBook) -> Iterator[Problem]:
    """A network of too many layers, or with more weights than this computer can hold."""
    if book.total_layers > MOST_LAYERS:
        message = (
            f"With its blocks unfolded the network has {book.total_layers:,} nodes; {MOST_LAYERS:,} are the "
            "most that can be built."
        )
        yield Problem(_largest(book, "layers"), message, code="too-many-layers")
    elif (heavy := _too_heavy(book)) is not None:
        yield Problem(_largest(book, "parameters"), heavy, code=TOO_LARGE)


def check_memory(book: ShapeBook) -> None:
    """Errors: `TrainingError` for a network whose weights this computer cannot hold."""
    heavy = _too_heavy(book)
    if heavy is not None:
        raise TrainingError(heavy, node_id=_largest(book, "parameters"))


def _too_heavy(book: ShapeBook) -> str | None:
    """Why weights and their gradients don't fit into the largest memory here; None where they do."""
    weights = book.total_parameters
    needed = 2 * WEIGHT * weights
    memory = largest_memory(needed)
    if memory is None or needed <= memory:
        return None
    return (
        f"{weights:,} parameters take {needed / GIB:,.0f} GiB with their gradients, but this computer has "
        f"{memory / GIB:,.0f} GiB."
    )


def _largest(book: ShapeBook, what: str) -> str | None:
    """The node that has the most of them."""
    return max(book.types, key=lambda one: getattr(book.facts(one), what, 0), default=None)
