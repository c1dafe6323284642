"""A run whose graph can no longer be trained waits, and goes on when that is undone."""

import pytest

from engine.document.graph import Graph, Project
from engine.errors import TrainingError
from engine.train.trainer import Trainer
from tests.engine.train.networks import iris, settle, with_node
from tests.engine.train.test_trainer import LONG


def without_loss(project: Project) -> Project:
    nodes = [node for node in project.graph.nodes.values() if node.type != "CrossEntropy"]
    changed = project.copy()
    changed.graph = Graph(nodes, [link for link in project.graph.links if link.target != "n5"])
    return changed


@pytest.mark.parametrize("what", ["a size below one", "no loss", "said by the window"])
def test_a_run_waits_for_as_long_as_its_graph_cannot_be_trained(trainer: Trainer, what: str) -> None:
    project = iris(epochs=LONG)
    trainer.start(project)
    assert trainer.wait(20, until=lambda: trainer.progress.step > 3)
    if what == "said by the window":
        trainer.hold(TrainingError("hidden: nothing is connected to x.", node_id="n2"))
    else:
        trainer.update(with_node(project, "n2", units=-1) if what != "no loss" else without_loss(project), 2)
    settle(trainer, "paused")
    assert trainer.held is not None and "KeyError" not in str(trainer.held)
    waits = [event for event in trainer.feed.events if event.about == "waiting"]
    assert [event.message for event in waits] == [f"Training waits: {trainer.held}"]
    step = trainer.progress.step
    for ask in (trainer.step, trainer.step_layer):
        ask()
        assert trainer.wait(20) and trainer.state == "paused"
    assert trainer.progress.step == step
    trainer.update(project, 3)
    assert trainer.wait(20, until=lambda: trainer.progress.step > step + 3) and trainer.state == "running"
    assert trainer.held is None
    assert [event.kind for event in trainer.feed.events if event.about == "waiting"] == ["warning", "settled"]
    trainer.stop()
    settle(trainer, "idle")


def test_a_run_that_was_paused_by_hand_stays_so_when_its_graph_is_whole_again(trainer: Trainer) -> None:
    project = iris(epochs=LONG)
    trainer.start(project)
    assert trainer.wait(20, until=lambda: trainer.progress.step > 3)
    trainer.update(without_loss(project), 2)
    settle(trainer, "paused")
    trainer.pause()
    trainer.update(project, 3)
    assert trainer.wait(20) and trainer.state == "paused" and trainer.held is None
    trainer.stop()
    settle(trainer, "idle")


def test_an_error_goes_when_its_cause_is_undone(trainer: Trainer) -> None:
    project = iris()
    trainer.start(without_loss(project))
    settle(trainer, "failed")
    assert trainer.error is not None
    trainer.update(without_loss(project), 2)
    assert trainer.wait(20) and trainer.error is not None
    trainer.update(project, 3)
    assert trainer.wait(20) and trainer.error is None
    assert [event.kind for event in trainer.feed.events if event.about == "failure"] == ["error", "settled"]
