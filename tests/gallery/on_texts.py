"""Recipes of layers that take tokens of a text, by the parameters of an opened text and a plan."""

from __future__ import annotations

from collections.abc import Mapping

from engine.document.graph import Graph, Link, Node, Project
from engine.document.plan import Plan
from engine.values import Value


def made(nodes: list[Node], links: list[Link], how: Plan) -> Project:
    """A project of them."""
    return Project(title="Recipe", graph=Graph(nodes, links), plan=how, next_id=len(nodes) + 1)


def masked(type_id: str, params: Mapping[str, Value], how: Plan) -> Project:
    """A layer that hides tokens of a text, which are looked up in a table; what is hidden is to be said."""
    size = params["size"]
    nodes = [
        Node("n1", "TextCorpus", params=dict(params)),
        Node("n2", type_id, "tried", {"size": size}),
        Node("n3", "Embedding", params={"entries": size, "size": 4}),
        Node("n4", "Linear", params={"units": size}),
        Node("n5", "CrossEntropy"),
        Node("n6", "Accuracy"),
    ]
    links = [
        Link("n1", "tokens", "n2", "x"),
        Link("n2", "tokens", "n3", "x"),
        Link("n3", "output", "n4", "x"),
    ]
    for measure in ("n5", "n6"):
        links += [Link("n4", "output", measure, "prediction"), Link("n2", "targets", measure, "target")]
    return made(nodes, links, how)


def paired(type_id: str, params: Mapping[str, Value], how: Plan) -> Project:
    """A layer that draws pairs of words, which are looked up in two tables and multiplied."""
    size = params["size"]
    nodes = [
        Node("n1", "TextCorpus", params=dict(params)),
        Node("n2", type_id, "tried", {"size": size}),
        *(Node(f"n{number}", "Embedding", params={"entries": size, "size": 4}) for number in (3, 4)),
        Node("n5", "MatrixProduct", params={"transposed": True}),
        Node("n6", "BCEWithLogits"),
    ]
    links = [
        Link("n1", "tokens", "n2", "x"),
        Link("n2", "word", "n3", "x"),
        Link("n2", "others", "n4", "x"),
        Link("n3", "output", "n5", "a"),
        Link("n4", "output", "n5", "b"),
        Link("n5", "output", "n6", "prediction"),
        Link("n2", "real", "n6", "target"),
    ]
    return made(nodes, links, how)


def segmented(type_id: str, params: Mapping[str, Value], how: Plan) -> Project:
    """A layer that tells two texts of a row apart, looked up in a table, before two classes."""
    nodes = [
        Node("n1", "AnnotatedText", params=dict(params)),
        Node("n2", type_id, "tried"),
        Node("n3", "Embedding", params={"entries": 2, "size": 4}),
        Node("n4", "LastStep"),
        Node("n5", "Linear", params={"units": 2}),
        Node("n6", "CrossEntropy"),
    ]
    links = [
        Link("n1", "tokens", "n2", "x"),
        *(Link(f"n{number}", "output", f"n{number + 1}", "x") for number in (2, 3, 4)),
        Link("n5", "output", "n6", "prediction"),
        Link("n1", "belongs", "n6", "target"),
    ]
    return made(nodes, links, how)
