"""Kinds of pictures: failures are told in their place, costly ones leave no trace in the run."""

import time
from collections.abc import Iterator

import numpy as np
import pytest
import torch

from engine.errors import NeuroloomError
from engine.feed.feed import Probe
from engine.look import registry
from engine.look.registry import Taken, probe_kind, probe_kinds
from engine.look.sight import Look
from engine.look.taking import Probes
from engine.runs.settings import Stage
from tests.engine.look.taking import take
from tests.engine.train.networks import digits, iris, run_of


@pytest.fixture(autouse=True)
def own_kinds() -> Iterator[None]:
    probe_kinds()
    before = dict(registry._KINDS)
    yield
    registry._KINDS.clear()
    registry._KINDS.update(before)


def test_a_name_is_taken_once() -> None:
    with pytest.raises(ValueError, match="singular_values"):
        probe_kind("singular_values")(lambda look, probe: None)


def test_what_fails_says_why_in_its_place() -> None:
    @probe_kind("refusing")
    def refusing(look: Look, probe: Probe) -> Taken | None:
        raise NeuroloomError("There are no classes here.")

    @probe_kind("broken")
    def broken(look: Look, probe: Probe) -> Taken | None:
        raise ZeroDivisionError("division by zero")

    refused, broke = take(run_of(iris()), Probe("", "refusing"), Probe("", "broken"))
    assert refused.extra["failed"] == "There are no classes here."
    assert "division by zero" in broke.extra["failed"]
    assert refused.array.size == broke.array.size == 0


@pytest.mark.parametrize("apart", [False, True])
def test_losses_are_the_same_with_pictures_that_draw_and_run_the_model(apart: bool) -> None:
    @probe_kind("nosy", every=0.0, apart=apart)
    def nosy(look: Look, probe: Probe) -> Taken | None:
        if not apart:
            torch.randn(3)
        head = look.head()
        assert head is not None
        value = look.value(head.prediction[0], look.batch(0, 8))
        assert value is not None and not value.requires_grad
        return value.numpy(), {}

    curves = []
    for watched in (False, True):
        run = run_of(digits())
        probes = Probes(run.feed)
        if watched:
            probes.watch(frozenset({Probe("", "nosy")}))
        while run.stage is not Stage.DONE:
            probes.refresh()
            probes.take_due(run, time.perf_counter() + 1)
            run.advance()
        probes.close()
        curves.append(run.feed.read("train_loss")["value"].tolist())
        if watched:
            assert run.feed.latest(Probe("", "nosy")) is not None
    assert curves[0] == curves[1]


def test_a_costly_picture_sees_the_weights_of_its_step() -> None:
    @probe_kind("weighed", apart=True)
    def weighed(look: Look, probe: Probe) -> Taken | None:
        return np.array([weight.sum().item() for weight in look.model.parameters()]), {}

    run = run_of(iris())
    before = [weight.sum().item() for weight in run.model.parameters()]
    (snapshot,) = take(run, Probe("", "weighed"))
    np.testing.assert_allclose(snapshot.array, before)
    assert snapshot.step == 0


def test_nobody_waits_for_a_picture_that_nobody_looks_at() -> None:
    @probe_kind("endless", apart=True)
    def endless(look: Look, probe: Probe) -> Taken | None:
        while True:
            look.check()
            time.sleep(0.001)

    run = run_of(iris())
    probes = Probes(run.feed)
    probes.watch(frozenset({Probe("", "endless")}))
    probes.take_all(run)
    probes.close()
    assert run.feed.latest(Probe("", "endless")) is None


def test_pictures_of_single_points_are_let_go_when_nobody_looks() -> None:
    run = run_of(iris())
    probes = Probes(run.feed)
    for point in range(50):
        wanted = Probe("n2", "singular_values", (point,))
        probes.watch(frozenset({wanted, Probe("n4", "singular_values")}))
        probes.take_all(run)
        assert run.feed.latest(wanted) is not None
    assert len(run.feed._latest) == 2


def test_a_kind_that_is_taken_once_is_taken_again_when_more_is_asked() -> None:
    seen: list[tuple[object, ...]] = []

    @probe_kind("asked", once=True)
    def asked(look: Look, probe: Probe) -> Taken | None:
        seen.append(probe.detail)
        return np.zeros(1), {}

    run = run_of(iris())
    probes = Probes(run.feed)
    for number in (1, 1, 2):
        probes.watch(frozenset({Probe("", "asked", (number,))}))
        for _ in range(3):
            probes.take_due(run, time.perf_counter() + 1000)
    assert seen == [(1,), (2,)]
