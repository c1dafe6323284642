"""A small network that gives each cell of a grid scores and a box, for losses and metrics of boxes."""

from __future__ import annotations

from engine.document.graph import Project
from engine.document.plan import Plan
from tests.engine.sketches import Sketch


def boxed(type_id: str, how: Plan) -> Project:
    """The recipe of a loss, or of a metric beside a loss, on scenes of digits."""
    sketch = Sketch("Recipe")
    data = sketch.add("DigitScenes", "", {"scenes": 60})
    pooled = sketch.add("AvgPool2d", "", {"size": (4, 4)}, x=f"{data}.image")
    grid = sketch.add("Conv2d", "", {"filters": 14, "padding": "same"}, x=pooled)
    for one in dict.fromkeys(("CentrePointLoss", type_id)):
        sketch.add(one, one.lower(), prediction=grid, target=f"{data}.boxes")
    sketch.project.plan = how
    return sketch.project
