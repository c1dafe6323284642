"""Find: by name, type, id, parameter and text, the best first, in every scope."""

from __future__ import annotations

import pytest

from engine.catalogue import load_catalogue
from engine.catalogue.find import find
from engine.document.dressing import Frame, Note
from engine.document.graph import Block, Graph, Node, Project


@pytest.fixture
def project() -> Project:
    inner = Graph([Node("n20", "Conv2d", "inner conv", {"filters": 8}), Node("n21", "ReLU", "bend")])
    return Project(
        graph=Graph(
            [
                Node("n1", "Mnist", "digits"),
                Node("n2", "Conv2d", "conv1", {"filters": 64, "activation": "relu"}),
                Node("n3", "Conv2d", "conv2", {"kernel": (3, 5)}),
                Node("n4", "Linear", "relu-free head", {"units": 10}),
                Node("n5", "Dropout", "", {"share": 0.25}),
                Node("n6", "Mystery", "odd", {"colour": "teal"}),
                Node("n12", "Block", "", {"block": "b7"}),
            ]
        ),
        blocks={"b7": Block("b7", "Residual", inner)},
        frames={"f8": Frame("f8", "Feature extractor", "blue", frozenset({"n2", "n3"}))},
        notes_on_canvas={"t9": Note("t9", "# Why\nbecause digits are **small**", scope="b7")},
        next_id=30,
    )


def ids(project: Project, query: str) -> list[str]:
    return [found.id for found in find(project, query, load_catalogue())]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("n12", ["n12"]),
        ("conv1", ["n2"]),
        ("CONV", ["n2", "n3", "n20"]),
        ("filters=64", ["n2"]),
        ("filters = 64", []),  # three words, as in any other search
        ("filters=32", ["n3"]),  # the default counts as well
        ("filters>=32", ["n2", "n3"]),
        ("filters<32", ["n20"]),
        ("conv filters!=64", ["n3", "n20"]),
        ("kernel=3x5", ["n3"]),
        ("kernel=3", ["n2", "n20"]),
        ("share=.25", ["n5"]),
        ("units=ten", []),
        ("units>ten", []),
        ("activation=relu", ["n2"]),
        ("colour=teal", ["n6"]),  # of a type that is not known
        ("teal", ["n6"]),
        ("mystery", ["n6"]),
        ("residual", ["n12", "b7"]),
        ("extractor feature", ["f8"]),
        ("small", ["t9"]),
        ("conv digits", []),
        ("", []),
        ("  ", []),
        ("drpout", ["n5"]),  # letters left out, where nothing else matches
        ("dense", ["n4"]),
    ],
)
def test_what_a_query_finds(project: Project, query: str, expected: list[str]) -> None:
    assert ids(project, query) == expected


def test_a_name_comes_before_a_type_and_a_type_before_a_value(project: Project) -> None:
    # n4 by its name, n21 by its type, n2 by its activation
    assert ids(project, "relu") == ["n4", "n21", "n2"]


def test_what_is_found_says_where_it_is_and_why(project: Project) -> None:
    one = find(project, "filters=8", load_catalogue())[0]
    assert (one.scope, one.kind, one.id, one.title) == ("b7", "node", "n20", "inner conv")
    assert one.why == "Filters 8"
    note = find(project, "small", load_catalogue())[0]
    assert (note.scope, note.kind, note.title) == ("b7", "note", "# Why")
    unnamed = find(project, "n5", load_catalogue())[0]
    assert unnamed.title == "Dropout"


def test_equal_matches_come_in_order_of_their_numbers(project: Project) -> None:
    assert ids(project, "conv2d") == ["n2", "n3", "n20"]
