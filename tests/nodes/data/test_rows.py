"""Nodes that decide which rows there are, and labels that stay wrong: right counts, all else as it was."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from engine.catalogue import Column
from engine.data.lazy import Mapped
from engine.data.picked_rows import (
    keep_one_of_equals,
    keep_whole_rows,
    leave_out_numbers,
    pick_by_class,
    wrong_labels,
)
from engine.data.repeats import rare_repeated
from engine.document.edits import AddNodes, Disconnect
from engine.document.graph import Link, Node
from engine.document.shipped import datasets_folder
from engine.emit.program import compile_program
from engine.errors import EmitError, ParamError
from engine.look.own_units import own_units
from nodes.data.rows import BalanceClasses, LeaveOutNumbers, LeaveOutRows, WrongLabels
from tests.engine.sketches import catalogue, gallery


def splits(lazy: bool = False) -> dict[str, dict[str, Any]]:
    """Numbers that count up over all splits; the label of row i is 1 where i is divisible by 10."""
    rows = {"train": range(100), "validation": range(100, 130), "test": range(130, 150)}
    found: dict[str, dict[str, Any]] = {}
    for split, numbers in rows.items():
        x = torch.tensor(list(numbers), dtype=torch.float32)[:, None]
        found[split] = {"x": Mapped(x.numpy(), "cpu") if lazy else x, "y": (x[:, 0].long() % 10 == 0).long()}
    return found


@pytest.mark.parametrize("lazy", [False, True])
def test_held_out_rows_that_repeat_others_go_with_all_of_their_columns(lazy: bool) -> None:
    made = splits()
    made["train"]["x"][7] = made["train"]["x"][3]
    made["validation"]["x"][:5] = made["train"]["x"][:5]
    made["test"]["x"][0] = made["validation"]["x"][9]
    if lazy:
        made = {split: {**one, "x": Mapped(one["x"].numpy(), "cpu")} for split, one in made.items()}
    keep_one_of_equals(made, "x", "kept")
    assert [len(part["kept"]) for part in made.values()] == [99, 25, 19]
    assert [len(part["y"]) for part in made.values()] == [99, 25, 19]
    assert made["validation"]["x"][0].tolist() == [105]
    for part in made.values():
        assert torch.equal(part["y"], (part["x"][:][:, 0].long() % 10 == 0).long())
    every = torch.cat([part["kept"][:] for part in made.values()])
    assert len(every.unique()) == len(every)


def test_a_split_of_nothing_but_copies_is_refused() -> None:
    made = splits()
    made["test"]["x"][:] = made["train"]["x"][:20]
    with pytest.raises(ValueError, match="Every row of test repeats another"):
        keep_one_of_equals(made, "x", "kept")


def test_rows_that_lack_a_number_are_left_out() -> None:
    made = splits()
    made["train"]["x"][[2, 50]] = float("nan")
    made["test"]["x"][1] = float("nan")
    keep_whole_rows(made, "x", "kept")
    assert [len(part["y"]) for part in made.values()] == [98, 30, 19]
    assert not any(part["kept"].isnan().any() for part in made.values())


@pytest.mark.parametrize("lazy", [False, True])
def test_training_classes_come_equally_often_and_others_as_they_did(lazy: bool) -> None:
    made = splits(lazy)
    pick_by_class(made, "y", "even", pick=rare_repeated, seed=0)
    assert torch.bincount(made["train"]["even"]).tolist() == [90, 90]
    x = made["train"]["x"][:][:, 0].long()
    assert torch.equal(made["train"]["y"], (x % 10 == 0).long())
    assert torch.bincount(x)[::10].tolist() == [9] * 10
    assert [len(made[split]["x"]) for split in ("validation", "test")] == [30, 20]


def test_wrong_labels_stay_wrong_and_held_out_ones_stay_right() -> None:
    made = splits()
    labels = torch.arange(5000) % 7
    made["train"] = {"y": labels, "x": torch.zeros(5000, 1)}
    wrong_labels(made, "y", "noisy", rate=0.3, classes=7, seed=4)
    noisy = made["train"]["noisy"]
    off = noisy != labels
    assert off.double().mean().item() == pytest.approx(0.3, abs=0.02)
    assert torch.bincount((noisy - labels)[off] % 7, minlength=7)[1:].min() > 150  # every other class
    assert torch.equal(made["test"]["noisy"], made["test"]["y"])
    again = {"train": {"y": labels}}
    wrong_labels(again, "y", "noisy", rate=0.3, classes=7, seed=4)
    assert torch.equal(again["train"]["noisy"], noisy)
    wrong_labels(made, "y", "noisy", rate=1.0, classes=2, everywhere=True)
    assert torch.equal(made["test"]["noisy"], 1 - made["test"]["y"])


def test_numbers_are_left_out_by_their_places_and_missing_when_undone() -> None:
    rows = torch.arange(12.0).reshape(3, 4)
    made = {"train": {"x": rows}, "test": {"x": rows + 1}}
    found = leave_out_numbers(made, "x", "fewer", which=(2, 4))
    assert made["test"]["fewer"].tolist() == [[1, 3], [5, 7], [9, 11]]
    assert found.undo(made["train"]["fewer"]).isnan().tolist() == [[False, True, False, True]] * 3
    node = LeaveOutNumbers({"which": (2, 4)})
    node.bind(Column("size", (4,)))
    assert node.columns()[0].shape == (2,)
    with pytest.raises(ParamError, match="there is no number 4"):
        node.bind(Column("size", (3,)))
    with pytest.raises(ParamError, match="Nothing would be left"):
        LeaveOutNumbers({"which": (1, 2)}).bind(Column("size", (2,)))


def test_what_the_nodes_need_is_said() -> None:
    numbers, label = Column("size", (3,)), Column("kind", (), "int64", ("a", "b"))
    for node in (BalanceClasses(), WrongLabels()):
        with pytest.raises(EmitError, match="size has none"):
            node.bind(numbers)
        node.bind(label)
        assert node.columns()[0].classes == ("a", "b")
    with pytest.raises(ParamError, match="how many classes"):
        WrongLabels().bind(Column("kind", (), "int64"))
    with pytest.raises(EmitError, match="no number can be missing"):
        LeaveOutRows({"that": "lack a number"}).bind(label)


def test_units_are_known_of_rows_that_were_picked() -> None:
    """What Try it and the pictures show stays in centimetres."""
    project = gallery("iris").copy()
    graph = project.graph
    for link in [one for one in graph.links if one.source == "n1"]:
        Disconnect(link).apply(project)
    measures = [node.id for node in graph.nodes.values() if node.type in ("CrossEntropy", "Accuracy")]
    nodes = (Node("n90", "LeaveOutRows"), Node("n91", "Standardise", "scaled"), Node("n92", "BalanceClasses"))
    wires = (("n1", "features", "n90"), ("n90", "output", "n91"), ("n91", "output", "n2"))
    links = [Link(source, port, target, "x") for source, port, target in (*wires, ("n1", "species", "n92"))]
    links += [Link("n92", "output", one, "target") for one in measures]
    AddNodes(nodes, tuple(links)).apply(project)
    program = compile_program(project, catalogue())
    splits = program.load(datasets_folder(), "cpu")
    units = own_units(graph.node("n1"), program.book.types["n1"], catalogue(), splits)["scaled"]  # type: ignore[arg-type]
    undone = units.undo(splits["train"]["scaled"])
    assert torch.allclose(undone, (undone * 10).round() / 10, atol=1e-4)  # as measured, to a millimetre
    assert 4.3 <= undone[:, 0].min() < undone[:, 0].max() <= 7.9
