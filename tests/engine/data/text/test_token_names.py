"""Tokens are named as loaders learned them, whatever the tokeniser; pieces say what they were joined from."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from engine.data.loading.node import read_node
from engine.data.open.opening import open_data
from engine.data.open.text import open_pairs
from engine.data.text.token_names import Vocabulary, named_tokens, token_rows, vocabularies, watched
from engine.data.text.tokenisers import learned_tokeniser
from engine.data.watch import Watch
from engine.document.graph import Graph, Link, Node, Project
from engine.emit.program import compile_program
from nodes.data.text_file import CHARACTERS, LabelledText, TextCorpus, TextPairs
from tests.engine.sketches import catalogue
from tests.gallery.recipes import FILES

WAYS = ("characters", "words", "BPE", "WordPiece")


def read_back(made: Any, column: str, row: int = 0) -> list[str]:
    """The tokens of a row of training, by their names."""
    node = Node("n1", made.type_id, params={spec.name: getattr(made, spec.name) for spec in made.params})
    splits = read_node(node, catalogue())
    found = made.column(column)
    return [found.classes[token] for token in splits["train"][column][row].tolist()]


@pytest.mark.parametrize("way", WAYS)
def test_a_corpus_reads_back_in_its_tokens(way: str) -> None:
    opened = open_data(FILES / "story.txt").params
    made = TextCorpus({**opened, "tokeniser": way, "size": 90, "length": 12, "stride": 7})
    words = read_back(made, "tokens")
    text = (FILES / "story.txt").read_text(encoding="utf-8")
    joined = "".join(words).replace("␣", " ").replace("⏎", "\n")
    if way in ("characters", "BPE"):
        assert text.startswith(joined.replace("[unknown]", "")) and len(joined) >= 12
    else:
        first = next(word for word in words if word.isalpha())
        assert first in text
    assert not any(word.isdigit() for word in words)
    assert len(made.column("tokens").classes) == 90  # type: ignore[union-attr]


def test_before_reading_tokens_have_numbers_and_a_stored_name() -> None:
    opened = open_data(FILES / "story.txt").params
    made = TextCorpus({**opened, "tokeniser": "BPE", "size": 61, "validation": 0.17})
    assert vocabularies(made.learned_key()) == () and made.columns()[0].classes[60] == "60"
    assert TextCorpus(opened).columns()[0].classes[:6] == (
        "[pad]",
        "[unknown]",
        "[begin]",
        "[end]",
        "[mask]",
        "⏎",
    )


@pytest.mark.parametrize("way", WAYS[1:])
def test_labelled_texts_read_back_in_their_tokens(way: str) -> None:
    opened = open_data(FILES / "reviews.jsonl").params
    made = LabelledText({**opened, "tokeniser": way, "size": 120, "validation": 0.21})
    words = [word for word in read_back(made, "tokens") if word != "[pad]"]
    text = (FILES / "reviews.jsonl").read_text(encoding="utf-8")
    joined = "".join(words).replace("␣", " ") if way == "BPE" else " ".join(words).replace(" ##", "")
    assert len(joined) > 5 and joined in text


def test_pairs_have_a_vocabulary_each() -> None:
    opened = open_pairs(FILES / "pairs.tsv", Watch()).params
    made = TextPairs({**opened, "size": 80, "target_size": 70, "validation": 0.22})
    source, target = read_back(made, "source"), read_back(made, "target")
    assert target[0] == "[begin]" and source[0] not in ("[begin]", "[pad]")
    lines = (FILES / "pairs.tsv").read_text(encoding="utf-8").splitlines()
    left, right = (" ".join(words) for words in (source[:1], target[1:2]))
    assert any(left in line.split("\t")[0] and right in line.split("\t")[1] for line in lines)
    assert len(made.column("next").classes) == 70  # type: ignore[union-attr]


def test_what_a_run_reads_names_the_tokens() -> None:
    opened = {**open_data(FILES / "story.txt").params, "tokeniser": "words", "size": 50, "length": 8}
    nodes = [
        Node("n1", "TextCorpus", params={**opened, "test": 0.13}),
        Node("n2", "Embedding", params={"entries": 50, "size": 4}),
        Node("n3", "Linear", params={"units": 50}),
        Node("n4", "CrossEntropy"),
    ]
    links = [
        Link("n1", "tokens", "n2", "x"),
        Link("n2", "output", "n3", "x"),
        Link("n3", "output", "n4", "prediction"),
        Link("n1", "next", "n4", "target"),
    ]
    program = compile_program(Project(graph=Graph(nodes, links), next_id=5), catalogue())
    made = TextCorpus(nodes[0].params)
    assert made.columns()[0].classes[10] == "10"
    program.load(Path())
    assert made.columns()[0].classes[5].isalpha() and made.columns()[0].classes[0] == "[pad]"


@pytest.mark.parametrize("way", WAYS)
def test_what_is_typed_becomes_the_row_that_reading_makes(way: str) -> None:
    opened = open_data(FILES / "reviews.jsonl").params
    made = LabelledText({**opened, "tokeniser": way, "size": 99, "validation": 0.23, "ends": True})
    assert made.typed("tokens", "a dull film 3") is None
    params = {spec.name: getattr(made, spec.name) for spec in made.params}
    train = read_node(Node("n1", "LabelledText", params=params), catalogue())["train"]
    texts = [json.loads(line) for line in (FILES / "reviews.jsonl").read_text("utf-8").splitlines()]
    rows = [made.typed("tokens", str(one[opened["text"]])) for one in texts]
    for at in range(len(train["tokens"])):
        fitting = [row for row in rows if row and row["tokens"].tolist() == train["tokens"][at].tolist()]
        assert fitting and fitting[0]["mask"].tolist() == train["mask"][at].tolist()
        assert int(fitting[0]["length"]) == int(train["length"][at])
    assert made.typed("label", "a dull film 3") is None


def test_a_parameter_that_changes_what_is_learned_forgets_the_names() -> None:
    one = TextCorpus({"path": "/a.txt", "size": 70})
    assert one.learned_key() == TextCorpus({"path": "/a.txt", "size": 70, "length": 9}).learned_key()
    for change in ({"lower": True}, {"size": 71}, {"tokeniser": "BPE"}, {"validation": 0.2}, {"stamp": "x"}):
        other = TextCorpus({"path": "/a.txt", "size": 70, **change})
        assert other.learned_key() != one.learned_key()
    assert one.tokeniser == CHARACTERS


def test_pieces_say_what_they_were_joined_from() -> None:
    made = learned_tokeniser(["abab abab ab c"], way="BPE", size=12)
    found = Vocabulary(tuple(made.tokens), tuple(made.merges))
    counts = np.bincount(made.ids("abab c"), minlength=12)
    rows = token_rows(found, counts)
    assert [row[0] for row in rows] == list(range(len(made.tokens)))
    by_name = {row[1]: row for row in rows}
    assert by_name["ab"][2] == "a + b" and by_name["a"][2] == "" and by_name["[mask]"][2:] == ("", 0)
    assert by_name["␣"][3] + by_name.get("␣c", (0, "", "", 0))[3] == 1
    assert sum(row[3] for row in rows) == len(made.ids("abab c"))


def test_names_are_as_many_as_numbers_and_none_is_twice() -> None:
    tokens = ["[pad]", "[unknown]", "[begin]", "[end]", "[mask]", "a", " ", "\n"]
    assert named_tokens(tokens, 10)[5:] == ("a", "␣", "⏎", "[unused 1]", "[unused 2]")
    assert named_tokens(tokens, 7) == () and named_tokens(tokens, 10, most=9) == ()


def test_a_loader_that_learns_nothing_is_left_alone() -> None:
    assert watched({"file": "a"}, None) == {"file": "a"} and watched({"learn": str}, None) == {"learn": str}
