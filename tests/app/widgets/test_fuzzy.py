"""Letters that find names."""

from __future__ import annotations

import pytest

from app.widgets.fuzzy import score


@pytest.mark.parametrize(
    ("query", "name"),
    [
        ("", "Save"),
        ("sav", "Save"),
        ("as save", "Save as"),
        ("cnv2", "Add Conv 2-D"),
        ("fsel", "Frame selection"),
    ],
)
def test_what_fits(query: str, name: str) -> None:
    assert score(query, name) is not None


@pytest.mark.parametrize(
    ("query", "name"),
    [("x", "Save"), ("save z", "Save as"), ("evas", "Save")],
)
def test_what_does_not(query: str, name: str) -> None:
    assert score(query, name) is None


def test_better_fits_come_first() -> None:
    names = ["Unsaved", "Save as", "Leave as vector", "Do save"]
    order = sorted((found, name) for name in names if (found := score("save", name)) is not None)
    assert [name for _, name in order][:2] == ["Save as", "Do save"]
    assert order[-1][1] in ("Leave as vector", "Unsaved")


def test_other_words_count_by_their_beginnings_and_less() -> None:
    assert score("fc", "Add Linear", "dense fc") is not None
    assert score("ense", "Add Linear", "dense fc") is None
    plain, other = score("linear", "Add Linear"), score("dense", "Add Linear", "dense fc")
    assert plain is not None and other is not None and plain < other
