"""CTC against torch and a sum over all alignments; what is read against distances and searches by hand."""

from __future__ import annotations

import itertools
import math

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from engine.layers.sequences.ctc import begun, ctc, label_errors
from engine.procedures.transcribing import labellings, transcribed


def read(path: tuple[int, ...], blank: int) -> tuple[int, ...]:
    return tuple(label for label, _ in itertools.groupby(path) if label != blank)


def by_alignments(scores: Tensor, blank: int) -> dict[tuple[int, ...], float]:
    """The probability of each row of labels: the sum over all paths (T, V) that read so."""
    steps, size = scores.shape
    found: dict[tuple[int, ...], float] = {}
    probabilities = scores.detach().double().softmax(1)
    for path in itertools.product(range(size), repeat=steps):
        labels = read(path, blank)
        found[labels] = found.get(labels, 0.0) + math.prod(
            float(probabilities[at, label]) for at, label in enumerate(path)
        )
    return found


def distance(one: tuple[int, ...], other: tuple[int, ...]) -> int:
    if not one or not other:
        return len(one) + len(other)
    return min(
        distance(one[1:], other) + 1,
        distance(one, other[1:]) + 1,
        distance(one[1:], other[1:]) + (one[0] != other[0]),
    )


@pytest.mark.parametrize("blank", [0, 2])
def test_the_loss_is_the_sum_over_all_alignments(blank: int) -> None:
    torch.manual_seed(blank)
    scores = torch.randn(2, 5, 3, requires_grad=True)
    labels = torch.tensor([[1, 1, blank], [(1, 0)[blank > 0], blank, blank]])
    sums = [by_alignments(scores[0], blank), by_alignments(scores[1, :4], blank)]
    right = [-math.log(sums[0][1, 1]) / 2, -math.log(sums[1][int(labels[1, 0]),])]
    found = ctc(scores, labels, torch.tensor([5, 4]), blank=blank)
    assert found.item() == pytest.approx(sum(right) / 2, rel=1e-5)
    (slope,) = torch.autograd.grad(found, scores)
    assert slope.abs().sum() > 0 and not slope[1, 4].any()  # behind the end


def test_the_loss_is_that_of_torch() -> None:
    torch.manual_seed(0)
    scores, labels = torch.randn(4, 9, 6), torch.randint(1, 6, (4, 3))
    lengths, counts = torch.tensor([9, 7, 8, 6]), torch.tensor([3, 1, 2, 3])
    right = F.ctc_loss(scores.log_softmax(2).transpose(0, 1), labels, lengths, counts)
    assert torch.equal(ctc(scores, labels, lengths, counts), right)
    whole = F.ctc_loss(scores.log_softmax(2).transpose(0, 1), labels, (9,) * 4, (3,) * 4)
    assert torch.equal(ctc(scores, labels), whole)
    assert ctc(scores[:, :2], labels).item() == 0  # three labels do not fit two steps


def test_errors_are_the_fewest_edits() -> None:
    torch.manual_seed(1)
    scores, labels = torch.randn(40, 6, 3), torch.randint(1, 3, (40, 4))
    lengths, counts = torch.randint(1, 7, (40,)), torch.randint(1, 5, (40,))
    edits, number = label_errors(scores, labels, lengths, counts).tolist()
    paths = [tuple(one[:length].argmax(1).tolist()) for one, length in zip(scores, lengths, strict=True)]
    right = [tuple(one[:count].tolist()) for one, count in zip(labels, counts, strict=True)]
    found = [distance(read(path, 0), one) for path, one in zip(paths, right, strict=True)]
    assert edits == pytest.approx(sum(found) / 40) and number == pytest.approx(counts.float().mean().item())
    best, begins = begun(scores, lengths)
    assert [tuple(row[one].tolist()) for row, one in zip(best, begins, strict=True)] == [
        read(path, 0) for path in paths
    ]


@pytest.mark.parametrize("seed", range(4))
def test_a_wide_beam_finds_the_likeliest_labels_over_all_alignments(seed: int) -> None:
    torch.manual_seed(seed)
    scores = 2 * torch.randn(1, 5, 3)
    right = by_alignments(scores[0], 0)
    *_, ranked = labellings(scores[0].double().log_softmax(1), 0, 1000)
    assert {labels: math.exp(one) for labels, one in ranked} == pytest.approx(right)
    given = {"draws": torch.Generator(), "width": 1000}
    (state,) = transcribed(scores, 0, 0, ("-", "a", "b"), method="beam", **given)
    best = max(right, key=lambda one: right[one])
    assert tuple(state["labels"]) == best and state["text"] == " ".join("-ab"[one] for one in best)
    (greedy,) = transcribed(scores, 0, 0, (), method="greedy", **given)
    assert tuple(greedy["labels"]) == read(tuple(scores[0].argmax(1).tolist()), 0)
