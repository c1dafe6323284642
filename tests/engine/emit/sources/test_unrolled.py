"""Sets of the program and generated ones: a script's lines give what their loader gives, for every choice."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from engine.catalogue.emitter import build
from engine.data.open.opening import Opened
from engine.document.shipped import datasets_folder
from engine.emit.sources.unrolled import is_unrolled
from nodes.data.loaded import Loaded
from tests.engine.emit.sources.agreeing import data_of, load_of, same, text_of
from tests.engine.emit.sources.reading import assert_clean
from tests.engine.sketches import catalogue
from tests.sampling import every

FEW = {"rows": 200, "copies": 3, "width": 12, "delay": 9}
# What a choice hangs on, so that each of them is taken.
BESIDE: dict[str, dict[str, Any]] = {"gap": {"gap_from": -0.2, "gap_to": 0.3}}


def sets() -> Iterator[type[Loaded]]:
    for kind in catalogue():
        if issubclass(kind, Loaded) and kind.makes != "engine.layers.agents.gymnasium_worlds:GymnasiumWorlds":
            loader = build(kind({}), "data", {}).loader
            if loader is not None and is_unrolled(loader[0]) and loader[0].__name__ != "load_mnist":
                yield kind


def choices(kind: type[Loaded]) -> Iterator[dict[str, Any]]:
    """The defaults, each choice and each switch by itself, and what else decides."""
    yield {}
    for spec in kind.params:
        for value in (spec.choices or ()) if spec.choices else (False, True) if spec.kind == "bool" else ():
            if value != spec.default:
                yield {spec.name: value}
    names = {spec.name for spec in kind.params}
    yield from (one for one in BESIDE.values() if one.keys() <= names)


CASES = [(kind, one) for kind in sets() for one in choices(kind)]
NAMES = [f"{kind.__name__}-{' '.join(f'{key}={one[key]}' for key in one)}" for kind, one in CASES]


@pytest.mark.parametrize("name", every(3, NAMES))
def test_a_set_is_read_alike(name: str) -> None:
    kind, changes = CASES[NAMES.index(name)]
    few = {spec.name: FEW[spec.name] for spec in kind.params if spec.name in FEW}
    data = data_of(Opened(kind.type_id, {**few, **changes}, "data"))
    loader = build(data, "data", {}).loader
    assert loader is not None
    folder = datasets_folder() if data.holds() else Path()
    expected = loader[0](folder, "cpu", **loader[1])
    same(load_of(data)(folder, "cpu"), expected)
    if kind.makes:
        return  # what an agent meets is gathered for all columns at once
    last = data.columns()[-1].name
    part = {split: {last: columns[last]} for split, columns in expected.items()}
    same(load_of(data, last)(folder, "cpu"), part)


def test_the_lines_are_as_strict_as_a_person_would_have_them(tmp_path: Path) -> None:
    texts = [text_of(data_of(Opened(kind.type_id, one, "data"))) for kind, one in CASES]
    assert_clean(tmp_path, [one for one in dict.fromkeys(texts) if "sklearn" not in one])  # without types
