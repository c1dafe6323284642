"""Labels along a sequence, such as letters of writing, whose places nobody has marked."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from engine.catalogue import Emitted, Emitter, Metric, Port, Wire, param
from engine.catalogue.symbols import Expr, carried, without_defaults
from engine.catalogue.traits import LossTraits
from engine.errors import EmitError
from nodes.loss import WeightedLoss
from nodes.wires import sizes

PORTS = (
    Port("scores", doc="of each step: a score (logit) for each label and for the blank"),
    Port("labels", doc="numbers of the labels in order; the blank's number fills up"),
)


def called(function: Callable[..., Any], scores: Wire, labels: Wire, blank: int) -> Expr:
    """A function of scores, labels and their numbers. Errors: `EmitError` where they don't fit."""
    if len(scores.shape) != 2 or scores.dtype != "float32":
        raise EmitError(f"It needs scores of steps, steps × labels, but {sizes(scores)} comes in.")
    if len(labels.shape) != 1 or labels.dtype != "int64":
        raise EmitError(f"It needs rows of labels, whole numbers, but {sizes(labels)} comes in.")
    if blank >= scores.features:
        raise EmitError(f"The blank is label {blank}, but the last is {scores.features - 1}.")
    options: dict[str, Any] = {} if scores.lengths is None else {"lengths": scores.lengths}
    options |= {} if labels.lengths is None else {"counts": labels.lengths}
    options |= {"blank": blank}
    return without_defaults(carried(function)(scores, labels, **options))


class CTC(WeightedLoss):
    """Compares the scores of each step with labels of which only the order is known, as those of writing.

    Each step scores all labels and a blank. Repeats of a step count once and blanks not at all, so that many
    alignments stand for one row of labels; their probabilities are added up. It needs at least as many steps
    as labels, and one more between two that are the same.
    """

    title = "CTC"
    aliases = ("connectionist temporal classification", "speech", "handwriting", "alignment", "transcribe")
    formula = "L = -(1/S) log Σ p(π) over alignments π of the S labels, p(π) = Π_t softmax(x_t)[π_t]"
    source = "Graves, Fernández, Gomez and Schmidhuber, 2006"
    reads_lengths = True
    ports_in = PORTS
    traits = LossTraits(blank="blank")
    blank: int = param(
        0, minimum=0, maximum=1_000_000, doc="number of the label that says nothing new begins"
    )

    def emit(self, e: Emitter, scores: Wire, labels: Wire) -> Emitted:
        from engine.layers.sequences.ctc import ctc

        return called(ctc, scores, labels, self.blank)


class LabelErrorRate(Metric):
    """How many labels must be changed, added or left out, of all there are, to make what is read right."""

    title = "Label error rate"
    aliases = ("edit distance", "levenshtein", "character error rate", "word error rate", "cer", "wer")
    lower_is_better = True
    formula = "Σ edits / Σ labels, of the likeliest steps without repeats and blanks"
    source = "Levenshtein, 1966; Graves, Fernández, Gomez and Schmidhuber, 2006"
    reads_lengths = True
    ports_in = PORTS
    blank: int = param(
        0, minimum=0, maximum=1_000_000, doc="number of the label that says nothing new begins"
    )

    def emit(self, e: Emitter, scores: Wire, labels: Wire) -> Emitted:
        return self.of_means(self.means(scores=scores, labels=labels))

    def means(self, **wires: Wire) -> Expr:
        from engine.layers.sequences.ctc import label_errors

        return called(label_errors, wires["scores"], wires["labels"], self.blank)

    def of_means(self, means: Expr) -> Expr:
        return means[0] / means[1].clamp(min=1e-9)
