"""The loop against the exported script, step by step, to the last bit."""

import json
import math
import sys
from pathlib import Path

import pytest
import torch

from engine.document.graph import Project
from engine.document.plan import Choice
from engine.emit.script import export_script
from engine.errors import TrainingError
from engine.feed.feed import Feed
from engine.runs.settings import Settings, Stage
from engine.train.begin import begin_run
from engine.train.headless import run_headless
from engine.train.loop import Run
from tests.engine.train.networks import DATASETS, ByHand, catalogue, digits, iris


def lines_of_export(
    project: Project, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> list[str]:
    """What the exported script prints with --json."""
    source = export_script(project, catalogue()).text
    names = {"__name__": __name__, "__file__": str(DATASETS / "exported.py")}
    exec(compile(source, "exported.py", "exec"), names)
    monkeypatch.setattr(sys, "argv", ["exported.py", "--json", "--device", "cpu"])
    capsys.readouterr()
    names["main"]()  # type: ignore[operator]
    return capsys.readouterr().out.splitlines()


@pytest.mark.parametrize(
    "project",
    [
        iris(),
        iris(schedule=Choice("Cosine"), norm=True),
        iris(optimiser=Choice("SGD", {"lr": 0.1, "momentum": 0.9}), schedule=Choice("Step", {"every": 1})),
        iris(epochs=40, patience=2, optimiser=Choice("Adam", {"lr": 0.3})),
        digits(),
    ],
    ids=["adam", "cosine and batch norm", "momentum and steps", "early stopping", "convolution"],
)
def test_every_number_equals_the_exported_script(
    project: Project, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    mine: list[str] = []
    run_headless(
        project, catalogue(), DATASETS, device="cpu", on_line=lambda record: mine.append(json.dumps(record))
    )
    assert mine == lines_of_export(project, monkeypatch, capsys)


def run_of(program: ByHand, feed: Feed | None = None, **overrides: int) -> Run:
    settings = Settings.of(program.plan, device="cpu", **overrides)
    return begin_run(program, catalogue(), lambda: program.load(Path()), settings, feed or Feed())  # type: ignore[arg-type]


def test_a_program_by_hand_learns() -> None:
    run = run_of(ByHand(epochs=30))
    while run.stage is not Stage.DONE:
        run.advance()
    losses = run.feed.read("train_loss")["value"]
    assert len(losses) == 30 * 5 and losses[-1] < 0.1 * losses[0]
    assert set(run.feed.series()) == {"train_loss", "lr", "val_loss", "test_loss"}


def test_the_first_loss_is_in_the_feed_before_the_first_epoch_ends() -> None:
    run = run_of(ByHand())
    run.advance()
    (row,) = run.feed.read("train_loss")
    assert (row["step"], row["epoch"]) == (1, 0.2) and run.epoch == 0


def test_a_loss_that_is_not_finite_stops_before_the_update_and_names_the_first_node() -> None:
    program = ByHand(lr=1e30)
    run = run_of(program)
    with pytest.raises(TrainingError) as caught:
        for _ in range(100):
            kept = {name: value.clone() for name, value in run.model.state_dict().items()}
            run.advance()
    assert caught.value.node_id == "n4"
    assert "learning rate" in (caught.value.fix or "") and f"step {run.step + 1}" in caught.value.message
    assert all(torch.equal(value, kept[name]) for name, value in run.model.state_dict().items())
    assert all(math.isfinite(value) for value in run.feed.read("train_loss")["value"])


def test_data_that_is_not_finite_is_blamed_on_the_data() -> None:
    program = ByHand()
    run = run_of(program)
    run.data["train"]["x"][3, 1] = float("nan")
    with pytest.raises(TrainingError, match="data") as caught:
        for _ in range(5):
            run.advance()
    assert caught.value.node_id == "n1"


def test_a_new_learning_rate_counts_from_the_next_batch_and_the_schedule_goes_on() -> None:
    program = ByHand(epochs=4)
    run = run_of(program)
    run.schedule = torch.optim.lr_scheduler.LambdaLR(run.optimiser, lambda step: 1 / (1 + step))
    run.phases.players[0].schedule = run.schedule
    run.advance()
    run.set_learning_rate(8.0)
    assert run.optimiser.param_groups[0]["lr"] == pytest.approx(4.0)
    run.advance()
    assert run.optimiser.param_groups[0]["lr"] == pytest.approx(8 / 3)
