"""Which views of its own a node's layer can give."""

from __future__ import annotations

from collections.abc import Mapping

from app.look.base import Subject


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
