"""The emitted script, compiled: the application trains exactly the text it shows.

What runs is the twin of that text, in which every node's value passes through `tap`. Off duty a tap hands its
value on; on duty it shows it to whoever watches. A test holds that taps are the only difference.
"""

from __future__ import annotations

import ast
import inspect
import linecache
import math
import re
import sys
import traceback
import weakref
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from functools import lru_cache
from pathlib import Path
from types import ModuleType
from typing import Any

import torch
from torch import Tensor, nn

from engine.catalogue import Catalogue
from engine.catalogue import Source as EngineSource
from engine.catalogue.emitter import build, drawn
from engine.catalogue.symbols import evaluate, name
from engine.data.batch import MEANS, ROWS
from engine.data.images import stopping
from engine.data.tables import apart
from engine.data.telling import connect
from engine.data.text.token_names import OPTION, watching
from engine.document import crashes
from engine.document.graph import Project
from engine.document.plan import Plan
from engine.document.shipped import reading
from engine.emit.fast import Fast
from engine.emit.measuring import growing
from engine.emit.model import Assembly
from engine.emit.names import module_paths
from engine.emit.script import Script, Source, write_script
from engine.emit.statements import compiled
from engine.errors import DataError
from engine.shapes.shapes import ShapeBook
from engine.shapes.size import check_memory

Batch = dict[str, Tensor]
Watcher = Callable[[str, str, Tensor], None]
Step = Callable[[Any, nn.Module, Batch, int], dict[str, Tensor]]
_numbers = iter(range(1, sys.maxsize))


class Program:
    """A project as running code.

    `source` is the text the user sees, `Model` its class, `modules` maps node ids to attributes of a model.
    Batches are `{column: (N, ...) tensor}`; a split is the same with all its rows. `counting` is the column
    of each stream of data that counts its rows.
    """

    def __init__(self, script: Script, revision: int = 0) -> None:
        self._script = script
        self.source: Source = script.plain
        self.project: Project = script.assembly.project
        self.plan: Plan = self.project.plan
        self.revision = revision
        self.trains = script.trains
        self.splits = script.assembly.splits  # those that the data have
        self.data_folder = script.folder  # of the user's own files; None where the data are installed
        self.loading = script.loading  # the text of `load`
        self.counts_apart = script.counts_apart  # whether losses count different places of a batch
        self.joins = script.joins  # whether a row that would be a batch of its own joins the batch before it
        self.threads = script.threads  # that the script asks of torch; None for torch's own choice
        self.fast: Fast = script.fast or Fast()
        self.data_node = script.assembly.source
        made = script.assembly
        self.streams = made.streams.nodes  # the data nodes whose rows belong together
        self.counting = [made.counting(at).name for at in range(len(made.streams))] if self.trains else []
        self.modules: dict[str, str] = module_paths(script.assembly)
        self.losses: dict[str, str] = dict(script.assembly.losses)
        self.metrics: dict[str, str] = dict(script.assembly.metrics)
        self.higher = growing(made)  # values that are better when they grow
        self.results = list(script.assembly.results)
        self.arguments = list(script.assembly.arguments)
        self.book: ShapeBook = script.assembly.book
        self.twin = script.twin
        self._watcher: Watcher | None = None
        self._given: Mapping[tuple[str, str], Tensor] = {}
        number = next(_numbers)
        self._file = f"<network {number}>"
        self._names = self._execute(f"{script.twin}\n\n{script.steps}", self._file)
        self._strict_file = f"<reading {number}>"
        strict = script.strict.text
        self._reading = self._execute(strict, self._strict_file) if strict else self._names
        self.Model: type[nn.Module] = self._names["Model"]
        crashes.remember(self._file, self._lines())

    @property
    def assembly(self) -> Assembly:
        """The graph with its names in the script."""
        return self._script.assembly

    @property
    def names(self) -> Mapping[str, Any]:
        """What the script's own scope holds, for code that is to run there."""
        return self._names

    def again(self) -> Program:
        """A second program from the same text, whose taps are its own."""
        return Program(self._script, self.revision)

    def objective(self, model: nn.Module, batch: Batch) -> dict[str, Tensor]:
        """What the plan's first objective finds on a batch, "loss" among it; a rule moves weights, too."""
        function: Callable[[nn.Module, Batch], dict[str, Tensor]] = self._names[self._script.first]
        return function(model, batch)

    def make_model(self, device: str) -> nn.Module:
        """A model with first weights drawn from torch's generator, laid out as the script lays it out.

        Errors: `TrainingError` for one that is too large for this computer.
        """
        check_memory(self.book)
        model = self.Model().to(device)
        if self.fast.channels_last:
            model = model.to(memory_format=torch.channels_last)  # type: ignore[call-overload]
        if self.fast.compiled:
            model.compile()
        return model

    def measure(self, model: nn.Module, batch: Batch) -> dict[str, Tensor]:
        """The losses and metrics of a batch, from one forward pass."""
        measure = self._names.get("measure")
        if measure is not None:
            found = measure(model, batch)
            values = {key: pair[0] if isinstance(pair, tuple) else pair for key, pair in found.items()}
            return {key: value for key, value in values.items() if not key.endswith((MEANS, ROWS))}
        self.forward(model, batch)
        return {}

    def evaluate(self, model: nn.Module, split: Batch) -> dict[str, float]:
        """The means over a split in evaluation mode; the model is in training mode afterwards."""
        evaluate = self._names.get("evaluate")  # a plan of rules alone may have nothing to measure
        return {} if evaluate is None else evaluate(model, split)

    def batches(
        self, split: Batch, shuffle: torch.Generator | None = None, phase: int = 0
    ) -> Iterator[Batch]:
        """The split in batches of a phase's size, in a new random order where `shuffle` is given."""
        batches: Callable[..., Iterator[Batch]] = self._names["batches_of"]
        return batches(self.phases[phase], split, shuffle)

    def batch_count(self, split: Batch, size: int | None) -> int:
        """How many batches of a size, all rows for none, an epoch of a split has."""
        return max(1, *(math.ceil((n - self.joins) / (size or n or 1)) for n in self.rows(split)))

    def rows(self, split: Batch) -> list[int]:
        """How many rows each stream of a split has."""
        return [len(split.get(name, ())) for name in self.counting]

    def stream_of(self, node_id: str) -> int:
        """The stream of data by whose rows a node's value counts; the first for a node of no stream."""
        return self.assembly.streams.of(node_id)

    def refresh_statistics(self, model: nn.Module, batches: Iterator[Batch]) -> None:
        """Give batch norms in training mode the statistics of these batches under the weights as they are."""
        self._names["refresh_statistics"](model, self._names["measure"], batches)

    @property
    def phases(self) -> tuple[Any, ...]:
        """The phases of the plan, as the script describes them."""
        found: tuple[Any, ...] = self._names.get("PHASES", ())
        return found

    def take_turn(self, player: Any, model: nn.Module, batch: Batch, turn: int) -> dict[str, Tensor]:
        """One step of an objective. Errors: `FloatingPointError` for a loss that is not finite."""
        step: Step = self._names["take_turn"]
        return step(player, model, batch, turn)

    def update(self, player: Any, turn: int) -> None:
        """Move an objective's weights by gradients that were gathered of too few batches."""
        self._names["update"](player, turn)

    def set_modes(self, model: nn.Module, phase: int) -> None:
        """Training mode, but for the layers that the phase leaves alone."""
        self._names["set_modes"](model, self.phases[phase])

    def over(self, phase: int, seen: dict[str, float]) -> bool:
        """Whether one of the phase's stop rules holds."""
        over = self._names.get("over")
        return False if over is None else bool(over(self.phases[phase], seen))

    def load(self, folder: Path, device: str = "cpu") -> dict[str, Batch]:
        """Those of "train", "validation" and "test" that the data have.

        `folder` is where the installed data are.

        Errors: `DataError` naming the data node.
        """
        load: Callable[..., dict[str, Batch]] = self._reading["load"]
        where = (self.data_folder or folder,) if "folder" in inspect.signature(load).parameters else ()
        try:
            with reading(self.data_node), self._learning_tokens():
                found = load(*where, device)
                return {split: columns for split, columns in found.items() if split in self.splits}
        except DataError as error:
            error.node_id = self.node_of(error.__cause__ or error) or error.node_id
            raise

    @contextmanager
    def _learning_tokens(self) -> Iterator[None]:
        """What reading learns of a text's tokens is kept for those who name them."""
        with ExitStack() as watched:
            for _, data in self.assembly.sources():
                loader = build(data, "data", {}).loader
                learn = loader[1].get(OPTION) if loader is not None else None
                learner = getattr(learn, "__name__", "")
                watched.enter_context(watching(self._reading, learner, data.learned_key()))
            yield

    def forward(self, model: nn.Module, batch: Batch) -> Any:
        """The model's results on a batch's columns."""
        return model(*(self._argument(place, batch) for place in self.arguments))

    def _argument(self, place: tuple[str, str], batch: Batch) -> Tensor:
        """A column of the batch, or what a source draws for its rows."""
        source = self.book.types[place[0]]
        if not isinstance(source, EngineSource):
            return batch[place[1]]
        first = self.counting[self.stream_of(place[0])] if self.counting else ""
        sample = batch[first] if first in batch else next(iter(batch.values()))
        found = drawn(source, name("sample"))
        values: Tensor = evaluate(found, {"sample": sample, "len": len})
        return values

    @contextmanager
    def tapping(self, watcher: Watcher) -> Iterator[None]:
        """Inside, `watcher(node_id, port, tensor)` is called for every value that is computed."""
        before, self._watcher = self._watcher, watcher
        try:
            yield
        finally:
            self._watcher = before

    @contextmanager
    def giving(self, values: Mapping[tuple[str, str], Tensor]) -> Iterator[None]:
        """Inside, these stand in place of what leaves ports, `{(node id, port): (N, ...) tensor}`."""
        before, self._given = self._given, values
        try:
            yield
        finally:
            self._given = before

    def node_of(self, error: BaseException) -> str | None:
        """The node whose line raised, from the traceback."""
        found = None
        for frame in traceback.extract_tb(error.__traceback__):
            if frame.lineno is None:
                continue
            if frame.filename == self._file:
                found = self._node_at(frame.lineno, frame.colno) or found
            elif frame.filename == self._strict_file:
                found = self._script.strict.node_at(frame.lineno) or found
        return found

    def _lines(self) -> dict[int, tuple[str, str]]:
        """The node, id and name, that each line came from."""
        graphs = [graph for _, graph in self.project.graphs()]
        names = {one.id: one.name or one.type for graph in graphs for one in graph.nodes.values()}
        nodes = enumerate(self.source.nodes, 1)
        return {line: (node, names[node]) for line, node in nodes if node is not None and node in names}

    def _node_at(self, line: int, column: int | None) -> str | None:
        inside = [
            (last - first, node_id)
            for (top, first, bottom, last, node_id) in _spans(self.twin)
            if top <= line <= bottom and column is not None and first <= column < last
        ]
        if inside:
            return min(inside)[1]
        return self.source.node_at(line)

    def _tap(self, node_id: str, pattern: Any, value: Any, shown: Callable[[Any], Any] | None = None) -> Any:
        if self._given:
            value = _exchanged(self._given, node_id, pattern, value)
        watcher = self._watcher
        if watcher is not None:
            _show(watcher, node_id, pattern, value if shown is None else shown(value))
        return value

    def _execute(self, text: str, file: str) -> dict[str, Any]:
        linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
        weakref.finalize(self, linecache.cache.pop, file, None)  # each edit makes a program
        module = ModuleType(re.sub(r"\W+", "_", file).strip("_"))
        module.__file__ = file
        module.__dict__["tap"] = self._tap
        sys.modules[module.__name__] = module  # a dataclass looks up the module it is made in
        try:
            exec(compiled(text, file), module.__dict__)
        finally:
            del sys.modules[module.__name__]
        connect(module.__dict__)
        apart.connect(module.__dict__)
        stopping.connect(module.__dict__)
        return module.__dict__


def compile_program(
    project: Project,
    catalogue: Catalogue,
    book: ShapeBook | None = None,
    *,
    revision: int = 0,
    fast: Fast | None = None,
) -> Program:
    """A project as running code. Errors: as for `export_script`."""
    return Program(write_script(project, catalogue, book, fast=fast), revision)


def _exchanged(given: Mapping[tuple[str, str], Tensor], node_id: str, pattern: Any, value: Any) -> Any:
    if isinstance(pattern, str):
        return given.get((node_id, pattern), value)
    if pattern is None:
        return value
    pairs = zip(pattern, value, strict=True)
    return tuple(_exchanged(given, node_id, part, item) for part, item in pairs)


def _show(watcher: Watcher, node_id: str, pattern: Any, value: Any) -> None:
    if isinstance(pattern, str):
        watcher(node_id, pattern, value)
    elif pattern is not None:
        for part, item in zip(pattern, value, strict=True):
            _show(watcher, node_id, part, item)


@lru_cache(maxsize=4)
def _spans(text: str) -> list[tuple[int, int, int, int, str]]:
    """(first line, first column, last line, last column, node) of every tapped expression."""
    found = []
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "tap":
            owner, value = node.args[0], node.args[2]
            bottom, last = value.end_lineno or value.lineno, value.end_col_offset or value.col_offset
            found.append((value.lineno, value.col_offset, bottom, last, str(ast.literal_eval(owner))))
    return found
