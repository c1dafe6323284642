"""Makes runs: from the seed, or from a checkpoint; says beforehand what would be refused."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from engine.catalogue import Catalogue
from engine.data.batch import Splits
from engine.devices import choose_device
from engine.emit.fast import Fast
from engine.errors import TrainingError
from engine.feed.feed import Feed
from engine.look.labels import check_labels
from engine.runs import checkpoints
from engine.runs.records import (
    CHECKPOINT,
    METRICS,
    SETTINGS,
    STEPS,
    epoch_points,
    free_path,
    never_saved,
    read_metrics,
    read_settings,
    read_step_series,
    reading,
)
from engine.runs.settings import Settings
from engine.shapes.heads import Head, loss_heads
from engine.shapes.problems import Problem
from engine.shapes.size import check_training
from engine.train import state
from engine.train.autotune import fastest, made_with
from engine.train.epochs import Epochs
from engine.train.failures import explain
from engine.train.loop import Run
from engine.train.sources import Sources
from engine.train.warm_start import warm_start

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from engine.document.graph import Project
    from engine.emit.program import Program
    from engine.train.distributed import World

Loader = Callable[[], Splits]
_Curves = TypeVar("_Curves")


def check_trains(program: Program) -> None:
    """Errors: `TrainingError` for a program without data or without anything to minimise."""
    if not program.trains:
        raise TrainingError("There is nothing to train.", fix="Connect a data node and a loss.")


def begin_run(
    program: Program,
    catalogue: Catalogue,
    load: Loader,
    settings: Settings,
    feed: Feed,
    revision: int = 0,
    *,
    fast: Fast | None = None,
    world: World | None = None,
) -> Run:
    """A run at its first step, its data loaded and its labels checked.

    With `world`, this process trains its part of each batch.
    A plan that asks for the fast path gets the settings `fast`, or those that are measured to be fastest.
    Errors: `TrainingError` for labels out of range, `DataError`, and whatever the model's layers raise.
    """
    check_trains(program)
    check_training(program.project, program.book, settings.device)
    if fast is not None:
        program = made_with(program, catalogue, fast)
    elif program.plan.fast:
        program = fastest(program, catalogue, load, settings, feed, world.decided if world else None)
    if world is not None:
        program = world.wrap(program)
    feed.higher = program.higher
    run = Run(program, load, settings, feed, revision)
    run.heads = loss_heads(program.project, program.book)
    _check_data(program, run.heads, run.data)
    if world is not None:
        world.draw_apart(run)
    for split, when in (("validation", "after an epoch"), ("test", "at the end")):
        if split not in program.splits:
            feed.note("info", f"The data have no {split} split: nothing is evaluated {when}.")
    if _leaves_one_row(run):
        feed.note(
            "info",
            "A single row is left over for the last batch, too few for layers that compare the examples of a "
            "batch: it joins the batch before it.",
        )
    return run


def _leaves_one_row(run: Run) -> bool:
    """Whether batches are joined, so that none has a single row."""
    program = run.program
    every = [(rows, phase.batch) for rows in program.rows(run.data["train"]) for phase in program.phases]
    return program.joins and any(size and rows > size and rows % size == 1 for rows, size in every)


def refusal(project: Project, catalogue: Catalogue, sources: Sources, *, read: bool = True) -> Problem | None:
    """Why training would end before its first step; its data are read for that, but no weights are made.

    Without `read` only what shows without the data is looked for. A network that has no layer, data or loss
    yet is not finished: a warning says what it lacks.
    """
    program: Program | None = None
    kinds = {kind.kind for node in project.graph.nodes.values() if (kind := catalogue.get(node.type))}
    try:
        program = sources.program(project, 0)
        check_trains(program)
        check_training(program.project, program.book)
        if read:
            data = sources.loader(program, "cpu")()
            _check_data(program, loss_heads(program.project, program.book), data)
    except (Exception, SystemExit) as error:  # a loader may raise anything
        found = explain(error, program)
        whole = {"data", "layer"} <= kinds and (program is None or program.trains)
        return Problem(found.node_id, str(found), severity="error" if whole else "warning", code="start")
    return None


def _check_data(program: Program, heads: tuple[Head, ...], data: Splits) -> None:
    """Errors: `TrainingError` for a split without rows, and for labels that are no classes of the model."""
    for split in program.splits:
        for nodes, rows in zip(program.streams, program.rows(data.get(split, {})), strict=True):
            if not rows:
                raise TrainingError(f"The {split} split of the data is empty.", node_id=nodes[0])
    check_labels(heads, data)


def continue_run(
    folder: Path,
    program: Program,
    catalogue: Catalogue,
    loader: Callable[[str], Loader],
    feed: Feed,
    revision: int = 0,
    *,
    world: World | None = None,
) -> Run:
    """The run whose checkpoint is in `folder`, its curves put back into the feed.

    One that ended before its first checkpoint begins again, as it was told to. `loader` gives the function
    that reads the data for a device.
    Errors: `TrainingError` when the checkpoint cannot be read or belongs to another model.
    """
    if never_saved(folder):
        feed.note("info", "The run had ended before it was first saved: it starts from its beginning.")
        return _begin_again(folder, program, catalogue, loader, feed, revision, world)
    tensors, facts = checkpoints.load(folder)
    with reading(folder, CHECKPOINT):
        settings = state.settings_of(facts)
    device, notice = choose_device(settings.device if world is None else world.device)
    if notice:
        feed.note("warning", notice)
    settings = replace(settings, device=device)
    fast = Fast.from_json(facts.get("fast")) or Fast()
    run = begin_run(program, catalogue, loader(device), settings, feed, revision, fast=fast, world=world)
    with reading(folder, CHECKPOINT):
        state.restore(run, tensors, facts)
    if world is not None:
        world.draw_apart(run)
    writes = world is None or world.first
    none: list[dict[str, int | float]] = []
    records = _curves(folder, METRICS, read_metrics, none, feed, writes)
    run.history = Epochs(record for record in records if record["epoch"] < run.epoch)
    _put_back_curves(run, _curves(folder, STEPS, read_step_series, {}, feed, writes))
    if len(run.history) < run.epoch:
        found = f"{METRICS} of {folder.name} holds {len(run.history)} of {run.epoch} epochs"
        feed.note("warning", f"{found}; what was cut off or removed is lost.", step=run.step)
    return run


def _begin_again(
    folder: Path,
    program: Program,
    catalogue: Catalogue,
    loader: Callable[[str], Loader],
    feed: Feed,
    revision: int,
    world: World | None,
) -> Run:
    """A run as its settings in `folder` tell it, at its first step."""
    told = read_settings(folder) if (folder / SETTINGS).exists() else {}
    device, notice = choose_device(told.get("device") if world is None else world.device)
    if notice:
        feed.note("warning", notice)
    settings = Settings.of(program.plan, epochs=told.get("each"), seed=told.get("seed"), device=device)
    run = begin_run(program, catalogue, loader(device), settings, feed, revision, world=world)
    weights = told.get("weights")
    if isinstance(weights, dict):
        warm_start(run.model, Path(str(weights.get("file"))), program.modules)
    return run


def _curves(
    folder: Path, name: str, read: Callable[[Path], _Curves], none: _Curves, feed: Feed, writes: bool
) -> _Curves:
    """A table of a run; a damaged one is set aside, and the run goes on without it."""
    try:
        return read(folder)
    except TrainingError as error:
        aside = free_path(folder / f"damaged-{name}")
        if writes:
            with suppress(OSError):
                (folder / name).rename(aside)
        feed.note("warning", f"{error.message} It is kept as {aside.name}, and the run goes on without it.")
        return none


def _put_back_curves(run: Run, series: Mapping[str, NDArray[Any]]) -> None:
    for name, steps in series.items():
        run.feed.open(name).extend(steps[steps["step"] <= run.step])
    for name, rows in epoch_points(run.history):
        run.feed.open(name).extend(rows)
    run.feed.changed()
