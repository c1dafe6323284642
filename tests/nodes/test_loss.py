"""Losses against their formulas (seed 000 §1.2)."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from engine.errors import EmitError
from tests.nodes.values import measured

P = torch.tensor([[0.5, -2.0, 3.0], [1.0, 0.0, -1.0]])
T = torch.tensor([[1.0, 0.0, 0.5], [1.0, 1.0, 0.0]])
CLASSES = torch.tensor([2, 0])


def test_cross_entropy_is_the_mean_surprise_at_the_right_class() -> None:
    shares = torch.exp(P) / torch.exp(P).sum(1, keepdim=True)
    wanted = -(math.log(shares[0, 2]) + math.log(shares[1, 0])) / 2
    assert measured("CrossEntropy", None, P, CLASSES) == pytest.approx(wanted)


def test_class_weights_say_how_much_each_class_counts() -> None:
    each = -torch.log_softmax(P, 1)[[0, 1], CLASSES]
    wanted = (5 * each[0] + 2 * each[1]) / 7
    weights = {"class_weights": (2.0, 1.0, 5.0)}
    assert measured("CrossEntropy", weights, P, CLASSES) == pytest.approx(wanted.item())
    scores, goal = torch.randn(2, 4, 3), torch.tensor([[0, 1, 2, 2], [2, -100, 0, 1]])
    each = -torch.log_softmax(scores, 2).gather(2, goal.clamp(min=0)[..., None])[..., 0]
    counts = torch.tensor([2.0, 1.0, 5.0])[goal.clamp(min=0)] * (goal >= 0)
    wanted = (each * counts).sum() / counts.sum()
    assert measured("CrossEntropy", weights, scores, goal) == pytest.approx(wanted.item(), rel=1e-5)
    with pytest.raises(EmitError, match="2 class weights, but 3 class scores"):
        measured("CrossEntropy", {"class_weights": (1.0, 2.0)}, P, CLASSES)


def test_the_weight_of_a_yes_multiplies_what_a_yes_costs() -> None:
    goal, share = (T > 0.7).float(), 1 / (1 + torch.exp(-P))
    wanted = -(3 * goal * torch.log(share) + (1 - goal) * torch.log(1 - share)).mean()
    assert measured("BCEWithLogits", {"yes_weight": 3.0}, P, goal) == pytest.approx(wanted.item(), rel=1e-5)


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
    from engine.catalogue.emitter import build
    from engine.catalogue.symbols import evaluate
    from engine.shapes.shapes import Signature, wires_of
    from tests.engine.sketches import catalogue

    wires = wires_of({"prediction": Signature((3,)), "target": Signature((3,), "int64")})
    [value] = build(catalogue().get(type_id)(), "loss", wires).ports.values()  # type: ignore[misc]
    prediction = P.clone().requires_grad_()
    evaluate(value, {"prediction": prediction, "target": T.long()}).backward()
    assert prediction.grad is not None


def of(type_id: str, params: dict[str, object] | None, **given: torch.Tensor) -> torch.Tensor:
    """The value of a loss or metric with ports of other names."""
    from engine.catalogue.emitter import build
    from engine.catalogue.symbols import evaluate
    from engine.shapes.shapes import Signature, wires_of
    from tests.engine.sketches import catalogue

    arriving = {
        port: Signature(tuple(value.shape[1:]), str(value.dtype).removeprefix("torch."))
        for port, value in given.items()
    }
    made = catalogue().get(type_id)(params)  # type: ignore[misc]
    [value] = build(made, "loss", wires_of(arriving)).ports.values()
    found: torch.Tensor = evaluate(value, given)
    return found


def test_sparse_activity_is_the_mean_size() -> None:
    assert of("ActivityL1", None, x=P).item() == pytest.approx(P.abs().mean().item())


def test_a_sparse_code_is_compared_with_its_share() -> None:
    x = torch.tensor([[0.1, 0.9], [0.3, 0.5]])
    wanted = sum(0.2 * math.log(0.2 / a) + 0.8 * math.log(0.8 / (1 - a)) for a in (0.2, 0.7))
    assert of("SparseCode", {"share": 0.2}, x=x).item() == pytest.approx(wanted, rel=1e-5)
    assert of("SparseCode", {"share": 0.2}, x=torch.full((4, 3), 0.2)).item() == pytest.approx(0, abs=1e-6)


def test_distillation_has_the_gradient_of_the_notes() -> None:
    """T (softmax(x/T) - softmax(t/T)) / n: the notes' 1/T, times temperature squared (seed 003 §8.9)."""
    student, teacher = torch.randn(5, 4, requires_grad=True), torch.randn(5, 4, requires_grad=True)
    of("Distillation", {"temperature": 3.0}, prediction=student, teacher=teacher).backward()
    wanted = 3 * (torch.softmax(student / 3, 1) - torch.softmax(teacher / 3, 1)) / 5
    assert student.grad is not None and torch.allclose(student.grad, wanted, atol=1e-6)
    assert teacher.grad is None


def test_distillation_shares_with_the_right_class() -> None:
    goal = torch.tensor([0, 2])
    alone = of("Distillation", {"temperature": 2.0}, prediction=P, teacher=T).item()
    both = of(
        "Distillation", {"temperature": 2.0, "share": 0.25}, prediction=P, teacher=T, target=goal
    ).item()
    hard = measured("CrossEntropy", None, P, goal)
    assert both == pytest.approx(0.25 * alone + 0.75 * hard, rel=1e-5)


REAL, MADE = torch.tensor([[2.0], [-0.5]]), torch.tensor([[-1.0], [3.0]])


def test_the_losses_of_a_gan() -> None:
    d_real, d_made = torch.sigmoid(REAL), torch.sigmoid(MADE)
    value = torch.log(d_real).mean() + torch.log(1 - d_made).mean()
    assert of("DiscriminatorLoss", None, real=REAL, made=MADE).item() == pytest.approx(
        -value.item(), rel=1e-5
    )
    assert of("GeneratorLoss", {"form": "minimax"}, made=MADE).item() == pytest.approx(
        torch.log(1 - d_made).mean().item(), rel=1e-5
    )
    assert of("GeneratorLoss", None, made=MADE).item() == pytest.approx(
        -torch.log(d_made).mean().item(), rel=1e-5
    )
    hinge = {"form": "hinge"}
    assert of("DiscriminatorLoss", hinge, real=REAL, made=MADE).item() == pytest.approx((0 + 1.5) / 2 + 4 / 2)
    assert of("GeneratorLoss", hinge, made=MADE).item() == pytest.approx(-1)
    wasserstein = {"form": "Wasserstein"}
    assert of("DiscriminatorLoss", wasserstein, real=REAL, made=MADE).item() == pytest.approx(1 - 0.75)
    squares = {"form": "least squares"}
    assert of("DiscriminatorLoss", squares, real=REAL, made=MADE).item() == pytest.approx(
        ((1 + 2.25) / 2 + (1 + 9) / 2) / 2
    )
    assert of("GeneratorLoss", squares, made=MADE).item() == pytest.approx((4 + 4) / 2 / 2)


def test_a_discriminator_that_cannot_tell_has_the_value_of_the_theory() -> None:
    """-0.6931 each, log 4 together, at p = p_θ (S34)."""
    none = torch.zeros(3, 1)
    found = of("DiscriminatorLoss", None, real=none, made=none).item()
    assert found == pytest.approx(math.log(4))
    assert of("GeneratorLoss", {"form": "minimax"}, made=none).item() == pytest.approx(-0.6931, abs=1e-4)
    assert of("MeanProbability", None, x=none).item() == 0.5


def test_where_the_discriminator_is_sure_only_the_non_saturating_loss_has_a_slope() -> None:
    slopes = {}
    for form in ("minimax", "non-saturating"):
        sure = torch.full((1, 1), -12.0, requires_grad=True)
        of("GeneratorLoss", {"form": form}, made=sure).backward()
        assert sure.grad is not None
        slopes[form] = abs(sure.grad.item())
    assert slopes["minimax"] < 1e-4 and slopes["non-saturating"] > 0.99


def test_smoothed_labels_leave_doubt_about_the_real() -> None:
    found = of("DiscriminatorLoss", {"smoothing": 0.1}, real=REAL, made=MADE)
    d_real, d_made = torch.sigmoid(REAL), torch.sigmoid(MADE)
    real = -(0.9 * torch.log(d_real) + 0.1 * torch.log(1 - d_real)).mean()
    assert found.item() == pytest.approx((real - torch.log(1 - d_made).mean()).item(), rel=1e-5)


def test_cross_entropy_of_a_sequence_has_its_classes_last() -> None:
    import torch.nn.functional as F

    scores, right = torch.randn(3, 5, 7), torch.randint(0, 7, (3, 5))
    wanted = F.cross_entropy(scores.transpose(1, 2), right).item()
    assert measured("CrossEntropy", {}, scores, right) == pytest.approx(wanted)
    square = torch.randn(3, 5, 5)
    wanted = F.cross_entropy(square.transpose(1, 2), right % 5).item()
    assert measured("CrossEntropy", {}, square, right % 5) == pytest.approx(wanted)
    maps, marks = torch.randn(3, 7, 4, 2), torch.randint(0, 7, (3, 4, 2))
    assert measured("CrossEntropy", {}, maps, marks) == pytest.approx(F.cross_entropy(maps, marks).item())


def test_places_without_a_class_never_count() -> None:
    """-100, as hidden tokens and the void of masks have it; beside a class that is left out, too."""
    import torch.nn.functional as F

    scores, right = torch.randn(2, 4, 6), torch.tensor([[3, 1, -100, 0], [2, -100, -100, 0]])
    for ignored, kept in ((None, right >= 0), (0, right > 0)):
        wanted = F.cross_entropy(scores[kept], right[kept]).item()
        assert measured("CrossEntropy", {"ignored": ignored}, scores, right) == pytest.approx(wanted)
        wanted = (scores[kept].argmax(-1) == right[kept]).float().mean().item()
        assert measured("Accuracy", {"ignored": ignored}, scores, right) == pytest.approx(wanted)
    maps, marks = torch.randn(3, 7, 4, 2), torch.randint(0, 7, (3, 4, 2))
    marks[0], marks[1, 0] = -100, -100
    kept = marks >= 0
    wanted = (maps.argmax(1) == marks)[kept].float().mean().item()
    assert measured("Accuracy", {}, maps, marks) == pytest.approx(wanted)
    assert measured("CrossEntropy", {}, maps, marks) == pytest.approx(
        F.cross_entropy(maps.movedim(1, -1)[kept], marks[kept]).item()
    )
    assert measured("Accuracy", {}, maps, torch.full_like(marks, -100)) == 0  # nothing counts


def test_places_of_a_class_that_is_left_out_do_not_count() -> None:
    import torch.nn.functional as F

    scores, right = torch.randn(2, 4, 6), torch.tensor([[3, 1, 0, 0], [2, 0, 0, 0]])
    kept = right != 0
    wanted = F.cross_entropy(scores[kept], right[kept]).item()
    assert measured("CrossEntropy", {"ignored": 0}, scores, right) == pytest.approx(wanted)
    wanted = (scores[kept].argmax(-1) == right[kept]).float().mean().item()
    assert measured("Accuracy", {"ignored": 0}, scores, right) == pytest.approx(wanted)


def test_coral_is_the_gap_of_two_covariances() -> None:
    """Against numpy; sets of another number of rows; nothing between a set and itself moved."""
    draws = np.random.default_rng(0)
    first, second = draws.standard_normal((9, 4)), draws.standard_normal((6, 4)) * [1, 2, 3, 4]
    gap = np.cov(first.T) - np.cov(second.T)
    features, others = (torch.tensor(part) for part in (first, second))
    found = of("Coral", None, features=features, others=others).item()
    assert found == pytest.approx((gap**2).sum() / (4 * 4**2))
    assert of("Coral", None, features=features, others=features + 5).item() == pytest.approx(0, abs=1e-12)
