"""The tree of a script: templates, printing, and passes that change what is marked and nothing else."""

from __future__ import annotations

import ast
import inspect
from types import ModuleType

import pytest

from engine.catalogue.symbols import name
from engine.emit import (
    alternating,
    batching,
    classes,
    distributed,
    fast,
    inline,
    measuring,
    model,
    passes,
    phase_texts,
    plain_loop,
)
from engine.emit.passes import changed
from engine.emit.script import export_script
from engine.emit.statements import (
    WIDTH,
    Mark,
    Statement,
    nested,
    printed,
    returned_dict,
    statement,
    tree,
    under,
    verbatim,
    walked,
)
from engine.errors import EmitError
from tests.engine.sketches import catalogue, gallery

LOOP = """
for $each in range(3):  #: EPOCHS
    step()  #: LOSS
    if late:  #? patient
        wait()
        break
    <more>  #? not patient

done()
"""


def text(part: list[Statement]) -> list[str]:
    return [line.plain for line in printed(part)]


@pytest.mark.parametrize(
    ("patient", "inside"),
    [
        (True, ["    if late:", "        wait()", "        break"]),
        (False, ["    more()"]),
    ],
)
def test_a_template_has_what_is_asked_for(patient: bool, inside: list[str]) -> None:
    part = tree(LOOP, each="epoch", patient=patient, more=[Statement("more()")])
    assert text(part) == ["for epoch in range(3):", "    step()", *inside, "", "done()"]
    assert [one.mark for one in walked(part) if one.mark] == [Mark.EPOCHS, Mark.LOSS]


def test_a_template_wants_all_its_names() -> None:
    with pytest.raises(KeyError, match="patient"):
        tree(LOOP, each="epoch", more=[])


def test_what_is_given_is_no_template() -> None:
    assert text(tree("print($what)", what="'$cost  #? no'")) == ["print('$cost  #? no')"]
    assert text(nested(["if True:", "    print('$')"])) == ["if True:", "    print('$')"]


def test_a_script_survives_being_made_a_tree() -> None:
    whole = export_script(gallery("gan-digits"), catalogue()).text
    for part in ast.parse(whole).body:
        lines = (ast.get_source_segment(whole, part) or "").split("\n")
        if isinstance(part, ast.FunctionDef) and max(map(len, lines)) <= WIDTH:
            assert text(nested(lines)) == lines


def test_comments_stand_at_one_column_and_both_readings_on_the_same_lines() -> None:
    value = name("f")(name("x"))
    part = [
        under("def g(x: Tensor) -> Tensor:", [
            statement("x", value, name("tap")(value), "n1", "(N, 4)"),
            statement("return", name("x"), name("tap")(name("x")), "n2", "(N,)"),
        ])
    ]  # fmt: skip
    lines = printed(part)
    assert [line.plain for line in lines] == [
        "def g(x: Tensor) -> Tensor:",
        "    x = f(x)  # (N, 4)",
        "    return x  # (N,)",
    ]
    assert [line.run for line in lines][1:] == ["    x = tap(f(x))", "    return tap(x)"]
    assert [line.node_id for line in lines] == [None, "n1", "n2"]


def test_a_long_statement_is_broken_and_its_other_reading_stands_on_the_first_line() -> None:
    items = [(f"loss {number}", name("value") * number, name("tap")(number), "n1") for number in range(9)]
    part = [*returned_dict(items), statement("x", name("f")(*["word"] * 30), name("x"), "n2")]
    lines = printed(part)
    assert max(len(line.plain) for line in lines) <= WIDTH
    ast.parse("\n".join(["def f():", *(f"    {line.plain}" for line in lines)]))
    ast.parse("\n".join(["def f():", *(f"    {line.run}" for line in lines)]))
    broken = [line for line in lines if line.node_id == "n2"]
    assert [line.run for line in broken] == ["x = x", *[""] * (len(broken) - 1)]


def test_what_a_script_carries_is_printed_as_it_is() -> None:
    source = inspect.getsource(changed)
    assert "\n".join(text(verbatim(source))) + "\n" == source


def test_a_pass_changes_what_is_marked() -> None:
    part = tree(LOOP, each="epoch", patient=True)
    (found,) = changed(
        [part],
        {
            Mark.EPOCHS: lambda one: [Statement("begin()"), under("for epoch in range(9):", one.body)],
            Mark.LOSS: lambda one: [under("with care:", [one])],
        },
    )
    assert text(found)[:4] == ["begin()", "for epoch in range(9):", "    with care:", "        step()"]
    assert text(found)[4:] == text(part)[2:]


def test_a_pass_that_has_nothing_to_change_is_an_error() -> None:
    part = tree(LOOP, each="epoch", patient=True)
    with pytest.raises(EmitError, match="marked BACKWARD"):
        changed([part], {Mark.BACKWARD: lambda one: [one]})
    assert changed([part], {Mark.BACKWARD: lambda one: [one]}, optional=[Mark.BACKWARD]) == [part]


def test_a_pass_that_loses_a_statement_is_an_error() -> None:
    part = tree(LOOP, each="epoch", patient=True)
    with pytest.raises(EmitError, match=r"lost the statement 'if late:'"):
        changed([part], {Mark.EPOCHS: lambda one: [under("for epoch in range(9):", one.body[:1])]})


SEARCHING = {"replace", "splitlines", "startswith", "partition", "split", "sub"}
HANDLE_SCRIPTS = (
    alternating,
    batching,
    classes,
    distributed,
    fast,
    inline,
    measuring,
    model,
    passes,
    phase_texts,
    plain_loop,
)


@pytest.mark.parametrize("module", HANDLE_SCRIPTS, ids=lambda module: module.__name__)
def test_what_handles_scripts_searches_no_text(module: ModuleType) -> None:
    parsed = ast.parse(inspect.getsource(module))
    attributes = [one for one in ast.walk(parsed) if isinstance(one, ast.Attribute)]
    assert [ast.unparse(one) for one in attributes if one.attr in SEARCHING] == []
