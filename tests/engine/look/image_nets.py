"""For tests of pictures of images: nets made by hand, begun and not trained."""

from __future__ import annotations

from engine.document.graph import Graph, Link, Node, Project
from engine.document.plan import Plan


def two_branches() -> Project:
    """The 8×8 digits through two convolutions side by side, added, pooled, flattened to ten classes.

    n2: 3 × 3 with "same" padding and ReLU; n3: 2 × 2 with "same" padding; n4 adds; n5: 3 × 3, stride 2,
    padding 2, dilation 2; n6 pools; n8 classes.
    """
    nodes = [
        Node("n1", "Digits"),
        Node("n2", "Conv2d", "left", {"filters": 3, "padding": "same", "activation": "ReLU"}),
        Node("n3", "Conv2d", "right", {"filters": 3, "kernel": 2, "padding": "same"}),
        Node("n4", "Add"),
        Node(
            "n5",
            "Conv2d",
            "far",
            {"filters": 4, "kernel": 3, "stride": 2, "padding": 2, "dilation": 2, "activation": "tanh"},
        ),
        Node("n6", "MaxPool2d", "pool"),
        Node("n7", "Flatten"),
        Node("n8", "Linear", "classes", {"units": 10}),
        Node("n9", "CrossEntropy"),
    ]
    links = [
        Link("n1", "image", "n2", "x"),
        Link("n1", "image", "n3", "x"),
        Link("n2", "output", "n4", "x1"),
        Link("n3", "output", "n4", "x2"),
        Link("n4", "output", "n5", "x"),
        Link("n5", "output", "n6", "x"),
        Link("n6", "output", "n7", "x"),
        Link("n7", "output", "n8", "x"),
        Link("n8", "output", "n9", "prediction"),
        Link("n1", "digit", "n9", "target"),
    ]
    return Project("Branches", graph=Graph(nodes, links), plan=Plan(batch=64).with_(epochs=1))


def copying() -> Project:
    """The 8×8 digits through 12 numbers and back: n4 makes what shall equal n2's pixels."""
    nodes = [
        Node("n1", "Digits"),
        Node("n2", "Flatten"),
        Node("n3", "Linear", "code", {"units": 12}),
        Node("n4", "Linear", "image", {"units": 64}),
        Node("n5", "MSE"),
    ]
    links = [
        Link("n1", "image", "n2", "x"),
        Link("n2", "output", "n3", "x"),
        Link("n3", "output", "n4", "x"),
        Link("n4", "output", "n5", "prediction"),
        Link("n2", "output", "n5", "target"),
    ]
    return Project("Copying", graph=Graph(nodes, links), plan=Plan(batch=64).with_(epochs=1))
