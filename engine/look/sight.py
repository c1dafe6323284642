"""What a view may see of a run: the model, its data, and the values on its wires."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Protocol

import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from engine.data.batch import rows_at
from engine.data.lazy import is_ragged
from engine.feed.feed import Probe, Tried
from engine.shapes.heads import Head

if TYPE_CHECKING:
    from engine.data.batch import Batch, Splits
    from engine.emit.program import Program
    from engine.runs.settings import Settings

Values = dict[str, dict[str, Tensor]]  # node id -> port -> what left it, (N, ...)


class Watched(Protocol):
    """A run, as far as views see it.

    `peek`, when set, is called once between backward and update; what it returns is called after the update.
    """

    program: Program
    model: nn.Module
    data: Splits
    heads: tuple[Head, ...]
    settings: Settings
    revision: int
    step: int
    memory: dict[str, Any]
    peek: Callable[[], Callable[[], None] | None] | None

    def drawn(self, most: int = 50) -> Iterator[None]:
        """The model with each of a chain's samples for weights in turn; nothing where none is trained."""
        ...


class NotWanted(Exception):
    """Nobody looks at the view any more."""


@dataclass(frozen=True, slots=True)
class Look:
    """A model at one step. `pinned` is the validation example that the user looks at, `tried` their own.

    The splits of `data` are `{column: (N, ...) tensor}`, on `device`; of several streams the rows are those
    of number `stream`, and streams that have fewer go round. `memory` is what kinds keep from one
    view of this run to the next, under names of their own; `seed` is what the first weights came from.
    """

    program: Program
    model: nn.Module
    data: Splits
    heads: tuple[Head, ...]
    device: str
    pinned: int
    step: int
    wanted: Callable[[], bool] = lambda: True
    memory: dict[str, Any] = field(default_factory=dict)
    seed: int = 0
    tried: Tried | None = None
    asked: frozenset[Probe] = frozenset()  # what is taken in one go, and so may share a pass
    passes: dict[tuple[int, int, int], Values] = field(default_factory=dict)
    drawn: Callable[..., Iterator[None]] = lambda most=50: iter(())  # with each sample of a chain in turn
    stream: int = 0
    standing: bool = False  # whether training rests, so that what takes long disturbs nobody
    report: Callable[[NDArray[Any], Mapping[str, Any]], None] = lambda array, facts: None

    def check(self) -> None:
        """For a long computation, now and then. Errors: `NotWanted` when nobody looks any more."""
        if not self.wanted():
            raise NotWanted

    @classmethod
    def of(cls, run: Watched, pinned: int, asked: frozenset[Probe] = frozenset()) -> Look:
        """The run as it is now, not a copy."""
        device, seed = run.settings.device, run.settings.seed
        return cls(
            run.program,
            run.model,
            run.data,
            run.heads,
            device,
            pinned,
            run.step,
            memory=run.memory,
            seed=seed,
            asked=asked,
            drawn=run.drawn,
        )

    def about(self, node_id: str) -> Look:
        """The same look at the rows that a node's value counts by, or without a node the first head."""
        if len(self.program.counting) < 2:
            return self
        node_id = node_id or next((head.node_id for head in self.heads), "")
        return replace(self, stream=self.program.stream_of(node_id))

    @property
    def split(self) -> str:
        """The split that views show: validation, or training where nothing is held out."""
        return "validation" if self.rows("validation") else "train"

    def rows(self, split: str | None = None) -> int:
        """The number of examples of a split, 0 where there is none."""
        columns, counting = self.data.get(split or self.split, {}), self.program.counting
        if len(counting) > 1:
            return len(columns.get(counting[self.stream], ()))
        return next((len(column) for column in columns.values()), 0)

    @property
    def example(self) -> int:
        """The row of the pinned example."""
        return max(0, min(self.pinned, self.rows() - 1))

    def batch(self, start: int, count: int, split: str | None = None) -> Batch:
        """Rows of a split, in the order of the data."""
        columns = self.data.get(split or self.split, {})
        if len(self.program.counting) > 1:
            return rows_at(columns, torch.arange(start, min(start + count, self.rows(split))))
        return {name: column[start : start + count] for name, column in columns.items()}

    def ragged(self, column: str) -> bool:
        """Whether an example has any number of rows of a column: the nodes of graphs side by side."""
        return is_ragged(self.data.get(self.split, {}).get(column))

    def repeated(self, count: int) -> Batch:
        """So many rows that are all the pinned example, views of its memory: do not write to them."""
        row, again = self.batch(self.example, 1), torch.full((count,), self.example)
        columns = self.data.get(self.split, {})
        return {
            name: columns[name][again % len(columns[name])]
            if self.ragged(name)
            else kept.expand(count, *kept.shape[1:])
            for name, kept in row.items()
        }

    def batch_with(self, column: str, values: Tensor) -> Batch:
        """A batch with `values` `(N, ...)` as one column; the others repeat those of the pinned example."""
        made = self.repeated(len(values))
        made[column] = values.to(self.device)
        return made

    def values(self, nodes: Collection[str], batch: Batch, *, gradients: bool = False) -> Values:
        """What leaves the nodes for a batch, in evaluation mode.

        With `gradients` the values hang on the graph of the computation, for `torch.autograd.grad`; never
        call `backward`, which would add to the gradients that training is about to use.
        """
        seen: Values = {}

        def look(node_id: str, port: str, value: Tensor) -> None:
            if node_id in nodes:
                seen.setdefault(node_id, {})[port] = value

        with torch.set_grad_enabled(gradients), evaluating(self.model), self.program.tapping(look):
            self.program.measure(self.model, batch)
        return seen

    def shared(self, start: int, count: int) -> Values:
        """What leaves the nodes that are asked about, and the wires of heads, for rows of `split`.

        One pass for all that is taken in one go.
        """
        key = start, count, self.stream
        if key not in self.passes:
            wires = {wire[0] for head in self.heads for wire in (head.prediction, head.target)}
            nodes = wires | {probe.node_id for probe in self.asked}
            self.passes[key] = self.values(nodes, self.batch(start, count))
        return self.passes[key]

    def value(self, node_id: str, batch: Batch, port: str = "", *, gradients: bool = False) -> Tensor | None:
        """What leaves one port of one node, the first where none is named; None where nothing does."""
        ports = self.values((node_id,), batch, gradients=gradients).get(node_id, {})
        return ports.get(port) if port else next(iter(ports.values()), None)

    def of_one(self, node_id: str, port: str, value: Tensor) -> Tensor:
        """What of a value (N, ...) for one example belongs to it: its row, or of a graph all of its nodes."""
        return value if self.rows_of(node_id, port) else value[0]

    def rows_of(self, node_id: str, port: str) -> str:
        """What a row of a value is one of: "nodes" or "edges" of a graph, "" for an example."""
        found = self.program.book.signature(node_id, port)
        return "" if found is None else found.rows

    def module(self, node_id: str) -> nn.Module | None:
        """The layer of a node, None where it has none."""
        path = self.program.modules.get(node_id)
        return None if path is None else self.model.get_submodule(path)

    def repeats(self, node_id: str) -> dict[str, nn.Module]:
        """The layers of a node by their places: one for each repetition of the blocks that hold it."""
        path = self.program.modules.get(node_id)
        found: dict[str, nn.Module] = {"": self.model} if path is not None else {}
        for part in (path or "").split("."):
            found = {
                f"{place}.{name}" if place else name: inner
                for place, module in found.items()
                for name, inner in module.named_children()
                if name == part or part.isdecimal()  # a number stands for the first of several
            }
        return found

    def weights(self, node_id: str) -> dict[str, nn.Parameter]:
        """The parameters of a node's layer by name, empty where it has none."""
        module = self.module(node_id)
        return {} if module is None else dict(module.named_parameters())

    def head(self, node_id: str = "") -> Head | None:
        """The head that a node belongs to: as its loss, as what predicts, or as what the prediction feeds.

        Without a node the first head of the model.
        """
        if not node_id:
            return next(iter(self.heads), None)
        fed_by = {link.source for link in self.program.project.graph.incoming(node_id)}
        for head in self.heads:
            if node_id in (head.node_id, head.prediction[0]) or head.prediction[0] in fed_by:
                return head
        return None

    def input_columns(self, node_id: str) -> list[str]:
        """The columns of data that a node's value depends on, in the order of the data."""
        project, names = self.program.project, self.batch(0, 1)
        graph, at = project.graph, project.standing(node_id)
        columns = {
            link.source_port
            for reached in {*at, *(before for one in at for before in graph.ancestors(one))}
            for link in graph.incoming(reached)
            if not graph.incoming(link.source)
        }
        return [name for name in names if name in columns]


@contextmanager
def evaluating(model: nn.Module) -> Iterator[None]:
    """Evaluation mode inside; afterwards each layer is as it was, frozen ones included."""
    training = [module for module in model.modules() if module.training]
    for module in training:
        module.training = False
    try:
        yield
    finally:
        for module in training:
            module.training = True
