"""Names that mean something to Python, torch or the script: what is built is still what was drawn."""

from __future__ import annotations

import ast
import builtins
import sys
from collections import Counter
from types import ModuleType
from typing import Any
from unittest.mock import patch

import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engine.catalogue.bypass import measured_names
from engine.document.graph import Block, Graph, Link, Node, Project
from engine.document.plan import Minimise, Phase, Plan, Stop
from engine.emit.program import compile_program
from engine.emit.script import export_script, write_script
from engine.emit.statements import compiled
from engine.errors import EmitError
from engine.shapes.shapes import check
from tests.engine.sketches import catalogue, gallery

MEANT = [
    *("my 2", "My2", "my_2", "my2", "Cell", "cell", "Cell2", "F", "f", "a", "a by", "a weights", "é"),
    *("Model", "model", "Path", "Tensor", "None", "True", "AddedNoise", "nn", "torch", "np", "Any", "l1"),
    *("Exception", "int", "self", "class", "x", "data", "scan", "repeat", "Player", "Phase", "type", "to"),
    *("r a n k", "main", "load", "train", "uniform dropout", "read ahead", "take turn", "os", "operator"),
    *("report", "loss", "step", "epoch", "make players", "gradient norm", "Average", "batch", "forward"),
    *("", "層", "\ud800", "a\nb", "'''", '"', "\\", "p h a s e s", "added noise", "Value Error", "time"),
]
NAMES = st.one_of(st.sampled_from(MEANT), st.text(max_size=8))


def block(block_id: str, name: str, first: int, units: int, inner: str, inside: str = "") -> Block:
    """Takes four numbers to four: a layer of so many units, noise, a layer of four; maybe a block within."""
    ids = [f"n{first + number}" for number in range(6)]
    nodes = [
        Node(ids[0], "BlockInput", inner),
        Node(ids[1], "Linear", inner, {"units": units}),
        Node(ids[2], "AddNoise", inner),
        Node(ids[3], "Linear", name, {"units": 4}),
        Node(ids[5], "BlockOutput", inner),
    ]
    links = [Link(ids[0], "output", ids[1], "x"), Link(ids[1], "output", ids[2], "x")]
    links.append(Link(ids[2], "output", ids[3], "x"))
    if inside:
        nodes.append(Node(ids[4], "Block", inner, {"block": inside}))
        [entrance, leaving] = f"n{int(inside[1:]) * 100}", f"n{int(inside[1:]) * 100 + 5}"
        links += [Link(ids[3], "output", ids[4], entrance), Link(ids[4], leaving, ids[5], "x")]
    else:
        links.append(Link(ids[3], "output", ids[5], "x"))
    return Block(block_id, name, Graph(nodes, links))


def drawn(names: list[str], several: bool) -> Project:
    """Iris through three blocks of three sizes, the second in the third, to a loss and two metrics."""
    blocks = [
        block("b1", names[0], 100, 5, names[3]),
        block("b2", names[1], 200, 6, names[4]),
        block("b3", names[2], 300, 7, names[5], "b2"),
    ]
    nodes = [Node("n1", "Iris", names[6])]
    links, last = [], ("n1", "features")
    for number, one in enumerate(blocks, start=1):
        node = Node(f"n{number + 1}", "Block", names[6 + number], {"block": one.id, "times": 2 - number % 2})
        links.append(Link(*last, node.id, f"n{number}00"))
        nodes.append(node)
        last = node.id, f"n{number}05"
    nodes += [Node("n5", "Linear", names[10], {"units": 3}), Node("n6", "CrossEntropy", names[11])]
    nodes += [Node("n7", "Accuracy", names[12]), Node("n8", "Accuracy", names[13])]
    links.append(Link(*last, "n5", "x"))
    links += [Link("n5", "output", one, "prediction") for one in ("n6", "n7", "n8")]
    links += [Link("n1", "species", one, "target") for one in ("n6", "n7", "n8")]
    plan = Plan(batch=16)
    if several:
        players = (Minimise(of=("n2",), name=names[14]), Minimise(of=("n3", "n5"), name=names[15]))
        plan = Plan(
            (Phase(players, Stop(1), name=names[16]), Phase((Minimise(name=names[17]),), Stop(1))), 16
        )
    found = {one.id: one for one in blocks}
    return Project("Names", "", Graph(nodes, links), plan, next_id=400, blocks=found)


def module_names(text: str) -> list[str]:
    """What a script defines and imports at its top."""
    found = []
    for one in ast.parse(text).body:
        if isinstance(one, (ast.FunctionDef, ast.ClassDef)):
            found.append(one.name)
        elif isinstance(one, (ast.Import, ast.ImportFrom)):
            found += [alias.asname or alias.name for alias in one.names if alias.name != "annotations"]
        elif isinstance(one, ast.Assign):
            targets = [node for node in ast.walk(one.targets[0]) if isinstance(node, ast.Name)]
            found += [node.id for node in targets]
    return found


def imported(text: str) -> dict[str, Any]:
    module = ModuleType("script_of_names")
    with patch.dict(sys.modules, {module.__name__: module}):  # a dataclass looks up the module it is made in
        exec(compile(text, "script", "exec"), module.__dict__)
    return module.__dict__


def sizes(model: torch.nn.Module) -> int:
    return sum(weight.numel() for weight in model.parameters())


@settings(max_examples=20, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(NAMES, min_size=18, max_size=18), st.booleans())
def test_whatever_things_are_called_the_network_drawn_is_the_one_built(
    names: list[str], several: bool
) -> None:
    project = drawn(names, several)
    book = check(project, catalogue())
    assert book.errors == []
    program = compile_program(project, catalogue(), book)
    text = program.source.text
    assert [one for one, count in Counter(module_names(text)).items() if count > 1] == []
    assert [one for one in module_names(text) if hasattr(builtins, one)] == []
    script = imported(text)
    torch.manual_seed(0)
    model, other = program.Model(), script["Model"]()
    assert sizes(model) == sizes(other) == book.total_parameters
    batch = {"features": torch.rand(6, 4), "species": torch.arange(6) % 3}
    other.load_state_dict(model.state_dict())
    torch.manual_seed(1)
    ours = program.measure(model.eval(), batch)
    torch.manual_seed(1)
    theirs = script["measure"](other.eval(), batch)
    keys = measured_names(project, book.types)
    assert set(ours) == {"loss", keys["n7"], keys["n8"]}
    assert ours == theirs
    for phase in program.phases:
        for player in phase.players(model, 1, 1):
            before = [weight.detach().clone() for weight in player.weights]
            program.take_turn(player, model, batch, 0)
            moved = [bool((one != now).any()) for one, now in zip(before, player.weights, strict=True)]
            assert any(moved)


@pytest.mark.parametrize(
    ("names", "classes"),
    [
        (("my 2", "My2", "my2"), ("My2", "My2_2", "My2_3")),
        (("Cell", "cell", "Cell2"), ("Cell", "Cell_2", "Cell2")),
        (("Model", "None", "True"), ("Model_", "None_", "True_")),
        (("Path", "Tensor", "added noise"), ("Path_", "Tensor_", "AddedNoise_2")),
        (("層", "", "f"), ("Block", "Block_2", "F_2")),
    ],
)
def test_blocks_of_hostile_names_have_classes_of_their_own(
    names: tuple[str, ...], classes: tuple[str, ...]
) -> None:
    text = export_script(drawn([*names, *"abcdefghijklmno"], False), catalogue()).text
    assert [one for one in module_names(text) if one in classes] == list(classes)


def test_what_is_no_python_is_an_error_with_a_sentence() -> None:
    for text in ("class None:\n    pass\n", "x = " + "(" * 5000, "\x00"):
        with pytest.raises(EmitError, match="became Python that does not compile"):
            compiled(text, "script")


@pytest.mark.parametrize("project_id", ("gan-digits", "rbm-mnist", "residual-blocks", "optimiser-race"))
def test_the_book_knows_whatever_a_script_defines(project_id: str) -> None:
    script = write_script(gallery(project_id), catalogue())
    assert [one for one in module_names(script.plain.text) if one not in script.assembly.names] == []
