"""Text nodes: what they say before a file is read, and layers that are too small for a vocabulary."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.data.open.opening import open_data
from engine.document.graph import Graph, Link, Node, Project
from engine.errors import ParamError
from engine.shapes.shapes import check
from nodes.data.series_file import SeriesFile
from nodes.data.text_file import LabelledText, TextCorpus, TextPairs
from tests.engine.sketches import catalogue

STORY = Path(__file__).parents[2] / "data_files" / "story.txt"


def test_the_vocabulary_is_known_before_the_data_are_read() -> None:
    params = open_data(STORY).params
    made = TextCorpus(params)
    assert len(made.columns()[0].classes) == made.size == params["size"]
    assert made.columns()[0].classes[:6] == ("[pad]", "[unknown]", "[begin]", "[end]", "[mask]", "⏎")
    assert len(TextCorpus({**params, "tokeniser": "BPE", "size": 50}).columns()[1].classes) == 50


@pytest.mark.parametrize("tokeniser", ["characters", "BPE"])
def test_a_table_that_is_too_small_for_the_tokens_is_an_error_before_training(tokeniser: str) -> None:
    params = {**open_data(STORY).params, "tokeniser": tokeniser}
    size = int(str(params["size"]))
    nodes = [
        Node("n1", "TextCorpus", params=params),
        Node("n2", "Embedding", "table", {"entries": size - 1, "size": 4}),
        Node("n3", "Linear", "scores", {"units": size - 1}),
        Node("n4", "CrossEntropy", "loss"),
    ]
    links = [
        Link("n1", "tokens", "n2", "x"),
        Link("n2", "output", "n3", "x"),
        Link("n3", "output", "n4", "prediction"),
        Link("n1", "next", "n4", "target"),
    ]
    found = check(Project(title="t", graph=Graph(nodes, links), next_id=5), catalogue()).errors
    assert {problem.node_id for problem in found} == {"n2", "n4"}


@pytest.mark.parametrize("kind", [SeriesFile, TextCorpus, LabelledText, TextPairs])
def test_without_a_file_it_says_so(kind: type[TextCorpus]) -> None:
    assert kind().summary() == "no file yet"
    with pytest.raises(ParamError, match="No file is chosen yet"):
        kind().emit(None)  # type: ignore[arg-type]


def test_one_text_has_one_order() -> None:
    with pytest.raises(ParamError, match="One text has one order"):
        TextCorpus({"path": str(STORY), "split": "random"}).emit(None)  # type: ignore[arg-type]
