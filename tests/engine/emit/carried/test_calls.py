"""Calls in statements of a script, whole or in pieces, lose what a definition does not take any more."""

from __future__ import annotations

import pytest

from engine.catalogue.symbols import name
from engine.emit.carried.calls import unreadable, with_cuts
from engine.emit.carried.specialise import Cut
from engine.emit.statements import Statement, under

CUTS = {"f": [Cut(("a", "kind"), frozenset({"a", "kind", "word"}), frozenset({"kind", "word"}))]}


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("x = f(1, 'k')", "x = f(1)"),
        ("for one in f(1, 'k'):", "for one in f(1):"),
        ("def g(a=f(2, 'k')) -> int:", "def g(a=f(2)) -> int:"),
        ("Player(f(1, 'k'), 2),", "Player(f(1), 2),"),
        ('"key": f(1, word=3),', "'key': f(1),"),
        ("key=f(1, 'k', word=3),", "key=f(1),"),
        ("x = f(f(1, 'k'), 'k')", "x = f(f(1))"),
        ("x = h(1, 'k')", "x = h(1, 'k')"),
    ],
)
def test_a_piece_stays_what_it_is(code: str, expected: str) -> None:
    [found] = with_cuts([Statement(code)], CUTS)
    assert found.plain == expected


def test_both_readings_and_what_stands_inside_are_cut() -> None:
    call = name("f")(name("x"), "k")
    part = [under("if x:", [Statement(call, name("tap")("n1", call), target="return")])]
    [found] = with_cuts(part, CUTS)
    assert (found.body[0].plain, found.body[0].run) == ("return f(x)", "return tap('n1', f(x))")


def test_a_piece_that_cannot_be_read_is_told() -> None:
    part = [Statement("x = f(1,"), Statement("y = g(2)")]
    assert unreadable([part], {"f", "g"}) == {"f"}
