"""What is counted while an evaluation runs, without a pass of its own: all that a run without views looks at.

Its kinds are named here, so that a run need not import all kinds of views to find them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Protocol

from engine.feed.feed import Probe, Snapshot
from engine.look.predictions.confusion import Confusions

if TYPE_CHECKING:
    from torch import Tensor

    from engine.shapes.heads import Head


class Tally(Protocol):
    """One kind of counting."""

    @property
    def wanted(self) -> bool:
        """Whether there is anything to count."""

    def tap(self, node_id: str, port: str, value: Tensor) -> None:
        """See one value of the forward pass."""

    def snapshots(self, revision: int, step: int, epoch: int) -> Iterable[tuple[Probe, Snapshot]]:
        """What was counted, when the evaluation is over."""


def tallies(heads: Sequence[Head]) -> list[Tally]:
    """A tally of each kind that has something to count."""
    found: list[Tally] = [Confusions(heads)]
    return [tally for tally in found if tally.wanted]
