"""Slices of the loss, the path through them, and curvature, of real runs."""

import numpy as np
import torch
from torch import Tensor

from engine.feed.feed import Probe
from engine.look.landscape.curvature import hessian
from engine.look.landscape.loss_slices import flat, random_direction
from engine.look.sight import Look, evaluating
from engine.runs.settings import Stage
from engine.train.loop import Run
from tests.engine.look.taking import take
from tests.engine.train.networks import iris, run_of

PATH = Probe("", "weight_path")


def loss_at(run: Run, weights: Tensor) -> float:
    here = flat(list(run.model.parameters()))
    torch.nn.utils.vector_to_parameters(weights, run.model.parameters())
    look = Look.of(run, 0)
    with torch.no_grad(), evaluating(run.model):
        found = run.program.measure(run.model, look.batch(0, 256, "train"))["loss"].item()
    torch.nn.utils.vector_to_parameters(here, run.model.parameters())
    return found


def test_a_random_slice_is_the_loss_there() -> None:
    run = run_of(iris())
    (found,) = take(run, Probe("", "loss_surface", ("random", 5, 3)))
    weights = list(run.model.parameters())
    one, other = (random_direction(weights, 6 + part) for part in (0, 1))
    here = flat(weights)
    assert found.array.shape == (5, 5)
    assert found.extra["xs"] == (-1.0, -0.5, 0.0, 0.5, 1.0)
    np.testing.assert_allclose(found.array[2, 2], loss_at(run, here), rtol=1e-5)
    np.testing.assert_allclose(found.array[0, 3], loss_at(run, here + 0.5 * one - other), rtol=1e-4)
    np.testing.assert_allclose(found.extra["here"], found.array[2, 2], rtol=1e-5)


def test_the_plane_of_the_path_holds_the_first_weights_and_those_of_now() -> None:
    run = run_of(iris(epochs=8))
    for _ in range(4):
        take(run, PATH, steps=5)
    (surface,) = take(run, Probe("", "loss_surface", ("path", 9, 1)))
    (path,) = take(run, PATH)
    assert path.extra["plane"] == ("path", 9, 1)
    np.testing.assert_allclose(surface.extra["path"], path.array, atol=1e-4)
    np.testing.assert_allclose(path.array[-1], 0, atol=1e-4)
    xs, ys = surface.extra["xs"], surface.extra["ys"]
    assert xs[0] < path.array[:, 0].min() and path.array[:, 0].max() < xs[-1]
    assert ys[0] < path.array[:, 1].min() and path.array[:, 1].max() < ys[-1]
    assert sum(surface.extra["shares"]) > 0.9
    begin = np.linalg.norm(path.array[0])
    whole = run.memory["weight path"].points
    np.testing.assert_allclose(begin, (whole[0] - whole[-1]).norm().item(), rtol=0.05)


def test_a_path_that_is_looked_at_late_begins_at_the_first_weights() -> None:
    run = run_of(iris())
    first = flat(list(run.model.parameters()))
    (path,) = take(run, PATH, steps=4)
    assert path.extra["steps"] == (0, run.step)
    assert torch.equal(run.memory["weight path"].points[0], first)


def test_the_line_from_the_start_to_now() -> None:
    run = run_of(iris())
    first = flat(list(run.model.parameters()))
    take(run, PATH, steps=6)
    (found,) = take(run, Probe("", "loss_surface", ("line", 21, 1)))
    xs = np.array(found.extra["xs"])
    for place in (0.0, 1.0):
        at = int(np.abs(xs - place).argmin())
        here = flat(list(run.model.parameters()))
        right = loss_at(run, first + float(xs[at]) * (here - first))
        np.testing.assert_allclose(found.array[0, at], right, rtol=1e-4)


def test_a_plane_of_a_path_that_is_not_there_says_what_to_do() -> None:
    (found,) = take(run_of(iris()), Probe("", "loss_surface", ("path", 5, 1)))
    assert "train a little" in found.extra["failed"]


def test_sharpness_is_the_top_of_the_whole_spectrum() -> None:
    run = run_of(iris(hidden=4))
    (whole,) = take(run, Probe("", "hessian_spectrum", (1,)))
    look = Look.of(run, 0)
    with evaluating(run.model):
        loss = run.program.measure(run.model, look.batch(0, 128, "train"))["loss"]
    right = torch.linalg.eigvalsh(hessian(loss, list(run.model.parameters()))).flip(0)
    np.testing.assert_allclose(whole.array, right.numpy(), rtol=1e-3, atol=1e-4)
    for _ in range(3):
        run.feed.forget_views()
        (found,) = take(run, Probe("", "sharpness"))
    assert found.array.shape == (1, 2)
    np.testing.assert_allclose(found.array[0, 1], whole.array[0], rtol=0.05)
    run.feed.forget_views()
    (later,) = take(run, Probe("", "sharpness"), steps=2)
    assert later.array[:, 0].tolist() == [0, run.step]


def test_all_eigenvalues_are_for_small_nets() -> None:
    (found,) = take(run_of(iris(hidden=400)), Probe("", "hessian_spectrum", (1,)))
    assert "eigenvalues" in found.extra["failed"]


def test_the_answer_of_a_linear_net_changes_by_its_matrix() -> None:
    run = run_of(iris(hidden=4, dropout=0.0))
    with torch.no_grad():
        for node_id, scale in (("n2", 2.0), ("n4", 3.0)):
            module = run.model.get_submodule(run.program.modules[node_id])
            torch.nn.init.eye_(module.weight).mul_(scale)
            module.bias.fill_(9.0)  # the activation stays in its linear half
    (found,) = take(run, Probe("", "jacobian_spectrum"))
    assert found.extra["shape"] == (3, 4)
    np.testing.assert_allclose(found.array, [6, 6, 6], rtol=1e-5)


def test_a_run_gives_the_same_numbers_whether_its_landscape_is_looked_at_or_not() -> None:
    curves = []
    probes = (PATH, Probe("", "loss_surface", ("random", 3, 1)), Probe("", "sharpness"))
    for watched in (False, True):
        run = run_of(iris(epochs=2))
        while run.stage is not Stage.DONE:
            if watched and run.step % 3 == 0:
                run.feed.forget_views()
                take(run, *probes)
            run.advance()
        curves.append(run.feed.read("train_loss")["value"].tolist())
        assert all(
            weight.grad is None or weight.grad.shape == weight.shape for weight in run.model.parameters()
        )
    assert curves[0] == curves[1]
