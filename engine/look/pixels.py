"""Where a network has images: as its input, flattened for a layer, or generated."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING

from engine.catalogue import Layer, NodeType
from engine.catalogue.bypass import keeps_values
from engine.shapes.heads import CLASSES, VALUES, Head, Wire, head_of, heads, input_columns

if TYPE_CHECKING:
    from engine.catalogue import Column
    from engine.document.graph import Project
    from engine.shapes.shapes import ShapeBook
    from engine.shapes.signatures import Signature

Shape = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Copying:
    """A wire that is compared with an image that went in: `original` is where that comes from."""

    made: Wire
    original: Wire
    shape: Shape


def arriving_shape(book: ShapeBook, node_id: str) -> Shape | None:
    """The shape of one example on a node's first input; None while unknown."""
    return next((found.shape for found in book.inputs(node_id).values()), None)


def has_channels_first(node_type: type[NodeType] | None) -> bool:
    """Whether what nodes of a type give of a sequence is (C, L)."""
    return node_type is not None and issubclass(node_type, Layer) and node_type.traits.channels_first


def unit_axis(node_type: type[NodeType] | None, shape: Shape) -> int:
    """The axis along which units lie in an answer `(C, h, w)`, `(C, L)`, `(T, F)` or `(k,)`."""
    return 1 if len(shape) == 2 and not has_channels_first(node_type) else 0


def units_of(node_type: type[NodeType] | None, shape: Shape) -> int:
    """How many units a node's answer to one example has."""
    return shape[unit_axis(node_type, shape)] if shape else 0


def is_image(shape: Shape | None) -> bool:
    """Whether (C, H, W) is a grey or a coloured image."""
    return shape is not None and len(shape) == 3 and shape[0] in (1, 3) and min(shape[1:]) > 1


def image_behind(project: Project, book: ShapeBook, node_id: str) -> Shape | None:
    """The image (C, H, W) whose pixels arrive at a node in a row; None where others do."""
    if node_id not in project.graph.nodes:
        return None
    shape = arriving_shape(book, node_id)
    here = node_id
    while shape is not None and not is_image(shape):
        link = next(iter(project.graph.incoming(here)), None)
        if link is None or not keeps_values(book.types.get(link.source)):
            return None
        here = link.source
        before = arriving_shape(book, here)
        if before is None or prod(before) != prod(shape):
            return None
        shape = before
    return shape


def image_input(project: Project, book: ShapeBook, node_id: str) -> Column | None:
    """The widest column of numbers in two or three axes that a node's value depends on; None without one."""
    if node_id not in project.graph.nodes:
        return None
    fitting = [
        column
        for column in input_columns(project, book, node_id)
        if column.dtype == "float32" and len(column.shape) in (2, 3)
    ]
    return max(fitting, key=lambda column: prod(column.shape), default=None)


def asked_of_image(project: Project, book: ShapeBook, node_id: str = "") -> Head | None:
    """The head of a node, else the first about classes, else the first; None where no image goes in."""
    found = head_of(project, book, node_id) if node_id else None
    if found is None:
        known = [one for one in heads(project, book) if not one.places]
        found = next((one for one in known if one.kind == CLASSES), next(iter(known), None))
    if found is None or image_input(project, book, found.prediction[0]) is None:
        return None
    return found


def copied(project: Project, book: ShapeBook, node_id: str = "") -> Copying | None:
    """What a node generates, or compares, that must equal an image of the data; the first for no node."""
    for one in heads(project, book):
        if one.kind != VALUES or (node_id and node_id not in (one.node_id, one.prediction[0])):
            continue
        origin = _origin(project, book, one.target)
        column = book.signature(*origin)
        made = book.signature(*one.prediction)
        before = project.graph.ancestors(one.prediction[0])
        if column is None or made is None or not is_image(column.shape) or origin[0] not in before:
            continue
        if prod(made.shape) == prod(column.shape):
            return Copying(one.prediction, origin, column.shape)
    return None


@dataclass(frozen=True, slots=True)
class PatchGrid:
    """How the steps of a sequence lie on the image that the node `cut_by` cut: `before` of them do not."""

    cut_by: str
    rows: int
    columns: int
    before: int


def patches_behind(project: Project, book: ShapeBook, node_id: str) -> PatchGrid | None:
    """The patches, cut row by row, that arrive at a node as steps; None where the steps are others."""
    at = project.standing(node_id)
    before = set(at).union(*(project.graph.ancestors(one) for one in at))
    types = {one: book.types[one] for one in before if one in book.types}
    layers = {one: made for one, made in types.items() if isinstance(made, Layer)}
    cut = next((one for one, made in layers.items() if made.traits.patch), None)
    arriving, image = arriving_shape(book, node_id), None if cut is None else arriving_shape(book, cut)
    if cut is None or image is None or arriving is None or len(image) != 3 or len(arriving) != 2:
        return None
    size = getattr(layers[cut], layers[cut].traits.patch)
    high, wide = size if isinstance(size, tuple) else (size, size)
    rows, columns = image[1] // high, image[2] // wide
    leads = sum(
        made.traits.leads
        for one, made in layers.items()
        if one != node_id and cut in project.graph.ancestors(one)
    )
    return PatchGrid(cut, rows, columns, leads) if arriving[0] == rows * columns + leads else None


def from_noise(project: Project, book: ShapeBook, node_id: str) -> Shape | None:
    """The image that a layer generates from the numbers of a source: (C, H, W), or its pixels in a row."""
    if node_id not in project.graph.nodes or node_id not in book.types:
        return None
    before = project.graph.ancestors(node_id)
    drawn = [book.types[one] for one in before if one in book.types]
    shape = next((found.shape for found in _outputs(book, node_id)), None)
    if book.types[node_id].kind != "layer" or not any(made.kind == "source" for made in drawn):
        return None
    if shape is None or any(made.kind == "data" for made in drawn):
        return None
    if is_image(shape):
        return shape
    side = round(prod(shape) ** 0.5)
    return shape if len(shape) == 1 and side > 3 and side * side == shape[0] else None


def _outputs(book: ShapeBook, node_id: str) -> list[Signature]:
    facts = book.facts(node_id)
    return list(facts.outputs.values()) if facts is not None else []


def _origin(project: Project, book: ShapeBook, wire: Wire) -> Wire:
    """The wire before everything that only lays numbers out otherwise."""
    while keeps_values(book.types[wire[0]]):
        link = next(iter(project.graph.incoming(wire[0])), None)
        if link is None:
            break
        wire = (link.source, link.source_port)
    return wire
