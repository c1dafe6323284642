"""For tests of views of images: projects in a workspace."""

from __future__ import annotations

from app.workspace.workspace import Workspace
from engine.document.edits import AddNodes
from engine.document.graph import Project
from tests.engine.look.image_nets import copying, two_branches


def put(workspace: Workspace, project: Project) -> None:
    """Add a project's nodes to the document."""
    edit = AddNodes(tuple(project.graph.nodes.values()), project.graph.links)
    assert workspace.apply("Add", edit)


def add_branches(workspace: Workspace) -> None:
    """The digits through two convolutions side by side."""
    put(workspace, two_branches())


def add_copying(workspace: Workspace) -> None:
    """The digits through 12 numbers and back."""
    put(workspace, copying())
