"""A pool that says where its numbers stood, and a layer that puts them back."""

from __future__ import annotations

from collections.abc import Iterator

from engine.document.graph import Project
from engine.document.plan import Plan
from tests.engine.sketches import Sketch


def unpooled(type_id: str, how: Plan) -> Iterator[tuple[str, Project]]:
    """The recipes of one of both, each of digits through pool and layer to ten scores and a loss."""
    puts_back = type_id == "MaxUnpool2d"
    for name in (type_id,) if puts_back else (type_id, f"{type_id} places"):
        sketch = Sketch("Recipe")
        data = sketch.add("Digits")
        pooled = sketch.add("MaxPoolWithPlaces", "tried", x=f"{data}.image")
        back = sketch.add("MaxUnpool2d", x=pooled, places=f"{pooled}.places")
        scores = sketch.add("Linear", "", {"units": 10}, x=sketch.add("Flatten", x=back))
        sketch.add("CrossEntropy", prediction=scores, target=f"{data}.digit")
        sketch.project.plan = how
        yield name, sketch.project
