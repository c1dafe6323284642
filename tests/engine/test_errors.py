"""What an error says of itself."""

from __future__ import annotations

import pytest

from engine.document.shipped import reading
from engine.errors import DataError, kind_and_reason, reason_of
from engine.shapes.plain_words import plainly


class Unspeakable(Exception):
    def __str__(self) -> str:
        raise RuntimeError


def caught(error: BaseException) -> BaseException:
    try:
        raise error
    except type(error) as found:
        return found


def test_an_error_with_text_says_it() -> None:
    assert reason_of(ValueError("  Too few rows.\n")) == "Too few rows."
    assert kind_and_reason(ValueError("Too few rows.")) == "ValueError: Too few rows."
    assert kind_and_reason(DataError("Too few rows.")) == "Too few rows."


@pytest.mark.parametrize(
    "error", [ValueError(), ValueError(" "), MemoryError(), Unspeakable(), AssertionError("")]
)
def test_an_error_without_text_is_told_by_its_type_and_place(error: BaseException) -> None:
    found = reason_of(caught(error))
    assert found == kind_and_reason(error)
    assert found.startswith(f"{type(error).__name__} without a message (test_errors.py, line ")
    assert reason_of(type(error)()) == f"{type(error).__name__} without a message"  # never raised: no place


def test_a_missing_key_is_told_as_one() -> None:
    assert reason_of(KeyError("load")) == kind_and_reason(KeyError("load")) == "KeyError: 'load'"


def test_a_loader_without_words_still_gives_a_sentence() -> None:
    with pytest.raises(DataError, match="ValueError without a message"), reading("a"):
        raise ValueError


def test_no_cause_is_guessed_for_an_error_without_text() -> None:
    assert plainly(ValueError(), {}) == "ValueError without a message."


@pytest.mark.parametrize("error", [MemoryError(), RuntimeError("DefaultCPUAllocator: can't allocate memory")])
def test_memory_that_runs_out_in_a_loader_is_no_matter_of_the_batch(error: BaseException) -> None:
    with pytest.raises(DataError) as caught, reading("a"):
        raise error
    assert caught.value.message == "These data do not fit into memory." and caught.value.node_id == "a"
    assert "batch" not in str(caught.value)
