"""Shapes of wires come from running each node's own line; sentences say where and how they clash."""

from __future__ import annotations

from typing import Any

import pytest
from torch import nn

from engine.emit.program import compile_program
from engine.shapes.running import BATCH
from engine.shapes.shapes import Signature
from tests.engine.sketches import (
    Sketch,
    catalogue,
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
        ((3, 2, 2), "Conv2d", {"kernel": 5}, ("N×3×2×2", "window is larger")),
        ((3, 9, 9), "Conv2d", {"groups": 2}, ("N×3×9×9", "split into its groups")),
        ((3, 9, 9), "Conv2d", {"padding": "same", "stride": 2}, ("same padding", "stride must be 1")),
        ((3, 7, 7), "ConvTranspose2d", {"output_padding": 5}, ("output padding",)),
        ((3, 1, 1), "MaxPool2d", {}, ("N×3×1×1", "nothing would be left")),
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


def test_looking_leaves_the_random_numbers_of_a_run_alone() -> None:
    """The window infers shapes while a thread trains, and both share torch's generator."""
    import torch as real

    before = real.get_rng_state()
    sketch, start = image(6, 4)
    layer = sketch.add("LSTM", "lstm", {"layers": 2, "dropout": 0.5}, x=start)
    sketch.add("Linear", "dense", x=sketch.add("Dropout", "drop", x=layer))
    sketch.add("Conv2d", "conv", x=start)
    assert len(sketch.check().errors) == 1
    assert real.equal(before, real.get_rng_state())
