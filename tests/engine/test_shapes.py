"""Shapes of wires come from running each node's own line; sentences say where and how they clash."""

from __future__ import annotations

import random
from typing import Any

import pytest
from torch import nn

from engine.catalogue import Catalogue, Column, Data, Emitted, Emitter, Layer, Port, Wire
from engine.document import Document
from engine.edits import UNSET, AddNodes, Connect, Disconnect, Edit, Remove, Rename, SetParam
from engine.emit.program import compile_program
from engine.errors import EmitError, GraphError
from engine.graph import Graph, Link, Node, Project
from engine.params import param
from engine.shapes import BATCH, ShapeBook, Signature, check
from engine.symbols import F, carried, torch
from tests.engine.sketches import (
    GALLERY_IDS,
    Sketch,
    apply,
    catalogue,
    classifier,
    gallery,
    image,
    mended,
    problem,
    through,
)


@pytest.mark.parametrize(
    ("before", "type_id", "params", "after"),
    [
        ((3, 32, 32), "Flatten", {}, (3072,)),
        ((28,), "Flatten", {}, (28,)),
        ((1, 28), "Conv1d", {"filters": 4, "kernel": 3, "stride": 2, "padding": 1}, (4, 14)),
        ((8, 20), "Conv1d", {"filters": 4, "kernel": 3, "dilation": 2}, (4, 16)),
        ((3, 9, 11), "Conv2d", {"filters": 2, "kernel": (3, 5), "padding": (1, 2)}, (2, 9, 11)),
        ((3, 9, 11), "Conv2d", {"filters": 2, "kernel": (3, 5), "padding": (1, 0)}, (2, 9, 7)),
        ((3, 9, 11), "Conv2d", {"filters": 2, "kernel": 4, "padding": "same"}, (2, 9, 11)),
        (
            (3, 9, 11),
            "Conv2d",
            {"filters": 2, "kernel": (2, 3), "padding": "same", "dilation": 3},
            (2, 9, 11),
        ),
        ((3, 9, 11), "Conv2d", {"filters": 2, "kernel": 4, "padding": "valid"}, (2, 6, 8)),
        ((4, 8, 8), "Conv2d", {"filters": 8, "kernel": 3, "groups": 4}, (8, 6, 6)),
        ((1, 40, 200), "Conv2d", {"filters": 16, "kernel": 5, "stride": (2, 4)}, (16, 18, 49)),
        ((5, 7, 7), "ConvTranspose2d", {"filters": 2, "kernel": 3, "stride": 2, "padding": 1}, (2, 13, 13)),
        ((5, 7, 7), "ConvTranspose2d", {"filters": 2, "kernel": 4, "stride": 2, "padding": 1}, (2, 14, 14)),
        ((1, 7, 7), "MaxPool2d", {"size": 2}, (1, 3, 3)),
        ((1, 7, 7), "MaxPool2d", {"size": 2, "ceil": True}, (1, 4, 4)),
        ((1, 7, 7), "AvgPool2d", {"size": (2, 3), "stride": 1}, (1, 6, 5)),
        ((4, 40, 200), "AdaptiveAvgPool2d", {}, (4, 1, 1)),
        ((4, 40, 200), "AdaptiveMaxPool2d", {"size": (5, 7)}, (4, 5, 7)),
        ((4, 21), "MaxPool1d", {"size": 2}, (4, 10)),
        ((50, 3), "MeanOverTime", {}, (3,)),
        ((50, 3), "LastStep", {}, (3,)),
        ((50, 3), "Transpose", {}, (3, 50)),
        ((6,), "Reshape", {"shape": (2, 3)}, (2, 3)),
        ((2, 3, 4), "Reshape", {"shape": (4, -1)}, (4, 6)),
        ((2, 3), "Reshape", {"shape": (-1,)}, (6,)),
        ((16, 32), "Linear", {"units": 4096}, (16, 4096)),
        ((50, 3), "LSTM", {"hidden": 7, "both_ways": True}, (50, 14)),
        ((50, 3), "GRU", {"hidden": 7, "layers": 3}, (50, 7)),
        ((4, 9, 9), "BatchNorm", {}, (4, 9, 9)),
        ((4,), "BatchNorm", {}, (4,)),
        ((7, 4), "LayerNorm", {}, (7, 4)),
        ((10,), "Softmax", {}, (10,)),
        ((7, 10), "Softmax", {"axis": -1}, (7, 10)),
        ((BATCH, BATCH), "Linear", {"units": BATCH}, (BATCH, BATCH)),
    ],
)
def test_what_leaves_a_layer(
    before: tuple[int, ...], type_id: str, params: dict[str, Any], after: tuple[int, ...]
) -> None:
    assert through(before, type_id, params) == after


@pytest.mark.parametrize("n", [1, 2, 8])
def test_the_model_agrees_for_any_number_of_examples(n: int) -> None:
    import torch as real

    sketch, start = image(3, 32, 32)
    sketch.add("Linear", "head", {"units": 5}, x=sketch.add("Flatten", "flat", x=start))
    model = compile_program(sketch.project, catalogue()).Model()
    assert model(real.zeros(n, 3, 32, 32)).shape == (n, 5)


def test_padding_columns_leaves_rows_alone() -> None:
    heights = {
        through((1, 9, 11), "Conv2d", {"kernel": (3, 5), "padding": (1, wide)})[1] for wide in (0, 1, 2, 7)
    }
    assert heights == {9}


@pytest.mark.parametrize("type_id", ["LSTM", "GRU"])
@pytest.mark.parametrize("layers", [1, 3])
@pytest.mark.parametrize("both", [False, True])
def test_recurrent_states_have_ports_of_their_own(type_id: str, layers: int, both: bool) -> None:
    sketch, start = image(50, 3)
    params = {"hidden": 7, "layers": layers, "both_ways": both}
    layer = sketch.add(type_id, "memory", params, x=start)
    book = sketch.check()
    assert book.errors == []
    wide = 14 if both else 7
    assert book.signature(layer, "output") == Signature((50, wide))
    for state in ("h", "c") if type_id == "LSTM" else ("h",):
        assert book.signature(layer, state) == Signature((wide,))
    made = getattr(nn, type_id)(3, 7, num_layers=layers, bidirectional=both)
    assert book.parameters(layer) == sum(weight.numel() for weight in made.parameters())


def test_signatures_read_well() -> None:
    assert str(Signature((32, 26, 26))) == "32×26×26"
    assert Signature((32, 26, 26)).full == "N×32×26×26"
    assert str(Signature(())) == "scalar"


def test_multiply_adds_are_counted_for_one_example() -> None:
    sketch, start = image(3, 8, 8)
    conv = sketch.add("Conv2d", "conv", {"filters": 4, "kernel": 3}, x=start)
    dense = sketch.add("Linear", "dense", {"units": 5}, x=sketch.add("Flatten", "flat", x=conv))
    book = sketch.check()
    assert book.multiply_adds(conv) == 3 * 3 * 3 * 4 * 6 * 6
    assert book.multiply_adds(dense) == 4 * 6 * 6 * 5
    assert book.total_multiply_adds == book.multiply_adds(conv) + book.multiply_adds(dense)


# -- what each node says when it does not fit


@pytest.mark.parametrize(
    ("shape", "type_id", "params", "words"),
    [
        ((784,), "Conv2d", {}, ("Conv 2-D needs channels × height × width", "784")),
        ((3, 9), "MaxPool2d", {}, ("Max pool needs", "3×9")),
        ((3, 9, 9), "Conv1d", {}, ("Conv 1-D needs channels × length", "3×9×9")),
        ((784,), "LSTM", {}, ("LSTM needs steps × features", "784")),
        ((3, 2, 2), "Conv2d", {"kernel": 5}, ("N×3×2×2", "Kernel size")),
        ((3, 9, 9), "Conv2d", {"groups": 2}, ("N×3×9×9", "groups")),
        ((3, 9, 9), "Conv2d", {"padding": "same", "stride": 2}, ("padding='same'", "strided")),
        ((3, 7, 7), "ConvTranspose2d", {"output_padding": 5}, ("output padding",)),
        ((3, 1, 1), "MaxPool2d", {}, ("too small",)),
        ((7,), "Reshape", {"shape": (2, 3)}, ("7 numbers come in", "2×3")),
        ((6,), "Reshape", {"shape": (-1, -1)}, ("6 numbers", "-1×-1")),
        ((6,), "Reshape", {"shape": (0, 6)}, ("6 numbers", "0×6")),
        ((6,), "Transpose", {}, ("no axis 2", "has 1")),
        ((5, 6), "Softmax", {"axis": 0}, ("axis 0", "batch")),
        ((5, 6), "Softmax", {"axis": -3}, ("axis -3", "batch")),
        ((5, 6), "Softmax", {"axis": 3}, ("no axis 3", "5×6")),
        ((50, 3), "LSTM", {"dropout": 0.5}, ("only one", "Dropout")),
        ((10,), "Embedding", {}, ("whole numbers",)),
        ((4,), "LastStep", {}, ("sequence",)),
        ((2, 2, 2, 2, 2), "BatchNorm", {}, ("Batch norm",)),
    ],
)
def test_a_layer_that_does_not_fit_says_what_comes_in(
    shape: tuple[int, ...], type_id: str, params: dict[str, Any], words: tuple[str, ...]
) -> None:
    sketch, start = image(*shape)
    layer = sketch.add(type_id, "layer", params, x=start)
    found = problem(sketch, layer)
    for word in words:
        assert word in found.message
    assert str(BATCH) not in found.message
    assert found.message.endswith(".")


@pytest.mark.parametrize(
    "type_id", ["Linear", "Conv2d", "LSTM", "BatchNorm", "LayerNorm", "Softmax", "AvgPool2d", "GELU"]
)
def test_whole_numbers_need_a_table_first(type_id: str) -> None:
    sketch = Sketch()
    shape = {"Conv2d": (3, 9, 9), "AvgPool2d": (3, 9, 9), "LSTM": (5, 3)}.get(type_id, (5,))
    start = sketch.add("Input", "words", {"shape": shape, "whole": True})
    layer = sketch.add(type_id, "layer", x=start)
    found = problem(sketch, layer)
    assert "whole numbers" in found.message or "int64" in found.message or "Long" in found.message


def test_whole_numbers_go_through_a_table() -> None:
    sketch = Sketch()
    start = sketch.add("Input", "words", {"shape": (12,), "whole": True})
    table = sketch.add("Embedding", "table", {"entries": 100, "size": 16}, x=start)
    book = sketch.check()
    assert book.signature(start, "output") == Signature((12,), "int64")
    assert book.signature(table, "output") == Signature((12, 16))
    assert book.parameters(table) == 1600


@pytest.mark.parametrize("type_id", ["Add", "Multiply", "Concatenate"])
def test_a_join_that_does_not_fit_names_every_shape(type_id: str) -> None:
    sketch, start = image(16, 8, 8)
    small = sketch.add("Conv2d", "small", {"filters": 16, "kernel": 3}, x=start)
    join = sketch.add(type_id, "join", x1=start, x2=small)
    found = problem(sketch, join)
    assert "16×8×8 and 16×6×6" in found.message
    assert found.fix is not None and found.fix.label == "Let small keep its size"
    assert mended(sketch, found).errors == []
    assert sketch.check().signature(join, "output") is not None


@pytest.mark.parametrize("type_id", ["Add", "Multiply"])
def test_numbers_are_never_stretched_over_the_wrong_axis(type_id: str) -> None:
    sketch, start = image(16)
    one = sketch.add("Linear", "one", {"units": 5}, x=start)
    join = sketch.add(type_id, "join", x1=start, x2=one)
    assert "16 and 5" in problem(sketch, join).message
    sketch = Sketch()
    flat = sketch.add("Input", "flat", {"shape": (8,)})
    steps = sketch.add("Input", "steps", {"shape": (3, 8)})
    join = sketch.add(type_id, "join", x1=flat, x2=steps)
    assert "8 and 3×8" in problem(sketch, join).message


def test_a_gate_stretches_a_size_of_one_but_a_sum_does_not() -> None:
    sketch, start = image(16, 8, 8)
    gate = sketch.add("AdaptiveAvgPool2d", "gate", x=start)
    product = sketch.add("Multiply", "product", x1=start, x2=gate)
    total = sketch.add("Add", "total", x1=start, x2=gate)
    book = sketch.check()
    assert book.signature(product, "output") == Signature((16, 8, 8))
    assert book.signature(total, "output") is None


@pytest.mark.parametrize(
    ("axis", "after"), [(1, (7, 4)), (-2, (7, 4)), (2, None), (0, None), (-3, None), (3, None), (-1, None)]
)
def test_concatenation_along_each_axis(axis: int, after: tuple[int, ...] | None) -> None:
    sketch = Sketch()
    first = sketch.add("Input", "first", {"shape": (3, 4)})
    second = sketch.add("Input", "second", {"shape": (4, 4)})
    join = sketch.add("Concatenate", "join", {"axis": axis}, x1=first, x2=second)
    book = sketch.check()
    if after is None:
        assert len(book.of(join)) == 1
        assert book.signature(join, "output") is None
    else:
        assert book.signature(join, "output") == Signature(after)


def test_many_inputs_are_joined_in_the_order_of_their_numbers() -> None:
    sketch = Sketch()
    inputs = {
        f"x{number}": sketch.add("Input", f"in{number}", {"shape": (number,)}) for number in range(1, 13)
    }
    join = sketch.add("Concatenate", "join", **dict(sorted(inputs.items())))
    sketch.add("Linear", "head", {"units": 1}, x=join)
    assert sketch.check().signature(join, "output") == Signature((sum(range(1, 13)),))
    code = compile_program(sketch.project, catalogue()).source.text
    order = ", ".join(f"in{number}" for number in range(1, 13))
    assert order in " ".join(code.split()).replace("( ", "(")


def test_one_input_is_too_few_for_a_join() -> None:
    sketch, start = image(4)
    join = sketch.add("Add", "join", x1=start)
    assert "at least two" in problem(sketch, join).message


# -- fixes


@pytest.mark.parametrize(
    ("shape", "type_id", "params", "label"),
    [
        ((784,), "Conv2d", {}, "Insert a reshape to 1×28×28"),
        ((28, 28), "Conv2d", {}, "Insert a reshape to 1×28×28"),
        ((50, 1), "Conv1d", {}, "Insert a transpose"),
        ((50,), "Conv1d", {}, "Insert a reshape to 1×50"),
        ((50,), "LSTM", {}, "Insert a reshape to 50×1"),
        ((1, 28, 28), "GRU", {}, "Insert a reshape to 28×28"),
        ((3, 2, 2), "Conv2d", {"kernel": 5}, "Pad the input to keep its size"),
        ((3, 9, 9), "Conv2d", {"groups": 2}, "Use a single group"),
        ((50, 3), "LSTM", {"dropout": 0.5}, "Set its dropout to 0"),
        ((50, 3), "Softmax", {"axis": 0}, "Use axis 1"),
    ],
)
def test_a_fix_is_offered_and_mends(
    shape: tuple[int, ...], type_id: str, params: dict[str, Any], label: str
) -> None:
    sketch, start = image(*shape)
    layer = sketch.add(type_id, "layer", params, x=start)
    found = problem(sketch, layer)
    assert found.fix is not None and found.fix.label == label
    assert mended(sketch, found).errors == []


def test_vectors_of_different_sizes_are_brought_together_by_a_dense_layer() -> None:
    sketch, start = image(16)
    small = sketch.add("Linear", "small", {"units": 5, "activation": "ReLU"}, x=start)
    join = sketch.add("Add", "join", x1=start, x2=small)
    found = problem(sketch, join)
    assert found.fix is not None and found.fix.label == "Insert a dense layer of 16 units"
    assert mended(sketch, found).errors == []


def test_images_of_different_depth_are_brought_together_by_a_1x1_convolution() -> None:
    sketch, start = image(16, 8, 8)
    deep = sketch.add("Conv2d", "deep", {"filters": 32, "padding": "same"}, x=start)
    join = sketch.add("Add", "join", x1=start, x2=deep)
    found = problem(sketch, join)
    assert found.fix is not None and found.fix.label == "Insert a 1×1 convolution"
    assert mended(sketch, found).errors == []


def test_a_fix_leaves_the_graph_as_it_was_when_undone() -> None:
    sketch, start = image(784)
    layer = sketch.add("Conv2d", "conv", x=start)
    found = problem(sketch, layer)
    before = Graph(sketch.project.graph.nodes.values(), sketch.project.graph.links)
    document = Document(sketch.project)
    with document.step("Fix"):
        for edit in found.fix.edits(document.project):  # type: ignore[union-attr]
            document.apply(edit)
    assert document.project.graph != before
    document.undo()
    assert document.project.graph == before


# -- wires and nodes that are not as they should be


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


# -- edit by edit


@pytest.mark.parametrize("project_id", GALLERY_IDS)
def test_the_total_is_that_of_the_model_after_every_kind_of_edit(project_id: str) -> None:
    document = Document(gallery(project_id))
    book = check(document.project, catalogue())
    document.subscribe(lambda change: book.update(document.project, change.touched))
    linear = next(node for node in document.project.graph.nodes.values() if node.type == "Linear")
    [into, *_] = document.project.graph.incoming(linear.id)
    added = document.project.new_id()

    def sound() -> int:
        model = compile_program(document.project, catalogue()).Model()
        total = sum(weight.numel() for weight in model.parameters())
        assert book.total_parameters == total
        return total

    def do(*edits: Edit) -> None:
        with document.step("Edit"):
            for edit in edits:
                document.apply(edit)

    first = sound()
    do(AddNodes((Node(added, "Linear", "extra", {"units": 7}),), (Link(linear.id, "output", added, "x"),)))
    assert sound() > first
    do(SetParam(added, "units", 70))
    sound()
    do(
        Disconnect(Link(linear.id, "output", added, "x")),
        Connect(Link(into.source, into.source_port, added, "x")),
    )
    sound()
    do(Remove((added,)))
    assert sound() == first
    while document.undo():
        sound()
    while document.redo():
        sound()
    assert sound() == first


def same(book: ShapeBook, project: Project) -> None:
    """The book kept up edit by edit is that of a project seen for the first time."""
    fresh = check(project, book.catalogue)
    for node_id, node in project.graph.nodes.items():
        for port in [*(link.source_port for link in project.graph.outgoing(node_id)), "output", "value"]:
            assert book.signature(node_id, port) == fresh.signature(node_id, port), (node_id, node.type, port)
        assert book.inputs(node_id) == fresh.inputs(node_id), node_id
        assert book.parameters(node_id) == fresh.parameters(node_id), node_id
    assert book.problems == fresh.problems
    assert [found.fix and found.fix.label for found in book.problems] == [
        found.fix and found.fix.label for found in fresh.problems
    ]
    assert book.types.keys() == fresh.types.keys()
    assert book.total_parameters == fresh.total_parameters


POOL: list[tuple[str, dict[str, Any]]] = [
    ("Linear", {}),
    ("Linear", {"units": 3}),
    ("Linear", {"units": "bad"}),
    ("Conv2d", {"filters": 4}),
    ("Flatten", {}),
    ("Add", {}),
    ("Concatenate", {}),
    ("LSTM", {"hidden": 3}),
    ("Softmax", {}),
    ("CrossEntropy", {}),
    ("Accuracy", {}),
    ("Iris", {}),
    ("Digits", {}),
    ("SantaFe", {"lag": 5}),
    ("Input", {"shape": (4,)}),
    ("Wobbler", {}),
    ("Output", {}),
]
CHANGES: list[tuple[str, Any]] = [
    ("units", 5),
    ("units", 0),
    ("units", UNSET),
    ("filters", 2),
    ("lag", 7),
    ("shape", (1, 8, 8)),
    ("axis", 2),
    ("hidden", 4),
    ("both_ways", True),
]
ENDS = ("x", "x1", "x2", "prediction", "target", "elsewhere")
STARTS = ("output", "h", "c", "features", "image", "digit", "species", "window", "next", "nowhere")


@pytest.mark.parametrize("seed", range(12))
def test_any_walk_of_edits_gives_the_same_book_as_a_fresh_look(seed: int) -> None:
    choose = random.Random(seed)
    document = Document(gallery(choose.choice(("iris", "two-heads", "santa-fe-lstm"))))
    book = check(document.project, catalogue())
    document.subscribe(lambda change: book.update(document.project, change.touched))
    for _ in range(60):
        ids = list(document.project.graph.nodes)
        links = document.project.graph.links
        deed = choose.random()
        try:
            if deed < 0.15 and document.undo_label:
                document.undo()
            elif deed < 0.2 and document.redo_label:
                document.redo()
            else:
                with document.step("Walk"):
                    if deed < 0.35 or len(ids) < 3:
                        type_id, params = choose.choice(POOL)
                        new = document.project.new_id()
                        document.apply(AddNodes((Node(new, type_id, new, params),)))
                    elif deed < 0.65:
                        start, end = choose.choice(ids), choose.choice(ids)
                        document.apply(Connect(Link(start, choose.choice(STARTS), end, choose.choice(ENDS))))
                    elif deed < 0.75 and links:
                        document.apply(Disconnect(choose.choice(links)))
                    elif deed < 0.85:
                        document.apply(Remove((choose.choice(ids),)))
                    elif deed < 0.9:
                        document.apply(Rename(choose.choice(ids), choose.choice(["a", "b", ""])))
                    else:
                        name, value = choose.choice(CHANGES)
                        document.apply(SetParam(choose.choice(ids), name, value))
        except GraphError:
            continue
        same(book, document.project)


def test_one_edit_runs_only_what_lies_downstream(monkeypatch: pytest.MonkeyPatch) -> None:
    """A thousand nodes in twenty chains: an edit in the middle of one concerns half of that one."""
    sketch, start = image(8)
    chains = []
    for _ in range(20):
        last, chain = start, []
        for number in range(50):
            last = sketch.add("Linear", f"layer {number}", {"units": 8, "activation": "tanh"}, x=last)
            chain.append(last)
        chains.append(chain)
    book = sketch.check()
    looked: list[str] = []
    ran: list[Any] = []
    infer, run = ShapeBook._infer, ShapeBook._run

    def spy_infer(self: ShapeBook, graph: Graph, node: Node) -> Any:
        looked.append(node.id)
        return infer(self, graph, node)

    def spy_run(self: ShapeBook, node_type: Any, arriving: Any) -> Any:
        ran.append(node_type)
        return run(self, node_type, arriving)

    monkeypatch.setattr(ShapeBook, "_infer", spy_infer)
    monkeypatch.setattr(ShapeBook, "_run", spy_run)
    edited = chains[7][25]
    edit = SetParam(edited, "units", 9)
    apply(sketch.project, [edit])
    book.update(sketch.project, edit.touched)
    assert looked == chains[7][25:27]  # the next layer takes 9 and gives 8 again, so the rest stands
    assert len(ran) == 2
    looked.clear()
    edit = SetParam(edited, "activation", "ReLU")
    apply(sketch.project, [edit])
    book.update(sketch.project, edit.touched)
    assert looked == [edited]
    looked.clear()
    book.update(sketch.project, frozenset())
    assert looked == []
    same(book, sketch.project)
