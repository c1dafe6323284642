"""What went wrong in a run, in words, and at which node."""

from __future__ import annotations

import math
import traceback
from pathlib import Path
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from engine.devices import untouched_random
from engine.document.files import disk_is_full
from engine.errors import DataError, NeuroloomError, TrainingError, kind_and_reason, out_of_memory
from engine.feed.feed import Remedy
from engine.train.advice.suggest import calmer_rate, smaller_batch

if TYPE_CHECKING:
    from engine.document.graph import Project
    from engine.emit.program import Program
    from engine.train.loop import Run

_LONGEST_REASON = 300


class NotFinite(TrainingError):
    """A loss that is infinite or not a number; `from_data` says whether the data were so before."""

    from_data = False


class _Found(Exception):
    """The first value that is not finite has been met."""


def not_finite(run: Run, batch: dict[str, Tensor], loss: float) -> NotFinite:
    """The error for a loss that is not finite: runs the batch again and names the first node that went wrong.

    The weights are those before the update, so what is found is the cause and not its effect.
    """
    node_id = _first_not_finite(run, batch)
    when = f"at step {run.step + 1} (epoch {run.epoch + 1})"
    word = "infinite" if math.isinf(loss) else "not a number (NaN)"
    if node_id is None:
        return NotFinite(
            f"The loss became {word} {when}, though every value before it is finite.", fix=_calm_down(run)
        )
    name = node_name(run.program.project, node_id)
    if _kind_of_source(run, node_id):
        found = NotFinite(
            f"The loss became {word} {when}: the data from {name} holds values that are not finite.",
            node_id=node_id,
            fix="Remove or replace the missing values in the data.",
        )
        found.from_data = True
        return found
    if _weights_not_finite(run, node_id):
        how = f"the weights of {name} grew beyond what a number can hold"
    else:
        how = f"the first value that is not finite comes out of {name}"
    return NotFinite(f"The loss became {word} {when}: {how}.", node_id=node_id, fix=_calm_down(run))


def _first_not_finite(run: Run, batch: dict[str, Tensor]) -> str | None:
    found: list[str] = []

    def look(node_id: str, port: str, value: Tensor) -> None:
        if value.is_floating_point() and not bool(torch.isfinite(value).all()):
            found.append(node_id)
            raise _Found

    with untouched_random(run.settings.device), torch.no_grad(), run.program.tapping(look):
        try:
            run.program.measure(run.model, batch)  # no objective: it may be a rule, which moves weights
        except _Found:
            return found[0]
    return next((node_id for node_id in run.program.modules if _weights_not_finite(run, node_id)), None)


def _weights_not_finite(run: Run, node_id: str) -> bool:
    path = run.program.modules.get(node_id)
    if path is None:
        return False
    weights = run.model.get_submodule(path).parameters()
    return any(not bool(torch.isfinite(weight).all()) for weight in weights)


def _kind_of_source(run: Run, node_id: str) -> bool:
    """Whether a node has nothing before it: what comes out of it is data."""
    return not run.program.project.graph.incoming(node_id)


def _calm_down(run: Run) -> str:
    now = run.learning_rate
    return f"Lower the learning rate to {calmer_rate(run):g} (now {now:g}), or scale the inputs."


def explain(error: BaseException, program: Program | None, batch: int | None = None) -> NeuroloomError:
    """The error for the user: the node from the traceback, the cause, what to do.

    `batch` is the batch size, in rows, for the advice when memory runs out.
    """
    if isinstance(error, NeuroloomError):
        return error
    node_id = program.node_of(error) if program is not None else None
    name = node_name(program.project, node_id) if program is not None and node_id is not None else None
    where = f" in {name}" if name else ""
    if out_of_memory(error):
        smaller = "Lower the batch size, or make"
        if batch == 1:
            smaller = "Even one example at a time is too much: make"
        elif batch:
            smaller = f"Lower the batch size to {smaller_batch(batch)} (now {batch}), or make"
        return TrainingError(
            f"The memory ran out{where}.", node_id=node_id, fix=f"{smaller} the layers smaller."
        )
    if isinstance(error, FileNotFoundError) and error.filename:
        return DataError(
            f"The data file {Path(str(error.filename)).name} is missing.",
            node_id=node_id,
            fix=f"It belongs in {Path(str(error.filename)).parent}.",
        )
    if isinstance(error, OSError) and error.strerror:
        what = Path(str(error.filename)).name if error.filename else "A file"
        fix = "Make room on the disk." if disk_is_full(error) else None
        return DataError(f"{what} cannot be used{where}: {error.strerror}.", node_id=node_id, fix=fix)
    subject = name or "The model"
    if isinstance(error, SystemExit):
        return TrainingError(f"{subject} tried to end the program (sys.exit).", node_id=node_id)
    if isinstance(error, KeyboardInterrupt):
        return TrainingError(f"{subject} was interrupted.", node_id=node_id)
    return TrainingError(f"{subject} failed: {_reason(error)}", node_id=node_id)


def remedy_for(error: BaseException, run: Run | None, batch: int | None) -> Remedy | None:
    """The number that would let the next run go further: a smaller batch where memory ran out, else a rate.

    `error` is what was raised, before it was explained.
    """
    if out_of_memory(error):
        return ("batch", smaller_batch(batch)) if batch is not None and batch > 1 else None
    if isinstance(error, NotFinite) and run is not None and not error.from_data:
        return "lr", calmer_rate(run)
    return None


def free_frames(error: BaseException) -> None:
    """Let go of what an error holds: its traceback keeps a forward pass and all tensors in it."""
    seen: set[int] = set()
    waiting: list[BaseException | None] = [error]
    while waiting:
        one = waiting.pop()
        if one is not None and id(one) not in seen:
            seen.add(id(one))
            waiting += [one.__cause__, one.__context__]
            if one.__traceback__ is not None:
                traceback.clear_frames(one.__traceback__)
            one.__traceback__ = one.__cause__ = one.__context__ = None


def _reason(error: BaseException) -> str:
    text = " ".join(kind_and_reason(error).split())
    if len(text) > _LONGEST_REASON:
        text = text[: _LONGEST_REASON - 1] + "…"
    return text


def node_name(project: Project, node_id: str) -> str:
    """What to call a node in a sentence: the name the user gave it, or its type."""
    node = project.graph.nodes.get(node_id)
    if node is None:
        return "a layer"
    return f"“{node.name}”" if node.name else node.type
