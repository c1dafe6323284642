"""Linear regions against closed forms, patterns of units on fine grids, and linear programs."""

from __future__ import annotations

from itertools import pairwise, product

import numpy as np
import pytest
import torch
from scipy.optimize import linprog
from torch import Tensor, nn

from engine.document.graph import Graph, Link, Node, Project
from engine.document.plan import Plan
from engine.feed.feed import Probe
from engine.look.landscape.linear_cells import Bend, folded_regions, linear_cells, most_regions
from engine.train.loop import Run
from tests.engine.look.taking import take
from tests.engine.train.networks import run_of

WIDE = 1e5


def bends(*layers: nn.Linear) -> list[Bend]:
    """The hidden layers of a ReLU network, each as a function of the inputs."""

    def sums(number: int, points: np.ndarray) -> np.ndarray:
        x = torch.from_numpy(points)
        for layer in layers[:number]:
            x = torch.relu(layer(x))
        found: np.ndarray = layers[number](x).detach().numpy()
        return found

    return [Bend(lambda points, number=number: sums(number, points)) for number in range(len(layers))]


def drawn(*widths: int, seed: int = 0) -> list[nn.Linear]:
    torch.manual_seed(seed)
    layers = [nn.Linear(one, other).double() for one, other in pairwise(widths)]
    for layer in layers:
        nn.init.normal_(layer.weight)
        nn.init.normal_(layer.bias)
    return layers


@pytest.mark.parametrize(("units", "count"), [(3, 7), (4, 11), (8, 37), (16, 137)])
def test_lines_in_general_position_divide_the_plane_as_zaslavsky_says(units: int, count: int) -> None:
    assert most_regions(2, (units,)) == 1 + units + units * (units - 1) // 2 == count
    for seed in range(3):
        (layer,) = drawn(2, units, seed=seed)
        assert len(linear_cells([(-WIDE, WIDE)] * 2, bends(layer)).corners) == count
    assert most_regions(3, (8,)) == 93 and most_regions(8, (3,)) == 2**3


@pytest.mark.parametrize("units", [1, 3, 10])
def test_one_input_has_one_region_more_than_units(units: int) -> None:
    layer = nn.Linear(1, units).double()
    cells = linear_cells([(-WIDE, WIDE)], bends(layer))
    assert len(cells.corners) == units + 1 == most_regions(1, (units,))
    assert len(linear_cells([(-WIDE, WIDE)], []).corners) == 1 == most_regions(1, (0,))
    joints = sorted(float(cut.ends[0, 0]) for cut in cells.cuts)
    np.testing.assert_allclose(joints, sorted((-layer.bias / layer.weight[:, 0]).tolist()))


def folding(inputs: int, width: int, layers: int) -> list[nn.Linear]:
    """All but the last layer fold the sides of the unit square, each `width // inputs` times."""
    folds = width // inputs
    fold = nn.Linear(inputs, width).double()
    back = torch.zeros(inputs, width, dtype=torch.float64)
    with torch.no_grad():
        fold.weight.zero_()
        for unit in range(inputs * folds):
            axis, number = divmod(unit, folds)
            fold.weight[unit, axis] = folds if number == 0 else 2 * folds
            fold.bias[unit] = -2 * number
            back[axis, unit] = (-1) ** number
    last = nn.Linear(inputs, width).double()
    places = torch.arange(width).double()
    turns = 2 * torch.pi * places / width + 0.1 * places**1.5
    with torch.no_grad():  # lines that touch a circle in the middle of the square: one unit at least is on
        last.weight.copy_(torch.stack([turns.cos(), turns.sin()], 1)[:, :inputs])
        last.bias.copy_(0.01 - last.weight.sum(1) / 2)
    made = []
    for number, layer in enumerate([*[fold] * (layers - 1), last]):
        joined = nn.Linear(inputs if number == 0 else width, width).double()
        with torch.no_grad():
            joined.weight.copy_(layer.weight if number == 0 else layer.weight @ back)
            joined.bias.copy_(layer.bias)
        made.append(joined)
    return made


@pytest.mark.parametrize(("width", "counts"), [(4, (11, 44, 176)), (8, (37, 592))])
def test_folding_makes_as_many_regions_as_montufar_promises(width: int, counts: tuple[int, ...]) -> None:
    for layers, count in enumerate(counts, start=1):
        hidden = folding(2, width, layers)
        found = linear_cells([(0, 1), (0, 1)], bends(*hidden))
        assert len(found.corners) == count == folded_regions(2, width, layers)
        assert count <= most_regions(2, [width] * layers)
        maps = set()
        for middle in found.middles():  # the function itself differs from one region to the next
            x = torch.from_numpy(middle).requires_grad_()
            y = x
            for layer in hidden:
                y = torch.relu(layer(y))
            y = y @ torch.tensor([1.0, -2.3, 0.7, 1.9, -0.4, 3.1, -1.7, 0.9][:width]).double()
            (slope,) = torch.autograd.grad(y, x)
            maps.add(tuple(np.round([*slope.tolist(), (y - slope @ x).item()], 6)))
        assert len(maps) == count
    assert [folded_regions(1, 2, layers) for layers in (1, 2, 3, 4)] == [3, 6, 12, 24]
    assert folded_regions(2, 8, 3) == 9472


def test_the_regions_of_deep_networks_are_the_patterns_that_linear_programs_reach() -> None:
    for seed in range(2):
        first, second = hidden = drawn(2, 4, 3, seed=seed)
        w1, b1, w2, b2 = (
            one.detach().numpy() for one in (first.weight, first.bias, second.weight, second.bias)
        )
        count = 0
        for signs in product((-1.0, 1.0), repeat=7):
            one, other = np.array(signs[:4]), np.array(signs[4:])
            on = one > 0
            through, offset = w2[:, on] @ w1[on], w2[:, on] @ b1[on] + b2
            a = np.vstack([-one[:, None] * w1, -other[:, None] * through])
            c = np.concatenate([one * b1, other * offset])
            room = np.hstack([a, np.linalg.norm(a, axis=1, keepdims=True)])  # with a circle that fits in
            box = [(-50, 50), (-50, 50), (0, None)]
            solved = linprog([0, 0, -1], room, c, bounds=box)
            count += solved.success and solved.x[2] > 1e-7
        assert len(linear_cells([(-50, 50)] * 2, bends(*hidden)).corners) == count


def test_no_pattern_on_a_fine_grid_is_missed() -> None:
    hidden = drawn(2, 6, 6, 6, seed=5)
    cells = linear_cells([(-2, 2)] * 2, bends(*hidden))
    x, y = np.meshgrid(np.linspace(-2, 2, 500), np.linspace(-2, 2, 500))
    grid = np.column_stack([x.ravel(), y.ravel()])

    def patterns(points: np.ndarray) -> set[bytes]:
        signs = np.hstack([bend.sums(points) > 0 for bend in bends(*hidden)])
        return set(map(bytes, np.packbits(signs, axis=1)))

    exact = patterns(cells.middles())
    assert patterns(grid) <= exact
    area = [
        0.5 * abs(np.dot(c[:, 0], np.roll(c[:, 1], 1)) - np.dot(c[:, 1], np.roll(c[:, 0], 1)))
        for c in cells.corners
    ]
    assert sum(area) == pytest.approx(16) and len(patterns(grid)) > 0.95 * len(exact)


def network(widths: tuple[int, ...], inputs: int, activation: str = "ReLU", outputs: int = 1) -> Run:
    """A dense network on a curve, or on points of the plane."""
    data = Node("d", "Curve", "", {"rows": 40}) if inputs == 1 else Node("d", "Points", "", {})
    hidden = [
        Node(f"h{number}", "Linear", "", {"units": width, "activation": activation})
        for number, width in enumerate(widths)
    ]
    column, target = ("x", "y") if inputs == 1 else ("point", "label")
    chain = ["d", *(node.id for node in hidden), "out"]
    links = [Link(one, column if one == "d" else "output", other, "x") for one, other in pairwise(chain)]
    nodes = [
        data,
        *hidden,
        Node("out", "Linear", "", {"units": outputs}),
        Node("loss", "MSE" if inputs == 1 else "CrossEntropy"),
    ]
    links += [Link("out", "output", "loss", "prediction"), Link("d", target, "loss", "target")]
    return run_of(Project("n", graph=Graph(nodes, links), plan=Plan().with_(epochs=1), next_id=9))


@pytest.mark.parametrize("widths", [(3,), (7,), (4, 4), (3, 3, 3)])
def test_a_network_of_one_input(widths: tuple[int, ...]) -> None:
    run = network(widths, 1)
    (found,) = take(run, Probe("loss", "linear_regions"))
    facts, units, depth = found.extra, widths[0], len(widths)
    assert facts["parameters"] == 3 * units + 1 + (depth - 1) * units * (units + 1)
    assert facts["at_most"] == (units + 1) ** depth and facts["widths"] == widths
    x, y = found.array.T.astype(np.float64)
    assert len(facts["sizes"]) == len(facts["cuts"]) + 1 and (facts["sizes"] == 2).all()
    fine = torch.linspace(float(x.min()), float(x.max()), 4001)
    right = dense(run, fine[:, None])[:, 0].numpy()
    ends = np.unique(np.column_stack([x, y]).round(6), axis=0)
    np.testing.assert_allclose(np.interp(fine, *ends.T), right, atol=1e-4)
    active = sum(
        (one > 0).sum(1)
        for one in hidden_sums(run, torch.from_numpy(x.reshape(-1, 2).mean(1))[:, None].float())
    )
    assert active.tolist() == facts["active"].tolist()


def test_a_network_of_the_plane_and_functions_with_two_joints() -> None:
    run = network((8,), 2, outputs=2)
    (found,) = take(run, Probe("loss", "linear_regions"))
    facts = found.extra
    assert 8 < len(facts["sizes"]) <= facts["at_most"] == 37 and found.array.shape[1] == 4
    assert facts["cuts"].shape[1:] == (2, 2) and set(facts["cut_layers"]) == {0}
    right = dense(run, torch.from_numpy(found.array[:, :2]))
    np.testing.assert_allclose(found.array[:, 2:], right, atol=1e-5)
    (clipped,) = take(network((5,), 1, "hard tanh"), Probe("out", "linear_regions"))
    assert clipped.extra["at_most"] is None and len(clipped.extra["sizes"]) <= 11


def test_a_curved_function_has_no_linear_regions() -> None:
    (found,) = take(network((4,), 1, "tanh"), Probe("loss", "linear_regions"))
    assert "not made of straight pieces" in found.extra["failed"]


@pytest.mark.parametrize("activation", ["ReLU", "leaky ReLU", "tanh"])
def test_the_units_of_a_layer_add_up_to_what_reads_them(activation: str) -> None:
    run = network((5,), 1, activation, outputs=1)
    (found,) = take(run, Probe("h0", "unit_steps", (0,)))
    facts, (x, total) = found.extra, found.array[:, :2].T
    sums, active, weighted = np.split(found.array[:, 2:], 3, axis=1)
    assert facts["straight"] == (activation != "tanh") and (facts["reads"], facts["units"]) == ("out", 5)
    np.testing.assert_allclose(total, dense(run, torch.from_numpy(x)[:, None], activation)[:, 0], atol=1e-5)
    np.testing.assert_allclose(weighted.sum(1) + facts["offset"], total, atol=1e-5)
    np.testing.assert_allclose(hidden_sums(run, torch.from_numpy(x)[:, None])[0], sums, atol=1e-5)
    function = {"ReLU": torch.relu, "leaky ReLU": nn.LeakyReLU(), "tanh": torch.tanh}[activation]
    np.testing.assert_allclose(function(torch.from_numpy(sums)), active, atol=1e-5)
    layer = run.model.get_submodule(run.program.modules["h0"]).requires_grad_(False)
    for unit, at, height in facts["joints"]:
        assert at == pytest.approx(float(-layer.bias[int(unit)] / layer.weight[int(unit), 0]), abs=1e-5)
        assert height == pytest.approx(float(dense(run, torch.tensor([[at]]).float(), activation)), abs=1e-4)


def test_a_second_layer_has_the_joints_of_the_first() -> None:
    run = network((3, 4), 1)
    (found,) = take(run, Probe("h1", "unit_steps"))
    (first,) = take(run, Probe("h0", "unit_steps"))
    assert first.extra["reads"] == "h1" and first.extra["outputs"] == 4
    np.testing.assert_allclose(np.sort(found.extra["earlier"]), np.sort(first.extra["joints"][:, 1]))


@torch.no_grad()
def hidden_sums(run: Run, x: Tensor) -> list[Tensor]:
    """What arrives at each hidden layer's function."""
    found = []
    for name in ("h0", "h1", "h2"):
        if name in run.program.modules:
            found.append(run.model.get_submodule(run.program.modules[name])(x))
            x = torch.relu(found[-1])
    return found


@torch.no_grad()
def dense(run: Run, x: Tensor, activation: str = "ReLU") -> Tensor:
    """The answers, layer by layer."""
    function = {"ReLU": torch.relu, "leaky ReLU": nn.LeakyReLU(), "tanh": torch.tanh}[activation]
    for name in ("h0", "h1", "h2"):
        if name in run.program.modules:
            x = function(run.model.get_submodule(run.program.modules[name])(x))
    found: Tensor = run.model.get_submodule(run.program.modules["out"])(x)
    return found
