"""What each kind of step can do, tried, and the table of it in the docs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic, sleep
from typing import Any

import pytest
import torch

from engine.document.files import load_project, save_project
from engine.document.plan import Chain, ChangeModel, Fit, Follow, Minimise, Plan, Rollout, Rule
from engine.emit.fast import Fast
from engine.emit.program import compile_program
from engine.emit.script import export_script
from engine.feed.feed import Feed
from engine.runs.branch import branch
from engine.runs.settings import Settings, Stage
from engine.runs.sweep import Sweep, grid
from engine.train import state
from engine.train.advice.health import Health
from engine.train.begin import begin_run
from engine.train.headless import run_headless
from engine.train.layer_steps import UPDATE, pieces_of
from engine.train.loop import Run
from engine.train.rebuild import rebuild
from engine.train.rewind import Rewind
from engine.train.run_folder import Keep
from engine.train.trainer import Trainer
from tests.engine.kinds.steps import KINDS, PAIRED, TWO_DATA_NODES, WHOLE, of_all, of_kind
from tests.engine.kinds.test_script_checkpoints import resumes as script_resumes
from tests.engine.sketches import GALLERY, GALLERY_IDS, catalogue
from tests.engine.train.networks import DATASETS, settle
from tests.engine.train.test_distributed import TORCHRUN, alone, close, records

ROOT = Path(__file__).parents[3]


def fresh(kind: str, fast: Fast | None = None) -> Run:
    project = of_kind(kind)
    program = compile_program(project, catalogue())
    settings = Settings.of(project.plan, device="cpu")

    def load() -> Any:
        return program.load(DATASETS)

    return begin_run(program, catalogue(), load, settings, Feed(), fast=fast)


def lines_of(run: Run, most: int = 10_000) -> list[dict[str, Any]]:
    """What a run records from here on, for so many turns."""
    found: list[dict[str, Any]] = []
    run.on_record = found.append
    for _ in range(most):
        if run.stage is Stage.DONE:
            break
        run.advance()
    return found


def weights(run: Run) -> dict[str, torch.Tensor]:
    return {name: value.clone() for name, value in run.model.state_dict().items()}


def same(run: Run, other: Run) -> bool:
    one, two = weights(run), weights(other)
    return one.keys() == two.keys() and all(torch.equal(one[name], two[name]) for name in one)


def middle(kind: str) -> int:
    """So many turns lead into the second epoch; a kind with one step an epoch is after its first."""
    return 2 if kind in WHOLE else 5


def resumes(kind: str) -> None:
    whole = fresh(kind)
    wanted = lines_of(whole)
    half = fresh(kind)  # made when it begins: there is one source of random numbers
    done = lines_of(half, middle(kind))
    tensors, facts = state.capture(half)
    again = fresh(kind)
    again.data = whole.data
    state.restore(again, {name: value.clone() for name, value in tensors.items()}, facts)
    assert [*done, *lines_of(again)] == wanted
    assert same(again, whole)


def goes_back(kind: str) -> None:
    run, rewind = fresh(kind), Rewind()
    lines_of(run, middle(kind) - 1)
    while run.stage is not Stage.TRAIN:
        run.advance()
    before = weights(run)
    rewind.keep(run)
    wanted = lines_of(run, 1)
    assert rewind.back(run)
    assert all(torch.equal(before[name], value) for name, value in weights(run).items())
    assert lines_of(run, 1) == wanted


def steps_by_batch(kind: str) -> None:
    trainer = Trainer(catalogue(), DATASETS)
    try:
        trainer.prepare(of_kind(kind))
        trainer.step()
        assert trainer.wait(30, until=lambda: (trainer.state, trainer.progress.step) == ("paused", 1))
        trainer.step()
        assert trainer.wait(30, until=lambda: (trainer.state, trainer.progress.step) == ("paused", 2))
        trainer.resume()
        settle(trainer, "finished")
        wanted = lines_of(fresh(kind))
        for name in wanted[0].keys() - {"step", "epoch"}:
            values = [line[name] for line in wanted if "step" in line and name in line]
            assert trainer.feed.read(f"train_{name}")["value"].tolist() == values
    finally:
        trainer.close()


def goes_on_from_what_was_kept(kind: str) -> None:
    with TemporaryDirectory() as folder:
        first, second = Path(folder) / "first", Path(folder) / "second"
        whole, rest = list[dict[str, Any]](), list[dict[str, Any]]()
        train = partial(run_headless, of_kind(kind), catalogue(), DATASETS, device="cpu")
        train(folder=first, keep=Keep(every=1), on_line=whole.append)
        branch(first / "checkpoints" / "epoch-1", second)
        train(folder=second, resume=True, on_line=rest.append)
        assert len(rest) > 3 and whole[-len(rest) :] == rest


def is_swept(kind: str) -> None:
    """A run of a sweep is the plan with another number, trained by the command line."""
    ((_, other),) = grid(of_kind(kind), {"seed": (3,)})
    assert other.plan == replace(of_kind(kind).plan, seed=3)
    assert "test_loss" in alone(other)[-1]


def warns(kind: str) -> None:
    """Of weights a million times too large; what fits all rows at once has no steps that might explode."""
    run, health, said = fresh(kind), Health(), set[str]()
    for turn in range(middle(kind) + 10):
        if turn == middle(kind):
            assert "explosion" not in said
            for weight in run.model.parameters():
                weight.data *= 1e6
        if run.stage is not Stage.DONE:
            run.advance()
            said |= {one.what for one in health.look(run)}
    assert ("explosion" in said) == (kind != "Fit")


def shows_layers(kind: str) -> None:
    run = fresh(kind)
    before = weights(run)
    pieces = pieces_of(run)
    assert pieces[-1].stage == UPDATE and len(pieces) > 1
    assert all(torch.equal(before[name], value) for name, value in weights(run).items())


def takes_an_edit(kind: str) -> None:
    other = fresh(kind)
    wanted = lines_of(other)[middle(kind) :]
    run = fresh(kind)
    lines_of(run, middle(kind))
    program = compile_program(of_kind(kind), catalogue(), revision=1)
    assert rebuild(run, program, lambda: run.data, run.settings, 1) == ()
    assert lines_of(run)[-1].keys() == wanted[-1].keys()
    assert run.stage is Stage.DONE and run.revision == 1
    if kind != "Chain":  # a sampler's samples are of the old weights
        assert same(run, other) or kind == "several players"  # gradients added up so far are gone


def is_fast(kind: str) -> None:
    run = fresh(kind, Fast(fused=True, channels_last=True, threads=1))
    assert run.program.fast.threads == 1
    lines_of(run)
    assert run.stage is Stage.DONE


def is_exported(kind: str) -> None:
    """The gallery holds an example of the kind, and its script to the same numbers."""
    if kind in TWO_DATA_NODES:
        is_exported_to_the_same_numbers(kind)
        return
    kinds: dict[str, type] = {one.__name__: one for one in (Minimise, Rule, Fit, Follow, Rollout, Chain)}
    kinds["Change"] = ChangeModel
    plans = [load_project(GALLERY / f"{one}.nloom").plan for one in GALLERY_IDS]
    assert any(_holds(plan, kind, kinds.get(kind)) for plan in plans)
    assert "def train(" in export_script(of_kind(kind), catalogue()).text


def is_exported_to_the_same_numbers(kind: str) -> None:
    with TemporaryDirectory() as folder:
        script = Path(folder) / "two.py"
        script.write_text(export_script(of_kind(kind), catalogue()).text, "utf-8")
        assert records(str(script), "--json", "--device", "cpu") == alone(of_kind(kind))


def is_resumed_by_its_script(kind: str) -> None:
    with TemporaryDirectory() as folder:
        script_resumes(of_kind(kind), Path(folder))


def _holds(plan: Plan, kind: str, wanted: type | None) -> bool:
    steps = plan.objectives
    if kind == "adversary":
        return any(isinstance(one, Minimise) and one.adversary is not None for one in steps)
    if kind == "whole batch":
        return any(phase.batch == 0 or plan.batch == 0 for phase in plan.phases)
    if kind.startswith("Rule "):
        return any(isinstance(one, Rule) and len(one.nodes) > 1 for one in steps)
    if wanted is None:
        return any(len(phase.objectives) > 1 for phase in plan.phases)
    return any(type(one) is wanted for one in steps)


TRIED: dict[str, Callable[[str], None]] = {
    "resume": resumes,
    "checkpoints": goes_on_from_what_was_kept,
    "rewind": goes_back,
    "step by batch": steps_by_batch,
    "step by layer": shows_layers,
    "edit": takes_an_edit,
    "warnings": warns,
    "fast path": is_fast,
    "sweep": is_swept,
    "script": is_exported,
    "script resumes": is_resumed_by_its_script,
}


EVERY = [*KINDS, *TWO_DATA_NODES]
LONG = {"checkpoints": 0, "step by batch": 2}  # every fifth kind each time, the others by `-m exhaustive`
TRIALS = [
    pytest.param(
        kind,
        capability,
        marks=pytest.mark.exhaustive if capability in LONG and at % 5 != LONG[capability] else [],
    )
    for capability in TRIED
    for at, kind in enumerate(EVERY)
]


@pytest.mark.parametrize(("kind", "capability"), TRIALS)
def test_it_can(kind: str, capability: str) -> None:
    TRIED[capability](kind)


@pytest.mark.parametrize("acts", [False, True], ids=["on data", "in an environment"])
def test_several_processes_do_as_one(tmp_path: Path, acts: bool) -> None:
    # For an adversary each process draws where its search begins; one plan has optimisers of one way to ask.
    project = of_all(lambda kind: kind not in ("adversary", "Chain") and (kind == "Rollout") == acts)
    save_project(project, tmp_path / "kinds.nloom")
    train = ("-m", "engine.cli", "train", str(tmp_path / "kinds.nloom"), "--json", "--device", "cpu")
    close(records(*TORCHRUN, "2", *train, "--out", str(tmp_path / "two")), alone(project))


@pytest.mark.parametrize("kind", TWO_DATA_NODES)
def test_several_processes_draw_two_data_nodes_as_one(kind: str, tmp_path: Path) -> None:
    project = of_kind(kind)
    save_project(project, tmp_path / "two.nloom")
    train = ("-m", "engine.cli", "train", str(tmp_path / "two.nloom"), "--json", "--device", "cpu")
    one = alone(project)
    close(records(*TORCHRUN, "2", *train, "--out", str(tmp_path / "run")), one)
    script = tmp_path / "two.py"
    script.write_text(export_script(project, catalogue(), distributed=True).text, "utf-8")
    close(records(*TORCHRUN, "2", str(script), "--json"), one)


@pytest.mark.exhaustive  # the process of a run of a sweep trains it as the command line does
def test_a_sweep_trains_them_all(tmp_path: Path) -> None:
    project = of_all(lambda kind: kind not in ("Chain", "Rollout"))
    ((values, other),) = cases = grid(project, {"seed": (3,)})
    sweep = Sweep(cases, tmp_path, "cpu")
    deadline = monotonic() + 120
    while not sweep.over and monotonic() < deadline:
        sweep.look()
        sleep(0.05)
    (trial,) = sweep.trials
    assert (trial.values, trial.state, trial.error) == (values, "finished", "")
    wanted = [line for line in alone(other) if "val_loss" in line]
    assert trial.record is not None and trial.record.last["val_loss"] == wanted[-1]["val_loss"]


def test_targets_in_a_second_data_node_train_as_those_in_the_first() -> None:
    project = of_kind(PAIRED)
    assert alone(project) == alone(replace(project, graph=of_kind("Minimise").graph))


@pytest.mark.parametrize("acts", [False, True], ids=["on data", "in an environment"])
def test_a_script_in_several_processes_does_as_one(tmp_path: Path, acts: bool) -> None:
    project = of_all(lambda kind: kind not in ("adversary", "whole batch") and (kind == "Rollout") == acts)
    script = tmp_path / "kinds.py"
    script.write_text(export_script(project, catalogue(), distributed=True).text, "utf-8")
    close(records(*TORCHRUN, "2", str(script), "--json"), alone(project))


def test_the_table_in_the_docs_says_so() -> None:
    rows = [
        line.split("|")[1:-1]
        for line in (ROOT / "docs/training.md").read_text("utf-8").splitlines()
        if "|" in line
    ]
    head, _, *table = [[cell.strip(" `*") for cell in row] for row in rows]
    assert head[1:] == [*TRIED, "several processes"]
    assert {row[0] for row in table} == {*KINDS, *TWO_DATA_NODES}
    others = {
        (row[0], head[at]): cell for row in table for at, cell in enumerate(row) if at and cell != "yes"
    }
    assert others == {("adversary", "several processes"): "other numbers", ("Fit", "warnings"): "no need"}


@pytest.mark.parametrize("turns", [5, 12], ids=["training", "before the test"])
def test_a_checkpoint_of_an_earlier_version_goes_on(turns: int) -> None:
    """They said nothing of phases where a plan had one plain objective."""
    whole = fresh("Minimise")
    wanted = lines_of(whole)
    half = fresh("Minimise")
    done = lines_of(half, turns)
    tensors, facts = state.capture(half)
    loss_sum, weight_sum = facts["phases"]["sums"].get("loss", (0.0, 0.0))
    facts = {name: value for name, value in facts.items() if name not in ("phases", "others")}
    facts |= {"loss_sum": loss_sum, "weight_sum": weight_sum}
    again = fresh("Minimise")
    state.restore(again, {name: value.clone() for name, value in tensors.items()}, facts)
    assert again.stage is half.stage and again.phases.epochs == half.epoch
    assert [*done, *lines_of(again)] == wanted and same(again, whole)
