"""Layer statistics are those that closed forms give."""

from __future__ import annotations

import math
import time

import numpy as np
import pytest
import torch
from torch import nn

from engine.document.graph import Graph, Link, Node, Project
from engine.document.plan import Plan
from engine.feed.feed import Probe
from engine.look.taking import Probes
from engine.runs.settings import Stage
from engine.train.loop import Run
from tests.engine.look.taking import take
from tests.engine.train.networks import digits, iris, run_of


def deep(depth: int, width: int = 100, activation: str = "ReLU", last: str = "") -> Project:
    """Iris through so many layers n2, n3, ... of equal width; `last` is a node before the classes."""
    nodes = [Node("n1", "Iris")]
    links = []
    before, port = "n1", "features"
    for index in range(2, 2 + depth):
        nodes.append(Node(f"n{index}", "Linear", "", {"units": width, "activation": activation}))
        links.append(Link(before, port, f"n{index}", "x"))
        before, port = f"n{index}", "output"
    if last:
        nodes.append(Node("act", last))
        links.append(Link(before, port, "act", "x"))
        before = "act"
    nodes += [Node("classes", "Linear", "", {"units": 3}), Node("loss", "CrossEntropy")]
    links += [
        Link(before, "output", "classes", "x"),
        Link("classes", "output", "loss", "prediction"),
        Link("n1", "species", "loss", "target"),
    ]
    return Project("Deep", graph=Graph(nodes, links), plan=Plan(batch=32).with_(epochs=1))


def layer(run: Run, node_id: str) -> nn.Linear:
    found = run.model.get_submodule(run.program.modules[node_id])
    assert isinstance(found, nn.Linear)
    return found


@torch.no_grad()
def draw_weights(run: Run, variance: float) -> None:
    generator = torch.Generator().manual_seed(0)
    for module in run.model.modules():
        if isinstance(module, nn.Linear):
            module.weight.normal_(0, math.sqrt(variance), generator=generator)
            module.bias.zero_()


@pytest.mark.parametrize(("variance", "ratio"), [(0.02, 1.0), (0.01, 0.5), (0.1, 5.0)])
def test_variances_go_as_half_the_width_times_that_of_the_weights(variance: float, ratio: float) -> None:
    depth = 24
    run = run_of(deep(depth))
    draw_weights(run, variance)
    (found,) = take(run, Probe("", "depth_variance"))
    assert found.extra["nodes"] == (*(f"n{index}" for index in range(2, 2 + depth)), "classes")
    assert found.extra["sizes"] == (*[100] * depth, 3)
    forward, backward = np.log(found.array[1:depth]).T
    steps = depth - 2
    assert abs((forward[-1] - forward[0]) / steps - math.log(ratio)) < 0.12
    assert abs((backward[0] - backward[-1]) / steps - math.log(ratio)) < 0.12


def test_taking_variances_leaves_gradients_and_weights_alone() -> None:
    run = run_of(iris(dropout=0.0))
    run.advance()
    before = {name: (w.detach().clone(), w.grad.clone()) for name, w in run.model.named_parameters()}
    take(run, Probe("", "depth_variance"), Probe("", "layer_activity"), Probe("n2", "activation_curve"))
    for name, weight in run.model.named_parameters():
        assert torch.equal(before[name][0], weight)
        assert torch.equal(before[name][1], weight.grad)
    assert not any(module._forward_hooks for module in run.model.modules())


def test_dead_units_are_counted_and_named() -> None:
    run = run_of(iris(dropout=0.0))
    hidden = layer(run, "n2")
    with torch.no_grad():
        hidden.weight[[1, 4, 7, 8]] = 0
        hidden.bias[[1, 4, 7, 8]] = -1.0
        hidden.bias[0], hidden.weight[0] = 1.0, 0.0
    activity, units = take(run, Probe("", "layer_activity"), Probe("n2", "unit_activity"))
    row = dict(zip(activity.extra["nodes"], activity.array, strict=True))["n2"]
    silent = np.flatnonzero(units.array[:, 0] == 1.0)
    assert {1, 4, 7, 8} <= set(silent)
    assert units.array[0, 0] == 0.0
    assert row[2] == pytest.approx(len(silent) / 16)
    assert np.isnan(row[3])
    assert np.isnan(units.array[:, 1]).all()
    values = torch.relu(hidden(run.data["validation"]["features"])).detach()
    assert row[0] == pytest.approx(values.mean().item(), rel=1e-5)
    assert row[1] == pytest.approx(values.std(correction=0).item(), rel=1e-5)
    assert units.extra["units"] == 16


@pytest.mark.parametrize(("activation", "edge"), [("tanh", math.atanh(0.95)), ("sigmoid", math.log(39))])
def test_values_near_the_ends_of_a_function_are_saturated(activation: str, edge: float) -> None:
    run = run_of(deep(1, width=4, activation=activation))
    first = layer(run, "n2")
    with torch.no_grad():
        first.weight.zero_()
        first.bias.copy_(torch.tensor([edge + 0.01, -edge - 0.01, edge - 0.01, 0.0]))
    activity, units = take(run, Probe("", "layer_activity"), Probe("n2", "unit_activity"))
    assert units.array[:, 1].tolist() == [1.0, 1.0, 0.0, 0.0]
    assert activity.array[0, 3] == pytest.approx(0.5)


def test_the_units_of_a_convolution_are_its_channels() -> None:
    run = run_of(digits())
    (units,) = take(run, Probe("n2", "unit_activity"))
    assert units.array.shape == (6, 2)


CURVES = {
    "Sigmoid": (lambda x: 1 / (1 + np.exp(-x)), lambda x: np.exp(-x) / (1 + np.exp(-x)) ** 2),
    "Tanh": (np.tanh, lambda x: 1 - np.tanh(x) ** 2),
    "ReLU": (lambda x: np.maximum(x, 0), lambda x: (x > 0).astype(float)),
    "LeakyReLU": (lambda x: np.where(x > 0, x, 0.01 * x), lambda x: np.where(x > 0, 1, 0.01)),
    "Softplus": (lambda x: np.log1p(np.exp(x)), lambda x: 1 / (1 + np.exp(-x))),
    "SiLU": (
        lambda x: x / (1 + np.exp(-x)),
        lambda x: 1 / (1 + np.exp(-x)) * (1 + x * (1 - 1 / (1 + np.exp(-x)))),
    ),
}


@pytest.mark.parametrize("kind", list(CURVES))
def test_curves_of_activations_are_those_of_the_textbook(kind: str) -> None:
    run = run_of(deep(1, width=8, activation="none", last=kind))
    (found,) = take(run, Probe("act", "activation_curve"))
    x, y, slope = found.array.T
    value, derivative = CURVES[kind]
    assert x[0] <= -4 and x[-1] >= 4
    np.testing.assert_allclose(y, value(x), atol=1e-5)
    inner = np.abs(x) > 1e-6
    np.testing.assert_allclose(slope[inner], derivative(x)[inner], atol=1e-5)
    arriving = layer(run, "n2")(run.data["validation"]["features"]).detach().numpy()
    assert found.extra["counts"].sum() == arriving.size
    assert found.extra["min"] == pytest.approx(arriving.min(), rel=1e-5)


def test_a_layer_with_an_activation_shows_the_sums_that_arrive_there() -> None:
    run = run_of(digits())
    (found,) = take(run, Probe("n2", "activation_curve"))
    x, y, slope = found.array.T
    np.testing.assert_allclose(y, np.maximum(x, 0), atol=1e-6)
    assert set(np.round(slope, 6)) == {0.0, 1.0}
    assert found.extra["min"] < 0  # before the ReLU


def test_a_function_of_all_numbers_together_has_no_curve() -> None:
    run = run_of(deep(1, width=3, activation="none", last="Softmax"))
    (found,) = take(run, Probe("act", "activation_curve"))
    assert found.extra["failed"] == "This function mixes its numbers, so it has no curve."


def test_losses_are_the_same_to_the_last_bit_with_and_without_these_pictures() -> None:
    curves = []
    for watched in (False, True):
        run = run_of(iris(dropout=0.5, epochs=2))
        probes = Probes(run.feed)
        kinds = [("", "layer_activity"), ("", "depth_variance"), ("n2", "unit_activity")]
        wanted = frozenset(Probe(*kind) for kind in [*kinds, ("n2", "activation_curve")])
        if watched:
            probes.watch(wanted)
        while run.stage is not Stage.DONE:
            probes.refresh()
            probes.take_due(run, time.perf_counter() + 1)
            run.advance()
        probes.close()
        curves.append(run.feed.read("train_loss")["value"].tolist())
        assert not watched or all(run.feed.latest(probe) is not None for probe in wanted)
    assert curves[0] == curves[1]
