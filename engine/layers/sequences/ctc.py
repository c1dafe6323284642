"""Labels along a sequence whose places nobody has marked. Portable: exports carry this source."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor

from engine.layers.ragged import places_there


def ctc(
    scores: Tensor,
    labels: Tensor,
    lengths: Tensor | None = None,
    counts: Tensor | None = None,
    blank: int = 0,
) -> Tensor:
    """-log of the probability of labels (N, S) over all alignments to scores (N, T, V), a label; the mean.

    Sequences have `lengths` (N,) steps, all where None, and `counts` (N,) labels: those that are not blank
    where None. A row without labels counts as one with one; what no alignment fits counts 0.
    Source: Graves, Fernández, Gomez and Schmidhuber, 2006.
    """
    steps = scores.new_full((len(scores),), scores.shape[1], dtype=torch.int64)
    counts = (labels != blank).sum(1) if counts is None else counts
    lengths = steps if lengths is None else lengths
    probabilities = scores.log_softmax(2).transpose(0, 1)
    return F.ctc_loss(probabilities, labels, lengths, counts, blank=blank, zero_infinity=True)


def begun(scores: Tensor, lengths: Tensor | None = None, blank: int = 0) -> tuple[Tensor, Tensor]:
    """The likeliest label of each step (N, T), and where a label begins: repeats and blanks begin none."""
    best = scores.argmax(2)
    if lengths is not None:
        best = best.where(places_there(lengths, best.shape[1]), blank)
    before = F.pad(best[:, :-1], (1, 0), value=blank)
    return best, (best != before) & (best != blank)


def label_errors(
    scores: Tensor,
    labels: Tensor,
    lengths: Tensor | None = None,
    counts: Tensor | None = None,
    blank: int = 0,
) -> Tensor:
    """The means (2,) over rows: of the edits between what is read and the labels (N, S), and of their number.

    An edit changes a label, adds or leaves one out; the fewest are counted. Source: Levenshtein, 1966.
    """
    best, begins = begun(scores, lengths, blank)
    counts = (labels != blank).sum(1) if counts is None else counts
    places = torch.arange(labels.shape[1] + 1, device=labels.device)
    edits = places.expand(len(labels), -1)  # from what was read so far to the first labels
    for step in range(best.shape[1]):
        other = (labels != best[:, step, None]).long()
        least = torch.minimum(edits[:, 1:] + 1, edits[:, :-1] + other)
        least = torch.cat((edits[:, :1] + 1, least), 1) - places
        edits = torch.where(begins[:, step, None], least.cummin(1).values + places, edits)
    return torch.stack((edits.gather(1, counts[:, None])[:, 0], counts), 1).float().mean(0)
