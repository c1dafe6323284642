"""What a node keeps for the backward pass, found by running its line once more on meta tensors.

Nothing here knows a layer: torch itself says which tensors it saves, and those have sizes and no numbers.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn

from engine.catalogue import NodeType
from engine.catalogue.emitter import build
from engine.catalogue.symbols import evaluate
from engine.shapes.one_step import OneStep
from engine.shapes.running import BATCH, empty, values_of
from engine.shapes.signatures import Signature, wires_of

if TYPE_CHECKING:
    from engine.shapes.shapes import ShapeBook


@dataclass(frozen=True, slots=True)
class Saved:
    """Bytes of one node: `each` for each example, `once` whatever their number, `fixed` of untrained values.

    `wires` are the ports, in and out, whose values are kept as they are, each counted once in a network;
    `same` names for an output the input whose memory it shares.
    """

    each: float = 0.0
    once: int = 0
    fixed: int = 0
    wires: frozenset[str] = frozenset()
    same: tuple[tuple[str, str], ...] = ()


def saved_by(book: ShapeBook, node_id: str, params: Mapping[str, Any]) -> Saved:
    """What a node of a book keeps; nothing where its line cannot be run with gradients."""
    made, arriving = book.types[node_id], book.inputs(node_id)
    key = (made.type_id, repr(sorted(params.items())), tuple(sorted(arriving.items())))
    known: dict[Any, Saved] = book.insides.saved
    if key not in known:
        try:
            known[key] = _run(made, arriving)
        except Exception:  # the same line gave its shapes; one that has no gradient keeps nothing for it
            known[key] = Saved()
    return known[key]


def _run(made: NodeType, arriving: Mapping[str, Signature]) -> Saved:
    code = build(made, "layer", wires_of(arriving))
    found: dict[int, tuple[torch.UntypedStorage, int]] = {}

    def keep(tensor: Tensor) -> Tensor:
        storage = tensor.untyped_storage()
        _, before = found.get(storage._cdata, (storage, 1))
        found[storage._cdata] = storage, max(before, steps.times)
        return tensor

    hooks = torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor)
    with torch.device("meta"), torch.enable_grad():
        layers = {attribute: evaluate(one, {}) for attribute, one in code.modules.items()}
        arrived = empty(arriving)
        # Lines may write in place where a value is not read again, which a leaf refuses and its view doesn't.
        given = {
            port: one.requires_grad_().view_as(one) if one.is_floating_point() else one
            for port, one in arrived.items()
        }
        with hooks, OneStep() as steps:
            values = values_of(code, layers, given)
    own = [layer for layer in layers.values() if isinstance(layer, nn.Module)]
    weights = [one for layer in own for one in (*layer.parameters(), *layer.buffers())]
    inputs = {one.untyped_storage()._cdata: port for port, one in arrived.items()}
    outputs = {one.untyped_storage()._cdata: port for port, one in values.items()}
    apart = {*inputs, *outputs, *(one.untyped_storage()._cdata for one in weights)}
    sizes = [times * storage.nbytes() for key, (storage, times) in found.items() if key not in apart]
    return Saved(
        each=sum(size for size in sizes if size % BATCH == 0) / BATCH,
        once=sum(size for size in sizes if size % BATCH),
        fixed=sum({id(one): one.nbytes for one in weights if not one.requires_grad}.values()),
        wires=frozenset(port for key, port in (*inputs.items(), *outputs.items()) if key in found),
        same=tuple((port, inputs[key]) for key, port in outputs.items() if key in inputs),
    )
