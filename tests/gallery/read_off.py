"""Labels along a sequence: scores of each column of ink in rows of digits, a loss and the share of errors."""

from __future__ import annotations

from engine.document.graph import Project
from engine.document.plan import Plan
from tests.engine.sketches import Sketch

READ_OFF = ("DigitRows", "CTC", "LabelErrorRate")


def read_off(how: Plan) -> Project:
    """The recipe of all of them: few rows, of which each column is scored by itself."""
    sketch = Sketch("Recipe")
    data = sketch.add("DigitRows", "", {"rows": 60, "most": 3})
    scores = sketch.add("Linear", "", {"units": 11}, x=f"{data}.columns")
    for measure in ("CTC", "LabelErrorRate"):
        sketch.add(measure, scores=scores, labels=f"{data}.labels")
    sketch.project.plan = how
    return sketch.project
