"""What is tried is answered at once, with the slope of the answer; the run does not notice."""

import time

import numpy as np
import pytest
import torch

from engine.document.graph import Graph, Link, Node, Project
from engine.feed.feed import Feed, Probe, Tried
from engine.look.taking import Probes
from engine.runs.settings import Stage
from engine.train.loop import Run
from engine.train.trainer import Trainer
from tests.bench.setting import gallery_project
from tests.engine.look.taking import take
from tests.engine.train.networks import DATASETS, catalogue, digits, iris, run_of, settle

PROBE = Probe("", "try_it")


def answered(run: Run, tried: Tried | None, probe: Probe = PROBE):  # type: ignore[no-untyped-def]
    probes = Probes(run.feed)
    probes.watch(frozenset({probe}))
    probes.try_input(tried)
    probes.take_all(run)
    ends = time.monotonic() + 30
    while run.feed.latest(probe) is None and time.monotonic() < ends:
        time.sleep(0.002)
    probes.close()
    found = run.feed.latest(probe)
    assert found is not None
    return found


def test_the_answer_to_a_flower_that_nobody_has_seen() -> None:
    run = run_of(iris(dropout=0.0))
    flower = np.array([0.1, -2.0, 1.0, 0.3], np.float32)
    found = answered(run, Tried(7, {"features": flower}), Probe("", "try_it", ("n2",)))
    run.model.eval()
    x = torch.tensor(flower[None], requires_grad=True)
    scores = run.program.forward(run.model, {"features": x, "species": torch.zeros(1, dtype=torch.int64)})
    np.testing.assert_allclose(found.array, scores.softmax(1)[0].detach(), atol=1e-6)
    scores.max().backward()
    np.testing.assert_allclose(found.extra["slope"], x.grad[0], atol=1e-6)
    assert found.extra["try"] == 7 and found.extra["classes"][0] == "setosa"
    assert found.extra["activations"].shape == (16,)


def test_without_a_try_it_is_the_pinned_example() -> None:
    run = run_of(digits())
    (found,) = take(run, PROBE, pinned=5)
    assert found.extra["try"] == 0 and found.extra["example"] == 5
    assert found.array.shape == (10,) and found.array.sum() == pytest.approx(1, abs=1e-5)
    assert found.extra["slope"].shape == (8, 8) and (found.extra["slope"] >= 0).all()


def test_what_was_made_for_another_model_is_left_out() -> None:
    run = run_of(iris(dropout=0.0))
    found = answered(run, Tried(1, {"features": np.zeros(3, np.float32)}))
    np.testing.assert_array_equal(found.array, take(run, PROBE)[0].array)


def test_a_sign_has_no_slope_but_an_answer() -> None:
    run = run_of(gallery_project("perceptron-gates"))
    found = answered(run, Tried(1, {"inputs": np.array([1.0, 1.0], np.float32)}), Probe("n4", "try_it"))
    assert found.array.shape == (2,)


def test_losses_are_the_same_while_somebody_tries() -> None:
    curves, seen = [], 0
    for tries in (False, True):
        run = run_of(digits())
        probes = Probes(run.feed)
        probes.watch(frozenset({PROBE}))
        number = 0
        while run.stage is not Stage.DONE:
            if tries:
                number += 1
                probes.refresh()
                probes.take_due(run, time.perf_counter() + 1)
                probes.try_input(Tried(number, {"image": np.full((1, 8, 8), number % 3 / 3, np.float32)}))
            run.advance()
        probes.close()
        curves.append(run.feed.read("train_loss")["value"].tolist())
        seen += run.feed.latest(PROBE) is not None
    assert curves[0] == curves[1] and seen == 1


def with_noise() -> Project:
    """Iris beside a layer that sees nothing but noise, with a loss of its own."""
    project = iris(dropout=0.0)
    nodes = [Node("n8", "GaussianNoise", "", {"size": (4,)}), Node("n10", "Linear", "", {"units": 2})]
    nodes += [*project.graph.nodes.values(), Node("n9", "ActivityL1")]
    links = [*project.graph.links, Link("n8", "output", "n10", "x"), Link("n10", "output", "n9", "x")]
    return Project("Noisy", graph=Graph(nodes, links), plan=project.plan, next_id=11)


def test_what_a_source_draws_for_an_answer_is_not_taken_from_training() -> None:
    curves = []
    for tries in (False, True):
        run = run_of(with_noise())
        probes = Probes(run.feed)
        probes.watch(frozenset({PROBE}))
        for number in range(1, 12):
            if tries:
                probes.refresh()
                probes.take_all(run)
                probes.try_input(Tried(number, {"features": np.full(4, number / 10, np.float32)}))
                ends = time.monotonic() + 30
                while latest(run.feed) != number and time.monotonic() < ends:
                    time.sleep(0.001)
            run.advance()
        probes.close()
        curves.append(run.feed.read("train_loss")["value"].tolist())
    assert curves[0] == curves[1]


def test_the_answer_follows_the_weights() -> None:
    run = run_of(iris(dropout=0.0))
    flower = Tried(1, {"features": np.array([0.1, -2.0, 1.0, 0.3], np.float32)})
    before = answered(run, flower)
    for _ in range(20):
        run.advance()
    run.feed.forget_views()
    after = answered(run, flower)
    assert np.abs(after.array - before.array).max() > 0.01 and after.step == run.step


def latest(feed: Feed) -> int:
    found = feed.latest(PROBE)
    return -1 if found is None else int(found.extra.get("try", -1))


@pytest.mark.parametrize("training", [False, True])
def test_a_trainer_answers_paused_and_while_training(training: bool) -> None:
    trainer = Trainer(catalogue(), DATASETS)
    try:
        project = digits(epochs=1000)
        trainer.watch(frozenset({PROBE}))
        if training:
            trainer.start(project)
            settle(trainer, "running")
        else:
            trainer.prepare(project)
        for number in (1, 2, 3):
            trainer.try_input(Tried(number, {"image": np.zeros((1, 8, 8), np.float32)}))
            assert trainer.wait(20, until=lambda number=number: latest(trainer.feed) == number)
        trainer.pause()
        trainer.wait()
        trainer.try_input(Tried(4, {"image": np.ones((1, 8, 8), np.float32)}))
        assert trainer.wait(20, until=lambda: latest(trainer.feed) == 4)
    finally:
        assert trainer.close()


def test_the_answer_of_an_autoencoder_is_an_image() -> None:
    run = run_of(gallery_project("stacked-autoencoder"))
    (found,) = take(run, Probe("n4", "try_it"))
    assert found.extra["kind"] == "values" and found.extra["shape"] == (1, 28, 28)
    assert found.array.shape == (784,)
