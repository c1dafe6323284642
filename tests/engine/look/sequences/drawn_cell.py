"""A recurrent cell drawn from nodes, for tests of what views see of it."""

from __future__ import annotations

from engine.document.graph import Block, Graph, Link, Node, Project
from engine.document.plan import Plan

T, H = 9, 4  # steps, numbers of the state


def drawn() -> Project:
    """The laser through an Elman cell that is drawn, to its last step and a value."""
    inside = [
        Node("n201", "BlockInput", "reading"),
        Node("n202", "BlockInput", "memory", {"state": "n207", "size": (H,), "order": 1}),
        Node("n203", "Linear", "into", {"units": H}),
        Node("n204", "Linear", "again", {"units": H}),
        Node("n205", "Add", "both"),
        Node("n206", "Tanh", "squash"),
        Node("n207", "BlockOutput", "memory"),
    ]
    links = [
        Link("n201", "output", "n203", "x"),
        Link("n202", "output", "n204", "x"),
        Link("n203", "output", "n205", "x1"),
        Link("n204", "output", "n205", "x2"),
        Link("n205", "output", "n206", "x"),
        Link("n206", "output", "n207", "x"),
    ]
    nodes = [
        Node("n1", "SantaFe", "", {"lag": T}),
        Node("n2", "Block", "cell", {"block": "b1", "scan": True}),
        Node("n3", "LastStep"),
        Node("n4", "Linear", "value", {"units": 1}),
        Node("n5", "MSE"),
    ]
    outside = [
        Link("n1", "window", "n2", "n201"),
        Link("n2", "n207", "n3", "x"),
        Link("n3", "output", "n4", "x"),
        Link("n4", "output", "n5", "prediction"),
        Link("n1", "next", "n5", "target"),
    ]
    block = Block("b1", "elman", Graph(inside, links))
    return Project("Drawn", "", Graph(nodes, outside), Plan(batch=32), next_id=300, blocks={"b1": block})
