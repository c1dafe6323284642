"""Units, single numbers and times are those of the model."""

from pathlib import Path

import numpy as np
import torch

from engine.document.files import load_project
from engine.document.graph import Graph, Link, Node, Project
from engine.document.plan import Plan
from engine.feed.feed import Probe
from engine.look.layers.diagrams import depths
from engine.look.sight import Look
from engine.runs.settings import Stage
from tests.engine.look.taking import take
from tests.engine.train.networks import digits, iris, run_of, with_node

GALLERY = Path(__file__).parents[4] / "resources" / "gallery"


def test_units_have_the_values_and_weights_of_their_layers() -> None:
    run = run_of(iris(hidden=6))
    (found,) = take(run, Probe("", "neurons"), pinned=2)
    inputs, hidden, last = found.extra["columns"]
    assert [column["node"] for column in found.extra["columns"]] == ["n1", "n2", "n4"]
    assert [column["from"] for column in found.extra["columns"]] == [-1, 0, 1]
    look = Look.of(run, 2)
    values = look.values(("n2", "n4"), look.batch(2, 1))
    np.testing.assert_allclose(inputs["values"], look.batch(2, 1)["features"][0].numpy())
    np.testing.assert_allclose(hidden["values"], values["n2"]["output"][0].numpy(), rtol=1e-6)
    np.testing.assert_allclose(last["values"], values["n4"]["output"][0].numpy(), rtol=1e-6)
    module = run.model.get_submodule(run.program.modules["n4"])
    np.testing.assert_array_equal(last["weights"], module.weight.detach().numpy())
    np.testing.assert_array_equal(last["biases"], module.bias.detach().numpy())
    assert inputs["weights"] is None
    assert found.array.size == 4 * 6 + 6 * 3


def test_units_behind_an_activation_of_its_own_show_what_goes_on() -> None:
    nodes = [
        Node("n1", "Iris"),
        Node("n2", "Linear", "hidden", {"units": 5}),
        Node("n3", "ReLU"),
        Node("n4", "Linear", "classes", {"units": 3}),
        Node("n5", "CrossEntropy"),
    ]
    links = [
        Link("n1", "features", "n2", "x"),
        Link("n2", "output", "n3", "x"),
        Link("n3", "output", "n4", "x"),
        Link("n4", "output", "n5", "prediction"),
        Link("n1", "species", "n5", "target"),
    ]
    run = run_of(Project("Bent", graph=Graph(nodes, links), plan=Plan(batch=16)))
    (found,) = take(run, Probe("", "neurons"))
    look = Look.of(run, 0)
    bent = look.value("n3", look.batch(0, 1))
    assert bent is not None
    np.testing.assert_allclose(found.extra["columns"][1]["values"], bent[0].numpy(), rtol=1e-6)


def test_a_layer_that_is_a_net_of_its_own_has_a_column_for_each_matrix() -> None:
    """Seed 000 App. B: W1 [.4, .2, -1.2], [.7, -.7, -.7]; W2 [.4, -.5, 2.3], the biases first."""
    run = run_of(load_project(GALLERY / "delta-rule.nloom"))
    (found,) = take(run, Probe("", "neurons"))
    inputs, hidden, output = found.extra["columns"][:3]
    assert (inputs["node"], hidden["node"], output["node"]) == ("n1", "n2", "n2")
    assert (hidden["from"], output["from"]) == (0, 1)
    np.testing.assert_allclose(hidden["weights"], [[0.2, -1.2], [-0.7, -0.7]], rtol=1e-6)
    np.testing.assert_allclose(hidden["biases"], [0.4, 0.7], rtol=1e-6)
    np.testing.assert_allclose(hidden["values"], [0.354, 0.332], atol=6e-4)
    np.testing.assert_allclose(output["values"], [0.986], atol=6e-4)
    np.testing.assert_allclose(output["weights"], [[-0.5, 2.3]], rtol=1e-6)


def test_why_a_net_is_not_drawn_unit_by_unit() -> None:
    (large,) = take(run_of(iris(hidden=40)), Probe("", "neurons"))
    assert large.extra["failed"].startswith("hidden has 40 units")
    (wide,) = take(run_of(digits()), Probe("", "neurons"))
    assert "units" in wide.extra["failed"]


def test_the_worked_example_of_the_gallery_number_by_number() -> None:
    """Seed 000 App. B, its first example: hidden .354 and .332, output .986."""
    run = run_of(load_project(GALLERY / "delta-rule.nloom"))
    (found,) = take(run, Probe("", "scalars"))
    labels, values = found.extra["labels"], found.array[:, 0]
    bent = [value for label, value in zip(labels, values, strict=True) if label == "σ"]
    np.testing.assert_allclose(bent, [0.354, 0.332], atol=6e-4)
    sums = [value for label, value in zip(labels, values, strict=True) if label == "+"]
    np.testing.assert_allclose(sums, [-0.6, -0.7, 0.986], atol=6e-4)
    slope = [value for label, value in zip(labels, found.array[:, 1], strict=True) if label == "-"]
    np.testing.assert_allclose(slope, [2 * 1.986], atol=2e-3)  # the metric is not halved
    assert len(labels) == len(found.extra["parents"]) == len(found.extra["nodes"])


def test_derivatives_of_a_small_net_are_those_of_autograd() -> None:
    run = run_of(with_node(iris(hidden=2, dropout=0.0), "n2", activation="tanh"))
    (found,) = take(run, Probe("n5", "scalars"), pinned=1)
    look = Look.of(run, 1)
    run.model.eval()
    loss = run.program.measure(run.model, look.batch(1, 1))["loss"]
    assert abs(found.array[-1, 0] - loss.item()) < 1e-5
    weight = run.model.get_submodule(run.program.modules["n4"]).weight
    (slopes,) = torch.autograd.grad(loss, [weight])
    named = dict(zip(found.extra["labels"], found.array[:, 1], strict=True))
    for row, line in enumerate(slopes.tolist()):
        for column, slope in enumerate(line):
            assert abs(named[f"w2[{row + 1},{column + 1}]"] - slope) < 1e-5
    owners = dict(zip(found.extra["labels"], found.extra["nodes"], strict=True))
    assert owners["w1[1,1]"] == "n2" and owners["tanh"] == "n2" and found.extra["nodes"][-1] == "n5"


def test_a_net_of_many_numbers_says_so() -> None:
    (found,) = take(run_of(iris()), Probe("", "scalars"))
    assert "numbers" in found.extra["failed"]


def test_every_node_has_a_time_and_a_block_that_of_what_is_in_it() -> None:
    project = load_project(GALLERY / "residual-blocks.nloom")
    run = run_of(project)
    (found,) = take(run, Probe("", "node_times"))
    assert set(found.extra["nodes"]) >= set(project.graph.nodes)
    times = dict(zip(found.extra["nodes"], found.array.tolist(), strict=True))
    assert all(seconds >= 0 for seconds in times.values())
    block = next(node for node in project.graph.nodes.values() if node.block)
    inner = project.blocks[block.block].graph.nodes
    assert times[block.id] >= 0.5 * sum(times.get(node_id, 0.0) for node_id in inner)
    assert depths(project) == {"": 0, block.block: 1}
    assert not any(module._forward_hooks for module in run.model.modules())


def test_a_run_gives_the_same_numbers_whether_its_diagrams_are_looked_at_or_not() -> None:
    curves = []
    kinds = ("neurons", "scalars", "node_times", "jacobian_spectrum", "likeness")
    probes = [Probe("", kind) for kind in kinds]
    probes += [Probe("n2", "weight_matrix", ("weight", "change")), Probe("n2", "singular_values")]
    for watched in (False, True):
        run = run_of(iris(hidden=2, epochs=2))
        while run.stage is not Stage.DONE:
            if watched and run.step in (1, 3):  # the first weights are drawn again then
                run.feed.forget_views()
                assert not any(one.extra.get("failed") for one in take(run, *probes))
            run.advance()
        curves.append(run.feed.read("train_loss")["value"].tolist())
    assert curves[0] == curves[1]
