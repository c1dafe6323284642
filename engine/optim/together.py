"""Several layers that learn by rules in one step, also inside blocks. Portable: exports carry this source."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn


class Passing:
    """Keeps what passes through layers while it is open: all rows, where a layer runs several times."""

    def __init__(self, *groups: Sequence[nn.Module]) -> None:
        layers = [layer for group in groups for layer in group]
        self.entered: dict[nn.Module, list[tuple[Tensor, ...]]] = {layer: [] for layer in layers}
        self.left: dict[nn.Module, list[Tensor]] = {layer: [] for layer in layers}
        self.hooks: list[Any] = []

    def __enter__(self) -> Passing:
        self.hooks = [layer.register_forward_hook(self.keep) for layer in self.entered]
        return self

    def __exit__(self, *_: object) -> None:
        for hook in self.hooks:
            hook.remove()

    def keep(self, layer: nn.Module, inputs: tuple[Tensor, ...], output: Any) -> None:
        self.entered[layer].append(inputs)
        self.left[layer].append(output[0] if isinstance(output, tuple) else output)

    def out_of(self, layers: Sequence[nn.Module]) -> list[Tensor]:
        """What left each of the layers, at its first output."""
        return [joined(self.left[layer]) for layer in layers]

    def update(self, layers: Sequence[nn.Module], taught: Sequence[Tensor] = ()) -> dict[str, Tensor]:
        """Let each layer learn from what entered it and from what it is taught, its own or the only one."""
        found = []
        for number, layer in enumerate(layers):
            entered = [joined(rows) for rows in zip(*self.entered[layer], strict=True)]
            learn: Any = layer.update
            found.append(learn(*entered, *taught[number % len(taught) :][:1] if taught else ()))
        return in_one_step(*found)


def joined(rows: Sequence[Tensor]) -> Tensor:
    """The rows of one or of several passes; of one as they are, so that every bit is as without a block."""
    return rows[0] if len(rows) == 1 else torch.cat(list(rows))


def in_one_step(*updates: dict[str, Tensor]) -> dict[str, Tensor]:
    """What several updates give: "loss" is the sum of their losses, any other value the mean of its name."""
    found: dict[str, list[Tensor]] = {}
    for update in updates:
        for name, value in update.items():
            found.setdefault(name, []).append(value)
    return {
        name: torch.stack(values).sum() if name == "loss" else torch.stack(values).mean()
        for name, values in found.items()
    }
