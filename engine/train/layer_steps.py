"""One batch in slow motion: forward node by node, backward node by node, then the update.

The step is taken once to see what happens in it, and the run goes back to before it. What was seen is then
shown piece by piece, and the last piece is the same step once more, for good: the numbers are bit for bit
those of a plain step, and a batch that is given up half-way has changed nothing. Blocks count as one node.
Of a plan with several objectives the first one whose turn it is is shown.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor

from engine.feed.feed import LAYER_STEP, Feed, Snapshot
from engine.look import reduce
from engine.train.advice.suggest import plainly
from engine.train.failures import node_name
from engine.train.rewind import Moment, go_to, moment_of

if TYPE_CHECKING:
    from engine.train.loop import Run

FORWARD, BACKWARD, UPDATE = "forward", "backward", "update"
_NOTHING = np.zeros(0, np.float32)


@dataclass(frozen=True, slots=True, eq=False)
class Piece:
    """What is shown at once: the `nodes` it is about, in one sentence and in numbers.

    `array` is the first example's value, forward, or its gradient, backward, reduced as `reduce.maps` does;
    `shape` is that of the whole value `(N, ...)`. `gradient` is the norm of the gradient of the node's value
    over the batch, `weights` that of its weights' gradient. `moved` says how far the update moved each node's
    weights, and what fraction of their own length that is. It is piece `number`, from 1, `of` so many.
    """

    stage: str
    nodes: tuple[str, ...]
    sentence: str
    array: reduce.Array = field(default_factory=_NOTHING.copy)
    shape: tuple[int, ...] = ()
    gradient: float = math.nan
    weights: float = math.nan
    moved: dict[str, tuple[float, float]] = field(default_factory=dict)
    number: int = 0
    of: int = 0


class LayerSteps:
    """The batch that a resting run would train next, shown piece by piece on the feed."""

    def __init__(self, feed: Feed) -> None:
        self._feed = feed
        self._pieces: list[Piece] = []
        self._at = 0  # so many are shown

    def __bool__(self) -> bool:
        """Whether a batch is in the middle of being shown."""
        return bool(self._pieces)

    def next(self, run: Run) -> Piece:
        """The piece to show now. The last one is the update, which is the caller's to make."""
        self._pieces = self._pieces or pieces_of(run)
        self._at += 1
        return self._pieces[self._at - 1]

    def back(self, run: Run) -> None:
        """Show the piece before the one on show; before the first the batch is as if never touched."""
        self._at -= 1
        if self._at:
            self.show(run, self._pieces[self._at - 1])
        else:
            self.drop()

    def look_again(self, run: Run) -> None:
        """Something that the next step depends on has changed."""
        if self._pieces:
            self._pieces = pieces_of(run)
            if self._at:
                self.show(run, self._pieces[self._at - 1])

    def show(self, run: Run, piece: Piece) -> None:
        """Put a piece on the feed."""
        extra = {name: getattr(piece, name) for name in piece.__slots__ if name != "array"}
        self._feed.put(LAYER_STEP, Snapshot(run.revision, run.step, piece.array, extra))

    def drop(self) -> None:
        """Nothing is on show any more, and the batch is as it was."""
        self._pieces, self._at = [], 0
        if (shown := self._feed.latest(LAYER_STEP)) is not None and shown.extra:
            self._feed.put(LAYER_STEP, Snapshot(shown.revision, shown.step, _NOTHING))


# -- looking


def pieces_of(run: Run) -> list[Piece]:
    """Everything the next step of a run does, in order; the run is where it was afterwards.

    Errors: as `Run.advance`.
    """
    before = moment_of(run)
    seen = _Seen(run)
    feed, told, peek = run.feed, run.on_record, run.peek
    run.feed, run.on_record, run.peek = Feed(), None, None
    try:
        run.place()
        with seen.looking(), _not_compiled(run):
            run.advance()
        moved = _moves(run, before)
    finally:
        run.feed, run.on_record = feed, told
        go_to(run, before)
        run.peek = peek
    words = _Words(run)
    forward = [words.forward(node, ports) for node, ports in seen.values.items()]
    order = [node for node in reversed(seen.values) if node in seen.gradients]
    backward = [words.backward(node, *seen.gradients[node], seen.weights.get(node)) for node in order]
    pieces = [*forward, *backward, words.update(moved)]
    return [replace(one, number=number, of=len(pieces)) for number, one in enumerate(pieces, 1)]


class _Seen:
    """The values of the first forward pass in a step, and the gradients of the backward pass that follows."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._nodes = run.program.project.graph.nodes
        self._over = False  # backward has begun: what is computed from here on is another pass
        self.values: dict[str, dict[str, Tensor]] = {}
        self.gradients: dict[str, tuple[Tensor, float]] = {}  # of the first example, norm over the batch
        self.weights: dict[str, float] = {}  # squared norms

    @contextmanager
    def looking(self) -> Iterator[None]:
        hooks = []
        for node, path in self._run.program.modules.items():
            if node in self._nodes:
                own = self._run.model.get_submodule(path).parameters()
                hooks += [_hook(one, self._weight_hook(node)) for one in own if one.requires_grad]
        try:
            with self._run.program.tapping(self._tapped):
                yield
        finally:
            for hook in hooks:
                hook.remove()

    def _tapped(self, node: str, port: str, value: Tensor) -> None:
        if self._over or node not in self._nodes:
            return
        first = node not in self.values
        self.values.setdefault(node, {})[port] = value.detach().clone()
        if first and value.requires_grad:
            _hook(value, self._value_hook(node))

    def _value_hook(self, node: str) -> Callable[[Tensor], None]:
        def keep(gradient: Tensor) -> None:
            self._over = True
            if node not in self.gradients:
                shown = gradient[0] if gradient.dim() else gradient
                self.gradients[node] = shown.detach().clone(), float(torch.linalg.vector_norm(gradient))

        return keep

    def _weight_hook(self, node: str) -> Callable[[Tensor], None]:
        counted: set[int] = set()

        def keep(gradient: Tensor) -> None:
            self._over = True
            if not counted:  # a later pass of the same step is another one's business
                counted.add(1)
                size = float(
                    torch.linalg.vector_norm(gradient.coalesce() if gradient.is_sparse else gradient)
                )
                self.weights[node] = self.weights.get(node, 0.0) + size * size

        return keep


def _hook(value: Tensor, keep: Callable[[Tensor], None]) -> Any:
    return value.register_hook(keep)  # type: ignore[no-untyped-call]


def _not_compiled(run: Run) -> Any:
    """A compiled model shows its values only where it is run line by line."""
    return torch.compiler.set_stance("force_eager") if run.program.fast.compiled else nullcontext()


def _moves(run: Run, before: Moment) -> dict[str, tuple[float, float]]:
    """How far each node's weights are from where they were, and the fraction of their length that is."""
    found: dict[str, tuple[float, float]] = {}
    for node, path in run.program.modules.items():
        if node not in run.program.project.graph.nodes:
            continue
        far = long = 0.0
        for name, weight in run.model.get_submodule(path).named_parameters():
            old = before.tensors[f"model/{path}.{name}"]
            far += float((weight.detach().cpu() - old).double().square().sum())
            long += float(old.double().square().sum())
        if far > 0.0:
            found[node] = math.sqrt(far), math.sqrt(far / long) if long else math.inf
    return found


# -- saying


class _Words:
    """Sentences for the pieces of one step."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._project = run.program.project

    def forward(self, node: str, ports: dict[str, Tensor]) -> Piece:
        value = next(iter(ports.values()))
        name, shape = node_name(self._project, node), tuple(value.shape)
        first = value[0] if value.dim() else value
        if not value.dim():
            what = "the loss" if node in self._run.program.losses else "the value"
            sentence = f"Forward to {name}: {what} of this batch is {plainly(float(value))}."
        elif not self._project.graph.incoming(node):
            sentence = f"The batch: {name} gives {_examples(len(value))} of {_shaped(shape[1:])}."
        elif first.numel() == 1:
            sentence = f"Forward through {name}: the first example becomes {plainly(float(first))}."
        else:
            low, high = (float(bound) for bound in torch.aminmax(first.float()))
            sentence = (
                f"Forward through {name}: the first example becomes {_shaped(shape[1:])} "
                f"from {plainly(low)} to {plainly(high)}."
            )
        return Piece(FORWARD, (node,), sentence, reduce.maps(first), shape)

    def backward(self, node: str, gradient: Tensor, norm: float, weights: float | None) -> Piece:
        name = node_name(self._project, node)
        sentence = f"Backward through {name}: the gradient's norm is {plainly(norm)}"
        size = math.nan if weights is None else math.sqrt(weights)
        if node in self._run.program.losses:
            sentence = f"Backward from {name}: here the gradient begins, with {plainly(norm)}"
        elif weights is not None:
            sentence += f", that of its weights {plainly(size)}"
        shape = tuple(gradient.shape)
        return Piece(BACKWARD, (node,), f"{sentence}.", reduce.maps(gradient), shape, norm, size)

    def update(self, moved: dict[str, tuple[float, float]]) -> Piece:
        if not moved:
            return Piece(UPDATE, (), "Update: no weights moved in this step.")
        far = max(moved, key=lambda node: moved[node][0])
        distance, fraction = moved[far]
        part = f", {100 * fraction:.3g} % of their length" if math.isfinite(fraction) else ""
        whose = f"the weights of {node_name(self._project, far)}"
        by = f"{plainly(distance)}{part}."
        if len(moved) == 1:
            sentence = f"Update{self._optimiser()}: {whose} moved by {by}"
        else:
            sentence = f"Update{self._optimiser()}: {len(moved)} layers moved, {whose} the furthest, by {by}"
        return Piece(UPDATE, tuple(moved), sentence, moved=moved)

    def _optimiser(self) -> str:
        """By which optimiser, where there is just one; a rule has none, a game several."""
        players = self._run.phases.players
        if len(players) > 1 or any(player.optimiser is None for player in players):
            return ""
        return f" by {type(self._run.optimiser).__name__}"


def _examples(count: int) -> str:
    return "one example" if count == 1 else f"{count:,} examples"


def _shaped(shape: tuple[int, ...]) -> str:
    if math.prod(shape) == 1:
        return "one number"
    return f"{'×'.join(map(str, shape))} numbers"
