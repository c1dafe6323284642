"""Samples of products too large for every run: the rest of a product is run by `pytest -m exhaustive`."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import product

import pytest
from _pytest.mark.structures import ParameterSet


def every(step: int, kinds: Iterable[str]) -> list[ParameterSet]:
    """Kinds, all but every `step`-th marked `exhaustive`."""
    return [
        pytest.param(kind, marks=[] if place % step == 0 else pytest.mark.exhaustive)
        for place, kind in enumerate(kinds)
    ]


def sampled(step: int, kinds: Iterable[str], ways: Iterable[str]) -> list[ParameterSet]:
    """All products of kinds and ways, all but every `step`-th marked `exhaustive`.

    Of any `step` neighbours in one list each member of the other meets exactly one in the sample. Neighbours
    are alike, so every kind meets every sort of way, and every way every sort of kind.
    """
    return [
        pytest.param(kind, way, marks=[] if (row + column) % step == 0 else pytest.mark.exhaustive)
        for (row, kind), (column, way) in product(enumerate(kinds), enumerate(ways))
    ]
