"""A run gives the same numbers whether or not its pictures are watched, and keeps what they showed."""

from __future__ import annotations

import numpy as np

from engine.feed.feed import Probe
from engine.feed.history import FILE, History
from engine.train.trainer import Trainer
from tests.engine.train.networks import digits, settle

PICTURES = frozenset(
    {
        *(Probe(node_id, "activations") for node_id in ("n1", "n2", "n3", "n4")),
        *(Probe("n2", what) for what in ("filters", "weights", "gradients", "output_histogram")),
        *(Probe("n2", what) for what in ("singular_values",)),
        Probe("n4", "predictions"),
        Probe("n4", "confusion"),
        Probe("", "norms"),
    }
)


def rest(trainer: Trainer, state: str) -> None:
    """Wait until all is obeyed, the pictures of the last step included."""
    settle(trainer, state)
    assert trainer.wait()


def numbers(trainer: Trainer) -> tuple[list[float], list[float]]:
    feed = trainer.feed
    return feed.read("train_loss")["value"].tolist(), feed.read("val_loss")["value"].tolist()


def test_twelve_pictures_open_or_closed_losses_are_the_same_to_the_bit(trainer: Trainer) -> None:
    assert len(PICTURES) == 12
    project = digits()
    trainer.start(project)
    rest(trainer, "finished")
    closed = numbers(trainer)
    trainer.watch(PICTURES)
    trainer.feed.history.record_only(PICTURES)
    trainer.start(project)
    rest(trainer, "finished")
    assert numbers(trainer) == closed
    assert len(closed[0]) == 17
    assert len(trainer.feed.history.probes()) >= 8


def test_a_run_that_is_taken_up_again_shows_what_it_showed(trainer: Trainer) -> None:
    watched = frozenset({Probe("n2", "filters"), Probe("n2", "weights")})
    trainer.watch(watched)
    trainer.feed.history.record_only(watched)
    trainer.start(digits(epochs=2))
    rest(trainer, "finished")
    history, folder = trainer.feed.history, trainer.folder
    assert folder is not None
    steps = history.steps()
    assert steps[0] == 0 and steps[-1] == trainer.progress.step, "from the first weights to the last"
    before = {probe: [history.at(probe, step) for step in steps] for probe in watched}
    stored = History()
    assert stored.load(folder)
    assert (folder / FILE).is_file()
    assert stored.steps() == steps
    trainer.watch(frozenset())
    trainer.start(digits(epochs=1))
    rest(trainer, "finished")
    trainer.continue_from(folder)
    rest(trainer, "finished")
    again = trainer.feed.history
    assert again.steps() == steps
    for probe, snapshots in before.items():
        for step, snapshot in zip(steps, snapshots, strict=True):
            found = again.at(probe, step)
            assert (found is None) == (snapshot is None)
            if found is not None and snapshot is not None:
                np.testing.assert_array_equal(found.array, snapshot.array)


def test_stepping_back_forgets_the_pictures_after(trainer: Trainer) -> None:
    watched = frozenset({Probe("n2", "filters")})
    trainer.watch(watched)
    trainer.feed.history.record_only(watched)
    trainer.prepare(digits())
    for _ in range(2):
        trainer.step()
        assert trainer.wait()
    assert trainer.feed.history.steps()[-1] == 2
    trainer.back()
    assert trainer.wait()
    assert trainer.feed.history.steps()[-1] == 1
