"""Losses against their formulas (seed 000 §1.2)."""

from __future__ import annotations

import math

import pytest
import torch

from tests.nodes.values import measured

P = torch.tensor([[0.5, -2.0, 3.0], [1.0, 0.0, -1.0]])
T = torch.tensor([[1.0, 0.0, 0.5], [1.0, 1.0, 0.0]])
CLASSES = torch.tensor([2, 0])


def test_cross_entropy_is_the_mean_surprise_at_the_right_class() -> None:
    shares = torch.exp(P) / torch.exp(P).sum(1, keepdim=True)
    wanted = -(math.log(shares[0, 2]) + math.log(shares[1, 0])) / 2
    assert measured("CrossEntropy", None, P, CLASSES) == pytest.approx(wanted)


def test_label_smoothing_spreads_belief_evenly() -> None:
    log = torch.log_softmax(P, 1)
    wanted = -(0.9 * (log[0, 2] + log[1, 0]) / 2 + 0.1 * log.mean())
    assert measured("CrossEntropy", {"smoothing": 0.1}, P, CLASSES) == pytest.approx(wanted.item())


def test_cross_entropy_over_pixels() -> None:
    scores = torch.randn(2, 3, 4, 4)
    goal = torch.randint(3, (2, 4, 4))
    wanted = -torch.log_softmax(scores, 1).gather(1, goal[:, None]).mean()
    assert measured("CrossEntropy", None, scores, goal) == pytest.approx(wanted.item())


@pytest.mark.parametrize("whole", [False, True])
def test_binary_cross_entropy_of_scores(whole: bool) -> None:
    goal = (T > 0.7).long() if whole else (T > 0.7).float()
    share = 1 / (1 + torch.exp(-P))
    wanted = -(goal * torch.log(share) + (1 - goal) * torch.log(1 - share)).mean()
    assert measured("BCEWithLogits", None, P, goal) == pytest.approx(wanted.item(), rel=1e-5)


def test_squares_absolutes_and_between() -> None:
    gap = (P - T).abs()
    assert measured("MSE", None, P, T) == pytest.approx((gap**2).mean().item())
    assert measured("L1", None, P, T) == pytest.approx(gap.mean().item())
    for delta in (1.0, 0.25):
        huber = torch.where(gap <= delta, gap**2 / 2, delta * (gap - delta / 2)).mean()
        assert measured("Huber", {"delta": delta}, P, T) == pytest.approx(huber.item())


@pytest.mark.parametrize("type_id", ["MSE", "L1", "Huber", "BCEWithLogits", "MeanSquaredError"])
def test_whole_numbers_as_a_target_can_be_learned(type_id: str) -> None:
    """torch computes such a loss, and then refuses to go back through it."""
    from engine.emit.builder import build
    from engine.shapes import Signature, wires_of
    from engine.symbols import evaluate
    from tests.engine.sketches import catalogue

    wires = wires_of({"prediction": Signature((3,)), "target": Signature((3,), "int64")})
    [value] = build(catalogue().get(type_id)(), "loss", wires).ports.values()  # type: ignore[misc]
    prediction = P.clone().requires_grad_()
    evaluate(value, {"prediction": prediction, "target": T.long()}).backward()
    assert prediction.grad is not None
