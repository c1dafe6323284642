"""Views of networks whose data go through transforms: they see the columns that runs see."""

from __future__ import annotations

from app.look.asked import features, head
from app.look.base import Subject
from app.look.registry import view_kinds
from app.workspace.workspace import Workspace
from engine.document.edits import AddNodes, Connect, Disconnect
from engine.document.graph import Link, Node
from tests.app.conftest import add_iris


def with_transform(workspace: Workspace) -> None:
    """Iris as n1, n2, n3, with Standardise n4 before the layer."""
    add_iris(workspace)
    link = workspace.document.project.graph.feeding("n2", "x")
    assert link is not None
    document = workspace.document
    with document.step("Standardise"):
        document.apply(AddNodes((Node("n4", "Standardise", "scaled"),)))
        document.apply(Disconnect(link))
        document.apply(Connect(Link("n1", link.source_port, "n4", "x")))
        document.apply(Connect(Link("n4", "output", "n2", "x")))


def test_the_question_of_a_loss_names_the_data_and_its_transformed_column(shaped: Workspace) -> None:
    with_transform(shaped)
    assert not shaped.errors()
    asked = head(Subject(shaped, "n3"))
    assert asked is not None and asked.labels == ("setosa", "versicolor", "virginica")
    found = features(Subject(shaped, "n3"))
    assert [one.column for one in found] == ["scaled"] * 4
    assert found[0].name == "sepal length"


def test_every_kind_can_be_asked_about_a_transform_and_its_data(shaped: Workspace) -> None:
    with_transform(shaped)
    for kind in view_kinds().values():
        for node_id in ("n1", "n2", "n3", "n4", ""):
            assert kind.suits(Subject(shaped, node_id)) in (True, False)
