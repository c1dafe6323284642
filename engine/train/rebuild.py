"""Puts an edited program under a run that goes on: what the edit left alone keeps what it has learned."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn

from engine.catalogue.drawn_forms import DrawnForm, drawn_forms
from engine.data.batch import Splits
from engine.devices import untouched_random, use_threads
from engine.optim.updates import updates_per_epoch
from engine.runs.settings import Settings, Stage
from engine.train.failures import node_name
from engine.train.state import lay_out_like_weights

if TYPE_CHECKING:
    from engine.emit.program import Program
    from engine.train.loop import Run


def rebuild(
    run: Run, program: Program, load: Callable[[], Splits], settings: Settings, revision: int
) -> tuple[str, ...]:
    """Give the run a new program; returns the ids of the layers that had to begin again.

    A layer with the same node id and the same weights' names and shapes keeps weights and optimiser state.
    Counters, random numbers and the place in the epoch are kept; the best weights only if all layers are.
    New layers draw their first weights from the run's seed. An error leaves the run as it was.
    """
    device = settings.device
    use_threads(program.threads)
    with untouched_random(device):
        torch.manual_seed(settings.seed)
        model: nn.Module = program.make_model(device)
        data = load()
    kept = dict(_kept_layers(run, program, model))
    inside = tuple(f"{program.modules[node]}." for node in kept)  # nodes that a kept layer is now drawn of
    restarted = tuple(
        node
        for node, path in program.modules.items()
        if node not in kept and not path.startswith(inside) and _has_weights(model, path)
    )
    rows_done = math.ceil(run.rows("train") / run.steps_per_epoch) * run.index
    old_players = {player.name: player for player in run.phases.players}
    before = dict(vars(run))
    run.program, run.model, run.data, run.settings, run.revision = program, model, data, settings, revision
    try:
        run.configure()
    except BaseException:
        vars(run).update(before)
        raise
    old_model = before["model"]
    for player in run.phases.players:
        before_it = old_players.get(player.name)
        if before_it is not None and player.optimiser is not None and before_it.optimiser is not None:
            carry_state(kept.values(), before_it.optimiser, player.optimiser)
        if player.schedule is not None and not getattr(player, "watches", ""):
            fast_forward(player.schedule, _updates(run, player))
    if restarted or _shapes(old_model.state_dict()) != _shapes(model.state_dict()):
        run.kept, run.best, run.best_epoch, run.waited = None, float("inf"), 0, 0
    if run.stage is Stage.TRAIN:
        per_step = math.ceil(run.rows("train") / run.steps_per_epoch)
        run.index = min(rows_done // per_step, run.steps_per_epoch - 1)
        run.place()
        if run.phases.epochs >= run.phases.limit(run) and run.phases.end(run):
            run.stage = Stage.TEST
    return restarted


def _updates(run: Run, player: Any) -> int:
    """How often a player has moved its weights in the phase so far."""
    every, accumulate, epochs = player.every, getattr(player, "accumulate", 1), run.phases.epochs
    if every == accumulate == 1:
        return run.step - run.phases.began
    before = updates_per_epoch(run.steps_per_epoch, epochs, every, accumulate) * epochs
    turns = -(-(run.step - run.phases.began) // every) - -(-epochs * run.steps_per_epoch // every)
    return round(before) + int(max(0, turns)) // int(accumulate)


def taken_over(run: Run, restarted: tuple[str, ...]) -> str:
    """What an edit does to a run that has taken it over."""
    names = ", ".join(node_name(run.program.project, node_id) for node_id in restarted)
    begins = f"; {names} start again from their first weights" if names else ""
    return f"Your edit takes part from step {run.step + 1:,}{begins}."


Weights = dict[str, nn.Parameter]
Kept = tuple[Weights, Weights]  # those of a layer before an edit and after it, by name


def _kept_layers(run: Run, program: Program, model: nn.Module) -> Iterator[tuple[str, Kept]]:
    """Copy the weights of layers that an edit left alone; yields those of before and after."""
    for node_id, path in program.modules.items():
        old_path = run.program.modules.get(node_id)
        if old_path is None:
            continue
        old, new = run.model.get_submodule(old_path), model.get_submodule(path)
        state: dict[str, Tensor] | None = old.state_dict()
        # A layer whose source stands in the script is of another class in each script.
        if type(old).__name__ != type(new).__name__ or not _fits(old, new):
            state = redrawn(old.state_dict(), new.state_dict())
        if state is not None:
            new.load_state_dict(state)
            yield node_id, (dict(old.named_parameters()), dict(new.named_parameters()))


@dataclass(frozen=True, slots=True)
class Recut:
    """Weights that are joined along their first axis, then split into others of these sizes."""

    before: Sequence[str]
    after: Sequence[str]
    sizes: Sequence[int]

    def weights(self, found: dict[str, Tensor]) -> None:
        """Put those after it in the place of those before it."""
        joined = torch.cat([found.pop(name) for name in self.before])
        parts = torch.split(joined, list(self.sizes))
        found.update((name, part.clone()) for name, part in zip(self.after, parts, strict=True))

    def state(self, states: dict[str, dict[str, Any]], weights: Mapping[str, Tensor]) -> None:
        """The same with what an optimiser remembers of each of the `weights` there were before it.

        What is remembered of a weight has its shape, is a row of such (samples), or one number that is
        the same for all of them; nothing is remembered of the weights after it where that is not so.
        """
        old = [states.pop(name, {}) for name in self.before]
        found: list[dict[str, Any]] = [{} for _ in self.after]
        for key in {key: None for state in old for key in state}:
            values = [state[key] for state in old if key in state]
            axis = _axis([state.get(key) for state in old], [weights[name] for name in self.before])
            if axis is not None:
                pieces: Sequence[Any] = torch.split(torch.cat(values, axis), list(self.sizes), axis)
            elif all(torch.as_tensor(one).ndim == 0 and bool(one == values[0]) for one in values):
                pieces = [values[0]] * len(found)
            else:
                return
            for state, piece in zip(found, pieces, strict=True):
                state[key] = piece.clone() if isinstance(piece, Tensor) else piece
        states.update(zip(self.after, found, strict=True))


def _axis(values: Sequence[Any], weights: Sequence[Tensor]) -> int | None:
    """Where the first axis of weights is in what is remembered of each; None if it has another shape."""
    shapes = [one.shape if isinstance(one, Tensor) else None for one in values]
    for axis in (0, 1):
        if all(
            shape is not None and len(shape) == one.ndim + axis and shape[axis:] == one.shape
            for shape, one in zip(shapes, weights, strict=True)
        ):
            return axis
    return None


def redrawn(old: Mapping[str, Tensor], new: Mapping[str, Tensor]) -> dict[str, Tensor] | None:
    """The weights of a layer for the same one in which nodes are drawn as blocks, or blocks are nodes again.

    `new` has the names and shapes that are wanted; None where the two differ in anything else.
    """
    found = dict(old)
    for _ in _recuts(found, new):
        pass
    return found if _shapes(found) == _shapes(new) else None


def redrawn_state(
    states: Mapping[str, dict[str, Any]], old: Mapping[str, Tensor], new: Mapping[str, Tensor]
) -> dict[str, dict[str, Any]]:
    """What an optimiser remembers of the weights of a layer, by their names when it is redrawn."""
    found, left = dict(states), dict(old)
    before = dict(left)
    for recut in _recuts(left, new):
        recut.state(found, before)
        before = dict(left)
    return {name: state for name, state in found.items() if name in new and state}


def _recuts(found: dict[str, Tensor], new: Mapping[str, Tensor]) -> Iterator[Recut]:
    """Join and split what was `found` until it has the names of `new`; yields each time what was done.

    What gives names of `new` comes first: a layer in a drawing may be drawn itself.
    """
    done: set[tuple[str, str]] = set()
    while True:
        possible = [one for one in _possible(found, new) if one[0] not in done]
        if not possible:
            return
        wanted = (one for one in possible if all(name in new for recut in one[1] for name in recut.after))
        place, recuts = next(wanted, possible[0])
        done.add(place)
        for recut in recuts:
            recut.weights(found)
            yield recut


def _possible(
    found: Mapping[str, Tensor], new: Mapping[str, Tensor]
) -> Iterator[tuple[tuple[str, str], list[Recut]]]:
    """The layers among weights that could be drawn or put back: type and prefix, and what that does."""
    for form in drawn_forms():
        wholes, parts = list(form.weights), [one for each in form.weights.values() for one in each]
        for names, joins in ((wholes, False), (parts, True)):
            for prefix in _prefixes(found, new, names[0]):
                if all(prefix + one in found for one in names):
                    yield (form.fast, prefix), [*_of_form(form, prefix, joins, found)]


def _of_form(form: DrawnForm, prefix: str, joins: bool, found: Mapping[str, Tensor]) -> Iterator[Recut]:
    """What joins the weights of a drawing, or splits those of its layer into parts of one size."""
    for whole, parts in form.weights.items():
        names = [prefix + part for part in parts]
        if joins:
            yield Recut(names, [prefix + whole], [sum(len(found[name]) for name in names)])
        else:
            size, left = divmod(len(found[prefix + whole]), len(names))
            yield Recut([prefix + whole], names, [*[size] * (len(names) - 1), size + left])


def _prefixes(found: Mapping[str, Tensor], new: Mapping[str, Tensor], name: str) -> list[str]:
    """What stands before a name among weights that are no longer wanted."""
    there = [one[: -len(name)] for one in found if one.endswith(name) and one not in new]
    return [prefix for prefix in there if not prefix or prefix.endswith(".")]


def carry_state(layers: Collection[Kept], old: torch.optim.Optimizer, new: torch.optim.Optimizer) -> None:
    """Give an optimiser what another remembers of the same weights; `layers` are those before and after.

    One that keeps vectors of all weights together begins again where one of them is new or gone.
    """
    if type(old) is not type(new):
        return
    first, *others = _weights(old)
    if others and old.state.keys() == {first}:  # vectors of all weights
        order = _order(layers, old, new)
        if order is not None:
            new.state[_weights(new)[0]] = {
                key: _reordered(value, order) for key, value in old.state[first].items()
            }
        return
    for before, after in layers:
        states = {name: old.state[weight] for name, weight in before.items() if weight in old.state}
        if before.keys() != after.keys():
            states = redrawn_state(states, before, after)
        for name, state in states.items():
            new.state[after[name]] = state
    lay_out_like_weights(new)


def _weights(optimiser: torch.optim.Optimizer) -> list[Tensor]:
    return [weight for group in optimiser.param_groups for weight in group["params"]]


def _order(layers: Iterable[Kept], old: torch.optim.Optimizer, new: torch.optim.Optimizer) -> Tensor | None:
    """Where each number of the new weights in one vector was in that of the old; None where not all were."""
    before = _weights(old)
    sizes = [weight.numel() for weight in before]
    numbers = torch.split(torch.arange(sum(sizes), device=before[0].device), sizes)
    places = {weight: part.view_as(weight) for weight, part in zip(before, numbers, strict=True)}
    found: dict[Tensor, Tensor] = {}
    for was, now in layers:
        moved = {name: places[weight] for name, weight in was.items() if weight in places}
        found |= {now[name]: place for name, place in (redrawn(moved, now) or {}).items()}
    after = _weights(new)
    if not found.keys() >= set(after) or sum(map(Tensor.numel, after)) != sum(sizes):
        return None
    return torch.cat([found[weight].reshape(-1) for weight in after])


def _reordered(value: Any, order: Tensor) -> Any:
    """A vector or a square of all weights, or several of them, with the weights in another order."""
    if isinstance(value, list):
        return [_reordered(one, order) for one in value]
    if isinstance(value, Tensor) and value.shape[:1] == order.shape:
        return value[order] if value.ndim == 1 else value[order][:, order]
    return value


def fast_forward(schedule: Any, steps: int) -> None:
    """Put a schedule where it is after `steps` batches."""
    if not steps:
        return
    with warnings.catch_warnings():
        # torch warns of steps without updates; and a closed form can be asked for a step directly.
        warnings.simplefilter("ignore")
        if isinstance(schedule, torch.optim.lr_scheduler.LambdaLR):
            schedule.last_epoch = steps - 1
            schedule.step()
        else:
            for _ in range(steps):
                schedule.step()


def _fits(old: nn.Module, new: nn.Module) -> bool:
    """Whether a layer takes the state of another; what it was fitted to has the sizes of the data."""
    if hasattr(new, "fit"):
        return old.state_dict().keys() == new.state_dict().keys()
    return _shapes(old.state_dict()) == _shapes(new.state_dict())


def _shapes(state: Mapping[str, Any]) -> dict[str, Any]:
    return {name: getattr(value, "shape", None) for name, value in state.items()}


def _has_weights(model: nn.Module, path: str) -> bool:
    return next(model.get_submodule(path).parameters(), None) is not None
