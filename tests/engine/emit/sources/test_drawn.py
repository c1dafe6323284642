"""Points that were drawn: a script's lines give what the application reads."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from engine.catalogue.emitter import build
from engine.data.open.opening import Opened
from tests.engine.emit.sources.agreeing import data_of, load_of, same


@pytest.mark.parametrize("count", [5, 19, 20, 60])
@pytest.mark.parametrize("split", ["by class", "random", "folds", "bootstrap"])
@pytest.mark.parametrize("values", [False, True])
def test_drawn_points_are_read_alike(count: int, split: str, values: bool, tmp_path: Path) -> None:
    checked(
        tmp_path, count, {"split": split, "task": "values" if values else "classes", "classes": 3}, values
    )


@pytest.mark.parametrize(
    "changes", [{"balance": "repeat the rare"}, {"repeats": "left out"}, {"repeats": "in one split"}], ids=str
)
def test_rare_classes_and_equal_points(changes: dict[str, Any], tmp_path: Path) -> None:
    checked(tmp_path, 60, changes)


def checked(folder: Path, count: int, changes: dict[str, Any], values: bool = False) -> None:
    points = tuple((at % 23 / 7, (at % 23) ** 2 / 3 - 1e-3, at % 3) for at in range(count))
    data = data_of(Opened("DrawnPoints", {"points": points}, "drawn"), {"classes": 3, **changes})
    loader = build(data, "data", {}).loader
    assert loader is not None and loader[1]["values"] == values
    same(load_of(data)(folder, "cpu"), loader[0](folder, "cpu", **loader[1]))
