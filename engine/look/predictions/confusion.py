"""Counts right and wrong answers by class while an evaluation runs, without a second forward pass."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import torch
from torch import Tensor

from engine.feed.feed import Probe, Snapshot
from engine.shapes.heads import CLASSES, Head, Wire

_MOST_CLASSES = 200  # a view beyond this shows nothing


class Confusions:
    """A confusion matrix `(classes, classes)` for each classifying head; rows are right, columns answered."""

    def __init__(self, heads: Iterable[Head]) -> None:
        self._heads = [head for head in heads if head.kind == CLASSES and head.size <= _MOST_CLASSES]
        self._predictions = {head.prediction for head in self._heads}
        self._wires = self._predictions | {head.target for head in self._heads}
        self._batch: dict[Wire, Tensor] = {}
        self._pairs: dict[str, list[Tensor]] = {head.node_id: [] for head in self._heads}

    @property
    def wanted(self) -> bool:
        """Whether there is anything to count."""
        return bool(self._heads)

    def tap(self, node_id: str, port: str, value: Tensor) -> None:
        """Keep what is needed of one value of the forward pass."""
        wire = (node_id, port)
        if wire not in self._wires:
            return
        held = self._batch.get(wire)
        if held is not None and (wire in self._predictions or held.data_ptr() != value.data_ptr()):
            self._count()  # the next batch has begun
        self._batch[wire] = value.detach()

    def _count(self) -> None:
        """Note the answers of one batch; targets come again for each loss and metric, predictions once."""
        for head in self._heads:
            scores, right = self._batch.get(head.prediction), self._batch.get(head.target)
            if scores is not None and right is not None:
                right = right.to(torch.int64).flatten()
                pair = right * head.size + head.by_class(scores).argmax(1).flatten()
                # places without a class are marked -100; other wrong numbers were refused before training
                self._pairs[head.node_id].append(pair[right >= 0])
        self._batch.clear()

    def snapshots(self, revision: int, step: int, epoch: int) -> Iterator[tuple[Probe, Snapshot]]:
        """The finished matrices with their keys, counts as int64."""
        self._count()
        for head in self._heads:
            pairs = self._pairs[head.node_id]
            if not pairs:
                continue
            counts = torch.bincount(torch.cat(pairs), minlength=head.size**2).reshape(head.size, head.size)
            extra = {"classes": head.labels, "epoch": epoch, "split": "validation"}
            yield Probe(head.node_id, "confusion"), Snapshot(revision, step, counts.cpu().numpy(), extra)
