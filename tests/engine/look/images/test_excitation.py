"""What excites a unit, and what the unit is."""

import numpy as np
import torch

from engine.document.graph import Graph, Link, Node, Project
from engine.document.plan import Plan
from engine.feed.feed import Probe
from engine.look.sight import Look
from tests.engine.look.image_nets import copying, two_branches
from tests.engine.look.taking import take
from tests.engine.train.networks import run_of


def test_each_stage_goes_on_and_excites_more() -> None:
    run = run_of(copying())
    before = torch.random.get_rng_state()
    first = take(run, Probe("n3", "excitation", (4, 1, 7)))[0]
    second = take(run, Probe("n3", "excitation", (4, 2, 7)))[0]
    assert torch.equal(torch.random.get_rng_state(), before)
    assert first.array.shape == (8, 8)
    assert len(first.extra["scores"]) == 17 and len(second.extra["scores"]) == 33
    assert second.extra["scores"][:16] == first.extra["scores"][:16]
    assert first.extra["scores"][-1] > first.extra["scores"][0] + 0.2
    images = run.data["validation"]["image"][:256]
    assert images.min() <= second.array.min() and second.array.max() <= images.max()
    run.memory.clear()
    np.testing.assert_array_equal(take(run, Probe("n3", "excitation", (4, 2, 7)))[0].array, second.array)
    assert all(weight.grad is None for weight in run.model.parameters())


def test_the_strongest_examples_of_a_channel() -> None:
    run = run_of(two_branches())
    (found,) = take(run, Probe("n2", "strongest", (1,)))
    look = Look.of(run, 0)
    maps = look.value("n2", look.batch(0, look.rows()))[:, 1].detach()
    best = maps.flatten(1).max(1).values
    order = best.argsort(descending=True, stable=True)[:12]
    np.testing.assert_allclose(found.extra["values"], best[order], rtol=1e-5)
    assert found.extra["looked_at"] == look.rows()
    row, (y, x) = found.extra["rows"][0], found.extra["places"][0]
    assert abs(maps[row, y, x] - found.extra["values"][0]) < 1e-5
    np.testing.assert_allclose(found.array[0], run.data["validation"]["image"][row, 0])


def test_a_unit_with_its_weights_values_and_gradients() -> None:
    run = run_of(two_branches())
    channel, number, missing = take(
        run, Probe("n5", "unit", (2,)), Probe("n8", "unit", (3,)), Probe("n6", "unit", (99,)), pinned=4
    )
    look = Look.of(run, 4)
    np.testing.assert_allclose(
        channel.array, look.value("n5", look.batch(4, 1))[0, 2].detach(), rtol=1e-5, atol=1e-6
    )
    conv, dense = (run.model.get_submodule(run.program.modules[node]) for node in ("n5", "n8"))
    np.testing.assert_allclose(channel.extra["weights"], conv.weight[2].detach())
    np.testing.assert_allclose(number.extra["weights"], dense.weight[3].detach())
    assert abs(number.extra["bias"] - dense.bias[3].item()) < 1e-6
    batch = look.batch(0, 64)
    scores = look.value("n8", batch).detach()
    wrong = scores.softmax(1)[:, 3] - (batch["digit"] == 3).float()
    np.testing.assert_allclose(number.extra["gradients"], wrong, rtol=1e-3, atol=1e-5)
    np.testing.assert_allclose(number.extra["values"], scores[:, 3], rtol=1e-4, atol=1e-5)
    assert missing.extra["unit"] == 3 and missing.extra["weights"] is None
    assert conv.weight.grad is None


def test_the_units_of_a_convolution_along_a_sequence_are_its_channels() -> None:
    nodes = [Node("n1", "Digits"), Node("n2", "Reshape", "", {"shape": (8, 8)})]
    nodes += [
        Node("n3", "Conv1d", "", {"filters": 4}),
        Node("n4", "Flatten"),
        Node("n5", "Linear", "", {"units": 10}),
    ]
    nodes += [Node("n6", "CrossEntropy")]
    links = [Link(f"n{n}", "image" if n == 1 else "output", f"n{n + 1}", "x") for n in range(1, 5)]
    links += [Link("n5", "output", "n6", "prediction"), Link("n1", "digit", "n6", "target")]
    run = run_of(Project("Lines", graph=Graph(nodes, links), plan=Plan(batch=64).with_(epochs=1)))
    (found,) = take(run, Probe("n3", "unit", (3,)))
    look = Look.of(run, 0)
    values = look.value("n3", look.batch(0, 64))[:, 3].detach()
    assert found.extra["units"] == 4
    np.testing.assert_allclose(found.extra["values"], values.flatten(), rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(found.array, values[0], rtol=1e-4, atol=1e-6)
