"""Labels read off a sequence: the likeliest step by step, or over all alignments by a beam."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from torch import Tensor

from engine.catalogue import Data, Loss
from engine.catalogue.params import param
from engine.layers.sequences.ctc import begun
from engine.procedures.declare import Bound, Net, Part, Procedure, Value


def labellings(steps: Tensor, blank: int, width: int) -> Iterator[list[tuple[tuple[int, ...], float]]]:
    """After each step (V,) of log-probabilities the `width` likeliest rows of labels, over all alignments.

    Each comes with the log of its probability. Source: Graves and Jaitly, 2014.
    """
    kept: dict[tuple[int, ...], tuple[float, float]] = {
        (): (0.0, -np.inf)
    }  # ends in a blank, ends in its last label
    for step in steps.tolist():
        found: dict[tuple[int, ...], tuple[float, float]] = {}
        for before, (blanks, last) in kept.items():
            either = float(np.logaddexp(blanks, last))
            for label, chance in enumerate(step):
                same = bool(before) and label == before[-1]
                ways = [(before, 0, either)] if label == blank else [(before, 1, last)] if same else []
                if label != blank:
                    ways.append(((*before, label), 1, blanks if same else either))
                for labels, end, total in [one for one in ways if one[2] > -np.inf]:
                    ends = list(found.get(labels, (-np.inf, -np.inf)))
                    ends[end] = float(np.logaddexp(ends[end], total + chance))
                    found[labels] = (ends[0], ends[1])
        ranked = sorted(found, key=lambda one: -np.logaddexp(*found[one]))[:width]
        kept = {one: found[one] for one in ranked}
        yield [(one, float(np.logaddexp(*kept[one]))) for one in ranked]


def transcribed(
    scores: Tensor,
    lengths: Tensor | int,
    blank: int,
    names: tuple[str, ...],
    *,
    draws: torch.Generator,
    method: str,
    width: int,
) -> Iterator[dict[str, Any]]:
    """The labels of each row of scores (N, T, V) and, of a beam, the log of their probability.

    `lengths` (N,) are how many steps rows have; 0 where all have T.
    """
    known = lengths if isinstance(lengths, Tensor) else None
    best, begins = begun(scores, known, blank)
    for row in range(len(scores)):
        labels = best[row][begins[row]].tolist()
        state: dict[str, Any] = {"row": row}
        if method == "beam":
            steps = scores[row, : scores.shape[1] if known is None else int(known[row])]
            *_, ranked = labellings(steps.double().cpu().log_softmax(1), blank, width)
            labels, state["log_probability"] = list(ranked[0][0]), ranked[0][1]
        named = [names[one] if one < len(names) else str(one) for one in labels]
        yield {**state, "labels": labels, "text": " ".join(named)}


class Transcribe(Procedure):
    """Reads labels off a sequence, such as what is written in an image from left to right."""

    main = False
    loop = staticmethod(transcribed)
    shows = ("text",)
    method: str = param(
        "greedy",
        choices=("greedy", "beam"),
        doc="the likeliest steps, or the likeliest labels of all alignments",
    )
    width: int = param(
        8, minimum=1, maximum=4096, when=("method", ("beam",)), doc="rows of labels that are kept"
    )

    @classmethod
    def bind(cls, net: Net) -> Iterator[Bound]:
        for node_id in net.project.graph.order():
            made = net.type_of(node_id)
            if not isinstance(made, Loss) or not made.traits.blank:
                continue
            wires = [net.project.graph.feeding(node_id, port.name) for port in made.inputs()]
            if any(one is None for one in wires):
                continue
            scores, labels = ((one.source, one.source_port) for one in wires if one is not None)
            parts: dict[str, Part] = {"scores": Value(scores), "lengths": 0}
            signature = net.signature(scores)
            if signature is not None and signature.ragged:
                axis, data_id = signature.ragged
                data = net.type_of(data_id)
                columns = data.columns() if isinstance(data, Data) else ()
                told = [one for one in columns if one.lengths_of == axis and not one.shape]
                if not told:
                    continue
                parts["lengths"] = Value((data_id, told[0].name))
            source = net.type_of(labels[0])
            column = source.column(labels[1]) if isinstance(source, Data) else None
            names = column.classes if column is not None else ()
            yield Bound(
                scores[0], {**parts, "blank": getattr(made, made.traits.blank), "names": tuple(names)}
            )
