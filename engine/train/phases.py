"""Where a run is in its plan: who trains now, and when the next phase begins.

The steps themselves are the script's own `take_turn`; this is the bookkeeping that the script's `train` does,
taken apart so that the application can pause, probe and save between two batches.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn

from engine.data.batch import WEIGHT, Batch, weight_in
from engine.devices import random_state, set_random_state
from engine.document.names import spoken
from engine.optim.average import statistics
from engine.optim.progress import gradient_norm, largest_move

if TYPE_CHECKING:
    from engine.train.loop import Run

_ALONE = "Training"  # the title of an only phase without a name


class Phases:
    """Where a run is in its plan.

    `number` is the phase, `began` the step it began at, `epochs` the epochs of it that are done, `players`
    its objectives with their optimisers, `sums` (sum, weight) of each one's values in the current epoch.
    """

    def __init__(self) -> None:
        self.number = self.began = self.epochs = 0
        self.averaged_at = -1  # the step after which averages by epochs were last brought up to date
        self.began_after = 0.0  # seconds of training before it
        self.players: list[Any] = []
        self.sums: dict[str, tuple[float, float]] = {}
        self.unaveraged: dict[str, Tensor] = {}  # batch statistics, while averages are in the weights' place
        self.lead = ""  # whose value is the loss of the run: the player with its optimiser, or the first
        self.before: dict[str, Tensor] = {}  # the model when the epoch began, for rules that look at moves

    def __len__(self) -> int:
        return len(self.players)

    def configure(self, run: Run) -> None:
        """Fresh optimisers for the players of the current phase."""
        described = run.program.phases
        self.number = min(self.number, len(described) - 1)
        phase = described[self.number]
        run.steps_per_epoch = run.program.batch_count(run.data["train"], phase.batch)
        self.players = phase.players(run.model, run.steps_per_epoch, self.limit(run))
        movers = [player for player in self.players if player.optimiser is not None]
        # A phase of rules has no optimiser; one that holds nothing stands for it.
        run.optimiser = (
            movers[0].optimiser if movers else torch.optim.SGD([nn.Parameter(torch.zeros(0))], 1.0)
        )
        run.schedule = movers[0].schedule if movers else None
        self.lead = next((player.name for player in movers or self.players), "")

    def limit(self, run: Run) -> int:
        """How many epochs the phase may have."""
        phases = run.program.phases
        if len(phases) == 1:
            return run.settings.epochs
        more = run.settings.more if self.number + 1 == len(phases) else 0
        return int(run.settings.each or phases[self.number].epochs) + more

    def take_turns(
        self, run: Run, batch: Batch
    ) -> tuple[dict[str, tuple[float, float]], dict[str, dict[str, Tensor]]]:
        """Step every player whose turn it is; returns each one's value with its weight, and what it computed.

        Errors: `TrainingError` for a loss that is not finite.
        """
        turn = run.step - self.began
        values: dict[str, tuple[float, float]] = {}
        found: dict[str, dict[str, Tensor]] = {}
        for player in self.players:
            if turn % player.every:
                continue
            try:
                if run.peek is None:
                    parts = run.program.take_turn(player, run.model, batch, turn)
                else:
                    with _peeking(run, player):
                        parts = run.program.take_turn(player, run.model, batch, turn)
            except FloatingPointError as error:
                from engine.train.failures import not_finite

                endless = any(f" is {sign}inf after " in str(error) for sign in ("", "-"))
                raise not_finite(run, batch, math.inf if endless else math.nan) from error
            value, weight = parts["loss"].item(), weight_in(parts, batch)
            values[player.name] = value, weight
            found[player.name] = parts
            total, count = self.sums.get(player.name, (0.0, 0.0))
            self.sums[player.name] = (total + weight * value, count + weight)
        return values, found

    def finish_epoch(self, run: Run) -> None:
        """Step the players that have gathered gradients, though of fewer batches than they would."""
        for player in self.players:
            if getattr(player, "gathered", 0):
                run.program.update(player, run.step - self.began)

    def begin_epoch(self, run: Run) -> None:
        """Set the layers' modes; remember the weights where a stop rule looks at how far they move."""
        run.program.set_modes(run.model, self.number)
        if run.index == 0:
            self.sums = {}
            if "moved" in self._looked_at(run):
                self.before = {name: value.clone() for name, value in run.model.state_dict().items()}

    def average(self, run: Run) -> None:
        """Take the weights of the epoch that is done into the averages that go by epochs, once."""
        if self.averaged_at != run.step:
            self.averaged_at = run.step
            for average in self.averages:
                average.update(self.epochs)

    def swap(self) -> None:
        """Let the weights that are averaged and their averages change places."""
        for average in self.averages:
            average.swap()

    def refresh(self, run: Run) -> None:
        """Give batch norms the statistics of the training data under averaged weights, if these are in place.

        Errors: `Interrupted`; what was random is drawn again then.
        """
        self.unaveraged = statistics(run.model) if any(one.count for one in self.averages) else {}
        if not self.unaveraged:
            return
        before = random_state(run.settings.device)
        try:
            run.program.refresh_statistics(run.model, self._watched(run))
        except BaseException:
            set_random_state(run.settings.device, before)
            run.model.train()
            run.place_modes()
            raise

    def _watched(self, run: Run) -> Iterator[Batch]:
        for batch in run.program.batches(run.data["train"], None, self.number):
            run.look_up()
            yield batch

    def swap_back(self, run: Run) -> None:
        """Let weights be trained again, with the statistics that they had."""
        self.swap()
        if self.unaveraged:
            run.model.load_state_dict(self.unaveraged, strict=False)
            self.unaveraged = {}

    @property
    def averages(self) -> list[Any]:
        """The averages that players keep of their weights."""
        found = [getattr(player, "average", None) for player in self.players]
        return [average for average in found if average is not None]

    def parts(self, run: Run, found: Mapping[str, Mapping[str, Tensor]]) -> dict[str, Tensor]:
        """What objectives computed beside their value, by a name that only one of them has.

        The losses that an objective sums up go by the name of their node, everything else (`updates` of a
        rule) by the objective's too, where there are several.
        """
        own = {name for name in run.program.losses.values() if name not in found}
        return {
            part if player == "loss" or part in own else f"{player.rstrip('_')}_{part}": value
            for player, parts in found.items()
            for part, value in parts.items()
            if part not in ("loss", WEIGHT)
        }

    def means(self) -> dict[str, float]:
        """The mean of each objective over the epoch so far."""
        return {name: total / count for name, (total, count) in self.sums.items() if count}

    def see(self, run: Run, record: dict[str, float]) -> dict[str, float]:
        """What monitors and stop rules look at after an epoch; steps schedules that look too."""
        seen = {**record, **{f"train_{name}": mean for name, mean in self.means().items()}}
        wanted = self._looked_at(run)
        if "gradient_norm" in wanted:
            seen["gradient_norm"] = gradient_norm([w for player in self.players for w in player.weights])
        if "seconds" in wanted:
            seen["seconds"] = run.seconds - self.began_after
        if "moved" in wanted:
            seen["moved"] = largest_move(run.model, self.before)
        for player in self.players:
            watched = getattr(player, "watches", "")
            if watched and watched in seen:
                player.schedule.step(seen[watched])
        return seen

    def weigh(self, run: Run, seen: dict[str, float]) -> bool:
        """Keep the best weights; returns whether the phase is over."""
        phase = run.program.phases[self.number]
        self.epochs += 1
        value = phase.sign * seen.get(phase.monitor, math.nan)
        if value < run.best:
            run.best, run.best_epoch, run.waited = value, run.epoch, 0
            run.kept = {name: weight.clone() for name, weight in run.model.state_dict().items()}
        else:
            run.waited += 1
        if phase.patience is not None and run.waited >= phase.patience:
            title = self.title(run)
            run.feed.note(
                "info",
                f"{'Stopped' if title == _ALONE else f'{title} stopped'} early: {spoken(phase.monitor)} has "
                f"not improved for {phase.patience} epochs; epoch {run.best_epoch} was the best.",
                step=run.step,
            )
            return True
        if run.program.over(self.number, seen):
            run.feed.note(
                "info",
                f"{self.title(run)} ended: its stop rule holds after {self.epochs} epochs.",
                step=run.step,
            )
            return True
        return self.epochs >= self.limit(run)

    def end(self, run: Run) -> bool:
        """Close the phase and begin the next one; returns whether there is none."""
        phase = run.program.phases[self.number]
        if phase.restore_best and run.kept is not None:
            run.model.load_state_dict(run.kept)
        else:
            self.swap()
            self._keep_averages(run)
        last = self.number + 1 >= len(run.program.phases)
        if not last:
            self.number, self.began, self.epochs = self.number + 1, run.step, 0
            self.began_after = run.seconds
            run.best, run.best_epoch, run.waited, run.kept = math.inf, 0, 0, None
            self.configure(run)
            run.feed.note("info", f"{self.title(run)} begins.", step=run.step)
        return last

    def _keep_averages(self, run: Run) -> None:
        if statistics(run.model) and any(one.count for one in self.averages):
            run.place_modes()
            every = run.program.batches(run.data["train"], None, self.number)
            run.program.refresh_statistics(run.model, every)

    def title(self, run: Run) -> str:
        """What to call the current phase."""
        phases = run.program.plan.phases
        name = phases[self.number].name if self.number < len(phases) else ""
        if len(phases) == 1:
            return name or _ALONE
        return f"Phase {self.number + 1}" + (f" ({name})" if name else "")

    def facts(self) -> dict[str, Any]:
        """The counters, for a checkpoint."""
        return {
            "number": self.number,
            "began": self.began,
            "epochs": self.epochs,
            "began_after": self.began_after,
            "averaged_at": self.averaged_at,
            "averages": [average.count for average in self.averages],
            "gathered": [
                [getattr(one, "gathered", 0), getattr(one, "weight", 0.0), getattr(one, "counts", [])]
                for one in self.players
            ],
            "sums": {name: list(pair) for name, pair in self.sums.items()},
        }

    def restore(self, run: Run, facts: dict[str, Any]) -> None:
        """Put the counters back and make the players of that phase."""
        self.number, self.began, self.epochs = facts["number"], facts["began"], facts["epochs"]
        self.began_after = facts["began_after"]
        self.sums = {name: (pair[0], pair[1]) for name, pair in facts["sums"].items()}
        self.averaged_at = facts["averaged_at"]
        self.configure(run)
        for average, count in zip(self.averages, facts["averages"], strict=True):
            average.count = count
        for player, (count, weight, *more) in zip(self.players, facts.get("gathered", ()), strict=False):
            if count:
                player.gathered, player.weight = count, weight
            if more and more[0]:
                player.counts = list(more[0])
                player.sums = [[None] * len(player.weights) for _ in player.counts]

    def _looked_at(self, run: Run) -> set[str]:
        return {key for key, _, _ in run.program.phases[self.number].until}


class _peeking:
    """While a player steps, whoever waits for gradients sees them between backward and update."""

    def __init__(self, run: Run, player: Any) -> None:
        self._run = run
        self._hooks: list[Any] = []
        self._after: Callable[[], None] | None = None
        self._optimiser = player.optimiser

    def __enter__(self) -> None:
        run = self._run
        if run.peek is None or self._optimiser is None:
            return
        peek, run.peek = run.peek, None

        def before(*_: Any) -> None:
            self._after = peek()

        self._hooks.append(self._optimiser.register_step_pre_hook(before))

    def __exit__(self, kind: Any, *_: Any) -> None:
        for hook in self._hooks:
            hook.remove()
        if self._after is not None and kind is None:
            self._after()
