"""A parameter is read from text or refused with a sentence; it is never replaced in silence."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.catalogue.params import Ints, Pair, ParamSpec, collect, param
from engine.catalogue.training.optimisers import OPTIMISERS, SCHEDULES
from engine.catalogue.training.penalties import PENALTIES
from engine.errors import ParamError
from engine.values import Value
from tests.engine.sketches import catalogue

WHOLE = ParamSpec("units", "int", 64, minimum=1)
NUMBER = ParamSpec("lr", "float", 0.1, above=0)
SHARE = ParamSpec("share", "float", 0.5, minimum=0, below=1)
PAIR = ParamSpec("kernel", "pair", 3, minimum=1)
PADDING = ParamSpec("padding", "pair", 0, minimum=0, words=("valid", "same"))
SIZES = ParamSpec("shape", "ints", (1, 28, 28), minimum=-1)
YES = ParamSpec("bias", "bool", True)
CHOICE = ParamSpec("activation", "choice", "none", choices=("none", "ReLU", "hard tanh"))
TEXT = ParamSpec("path", "text", "")
STRIDE = ParamSpec("stride", "pair", None, minimum=1, optional=True)
FREE = ParamSpec("offset", "float", 0.0)


@pytest.mark.parametrize(
    ("spec", "text", "value"),
    [
        (WHOLE, "64", 64),
        (WHOLE, " 64 ", 64),
        (WHOLE, "\t64\n", 64),
        (WHOLE, "1e3", 1000),
        (WHOLE, "64.0", 64),
        (WHOLE, "٣", 3),
        (WHOLE, "1_000", 1000),
        (WHOLE, "4096", 4096),
        (NUMBER, "1e-3", 0.001),
        (NUMBER, ".5", 0.5),
        (NUMBER, "1", 1.0),
        (NUMBER, " 2.5e-12 ", 2.5e-12),
        (NUMBER, "100000000000000000000", 1e20),
        (FREE, "-1", -1.0),
        (SHARE, "0", 0.0),
        (PAIR, "3", 3),
        (PAIR, "3 x 5", (3, 5)),
        (PAIR, "3×5", (3, 5)),
        (PAIR, "(3, 5)", (3, 5)),
        (PAIR, "3,5", (3, 5)),
        (PAIR, "3 3", 3),
        (PADDING, "same", "same"),
        (PADDING, " Same ", "same"),
        (PADDING, "1 2", (1, 2)),
        (SIZES, "1 28 28", (1, 28, 28)),
        (SIZES, "[1, 28, 28]", (1, 28, 28)),
        (SIZES, "-1", (-1,)),
        (SIZES, "3×32×32", (3, 32, 32)),
        (YES, "yes", True),
        (YES, "OFF", False),
        (CHOICE, "ReLU", "ReLU"),
        (CHOICE, "relu", "ReLU"),
        (TEXT, " kept as it is ", " kept as it is "),
        (STRIDE, "", None),
        (STRIDE, "none", None),
        (STRIDE, "2", 2),
    ],
)
def test_text_gives_the_value_a_person_means(spec: ParamSpec, text: str, value: Value) -> None:
    found = spec.parse(text)
    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize(
    ("spec", "text"),
    [
        (WHOLE, ""),
        (WHOLE, "   "),
        (WHOLE, "abc"),
        (WHOLE, "-1"),
        (WHOLE, "0"),
        (WHOLE, "0,5"),
        (WHOLE, "0.5"),
        (WHOLE, "1e400"),
        (WHOLE, "0x10"),
        (WHOLE, "nan"),
        (WHOLE, "1 000"),
        (WHOLE, "9" * 5000),
        (WHOLE, "9" * 4000),
        (WHOLE, "6;4"),
        (NUMBER, "0,5"),
        (NUMBER, "1e400"),
        (NUMBER, "-1e400"),
        (NUMBER, "nan"),
        (NUMBER, "inf"),
        (NUMBER, "0"),
        (NUMBER, "-1"),
        (NUMBER, "abc"),
        (NUMBER, "0x10"),
        (NUMBER, "1" * 400),
        (NUMBER, "a" * 100_000),
        (SHARE, "1"),
        (SHARE, "-0.1"),
        (PAIR, "3 4 5"),
        (PAIR, "0"),
        (PAIR, "3.5"),
        (PAIR, "same"),
        (PAIR, "x"),
        (PADDING, "full"),
        (SIZES, ""),
        (SIZES, "()"),
        (SIZES, "-2"),
        (SIZES, "1 a 2"),
        (YES, "maybe"),
        (YES, "2"),
        (CHOICE, "swish"),
        (TEXT, "a" * 20_000),
        (STRIDE, "0"),
    ],
)
def test_text_that_is_no_value_is_refused_in_one_short_sentence(spec: ParamSpec, text: str) -> None:
    with pytest.raises(ParamError) as error:
        spec.parse(text)
    message = error.value.message
    assert message.startswith(spec.title)
    assert message.endswith(".")
    assert len(message) < 300
    assert "\n" not in message


def test_a_decimal_comma_is_pointed_out() -> None:
    with pytest.raises(ParamError, match="with a point"):
        NUMBER.parse("0,5")


@pytest.mark.parametrize(
    ("spec", "value"),
    [
        (WHOLE, True),
        (WHOLE, 2.0),
        (WHOLE, "64"),
        (WHOLE, None),
        (WHOLE, math.inf),
        (WHOLE, 10**400),
        (WHOLE, (1,)),
        (NUMBER, True),
        (NUMBER, "0.1"),
        (NUMBER, 10**400),
        (NUMBER, math.nan),
        (PAIR, (1, True)),
        (PAIR, (1, 2, 3)),
        (PAIR, True),
        (PAIR, "same"),
        (SIZES, ()),
        (SIZES, (1, 2.0)),
        (SIZES, True),
        (YES, 1),
        (YES, "yes"),
        (CHOICE, 1),
        (CHOICE, "relu"),
        (CHOICE, (1, 2)),
        (TEXT, 3),
    ],
)
def test_a_value_of_another_kind_is_refused(spec: ParamSpec, value: Value) -> None:
    with pytest.raises(ParamError) as error:
        spec.check(value)
    assert len(error.value.message) < 300


def test_whole_numbers_become_floats_where_floats_are_meant() -> None:
    assert repr(NUMBER.check(1)) == "1.0"


KINDS = ("int", "float", "bool", "choice", "pair", "ints", "floats", "text", "path", "names", "rows")


@pytest.mark.parametrize("node_type", catalogue().types(), ids=lambda found: found.type_id)
def test_every_default_is_allowed_and_survives_its_own_field(node_type: type) -> None:
    for spec in node_type.params:
        assert spec.kind in KINDS
        assert spec.check(spec.default) == spec.default
        if spec.kind != "rows":  # a table has a panel of its own
            assert spec.parse(spec.format(spec.default)) == spec.default
        assert spec.doc, f"{spec.name} has no help"


@pytest.mark.parametrize(
    "chosen",
    [*OPTIMISERS.values(), *SCHEDULES.values(), *PENALTIES.values()],
    ids=lambda found: found.__name__,
)
def test_every_default_of_a_plan_survives_its_own_field(chosen: type) -> None:
    for spec in chosen.params:
        assert spec.parse(spec.format(spec.default)) == spec.default
        assert spec.doc


MEANS = ParamSpec("means", "floats", (0.0,), label="Means")


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("0.485, 0.456, 0.406", (0.485, 0.456, 0.406)),
        ("0.5; 1e-3", (0.5, 0.001)),
        (" 3 ", (3.0,)),
        ("(1 2)", (1.0, 2.0)),
    ],
)
def test_lists_of_numbers(text: str, value: tuple[float, ...]) -> None:
    assert repr(MEANS.parse(text)) == repr(value)
    assert MEANS.parse(MEANS.format(value)) == value


@pytest.mark.parametrize("text", ["0,5", "abc", "1 1e400", "", ","])
def test_what_is_no_list_of_numbers_is_said_to_be_none(text: str) -> None:
    with pytest.raises(ParamError, match=r"^Means needs numbers with spaces between them.*\.$"):
        MEANS.parse(text)


@given(st.text(max_size=40))
def test_no_text_does_anything_but_give_a_value_or_a_sentence(text: str) -> None:
    for spec in (WHOLE, NUMBER, SHARE, PAIR, PADDING, SIZES, MEANS, YES, CHOICE, STRIDE):
        try:
            value = spec.parse(text)
        except ParamError as error:
            assert error.message.endswith(".")
        else:
            assert spec.parse(spec.format(value)) == value


@given(st.floats(min_value=5e-324, allow_infinity=False))
def test_a_number_survives_its_field_to_the_last_bit(value: float) -> None:
    assert NUMBER.parse(NUMBER.format(value)) == value


class Declared:
    """Annotations as text, as all our modules have them."""

    units: int = param(1)
    rate: float | None = param(None)
    kernel: Pair = param(3)
    stride: Pair | None = param(None)
    shape: Ints = param((1,))
    path: str = param("")
    mode: str = param("a", choices=("a", "b"))


def test_the_annotation_gives_the_kind() -> None:
    assert [(spec.name, spec.kind, spec.optional) for spec in collect(Declared)] == [
        ("units", "int", False),
        ("rate", "float", True),
        ("kernel", "pair", False),
        ("stride", "pair", True),
        ("shape", "ints", False),
        ("path", "text", False),
        ("mode", "choice", False),
    ]


def test_annotations_that_python_has_evaluated_are_read_alike() -> None:
    """A third party's module may lack `from __future__ import annotations`."""
    annotations = {"units": int, "rate": float | None, "kernel": Pair, "stride": Pair | None, "shape": Ints}
    body = {name: param(1) for name in annotations}
    found = collect(type("Evaluated", (), {"__annotations__": annotations, **body}))
    assert [(spec.kind, spec.optional) for spec in found] == [
        ("int", False),
        ("float", True),
        ("pair", False),
        ("pair", True),
        ("ints", False),
    ]


def test_an_annotation_that_means_no_kind_is_an_error_of_the_author() -> None:
    with pytest.raises(TypeError, match="no kind of parameter"):
        collect(type("Wrong", (), {"__annotations__": {"x": dict}, "x": param(1)}))
