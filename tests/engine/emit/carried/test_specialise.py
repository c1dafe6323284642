"""Carried definitions lose what a script never uses, and do what they did: held to running them whole."""

from __future__ import annotations

import ast
import textwrap
from typing import Any

import pytest

from engine.emit.carried.specialise import Specialised, specialised

LOSS = '''
def loss_of(real, made, form, smoothing=0.0):
    """The loss.

    `form` is one of several.
    """
    if form == "hinge":
        return max(0, 1 - real) + max(0, 1 + made)
    if form in ("squares", "least squares"):
        return (real - (1 - smoothing)) ** 2  # of both
    return real - made
'''


def cut(texts: list[str], rest: str, fixed: frozenset[str] = frozenset()) -> Specialised:
    return specialised([textwrap.dedent(one).strip("\n") for one in texts], ast.parse(rest), fixed)


def changed(rest: str, made: Specialised) -> str:
    """The rest of a script with its calls as the definitions now take them."""
    tree = ast.parse(rest)
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            for one in made.calls.get(node.func.id, ()):
                one.applied(node)
    return ast.unparse(tree)


def run(texts: list[str], rest: str) -> Any:
    names: dict[str, Any] = {}
    exec("\n\n".join([*(textwrap.dedent(one) for one in texts), rest]), names)
    return names["result"]


def test_a_switch_that_is_always_the_same_goes_with_its_branches() -> None:
    made = cut([LOSS], 'result = loss_of(2.0, 1.0, "least squares")')
    assert made.texts == ('def loss_of(real):\n    """The loss."""\n    return (real - 1.0) ** 2  # of both',)
    assert changed('result = loss_of(2.0, 1.0, "least squares")', made) == "result = loss_of(2.0)"


def test_a_switch_that_differs_stays() -> None:
    rest = 'result = [loss_of(2.0, 1.0, "hinge"), loss_of(2.0, 1.0, "plain")]'
    made = cut([LOSS], rest)
    assert "form" in made.texts[0] and "smoothing" not in made.texts[0]
    assert run([*made.texts], changed(rest, made)) == run([LOSS], rest)


def test_a_number_that_is_given_stays_a_parameter() -> None:
    made = cut(["def scaled(x, by):\n    return x * by"], "result = scaled(2, 3)")
    assert made.texts == ("def scaled(x, by):\n    return x * by",) and not made.calls


SPLIT = """
def split(n, keys, *, part, seed):
    order = list(range(n)) if keys is None else sorted(keys)
    return order[: round(part * n)], seed
"""
ROWS = """
def rows_of(n, keys, splitter, options, repeats=None):
    known = {name: value for name, value in options.items() if name not in ("repeats",)}
    given = options.get("repeats")
    return given(n, keys, splitter) if given else splitter(n, keys, **known)
"""
LOAD = '''
def load(folder, *, splitter, **how):
    """Reads."""
    return rows_of(10, None, splitter, how)
'''


def test_what_is_handed_on_from_function_to_function_is_called_outright() -> None:
    rest = "result = load('here', splitter=split, part=0.3, seed=7)"
    made = cut([SPLIT, ROWS, LOAD], rest)
    assert made.texts[1] == 'def load():\n    """Reads."""\n    return split(10, part=0.3, seed=7)'
    assert changed(rest, made) == "result = load()"
    assert run([*made.texts], changed(rest, made)) == run([SPLIT, ROWS, LOAD], rest) == ([0, 1, 2], 7)


@pytest.mark.parametrize(
    ("texts", "rest"),
    [
        # a list that a function fills is its own at every call
        (["def filled(n, found=None):\n    kept = []\n    kept.append(n)\n    return kept"], "filled(1)"),
        # a name that is bound again is no constant
        (["def twice(flag):\n    x = 1 if flag else 2\n    flag = x\n    return flag"], "twice(True)"),
        # nor is one that a function inside binds
        (["def inner(flag):\n    return [(lambda flag: flag)(2), flag]"], "inner(True)"),
        # keywords that are handed on may hold any of the parameters that are not named
        (["def any_of(a, b=False):\n    return [a, b]"], "any_of(1, **{'b': 5}), any_of(2, **dict(b=3))"),
        # what is handed to others as a function is called by who knows whom
        (["def plus(a, b=True):\n    return a + b"], "list(map(plus, [1, 2], [3, 4])), plus(1)"),
        # a draw is drawn though nobody reads it
        (
            [
                "def draws(kind):\n    import random\n    made = random.Random(0)\n"
                "    a, b = made.random(), made.random()\n"
                "    return made.random() if kind == 'one' else a + b"
            ],
            "draws('one')",
        ),
        # a display that is asked in several places is written once
        (["def asked(n, names):\n    return [n in names, len(names), [*names]]"], "asked(1, ('a', 'b'))"),
        # only the last of two constants decides
        (["def either(a, b):\n    return [a or b, b or a, a and b]"], "either('', 'x')"),
        # after a jump nothing is reached
        (["def ends(flag):\n    if flag:\n        return 1\n    x = missing\n    return x"], "ends(True)"),
        # numbers add up only where one was put in
        (["def area(side=4):\n    return 28 * 28 + side * 2"], "area()"),
        (["class Never:\n    pass", "def kind(x):\n    return isinstance(x, Never), x"], "kind(3)"),
    ],
)
def test_it_does_what_it_did(texts: list[str], rest: str) -> None:
    rest = f"result = {rest}"
    made = cut(texts, rest)
    assert run([*made.texts], changed(rest, made)) == run(texts, rest)


def test_numbers_that_somebody_wrote_stay_as_written() -> None:
    made = cut(["def area(side=4):\n    return 28 * 28 + side * 2"], "area()")
    assert made.texts == ("def area():\n    return 28 * 28 + 8",)


def test_what_something_calls_by_its_name_stays() -> None:
    text = "def tell(done, count):\n    return None"
    assert cut([text], "tell(1, 2)", frozenset({"tell"})).texts == (text,)


def test_a_function_that_is_set_anew_is_no_constant() -> None:
    """What is handed over is the one before; what is called by name afterwards the one that was set."""
    texts = ["def learn(x):\n    return x", "def keeping(made):\n    return lambda x: [made(x)]"]
    rest = "learn = keeping(learn)\nresult = learn(1)"
    made = cut(texts, rest, frozenset({"learn"}))
    assert run([*made.texts], changed(rest, made)) == run(texts, rest) == [1]


def test_what_nobody_uses_is_not_carried() -> None:
    texts = ["def used():\n    return 1", "def unused():\n    return used()"]
    assert cut(texts, "result = used()").texts == (texts[0],)


def test_what_did_not_change_stays_as_it_was_written() -> None:
    text = '''
    def shown(values, flag):
        """What it says."""
        # the first of all
        first = values[0]  # and its comment

        if flag:
            second = {
                "a": 1,  # one
                "b": 2,
            }
            return first, second
        return first
    '''
    made = cut([text], "result = shown([1], True)")
    assert made.texts == (
        textwrap.dedent('''
        def shown(values):
            """What it says."""
            # the first of all
            first = values[0]  # and its comment
            second = {
                "a": 1,  # one
                "b": 2,
            }
            return first, second
        ''').strip("\n"),
    )
