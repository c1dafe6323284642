"""Attributions of a run are those of its model."""

import numpy as np
import torch

from engine.feed.feed import Probe
from engine.look.sight import Look
from tests.engine.look.image_nets import copying, two_branches
from tests.engine.look.taking import take
from tests.engine.train.networks import run_of


def _score(run, rows, index):  # type: ignore[no-untyped-def]
    look = Look.of(run, 5)
    return look.value("n8", look.batch_with("image", rows), gradients=True)[:, index]


def test_the_gradient_of_the_right_class() -> None:
    run = run_of(two_branches())
    x = run.data["validation"]["image"][5:6].clone().requires_grad_(True)
    right = int(run.data["validation"]["digit"][5])
    (gradient,) = torch.autograd.grad(_score(run, x, right)[0], x)
    plain, times, chosen = take(
        run,
        Probe("", "attribution", ("gradient", -2)),
        Probe("n8", "attribution", ("gradient x input", right)),
        Probe("n9", "attribution", ("gradient", -1)),
        pinned=5,
    )
    np.testing.assert_allclose(plain.array, gradient[0, 0], rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(times.array, (gradient * x)[0, 0].detach(), rtol=1e-4, atol=1e-6)
    assert plain.extra["index"] == right and plain.extra["classes"][right] == str(right)
    assert chosen.extra["index"] == int(_score(run, x, slice(None)).argmax())
    np.testing.assert_allclose(plain.extra["image"], x[0, 0].detach())
    assert all(weight.grad is None for weight in run.model.parameters())


def test_integrated_gradients_say_what_they_lack() -> None:
    run = run_of(two_branches())
    (found,) = take(run, Probe("", "attribution", ("integrated gradients", 4)), pinned=2)
    x = run.data["validation"]["image"][2:3]
    gone = (_score(run, x, 4) - _score(run, 0 * x, 4)).item()
    assert abs(found.array.sum() + found.extra["gap"] - gone) < 1e-4
    assert abs(found.extra["gap"]) < 0.05


def test_grad_cam_of_a_branch_and_of_what_is_no_map() -> None:
    run = run_of(two_branches())
    cam, none = take(run, Probe("n2", "grad_cam", (3,)), Probe("n8", "grad_cam", (3,)), pinned=1)
    look = Look.of(run, 1)
    seen = look.values(("n2", "n8"), look.batch(1, 1), gradients=True)
    maps = seen["n2"]["output"]
    (gradient,) = torch.autograd.grad(seen["n8"]["output"][0, 3], maps)
    expected = (gradient.mean((2, 3), keepdim=True) * maps).sum(1)[0].clamp_min(0).detach()
    np.testing.assert_allclose(cam.array, expected, rtol=1e-4, atol=1e-6)
    assert cam.extra["size"] == (3, 8, 8)
    assert "no maps" in none.extra["failed"]


def test_occlusion_covers_with_the_mean() -> None:
    run = run_of(two_branches())
    (found,) = take(run, Probe("", "occlusion", (7, 8, 8)), pinned=1)
    x = run.data["validation"]["image"]
    grey = torch.full_like(x[:1], x[:256].mean().item())
    fall = (_score(run, x[1:2], 7) - _score(run, grey, 7)).item()
    np.testing.assert_allclose(found.array, fall, rtol=1e-3, atol=1e-6)


def test_values_are_asked_by_their_index() -> None:
    run = run_of(copying())
    (found,) = take(run, Probe("", "attribution", ("gradient", 9)))
    first, second = (run.model.get_submodule(run.program.modules[node]).weight for node in ("n3", "n4"))
    np.testing.assert_allclose(found.array.ravel(), (second @ first)[9].detach(), rtol=1e-4, atol=1e-6)
