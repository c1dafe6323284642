"""A run that has ended goes on: with its weights, moments and schedule."""

import pytest

from engine.document.plan import Choice
from engine.train.run_folder import read_settings
from engine.train.trainer import Trainer
from tests.engine.train.networks import iris, settle
from tests.engine.train.test_trainer import losses, with_epochs


@pytest.mark.parametrize("schedule", [None, Choice("Cosine")])
def test_a_finished_run_trains_more_with_its_weights_and_moments(
    trainer: Trainer, schedule: Choice | None
) -> None:
    project = iris(epochs=6, schedule=schedule, optimiser=Choice("Adam", {"lr": 0.003}), dropout=0.0)
    trainer.start(project, device="cpu")
    settle(trainer, "finished")
    whole = losses(trainer)
    short = with_epochs(project, 3)
    trainer.start(short, device="cpu")
    settle(trainer, "finished")
    folder, rate = trainer.folder, trainer.feed.last("lr")
    assert folder is not None and len(losses(trainer)) == len(whole) // 2
    trainer.more()
    assert trainer.wait(20) and trainer.state == "finished"
    assert trainer.folder == folder and trainer.progress.epoch == trainer.progress.epochs == 6
    assert len(losses(trainer)) == len(whole)
    facts = read_settings(folder)
    assert (facts["state"], facts["epochs_done"], facts["more"]) == ("finished", 6, 3)
    told = [event.message for event in trainer.feed.events if "goes on" in event.message]
    assert len(told) == 1 and ("learning rate" in told[0]) == (schedule is not None)
    if schedule is None:  # every epoch was the best so far, so that nothing was taken back
        assert losses(trainer) == whole
    else:
        assert trainer.feed.read("lr")["value"].max() <= 0.003 and trainer.feed.last("lr") != rate
    trainer.reset()
    trainer.continue_from(folder, at_rest=True)
    settle(trainer, "finished")
    assert trainer.progress.epoch == 6
    trainer.continue_from(folder)
    settle(trainer, "finished")
    assert trainer.progress.epoch == 9


def test_a_run_that_stopped_early_goes_on_to_the_end_of_its_plan(trainer: Trainer) -> None:
    trainer.start(iris(epochs=9, patience=1, optimiser=Choice("SGD", {"lr": 1e-12})), device="cpu")
    settle(trainer, "finished")
    stopped = trainer.progress.epoch
    assert stopped < 9
    trainer.more()
    assert trainer.wait(20) and trainer.state == "finished"
    assert trainer.progress.epoch > stopped and trainer.progress.epochs == 9
