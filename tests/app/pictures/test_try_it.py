"""Trying: the ways that suit the model, what is sent, and that the answer to it is what stands there."""

import numpy as np
import torch
from PySide6.QtCore import QPointF

from app.pictures.base import Subject
from app.pictures.registry import proposed
from app.pictures.try_it import TryIt
from app.workspace import Workspace
from engine.data.shipped import datasets_folder
from engine.edits import AddNodes, Connect, Disconnect
from engine.graph import Link, Node
from engine.run.feed import Probe, Snapshot, Tried
from engine.run.trainer import Trainer
from tests.app.conftest import add_iris
from tests.app.pictures.planes import add, add_line
from tests.app.pictures.showing import painted, shown, snapshot

PROBE = Probe("", "try_it")


def answer(array: object, **more: object) -> Snapshot:
    facts = {"kind": "classes", "classes": ("setosa", "versicolor", "virginica"), "shape": (3,), "try": 0}
    return snapshot(array, **{**facts, "example": 0, "column": "features", "target": "species", **more})


def test_the_ways_follow_what_the_model_takes(shaped: Workspace) -> None:
    add_iris(shaped)
    picture = TryIt(Subject(shaped))
    assert list(picture.inputs) == ["numbers", "example"]
    shaped.undo()
    add(shaped, "Mnist", "image", "CrossEntropy", "digit", 10)
    assert list(picture.inputs) == ["draw", "example", "file"] and picture.ways.key == "example"


def test_it_is_proposed_for_the_whole_model(shaped: Workspace) -> None:
    assert "try-it" not in {kind.id for kind in proposed(Subject(shaped))}
    add_iris(shaped)
    assert proposed(Subject(shaped))[0].id == "try-it"


def test_probabilities_as_bars_and_slopes_beside_the_fields(shaped: Workspace) -> None:
    add_iris(shaped)
    picture = TryIt(Subject(shaped))
    painted(picture, 520, 260)
    shown(picture, {PROBE: answer([0.1, 0.7, 0.2], slope=np.array([1.0, -2.0, 0.0, 0.5]))})
    assert [(bar.name, bar.strong) for bar in picture.bars.bars] == [
        ("setosa", False),
        ("versicolor", True),
        ("virginica", False),
    ]
    assert picture.inputs["numbers"].slopes[1].text() == "-2"
    _, rows = picture.table()
    assert rows == [("setosa", 0.1), ("versicolor", 0.7), ("virginica", 0.2)]


def test_a_single_number_is_written(shaped: Workspace) -> None:
    add_line(shaped)
    picture = TryIt(Subject(shaped))
    shown(picture, {PROBE: answer([0.25], kind="values", classes=(), shape=(1,), column="x", target="y")})
    assert picture.single.text() == "y  0.25"


def test_a_node_is_chosen_and_kept(shaped: Workspace) -> None:
    add_iris(shaped)
    picture = TryIt(Subject(shaped))
    picture.restore({"way": "example", "node": "n2"})
    assert picture.probes() == frozenset({Probe("", "try_it", ("n2",))})
    assert picture.state() == {"way": "example", "node": "n2"}
    picture.restore({"way": "nonsense", "node": "gone"})
    assert picture.state() == {"way": "example", "node": "n2"}


def test_an_answer_stands_there_as_soon_as_the_trainer_has_it(shaped: Workspace) -> None:
    add(shaped, "Digits", "image", "CrossEntropy", "digit", 10)
    add_flat(shaped)
    trainer = shaped.trainer = Trainer(shaped.catalogue, datasets_folder())
    try:
        trainer.watch(frozenset({PROBE}))
        trainer.prepare(shaped.document.snapshot())
        assert trainer.wait(30, until=lambda: trainer.data is not None)
        picture = TryIt(Subject(shaped))
        painted(picture, 560, 340)
        pad = picture.inputs["draw"].pad
        pad.stroke(QPointF(40, 20), QPointF(40, 120))
        wanted = picture.number

        def answered() -> bool:
            found = trainer.feed.latest(PROBE)
            return found is not None and found.extra.get("try") == wanted

        assert trainer.wait(30, until=answered)
        picture._look()
        assert picture._seen is trainer.feed.latest(PROBE) and not picture._timer.isActive()
        assert picture.bars.bars and picture._seen.extra["slope"].shape == (8, 8)
        picture.hide()
        assert not picture._timer.isActive()
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
    sent: list[Tried] = []

    class Data:
        feed = shaped.trainer.feed
        data: object = None
        state, error = "idle", None

        def try_input(self, tried: Tried) -> None:
            sent.append(tried)

        def __getattr__(self, name: str):  # type: ignore[no-untyped-def]
            return lambda *_, **__: True

    rows = {"features": torch.arange(8.0).reshape(2, 4), "species": torch.tensor([0, 1])}
    shaped.trainer = Data()
    shaped.trainer.data = {"train": rows, "validation": rows}
    picture = TryIt(Subject(shaped))
    painted(picture, 520, 260)
    before = len(sent)
    picture.inputs["numbers"].fields[0].set_value(9.0)
    picture.send()
    assert len(sent) == before + 1 and sent[-1].number == picture._number
    np.testing.assert_allclose(sent[-1].columns["features"], [9, 1, 2, 3])
    picture._timer.stop()
