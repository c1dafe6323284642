"""The fast path's settings as lines of a script, and that ReLU behind max-pooling changes no bit."""

from __future__ import annotations

import ast
from itertools import pairwise

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from engine.document.graph import Graph, Link, Node, Project
from engine.document.plan import Choice, Plan
from engine.emit.fast import Fast
from engine.emit.program import compile_program
from engine.emit.script import export_script, write_script
from tests.engine.sketches import catalogue, gallery

EVERYTHING = Fast(
    *(True, True, True, "cpu", False, 2, True), step=0.01, plain_step=0.026, computer="A processor"
)
NAN, INF = float("nan"), float("inf")
AWKWARD = (-1.0, -0.0, 0.0, 1.0, 1.0, 2.0, 1e-40, NAN, INF, -INF)


def both(x: Tensor, **pooling: int) -> tuple[list[Tensor], list[Tensor]]:
    """Values and gradients with ReLU before and behind the pooling."""
    found = []
    for order in (
        lambda v: F.max_pool2d(F.relu(v), **pooling),
        lambda v: F.relu(F.max_pool2d(v, **pooling)),
    ):
        leaf = x.clone().requires_grad_()
        value = order(leaf)
        upstream = torch.arange(1.0, value.numel() + 1).view_as(value)
        value.backward(upstream)
        assert leaf.grad is not None
        found.append([value.detach(), leaf.grad])
    return found[0], found[1]


def same_bits(one: Tensor, other: Tensor) -> bool:
    """Whether two tensors agree to the bit; any two that are not numbers agree, and so do 0 and -0."""
    nans = one.isnan() & other.isnan()
    bits, other_bits = ((value + 0.0).view(torch.int32) for value in (one, other))
    return bool((nans | (bits == other_bits)).all())


@given(
    st.lists(st.sampled_from(AWKWARD), min_size=36, max_size=36),
    st.sampled_from([(2, 2, 0), (3, 2, 1), (3, 1, 0), (2, 1, 1)]),
)
def test_relu_behind_max_pooling_has_the_same_bits(values: list[float], sizes: tuple[int, int, int]) -> None:
    kernel, stride, padding = sizes
    x = torch.tensor(values).view(1, 1, 6, 6)
    before, behind = both(x, kernel_size=kernel, stride=stride, padding=padding)
    for one, other in zip(before, behind, strict=True):
        assert same_bits(one, other)


def test_a_whole_network_gives_the_same_bits() -> None:
    project = gallery("mnist-cnn")
    runs = []
    for fast in (Fast(), Fast(late_relu=True)):
        program = compile_program(project, catalogue(), fast=fast)
        torch.manual_seed(3)
        model = program.make_model("cpu")
        batch = {"image": torch.rand(8, 1, 28, 28), "digit": torch.arange(8)}
        loss = program.objective(model, batch)["loss"]
        loss.backward()
        runs.append([loss.detach(), *(weight.grad for weight in model.parameters())])
    for one, other in zip(*runs, strict=True):
        assert torch.equal(one, other)


def test_pictures_of_the_first_layer_still_show_what_its_relu_gives() -> None:
    project = gallery("mnist-cnn")
    shown: list[dict[str, Tensor]] = []
    for fast in (Fast(), Fast(late_relu=True)):
        program = compile_program(project, catalogue(), fast=fast)
        torch.manual_seed(3)
        model = program.make_model("cpu").eval()
        seen: dict[str, Tensor] = {}
        with program.tapping(lambda node, port, value, seen=seen: seen.__setitem__(f"{node}/{port}", value)):
            program.forward(model, {"image": torch.rand(2, 1, 28, 28, generator=torch.Generator())})
        shown.append(seen)
    assert shown[0].keys() == shown[1].keys()
    assert all(torch.equal(shown[0][key], shown[1][key]) for key in shown[0])


def pooled(*between: tuple[str, dict[str, object]], second_reader: bool = False) -> Project:
    """Digits through a convolution, the nodes `between` and a max-pooling to ten classes."""
    nodes = [Node("n1", "Digits"), Node("n2", "Conv2d", "edges", {"filters": 4, "activation": "none"})]
    nodes += [Node(f"m{index}", kind, "", params) for index, (kind, params) in enumerate(between)]
    chain = [*[node.id for node in nodes], "n6", "n7", "n8"]
    nodes += [
        Node("n6", "MaxPool2d"),
        Node("n7", "Flatten"),
        Node("n8", "Linear", "classes", {"units": 10}),
        Node("n9", "CrossEntropy"),
    ]
    ports = dict.fromkeys(chain, "output") | {"n1": "image"}
    links = [Link(a, ports[a], b, "x") for a, b in pairwise(chain)]
    links += [Link("n8", "output", "n9", "prediction"), Link("n1", "digit", "n9", "target")]
    if second_reader:
        nodes += [Node("n10", "Flatten"), Node("n11", "Output", "seen")]
        links += [Link("m0", "output", "n10", "x"), Link("n10", "output", "n11", "x")]
    return Project("Pooled", graph=Graph(nodes, links), plan=Plan(batch=64), next_id=20)


def test_a_relu_of_its_own_goes_into_the_poolings_line() -> None:
    text = export_script(pooled(("ReLU", {})), catalogue(), fast=Fast(late_relu=True)).text
    assert "x = F.relu(F.max_pool2d(x, 2))" in text


def test_a_relu_that_others_read_stays() -> None:
    project = pooled(("ReLU", {}), second_reader=True)
    plain = export_script(project, catalogue()).text
    assert export_script(project, catalogue(), fast=Fast(late_relu=True)).text == plain


def test_settings_are_plain_lines() -> None:
    text = export_script(gallery("mnist-cnn"), catalogue(), fast=EVERYTHING).text
    ast.parse(text)
    for line in (
        "    # Measured on A processor: 10 ms a step, 26 ms without",
        "    model = model.to(memory_format=torch.channels_last)",
        '            with torch.autocast("cpu", torch.bfloat16):',
        '                loss = objective(model, batch)["loss"]',
        "    return torch.optim.Adam(model.parameters(), lr=CONFIG.learning_rate, fused=True)",
        "    torch.set_num_threads(2)",
        "class UniformDropout(nn.Dropout):",
        "        self.dropout = UniformDropout(0.5)",
        "        x = F.relu(F.max_pool2d(x, 2))           # (N, 32, 13, 13)",
    ):
        assert line in text.splitlines()


@pytest.mark.parametrize("project_id", ["gan-digits", "stacked-autoencoder", "teacher-student", "dqn-grid"])
def test_each_loss_of_a_short_loop_is_computed_as_the_settings_say(project_id: str) -> None:
    text = export_script(gallery(project_id), catalogue(), fast=EVERYTHING).text
    lines = [line.strip() for line in text.splitlines()]
    at = lines.index('loss = compute(model, batch)["loss"]')
    assert lines[at - 1] == 'with torch.autocast("cpu", torch.bfloat16):'


@pytest.mark.parametrize("project_id", ["mnist-cnn", "iris", "residual-blocks", "two-heads"])
def test_twin_and_text_keep_their_lines(project_id: str) -> None:
    script = write_script(gallery(project_id), catalogue(), fast=EVERYTHING)
    assert len(script.plain.text.splitlines()) == len(script.twin.splitlines()) == len(script.plain.nodes)
    compile(script.twin, "twin", "exec")


def test_what_another_optimiser_was_trained_with_is_left_out() -> None:
    project = gallery("mnist-cnn")
    project.plan = project.plan.with_(optimiser=Choice("RMSprop"))
    assert "fused" not in export_script(project, catalogue(), fast=EVERYTHING).text


def test_nothing_chosen_is_the_plain_script() -> None:
    project = gallery("mnist-cnn")
    assert export_script(project, catalogue(), fast=Fast()).text == export_script(project, catalogue()).text


def test_settings_come_back_from_json() -> None:
    assert Fast.from_json(EVERYTHING.to_json()) == EVERYTHING
    assert Fast.from_json(None) is None
    assert Fast.from_json({"fused": True, "of a later version": 1}) == Fast(fused=True)
