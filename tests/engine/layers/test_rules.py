"""Rules that are no gradients, held to the numbers of the notes and to what is proved about them."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest
import torch
from torch import Tensor

from engine.data.sets.patterns import stored_patterns
from engine.data.sets.points import load_gates, load_points, load_worked_example
from engine.layers.boltzmann import RBM
from engine.layers.delta_rule import DeltaRule
from engine.layers.estimators.least_squares import LeastSquares
from engine.layers.hopfield import Hopfield
from engine.layers.oja import Oja
from engine.layers.perceptron import Perceptron
from tests.engine.exact import free_energy

HAND = (0.4, 0.2, -1.2, 0.7, -0.7, -0.7, 0.4, -0.5, 2.3)  # seed 000 App. B, W1 then W2


@pytest.fixture(autouse=True)
def no_gradients() -> object:
    torch.manual_seed(0)
    with torch.no_grad():
        yield


def gate(name: str, signs: bool = True) -> tuple[Tensor, Tensor]:
    train = load_gates(Path(), "cpu", signs=signs)["train"]
    return train["inputs"], train[{"AND": "both", "OR": "either", "XOR": "differ"}[name]]


def swept(x: Tensor, y: Tensor, low: int = -1, most: int = 200) -> tuple[Perceptron, int]:
    """A perceptron after sweeps until a clean one, and how many there were."""
    layer = Perceptron(x.shape[1], low=low)
    for sweep in range(1, most + 1):
        if layer.update(x, y)["loss"] == 0:
            return layer, sweep
    return layer, most + 1


def bound(x: Tensor, side: Tensor, w: Tensor, b: float) -> float:
    """(R / margin)² of the boundary w·x + b = 0, the bias being one more input."""
    rows = torch.cat([x, torch.ones(len(x), 1)], 1)
    normal = torch.cat([w, torch.tensor([b])])
    margin = (side[:, 0] * (rows @ normal)).min() / normal.norm()
    assert margin > 0
    return float((rows.norm(dim=1).max() / margin) ** 2)


@pytest.mark.parametrize("signs", [True, False])
@pytest.mark.parametrize(("name", "b"), [("AND", -1.0), ("OR", 1.0)])
def test_the_perceptron_stays_below_novikoffs_bound_on_gates(name: str, b: float, signs: bool) -> None:
    x, y = gate(name, signs)
    layer, _ = swept(x, y, -1 if signs else 0)
    assert torch.equal(layer(x), y)
    w, b = (torch.ones(2), b) if signs else (torch.full((2,), 2.0), b - 2)  # the same line in bits
    assert 0 < layer.updates <= bound(x, y if signs else 2 * y - 1, w, b)


def test_the_bound_of_and_counts_the_bias_as_an_input() -> None:
    """Of the boundaries of AND, 2 x + 2 y = 3 has the largest margin: 1/√17 among rows of length √3."""
    x, y = gate("AND", signs=False)
    assert bound(x, 2 * y - 1, torch.full((2,), 2.0), -3.0) == pytest.approx(51)
    plain = float((x.norm(dim=1).max() / ((2 * y - 1) * (x.sum(1, keepdim=True) - 1.5) / 2**0.5).min()) ** 2)
    assert plain == pytest.approx(16)
    counts = [
        float(swept(x[list(order)], y[list(order)], 0)[0].updates)
        for order in itertools.permutations(range(4))
    ]
    assert plain < min(counts) and max(counts) <= 51


@pytest.mark.parametrize("seed", range(5))
def test_the_perceptron_stays_below_novikoffs_bound_on_points_apart(seed: int) -> None:
    train = load_points(Path(), "cpu", form="two halves", noise=0.1, seed=seed)["train"]
    layer, sweeps = swept(train["point"], train["side"])
    assert sweeps <= 200
    assert 0 < layer.updates <= bound(train["point"], train["side"], torch.ones(2), 0.0)


def test_no_sweep_over_xor_is_clean() -> None:
    x, y = gate("XOR")
    layer, sweeps = swept(x, y)
    assert sweeps == 201 and layer.updates >= 200


def test_the_step_of_a_perceptron_only_scales_its_weights() -> None:
    x, y = gate("AND")
    one, tenth = Perceptron(2), Perceptron(2, lr=0.125)
    for _ in range(5):
        one.update(x, y)
        tenth.update(x, y)
    assert torch.equal(one.weight / 8, tenth.weight) and torch.equal(one.updates, tenth.updates)


def test_the_margin_is_the_signed_distance_of_the_nearest_row() -> None:
    layer = Perceptron(2)
    layer.weight.copy_(torch.tensor([[3.0, 4.0]]))
    found = layer.update(torch.tensor([[1.0, 1.0], [2.0, 2.0]]), torch.ones(2, 1))
    assert found["loss"] == 0 and found["margin"] == pytest.approx(7 / 5)


def printed(values: Tensor) -> list[float]:
    return [round(value, 3) for value in values.flatten().tolist()]


def hand_worked(slope: str) -> tuple[DeltaRule, Tensor, Tensor]:
    train = load_worked_example(Path(), "cpu")["train"]
    return DeltaRule(2, 2, 1, lr=1.0, slope=slope, start=HAND), train["inputs"], train["target"]


def test_the_worked_example_forward() -> None:
    net, x, target = hand_worked("its own")
    given, made = net.signals(x)
    assert printed(given[0] @ net.weights[0].T) == [-0.6, -0.7, 2.8, 2.1, -1.0, 0.7]
    assert printed(made[0]) == [0.354, 0.332, 0.943, 0.891, 0.269, 0.668]
    assert printed(made[1]) == [0.986, 1.978, 1.802]
    assert printed((made[1] - target).square() / 2) == [1.972, 0.478, 0.322]


def test_the_worked_example_as_the_notes_print_it() -> None:
    net, x, target = hand_worked("sigmoid's")
    before = [weight.clone() for weight in net.weights]
    first, second = net.deltas(x, target)
    assert printed(second) == [0.393, 0.104, 0.098]
    assert printed(first.T) == [-0.045, -0.003, -0.010, 0.200, 0.023, 0.050]
    assert net.update(x, target)["loss"].item() == pytest.approx(0.924, abs=5e-4)
    moved = [weight - old for weight, old in zip(net.weights, before, strict=True)]
    assert printed(moved[1]) == [-0.198, -0.088, -0.096]
    assert printed(moved[0]) == [0.019, 0.012, 0.016, -0.091, -0.050, -0.068]
    assert printed(net.weights[1]) == [0.202, -0.588, 2.204]
    assert printed(net.weights[0]) == [0.419, 0.212, -1.184, 0.609, -0.75, -0.768]
    assert net.update(x, target)["loss"].item() == pytest.approx(0.537, abs=5e-4)


def test_the_worked_example_with_the_slope_of_a_linear_output() -> None:
    net, x, target = hand_worked("its own")
    old = net.weights[1].clone()
    assert printed(net.deltas(x, target)[1]) == [1.986, 0.978, 0.802]
    net.update(x, target)
    assert printed(net.weights[1] - old) == [-1.255, -0.614, -0.689]


@pytest.mark.parametrize("output", ["linear", "sigmoid"])
@pytest.mark.parametrize("hidden", [0, 4])
def test_the_delta_rule_is_the_gradient(output: str, hidden: int) -> None:
    net = DeltaRule(3, hidden, 2, lr=0.5, output=output)
    x, target = torch.randn(6, 3), torch.rand(6, 2)
    before = [weight.clone() for weight in net.weights]
    with torch.enable_grad():
        loss = (net(x) - target).square().sum(1).mean() / 2
        slopes = torch.autograd.grad(loss, list(net.weights))
    assert net.update(x, target)["loss"].item() == pytest.approx(loss.item())
    for weight, old, slope in zip(net.weights, before, slopes, strict=True):
        assert torch.allclose(weight, old - 0.5 * slope, atol=1e-6)


def test_row_by_row_sees_the_weights_that_the_row_before_left() -> None:
    x, target = torch.randn(5, 3), torch.randn(5, 1)
    online = DeltaRule(3, 0, 1, lr=0.1, online=True)
    single = DeltaRule(3, 0, 1, lr=0.1)
    single.load_state_dict(online.state_dict())
    online.update(x, target)
    for row in range(5):
        single.update(x[row : row + 1], target[row : row + 1])
    assert torch.allclose(online.weights[0], single.weights[0])


def test_least_squares_is_where_gradient_descent_ends() -> None:
    x = torch.randn(50, 3)
    target = x @ torch.tensor([[1.0], [-2.0], [0.5]]) + 3 + 0.1 * torch.randn(50, 1)
    closed, limit = LeastSquares(3, 1), DeltaRule(3, 0, 1, lr=0.5)
    closed.fit(x, target)
    for _ in range(400):
        limit.update(x, target)
    assert torch.allclose(closed.weight, limit.weights[0][:, 1:], atol=1e-4)
    assert torch.allclose(closed.bias, limit.weights[0][:, 0], atol=1e-4)


@pytest.mark.parametrize("ridge", [0.0, 3.0])
def test_least_squares_agrees_with_scikit_learn(ridge: float) -> None:
    from sklearn.linear_model import Ridge

    x, target = torch.randn(30, 4), torch.randn(30, 2)
    layer = LeastSquares(4, 2, ridge)
    layer.fit(x, target)
    there = Ridge(alpha=ridge).fit(x.double().numpy(), target.double().numpy())
    assert torch.allclose(layer.weight.double(), torch.tensor(there.coef_), atol=1e-5)
    assert torch.allclose(layer.bias.double(), torch.tensor(there.intercept_), atol=1e-5)


@pytest.mark.parametrize("ridge", [0.0, 1e-6])
def test_least_squares_keeps_its_figures_where_columns_are_nearly_alike(ridge: float) -> None:
    """Powers of x up to the ninth have a condition of 2 · 10^6: its square leaves four figures of sixteen."""
    import numpy as np

    x = torch.linspace(0, 1, 40)[:, None].double() ** torch.arange(1, 10)
    wanted = torch.linspace(1, -2, 9)[:, None].double()
    layer = LeastSquares(9, 1, ridge).double()
    layer.fit(x, x @ wanted + 0.5)
    if not ridge:
        torch.testing.assert_close(layer.weight, wanted.T, atol=1e-6, rtol=0)
        assert layer.bias.item() == pytest.approx(0.5, abs=1e-8)
        return
    middle = (x - x.mean(0)).numpy()
    left, sizes, right = np.linalg.svd(middle, full_matrices=False)
    side = left.T @ ((x @ wanted) - (x @ wanted).mean(0)).numpy()
    exact = right.T @ (sizes[:, None] / (sizes[:, None] ** 2 + ridge) * side)
    torch.testing.assert_close(layer.weight, torch.tensor(exact.T), atol=1e-7, rtol=0)


def test_of_many_fits_least_squares_takes_the_smallest() -> None:
    x = torch.randn(20, 1).repeat(1, 2)  # the same input twice
    layer = LeastSquares(2, 1)
    layer.fit(x, 4 * x[:, :1])
    assert torch.allclose(layer.weight, torch.full((1, 2), 2.0), atol=1e-4)


def memory(form: str = "2-D", **options: object) -> tuple[Hopfield, Tensor]:
    patterns = stored_patterns(form)
    net = Hopfield(patterns.shape[1], **options)  # type: ignore[arg-type]
    net.update(patterns)
    return net, patterns


def test_hebbs_weights_of_the_plane() -> None:
    net, patterns = memory(diagonal=True)
    assert net.weight.tolist() == [[3, 1], [1, 3]] and memory()[0].weight.tolist() == [[0, 1], [1, 0]]
    corners = torch.tensor([[1.0, 1.0], [-1.0, -1.0], [1.0, -1.0], [-1.0, 1.0], [0.0, 0.0]])
    assert torch.equal(net.step(corners), corners)  # (-1, 1) was never stored
    starts = torch.tensor([[0.5, -0.75], [-0.5, 0.75]])
    ends, energy = net(starts)
    assert ends.tolist() == [[1, -1], [-1, 1]]
    # -½ sᵀWs is -2 and -4, -4, -2; two saturated units add ½ each, and beyond the bounds there is no state.
    assert energy.flatten().tolist() == [-1, -1] and net.energy(patterns).flatten().tolist() == [-3, -3, -1]
    assert net.energy(torch.tensor([[1.01, 0.0]])).isinf().all()
    signs, _ = memory(diagonal=True, activation="sign")
    assert signs.energy(patterns).flatten().tolist() == [-4, -4, -2]


@pytest.mark.parametrize("activation", ["saturating", "sign"])
def test_two_steps_are_enough_in_the_plane(activation: str) -> None:
    net, _ = memory(steps=2, activation=activation, diagonal=True)
    assert net(torch.tensor([[0.5, -0.75], [-0.5, 0.75]]))[0].tolist() == [[1, -1], [-1, 1]]


def test_the_saturating_design_has_the_equilibria_of_the_notes_in_the_plane() -> None:
    net, _ = memory(design="saturating")
    assert torch.allclose(net.weight, 1.1618 * torch.eye(2), atol=1e-4) and not net.bias.any()
    unstable = torch.tensor([[0.0, 0.0], [1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0]])
    assert torch.allclose(net.step(unstable), unstable, atol=1e-6)


def test_the_saturating_design_has_the_equilibria_of_the_notes_in_space() -> None:
    net, patterns = memory("3-D", design="saturating", steps=200)
    assert torch.allclose(net.step(patterns), patterns)
    near = [[-0.06, -1, -0.06], [-0.06, 0.06, 1], [1, 0.06, -0.06], [0.367, -0.367, 0.367]]
    unstable = torch.tensor(near, dtype=torch.float32)
    assert (net.step(unstable) - unstable).abs().max() < 2e-3  # they are printed rounded
    ends = net(unstable + 0.01 * torch.randn(4, 3))[0]
    assert all(any(torch.allclose(end, one, atol=1e-3) for one in patterns) for end in ends)


@pytest.mark.parametrize("in_turn", [False, True])
@pytest.mark.parametrize("design", ["Hebbian", "pseudo-inverse", "saturating"])
def test_digits_are_mended(design: str, in_turn: bool) -> None:
    net, patterns = memory("digits", design=design, in_turn=in_turn, steps=40)
    moved = (patterns + 0.3 * torch.randn_like(patterns)).clamp(-1, 1)
    right = (net(moved)[0].sign() == patterns).all(1).float().mean()
    assert right <= 0.3 if design == "Hebbian" else right >= 0.9  # the digits are too alike for Hebb


@pytest.mark.parametrize("form", ["2-D", "3-D"])
@pytest.mark.parametrize("design", ["Hebbian", "pseudo-inverse", "saturating"])
def test_the_energy_of_saturating_units_never_rises(design: str, form: str) -> None:
    """Without the integral of the saturating unit it does, from a fifth of all starts in 3-D."""
    net, _ = memory(form, design=design, diagonal=True)
    x = 2 * torch.rand(5000, len(net.bias)) - 1
    quadratic = torch.zeros(len(x), dtype=torch.bool)
    for _ in range(50):
        after = net.step(x)
        assert (net.energy(after) <= net.energy(x) + 1e-5).all()
        halves = (x.square() - after.square()).sum(1, keepdim=True) / 2
        quadratic |= ((net.energy(after) - net.energy(x) + halves) > 1e-5)[:, 0]
        x = after
    if (design, form) == ("saturating", "3-D"):
        assert 0.1 < quadratic.float().mean() < 0.4


def test_one_at_a_time_the_energy_never_rises() -> None:
    net, _ = memory("digits", activation="sign", in_turn=True)
    assert not net.weight.diagonal().any()
    x = torch.randn(20, 64).sign()
    for _ in range(5):
        before, x = net.energy(x), net.step(x)
        assert (net.energy(x) <= before + 1e-3).all()


def bars(size: int = 4) -> Tensor:
    """Every picture of whole rows, or of whole columns."""
    choices = torch.tensor(list(itertools.product((0.0, 1.0), repeat=size)))
    rows = choices[:, :, None].expand(-1, -1, size)
    return torch.cat([rows, rows.transpose(1, 2)]).flatten(1)


@pytest.mark.parametrize("chains", [0, 20])
def test_contrastive_divergence_learns_bars(chains: int) -> None:
    data = bars()
    net = RBM(16, 16, lr=0.1, chains=chains)
    scores = [net.pseudo_likelihood(data)]
    losses = [net.update(data)["loss"] for _ in range(1500)]
    scores.append(net.pseudo_likelihood(data))
    assert sum(losses[-50:]) < 0.5 * sum(losses[:50])
    assert scores[1] > 0.7 * scores[0]  # both are negative


def test_contrastive_divergence_goes_up_the_likelihood() -> None:
    """The mean change over many draws points along the exact gradient of log p(data), three units by two."""
    data = torch.tensor([[1.0, 1.0, 0.0], [0.0, 1.0, 1.0], [1.0, 0.0, 0.0]])
    start = RBM(3, 2, lr=1.0)
    start.weight.copy_(torch.tensor([[0.5, -1.0, 0.3], [-0.4, 0.8, 1.0]]))
    everything = torch.tensor(list(itertools.product((0.0, 1.0), repeat=3)))
    with torch.enable_grad():
        likelihood = -free_energy(start, data).mean() - torch.logsumexp(-free_energy(start, everything), 0)
        names, weights = zip(*start.named_parameters(), strict=True)
        exact = torch.cat([slope.flatten() for slope in torch.autograd.grad(likelihood, weights)])
    similar = {}
    for k in (1, 20):
        net = RBM(3, 2, lr=1.0, k=k)
        change = torch.zeros_like(exact)
        for _ in range(40):
            net.load_state_dict(start.state_dict())
            net.update(data.repeat(100, 1))
            moved = [net.get_parameter(name) - start.get_parameter(name) for name in names]
            change += torch.cat([part.flatten() for part in moved]) / 40
        similar[k] = float(torch.cosine_similarity(change, exact, 0))
        if k == 20:
            assert torch.allclose(change, exact, atol=0.02)
    assert similar[1] > 0.8 and similar[20] > 0.99


def test_the_pseudo_likelihood_is_that_of_its_definition() -> None:
    net, v = RBM(3, 2), torch.tensor([[1.0, 0.0, 1.0]])
    net.weight.normal_()
    wanted = 0.0
    for unit in range(3):
        other = v.clone()
        other[0, unit] = 1 - other[0, unit]
        wanted += torch.log(torch.sigmoid(free_energy(net, other) - free_energy(net, v))).item()
    found = net.pseudo_likelihood(v.repeat(3000, 1))
    assert found.item() == pytest.approx(wanted, rel=0.02)


def test_the_pseudo_likelihood_of_thousands_of_rows_tells_75_from_80() -> None:
    """A machine without links over 784 independent pixels: the exact value is minus their entropy."""
    chance = torch.where(torch.arange(784) % 4 == 0, 0.15, 0.01)
    net = RBM(784, 20)
    net.weight.zero_()
    net.visible_bias.copy_(torch.logit(chance))
    v = torch.bernoulli(chance.expand(5000, -1))
    exact = (v * chance.log() + (1 - v) * (1 - chance).log()).sum(1).mean().item()
    found = torch.stack([net.pseudo_likelihood(v) for _ in range(20)])
    assert found.mean().item() == pytest.approx(exact, abs=1.0) and found.std() < 1.5


def test_oja_finds_the_principal_components() -> None:
    scale = torch.tensor([3.0, 2.0, 0.5, 0.2])
    turn = torch.linalg.qr(torch.randn(4, 4))[0]
    x = (torch.randn(500, 4) * scale) @ turn
    x -= x.mean(0)
    net = Oja(4, 2, lr=0.02)
    for _ in range(600):
        net.update(x)
    axes = torch.linalg.svd(x, full_matrices=False)[2][:2]
    assert torch.allclose((net.weight * axes).sum(1).abs(), torch.ones(2), atol=1e-3)
