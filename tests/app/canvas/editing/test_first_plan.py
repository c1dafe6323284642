"""What is added first decides how long an untouched plan trains."""

from __future__ import annotations

from app.canvas.editing.editing import add
from app.workspace.workspace import Workspace
from engine.document.edits import SetPlan
from engine.document.plan import Plan


def test_the_first_data_size_the_plan_in_the_same_step(workspace: Workspace) -> None:
    assert add(workspace, "Iris", (0.0, 0.0))
    iris = workspace.document.project.plan
    assert iris.epochs > 100 and iris.batch < 64
    assert add(workspace, "Mnist", (0.0, 200.0))
    assert workspace.document.project.plan == iris
    workspace.undo()
    workspace.undo()
    assert workspace.document.project.plan == Plan() and not workspace.document.project.graph.nodes


def test_a_plan_that_somebody_has_touched_stays(workspace: Workspace) -> None:
    own = Plan().with_(epochs=11)
    assert workspace.apply("Plan", SetPlan(own)) and add(workspace, "Iris", (0.0, 0.0))
    assert workspace.document.project.plan == own
