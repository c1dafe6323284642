"""Several processes train one run: torchrun starts them, DistributedDataParallel joins their gradients.

Every process draws the same batches that one process would and trains its rows of each. Its gradients count
by the rows it had, so that the sum is the whole batch's gradient even where the parts are unequal, as in the
last batch. The first process evaluates, writes the run and speaks; the others hear from it how the evaluation
went, so that all of them stop, and keep the best weights, at the same step.
"""

from __future__ import annotations

import os
import platform
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial
from pathlib import Path
from types import FunctionType
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar, cast

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.nn.modules.batchnorm import _BatchNorm
from torch.nn.modules.dropout import _DropoutNd
from torch.nn.parallel import DistributedDataParallel

from engine.catalogue.training.optimisers import OPTIMISERS, SAMPLERS
from engine.data.batch import COUNTS, PARTS, WEIGHT
from engine.data.portable import portable_source
from engine.devices import choose_device
from engine.emit.distributed import SIDE_BY_SIDE
from engine.errors import TrainingError, reason_of
from engine.runs.records import read_settings

if TYPE_CHECKING:
    from engine.emit.program import Batch, Program
    from engine.train.loop import Run

TOGETHER = timedelta(seconds=30)  # to find each other, and for what all do at the same time
PATIENCE = timedelta(hours=6)  # for a process that evaluates while the others wait
LAUNCHER = "launcher"  # the key in a run's settings under which a restart finds its folder

_DRAWS = re.compile(r"F\.\w*dropout|torch\.(randn?(_like)?|bernoulli|normal|multinomial)\(")

_CLOSURES = {made.makes.rpartition(".")[2]: made.closure for made in (OPTIMISERS | SAMPLERS).values()}

T = TypeVar("T")
Measure = Callable[[nn.Module, dict[str, Tensor]], dict[str, Tensor]]


@dataclass(slots=True)
class World:
    """The processes of a run as torchrun tells of them; `rank` 0 speaks for all.

    `asked` says whether somebody wants this process to stop; `agreed` whether all of them are to, which they
    find out in the same step. `restarts` counts how often torchrun has begun again.
    """

    rank: int
    size: int
    local: int
    restarts: int
    device: str = "cpu"
    asked: Callable[[], bool] | None = None
    stopping: bool = field(default=False, init=False)
    waiting: Any = None  # the group of all of them in which one may take long

    @property
    def first(self) -> bool:
        """Whether this process writes and speaks."""
        return self.rank == 0

    def agreed(self) -> bool:
        """Whether all processes stop after this step."""
        return self.stopping

    def decided(self, decide: Callable[[], T]) -> T:
        """What the first process decides, in all of them."""
        found = [decide() if self.first else None]
        dist.broadcast_object_list(found, src=0, group=self.waiting)
        return cast(T, found[0])

    def wait(self) -> None:
        """Go on when all processes have come here."""
        self.decided(lambda: None)

    def wrap(self, program: Program) -> Program:
        """The program for this process's part of each batch. Errors: `TrainingError` for some data."""
        sources = program.assembly.sources()
        if any(column.rows for _, data in sources for column in data.columns()):
            raise TrainingError(
                SIDE_BY_SIDE,
                fix="Set Batches of the data to padded, or train it in one process, without torchrun.",
            )
        return cast("Program", SharedProgram(program, self))

    def draw_apart(self, run: Run) -> None:
        """Let each process draw masks and noise of its own; the first draws what a single one would."""
        if self.rank:
            torch.manual_seed((run.settings.seed + self.rank * 1_000_003 + run.step) % 2**63)

    def announce(self, run: Run) -> None:
        """Tell the run's feed how many train it, and what differs from training alone."""
        run.feed.note("info", f"{self.size} processes train this run ({dist.get_backend()}).", step=run.step)
        for sentence in differences(run):
            run.feed.note("info", sentence, step=run.step)

    def facts(self, run: Run) -> dict[str, Any]:
        """What a run's settings say of its processes."""
        return {
            "processes": self.size,
            "backend": dist.get_backend(),
            "restarts": self.restarts,
            LAUNCHER: launcher(),
            "differs_from_one_process": differences(run),
        }

    def explained(self, error: BaseException) -> BaseException:
        """The error, or in its place that another process is gone."""
        text = reason_of(error).lower()
        words = ("connection closed", "connection reset", "broken pipe", "timed out", "peer", "gloo", "nccl")
        if isinstance(error, RuntimeError) and any(word in text for word in words):
            return TrainingError(
                "Another process of this run has ended, so this one cannot go on.",
                fix="torchrun --max-restarts 3 begins again from the last checkpoint.",
            )
        return error


def launched() -> bool:
    """Whether torchrun started this process."""
    return "RANK" in os.environ and "WORLD_SIZE" in os.environ and "LOCAL_RANK" in os.environ


def launcher() -> str:
    """A name for the torchrun that started this process, which stays the same when it begins again."""
    return f"{platform.node()}:{os.getppid()}"


@contextmanager
def joined(device: str | None = None) -> Iterator[World | None]:
    """Inside, the processes of torchrun can speak to each other; None where there is no torchrun.

    `device` is as for `choose_device`; each process takes the GPU of its own number.
    """
    if not launched():
        yield None
        return
    rank, size, local = (int(os.environ[name]) for name in ("RANK", "WORLD_SIZE", "LOCAL_RANK"))
    restarts = int(os.environ.get("TORCHELASTIC_RESTART_COUNT", "0"))
    chosen = choose_device(device)[0]
    if chosen.startswith("cuda"):
        chosen = f"cuda:{local % torch.cuda.device_count()}"
        torch.cuda.set_device(chosen)
    elif chosen != "cpu":
        chosen = "cpu"  # torch has no way to add up gradients of several other devices
    backend = "nccl" if chosen.startswith("cuda") else "gloo"
    dist.init_process_group(
        backend, store=_store(rank, restarts), rank=rank, world_size=size, timeout=TOGETHER
    )
    try:
        yield World(rank, size, local, restarts, chosen, waiting=dist.new_group(timeout=PATIENCE))
    finally:
        dist.destroy_process_group()


def leave(status: int) -> NoReturn:
    """End this process, whose work is done and written, without Python's own end.

    In that end a thread of gloo may let a tensor go, which aborts the process (pytorch#190489, torch 2.13);
    destroy_process_group does not end the thread.
    """
    with suppress(BrokenPipeError):
        sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)


def _store(rank: int, restarts: int) -> Any:
    """Where the processes leave word for each other.

    torchrun keeps one store for all its attempts: without names of its own, an attempt would read the
    addresses of processes that are gone, and wait for them without end.
    """
    kept_by_torchrun = os.environ.get("TORCHELASTIC_USE_AGENT_STORE") == "True"
    stores: Any = dist  # its stub leaves them out
    store = stores.TCPStore(
        os.environ["MASTER_ADDR"],
        int(os.environ["MASTER_PORT"]),
        is_master=not kept_by_torchrun and rank == 0,
        timeout=TOGETHER,
        wait_for_workers=False,
    )
    return stores.PrefixStore(f"attempt {restarts}", store)


def folder_before(runs: Path) -> Path | None:
    """The folder that the same torchrun began a run in before it had to begin again."""
    mine = launcher()
    found = []
    for settings in runs.glob("*/settings.json") if runs.is_dir() else ():
        try:
            if read_settings(settings.parent).get(LAUNCHER) == mine:
                found.append(settings.parent)
        except TrainingError:
            continue
    return max(found, key=lambda folder: folder.stat().st_mtime, default=None)


# -- a part of each batch


class Part(dict[str, Tensor]):
    """This process's rows of a batch, `size` of them.

    Where a batch has fewer rows than there are processes, some get a row of another that counts nothing.
    """

    def __init__(self, batch: Batch, rank: int, size: int, pairs: bool = False) -> None:
        """The part of process `rank` of `size`; with `pairs` it is no single row, nor is any other."""
        n, least = len(next(iter(batch.values()))), 2 if pairs else 1
        groups = n // least
        begin, end = least * (rank * groups // size), least * ((rank + 1) * groups // size)
        end += n % least if rank + 1 == size else 0
        self.size = end - begin
        rows = slice(begin, end) if end > begin else slice(0, least)
        super().__init__({name: column[rows] for name, column in batch.items()})


class Measured(nn.Module):
    """A model and what is measured of it, as one module: what goes backward came through its `forward`."""

    def __init__(self, model: nn.Module, measure: Callable[[nn.Module, Batch], dict[str, Tensor]]) -> None:
        super().__init__()
        self.model = model
        self.measure = measure

    def forward(self, batch: Batch) -> dict[str, Tensor]:
        return self.measure(self.model, batch)


class SharedProgram:
    """A program whose objectives compute with a part of each batch and have the whole batch's losses.

    Where an update cannot be put together from parts, the first process makes it and the others get its
    weights. Everything else is the program's own.
    """

    def __init__(self, program: Program, world: World) -> None:
        self._program = program
        self._world = world
        self._joined: dict[str, tuple[Any, nn.Module]] = {}  # the player and what it computes, by its name

    def __getattr__(self, name: str) -> Any:
        return getattr(self._program, name)

    def take_turn(self, player: Any, model: nn.Module, batch: Batch, turn: int) -> dict[str, Tensor]:
        """One step of an objective, the same in all processes. Errors: as `Program.take_turn`."""
        several = len(self._program.counting) > 1  # their parts do not add up to a step
        if several or _made_by_one(player):
            first = self._world.first
            found = self._program.take_turn(player, model, batch, turn) if first else {}
            return self._handed_out(model, found)
        own = player.objective
        if player.optimiser is None:
            return self._program.take_turn(player, model, batch, turn)
        player.objective = partial(self._shared, player, own)
        try:
            return self._program.take_turn(player, model, batch, turn)
        finally:
            player.objective = own

    def _shared(self, player: Any, own: Measure, model: nn.Module, batch: Batch) -> dict[str, Tensor]:
        """The losses of the whole batch; backward gives this process's part of their gradients."""
        part = Part(batch, self._world.rank, self._world.size, self._program.joins)
        known = self._joined.get(player.name)
        if known is None or known[0] is not player:
            joined = Measured(model, own)
            moved = {id(weight) for weight in player.weights}
            others = [name for name, weight in joined.named_parameters() if id(weight) not in moved]
            ignore: Callable[..., None] = DistributedDataParallel._set_params_and_buffers_to_ignore_for_model
            ignore(joined, others)
            known = self._joined[player.name] = player, DistributedDataParallel(joined)
        found: dict[str, Tensor] = known[1](part)
        for key in (PARTS, COUNTS):  # the parts of a batch are weighed by their rows
            found.pop(key, None)
        weight = found.pop(WEIGHT, None)
        mine = float(part.size) if weight is None else float(weight) * bool(part.size)
        whole, totals = self._summed(found, mine)
        factor = self._world.size * mine / (whole or 1.0)  # torch takes the mean over the processes
        values = {
            name: factor * (value - value.detach()) + total / (whole or 1.0)
            for (name, value), total in zip(found.items(), totals, strict=True)
        }
        return {**values, WEIGHT: torch.tensor(whole)}

    def _handed_out(self, model: nn.Module, found: dict[str, Tensor]) -> dict[str, Tensor]:
        """What the first process found, and its weights, in all of them."""
        world = self._world
        asked = torch.tensor(float(world.asked is not None and world.asked()))
        dist.all_reduce(asked)
        world.stopping = bool(asked.item())
        state, found = world.decided(lambda: (_held(model.state_dict()), _held(found)))
        if not world.first:
            model.load_state_dict(state)
        return found

    def _summed(self, found: dict[str, Tensor], weight: float) -> tuple[float, list[Tensor]]:
        """How much the whole batch counts, and its values times that.

        Tells the others in passing whether this process is asked to stop.
        """
        world = self._world
        asked = world.asked is not None and world.asked()
        first = next(iter(found.values())).detach()
        numbers = [weight * value.detach() if weight else torch.zeros_like(value) for value in found.values()]
        numbers += [torch.full_like(first, weight), torch.full_like(first, float(asked))]
        sums = torch.stack(numbers)
        dist.all_reduce(sums)
        *totals, whole, stop = sums.unbind()
        world.stopping = bool(stop.item())
        return whole.item(), totals

    def evaluate(self, model: nn.Module, split: Batch) -> dict[str, float]:
        """What the first process finds, in all of them."""
        return self._world.decided(lambda: self._program.evaluate(model, split))


def _held(values: Mapping[str, Tensor]) -> dict[str, Tensor]:
    return {name: torch.as_tensor(value).detach().cpu() for name, value in values.items()}


def _made_by_one(player: Any) -> bool:
    """Whether a player's update is no sum over parts: a rule, noise, a chain, a matrix of derivatives.

    Objects that take turns, as those that cut weights or let them follow others, do the same in each process.
    """
    optimiser = player.optimiser
    return (
        (optimiser is None and isinstance(player.objective, FunctionType))
        or bool(getattr(player, "noise", 0.0))
        or _CLOSURES.get(type(optimiser).__name__, "") not in ("", "gradient")
    )


# -- what differs


def _training_text(program: Program) -> str:
    """What nodes became in the script, with the functions and layers that they call; no procedure."""
    made, source = program.assembly, program.source
    lines = [line for number, line in enumerate(source.text.splitlines(), 1) if source.node_at(number)]
    return "\n".join([*lines, *portable_source([*made.carries, *made.classes.carries])])


def differences(run: Run) -> list[str]:
    """Where this run is not the one that a single process would train, in sentences; empty where it is."""
    modules = list(run.model.modules())
    found = []
    draws = any(isinstance(one, _DropoutNd) and one.p > 0 for one in modules)
    if draws or _DRAWS.search(_training_text(run.program)):
        found.append("Dropout and noise are drawn in each process for its own rows.")
    if any(isinstance(one, _BatchNorm) for one in modules):
        found.append(
            "Batch normalisation uses the statistics of each process's rows, not of the whole batch."
        )
    if run.program.counts_apart:
        found.append("Losses that count different places of a batch are averaged by its rows.")
    return found
