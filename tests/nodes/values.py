"""What a layer computes, asked through the very program that an export is."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from tests.engine.sketches import Sketch, catalogue, program_of


def built(
    type_id: str, params: dict[str, Any] | None = None, *shapes: tuple[int, ...], whole: bool = False
) -> tuple[nn.Module, str]:
    """A model of one layer fed by inputs of these shapes, in evaluation mode, and the layer's name in it."""
    sketch = Sketch()
    starts = [sketch.add("Input", "", {"shape": shape, "whole": whole}) for shape in shapes]
    ports = catalogue().get(type_id)().inputs()  # type: ignore[misc]
    names = [f"x{number}" for number in range(1, len(starts) + 1)] if ports[0].many else ["x"]
    sketch.add(type_id, "layer", params, **dict(zip(names, starts, strict=True)))
    return program_of(sketch).Model().eval(), "layer"


def through(type_id: str, params: dict[str, Any] | None, *inputs: Tensor) -> Any:
    """What leaves a layer without weights of its own."""
    whole = not inputs[0].is_floating_point()
    model, _ = built(type_id, params, *(tuple(one.shape[1:]) for one in inputs), whole=whole)
    return model(*inputs)


def measured(type_id: str, params: dict[str, Any] | None, prediction: Tensor, target: Tensor) -> float:
    """The value of a loss or a metric."""
    from engine.catalogue.emitter import build
    from engine.catalogue.symbols import evaluate
    from engine.shapes.shapes import Signature, wires_of

    arriving = {
        name: Signature(tuple(value.shape[1:]), str(value.dtype).removeprefix("torch."))
        for name, value in (("prediction", prediction), ("target", target))
    }
    made = catalogue().get(type_id)(params)  # type: ignore[misc]
    [value] = build(made, "measure", wires_of(arriving)).ports.values()
    return float(evaluate(value, {"prediction": prediction, "target": target}))


def close(found: Tensor, wanted: Tensor) -> bool:
    return found.shape == wanted.shape and torch.allclose(found, wanted, atol=1e-6)
