"""For tests of views of predictions: small projects in a workspace."""

from __future__ import annotations

from app.workspace.workspace import Workspace
from engine.document.edits import AddNodes
from engine.document.graph import Link, Node


def add(
    workspace: Workspace, data: str, column: str, loss: str, target: str, units: int, **params: object
) -> None:
    """Data (n1) through one layer (n2) to a loss (n3)."""
    nodes = (
        Node("n1", data, "", dict(params), (0, 0)),
        Node("n2", "Linear", "answer", {"units": units}, (200, 0)),
        Node("n3", loss, "loss", {}, (400, 0)),
    )
    links = (
        Link("n1", column, "n2", "x"),
        Link("n2", "output", "n3", "prediction"),
        Link("n1", target, "n3", "target"),
    )
    assert workspace.apply("Add", AddNodes(nodes, links))


def add_points(workspace: Workspace) -> None:
    """Points in the plane to two classes."""
    add(workspace, "Points", "point", "CrossEntropy", "label", 2)


def add_surface(workspace: Workspace) -> None:
    """Points in the plane to one number."""
    add(workspace, "Points", "point", "MSE", "side", 1)


def add_line(workspace: Workspace) -> None:
    """A line to fit."""
    add(workspace, "Line", "x", "MSE", "y", 1)


def add_digits(workspace: Workspace) -> None:
    """Profiles of digits to ten classes; no names for the features."""
    add(workspace, "Digits", "profile", "CrossEntropy", "digit", 10)
