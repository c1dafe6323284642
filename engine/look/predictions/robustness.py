"""How accurate answers stay while an adversary moves the inputs by more and more."""

from __future__ import annotations

from typing import Any

import numpy as np

from engine.catalogue.training.adversaries import make_adversary
from engine.document.plan import Minimise
from engine.emit.procedures import Compiled
from engine.errors import NeuroloomError, reason_of
from engine.feed.feed import Probe
from engine.look.asking import rows_of, spread_over
from engine.look.registry import Taken, probe_kind
from engine.look.sight import Look, evaluating
from engine.procedures.registry import offer_called, offers

POINTS = 9  # values of ε, from 0 to the largest


@probe_kind("robustness", apart=True, once=True)
def robustness(look: Look, probe: Probe) -> Taken | None:
    """Accuracy by ε, `(n, 2)` float64 of (ε, fraction), ε from 0 evenly to the largest; shown as it grows.

    `detail` is (name of the procedure, rows, largest ε in hundredths of what the inputs span, steps of the
    search, number of the try). `total` says how many points there will be, `trained` the largest ε against
    which the plan trains, 0 for none; `rows` and `split` are what was attacked.
    """
    name, rows, hundredths, steps, tries = str(probe.detail[0]), *map(int, probe.detail[1:5])
    offer = offer_called(offers(look.program.project, look.program.book), name)
    chosen = spread_over(look.rows(), rows)
    batch = rows_of(look, chosen)
    low, high = _span(look, offer.bound.parts["inputs"])
    reach = tuple(np.linspace(0, hundredths / 100 * (high - low), POINTS).tolist())
    values = {"reach": reach, "steps": steps, "low": low, "high": high}
    facts: dict[str, Any] = {"total": POINTS, "trained": _trained(look), "steps": steps}
    facts |= {"rows": len(chosen), "split": look.split}
    found: list[tuple[float, float]] = []
    try:
        with evaluating(look.model):
            for state in Compiled(look.program, offer).states(look.model, batch, values, tries):
                look.check()
                found.append((state["reach"], state["accuracy"]))
                if len(found) < POINTS:
                    look.report(np.array(found), facts)
    except (ValueError, RuntimeError) as error:
        raise NeuroloomError(reason_of(error), node_id=offer.bound.node_id) from error
    return np.array(found), facts


def _span(look: Look, part: Any) -> tuple[float, float]:
    """The smallest and the largest number of a column of the data."""
    column = look.data["train" if look.rows("train") else look.split][part.wire[1]]
    return column.min().item(), column.max().item()


def _trained(look: Look) -> float:
    choices = [
        one.adversary
        for one in look.program.project.plan.objectives
        if isinstance(one, Minimise) and one.adversary is not None
    ]
    return max((float(getattr(make_adversary(one), "reach", 0.0)) for one in choices), default=0.0)
