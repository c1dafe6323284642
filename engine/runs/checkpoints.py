"""Everything a run needs to go on bit for bit: safetensors for the numbers, JSON for the rest. Never pickle.

A checkpoint is two files. The tensors are written first, under a name of their own; renaming the JSON that
names them is what makes the checkpoint valid, so a kill at any moment leaves the old one or the new one.
"""

from __future__ import annotations

import json
import os
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor

from engine.devices import random_state, set_random_state
from engine.document.files import write_atomically
from engine.errors import TrainingError
from engine.runs.records import CHECKPOINT
from engine.runs.settings import Settings, Stage

if TYPE_CHECKING:
    from engine.train.loop import Run

VERSION = 1

Tensors = dict[str, Tensor]
Facts = dict[str, Any]


# -- what a run consists of


def capture(run: Run) -> tuple[Tensors, Facts]:
    """The state of a run between two batches; the tensors are the run's own, write them before going on."""
    tensors: Tensors = {f"model/{name}": value for name, value in run.model.state_dict().items()}
    if run.kept is not None:
        tensors |= {f"best/{name}": value for name, value in run.kept.items()}
    movers = movers_of(run)
    optimisers = []
    for place, (optimiser, _) in enumerate(movers):
        found, numbers = _flattened(optimiser.state_dict(), _prefix(place))
        tensors |= found
        optimisers.append(numbers)
    schedules = [None if schedule is None else _plain(schedule.state_dict()) for _, schedule in movers]
    tensors |= {f"before/{name}": value for name, value in run.phases.before.items()}
    for place, average in enumerate(run.phases.averages):
        tensors |= {f"average{place}/{index}": value for index, value in enumerate(average.values)}
    if any(getattr(player, "accumulate", 1) > 1 for player in run.phases.players):
        weights = run.model.named_parameters()
        tensors |= {f"gradient/{name}": weight.grad for name, weight in weights if weight.grad is not None}
    for name, state in random_state(run.settings.device).items():
        tensors[f"random/{name}"] = state
    tensors["order/start"], tensors["order/now"] = run.order, run.shuffle.get_state()
    facts: Facts = {
        "version": VERSION,
        "settings": asdict(run.settings),
        "stage": run.stage.value,
        "step": run.step,
        "epoch": run.epoch,
        "index": run.index,
        "loss": run.loss,
        "loss_sum": run.loss_sum,
        "seconds": run.seconds,
        "best": run.best,
        "best_epoch": run.best_epoch,
        "waited": run.waited,
        "results": run.results,
        "optimiser": optimisers[0],
        "schedule": schedules[0],
        "fast": run.program.fast.to_json(),
    }
    if run.program.players is not None:
        facts |= {"phases": run.phases.facts(), "others": list(zip(optimisers, schedules, strict=True))[1:]}
    return tensors, facts


def movers_of(run: Run) -> list[tuple[torch.optim.Optimizer, Any]]:
    """The optimisers at work, each with its schedule."""
    players = [player for player in run.phases.players if player.optimiser is not None]
    if not players:
        return [(run.optimiser, run.schedule)]
    return [(player.optimiser, player.schedule) for player in players]


def _prefix(place: int) -> str:
    return f"optimiser{place or ''}/"


def _flattened(state: dict[str, Any], prefix: str) -> tuple[Tensors, Facts]:
    """An optimiser's state as tensors by name and plain numbers; a list of tensors has a number a place."""
    tensors: Tensors = {}
    numbers: dict[str, dict[str, Any]] = {}
    for index, values in state["state"].items():
        for name, value in values.items():
            if isinstance(value, Tensor):
                tensors[f"{prefix}{index}/{name}"] = value
                continue
            if isinstance(value, list):
                places = enumerate(value)
                tensors |= {
                    f"{prefix}{index}/{name}#{place}": item
                    for place, item in places
                    if isinstance(item, Tensor)
                }
                value = [None if isinstance(item, Tensor) else item for item in value]
            numbers.setdefault(str(index), {})[name] = value
    return tensors, {"groups": state["param_groups"], "state": numbers}


def restore(run: Run, tensors: Tensors, facts: Facts) -> None:
    """Put a freshly built run into the state that was captured.

    Errors: `TrainingError` when the checkpoint belongs to another model.
    """
    try:
        run.model.load_state_dict(_under("model/", tensors))
        if run.program.players is not None:
            run.phases.restore(run, facts["phases"])
        run.phases.before = _under("before/", tensors)
        for place, average in enumerate(run.phases.averages):
            for index, value in enumerate(average.values):
                value.copy_(tensors[f"average{place}/{index}"])
        run.model.zero_grad()  # where steps add up gradients, those of a later state would be added too
        for name, gradient in _under("gradient/", tensors).items():
            weight = run.model.get_parameter(name)
            weight.grad = gradient.to(weight.device)
        states = [(facts["optimiser"], facts["schedule"]), *facts.get("others", [])]
        for place, ((optimiser, schedule), (state, planned)) in enumerate(
            zip(movers_of(run), states, strict=True)
        ):
            optimiser.load_state_dict(_optimiser_state(tensors, state, _prefix(place)))
            if schedule is not None and planned is not None:
                schedule.load_state_dict(_tupled(planned))
    except (RuntimeError, ValueError, KeyError) as error:
        raise TrainingError(
            "The checkpoint belongs to a different model: its layers have other names or sizes.",
            fix="Open the project that is stored with the run.",
        ) from error
    lay_out_like_weights(run.optimiser)
    best = _under("best/", tensors)
    run.kept = {name: value.to(run.settings.device) for name, value in best.items()} or None
    run.stage = Stage(facts["stage"])
    run.step, run.epoch, run.index = facts["step"], facts["epoch"], facts["index"]
    run.loss, run.loss_sum, run.seconds = facts["loss"], facts["loss_sum"], facts["seconds"]
    run.best, run.best_epoch, run.waited = facts["best"], facts["best_epoch"], facts["waited"]
    run.results = dict(facts["results"])
    run.order = tensors["order/start"]
    run.shuffle.set_state(tensors["order/now"])
    run.place()
    set_random_state(run.settings.device, _under("random/", tensors))


def settings_of(facts: Facts) -> Settings:
    """The settings that the run was started with."""
    return Settings(**facts["settings"])


def _optimiser_state(tensors: Tensors, facts: Facts, prefix: str) -> dict[str, Any]:
    state: dict[int, dict[str, Any]] = {
        int(index): {
            name: list(value) if isinstance(value, list) else value for name, value in values.items()
        }
        for index, values in facts["state"].items()
    }
    for name, value in _under(prefix, tensors).items():
        index, key = name.split("/", 1)
        held = state.setdefault(int(index), {})
        listed, _, place = key.partition("#")
        # A copy begins on a round address, as what it was saved from did: sums run in the same order then.
        if place:
            held[listed][int(place)] = value.clone()
        else:
            held[key] = value.clone()
    groups = [
        {key: value if key == "params" else _tupled(value) for key, value in group.items()}
        for group in facts["groups"]
    ]
    return {"state": state, "param_groups": groups}


def _under(prefix: str, tensors: Tensors) -> Tensors:
    return {name.removeprefix(prefix): value for name, value in tensors.items() if name.startswith(prefix)}


def _tupled(value: Any) -> Any:
    """JSON has lists where torch keeps pairs such as betas; nothing there needs a list at the top."""
    return (
        tuple(value) if isinstance(value, list) and all(isinstance(v, (int, float)) for v in value) else value
    )


def _plain(state: dict[str, Any]) -> dict[str, Any]:
    """A schedule's state without what isn't data (the functions that the program builds again)."""
    return {name: value for name, value in state.items() if _is_plain(value)}


def _is_plain(value: Any) -> bool:
    if isinstance(value, dict):
        return all(_is_plain(part) for part in value.values())
    if isinstance(value, (list, tuple)):
        return all(_is_plain(part) for part in value)
    return value is None or isinstance(value, (bool, int, float, str))


# -- files


def save(folder: Path, run: Run) -> None:
    """Write the checkpoint of a run, replacing the older one.

    Errors: `TrainingError` when the disk refuses.
    """
    write(folder, *capture(run))


def write(folder: Path, tensors: Tensors, facts: Facts) -> None:
    """Write a state that was captured. Errors: `TrainingError` when the disk refuses."""
    name = f"checkpoint-{facts['step']}-{facts['stage']}.safetensors"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        write_tensors(folder / name, tensors)
        write_atomically(folder / CHECKPOINT, json.dumps({"tensors": name, **facts}).encode())
        for old in folder.glob("checkpoint-*.safetensors"):
            if old.name != name:
                old.unlink(missing_ok=True)
    except OSError as error:
        raise TrainingError(f"The checkpoint could not be written: {error.strerror or error}.") from error


def load(folder: Path) -> tuple[Tensors, Facts]:
    """Read the checkpoint of a run. Errors: `TrainingError` when there is none or it cannot be read."""
    try:
        facts = json.loads((folder / CHECKPOINT).read_text("utf-8"))
        if not isinstance(facts, dict) or facts.get("version") != VERSION:
            raise TrainingError(
                f"The checkpoint in {folder.name} was written by another version of Neuroloom."
            )
        return load_file(folder / Path(facts["tensors"]).name), facts
    except FileNotFoundError as error:
        raise TrainingError(f"There is no checkpoint in {folder.name}.") from error
    except (OSError, ValueError, KeyError, SafetensorError) as error:
        raise TrainingError(f"The checkpoint in {folder.name} cannot be read: {error}.") from error


def write_tensors(path: Path, tensors: Tensors) -> None:
    """Write a safetensors file under a temporary name, then rename it. Errors: `OSError`."""
    temporary = path.with_name(path.name + ".part")
    try:
        # Tied weights are one tensor under two names, which the format refuses: each gets its own copy.
        save_file({name: _own(value) for name, value in tensors.items()}, temporary)
        os.replace(temporary, path)
    except SafetensorError as error:
        raise OSError(str(error)) from error
    finally:
        temporary.unlink(missing_ok=True)


def _own(value: Tensor) -> Tensor:
    return value.detach().to("cpu", copy=True).contiguous()


def weights_file(place: Path) -> Path:
    """A safetensors file as it is, or that of the best (else the last) weights in a run's folder.

    Errors: `TrainingError` when there is none.
    """
    names = ("weights-best.safetensors", "weights-last.safetensors")
    candidates = [place / name for name in names] if place.is_dir() else [place]
    found = next((path for path in candidates if path.is_file()), None)
    if found is None:
        raise TrainingError(f"There are no weights in {place}.")
    return found


def load_weights(path: Path) -> Tensors:
    """The weights in a safetensors file. Errors: `TrainingError` when they cannot be read."""
    try:
        return load_file(path)
    except (OSError, ValueError, SafetensorError) as error:
        raise TrainingError(f"The weights in {path.name} cannot be read: {error}.") from error


def same_weights(mine: Tensors, found: Tensors) -> bool:
    """Whether two sets of weights have the same names and shapes."""
    shapes = {name: value.shape for name, value in mine.items()}
    return shapes == {name: value.shape for name, value in found.items()}


def lay_out_like_weights(optimiser: torch.optim.Optimizer) -> None:
    """Give the optimiser's moments the memory order of their weights, which a file does not keep.

    A fused kernel walks through both as they lie in memory.
    """
    for weight, state in optimiser.state.items():
        for name, value in state.items():
            alike = isinstance(value, Tensor) and value.shape == weight.shape
            if alike and value.stride() != weight.stride():
                state[name] = torch.empty_like(weight, dtype=value.dtype).copy_(value)
