"""Layers that say they treat each place of a row by itself, or read to its end, do so."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from engine.catalogue import Layer, Wire
from engine.catalogue.emitter import build
from engine.catalogue.symbols import evaluate, name
from engine.shapes.running import bound
from engine.shapes.shapes import ShapeBook, Signature
from engine.shapes.signatures import kept_axis
from tests.engine.sketches import catalogue

AXIS = ("steps", "n1")
MOST, THERE = 6, 4  # places of a row, and those that the shortest one has
ROWS = torch.tensor([6, 4, 5])
LAYERS = [found for found in catalogue().types() if issubclass(found, Layer)]
PASSING = [one for one in LAYERS if one.places_from is not None or one.reads_lengths]
SHAPES = {"Embedding": [(MOST,)], "OneHot": [(MOST,)], "Thermometer": [(MOST,)], "MaskTokens": [(MOST,)]}
SHAPES["Segments"] = [(MOST,)]


def run(
    made: Layer, layers: dict[str, Any], x: Tensor, lengths: Tensor, ports: list[str]
) -> dict[str, Tensor]:
    wire = {
        port: Wire(name(port), tuple(x.shape[1:]), str(x.dtype)[6:], ragged=AXIS, lengths=name("lengths"))
        for port in ports
    }
    code = build(made, "layer", wire)
    for attribute, constructor in code.modules.items():
        if attribute not in layers:
            layers[attribute] = evaluate(constructor, {}).eval()
    variables = {"self": SimpleNamespace(**layers), "lengths": lengths, **dict.fromkeys(ports, x)}
    for unpack in code.unpacks:
        variables.update(bound(unpack.pattern, evaluate(unpack.call, variables)))
    return {port: evaluate(value, variables) for port, value in code.ports.items()}


@pytest.mark.parametrize("kind", PASSING, ids=lambda kind: str(kind.type_id))
def test_places_that_are_there_do_not_see_the_others(kind: type[Layer]) -> None:
    torch.manual_seed(0)
    passed = 0
    for shape in SHAPES.get(kind.type_id, [(MOST, 4), (MOST,)]):
        whole = kind.type_id in SHAPES
        params = {"axis": -1} if any(spec.name == "axis" for spec in kind.params) else {}
        made = kind(params)
        asked = [port.name for port in made.inputs() if not port.optional]
        ports = ["x1", "x2"] if made.inputs()[0].many else asked or [made.inputs()[0].name]
        signature = Signature(shape, "int64" if whole else "float32", ragged=AXIS)
        arriving = dict.fromkeys(ports, signature)
        if not made.reads_lengths and not kept_axis(made, arriving):
            continue
        if ShapeBook(catalogue()).trial(kind.type_id, params, arriving).problem is not None:
            continue
        layers: dict[str, nn.Module] = {}
        x = torch.randint(0, 5, (3, *shape)) if whole else torch.randn(3, *shape)
        found = run(made, layers, x, ROWS, ports)
        other = x.clone()
        for row, there in enumerate(ROWS.tolist()):
            other[row, there:] = 3 if whole else 100 * torch.randn(MOST - there, *shape[1:])
        changed = run(made, layers, other, ROWS, ports)
        short = run(made, layers, x[1:2, :THERE], ROWS[1:2], ports)
        for port, value in found.items():
            if not made.reads_lengths or port in made.keeps_places:
                for row, there in enumerate(ROWS.tolist()):
                    torch.testing.assert_close(changed[port][row, :there], value[row, :there])
                torch.testing.assert_close(short[port][0], value[1, :THERE], atol=1e-5, rtol=1e-5)
            else:
                torch.testing.assert_close(changed[port], value)
                torch.testing.assert_close(short[port][0], value[1], atol=1e-5, rtol=1e-5)
            passed += 1
    assert passed
