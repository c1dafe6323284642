"""Annotated texts: tokens, tags and answers stand where the words do, whatever pieces they are in."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.data.open.annotated import open_it
from engine.data.text.annotated import annotated_columns, annotated_rows
from engine.data.text.tokenisers import learned_words
from engine.data.watch import Watch
from engine.errors import DataError

TABLE = "first\tsecond\tmood\ttags\tanswer\n"
TABLE += "who ran ?\tthe old dog ran\tgood\tP V X D A N V\told dog\nhi\t\tbad\tI\t\n"


class Halves:
    """Words in two pieces: their first letter, and the rest where there is one."""

    def ids(self, text: str) -> object:
        import numpy as np

        return np.array([ord(text[0]), *([5] if len(text) > 1 else [])], np.int32)


def test_tags_stand_at_the_first_piece_of_a_word_and_the_answer_ends_at_its_last() -> None:
    rows = annotated_rows(TABLE, "a.tsv")
    found = annotated_columns(Halves(), rows, ("A", "D", "I", "N", "P", "V", "X"), 20)
    w, r, t, o, d = (ord(one) for one in "wrtod")
    assert found["tokens"][0].tolist() == [2, w, 5, r, 5, ord("?"), 3, t, 5, o, 5, d, 5, r, 5, 3, 0, 0, 0, 0]
    assert found["tags"][0].tolist() == [0, 5, 0, 6, 0, 7, 0, 2, 0, 1, 0, 4, 0, 6, 0, 0, 0, 0, 0, 0]
    assert (found["start"].tolist(), found["end"].tolist()) == ([9, 0], [12, 0])
    assert found["length"].tolist() == [16, 4]
    assert found["tokens"][1, :5].tolist() == [2, ord("h"), 5, 3, 0]


def test_what_is_cut_off_has_no_answer() -> None:
    rows = annotated_rows(TABLE, "a.tsv")
    words = learned_words(["who ran ? the old dog"], 20, False)
    whole, cut = (annotated_columns(words, rows, (), length) for length in (10, 7))
    assert (whole["start"][0], whole["end"][0]) == (6, 7)
    assert (cut["start"][0], cut["end"][0], cut["length"][0]) == (0, 0, 7)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("text\tmood\na\tb\n", 'no column "first"'),
        ("first\ttags\na b\tN\n", "line 2: there is not one tag for each word"),
        ("first\tmood\na\n", "line 2: there are not 2 cells"),
    ],
)
def test_what_a_file_lacks_is_said(text: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "a.tsv").write_text(text, encoding="utf-8")
    with pytest.raises((DataError, ValueError), match=said):
        open_it(tmp_path / "a.tsv", Watch())


def test_a_file_is_opened_with_its_classes_and_tags(tmp_path: Path) -> None:
    (tmp_path / "a.tsv").write_text(TABLE, encoding="utf-8")
    params = open_it(tmp_path / "a.tsv", Watch()).params
    assert params["kinds"] == ("mood: bad, good",) and params["tags"] == ("A", "D", "I", "N", "P", "V", "X")
    assert (params["count"], params["length"]) == (2, 10)
