"""A function of one short expression stands in the place of its calls, and computes what it did."""

from __future__ import annotations

from typing import Any

import pytest

from tests.engine.emit.carried.test_specialise import cut, run

EVENLY = '''
def evenly(n, count):
    """So many of n."""
    return [one * count // n for one in range(n)]
'''


def joined(caller: str, function: str = EVENLY, rest: str = "result = spread(6)") -> tuple[str, Any]:
    """The only definition that is left, and what the script computes with it; it must be what it was."""
    made = cut([function, caller], rest)
    found = run([*made.texts], rest)
    assert found == run([function, caller], rest)
    return "\n\n".join(made.texts), found


def test_an_expression_stands_in_the_place_of_its_call() -> None:
    text, found = joined("def spread(n):\n    found = evenly(n, n)  # of all\n    return found + found")
    assert text == (
        "def spread(n):\n    found = [one * n // n for one in range(n)]  # of all\n    return found + found"
    )
    assert found == [0, 1, 2, 3, 4, 5] * 2


@pytest.mark.parametrize(
    "caller",
    [
        "def spread(n):\n    return evenly(n + 1, n + 2)",  # two arguments that are computed
        "def spread(n):\n    return evenly(n, len([n]))",  # one that would be computed again and again
        "def spread(one):\n    return evenly(3, one)",  # a variable that means something else inside
        "def spread(n):\n    range = n + 1\n    return evenly(n, range)",  # a name that does here
    ],
)
def test_it_stays_where_that_would_not_be_the_same(caller: str) -> None:
    assert "def evenly" in joined(caller)[0]


def test_a_function_that_the_script_calls_itself_stays() -> None:
    text, _ = joined("def spread(n):\n    return evenly(n, n)", rest="result = spread(4) + evenly(2, 2)")
    assert "def evenly" in text


def test_a_long_expression_within_another_stays_a_function() -> None:
    long = f"def evenly(n):\n    return [{', '.join(f'n + {at}' for at in range(12))}]"
    assert "def evenly" in joined("def spread(n):\n    return sum(evenly(n))", long)[0]
    assert "def evenly" not in joined("def spread(n):\n    return evenly(n)", long)[0]


DOC = '''
class Kept:
    """What is kept.

    It is kept for long, and longer. Source: Lin, 1992.
    """

    def read(self) -> int:
        """Read it.

        Whatever it is.
        """
        return 3
'''


def test_a_docstring_is_one_sentence_with_its_source() -> None:
    [text] = cut([DOC], "result = Kept().read()").texts
    assert '    """What is kept. Source: Lin, 1992."""\n' in text
    assert '        """Read it."""\n' in text


def test_a_default_behind_a_type_has_spaces() -> None:
    function = (
        "def scaled(x: int, by: int = 2, form: str = 'a') -> int:\n    return x * by if form == 'a' else by"
    )
    assert cut([function], "result = scaled(4, 3), scaled(5)").texts == (
        "def scaled(x: int, by: int = 2) -> int:\n    return x * by",
    )
