"""Which views of its own a node's layer can give."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from app.look.base import Subject
from engine.document.graph import Link

if TYPE_CHECKING:
    from engine.shapes.shapes import ShapeBook


def gives(subject: Subject, what: str, *constructors: str) -> bool:
    """Whether the node's type says so in `shows`, or its layer is made by one of these constructors."""
    kind, shapes = subject.type, subject.workspace.shapes
    if kind is None or kind.kind != "layer":
        return False
    facts = shapes.facts(subject.node_id) if shapes is not None else None
    made = " ".join(facts.constructors) if facts is not None else ""
    return what in kind.shows or any(name in made for name in constructors)


def split_words(facts: Mapping[str, object]) -> str:
    """`training` or `validation`: the examples of which a view was taken."""
    return "training" if facts["split"] == "train" else str(facts["split"])


def of_example(facts: Mapping[str, object]) -> str:
    """`validation example 3`: of what a view was taken."""
    example = facts.get("example")
    return f"{facts.get('split')} example {example + 1}" if isinstance(example, int) else ""


def compared(subject: Subject) -> Iterator[tuple[ShapeBook, str, Link, Link]]:
    """The losses that the node is or goes into, as trained: each with what it compares, answer and target."""
    project, book = subject.as_trained
    if book is None or subject.node_id not in project.graph.nodes:
        return
    graph = project.graph
    for loss in [subject.node_id, *(link.target for link in graph.outgoing(subject.node_id))]:
        made = book.types.get(loss)
        answer, target = graph.feeding(loss, "prediction"), graph.feeding(loss, "target")
        if made is not None and made.kind == "loss" and answer is not None and target is not None:
            yield book, loss, answer, target
