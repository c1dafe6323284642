"""How long an untouched plan trains: the steps that a small network needs, whatever the size of its data."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from engine.document.plan import Plan

if TYPE_CHECKING:
    from engine.catalogue.node_types import Data

STEPS = 2000  # a first network on Iris or Digits has reached what it can by then
FEWEST, MOST = 5, 300  # epochs
PATIENCE = 10  # epochs without a better validation loss, after which a long plan has learnt what it can
TRAINED = 0.6  # of the examples, where nothing else is said
BATCHES = (8, 16, 32, 64)
TABLE_RATE = 0.01  # for rows of numbers, whose networks are small


def sized(data: Data) -> Plan:
    """The plan of a new project that begins with these data; the default one where their number is not known.

    Small batches and a larger rate for tables: Adam's usual one moves small networks too slowly. Many epochs
    end early, with the best weights, where the network would only learn by heart (Prechelt, 1998).
    """
    examples = data.row_count()
    if not examples:
        return Plan()
    rows = max(1, round(TRAINED * examples))
    batch = max([size for size in BATCHES if 5 * size <= rows], default=BATCHES[0])
    epochs = min(MOST, max(FEWEST, math.ceil(STEPS / math.ceil(rows / batch))))
    plan = Plan(batch=batch).with_(epochs=epochs, patience=PATIENCE if epochs > 2 * PATIENCE else None)
    first = data.columns()[:1]
    if first and len(first[0].shape) == 1 and first[0].dtype == "float32":
        plan = plan.with_(optimiser=plan.optimiser.with_param("lr", TABLE_RATE))
    return plan
