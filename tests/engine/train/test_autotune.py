"""What the fast path measures and keeps, and that a run with it resumes as it was. No real clock is read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from engine.document.graph import Project
from engine.document.plan import Choice, Minimise, Phase, Stop
from engine.emit.fast import Fast
from engine.emit.program import Program, compile_program
from engine.feed.feed import Feed
from engine.runs.records import read_settings
from engine.runs.settings import Settings
from engine.train import autotune as fast_path
from engine.train.autotune import choose, fastest, offered
from engine.train.headless import run_headless
from engine.train.loop import Run
from engine.train.state import lay_out_like_weights
from tests.engine.sketches import gallery
from tests.engine.train.networks import DATASETS, catalogue, digits

OFFERS = {"late_relu": True, "channels_last": True, "fused": True, "autocast": "cpu", "threads": 7}

CLIPPED = Phase((Minimise(accumulate=2, clip=1.0),), Stop(1))


class Track:
    """A clock that only the steps of the candidates move, each by what `cost` says of its settings."""

    def __init__(self, project: Project, cost: Callable[[Fast], float]) -> None:
        self.now = 0.0
        self._project, self._cost = project, cost
        self.data = compile_program(project, catalogue()).load(DATASETS)

    def make(self, fast: Fast) -> Program:
        program = compile_program(self._project, catalogue(), fast=fast)
        take_turn = program.take_turn

        def timed(*given: Any) -> Any:
            threads = torch.get_num_threads()
            self.now += self._cost(fast.only(threads=7 if threads == 7 else None))
            return take_turn(*given)

        program.take_turn = timed  # type: ignore[method-assign]
        return program

    def choose(self) -> Fast:
        settings = Settings.of(self._project.plan, device="cpu")
        return choose(self.make, self.data, settings, seconds=0.2, offers=OFFERS, clock=lambda: self.now)


def costs(**shares: float) -> Callable[[Fast], float]:
    """The seconds of a step: 0.02, times a share for each setting that is on."""

    def cost(fast: Fast) -> float:
        found = 0.02
        for name, share in shares.items():
            found *= share if getattr(fast, name) else 1.0
        return found

    return cost


def test_what_helps_stays_and_what_hurts_goes() -> None:
    track = Track(digits(), costs(late_relu=0.8, channels_last=1.5, fused=0.9, autocast=0.5, threads=2.0))
    found = track.choose()
    assert (found.late_relu, found.channels_last, found.fused) == (True, False, True)
    assert (found.autocast, found.threads) == ("cpu", None)
    assert found.times == pytest.approx(1 / (0.8 * 0.9 * 0.5))


def test_bfloat16_has_to_bring_more_than_noise() -> None:
    found = Track(digits(), costs(fused=0.5, autocast=0.98)).choose()
    assert found.fused and not found.autocast


def test_another_number_of_threads_is_tried() -> None:
    assert Track(digits(), costs(threads=0.5)).choose().threads == 7


def test_what_helps_only_on_fewer_threads_is_found() -> None:
    def cost(fast: Fast) -> float:
        return 0.02 if fast.threads is None else 0.01 if fast.autocast else 0.015

    found = Track(digits(), cost).choose()
    assert (found.threads, found.autocast) == (7, "cpu")


def test_where_nothing_helps_the_plain_path_stays() -> None:
    found = Track(
        digits(), costs(late_relu=1.2, channels_last=1.2, fused=1.2, autocast=1.2, threads=2)
    ).choose()
    assert not found.names() and found.times == 1.0
    assert "nothing was faster" in found.sentence()


def test_measuring_leaves_no_trace() -> None:
    track = Track(digits(), costs(fused=0.5))
    torch.manual_seed(5)
    before = torch.get_rng_state()
    columns = {name: column.clone() for name, column in track.data["train"].items()}
    threads = torch.get_num_threads()
    track.choose()
    assert torch.equal(torch.get_rng_state(), before)
    assert torch.get_num_threads() == threads
    assert all(torch.equal(columns[name], column) for name, column in track.data["train"].items())


def test_offers_follow_the_network(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fast_path, "_cpu_flags", lambda: {"avx512_bf16"})
    project = gallery("mnist-cnn")
    program = compile_program(project, catalogue())
    found = offered(program, Settings.of(project.plan, device="cpu"))
    assert {"late_relu", "channels_last", "fused", "autocast", "uniform_dropout"} <= found.keys()
    assert "compiled" not in found
    monkeypatch.setattr(fast_path, "_cpu_flags", set)
    project = gallery("iris")
    program = compile_program(project, catalogue())
    found = offered(program, Settings.of(project.plan, device="cpu"))
    assert found.keys() <= {"fused", "threads"}


@pytest.mark.parametrize(
    "asks",
    [
        {"schedule": Choice("Plateau")},
        {"optimiser": Choice("LBFGS"), "batch": 0},
        {},  # clipped
        {"monitor": "val_accuracy"},
    ],
)
def test_every_plan_has_a_fast_path(asks: dict[str, Any]) -> None:
    project = digits(epochs=1)
    project.plan = replace(project.plan, phases=(CLIPPED,)) if not asks else project.plan.with_(**asks)
    project.plan = replace(project.plan, fast=True)
    program = compile_program(project, catalogue())
    settings, feed = Settings.of(project.plan, device="cpu"), Feed()
    chosen = Fast(channels_last=True, fused=True, threads=1)

    def load() -> Any:
        return program.load(DATASETS)

    quick = fastest(program, catalogue(), load, settings, feed, lambda decide: chosen)
    fuses = "optimiser" not in asks
    assert (quick.fast.channels_last, quick.fast.fused) == (True, fuses)
    assert ("fused=True" in quick.source.text) == fuses and "channels_last" in quick.source.text
    run = Run(quick, load, settings, feed)
    run.advance()
    assert run.step == 1 and run.loss < 10


def test_losses_of_any_plan_are_computed_in_bfloat16() -> None:
    project = digits(epochs=1)
    project.plan = replace(project.plan, phases=(CLIPPED,))
    text = compile_program(project, catalogue(), fast=Fast(autocast="cpu")).source.text
    assert (
        'with torch.autocast("cpu", torch.bfloat16):\n        found = player.objective(model, batch)' in text
    )


CHOSEN = Fast(channels_last=True, fused=True, step=0.01, plain_step=0.02, computer="A processor")


def fast_digits() -> Project:
    project = digits(epochs=2)
    project.plan = project.plan.with_(fast=True)
    return project


def trained(folder: Path, stop_after: int | None = None, resume: bool = False) -> Run:
    steps: list[int] = []

    def stopped() -> bool:
        steps.append(1)
        return stop_after is not None and len(steps) > stop_after

    return run_headless(
        fast_digits(), catalogue(), DATASETS, device="cpu", folder=folder, resume=resume, stopped=stopped
    ).run


def test_a_run_records_what_was_chosen_and_resumes_with_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fast_path, "choose", lambda *_, **__: CHOSEN)
    whole = trained(tmp_path / "whole")
    assert whole.program.fast == CHOSEN
    assert whole.model.get_parameter("edges.weight").is_contiguous(memory_format=torch.channels_last)
    recorded = read_settings(tmp_path / "whole")["fast_path"]
    assert Fast.from_json(recorded) == CHOSEN and recorded["times"] == 2.0
    assert any(event.message == CHOSEN.sentence() for event in whole.feed.events)

    def never(*_: Any, **__: Any) -> Fast:
        raise AssertionError("a run that is continued is not measured again")

    trained(tmp_path / "halved", stop_after=25)
    monkeypatch.setattr(fast_path, "choose", never)
    halved = trained(tmp_path / "halved", resume=True)
    assert halved.program.fast == CHOSEN
    for name, value in whole.model.state_dict().items():
        assert torch.equal(halved.model.state_dict()[name], value)


def test_moments_lie_in_memory_as_their_weights() -> None:
    weight = torch.nn.Parameter(torch.rand(4, 3, 2, 2).to(memory_format=torch.channels_last))
    optimiser = torch.optim.Adam([weight])
    moment = torch.rand(4, 3, 2, 2)
    optimiser.state[weight] = {"step": torch.tensor(1.0), "exp_avg": moment}
    lay_out_like_weights(optimiser)
    found = optimiser.state[weight]["exp_avg"]
    assert found.stride() == weight.stride() and torch.equal(found, moment)
