"""Where the parameters of a network are: in its embeddings, its attention, its norms and so on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.catalogue import Composite, Layer

if TYPE_CHECKING:
    from engine.shapes.shapes import ShapeBook


def parameter_budget(book: ShapeBook) -> dict[str, int]:
    """How many numbers each part learns, the largest first; together they are `total_parameters`.

    A part is what a layer says of itself or the family of its node; weights that are shared count once. No
    weight is made for it.
    """
    found: dict[str, int] = {}
    for part, parameters in _parts(book):
        found[part] = found.get(part, 0) + parameters
    return {part: found[part] for part in sorted(found, key=lambda one: (-found[one], one)) if found[part]}


def _parts(book: ShapeBook) -> list[tuple[str, int]]:
    found = []
    for node_id, made in book.types.items():
        inside = book.books.get(node_id)
        if isinstance(made, Composite) and inside is not None:
            copies = made.times if made.own_weights and not made.scan else 1
            found += [(part, copies * parameters) for part, parameters in _parts(inside)]
        elif parameters := book.parameters(node_id):
            shape = next((one.shape for one in book.inputs(node_id).values()), ())
            split = made.parts(shape, parameters) if isinstance(made, Layer) else {made.family: parameters}
            found += split.items()
    return found
