"""For tests of kinds whose layers are no nodes yet: one layer, n2, fed with a batch by n1."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

import torch
from torch import Tensor, nn

from engine.document.graph import Graph, Link, Node, Project
from engine.feed.feed import Probe
from engine.look.registry import probe_kinds
from engine.look.sight import Look


class OneLayer:
    """A program written by hand: column "x" through the layer; `types` are its node types."""

    counting = ("x",)

    def __init__(self, shape: tuple[int, ...], types: dict[str, Any]) -> None:
        links = [Link("n1", "x", "n2", "x")]
        self.project = Project("One", graph=Graph([Node("n1", "Input"), Node("n2", "Linear")], links))
        self.modules = {"n2": "layer"}
        self.book = SimpleNamespace(
            types=types,
            books={},
            inputs=lambda node_id: {"x": SimpleNamespace(shape=shape)} if node_id == "n2" else {},
        )
        self._watcher: Callable[[str, str, Tensor], None] | None = None

    def measure(self, model: nn.Module, batch: dict[str, Tensor]) -> dict[str, Tensor]:
        value = model.layer(batch["x"])  # type: ignore[operator]
        if self._watcher is not None and isinstance(value, Tensor):
            self._watcher("n2", "output", value)
        return {}

    @contextmanager
    def tapping(self, watcher: Callable[[str, str, Tensor], None]) -> Iterator[None]:
        self._watcher = watcher
        try:
            yield
        finally:
            self._watcher = None


def look_at(
    layer: nn.Module, x: Tensor, types: dict[str, Any] | None = None, pinned: int = 0, step: int = 0
) -> Look:
    """A look at a layer with validation examples `x` (N, ...)."""
    model = nn.Module()
    model.layer = layer
    program = OneLayer(tuple(x.shape[1:]), types or {})
    return Look(program, model, {"validation": {"x": x}}, (), "cpu", pinned, step)  # type: ignore[arg-type]


def taken(look: Look, what: str, *detail: str | int | float) -> tuple[Any, dict[str, Any]]:
    """A picture of n2, taken here and now."""
    with torch.no_grad():
        found = probe_kinds()[what].take(look, Probe("n2", what, detail))
    assert found is not None
    return found[0], dict(found[1])
