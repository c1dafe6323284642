"""Names as people type them become identifiers that mean nothing else."""

from __future__ import annotations

import builtins
import keyword

import pytest
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from engine.catalogue.identifiers import LAYER_NAMES, LONGEST, MODULE_NAMES, NameBook, slug, taken


def test_the_names_of_a_module_are_those_of_this_torch() -> None:
    assert {name for name in dir(nn.Module()) if not name.startswith("_")} == LAYER_NAMES


@pytest.mark.parametrize(
    ("text", "identifier"),
    [
        ("conv1", "conv1"),
        ("Conv 1 (a)", "conv_1_a"),
        ("1 new name!", "layer_1_new_name"),
        ("class", "class_"),
        ("lambda", "lambda_"),
        ("match", "match_"),
        ("None", "none"),
        ("input", "input_"),
        ("self", "self_"),
        ("forward", "forward_"),
        ("nn", "nn_"),
        ("F", "f"),
        ("torch", "torch_"),
        ("x", "x_"),
        ("tap", "tap_"),
        ("train", "train_"),
        ("next", "next_"),
        ("Ünïcode", "unicode"),
        ("naïve ﬁlter", "naive_filter"),
        ("层", "dense"),
        ("", "dense"),
        ("___", "dense"),
        ("!?", "dense"),
        ("\ud800", "dense"),
        ("x'); __import__('os').system('id'); #", "x_import_os_system_id"),
        ("a\nb\x00c", "a_b_c"),
        ("\u202eabc", "abc"),
        ("\U0001d518\U0001d52b\U0001d526", "uni"),
    ],
)
def test_what_a_name_becomes(text: str, identifier: str) -> None:
    assert NameBook().give(text, "Dense") == identifier


def test_a_name_of_300_letters_is_cut() -> None:
    assert NameBook().give("a" * 300) == "a" * LONGEST
    assert len(NameBook().give("é" * 300)) == LONGEST


def test_where_not_even_the_title_is_left_there_is_a_name() -> None:
    assert NameBook().give("层", "層") == "node"
    assert slug("层") == "node"
    assert slug("") == "node"


def test_equal_names_are_numbered() -> None:
    book = NameBook()
    assert [book.give("conv") for _ in range(3)] == ["conv", "conv_2", "conv_3"]
    assert [book.give("class") for _ in range(2)] == ["class_", "class_2"]
    assert book.give("conv 2") == "conv_2_2"


def test_names_that_differ_only_after_the_cut_are_kept_apart() -> None:
    book = NameBook()
    assert book.give("a" * 300 + "b") != book.give("a" * 300 + "c")


@given(st.lists(st.text(), min_size=1, max_size=8))
def test_any_names_give_different_free_identifiers(texts: list[str]) -> None:
    book = NameBook(("batch",))
    given_names = [book.give(text, "Layer") for text in texts]
    assert len(set(given_names)) == len(given_names)
    for name in given_names:
        assert name.isidentifier() and name.isascii() and not keyword.iskeyword(name)
        assert not hasattr(builtins, name) and name not in LAYER_NAMES and name not in MODULE_NAMES
        assert not taken(name)
