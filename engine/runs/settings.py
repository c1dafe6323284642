"""What a run was told to do, and the stage it is in."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from engine.document.plan import Plan


class Stage(Enum):
    """What `advance` does next."""

    TRAIN = "train"
    VALIDATE = "validate"
    TEST = "test"
    DONE = "done"


@dataclass(frozen=True, slots=True)
class Settings:
    """What a run was told: the plan's numbers with the overrides of this run."""

    epochs: int
    seed: int
    device: str = "cpu"
    batch: int = 64
    patience: int | None = None
    monitor: str = "val_loss"
    restore_best: bool = True
    each: int | None = None  # epochs of every phase, in place of the plan's own
    more: int = 0  # epochs of the last phase after the end of its plan

    @classmethod
    def of(
        cls, plan: Plan, *, epochs: int | None = None, seed: int | None = None, device: str, more: int = 0
    ) -> Settings:
        stop = plan.stop
        planned = sum(phase.stop.epochs for phase in plan.phases)
        return cls(
            epochs=(planned if epochs is None else epochs * len(plan.phases)) + more,
            seed=plan.seed if seed is None else seed,
            device=device,
            batch=plan.batch,
            patience=stop.patience,
            monitor=stop.monitor,
            restore_best=stop.restore_best,
            each=epochs,
            more=more,
        )
