"""Trying: the ways that suit the model, what is sent, and that the answer to it is what stands there."""

from pathlib import Path

import numpy as np
import pytest
import torch
from PySide6.QtCore import QPointF
from pytestqt.qtbot import QtBot

from app.look.base import Subject
from app.look.playground.cells import CellsInput, ClassField, DateField
from app.look.playground.inputs import NumberField, NumbersInput
from app.look.predictions.try_it import TryIt
from app.look.registry import proposed
from app.workspace.workspace import Workspace
from engine.document.edits import AddNodes, Connect, Disconnect, SetParam
from engine.document.graph import Link, Node
from engine.document.shipped import datasets_folder
from engine.feed.feed import Probe, Snapshot
from engine.train.trainer import Trainer
from tests.app.conftest import add_iris
from tests.app.fake_run import RestingTrainer
from tests.app.look.own_data import add_table, fed
from tests.app.look.planes import add, add_line
from tests.app.look.showing import painted, shown, snapshot
from tests.engine.sketches import gallery

PROBE = Probe("", "try_it")


def answer(array: object, **more: object) -> Snapshot:
    facts = {"kind": "classes", "classes": ("setosa", "versicolor", "virginica"), "shape": (3,), "try": 0}
    return snapshot(array, **{**facts, "example": 0, "column": "features", "target": "species", **more})


def test_the_ways_follow_what_the_model_takes(shaped: Workspace) -> None:
    add_iris(shaped)
    view = TryIt(Subject(shaped))
    assert list(view.inputs) == ["numbers", "example"]
    shaped.undo()
    add(shaped, "Mnist", "image", "CrossEntropy", "digit", 10)
    assert list(view.inputs) == ["draw", "example", "file"] and view.ways.key == "example"


def test_it_is_proposed_for_the_whole_model(shaped: Workspace) -> None:
    assert "try-it" not in {kind.id for kind in proposed(Subject(shaped))}
    add_iris(shaped)
    assert proposed(Subject(shaped))[0].id == "try-it"


def test_many_answers_about_what_the_network_drew_are_not_asked_for(shaped: Workspace) -> None:
    shaped.document.replace(gallery("word-vectors"), None)
    assert "try-it" not in [kind.id for kind in proposed(Subject(shaped))]


def test_probabilities_as_bars_and_slopes_beside_the_fields(shaped: Workspace) -> None:
    add_iris(shaped)
    assert shaped.apply("Plain", SetParam("n1", "standardise", False))
    view = TryIt(Subject(shaped))
    painted(view, 520, 260)
    shown(view, {PROBE: answer([0.1, 0.7, 0.2], slope=np.array([1.0, -2.0, 0.0, 0.5]))})
    assert [(bar.name, bar.strong) for bar in view.bars.bars] == [
        ("setosa", False),
        ("versicolor", True),
        ("virginica", False),
    ]
    assert view.inputs["numbers"].slopes[1].text() == "-2"
    _, rows = view.table()
    assert rows == [("setosa", 0.1), ("versicolor", 0.7), ("virginica", 0.2)]


def test_a_single_number_is_written(shaped: Workspace) -> None:
    add_line(shaped)
    view = TryIt(Subject(shaped))
    shown(view, {PROBE: answer([0.25], kind="values", classes=(), shape=(1,), column="x", target="y")})
    assert view.single.text() == "y\n0.25"


@pytest.mark.parametrize(("shape", "drawn"), [((1, 4, 4), (4, 4)), ((3, 2, 4), (2, 4, 3))])
def test_an_answer_that_is_an_image_is_drawn_as_one(
    shaped: Workspace, shape: tuple[int, ...], drawn: tuple[int, ...]
) -> None:
    add_line(shaped)
    view = TryIt(Subject(shaped))
    values = np.linspace(0, 1, int(np.prod(shape)), dtype=np.float32)
    shown(view, {PROBE: answer(values, kind="values", classes=(), shape=shape, column="x", target="image")})
    assert view.answer.currentWidget() is view.image
    (sheet,) = view.image.sheets
    assert sheet.title == "image" and sheet.values.shape == drawn


def test_a_node_is_chosen_and_kept(shaped: Workspace) -> None:
    add_iris(shaped)
    view = TryIt(Subject(shaped))
    view.restore({"way": "example", "node": "n2"})
    assert view.probes() == frozenset({Probe("", "try_it", ("n2",))})
    assert view.state() == {"way": "example", "node": "n2"}
    view.restore({"way": "nonsense", "node": "gone"})
    assert view.state() == {"way": "example", "node": "n2"}


def test_an_answer_stands_there_as_soon_as_the_trainer_has_it(shaped: Workspace) -> None:
    add(shaped, "Digits", "image", "CrossEntropy", "digit", 10)
    add_flat(shaped)
    trainer = shaped.trainer = Trainer(shaped.catalogue, datasets_folder())
    try:
        trainer.watch(frozenset({PROBE}))
        trainer.prepare(shaped.document.snapshot())
        assert trainer.wait(30, until=lambda: trainer.data is not None)
        view = TryIt(Subject(shaped))
        painted(view, 560, 340)
        pad = view.inputs["draw"].pad
        pad.stroke(QPointF(40, 20), QPointF(40, 120))
        wanted = view.number

        def answered() -> bool:
            found = trainer.feed.latest(PROBE)
            return found is not None and found.extra.get("try") == wanted

        assert trainer.wait(30, until=answered)
        view._look()
        assert view._seen is trainer.feed.latest(PROBE) and not view._timer.isActive()
        assert view.bars.bars and view._seen.extra["slope"].shape == (8, 8)
        view.hide()
        assert not view._timer.isActive()
    finally:
        assert trainer.close()


def add_flat(workspace: Workspace) -> None:
    """Between the images and the layer: the pixels in a row."""
    assert workspace.apply(
        "Flatten",
        Disconnect(Link("n1", "image", "n2", "x")),
        AddNodes((Node("n4", "Flatten", "", {}, (0, 100)),), (Link("n1", "image", "n4", "x"),)),
        Connect(Link("n4", "output", "n2", "x")),
    )


def test_tried_things_are_counted(shaped: Workspace) -> None:
    add_iris(shaped)
    assert shaped.apply("Plain", SetParam("n1", "standardise", False))
    rows = {"features": torch.arange(8.0).reshape(2, 4), "species": torch.tensor([0, 1])}
    shaped.trainer = RestingTrainer(data={"train": rows, "validation": rows})
    sent = shaped.trainer.tried
    view = TryIt(Subject(shaped))
    painted(view, 520, 260)
    before = len(sent)
    view.inputs["numbers"].fields[0].set_value(9.0)
    view.send()
    assert len(sent) == before + 1 and sent[-1].number == view._number
    np.testing.assert_allclose(sent[-1].columns["features"], [9, 1, 2, 3])
    view._timer.stop()


@pytest.mark.parametrize("standardise", [False, True])
def test_cells_are_typed_as_they_stand_in_the_file_and_answers_are_in_its_units(
    shaped: Workspace, tmp_path: Path, qtbot: QtBot, standardise: bool
) -> None:
    add_table(shaped, tmp_path / "people.csv", standardise)
    trainer = fed(shaped)
    view = TryIt(Subject(shaped))
    cells = view.inputs["numbers"]
    assert isinstance(cells, CellsInput) and not cells.fields[0].isEnabled()
    painted(view, 620, 300)
    qtbot.waitUntil(lambda: view.inputs["numbers"].fields[0].isEnabled())
    cells = view.inputs["numbers"]
    column = "scaled" if standardise else "features"
    row = trainer.data["validation"][column][0]
    age = int(cells.fields[0].text())
    assert [type(field) for field in cells.fields] == [NumberField, ClassField, DateField]
    assert cells.fields[1].currentText() == ("blue", "green", "red")[(age - 20) % 3]
    assert cells.fields[2].text() == f"2021-02-{(age - 20) % 28 + 1:02}"
    assert cells.said() == "numbers as in the data; they are scaled for the network"
    np.testing.assert_array_equal(trainer.tried[-1].columns[column], row)  # nothing typed: the row itself

    # somebody else's cells are those of another row of the file, which the network sees scaled alike
    other = trainer.data["validation"][column][1]
    years = {int(one) for one in range(20, 60)}
    wanted = next(
        year
        for year in years
        if np.allclose(typed(view, year), other.numpy(), atol=1e-4)  # only that very row fits
    )
    assert wanted in years

    facts = {"kind": "values", "classes": (), "shape": (1,), "column": column, "target": "grams"}
    target = trainer.data["train"]["grams"]
    told = float(target[3, 0])
    shown(view, {PROBE: answer([told], slope=np.eye(5, dtype=np.float32)[0], **facts)})
    name, value = view.single.text().split()
    value = value.replace(",", "")
    assert name == "grams" and float(value) % 50 == 0 and 100 <= float(value) <= 2050
    _, rows = view.table()
    assert rows[0][1] == pytest.approx(float(value), rel=1e-3)
    # one deviation of grams for one deviation of age; both spread over all rows alike, 50 g for a year
    per_year = float(cells.slopes[0].text())
    assert per_year == pytest.approx(50, rel=0.02) and cells.slopes[1].text() == ""


def typed(view: TryIt, age: int) -> np.ndarray:
    """What is sent for the cells of the row with that age."""
    cells = view.inputs["numbers"]
    texts = ((cells.fields[0], f"{age}"), (cells.fields[2], f"2021-02-{(age - 20) % 28 + 1:02}"))
    for field, text in texts:
        field.setText(text)
        field.textEdited.emit(text)
    cells.fields[1].setCurrentIndex((age - 20) % 3)
    cells.fields[1].activated.emit((age - 20) % 3)
    sent = view.subject.workspace.trainer.tried[-1].columns
    return sent["scaled" if "scaled" in sent else "features"]


def test_without_the_file_numbers_stay_as_the_network_sees_them(
    shaped: Workspace, tmp_path: Path, qtbot: QtBot
) -> None:
    path = tmp_path / "people.csv"
    add_table(shaped, path)
    fed(shaped)
    path.unlink()
    view = TryIt(Subject(shaped))
    painted(view, 620, 300)
    qtbot.waitUntil(lambda: isinstance(view.inputs["numbers"], NumbersInput))
    assert view.inputs["numbers"].said() == "scaled, as the network sees them"
    facts = {"kind": "values", "classes": (), "shape": (1,), "column": "features", "target": "grams"}
    shown(view, {PROBE: answer([0.25], **facts)})
    assert view.single.text() == "grams\n0.25 (scaled)"
