"""The thread: quick to obey, hard to kill, and gone when told to go."""

import gc
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest
import torch
from torch import Tensor

from engine.document.graph import Project
from engine.document.plan import Choice
from engine.errors import TrainingError
from engine.feed.feed import Probe
from engine.runs.settings import Stage
from engine.train.run_folder import read_settings
from engine.train.trainer import Trainer
from tests.engine.train.networks import DATASETS, ByHand, catalogue, iris, run_of, settle, with_node

Make = Callable[[ByHand], Trainer]


@pytest.fixture
def by_hand() -> Iterator[Make]:
    """Makes trainers of programs written by hand."""
    made: list[Trainer] = []

    def make(program: Any) -> Trainer:
        made.append(Trainer(catalogue(), DATASETS, compile=lambda project, catalogue, revision: program))
        return made[-1]

    yield make
    assert all([one.close() for one in made])


LONG = 100_000


def with_epochs(project: Project, epochs: int) -> Project:
    changed = project.copy()
    changed.plan = project.plan.with_(epochs=epochs)
    return changed


def losses(trainer: Trainer) -> list[float]:
    return trainer.feed.read("train_loss")["value"].tolist()


def test_a_run_finishes_and_keeps_its_folder(trainer: Trainer) -> None:
    trainer.start(iris(), 7)
    assert trainer.state == "loading"
    settle(trainer, "finished")
    assert len(losses(trainer)) == 12 and trainer.error is None
    assert trainer.progress.epoch == 4 and trainer.progress.seconds_left is None
    assert trainer.progress.device.startswith("CPU")
    assert trainer.folder is not None and read_settings(trainer.folder)["state"] == "finished"
    assert "test_accuracy" in trainer.feed.series()


def test_commands_return_at_once_and_take_effect_within_a_batch(by_hand: Make) -> None:
    """C-6: pausing and stopping take effect within a batch."""
    entered, release = threading.Event(), threading.Semaphore(0)

    def wait(x: Tensor) -> None:
        if torch.is_grad_enabled():  # only training, not the look at the labels or validation
            entered.set()
            assert release.acquire(timeout=20)

    program = ByHand(inside=wait)
    trainer = by_hand(program)
    trainer.start(program.project)
    assert entered.wait(20)
    trainer.pause()  # returns although the batch is still on its way
    release.release()
    settle(trainer, "paused")
    assert trainer.progress.step == 1
    trainer.step()
    release.release()
    assert trainer.wait(20, until=lambda: trainer.progress.step == 2 and trainer.state == "paused")
    entered.clear()
    trainer.resume()
    assert entered.wait(20)
    trainer.stop()
    assert trainer.state == "stopping"
    release.release()
    settle(trainer, "idle")
    assert trainer.progress.step == 3


def test_stop_cuts_a_long_evaluation_short(by_hand: Make) -> None:
    """C-6, in the middle of an evaluation too."""
    evaluating, go_on = threading.Event(), threading.Event()

    def wait(x: Tensor) -> None:  # before the epoch has ended there are only glances at one batch
        if not torch.is_grad_enabled() and len(x) == 8 and trainer.progress.step == 500:
            evaluating.set()
            assert go_on.wait(20)

    program = ByHand(rows=4000, inside=wait)
    trainer = by_hand(program)
    trainer.start(program.project)
    assert evaluating.wait(60)
    trainer.pause()
    go_on.set()
    settle(trainer, "paused")
    assert trainer.progress.step == 500 and trainer.progress.epoch == 0  # the evaluation is still to be done
    trainer.resume()
    assert trainer.wait(60, until=lambda: trainer.progress.epoch == 1)
    trainer.stop()
    settle(trainer, "idle")


def test_pausing_changes_no_number(trainer: Trainer) -> None:
    """C-25: pause and resume."""
    trainer.start(iris(epochs=40))
    settle(trainer, "finished")
    whole = losses(trainer)
    trainer.start(iris(epochs=40))
    for _ in range(5):
        trainer.pause()
        trainer.step()
        trainer.step()
        trainer.resume()
    settle(trainer, "finished")
    assert losses(trainer) == whole


def test_reset_gives_the_identical_curve_and_new_weights_another(trainer: Trainer) -> None:
    """C-21"""
    trainer.start(iris())
    settle(trainer, "finished")
    first = losses(trainer)
    trainer.reset()
    assert trainer.wait(20) and trainer.state == "idle" and not losses(trainer)
    trainer.start(iris())
    settle(trainer, "finished")
    assert losses(trainer) == first
    trainer.reset(new_weights=True)
    trainer.start(iris())
    settle(trainer, "finished")
    assert losses(trainer) != first
    trainer.start(iris(), seed=0)
    settle(trainer, "finished")
    assert losses(trainer) == first


def test_a_step_from_standstill_trains_one_batch(trainer: Trainer) -> None:
    trainer.prepare(iris())
    trainer.step()
    settle(trainer, "paused")
    assert len(losses(trainer)) == 1
    trainer.stop()
    settle(trainer, "idle")


def test_pictures_work_before_training_while_paused_and_after(trainer: Trainer) -> None:
    probe = Probe("n2", "activations")
    trainer.watch(frozenset({probe}))
    trainer.prepare(iris(), 1)
    assert trainer.wait(20)
    before = trainer.feed.latest(probe)
    assert before is not None and (before.revision, before.step) == (1, 0)
    assert trainer.state == "idle" and trainer.feed.series() == ()
    trainer.start(iris(), 2)
    settle(trainer, "finished")
    assert trainer.wait(20)
    after = trainer.feed.latest(probe)
    assert after is not None and (after.revision, after.step) == (2, 12)
    trainer.pin(3)
    assert trainer.wait(20)
    other = trainer.feed.latest(probe)
    assert other is not None and other.extra["example"] == 3


def test_metrics_and_confusion_of_a_batch_come_with_the_first_step(trainer: Trainer) -> None:
    confusion = Probe("n5", "confusion")
    plain = run_of(iris(epochs=2))
    while plain.stage is not Stage.DONE:
        plain.advance()
    trainer.prepare(iris(epochs=2))
    trainer.step()
    assert trainer.wait(20) and trainer.progress.step == 1
    seen = trainer.feed.latest(confusion)
    assert seen is not None and seen.extra["split"] == "one validation batch" and seen.array.sum() == 30
    assert trainer.feed.read("batch_accuracy")["step"].tolist() == [1] and not len(
        trainer.feed.read("val_loss")
    )
    trainer.resume()
    settle(trainer, "finished")
    last = trainer.feed.latest(confusion)
    assert last is not None and last.extra["split"] == "validation"
    assert losses(trainer) == plain.feed.read("train_loss")["value"].tolist()  # looking has changed nothing


@pytest.mark.parametrize("epochs", [2, 40])
def test_gradients_are_those_of_the_last_step_however_short_the_run(trainer: Trainer, epochs: int) -> None:
    norms = Probe("", "norms")
    trainer.watch(frozenset({norms}))
    trainer.start(iris(epochs=epochs))
    settle(trainer, "finished")
    seen = trainer.feed.latest(norms)
    assert seen is not None and seen.step == trainer.progress.step - 1 and (seen.array[:, 2] > 0).all()
    trainer.start(iris(epochs=LONG))
    assert trainer.feed.latest(norms) is not seen or trainer.state == "loading"
    assert trainer.wait(20, until=lambda: trainer.feed.latest(norms) is not seen)
    trainer.stop()
    settle(trainer, "idle")


def test_pictures_of_another_project_are_dropped(trainer: Trainer) -> None:
    probe = Probe("n3", "activations")
    trainer.watch(frozenset({probe}))
    trainer.start(iris(), 2)
    settle(trainer, "finished")
    assert trainer.wait(20)
    assert (
        trainer.feed.latest(probe) is not None and trainer.feed.latest(Probe("n5", "confusion")) is not None
    )
    trainer.watch(frozenset())
    trainer.reset()
    assert trainer.wait(20)
    assert trainer.feed.latest(probe) is None and trainer.feed.latest(Probe("n5", "confusion")) is None


def test_preparing_another_project_begins_with_its_own_first_weights(trainer: Trainer) -> None:
    def weights(project: Project) -> Tensor:
        trainer.prepare(project)
        assert trainer.wait(20) and trainer._worker.run is not None
        return trainer._worker.run.model.classes.weight.clone()  # type: ignore[union-attr,operator]

    alone = weights(iris(dropout=0.1))
    trainer.reset()
    weights(with_node(iris(), "n2", units=24))
    assert torch.equal(weights(iris(dropout=0.1)), alone)


def test_an_unfinished_graph_is_no_error_before_training(trainer: Trainer) -> None:
    trainer.prepare(with_node(iris(), "n2", units=-3))
    assert trainer.wait(20)
    assert trainer.state == "idle" and trainer.error is None and not trainer.feed.events


def test_a_layer_may_raise_anything_and_the_next_run_works(by_hand: Make) -> None:
    """C-17: exceptions and sys.exit."""
    broken: list[BaseException] = [
        SystemExit(3),
        torch.OutOfMemoryError("no more"),
        KeyboardInterrupt(),
        ValueError("no"),
    ]
    for error in broken:
        program = ByHand()

        def fail(x: Tensor, error: BaseException = error) -> None:
            if torch.is_grad_enabled():
                raise error

        program.inside = fail
        trainer = by_hand(program)
        trainer.start(program.project)
        settle(trainer, "failed")
        assert isinstance(trainer.error, TrainingError) and trainer.error.node_id == "n2"
        assert trainer.feed.events[-1].kind == "error" and trainer.feed.events[-1].node_id == "n2"
        program.inside = None
        trainer.start(program.project)
        settle(trainer, "finished")
        assert trainer.error is None


def test_labels_out_of_range_then_a_corrected_run(trainer: Trainer) -> None:
    """A-20: told at the loss before a device sees it, and the next run works."""
    trainer.start(iris(classes=2))
    settle(trainer, "failed")
    assert trainer.error is not None and trainer.error.node_id == "n5"
    trainer.start(iris())
    settle(trainer, "finished")


def test_a_missing_device_falls_back_with_a_notice(trainer: Trainer) -> None:
    """C-18"""
    trainer.start(iris(), device="cuda:99")
    settle(trainer, "finished")
    assert any(event.kind == "warning" and "cuda:99" in event.message for event in trainer.feed.events)


def test_an_edit_elsewhere_keeps_weights_and_momentum(trainer: Trainer) -> None:
    project = iris(epochs=LONG, optimiser=Choice("SGD", {"lr": 0.01, "momentum": 0.9}), dropout=0.0)
    trainer.start(project, 1)
    assert trainer.wait(20, until=lambda: trainer.progress.step > 5)
    trainer.pause()
    settle(trainer, "paused")
    run = trainer._worker.run
    assert run is not None
    old, hidden = run.model, run.model.hidden.weight.clone()  # type: ignore[union-attr,operator]
    momentum = run.optimiser.state[old.hidden.weight]["momentum_buffer"]  # type: ignore[union-attr]
    trainer.update(with_node(project, "n3", share=0.25), 2)
    assert trainer.wait(20) and trainer.state == "paused"
    assert run.model is not old and run.revision == 2
    assert torch.equal(run.model.hidden.weight, hidden)  # type: ignore[union-attr]
    assert torch.equal(run.optimiser.state[run.model.hidden.weight]["momentum_buffer"], momentum)  # type: ignore[union-attr]
    trainer.update(with_node(project, "n2", units=24), 3)
    assert trainer.wait(20)
    assert run.model.hidden.weight.shape == (24, 4)  # type: ignore[union-attr]
    assert "start again from their first weights" in trainer.feed.events[-1].message
    step = run.step
    trainer.resume()
    assert trainer.wait(20, until=lambda: trainer.progress.step > step + 3)
    trainer.stop()
    settle(trainer, "idle")
    assert (
        trainer.folder is not None
        and (trainer.folder / "project.nloom").read_text().count('"units": 24') == 1
    )


def test_an_edit_that_changes_no_code_rebuilds_nothing(trainer: Trainer) -> None:
    project = iris(epochs=LONG)
    trainer.start(project)
    assert trainer.wait(20, until=lambda: trainer.progress.step > 3)
    trainer.pause()
    settle(trainer, "paused")
    run = trainer._worker.run
    assert run is not None
    model = run.model
    moved = project.copy()
    trainer.update(moved, 9)
    assert trainer.wait(20) and run.model is model and run.revision == 9
    trainer.stop()
    settle(trainer, "idle")


def test_the_learning_rate_changes_live(trainer: Trainer) -> None:
    trainer.start(iris(epochs=LONG))
    assert trainer.wait(20, until=lambda: trainer.progress.step > 3)
    trainer.set(lr=0.5)
    assert trainer.wait(20, until=lambda: trainer.feed.last("lr") == 0.5)
    trainer.stop()
    settle(trainer, "idle")


def test_a_stopped_run_goes_on_and_a_stored_one_continues_bit_for_bit(trainer: Trainer) -> None:
    project = iris(epochs=30, schedule=Choice("Cosine"))
    trainer.start(project)
    settle(trainer, "finished")
    whole = losses(trainer)
    trainer.prepare(project)
    trainer.step()
    trainer.step()
    trainer.stop()
    settle(trainer, "idle")
    trainer.resume()
    assert trainer.wait(20, until=lambda: trainer.progress.step > 10)
    trainer.stop()
    assert trainer.wait(20)
    folder = trainer.folder
    assert folder is not None
    done = len(losses(trainer))
    trainer.reset()
    trainer.continue_from(folder)
    settle(trainer, "finished")
    assert done < len(whole) and losses(trainer) == whole
    steps = trainer.feed.read("train_loss")["step"]
    assert (steps[1:] > steps[:-1]).all()


def test_continuing_what_is_no_run_is_an_error_and_no_more(trainer: Trainer, tmp_path: Path) -> None:
    trainer.continue_from(tmp_path)
    settle(trainer, "failed")
    trainer.start(iris())
    settle(trainer, "finished")


def test_closing_saves_and_ends_the_thread(tmp_path: Path) -> None:
    """C-6: no thread outlives the window."""
    trainer = Trainer(catalogue(), DATASETS, tmp_path)
    trainer.start(iris(epochs=LONG))
    assert trainer.wait(20, until=lambda: trainer.progress.step > 3)
    folder = trainer.folder
    assert trainer.close() and trainer.state == "idle"
    assert folder is not None and read_settings(folder)["state"] == "stopped"
    assert (folder / "checkpoint.json").exists() and (folder / "weights-last.safetensors").exists()
    assert not [thread for thread in threading.enumerate() if thread.name == "neuroloom-trainer"]
    trainer.start(iris())
    assert trainer.close()


def test_a_trainer_that_was_never_used_has_no_thread(tmp_path: Path) -> None:
    trainer = Trainer(catalogue(), DATASETS, tmp_path)
    assert trainer.close()


def test_a_disk_that_refuses_is_said_once_and_ends_no_run(tmp_path: Path) -> None:
    runs = tmp_path / "runs"
    runs.write_text("a file where a folder should be")
    trainer = Trainer(catalogue(), DATASETS, runs)
    trainer.start(iris())
    settle(trainer, "finished")
    assert [event.kind for event in trainer.feed.events].count("warning") == 1
    assert trainer.close()


def test_two_trainers_keep_their_curves_apart(by_hand: Make) -> None:
    """C-3"""
    programs = ByHand(epochs=20), ByHand(epochs=20, lr=1e-9)
    one, two = trainers = [by_hand(program) for program in programs]
    for trainer, program in zip(trainers, programs, strict=True):
        trainer.start(program.project)
    for trainer in trainers:
        settle(trainer, "finished")
    assert losses(one)[-1] < 0.2 * losses(one)[0] and losses(two)[-1] > 0.5 * losses(two)[0]
    assert len(losses(one)) == len(losses(two)) == 100


def test_twenty_trained_and_stopped_runs_leave_no_memory_behind(trainer: Trainer) -> None:
    """C-8"""
    process, sizes = psutil.Process(), []
    project = iris(epochs=LONG, hidden=2000)
    for _ in range(20):
        trainer.start(project)
        assert trainer.wait(60, until=lambda: trainer.progress.step > 2)
        trainer.stop()
        settle(trainer, "idle")
        gc.collect()
        sizes.append(process.memory_info().rss)
    assert sizes[-1] < 1.05 * sizes[1]


def test_starting_again_replaces_the_run(trainer: Trainer) -> None:
    trainer.start(iris(epochs=LONG))
    assert trainer.wait(20, until=lambda: trainer.progress.step > 3)
    generation = trainer.feed.generation
    trainer.start(iris(), 2)
    settle(trainer, "finished")
    assert trainer.feed.generation == generation + 1 and len(losses(trainer)) == 12


def test_many_commands_at_once_end_in_order(trainer: Trainer) -> None:
    for revision in range(20):
        trainer.start(iris(epochs=LONG), revision)
        trainer.watch(frozenset({Probe("n2", "weights")}))
        trainer.pause()
        trainer.resume()
    trainer.stop()
    assert trainer.wait(60) and trainer.state == "idle"
    time.sleep(0.05)
    assert trainer.state == "idle"


@pytest.mark.logs("could not be ended in order")
def test_even_a_failure_that_fails_leaves_a_thread_that_answers(
    by_hand: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = ByHand(lr=1e30)
    trainer = by_hand(program)
    monkeypatch.setattr("engine.train.worker.explain", None)
    trainer.start(program.project)
    settle(trainer, "failed")
    monkeypatch.undo()
    program.lr = 0.1
    trainer.start(program.project)
    settle(trainer, "finished")
