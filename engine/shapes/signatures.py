"""What a wire carries, and what is known of a node."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

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

    `calls` are the functions of ours that its line calls, `constructors` the layers it keeps, as text.
    """

    outputs: Mapping[str, Signature] = field(default_factory=dict)
    parameters: int = 0
    multiply_adds: int = 0
    problem: Problem | None = None
    calls: frozenset[str] = frozenset()
    constructors: tuple[str, ...] = ()
