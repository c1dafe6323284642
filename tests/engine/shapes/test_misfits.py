"""Whatever a node or a wire does wrong is a sentence at that node, and never an exception."""

from __future__ import annotations

from typing import Any

import pytest

from engine.catalogue import Catalogue, Column, Data, Emitted, Emitter, Layer, Port, Wire
from engine.catalogue.params import param
from engine.catalogue.symbols import F, carried, torch
from engine.document.edits import Disconnect
from engine.document.graph import Graph, Link, Node, Project
from engine.emit.program import compile_program
from engine.errors import EmitError
from engine.shapes.shapes import Signature, check
from tests.engine.sketches import (
    Sketch,
    catalogue,
    classifier,
    image,
    problem,
)


def test_an_unconnected_node_is_named() -> None:
    sketch, _ = image(4)
    lonely = sketch.add("Linear", "lonely dense")
    found = problem(sketch, lonely)
    assert found.message == "lonely dense: nothing is connected to x."
    assert found.port == "x"
    with pytest.raises(EmitError, match="lonely dense") as error:
        compile_program(sketch.project, catalogue())
    assert error.value.node_id == lonely


def test_what_follows_a_problem_has_none_of_its_own() -> None:
    sketch, _ = image(4)
    lonely = sketch.add("Linear", "lonely")
    sketch.add("Linear", "next", x=sketch.add("ReLU", "after", x=lonely))
    assert [found.node_id for found in sketch.check().errors] == [lonely]


@pytest.mark.parametrize(
    ("link", "words"),
    [
        (Link("n1", "nowhere", "n2", "x"), "'nowhere', which is no output"),
        (Link("n1", "output", "n2", "y"), "no input called 'y'"),
        (Link("n1", "output", "n2", "x1"), "no input called 'x1'"),
        (Link("n1", "output", "n3", "x"), "no input called 'x'"),
        (Link("n1", "output", "n3", "x01"), "no input called 'x01'"),
        (Link("n1", "output" * 100, "n2", "x"), "which is no output"),
    ],
)
def test_a_wire_from_or_to_a_port_that_is_not_there_is_named(link: Link, words: str) -> None:
    nodes = [Node("n1", "Input", "in"), Node("n2", "ReLU", "act"), Node("n3", "Add", "sum")]
    book = check(Project(graph=Graph(nodes, [link])), catalogue())
    [found] = [found for found in book.errors if found.node_id == link.target]
    assert words in found.message and found.port == link.target_port
    assert len(found.message) < 150
    assert found.fix is not None and found.fix.edits(Project()) == (Disconnect(link),)


def test_a_loss_gives_nothing_to_wire() -> None:
    sketch = classifier()
    layer = sketch.add("ReLU", "after", x="n4.value")
    assert "no output" in problem(sketch, layer).message


def test_an_unknown_type_and_a_bad_value_are_problems_of_their_nodes() -> None:
    sketch = classifier()
    sketch.add("Wobbler", "wobble")
    bad = sketch.add("Linear", "bad", {"units": "many"}, x="n2")
    book = sketch.check()
    assert "does not know" in next(found.message for found in book.errors if found.node_id == "n5")
    assert "Units" in next(found.message for found in book.errors if found.node_id == bad)


class Bad(Layer):
    """Goes wrong in the way its parameter says."""

    how: str = param("")

    def inputs(self) -> tuple[Port, ...]:
        if self.how == "inputs":
            raise RuntimeError("no ports today")
        return super().inputs()

    def outputs(self) -> tuple[Port, ...]:
        if self.how == "outputs":
            raise RuntimeError("no ports today")
        return super().outputs()

    def emit(self, e: Emitter, x: Wire) -> Any:
        if self.how == "raise":
            raise ZeroDivisionError("oh")
        if self.how == "dict":
            return {"elsewhere": x}
        if self.how == "mix":
            return x.mean(0)
        if self.how == "never":
            return list(x)
        if self.how == "twice":
            return e.module(torch.nn.ReLU())(e.module(torch.nn.ReLU())(x))
        return {"none": None, "object": object()}.get(self.how, 3)


class BadData(Data):
    """Has no columns."""

    def columns(self) -> tuple[Column, ...]:
        raise RuntimeError("no columns today")


@pytest.mark.parametrize(
    "how", ["inputs", "outputs", "raise", "dict", "mix", "never", "twice", "none", "object", "number"]
)
def test_whatever_a_foreign_type_does_is_a_problem_of_its_node(how: str) -> None:
    own = Catalogue([*catalogue().types(), Bad, BadData])
    nodes = [Node("n1", "Input", "in"), Node("n2", "Bad", "bad", {"how": how}), Node("n3", "ReLU", "act")]
    links = [Link("n1", "output", "n2", "x"), Link("n2", "output", "n3", "x")]
    book = check(Project(graph=Graph(nodes, links)), own)
    assert {found.node_id for found in book.errors} == {"n2"}


def test_a_data_set_that_fails_is_a_problem_of_its_node() -> None:
    own = Catalogue([*catalogue().types(), BadData])
    nodes = [Node("n1", "BadData", "bad"), Node("n2", "ReLU", "act")]
    book = check(Project(graph=Graph(nodes, [Link("n1", "x", "n2", "x")])), own)
    assert "n1" in {found.node_id for found in book.errors}


def double(x: Any) -> Any:
    return x * 2


class Doubled(Layer):
    """Calls a function of its package."""

    def emit(self, e: Emitter, x: Wire) -> Emitted:
        return F.relu(carried(double)(x))


def test_a_function_that_goes_along_is_run_too() -> None:
    own = Catalogue([*catalogue().types(), Doubled])
    nodes = [Node("n1", "Input", "in"), Node("n2", "Doubled", "twice")]
    book = check(Project(graph=Graph(nodes, [Link("n1", "output", "n2", "x")])), own)
    assert book.signature("n2", "output") == Signature((1, 28, 28))


@pytest.mark.parametrize("type_id", [found.type_id for found in catalogue().types()])
def test_alone_on_an_empty_canvas_nothing_is_raised(type_id: str) -> None:
    sketch = Sketch()
    alone = sketch.add(type_id, "alone")
    book = sketch.check()
    for found in book.problems:
        assert found.message.endswith(".") and "Traceback" not in found.message
    if catalogue().get(type_id)().inputs():
        assert book.signature(alone, "output") is None


@pytest.mark.parametrize(
    ("type_id", "params"),
    [
        ("Linear", {"units": 2**53}),
        ("Conv2d", {"filters": 2**40, "kernel": 3}),
        ("Embedding", {"entries": 2**53, "size": 2**53}),
        ("Reshape", {"shape": (2**53,)}),
        ("LSTM", {"hidden": 2**31}),
    ],
)
def test_sizes_beyond_any_computer_raise_nothing(type_id: str, params: dict[str, Any]) -> None:
    sketch, start = image(1, 28, 28)
    sketch.add("ReLU", "after", x=sketch.add(type_id, "huge", params, x=start))
    for found in sketch.check().problems:
        assert found.message.endswith(".")


def test_deep_and_wide_nets_have_no_cap() -> None:
    sketch, last = image(64)
    for number in range(60):
        last = sketch.add("Linear", f"layer {number}", {"units": 4096, "activation": "ReLU"}, x=last)
    book = sketch.check()
    assert book.problems == []
    assert book.total_parameters == 64 * 4096 + 4096 + 59 * (4096 * 4096 + 4096)
