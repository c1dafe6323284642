"""Losses that torch lacks, as functions of a batch. Portable: exports carry this source."""

from __future__ import annotations

from collections.abc import Sequence

import torch
import torch.nn.functional as F
from torch import Tensor

from engine.layers.scores import counting


def counted_cross_entropy(
    scores: Tensor,
    target: Tensor,
    ignored: int | None = None,
    weights: Sequence[float] | None = None,
    label_smoothing: float = 0.0,
) -> Tensor:
    """Cross-entropy of scores (N, classes, ...) with classes (N, ...): the mean over what counts.

    What does is as in `counted`; 0 where nothing does.
    """
    if ignored is not None:
        target = target.masked_fill(target == ignored, -100)
    factors = None if weights is None else torch.tensor(weights, device=scores.device)
    total = F.cross_entropy(scores, target, factors, reduction="sum", label_smoothing=label_smoothing)
    return total / counted(target, weights=weights).clamp(min=1e-12)


def counted(target: Tensor, ignored: int | None = None, weights: Sequence[float] | None = None) -> Tensor:
    """How much classes (N, ...) count: each 1, or the weight of its class; -100 and `ignored` nothing."""
    counts = counting(target, ignored)
    if weights is None:
        return counts.sum()
    return (torch.tensor(weights, device=target.device)[target.clamp(min=0)] * counts).sum()


def sparse_code(active: Tensor, rate: float) -> Tensor:
    """Σ KL(rate ‖ mean activity) over units (D,), `active` in 0..1 on average: 0 where each is so often."""
    active = active.clamp(1e-6, 1 - 1e-6)
    rest = (1 - rate) * torch.log((1 - rate) / (1 - active))
    return (rate * torch.log(rate / active) + rest).sum()


def distilled(
    student: Tensor, teacher: Tensor, temperature: float, target: Tensor | None = None, weight: float = 1.0
) -> Tensor:
    """Cross-entropy of scores (N, classes) with those of a teacher, both softened, times temperature².

    With a target (N, ...), the teacher counts `weight` and the right class the rest; at places of class -100
    neither does. Source: Hinton, Vinyals and Dean 2015 (temperature² keeps the gradients of one size).
    """
    belief = F.softmax(teacher.detach() / temperature, 1)
    soft = temperature**2 * F.cross_entropy(student / temperature, belief, reduction="none")
    if target is None:
        return soft.mean()
    counts = target != -100
    both = weight * soft + (1 - weight) * F.cross_entropy(student, target, reduction="none")
    return (both * counts).sum() / counts.sum().clamp(min=1)


def covariance_gap(features: Tensor, others: Tensor) -> Tensor:
    """|C - C'|² / 4 d² of the covariances C (d, d) of features (N, d) and C' of others (M, d).

    Source: Sun and Saenko 2016 (CORAL).
    """
    covariances = []
    for part in (features, others):
        off = part.flatten(1) - part.flatten(1).mean(0)
        covariances.append(off.T @ off / max(1, len(off) - 1))
    first, second = covariances
    return (first - second).square().mean() / 4


def loss_of_discriminator(real: Tensor, generated: Tensor, form: str, smoothing: float = 0.0) -> Tensor:
    """The discriminator's loss on its scores for real and generated examples.

    "cross-entropy" -log D(x) - log(1 - D(G(z))) with D = σ(score), "least squares", "hinge" or "Wasserstein".
    Source: Goodfellow et al. 2014; for the others Mao et al. 2017, Lim and Ye 2017, Arjovsky et al. 2017.
    """
    if form == "hinge":
        return F.relu(1 - real).mean() + F.relu(1 + generated).mean()
    if form == "Wasserstein":
        return generated.mean() - real.mean()
    if form == "least squares":
        return ((real - (1 - smoothing)).square().mean() + generated.square().mean()) / 2
    believed = F.binary_cross_entropy_with_logits(real, torch.full_like(real, 1 - smoothing))
    return believed + F.binary_cross_entropy_with_logits(generated, torch.zeros_like(generated))


def loss_of_generator(generated: Tensor, form: str) -> Tensor:
    """The generator's loss on the discriminator's scores for generated examples.

    "non-saturating" -log D(G(z)), "minimax" log(1 - D(G(z))), "least squares", "hinge" or "Wasserstein".
    Source: Goodfellow et al. 2014.
    """
    if form == "minimax":
        return -F.softplus(generated).mean()
    if form == "least squares":
        return (generated - 1).square().mean() / 2
    if form in ("hinge", "Wasserstein"):
        return -generated.mean()
    return F.softplus(-generated).mean()
