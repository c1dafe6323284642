"""Augmentation: exact where it can be, random in known shares, nothing after training."""

from __future__ import annotations

import json
import math
from types import SimpleNamespace
from typing import Any

import pytest
import torch
import torch.nn.functional as F

from engine.catalogue.emitter import build
from engine.catalogue.symbols import evaluate
from engine.document.graph import Project
from engine.document.shipped import datasets_folder
from engine.emit.script import export_script, write_script
from engine.layers import random_images as ours
from engine.layers.mixing import CutMix, MixUp
from engine.layers.noisy import LabelNoise, MaskingNoise, NoisyLinear, SaltAndPepper
from engine.shapes.shapes import Signature, wires_of
from engine.train.headless import run_headless
from nodes.augment import Augmentation
from tests.engine.sketches import Sketch, catalogue
from tests.engine.train.networks import run_of
from tests.gallery.running import Export, printed_by
from tests.nodes.values import built

KINDS = [
    found.type_id
    for found in catalogue().types()
    if issubclass(found, Augmentation) and len(found.ports_in) == 1 and found.type_id != "LabelNoise"
]
ENCODINGS = [found.type_id for found in catalogue().types() if found.family == "encoding"]
X = torch.rand(200, 3, 8, 8, generator=torch.Generator().manual_seed(1))
ZERO, ONE = torch.zeros(200), torch.ones(200)
STILL = {  # with which nothing happens while training either
    "RandomFlip": {"horizontal": 0.0},
    "RandomShift": {"pixels": 0},
    "RandomCrop": {"size": 8},
    "RandomRotate": {"degrees": 0.0},
    "RandomScale": {"smallest": 1.0, "largest": 1.0},
    "RandomAffine": {"degrees": 0.0, "smallest": 1.0, "largest": 1.0, "shift": 0.0},
    "RandomColour": {"brightness": 0.0, "contrast": 0.0},
    "RandomErase": {"chance": 0.0},
    "SaltAndPepper": {"share": 0.0},
    "MaskingNoise": {"share": 0.0},
}
FITTING: dict[str, dict[str, Any]] = {
    "RandomCrop": {"size": 6},
    "RandomColour": {"hue": 0.2, "saturation": 0.3},
}


def layer_of(type_id: str, params: dict[str, Any] | None = None) -> torch.nn.Module:
    return built(type_id, params or FITTING.get(type_id), (3, 8, 8))[0]


def flipped(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """Which images equal each other, (N,) of bool."""
    return (x == y).flatten(1).all(1)


@pytest.mark.parametrize("type_id", KINDS)
def test_after_training_nothing_happens(type_id: str) -> None:
    model = layer_of(type_id)
    wanted = X[:, :, 1:7, 1:7] if type_id == "RandomCrop" else X
    assert torch.equal(model(X), wanted)


@pytest.mark.parametrize("type_id", KINDS)
def test_while_training_a_seed_fixes_it_and_gradients_pass(type_id: str) -> None:
    model = layer_of(type_id).train()
    x = X.clone().requires_grad_()
    torch.manual_seed(7)
    first = model(x)
    torch.manual_seed(7)
    again, other = model(x), model(x)
    assert torch.equal(first, again) and not torch.equal(first, other)
    first.square().sum().backward()
    assert x.grad is not None and x.grad.isfinite().all() and x.grad.any()


@pytest.mark.parametrize("type_id", STILL)
def test_at_strength_zero_nothing_happens(type_id: str) -> None:
    assert torch.equal(layer_of(type_id, STILL[type_id]).train()(X), X)


@pytest.mark.parametrize("type_id", KINDS)
def test_it_runs_where_products_are_in_bfloat16(type_id: str) -> None:
    model = layer_of(type_id).train()
    with torch.autocast("cpu", torch.bfloat16):
        torch.manual_seed(3)
        found = model(X)
    torch.manual_seed(3)
    assert found.dtype == torch.float32 and torch.equal(found, model(X))
    assert layer_of(type_id).train()(X.bfloat16()).dtype == torch.bfloat16


@pytest.mark.parametrize("type_id", [*KINDS, "MixUp", "CutMix", "LabelNoise", *ENCODINGS])
def test_everything_is_made_on_the_device_of_what_comes_in(type_id: str) -> None:
    """A device without numbers refuses what was made elsewhere, as a GPU does."""
    whole = type_id in ("LabelNoise", "OneHot", "Thermometer", "MaskTokens", "SkipGram", "Segments")
    tokens = dict.fromkeys(("MaskTokens", "SkipGram", "Segments"), (12,))
    shape = {"PositionalEncoding": (5, 6), **tokens}.get(type_id, (3, 8, 8))
    book = catalogue().get(type_id)
    ports = {port.name: Signature(shape, "int64" if whole else "float32") for port in book().inputs()}  # type: ignore[misc]
    if "target" in ports:
        ports["target"] = Signature((), "int64")
    code = build(book(FITTING.get(type_id)), "layer", wires_of(ports))  # type: ignore[misc]
    layers = {name: evaluate(made, {}).to("meta") for name, made in code.modules.items()}
    variables: dict[str, Any] = {"self": SimpleNamespace(**layers)}
    for name, found in ports.items():
        variables[name] = torch.empty(4, *found.shape, dtype=getattr(torch, found.dtype), device="meta")
    calls = [unpack.call for unpack in code.unpacks] or list(code.ports.values())
    for call in calls:
        made = evaluate(call, variables)
        assert all(one.device.type == "meta" for one in (made if isinstance(made, tuple) else (made,)))


def test_images_are_mirrored_whole_and_as_often_as_asked() -> None:
    torch.manual_seed(0)
    found = ours.RandomFlip(horizontal=0.25, vertical=0.0)(X)
    mirrored, same = flipped(found, X.flip(3)), flipped(found, X)
    assert (mirrored ^ same).all() and mirrored.float().mean().item() == pytest.approx(0.25, abs=0.07)
    both = ours.RandomFlip(horizontal=1.0, vertical=1.0)(X)
    assert torch.equal(both, X.flip(2, 3))


def test_quarter_turns_are_exact_and_as_often() -> None:
    torch.manual_seed(0)
    found = ours.RandomQuarterTurn()(X)
    turned = torch.stack([flipped(found, X.rot90(quarter, (2, 3))) for quarter in range(4)])
    assert (turned.sum(0) == 1).all()
    assert ((turned.float().mean(1) - 0.25).abs() < 0.1).all()


@pytest.mark.parametrize("mode", ["constant", "replicate", "reflect", "circular"])
def test_shifts_are_by_whole_pixels(mode: str) -> None:
    torch.manual_seed(0)
    found = ours.RandomShift(1, 2, mode=mode)(X)
    padded = F.pad(X, (2, 2, 1, 1), mode)
    ways = {
        (down, right): flipped(found, padded[:, :, 1 - down : 9 - down, 2 - right : 10 - right])
        for down in (-1, 0, 1)
        for right in (-2, -1, 0, 1, 2)
    }
    met = torch.stack(list(ways.values()))
    assert (met.sum(0) == 1).all() and met.any(1).all()  # one way each, and every way for some
    if mode == "circular":
        assert torch.equal(found[ways[1, 2]], X[ways[1, 2]].roll((1, 2), (2, 3)))
    if mode == "constant":
        moved = found[ways[1, 2]]
        assert not moved[:, :, :1].any() and not moved[:, :, :, :2].any()
        assert torch.equal(moved[:, :, 1:, 2:], X[ways[1, 2]][:, :, :-1, :-2])


def test_a_crop_is_a_window_and_fills_with_a_value() -> None:
    torch.manual_seed(0)
    found = ours.RandomCrop(5, 6)(X)
    windows = torch.stack([flipped(found, X[:, :, a : a + 5, b : b + 6]) for a in range(4) for b in range(3)])
    assert (windows.sum(0) == 1).all() and windows.any(1).all()
    padded = ours.RandomCrop(8, 8, border=2, value=-1.0)(X)
    assert padded.min() == -1 and not flipped(padded, X).all()


@pytest.mark.parametrize("quarters", [0, 1, 2, 3])
def test_turned_by_quarters_it_is_rot90(quarters: int) -> None:
    found = ours.resampled(X, ZERO + quarters * math.pi / 2, ONE, ZERO, ZERO, ZERO)
    assert torch.allclose(found, X.rot90(quarters, (2, 3)), atol=1e-5)
    assert quarters or torch.equal(found, X)


def test_moved_and_resized_by_whole_factors_it_is_exact() -> None:
    moved = ours.resampled(X, ZERO, ONE, ZERO, ZERO + 2 / 8, ZERO - 1 / 8)
    assert torch.allclose(moved, F.pad(X, (0, 1, 2, 0))[:, :, :8, 1:], atol=1e-6)
    tall = torch.rand(2, 1, 4, 8)  # turned by half, an image that is no square keeps its proportions
    half = ours.resampled(tall, torch.full((2,), math.pi), *(torch.ones(2), *(torch.zeros(2),) * 3))
    assert torch.allclose(half, tall.rot90(2, (2, 3)), atol=1e-5)
    doubled = ours.resampled(X, ZERO, 2 * ONE, ZERO, ZERO, ZERO, mode="nearest")
    assert torch.equal(doubled, X[:, :, 2:6, 2:6].repeat_interleave(2, 2).repeat_interleave(2, 3))
    outside = ours.resampled(X, ZERO, ONE, ZERO, ZERO + 1.0, ZERO, value=0.5)
    assert torch.equal(outside, torch.full_like(X, 0.5))


def test_angles_and_sizes_stay_in_their_range() -> None:
    ramp = torch.linspace(-1, 1, 33).expand(500, 1, 33, 33)  # its slope tells the angle and the size
    torch.manual_seed(0)
    found = ours.RandomAffine(degrees=20, smallest=0.5, largest=2.0)(ramp)[:, 0]
    across = (found[:, 16, 17] - found[:, 16, 15]) / (ramp[0, 0, 0, 17] - ramp[0, 0, 0, 15])
    down = (found[:, 17, 16] - found[:, 15, 16]) / (ramp[0, 0, 0, 17] - ramp[0, 0, 0, 15])
    angle, size = torch.rad2deg(torch.atan2(down, across)), 1 / torch.hypot(across, down)
    assert angle.abs().max() <= 20.01 and angle.abs().max() > 19 and abs(angle.mean()) < 1.5
    assert size.min() >= 0.499 and size.max() <= 2.01
    assert size.log().mean().item() == pytest.approx(0, abs=0.05)  # as often larger as smaller


def test_colours() -> None:
    third = ours.hue_turned(X, ZERO + 1 / 3)
    assert torch.allclose(third, X.roll(1, 1), atol=1e-6)
    torch.manual_seed(0)
    factor = (ours.RandomColour(brightness=0.4, clip=False)(X) / X).flatten(1)
    assert (factor.max(1)[0] - factor.min(1)[0]).max() < 1e-5
    assert 0.6 <= factor.min() < 0.65 and 1.35 < factor.max() <= 1.4
    faint = ours.RandomColour(contrast=0.9, clip=False)(X)
    middle = ours.grey(X).mean((1, 2, 3))
    assert torch.allclose(ours.grey(faint).mean((1, 2, 3)), middle, atol=1e-5)
    pale = ours.RandomColour(saturation=0.9, clip=False)(X)
    assert torch.allclose(ours.grey(pale), ours.grey(X), atol=1e-5)
    assert ours.RandomColour(brightness=1.0)(X).max() <= 1


def test_what_is_erased_is_one_rectangle_of_its_area() -> None:
    x = torch.ones(400, 2, 16, 16)
    torch.manual_seed(0)
    found = ours.RandomErase(0.5, 0.1, 0.3, stretch=3.0)(x)
    covered = found[:, 0] == 0
    some = covered.flatten(1).any(1)
    assert some.float().mean().item() == pytest.approx(0.5, abs=0.06)
    assert torch.equal(found[:, 0], found[:, 1])
    rows, columns = covered.any(2).sum(1), covered.any(1).sum(1)
    assert torch.equal(covered.flatten(1).sum(1), rows * columns)
    share = covered.flatten(1).float().mean(1)[some]
    assert share.min() > 0.07 and share.max() < 0.34 and share.mean().item() == pytest.approx(0.2, abs=0.02)
    noise = ours.RandomErase(1.0, 1.0, 1.0, value=None)(x)
    assert noise.std().item() == pytest.approx(1, abs=0.02)


def test_corruption_has_its_shares() -> None:
    torch.manual_seed(0)
    x = torch.full((500, 40), 0.5)
    salted = SaltAndPepper(0.2, low=-1.0, high=2.0)(x)
    assert (salted == -1).float().mean().item() == pytest.approx(0.1, abs=0.01)
    assert (salted == 2).float().mean().item() == pytest.approx(0.1, abs=0.01)
    masked = MaskingNoise(0.3)(x)
    assert (masked == 0).float().mean().item() == pytest.approx(0.3, abs=0.01)
    assert masked.unique().tolist() == [0, 0.5]  # what is left is not enlarged
    blocks = MaskingNoise(0.5, value=-1.0, block=3)(torch.ones(300, 2, 8, 8))
    first = blocks[:, :, :3, :3].flatten(1)
    assert torch.equal(first.min(1)[0], first.max(1)[0])
    assert (first[:, 0] == -1).float().mean().item() == pytest.approx(0.5, abs=0.1)


def test_wrong_labels_are_wrong_and_in_their_share() -> None:
    labels = torch.arange(5).repeat(2000)
    torch.manual_seed(0)
    layer = LabelNoise(0.3, 5)
    found = layer(labels)
    wrong = found != labels
    assert wrong.float().mean().item() == pytest.approx(0.3, abs=0.02)
    away = ((found - labels) % 5)[wrong]
    assert torch.bincount(away, minlength=5)[1:].float().div(len(away)).sub(0.25).abs().max() < 0.03
    assert layer.eval()(labels) is labels


def test_noise_on_weights_has_its_deviation() -> None:
    torch.manual_seed(0)
    layer = NoisyLinear(50, 40, 0.1, bias=False)
    seen = layer(torch.eye(50)).T - layer.weight
    assert seen.std().item() == pytest.approx(0.1, rel=0.05)
    assert torch.equal(layer.eval()(torch.eye(50)).T, layer.weight)


def test_mixed_examples_have_mixed_targets() -> None:
    torch.manual_seed(0)
    labels = torch.arange(200) % 4
    x = F.one_hot(labels, 4).float()[:, :, None, None].expand(-1, -1, 6, 6)
    output, target = MixUp(1.0, classes=4)(x, labels)
    assert torch.allclose(output[:, :, 0, 0], target) and torch.allclose(target.sum(1), torch.ones(200))
    cut, shares = CutMix(1.0, classes=4)(x, labels)
    assert torch.allclose(cut.mean((2, 3)), shares, atol=1e-6)
    assert set(cut.unique().tolist()) == {0, 1}
    numbers = MixUp(1.0)(x, x)[1]
    assert numbers.shape == x.shape
    for layer in (MixUp(1.0, classes=4), CutMix(1.0, classes=4)):
        kept, plain = layer.eval()(x, labels)
        assert torch.equal(kept, x) and torch.equal(plain, F.one_hot(labels, 4).float())


@pytest.mark.parametrize("alpha", [0.05, 0.4, 1.0, 5.0])
def test_shares_come_from_a_beta_distribution(alpha: float) -> None:
    torch.manual_seed(0)
    share = MixUp(alpha).weights(torch.empty(20_000, 1))
    assert share.isfinite().all() and share.min() >= 0 and share.max() <= 1
    assert share.mean().item() == pytest.approx(0.5, abs=0.01)
    assert share.var().item() == pytest.approx(1 / (4 * (2 * alpha + 1)), rel=0.04)


def mixed(kind: str) -> Sketch:
    sketch = Sketch()
    data = sketch.add("Digits", "digits")
    start, target = f"{data}.image", f"{data}.digit"
    flip = sketch.add("RandomFlip", "flip", x=start)
    shift = sketch.add("RandomShift", "shift", {"pixels": 1}, x=flip)
    if kind == "LabelNoise":
        target = sketch.add("LabelNoise", "noise", x=target)
        images = shift
    else:
        images = sketch.add(kind, "mixed", x=shift, target=target)
        target = f"{images}.target"
    flat = sketch.add("Flatten", "flat", x=images)
    scores = sketch.add("Linear", "scores", {"units": 10}, x=flat)
    sketch.add("CrossEntropy", "loss", prediction=scores, target=target)
    sketch.add("Accuracy", "accuracy", prediction=scores, target=f"{data}.digit")
    return sketch.plan(epochs=2, batch=500)


SOFT = ("MixUp", "CutMix", "LabelNoise")


@pytest.fixture(scope="module")
def printed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[str] | str]:
    """What the exported script of each printed."""
    exports = {kind: Export(write_script(mixed(kind).project, catalogue()), ("--seed", "3")) for kind in SOFT}
    return printed_by(exports, tmp_path_factory.mktemp("exports"))


@pytest.mark.parametrize("kind", SOFT)
def test_soft_targets_train_and_their_export_gives_the_same_numbers(
    kind: str, printed: dict[str, list[str] | str]
) -> None:
    project: Project = mixed(kind).project
    assert [problem.message for problem in mixed(kind).check().problems] == []
    lines: list[str] = []
    run_headless(
        project,
        catalogue(),
        datasets_folder(),
        seed=3,
        device="cpu",
        on_line=lambda record: lines.append(json.dumps(record)),
    )
    assert printed[kind] == lines


@pytest.mark.parametrize("kind", ["MixUp", "LabelNoise"])
def test_pictures_still_know_the_classes(kind: str) -> None:
    from engine.shapes.heads import CLASSES, heads

    sketch = mixed(kind)
    (head,) = run_of(sketch.project).heads
    assert (head.kind, head.size, head.column, len(head.labels)) == (CLASSES, 10, "digit", 10)
    asked = heads(sketch.project, sketch.check())
    assert {head.kind for head in asked} == {CLASSES}


def test_muted_it_passes_each_input_on() -> None:
    sketch = mixed("MixUp")
    node = next(node for node in sketch.project.graph.nodes.values() if node.type == "MixUp")
    from engine.document.edits import SetMuted

    SetMuted((node.id,), True).apply(sketch.project)
    book = sketch.check()
    assert [problem.message for problem in book.errors] == []
    assert book.facts(node.id).outputs["target"].dtype == "int64"  # type: ignore[union-attr]
    text = export_script(sketch.project, catalogue()).text
    assert "MixUp" not in text


def test_too_few_classes_are_said_with_the_step_that_mends_it() -> None:
    sketch = Sketch()
    data = sketch.add("Digits", "digits")
    noisy = sketch.add("LabelNoise", "noise", {"classes": 4}, x=f"{data}.digit")
    flat = sketch.add("Flatten", "flat", x=f"{data}.image")
    scores = sketch.add("Linear", "scores", {"units": 10}, x=flat)
    sketch.add("CrossEntropy", "loss", prediction=scores, target=noisy)
    (problem,) = sketch.check().errors
    assert problem.message == "digit has 10 classes, but Label noise has 4 classes."
    assert problem.fix is not None and problem.fix.label == "Use 10 classes"
