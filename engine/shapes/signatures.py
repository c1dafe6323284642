"""What a wire carries, and what is known of a node."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from engine.catalogue import Wire
from engine.catalogue.symbols import name
from engine.shapes.problems import Problem


@dataclass(frozen=True, slots=True, order=True)
class Signature:
    """What a wire carries: `shape` without the batch axis, and the dtype's name.

    `per_batch` marks a value that has no batch axis at all, such as a loss. `rows` says of what a row is one,
    where it is not an example: "nodes" or "edges" of graphs that lie side by side.
    """

    shape: tuple[int, ...]
    dtype: str = "float32"
    per_batch: bool = False
    rows: str = ""

    def __str__(self) -> str:
        return "×".join(str(size) for size in self.shape) or "scalar"

    @property
    def full(self) -> str:
        """With the batch: `N×32×26×26`."""
        return "×".join([self.rows or "N", *(str(size) for size in self.shape)])


@dataclass(frozen=True, slots=True)
class Facts:
    """What is known of one node. Sizes count numbers; `multiply_adds` is for one example.

    `carries` are the functions and classes of ours that its lines use, `constructors` the layers it keeps, as
    text.
    """

    outputs: Mapping[str, Signature] = field(default_factory=dict)
    parameters: int = 0
    multiply_adds: int = 0
    problem: Problem | None = None
    carries: frozenset[Callable[..., Any]] = frozenset()
    constructors: tuple[str, ...] = ()


def wires_of(arriving: Mapping[str, Signature]) -> dict[str, Wire]:
    """The wires a node's `emit` gets, each called after its port."""
    return {port: Wire(name(port), found.shape, found.dtype, found.rows) for port, found in arriving.items()}
