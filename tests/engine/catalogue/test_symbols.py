"""Expressions are built from objects; what they print is what they mean, and no text becomes code."""

from __future__ import annotations

import ast
import enum
import math as real_math
import sys

import numpy
import pytest

from engine.catalogue.symbols import (
    Expr,
    F,
    carried,
    equal,
    evaluate,
    lift,
    listing,
    mapping,
    name,
    nn,
    torch,
    without_defaults,
)
from engine.errors import EmitError


class Colour(enum.IntEnum):
    RED = 3


class Text(str):
    __slots__ = ()

    def __str__(self) -> str:
        return "something else"


LITERALS = [
    None,
    True,
    False,
    0,
    -3,
    2**53,
    0.5,
    -0.0,
    20e-12,
    -1e-300,
    "same",
    "it's",
    'say "hi"',
    "back\\slash",
    "two\nlines",
    "x'); __import__('os').system('id'); #",
    '"""',
    "\x00",
    "\ud800",
    "\u202eright to left",
    "层",
    (10, 128),
    ((10, 1), (12, 128)),
    (),
    (1,),
    [1, 2.5, "a"],
]


@pytest.mark.parametrize("value", LITERALS, ids=repr)
def test_a_literal_prints_as_itself_and_as_nothing_else(value: object) -> None:
    text = str(lift(value))
    back = ast.literal_eval(text)
    assert back == value
    assert repr(back) == repr(value)  # 1, 1.0 and True are equal, and three values
    text.encode("utf-8", "surrogatepass")


@pytest.mark.parametrize("value", [real_math.inf, -real_math.inf])
def test_infinity_is_written_as_python_reads_it(value: float) -> None:
    assert evaluate(lift(value), {}) == value


def test_not_a_number_is_written_as_python_reads_it() -> None:
    assert real_math.isnan(evaluate(lift(real_math.nan), {}))


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (numpy.float64(0.25), "0.25"),
        (Colour.RED, "3"),
        (Text("plain"), "'plain'"),
        (numpy.float64(-1), "-1.0"),
    ],
)
def test_subclasses_of_numbers_and_text_lose_their_class(value: object, written: str) -> None:
    assert str(lift(value)) == written


@pytest.mark.parametrize(
    "value",
    [object(), {1, 2}, {"a": 1}, b"bytes", 1j, print, numpy.zeros(2)],
    ids=lambda value: type(value).__name__,
)
def test_any_other_object_is_refused(value: object) -> None:
    with pytest.raises(EmitError, match="cannot be written as Python"):
        lift(value)


def test_calls_attributes_and_indices_print_as_a_person_writes_them() -> None:
    x = name("x")
    assert str(nn.Conv2d(1, 32, kernel_size=3)) == "nn.Conv2d(1, 32, kernel_size=3)"
    assert str(F.relu(name("self").conv(x))) == "F.relu(self.conv(x))"
    assert str(x[:, -1]) == "x[:, -1]"
    assert str(x[0]) == "x[0]"
    assert str(x.flatten(1)) == "x.flatten(1)"
    assert str(listing([x, 1])) == "[x, 1]"
    assert str(mapping({"loss": x})) == "{'loss': x}"
    assert str(equal(x, 3)) == "x == 3"


def test_operators_keep_their_order() -> None:
    a, b, c = name("a"), name("b"), name("c")
    values = {"a": 7.0, "b": 2.0, "c": 5.0}
    cases = [
        (a + b * c, 7 + 2 * 5),
        ((a + b) * c, (7 + 2) * 5),
        (a - (b - c), 7 - (2 - 5)),
        (1 - a, 1 - 7),
        (1 + a, 1 + 7),
        (2 * a, 14),
        (2 / b, 1),
        (-(a + b), -9),
        ((-a) ** 2, 49),
        (a / b / c, 7 / 2 / 5),
        (a / (b / c), 7 / (2 / 5)),
        (0.5 * (a + b), 4.5),
    ]
    for made, meant in cases:
        assert evaluate(made, values) == meant
        assert eval(str(made), {}, values) == meant, str(made)


def test_matrix_product_evaluates() -> None:
    import torch as real

    product = name("a") @ name("b")
    assert evaluate(product, {"a": real.ones(2, 3), "b": real.ones(3, 4)}).shape == (2, 4)


def test_an_expression_cannot_be_iterated() -> None:
    with pytest.raises(TypeError):
        list(name("x"))
    with pytest.raises(TypeError):
        _ = 3 in name("x")


@pytest.mark.parametrize("bad", ["", "a b", "x'); import os #", "class", "1x", "a.b", "a\nb", "None"])
def test_only_a_python_name_becomes_a_name(bad: str) -> None:
    with pytest.raises(EmitError, match="is not a Python name"):
        name(bad)
    with pytest.raises(EmitError, match="is not a Python name"):
        getattr(nn, bad)


@pytest.mark.parametrize(
    ("call", "kept"),
    [
        (nn.Linear(4, 2, bias=True), "nn.Linear(4, 2)"),
        (nn.Linear(4, 2, bias=False), "nn.Linear(4, 2, bias=False)"),
        (
            nn.Conv2d(1, 8, kernel_size=3, stride=1, padding=0, dilation=1, groups=1, bias=True),
            "nn.Conv2d(1, 8, kernel_size=3)",
        ),
        (nn.Conv2d(1, 8, kernel_size=1, padding="same"), "nn.Conv2d(1, 8, kernel_size=1, padding='same')"),
        (F.huber_loss(name("a"), name("b"), delta=1.0), "F.huber_loss(a, b)"),
        (F.huber_loss(name("a"), name("b"), delta=2.0), "F.huber_loss(a, b, delta=2.0)"),
        (F.max_pool2d(name("x"), 2, ceil_mode=True), "F.max_pool2d(x, 2, ceil_mode=True)"),
        (torch.optim.SGD(name("p"), momentum=0), "torch.optim.SGD(p)"),
        (name("f")(1, key=2), "f(1, key=2)"),
        (name("x"), "x"),
    ],
    ids=str,
)
def test_arguments_that_say_the_default_are_left_out(call: Expr, kept: str) -> None:
    assert str(without_defaults(call)) == kept


def test_one_is_not_taken_for_true() -> None:
    # nn.Linear(bias=1) works, but says something else than bias=True
    assert str(without_defaults(nn.Linear(1, 1, bias=1))) == "nn.Linear(1, 1, bias=1)"


def test_evaluating_sees_the_roots_and_no_builtins() -> None:
    assert evaluate(name("math").sqrt(4), {}) == 2
    for builtin in ("open", "__import__", "eval", "print"):
        with pytest.raises(NameError):
            evaluate(name(builtin), {})


def test_a_function_of_ours_is_called_by_its_name_and_goes_along() -> None:
    def twice(x: float) -> float:
        return 2 * x

    made = carried(twice)(name("x")) + 1
    assert str(made) == "twice(x) + 1"
    assert made.carries == {twice}
    assert evaluate(made, {"x": 3}) == 7
    assert (F.relu(made)).carries == {twice}
    assert listing([made]).carries == {twice}
    assert mapping({"a": made}).carries == {twice}
    assert lift((made, 1)).carries == {twice}


def test_numbers_too_long_to_print_are_not_made_by_the_checks() -> None:
    assert len(str(2**53)) < sys.get_int_max_str_digits()
