"""An error at run time lands on the node whose line raised it, also for types of third parties."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from torch import Tensor

from engine.catalogue import Catalogue, Emitted, Emitter, Layer, Loss, Port, Wire
from engine.catalogue.params import param
from engine.catalogue.symbols import F, carried, nn
from engine.catalogue.symbols import torch as torch_
from engine.data.splits import standardised
from engine.document.graph import Graph, Link, Node, Project
from engine.emit.program import Program, compile_program
from tests.engine.emit.test_script import long_names
from tests.engine.sketches import (
    batch_of,
    catalogue,
    classifier,
    gallery,
    program_of,
)


class Fails(Layer):
    """Has a shape, but raises when it meets numbers."""

    deep: bool = param(False)

    def emit(self, e: Emitter, x: Wire) -> Emitted:
        # No table has a row 10**6; on the meta device nobody looks.
        return F.relu(F.embedding(x.long() + 10**6, x.flatten(1)) if self.deep else x) + F.embedding(
            x.long() * 0 + 10**6, F.relu(x).flatten(1)
        ).sum(-1)


class FailingLoss(Loss):
    """Raises when it meets numbers."""

    def emit(self, e: Emitter, prediction: Wire, target: Wire) -> Emitted:
        return F.nll_loss(F.log_softmax(prediction, 1), target + 10**6)


def caught(program: Program, columns: dict[str, Tensor], measure: bool = False) -> str | None:
    model = program.Model()
    with pytest.raises((IndexError, RuntimeError)) as error:
        (program.measure if measure else program.objective)(model, columns)
    return program.node_of(error.value)


@pytest.mark.parametrize("number", [0, 1, 2])
def test_an_error_inside_a_layer_names_its_node(number: int) -> None:
    """The failing layer first, in the middle, and in the line that returns."""
    own = Catalogue([*catalogue().types(), Fails])
    nodes = [Node("n1", "Iris", "iris")]
    links, last = [], ("n1", "features")
    for index in range(3):
        node = Node(f"n{index + 2}", "Fails" if index == number else "Linear", "layer", {})
        nodes.append(node)
        links.append(Link(*last, node.id, "x"))
        last = (node.id, "output")
    nodes.append(Node("n9", "CrossEntropy", "loss"))
    links += [Link(*last, "n9", "prediction"), Link("n1", "species", "n9", "target")]
    program = compile_program(Project(graph=Graph(nodes, links)), own)
    columns = {"features": torch.ones(4, 4), "species": torch.zeros(4, dtype=torch.int64)}
    assert caught(program, columns) == f"n{number + 2}"


def test_an_error_in_one_of_several_values_of_a_return_names_its_node() -> None:
    own = Catalogue([*catalogue().types(), FailingLoss])
    nodes = [
        Node("n1", "Iris", "iris"),
        Node("n2", "Linear", "head", {"units": 3}),
        Node("n3", "CrossEntropy", "good"),
        Node("n4", "FailingLoss", "bad"),
    ]
    links = [Link("n1", "features", "n2", "x")]
    for node_id in ("n3", "n4"):
        links += [Link("n2", "output", node_id, "prediction"), Link("n1", "species", node_id, "target")]
    columns = {"features": torch.ones(4, 4), "species": torch.zeros(4, dtype=torch.int64)}
    program = compile_program(Project(graph=Graph(nodes, links)), own)
    assert caught(program, columns) == "n4"
    alone = Graph([*nodes[:2], nodes[3]], [link for link in links if link.target != "n3"])
    assert caught(compile_program(Project(graph=alone), own), columns) == "n4"


def test_a_label_out_of_range_names_the_loss() -> None:
    program = program_of(classifier())
    batch = batch_of(program)
    assert caught(program, {**batch, "species": batch["species"] + 3}) == "n4"


def test_an_error_in_a_broken_line_names_its_node() -> None:
    sketch = long_names()
    program = program_of(sketch)
    assert any(len(program.source.lines_of(node_id)) > 4 for node_id in program.project.graph.nodes)
    model = program.Model()
    batch = batch_of(program)
    join = next(node.id for node in sketch.project.graph.nodes.values() if node.type == "Concatenate")
    layer = next(node.id for node in sketch.project.graph.nodes.values() if node.type == "Linear")
    with pytest.raises(RuntimeError) as error:
        program.objective(model, {**batch, "profile": batch["profile"][:, :3]})
    assert program.node_of(error.value) == layer
    setattr(model, program.modules[layer], torch.nn.Linear(16, 10, dtype=torch.float64))
    with pytest.raises(RuntimeError) as error:
        program.objective(model, batch)
    assert program.node_of(error.value) == layer
    setattr(model, program.modules[layer], torch.nn.Unflatten(1, (4, 4)))
    with pytest.raises(RuntimeError) as error:
        program.objective(model, batch)
    assert program.node_of(error.value) in (join, "n7")


def test_an_error_elsewhere_names_no_node() -> None:
    program = program_of(classifier())
    assert program.node_of(ValueError("elsewhere")) is None


def test_a_loader_that_fails_names_the_data() -> None:
    program = compile_program(gallery("santa-fe-lstm"), catalogue())
    with pytest.raises(Exception) as error:
        program.load(Path("nowhere"))
    assert "n1" in (getattr(error.value, "node_id", None), program.node_of(error.value))


class Several(Layer):
    """Unpacks twice, returns one part under two ports, keeps two layers."""

    ports_out = (Port("a"), Port("b"), Port("c"))

    def emit(self, e: Emitter, x: Wire) -> Emitted:
        values, indices = e.unpack(torch_.max(e.module(nn.Linear(x.features, 3))(x), 1), "values", "indices")
        low, _ = e.unpack(torch_.min(e.module(nn.Linear(x.features, 3), "second")(x), 1), "values", "indices")
        return {"a": values, "b": values, "c": low + indices}


class Scaled(Layer):
    """Calls a function that exports carry, and that the loader of Iris uses too."""

    def emit(self, e: Emitter, x: Wire) -> Emitted:
        return carried(standardised)(x, torch_.arange(2))


class Stretched(Loss):
    """The same in a loss."""

    def emit(self, e: Emitter, prediction: Wire, target: Wire) -> Emitted:
        rows = carried(standardised)(prediction, torch_.arange(2))
        return F.cross_entropy(rows, target)


def test_functions_of_ours_go_along_once_and_keep_their_names() -> None:
    """Nodes and losses that are called like the function must not hide it."""
    own = Catalogue([*catalogue().types(), Scaled, Stretched])
    nodes = [
        Node("n1", "Iris", "standardised"),
        Node("n2", "Linear", "standardised", {"units": 3}),
        Node("n3", "Scaled", "standardised"),
        Node("n4", "Stretched", "standardised"),
        Node("n5", "CrossEntropy", "standardised"),
    ]
    links = [Link("n1", "features", "n2", "x"), Link("n2", "output", "n3", "x")]
    for node_id in ("n4", "n5"):
        links += [Link("n2", "output", node_id, "prediction"), Link("n1", "species", node_id, "target")]
    program = compile_program(Project(graph=Graph(nodes, links)), own)
    assert program.source.text.count("def standardised(") == 1
    model, batch = program.Model(), batch_of(program)
    found = program.objective(model, batch)
    scores, scaled = model(batch["features"])
    assert torch.equal(scaled, standardised(scores, torch.arange(2)))
    wanted = torch.nn.functional.cross_entropy(scaled, batch["species"])
    assert found[program.losses["n4"]].item() == wanted.item()
    assert "engine" not in program.source.text


@pytest.mark.parametrize("used", [("a",), ("b",), ("c",), ("a", "b", "c")])
def test_unpacked_parts_reach_the_ports_that_want_them(used: tuple[str, ...]) -> None:
    own = Catalogue([*catalogue().types(), Several])
    nodes = [
        Node("n1", "Input", "values", {"shape": (4,)}),
        Node("n2", "Several", "s"),
        Node("n3", "Linear", "s second"),
    ]
    links = [Link("n1", "output", "n2", "x"), Link("n1", "output", "n3", "x")]
    for number, port in enumerate(used, start=4):
        nodes.append(Node(f"n{number}", "Output", port))
        links.append(Link("n2", port, f"n{number}", "x"))
    program = compile_program(Project(graph=Graph(nodes, links)), own)
    model = program.Model()
    assert program.modules == {"n2": "s", "n3": "s_second"}
    x = torch.randn(5, 4)
    *found, _ = model(x)
    first, second = model.s(x), model.s_second_2(x)
    wanted = {
        "a": first.max(1).values,
        "b": first.max(1).values,
        "c": second.min(1).values + first.max(1).indices,
    }
    for port, value in zip(used, found, strict=True):
        assert torch.equal(value, wanted[port])
