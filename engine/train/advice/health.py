"""Warns of a run that learns badly while there is still something to be done about it.

`Health.look` is called after every batch and compares two numbers. Gradients are weighed twice a second at
most, epochs once each. A warning comes once a spell: again only after what it warned of had ended, which is
told as "settled". What a run has disproved is not said of the next run of the same program.

The thresholds, chosen so that the runs of the gallery give no warning:

    explosion    the loss, smoothed over about ten batches, is above `EXPLODED` times the first one, or a
                 single loss above `BURST` times; or a gradient above `LEAP` times its usual size in a net
                 that has not learned much
    plateau      no epoch of `FLAT_EPOCHS` has lowered the training loss by 1 %, and it is still above
                 `HARDLY` of the first; where it has fallen further, the run is just done (an info)
                 Nothing is said of a net that is right in `LEARNED` of the cases.
    overfitting  for `GAP_EPOCHS` epochs the validation loss has been `GAP` times its best, and well above the
                 training loss, which went on falling
    dead         a layer's gradient has been exactly zero `SAMPLES` times in a row, while others' were not
    vanishing    the same with a mean gradient below `FAINT` of the strongest layer's

    sure         a discriminator gives generated examples a probability below `balance.SURE`

Nothing but an explosion and that is looked for where a plan is not one supervised objective: in a game of
two nets a flat or a rising loss means nothing.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from statistics import median
from time import perf_counter
from typing import TYPE_CHECKING

import torch

from engine.feed.feed import Remedy
from engine.train.advice.balance import too_sure
from engine.train.advice.suggest import calmer_rate, gradient_limit, is_slow, livelier_rate, plainly
from engine.train.failures import node_name

if TYPE_CHECKING:
    from engine.train.loop import Run

EXPLODED, BURST, LEAP = 100.0, 1e6, 1e3
FLOOR = 0.05  # a first loss below this counts as this: what begins learned may stumble
FLAT_EPOCHS, HARDLY, IMPROVED, MOVES_ON = 10, 0.8, 0.99, 0.1
LEARNED = 0.9
GAP_EPOCHS, GAP, SMALLEST_GAP = 5, 1.25, 0.05
SAMPLES, FAINT = 8, 1e-7
_BETWEEN = 0.5  # seconds between two looks at the gradients
_STEPS_BETWEEN = 10
_SMOOTH = 0.9


@dataclass(frozen=True, slots=True)
class Finding:
    """What to say, where it shows, and the number that would help."""

    what: str
    message: str
    node_id: str | None = None
    remedy: Remedy | None = None
    kind: str = "warning"


class Health:
    """Follows one run. A finding is returned once for as long as what it says holds.

    `before` followed the run before, and knows what that has disproved.
    """

    def __init__(self, before: Health | None = None) -> None:
        self._program = ""  # the text of what is trained
        self._known = ("", set[str]()) if before is None else (before._program, before._disproved)
        self._disproved: set[str] = set()
        self._first = math.nan
        self._smooth = math.nan
        self._epochs = 0
        self._on: set[str] = set()
        self._next_look, self._next_step = 0.0, _STEPS_BETWEEN
        self._sizes: deque[float] = deque(maxlen=20)
        self._silent: dict[str, int] = {}
        self._faint: dict[str, int] = {}

    def look(self, run: Run) -> list[Finding]:
        """What there is to say after a batch or an evaluation; nearly always nothing."""
        found: list[Finding] = []
        if not self._program:
            self._program = run.program.source.text
            if self._known[0] == self._program:
                self._disproved = self._known[1]
        loss = run.loss
        if math.isnan(self._first) and math.isfinite(loss):
            earlier = run.history[0] if run.history else {}
            lowered = next((float(earlier[name]) for name in earlier if name.startswith("train_")), 0.0)
            self._first = max(FLOOR, abs(loss), abs(lowered))
            self._smooth = loss
            self._epochs = len(run.history)
        self._smooth = _SMOOTH * self._smooth + (1 - _SMOOTH) * loss
        high = abs(self._smooth)
        if high > EXPLODED * self._first or abs(loss) > BURST * self._first:
            self._tell(found, "explosion", self._explosion(run))
        elif high < EXPLODED * self._first / 10:
            self._over(found, "explosion")
        if run.step >= self._next_step:
            now = perf_counter()
            if now >= self._next_look:
                self._next_look, self._next_step = now + _BETWEEN, run.step + _STEPS_BETWEEN
                self._look_at_gradients(run, found)
        if len(run.history) != self._epochs:
            self._epochs = len(run.history)
            if run.history and getattr(run.program.plan, "supervised", True):
                self._look_at_epochs(run, found)
            else:
                self._look_at_players(run, found)
        if run.results and "plateau" in self._on and learned(run.results):
            self._over(found, "plateau")
        return found

    def _tell(self, found: list[Finding], what: str, finding: Finding) -> None:
        if what not in self._on and what not in self._disproved:
            self._on.add(what)
            found.append(finding)

    def _over(self, found: list[Finding], what: str) -> None:
        """What was warned of does not hold any more."""
        if what in self._on:
            self._on.remove(what)
            found.append(Finding(what, "", kind="settled"))
            if what == "plateau":
                self._disproved.add(what)

    def _look_at_players(self, run: Run, found: list[Finding]) -> None:
        strong = too_sure(run)
        if strong is None:
            self._over(found, "sure")
        else:
            self._tell(found, "sure", Finding("sure", strong[1], strong[0]))

    # -- losses

    def _explosion(self, run: Run) -> Finding:
        rate = calmer_rate(run)
        times = max(abs(self._smooth), abs(run.loss)) / self._first
        return Finding(
            "explosion",
            f"The loss is exploding: at step {run.step:,} it is {plainly(run.loss)}, {multiple(times)} times "
            f"what it was at first. Lower the learning rate to {rate:g} (now {run.learning_rate:g}), or "
            "scale the inputs.",
            worst_layer(run),
            ("lr", rate),
        )

    def _look_at_epochs(self, run: Run, found: list[Finding]) -> None:
        self._look_for_plateau(run, found)
        self._look_for_gap(run, found)

    def _look_for_plateau(self, run: Run, found: list[Finding]) -> None:
        recent = run.history.column("train_loss", -FLAT_EPOCHS)
        if len(run.history) <= FLAT_EPOCHS or not math.isfinite(recent.sum()):
            return
        lowest, before = float(recent.min()), run.history.lowest("train_loss", but=FLAT_EPOCHS).value
        if lowest < before - (1 - IMPROVED) * abs(before):
            if lowest < before - MOVES_ON * abs(before):  # less may be the noise of dropout
                self._over(found, "plateau")
                self._on.discard("done")
            return
        level = float(recent.mean())
        first, well = self._first_loss(run), learned(run.history[-1])
        if well:
            self._over(found, "plateau")
        if level > HARDLY * first and not well:
            swing = (float(recent.max()) - lowest) / abs(level) if level else 0.0
            # The loss swings where the rate is too high, or by the noise of dropout.
            rate = calmer_rate(run) if swing > 0.1 and not is_slow(run) else livelier_rate(run)
            what = "Lower" if rate < run.learning_rate else "Raise"
            self._tell(
                found,
                "plateau",
                Finding(
                    "plateau",
                    f"The network hardly learns: for {FLAT_EPOCHS} epochs the training loss has stayed at "
                    f"{plainly(level)}; it began at {plainly(first)}. {what} the learning rate to {rate:g} "
                    f"(now {run.learning_rate:g}), or give the network more units.",
                    None,
                    ("lr", rate),
                ),
            )
        elif run.settings.patience is None:
            best = run.history.lowest("train_loss")
            self._tell(
                found,
                "done",
                Finding(
                    "done",
                    f"The training loss has not improved by 1 % for {FLAT_EPOCHS} epochs (best "
                    f"{plainly(best.value)} in epoch {best.at + 1}): the run may be done.",
                    kind="info",
                ),
            )

    def _first_loss(self, run: Run) -> float:
        ends = run.feed.ends("train_loss")
        return self._first if ends is None else abs(ends[0])

    def _look_for_gap(self, run: Run, found: list[Finding]) -> None:
        _, at, best, finite = run.history.lowest("val_loss")
        if len(run.history) <= GAP_EPOCHS or not finite:
            return
        recent = run.history.column("val_loss", -GAP_EPOCHS)
        loss, then = run.history.column("train_loss", -1).item(), run.history[at].get("train_loss", math.nan)
        lowest = float(recent.min())
        far = lowest > GAP * best and lowest - best > SMALLEST_GAP * self._first
        fell = loss < 0.9 * then and recent[-1] > 1.5 * loss
        if far and fell:
            finding = Finding(
                "overfitting",
                f"The network learns by heart: since epoch {at + 1} the validation loss has risen from "
                f"{plainly(best)} to {plainly(recent[-1])}, while the training loss fell to "
                f"{plainly(loss)}. Stop at about {at + 1} epochs (a patience of {GAP_EPOCHS} does), "
                f"or add dropout, weight decay or data.",
                remedy=("patience", GAP_EPOCHS),
            )
            self._tell(found, "overfitting", finding)
        elif recent[-1] < 1.05 * best:
            self._over(found, "overfitting")

    # -- gradients

    def _look_at_gradients(self, run: Run, found: list[Finding]) -> None:
        norms = layer_gradients(run)
        if not norms:
            return
        size = math.sqrt(sum(norm * norm * count for norm, count in norms.values()))
        usual = median(self._sizes) if len(self._sizes) >= 5 else math.inf
        self._sizes.append(size)
        unlearned = abs(self._smooth) > 0.5 * self._first
        if math.isfinite(size) and size > LEAP * usual > 0 and unlearned:
            limit = gradient_limit(usual)
            worst = max(norms, key=lambda node: norms[node][0])
            self._tell(
                found,
                "leap",
                Finding(
                    "leap",
                    f"The gradient is exploding: at step {run.step:,} it is {multiple(size / usual)} times "
                    f"its usual size of {plainly(usual)}. Clip gradients at {limit:g}, or lower the learning "
                    f"rate to {calmer_rate(run):g} (now {run.learning_rate:g}).",
                    worst,
                    ("lr", calmer_rate(run)),
                ),
            )
        elif size < 10 * usual:
            self._over(found, "leap")
        if getattr(run.program.plan, "supervised", True):
            self._look_for_silence(run, norms, found)

    def _look_for_silence(self, run: Run, norms: dict[str, tuple[float, int]], found: list[Finding]) -> None:
        strongest = max(norm for norm, _ in norms.values())
        if not math.isfinite(strongest) or strongest == 0.0:
            return
        for node_id, (norm, _) in norms.items():
            self._silent[node_id] = self._silent.get(node_id, 0) + 1 if norm == 0.0 else 0
            weak = 0.0 < norm < FAINT * strongest
            self._faint[node_id] = self._faint.get(node_id, 0) + 1 if weak else 0
        names = partial(node_name, run.program.project)
        dead = [node for node, count in self._silent.items() if count >= SAMPLES and node in norms]
        faint = [node for node, count in self._faint.items() if count >= SAMPLES and node in norms]
        if dead:
            rate = calmer_rate(run)
            self._tell(
                found,
                "dead",
                Finding(
                    "dead",
                    f"{names(dead[-1])} learns nothing: its gradient has been exactly zero for a while, as "
                    f"where every unit behind it stands at zero. Use LeakyReLU, or lower the learning rate "
                    f"to {rate:g} (now {run.learning_rate:g}) and train again.",
                    dead[-1],
                    ("lr", rate),
                ),
            )
        else:
            self._over(found, "dead")
        if faint:
            fraction = norms[faint[0]][0] / strongest
            self._tell(
                found,
                "vanishing",
                Finding(
                    "vanishing",
                    f"The gradient vanishes before it reaches {names(faint[0])}: it is {fraction:.0e} of "
                    f"that of the strongest layer. Use ReLU in place of a sigmoid, a normalisation between "
                    f"the layers, or fewer layers.",
                    faint[0],
                ),
            )
        else:
            self._over(found, "vanishing")


def learned(record: Mapping[str, float]) -> bool:
    """Whether a record of an epoch or of the test has an accuracy that is high."""
    return any("accuracy" in name and value >= LEARNED for name, value in record.items())


def multiple(times: float) -> str:
    """How many times, in digits that the user reads: `1,200`, beyond a million `3e+07`."""
    return f"{times:,.0f}" if times < 1e6 else f"{times:.0e}"


def layer_gradients(run: Run) -> dict[str, tuple[float, int]]:
    """Root mean square of each layer's gradient, as the last batch left it, and the number of its weights.

    One transfer from the device for all layers; layers that nothing trains are left out.
    """
    layers: list[tuple[str, int, int]] = []
    gradients: list[torch.Tensor] = []
    for node_id, path in run.program.modules.items():
        mine = [w.grad for w in run.model.get_submodule(path).parameters() if w.grad is not None]
        mine = [one for one in mine if one.is_floating_point() and not one.is_sparse]
        if mine:
            layers.append((node_id, len(mine), sum(one.numel() for one in mine)))
            gradients += mine
    if not gradients:
        return {}
    squares = torch.stack([one.float() for one in torch._foreach_norm(gradients)]).square().tolist()
    found: dict[str, tuple[float, int]] = {}
    start = 0
    for node_id, parts, count in layers:
        found[node_id] = (math.sqrt(sum(squares[start : start + parts]) / max(1, count)), count)
        start += parts
    return found


def worst_layer(run: Run) -> str | None:
    """The layer with the largest gradient."""
    norms = {node: norm for node, (norm, _) in layer_gradients(run).items() if not math.isnan(norm)}
    return max(norms, key=lambda node: norms[node]) if norms else None
