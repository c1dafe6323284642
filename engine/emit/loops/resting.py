"""Which layers that a phase leaves alone are put into evaluation mode: those that compute otherwise there."""

from __future__ import annotations

from collections.abc import Sequence

from engine.emit.model import Assembly

# layers of torch that compute the same in training and evaluation
ALIKE = ("nn.Linear(", "nn.Bilinear(", "nn.Embedding(", "nn.Conv1d(", "nn.Conv2d(", "nn.Conv3d(")


def with_modes(made: Assembly, paths: Sequence[str]) -> list[str]:
    """Those layers, by their paths, that may compute otherwise in training than in evaluation."""
    modules = {path: str(layer) for code in made.codes.values() for path, layer in code.modules.items()}
    return [path for path in paths if not modules.get(path, "").startswith(ALIKE)]
