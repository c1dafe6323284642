"""The training loop, one batch at a time: the same steps, in the same order, as an exported script takes.

A `Run` has no thread and no window. Whoever drives it calls `advance()` until `stage` is DONE and may do
anything between two calls: that is how pausing, stepping, probing and saving work.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from time import perf_counter
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn

from engine.data.batch import WEIGHT, Batch, Splits
from engine.devices import random_state, set_random_state, use_threads
from engine.feed.feed import Feed
from engine.feed.series import Series
from engine.look.tallies import Tally, tallies
from engine.runs.settings import Settings, Stage
from engine.shapes.heads import Head
from engine.train.epochs import Epochs, Record
from engine.train.phases import Phases

if TYPE_CHECKING:
    from engine.emit.program import Program

_BETWEEN_SIDE_VALUES = 0.05  # seconds; learning rate and the parts of a loss are drawn, not computed with


class Interrupted(Exception):
    """Somebody wants the thread back in the middle of an evaluation."""


class Run:
    """One model on its way from seed to test score.

    Counters: `step` batches trained so far, `epoch` epochs finished, `index` batches of the current epoch.
    `order` is the shuffle's state when the epoch began.
    `peek`, when set, is called once between backward and update; what it returns is called after the update.
    `interrupted`, when set, is asked before each batch of an evaluation; an evaluation that is cut short is
    done again by the next `advance()`. `on_record` gets the dictionaries that `train --json` prints.
    """

    def __init__(
        self, program: Program, load: Callable[[], Splits], settings: Settings, feed: Feed, revision: int = 0
    ) -> None:
        self.program = program
        self.settings = settings
        self.feed = feed
        self.revision = revision
        use_threads(program.threads)
        torch.manual_seed(settings.seed)
        self.model: nn.Module = program.make_model(settings.device)
        self.data = load()
        self.phases = Phases()
        self.steps_per_epoch = 1
        self.optimiser: torch.optim.Optimizer
        self.schedule: Any
        self.configure()
        self.shuffle = torch.Generator().manual_seed(settings.seed)
        self.stage = Stage.TRAIN
        self.step = self.epoch = self.index = 0
        self.loss = math.nan
        self.best, self.best_epoch, self.waited = math.inf, 0, 0
        self.kept: dict[str, Tensor] | None = None
        self.history = Epochs()
        self.results: Record = {}  # the values on the test split, at the end
        self.heads: tuple[Head, ...] = ()
        self.peek: Callable[[], Callable[[], None] | None] | None = None
        self.interrupted: Callable[[], bool] | None = None
        self.on_record: Callable[[Record], None] | None = None
        self.memory: dict[str, Any] = {}  # see engine.look.sight
        self._spent, self._since = 0.0, 0.0
        self._side_values_at = 0.0
        self._curves: dict[str, Series] = {}
        self.order = self.shuffle.get_state()
        self._batches: Iterator[Batch] | None = None

    def configure(self) -> None:
        """Build optimiser and schedule for the model as it is."""
        self.phases.configure(self)

    @property
    def ending(self) -> bool:
        """Whether the next batch is the last of the plan."""
        return self.index + 1 == self.steps_per_epoch and self.epoch + 1 == self.settings.epochs

    def rows(self, split: str) -> int:
        """The number of examples of a split."""
        return next((len(column) for column in self.data.get(split, {}).values()), 0)

    # -- driving

    def advance(self) -> None:
        """Train one batch, or do the evaluation that is due.

        Errors: `TrainingError` for a loss that is not finite, `Interrupted`, and whatever a layer raises.
        """
        if self.stage is Stage.TRAIN:
            self._train_batch()
        elif self.stage is Stage.VALIDATE:
            self._validate()
        elif self.stage is Stage.TEST:
            self._test()

    def rest(self) -> None:
        """Stop the clock of the run; `advance` starts it again."""
        if self._since:
            self._spent += perf_counter() - self._since
            self._since = 0.0

    @property
    def seconds(self) -> float:
        """Time spent training, without pauses."""
        return self._spent + (perf_counter() - self._since if self._since else 0.0)

    @seconds.setter
    def seconds(self, value: float) -> None:
        self._spent, self._since = value, 0.0

    @property
    def learning_rate(self) -> float:
        """The learning rate now: that of the first weights, where layers have rates of their own."""
        return float(self.optimiser.param_groups[0]["lr"])

    def set_learning_rate(self, rate: float) -> None:
        """Use a new learning rate from the next batch on; a schedule multiplies it as it did the old one."""
        bases = getattr(self.schedule, "base_lrs", None)
        for index, group in enumerate(self.optimiser.param_groups):
            factor, own = 1.0, rate * group.get("factor", 1.0)  # a layer's own rate keeps its ratio
            if bases:
                factor = float(group["lr"]) / bases[index] if bases[index] else 1.0
                bases[index] = group["initial_lr"] = own
            group["lr"] = own * factor

    # -- the stages

    def _train_batch(self) -> None:
        if not self._since:
            self._since = perf_counter()
        if self._batches is None:
            self._batches = self._begin_epoch()
        batch = next(self._batches)
        values, found = self.phases.take_turns(self, batch)
        self.step += 1
        self.index += 1
        seconds = self._spent + perf_counter() - self._since
        epoch = self.epoch + self.index / self.steps_per_epoch
        counting = {name: value for name, (value, weight) in values.items() if weight}
        for name, value in counting.items():  # a batch in which nothing counts has no value to show
            self._curve_of(name).append(self.step, epoch, seconds, value)
        self.loss = counting.get(self.phases.lead, self.loss)
        self.feed.changed()
        if seconds >= self._side_values_at:
            self._side_values_at = seconds + _BETWEEN_SIDE_VALUES
            self._note_side_values(self.phases.parts(self, found), epoch, seconds)
        if self.on_record is not None:
            number = {"phase": self.phases.number} if len(self.program.phases) > 1 else {}
            told = {name: value for name, (value, _) in values.items()}
            self.on_record({"step": self.step, **number, "epoch": self.epoch, **told})
        if self.index == self.steps_per_epoch:
            self.phases.finish_epoch(self)
            self.stage = Stage.VALIDATE

    def _begin_epoch(self) -> Iterator[Batch]:
        """The batches of the current epoch from `index` on, in the order that its shuffle state gives."""
        if self.index:
            self.shuffle.set_state(self.order)
        self.phases.begin_epoch(self)
        batches = iter(self.program.batches(self.data["train"], self.shuffle, self.phases.number))
        for _ in range(self.index):
            next(batches)
        return batches

    def place_modes(self) -> None:
        """Put layers that the phase leaves alone to rest again."""
        self.program.set_modes(self.model, self.phases.number)

    def place(self) -> None:
        """Forget the batches at hand: the next one is taken from the data at `index` of the epoch."""
        self._batches = None
        self._curves = {}  # a feed that was cut may have dropped an empty one
        self._side_values_at = 0.0

    def _curve_of(self, name: str) -> Series:
        """The curve of an objective's values, a point a step."""
        found = self._curves.get(name)
        if found is None:
            found = self._curves[name] = self.feed.open(f"train_{name}")
        return found

    def drawn(self, most: int = 50) -> Iterator[None]:
        """The model with each of a chain's samples for weights in turn, evenly over all, `most` at the most.

        Its own weights are back afterwards, to the bit.
        """
        movers = [player.optimiser for player in self.phases.players]
        chain = next((one for one in movers if hasattr(one, "samples")), None)
        if chain is None:
            return
        samples, own = chain.samples(), [weight.detach().clone() for weight in chain.weights]
        count = len(samples[0])
        with torch.no_grad():
            try:
                for at in range(0, count, max(1, -(-count // most))):
                    for weight, kept in zip(chain.weights, samples, strict=True):
                        weight.copy_(kept[at])
                    yield
            finally:
                for weight, value in zip(chain.weights, own, strict=True):
                    weight.copy_(value)

    def _note_side_values(self, found: Mapping[str, Tensor], epoch: float, seconds: float) -> None:
        self.feed.append("lr", self.step, epoch, seconds, self.learning_rate)
        for name, part in found.items():
            if name not in ("loss", WEIGHT):
                self.feed.append(f"train_{name}", self.step, epoch, seconds, part.item())

    def _validate(self) -> None:
        validates = "validation" in self.data
        counted = tallies(self.heads) if validates else []
        self.phases.average(self)
        self.phases.swap()
        try:
            self.phases.refresh(self)
            found = self._evaluate("validation", counted) if validates else {}
        except BaseException:
            self.phases.swap_back(self)
            raise
        record: Record = {"epoch": self.epoch, **{f"val_{name}": value for name, value in found.items()}}
        means = self.phases.means() or {"loss": math.nan}
        self.epoch += 1
        self.index = 0
        self._batches = None
        self.order = self.shuffle.get_state()
        seconds = self.seconds
        self.feed.append("lr", self.step, float(self.epoch), seconds, self.learning_rate)
        for name, value in found.items():
            self.feed.append(f"val_{name}", self.step, float(self.epoch), seconds, value)
        for tally in counted:
            for key, snapshot in tally.snapshots(self.revision, self.step, self.epoch):
                self.feed.put(key, snapshot)
        trained = {f"train_{name}": mean for name, mean in means.items()}
        self.history.append(
            {**record, **trained, "lr": self.learning_rate, "seconds": seconds, "step": self.step}
        )
        values = {name: float(value) for name, value in record.items() if name != "epoch"}
        ended = self.phases.weigh(self, self.phases.see(self, values))
        self.phases.swap_back(self)
        over = ended and self.phases.end(self)
        self.stage = Stage.TEST if over else Stage.TRAIN
        if self.on_record is not None:
            self.on_record(record)

    def _test(self) -> None:
        found = self._evaluate("test") if "test" in self.data else {}
        record: Record = {f"test_{name}": value for name, value in found.items()}
        seconds = self.seconds
        for name, value in record.items():
            self.feed.append(name, self.step, float(self.epoch), seconds, value)
        self.results = dict(record)
        self.stage = Stage.DONE
        self.rest()
        if self.on_record is not None and record:
            self.on_record(record)

    def _evaluate(self, split: str, counted: Sequence[Tally] = ()) -> dict[str, float]:
        device = self.settings.device
        before = random_state(device)
        guard = self.model.register_forward_pre_hook(self.look_up) if self.interrupted is not None else None
        try:
            with ExitStack() as taps:
                for tally in counted:
                    taps.enter_context(self.program.tapping(tally.tap))
                return self.program.evaluate(self.model, self.data[split])
        except Interrupted:
            self.model.train()
            self.place_modes()
            set_random_state(device, before)
            raise
        finally:
            if guard is not None:
                guard.remove()

    def look_up(self, *_: Any) -> None:
        """Errors: `Interrupted` where somebody wants the thread back."""
        if self.interrupted is not None and self.interrupted():
            raise Interrupted
