"""What a run does differently from its plan."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from engine.runs.settings import Settings

if TYPE_CHECKING:
    from engine.document.plan import Plan


@dataclass(frozen=True, slots=True)
class Overrides:
    """`epochs` of each phase, `seed` and `device` in place of those of the plan; `more` epochs after its end.

    `drawn` holds the seed of the plan that new weights were asked for, and the seed they come from.
    """

    epochs: int | None = None
    seed: int | None = None
    device: str | None = None
    more: int = 0
    drawn: tuple[int, int] | None = None

    def settings(self, plan: Plan, device: str) -> Settings:
        """What a run of the plan is told on that device."""
        return Settings.of(plan, epochs=self.epochs, seed=self.seed_for(plan), device=device, more=self.more)

    def seed_for(self, plan: Plan) -> int:
        """The seed of the next run: the plan's own unless another was asked for."""
        if self.seed is not None:
            return self.seed
        return self.drawn[1] if self.drawn is not None and self.drawn[0] == plan.seed else plan.seed

    def new_weights_words(self, plan: Plan) -> str:
        """Which weights come next, in a sentence."""
        return f"New weights: the next run uses seed {self.seed_for(plan)}."

    def with_new_weights(self, plan: Plan) -> Overrides:
        """The same with first weights from the next seed."""
        return replace(self, seed=None, drawn=(plan.seed, self.seed_for(plan) + 1))
