"""A layer behind one that values the actions of an agent in its world."""

from __future__ import annotations

from engine.catalogue import NodeType
from engine.document.graph import Project
from engine.document.plan import Plan
from tests.engine.sketches import Sketch

VALUES = {"x", "choose"}  # ports that take what actions are worth; the others take what happened


def in_world(made: NodeType, how: Plan) -> Project:
    """The recipe of a layer that reads what an agent did."""
    sketch = Sketch("Recipe")
    data = sketch.add("GridWorld")
    values = sketch.add("Linear", "", {"units": 4}, x=f"{data}.state")
    names = [port.name for port in made.inputs()]
    wires = {one: values if one in VALUES else f"{data}.{one}" for one in names}
    tried = sketch.add(made.type_id, "tried", **wires)
    last = sketch.add("Linear", "", {"units": 1}, x=tried)
    sketch.add("MSE", prediction=last, target=f"{data}.reward")
    sketch.project.plan = how
    return sketch.project
