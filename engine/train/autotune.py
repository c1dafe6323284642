"""Measures which settings train a project fastest on this machine, in the first seconds of a run.

The candidates train copies of the model on one batch, in turns, so that what else the machine does falls on
all of them; each counts by its quickest round. The run's weights, data and random numbers stay as they were.
"""

from __future__ import annotations

import ctypes.util
import os
import platform
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn

from engine.data.lazy import is_ragged
from engine.devices import choose_device, untouched_random, use_threads
from engine.emit.fast import Fast, fusable

if TYPE_CHECKING:
    from engine.catalogue import Catalogue
    from engine.data.batch import Splits
    from engine.document.graph import Project
    from engine.emit.program import Program
    from engine.feed.feed import Feed
    from engine.runs.settings import Settings

SECONDS = 4.0  # for measuring
ROUND = 0.01  # seconds a candidate trains before the next has its turn
MOST_ROUNDS = 100
WORTH = 1.03  # times as fast: less than that is noise
WORTH_ROUNDING = 1.05  # what bfloat16 has to bring for its coarser numbers
MOST_KEPT = 20_000_000  # weights up to which several copies of the model are held at once

Make = Callable[[Fast], "Program"]


def choose(
    make: Make,
    data: Splits,
    settings: Settings,
    *,
    seconds: float = SECONDS,
    offers: Mapping[str, object] | None = None,
    clock: Callable[[], float] = perf_counter,
) -> Fast:
    """The fastest settings for a project that `make` compiles with given settings; `Fast()` where none helps.

    `offers` are the settings to try (`offered`); `clock` is for tests. Errors: what training a batch raises.
    """
    plain_program = make(Fast())
    found = dict(offered(plain_program, settings) if offers is None else offers)
    if not found or not len(next(iter(data["train"].values()), ())):
        return Fast()
    threads = torch.get_num_threads()
    try:
        with untouched_random(settings.device):
            race = _Race(make, data, settings, clock)
            return _chosen(race, found, seconds)
    finally:
        use_threads(plain_program.threads if plain_program.threads is not None else threads)


def _chosen(race: _Race, offers: Mapping[str, object], seconds: float) -> Fast:
    plain, everything = Fast(), _with(_without(offers, "threads"))
    runners = {"": everything, "plain": plain}
    if race.few:
        race.run([plain, everything], seconds)
        best = min((plain, everything), key=race.time)
    else:
        for name in offers:
            if name != "threads" and len(offers) > 1:
                runners[name] = _with(_without(offers, "threads", name))
        race.run(list(dict.fromkeys(runners.values())), seconds * 0.6)
        kept = {
            name: value
            for name, value in _without(offers, "threads").items()
            if name not in runners or _pays(name, race.time(everything), race.time(runners[name]))
        }
        best = _with(kept)
        rivals, wholes = [best, plain], [everything]
        if "threads" in offers:
            rivals.append(best.only(threads=offers["threads"]))
            wholes.append(_with(offers))
        race.run(list(dict.fromkeys([*rivals, *wholes])), seconds * 0.4)
        best = min(rivals, key=race.time)
        # Settings may help only together: what was taken out one by one may belong back.
        whole = min(wholes, key=race.time)
        if race.time(whole) * WORTH_ROUNDING < race.time(best):
            best = whole
    step, plain_step = race.time(best), race.time(plain)
    if best == plain or plain_step < WORTH * step:
        return Fast(step=plain_step, plain_step=plain_step, computer=computer())
    return best.only(step=step, plain_step=plain_step, computer=computer())


def _pays(name: str, with_it: float, without: float) -> bool:
    """Whether a setting stays: an exact one unless it costs time, a coarse one only if it saves enough."""
    return without > with_it * WORTH_ROUNDING if name == "autocast" else without * WORTH > with_it


def _with(offers: Mapping[str, Any]) -> Fast:
    return Fast(**offers)


def _without(offers: Mapping[str, object], *names: str) -> dict[str, object]:
    return {name: value for name, value in offers.items() if name not in names}


def fastest(
    program: Program,
    catalogue: Catalogue,
    load: Callable[[], Splits],
    settings: Settings,
    feed: Feed,
    decided: Callable[[Callable[[], Fast]], Fast] | None = None,
) -> Program:
    """The program with the settings that are fastest here, which the feed hears of.

    `decided` lets one process measure for several.
    Only for plans that ask for it: a run with a program from here does not equal the plain one to the bit.
    """

    def make(fast: Fast) -> Program:
        return made_with(program, catalogue, fast)

    data = load()
    decided = decided or (lambda decide: decide())
    found = decided(lambda: choose(make, data, settings))
    made = make(found)
    feed.note("info", made.fast.sentence())  # of settings that a plan has no use for it says nothing
    return made


def measured(project: Project, catalogue: Catalogue, datasets: Path) -> Fast:
    """What trains a project fastest on this machine's best device; `Fast()` where its plan has no fast path.

    Errors: as for training.
    """
    from engine.emit.program import compile_program
    from engine.runs.settings import Settings

    program = compile_program(project, catalogue)
    if not program.trains:
        return Fast()
    settings = Settings.of(project.plan, device=choose_device()[0])
    use_threads(program.threads)
    data = program.load(datasets, settings.device)
    return choose(lambda fast: made_with(program, catalogue, fast), data, settings)


def made_with(program: Program, catalogue: Catalogue, fast: Fast) -> Program:
    """The same project as a program with the settings `fast`."""
    from engine.emit.program import compile_program

    if fast == program.fast:
        return program
    return compile_program(program.project, catalogue, program.book, revision=program.revision, fast=fast)


# -- what there is to try


def offered(program: Program, settings: Settings) -> dict[str, object]:
    """The settings that can help this program on this device, as values of `Fast`."""
    device = settings.device.partition(":")[0]
    found: dict[str, object] = {}
    with untouched_random(settings.device):
        model = program.Model()
    shapes = [weight.ndim for weight in model.parameters()]
    if "F.max_pool" in program.source.text and "F.relu" in program.source.text:
        found["late_relu"] = True
    if device == "cpu" and "nn.Dropout(" in program.source.text:
        found["uniform_dropout"] = True  # on a GPU torch draws and applies the mask in one kernel
    if 4 in shapes and 5 not in shapes:
        found["channels_last"] = True
    if device in ("cpu", "cuda", "mps") and fusable(program.plan):
        found["fused"] = True
    if _has_bfloat16(device):
        found["autocast"] = device
    if device == "cuda" and _long(program, settings) and _has_compiler():
        found["compiled"] = True
    if device == "cpu":
        threads = 1 if program.threads is None else (os.cpu_count() or 1)
        if threads != torch.get_num_threads():
            found["threads"] = threads
    return found


def _has_bfloat16(device: str) -> bool:
    """Whether the device multiplies bfloat16 numbers by itself; elsewhere they are slower than float32."""
    if device == "cuda":
        return bool(torch.cuda.is_bf16_supported())
    if device != "cpu":
        return False
    return bool({"avx512_bf16", "amx_bf16", "bf16"} & _cpu_flags())


def _cpu_flags() -> set[str]:
    try:
        text = Path("/proc/cpuinfo").read_text("utf-8")
    except OSError:
        return set()
    lines = (line.partition(":") for line in text.splitlines())
    return next(
        (set(value.split()) for name, _, value in lines if name.strip() in ("flags", "Features")), set()
    )


def computer() -> str:
    """The processor's name as its maker calls it, "" where the system does not say."""
    try:
        text = Path("/proc/cpuinfo").read_text("utf-8")
    except OSError:
        return platform.processor()
    lines = (line.partition(":") for line in text.splitlines())
    return next((value.strip() for name, _, value in lines if name.strip() == "model name"), "")


def _long(program: Program, settings: Settings) -> bool:
    return program.book.total_multiply_adds * settings.batch * settings.epochs > 10**12


def _has_compiler() -> bool:
    return bool(shutil.which("gcc") or shutil.which("cc")) and ctypes.util.find_library("cuda") is not None


# -- measuring


class _Race:
    """Candidates that take turns on one batch."""

    def __init__(self, make: Make, data: Splits, settings: Settings, clock: Callable[[], float]) -> None:
        self._make, self._settings, self._clock = make, settings, clock
        rows = min(settings.batch or 2**31, len(next(iter(data["train"].values()))))
        self._rows = torch.arange(rows)
        columns: Mapping[str, Any] = data["train"]
        self._columns = {
            name: column.at(at) if is_ragged(column) else column[at]
            for name, column in columns.items()
            for at in [self._rows % len(column)]  # of streams of data, a shorter one goes round
        }
        self._lanes: dict[Fast, _Lane] = {}
        self._times: dict[Fast, float] = {}
        first = self._lane(Fast())
        self.few = first.weights > MOST_KEPT

    def time(self, fast: Fast) -> float:
        """Seconds a step in its quickest round."""
        return self._times[fast]

    def run(self, candidates: list[Fast], seconds: float) -> None:
        """Let the candidates take turns for about so long, each at least once."""
        until = self._clock() + seconds
        for turn in range(MOST_ROUNDS):
            for one in candidates:
                lane = self._lane(one)
                with _on_threads(one.threads if one.threads is not None else lane.program.threads):
                    if turn == 0:
                        lane.step()  # the first has its buffers and kernels to find
                    began, steps, passed = self._clock(), 0, 0.0
                    while passed < ROUND:
                        lane.step()
                        steps += 1
                        passed = self._clock() - began
                self._times[one] = min(self._times.get(one, float("inf")), passed / steps)
                if self.few:
                    del self._lanes[one]
            if self._clock() >= until:
                return

    def _lane(self, fast: Fast) -> _Lane:
        found = self._lanes.get(fast)
        if found is None:
            found = self._lanes[fast] = _Lane(self._make(fast), self._columns, self._rows, self._settings)
        return found


class _Lane:
    """A copy of the model that trains with one set of settings."""

    def __init__(
        self, program: Program, columns: dict[str, Tensor], rows: Tensor, settings: Settings
    ) -> None:
        self.program = program
        torch.manual_seed(settings.seed)
        self._model: nn.Module = program.make_model(settings.device)
        self._players = program.phases[0].players(self._model, 1, settings.epochs)
        self._columns, self._rows = columns, rows
        self.weights = sum(weight.numel() for weight in self._model.parameters())

    def step(self) -> None:
        batch = {
            name: column.index_select(0, self._rows.to(column.device))
            for name, column in self._columns.items()
        }
        for player in self._players:
            self.program.take_turn(player, self._model, batch, 0)["loss"].item()


@contextmanager
def _on_threads(count: int | None) -> Iterator[None]:
    if count is not None and count != torch.get_num_threads():
        torch.set_num_threads(count)
    elif count is None:
        use_threads(None)
    yield


# -- resuming
