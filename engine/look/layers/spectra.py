"""How many directions a layer's weights really use."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from engine.feed.feed import Probe
from engine.look.first_weights import first_of
from engine.look.registry import Taken, probe_kind
from engine.look.sight import Look

MOST_VALUES = 512


@probe_kind("singular_values", every=1.0)
def singular_values(look: Look, probe: Probe) -> Taken | None:
    """The singular values `(k,)` of the node's first weight seen as a matrix `(outputs, the rest)`, falling.

    `rank` is the effective rank exp(H) of the values as fractions (Roy and Vetterli, 2007); at most 512.
    `first` are those of the weights that training began with, at step `since`.
    """
    found = next(((name, w) for name, w in look.weights(probe.node_id).items() if w.dim() > 1), None)
    if found is None:
        return None
    name, weight = found
    values = _values(weight)
    fractions = values / values.sum().clamp_min(1e-12)
    rank = torch.exp(-(fractions * fractions.clamp_min(1e-12).log()).sum()).item()
    first, since = _first(look, probe.node_id, name)
    facts = {"shape": tuple(weight.shape), "rank": rank, "largest": values[0].item()}
    return values[:MOST_VALUES].numpy(), {**facts, "first": first, "since": since}


def _first(look: Look, node_id: str, name: str) -> tuple[NDArray[np.float32], int]:
    """The values at the start, which are found once for each weight."""
    weight, since = first_of(look, node_id)[name]
    key = f"first singular values of {node_id}"
    known: tuple[Tensor, NDArray[np.float32]] | None = look.memory.get(key)
    if known is None or known[0] is not weight:
        known = look.memory[key] = (weight, _values(weight)[:MOST_VALUES].numpy())
    return known[1], since


def _values(weight: Tensor) -> Tensor:
    """All singular values, by the eigenvalues of the smaller square: some ten times as fast as the SVD.

    In double precision, so that values down to a hundred-millionth of the largest are right.
    """
    matrix = weight.detach().flatten(1).cpu().double()
    square = matrix @ matrix.T if len(matrix) <= matrix.shape[1] else matrix.T @ matrix
    found: Tensor = torch.linalg.eigvalsh(square).flip(0).clamp_min(0).sqrt()
    return found.float()
