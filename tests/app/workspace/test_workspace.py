"""The workspace: what happens to shapes, selection and trainer when the document changes."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import QObject

from app.workspace.engine_parts import EngineParts
from app.workspace.places import Places
from app.workspace.workspace import DEVICES, Workspace
from engine.document.edits import Connect, Move, Remove, Rename, SetParam, SetPlan
from engine.document.graph import Link, Project
from tests.app.conftest import add_iris


def test_an_edit_is_heard_before_and_after_inference(shaped: Workspace) -> None:
    heard: list[str] = []
    shaped.changed.connect(lambda change: heard.append(change.label))
    shaped.inferred.connect(lambda: heard.append("inferred"))
    add_iris(shaped)
    assert heard == ["Add", "inferred"]
    assert shaped.shapes.signature("n2", "output").shape == (3,)


def test_moving_infers_nothing(shaped: Workspace, qtbot) -> None:  # type: ignore[no-untyped-def]
    add_iris(shaped)
    with qtbot.assertNotEmitted(shaped.inferred):
        shaped.apply("Move", Move({"n1": (5.0, 5.0)}))


def test_a_refused_edit_changes_nothing_and_says_why(shaped: Workspace, qtbot) -> None:  # type: ignore[no-untyped-def]
    add_iris(shaped)
    revision = shaped.document.revision
    with qtbot.waitSignal(shaped.message) as told:
        done = shaped.apply("Connect", Rename("n2", "other"), Connect(Link("n2", "output", "n1", "x")))
    assert not done
    assert told.args[1] == "error"
    assert shaped.document.revision == revision
    assert shaped.node("n2").name == "classes"  # type: ignore[union-attr]


def test_selection_keeps_only_what_is_there(shaped: Workspace) -> None:
    add_iris(shaped)
    seen: list[tuple[str, ...]] = []
    shaped.selected.connect(seen.append)
    shaped.select(("n1", "gone", "n2", "n1"))
    shaped.select(("n1", "n2"))
    shaped.undo()
    assert seen == [("n1", "n2"), ()]


def test_edits_reach_the_trainer_once_they_rest(shaped: Workspace, qtbot) -> None:  # type: ignore[no-untyped-def]
    add_iris(shaped)
    shaped.trainer.asked.clear()
    for units in (4, 5, 3):
        shaped.apply("Set units", SetParam("n2", "units", units))
    assert shaped.trainer.asked == []
    qtbot.waitUntil(lambda: shaped.trainer.asked == ["prepare"], timeout=2000)
    shaped.trainer.state = "running"
    shaped.apply("Set units", SetParam("n2", "units", 6))
    qtbot.waitUntil(lambda: shaped.trainer.asked == ["prepare", "update"], timeout=2000)


def test_a_broken_graph_does_not_reach_the_trainer(shaped: Workspace, qtbot) -> None:  # type: ignore[no-untyped-def]
    add_iris(shaped)
    qtbot.waitUntil(lambda: "prepare" in shaped.trainer.asked, timeout=2000)
    shaped.trainer.asked.clear()
    shaped.apply("Set units", SetParam("n2", "units", -1))
    qtbot.wait(250)
    assert shaped.trainer.asked == []
    assert not shaped.train()
    assert shaped.selection == ("n2",)


def test_a_run_waits_while_its_graph_is_broken(shaped: Workspace, qtbot) -> None:  # type: ignore[no-untyped-def]
    add_iris(shaped)
    shaped.trainer.state = "running"
    shaped.apply("Remove", Remove(("n2",)))
    qtbot.waitUntil(lambda: "hold" in shaped.trainer.asked, timeout=2000)
    assert "update" not in shaped.trainer.asked and "nothing is connected" in str(shaped.trainer.held)
    shaped.undo()
    qtbot.waitUntil(lambda: shaped.trainer.asked[-1] == "update", timeout=2000)


def test_nothing_cannot_be_trained(shaped: Workspace, qtbot) -> None:  # type: ignore[no-untyped-def]
    with qtbot.waitSignal(shaped.message) as told:
        assert not shaped.train()
    assert "nothing to train" in told.args[0]
    assert "start" not in shaped.trainer.asked


def test_a_plan_of_the_document_is_what_trains(shaped: Workspace) -> None:
    add_iris(shaped)
    shaped.apply("Change epochs", SetPlan(shaped.document.project.plan.with_(epochs=3)))
    assert shaped.train()
    assert "start" in shaped.trainer.asked


def test_training_waits_for_the_engine(workspace: Workspace, qtbot) -> None:  # type: ignore[no-untyped-def]
    with qtbot.waitSignal(workspace.message) as told:
        assert not workspace.train()
    assert told.args[1] == "info"


def test_titles_are_told_once(workspace: Workspace) -> None:
    told: list[bool] = []
    workspace.title_changed.connect(lambda: told.append(workspace.document.modified))
    add_iris(workspace)
    workspace.apply("Rename", Rename("n1", "a"))
    workspace.undo()
    workspace.undo()
    workspace.document.replace(Project())
    workspace.document.replace(Project(title="Other"))
    assert told == [True, False, False]


def test_the_device_is_remembered_for_this_computer(workspace: Workspace, places: Places) -> None:
    assert workspace.device == "automatic"
    workspace.set_device("cpu")
    assert Workspace(places, parent=QObject()).device == "cpu"
    with pytest.raises(KeyError):
        workspace.set_device("abacus")
    assert DEVICES["automatic"] == "auto"


def test_feed_and_state_are_polled(shaped: Workspace, qtbot) -> None:  # type: ignore[no-untyped-def]
    with qtbot.waitSignals([shaped.ticked, shaped.state_changed], timeout=2000):
        shaped.trainer.feed.append("train_loss", 1, 0.1, 0.1, 1.0)
        shaped.trainer.state = "running"
    assert shaped.training
    with qtbot.waitSignal(shaped.advised, timeout=2000) as told:
        shaped.trainer.feed.note("warning", "The disk is full.")
    assert (told.args[0].message, told.args[0].kind) == ("The disk is full.", "warning")


def test_the_engine_starts_behind_the_window(places: Places, qtbot) -> None:  # type: ignore[no-untyped-def]
    workspace = Workspace(places)
    add_iris(workspace)
    with qtbot.waitSignal(workspace.engine_ready, timeout=60_000):
        workspace.start_engine()
    assert isinstance(workspace.engine, EngineParts)
    assert workspace.shapes.total_parameters == 15
    workspace.close()


def test_news_of_a_run_are_told_once_and_taken_back(shaped: Workspace) -> None:
    told: list[str] = []
    over: list[str] = []
    shaped.advised.connect(lambda event: told.append(event.message))
    shaped.settled.connect(over.append)
    feed = shaped.trainer.feed
    feed.note("error", "The loss is not a number any more.", "n3", 7)
    feed.note("info", "By the way.")
    feed.note("warning", "It hardly learns.", about="plateau")
    shaped._look()
    feed.note("settled", "", about="plateau")
    shaped._look()
    assert told == ["The loss is not a number any more.", "It hardly learns."] and over == ["plateau"]
    feed.clear()
    for number in range(5):  # more than the run before had said
        feed.note("warning", f"Warning {number}.")
    shaped._look()
    assert over == ["plateau", ""] and told[2:] == [f"Warning {number}." for number in range(5)]


def test_every_way_to_train_begins_one_run(shaped: Workspace) -> None:
    add_iris(shaped)
    for state in ("idle", "loading", "running", "paused", "stopping"):
        if state != "idle":
            shaped.trainer.state = state
        assert shaped.train()
    assert shaped.trainer.asked.count("start") == 1
    assert shaped.train(again=True) and shaped.trainer.asked.count("start") == 2


def test_a_run_that_has_ended_goes_on_or_is_replaced(shaped: Workspace, tmp_path: Path) -> None:
    add_iris(shaped)
    replaced: list[Path] = []
    shaped.replaced.connect(replaced.append)
    trainer = shaped.trainer
    assert not shaped.can_train_more
    trainer.progress, trainer.folder = replace(trainer.progress, step=7), tmp_path
    assert shaped.can_train_more and shaped.go_on() and trainer.asked[-1] == "more"
    trainer.state = "paused"
    assert not shaped.can_train_more and shaped.go_on() and trainer.asked[-1] == "resume"
    trainer.state = "finished"
    assert shaped.can_train_more and shaped.train() and trainer.asked[-1] == "start"
    assert replaced == [tmp_path]
    trainer.state = "finished"
    shaped.apply("Remove", Remove(("n2",)))
    assert not shaped.go_on() and trainer.asked[-1] == "start"


def test_training_that_was_asked_for_too_early_begins_when_the_engine_has_started(
    workspace: Workspace,
) -> None:
    from engine.emit.script import export_script
    from engine.shapes.shapes import ShapeBook
    from tests.app.fake_run import FakeTrainer

    started: list[FakeTrainer] = []

    def trainer(*_: object) -> FakeTrainer:
        started.append(FakeTrainer())
        return started[-1]

    add_iris(workspace)
    said: list[str] = []
    workspace.message.connect(lambda words, kind: said.append(words))
    assert not workspace.train()
    assert said == ["The engine is still starting; training begins by itself in a moment."]
    workspace.adopt_engine(EngineParts(ShapeBook, trainer, export_script))
    assert started[0].asked.count("start") == 1
