"""Plain values, their order, and the strict reader of fields."""

from __future__ import annotations

import pytest

from engine.document.fields import Fields
from engine.document.graph import Graph, Node
from engine.document.names import fresh_name
from engine.errors import GraphError, ProjectFileError
from engine.values import frozen, frozen_mapping, natural


def test_names_with_numbers_sort_by_number_and_every_text_has_its_place() -> None:
    texts = ["", "10", "9", "n", "n1", "n01", "n2", "n10", "x", "x" + "9" * 5000, "x1", "n٣"]
    ordered = sorted(texts, key=natural)
    assert ordered.index("n1") < ordered.index("n2") < ordered.index("n10")
    assert ordered.index("9") < ordered.index("10")
    assert ordered.index("x1") < ordered.index("x" + "9" * 5000)
    assert len({natural(text) for text in texts}) == len(texts)


def test_values_become_immutable_and_mappings_ordered() -> None:
    assert frozen([1, [2.5, "x", None], True]) == (1, (2.5, "x", None), True)
    assert list(frozen_mapping({"b": 1, "a": [2]}).items()) == [("a", (2,)), ("b", 1)]
    with pytest.raises(GraphError, match="name is text"):
        frozen_mapping({1: 2})  # type: ignore[dict-item]


def test_subclasses_of_numbers_become_plain_numbers() -> None:
    numpy = pytest.importorskip("numpy")
    value = frozen(numpy.float64(0.1))
    assert (type(value), repr(value)) == (float, "0.1")


def test_a_fresh_name_is_the_first_free_number() -> None:
    graph = Graph([Node("n1", "C", "conv1"), Node("n2", "C", "conv3"), Node("n3", "C", "conv")])
    assert fresh_name(graph, "conv") == "conv2"
    assert fresh_name(graph, "dense") == "dense1"


def test_fields_are_read_once_with_their_types_and_the_rest_is_kept() -> None:
    fields = Fields({"a": "x", "b": 2, "c": None, "d": True, "e": [1, 2.5], "z": 9, "y": 8}, "it")
    assert (fields.text("a"), fields.whole("b"), fields.whole_or_none("c"), fields.flag("d")) == (
        "x",
        2,
        None,
        True,
    )
    assert fields.point("e") == (1.0, 2.5)
    assert fields.whole_or_none("missing", 4) == 4
    assert list(fields.rest()) == ["z", "y"]


@pytest.mark.parametrize(
    ("value", "kind"),
    [(None, "nothing"), (True, "true or false"), (1, "a number"), ([], "a list"), ({}, "an object")],
)
def test_a_field_of_another_type_is_refused_in_plain_words(value: object, kind: str) -> None:
    with pytest.raises(ProjectFileError, match=f'it: "a" should be text, not {kind}'):
        Fields({"a": value}, "it").text("a")
