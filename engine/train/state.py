"""The state of a run between two batches as tensors and facts, and a fresh run put into such a state.

A run that is restored goes on as the other would have done, to the last bit.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from engine.devices import random_state, set_random_state
from engine.errors import TrainingError
from engine.runs import checkpoints
from engine.runs.checkpoints import VERSION, Facts, Tensors
from engine.runs.settings import Settings, Stage

if TYPE_CHECKING:
    from pathlib import Path

    from engine.train.loop import Run


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
    for place, player in enumerate(run.phases.players):
        for part, sums in enumerate(getattr(player, "sums", ())):
            sums = {f"sums{place}/{part}/{at}": total for at, total in enumerate(sums) if total is not None}
            tensors |= sums
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
        "seconds": run.seconds,
        "best": run.best,
        "best_epoch": run.best_epoch,
        "waited": run.waited,
        "results": run.results,
        "optimiser": optimisers[0],
        "schedule": schedules[0],
        "fast": run.program.fast.to_json(),
        "phases": run.phases.facts(),
        "others": list(zip(optimisers, schedules, strict=True))[1:],
    }
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
        run.phases.restore(run, facts.get("phases") or _of_one_objective(facts))
        run.phases.before = _under("before/", tensors)
        for place, average in enumerate(run.phases.averages):
            for index, value in enumerate(average.values):
                value.copy_(tensors[f"average{place}/{index}"])
        run.model.zero_grad()  # where steps add up gradients, those of a later state would be added too
        for name, gradient in _under("gradient/", tensors).items():
            weight = run.model.get_parameter(name)
            weight.grad = gradient.to(weight.device)
        for place, player in enumerate(run.phases.players):
            for key, total in _under(f"sums{place}/", tensors).items():
                part, at = map(int, key.split("/"))
                player.sums[part][at] = total.to(player.weights[at].device)
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
    run.loss = facts["loss"]
    run.seconds = facts["seconds"]
    run.best, run.best_epoch, run.waited = facts["best"], facts["best_epoch"], facts["waited"]
    run.results = dict(facts["results"])
    if "phases" not in facts and run.stage is Stage.TEST:
        run.phases.end(run)  # earlier versions went back to the best weights only then
    run.order = tensors["order/start"]
    run.shuffle.set_state(tensors["order/now"])
    run.place()
    set_random_state(run.settings.device, _under("random/", tensors))


def _of_one_objective(facts: Facts) -> Facts:
    """Where a run was in its plan, of which earlier versions wrote nothing if it had one plain objective."""
    weight = facts.get("weight_sum", facts["index"])  # the first versions counted batches
    return {
        "number": 0,
        "began": 0,
        "epochs": facts["epoch"],
        "began_after": 0.0,
        "averaged_at": -1,
        "averages": [],
        "sums": {"loss": [facts["loss_sum"], weight]} if weight else {},
    }


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


def save(folder: Path, run: Run) -> None:
    """Write the checkpoint of a run, replacing the older one. Errors: `TrainingError`."""
    checkpoints.write(folder, *capture(run))


def lay_out_like_weights(optimiser: torch.optim.Optimizer) -> None:
    """Give the optimiser's moments the memory order of their weights, which a file does not keep.

    A fused kernel walks through both as they lie in memory.
    """
    for weight, state in optimiser.state.items():
        for name, value in state.items():
            alike = isinstance(value, Tensor) and value.shape == weight.shape
            if alike and value.stride() != weight.stride():
                state[name] = torch.empty_like(weight, dtype=value.dtype).copy_(value)
