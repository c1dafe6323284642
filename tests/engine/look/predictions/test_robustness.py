"""Accuracy by ε: falling, shown as it grows, and the accuracy of clean examples at ε = 0."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

from engine.feed.feed import Probe
from engine.look.predictions.robustness import POINTS
from engine.look.registry import probe_kinds
from engine.look.sight import Look, NotWanted
from engine.procedures.attack import attacked
from tests.engine.procedures.running import loaded
from tests.engine.sketches import gallery

PROBE = Probe("", "robustness", ("attack", 32, 20, 3, 1))


def seen() -> Look:
    program, model, data = loaded(gallery("robust-digits"))
    return Look(program, model, data, (), "cpu", 0, 5)


def test_the_points_come_one_by_one_and_begin_with_clean_examples() -> None:
    partial: list[int] = []
    look = replace(seen(), report=lambda array, facts: partial.append(len(array)))
    found = probe_kinds()["robustness"].take(look, PROBE)
    assert isinstance(found, tuple)
    array, facts = found
    assert partial == list(range(1, POINTS)) and array.shape == (POINTS, 2) and facts["total"] == POINTS
    assert facts["rows"] == 32 and facts["trained"] == pytest.approx(0.1)
    pixels = look.data["train"]["image"]
    np.testing.assert_allclose(array[:, 0], np.linspace(0, 0.2 * float(pixels.max() - pixels.min()), POINTS))
    rows = [index * look.rows() // 32 for index in range(32)]
    columns = look.data["validation"]
    scores = look.value("n4", {name: column[rows] for name, column in columns.items()})
    assert scores is not None
    clean = (scores.argmax(1) == columns["digit"][rows]).float().mean().item()
    assert array[0, 1] == pytest.approx(clean) and array[-1, 1] <= clean


def test_it_stops_when_nobody_looks() -> None:
    look = seen()
    with pytest.raises(NotWanted):
        probe_kinds()["robustness"].take(replace(look, wanted=lambda: False), PROBE)


def test_inputs_stay_between_the_ends_of_the_rows_unless_others_are_given() -> None:
    inputs = torch.tensor([[-2.0, 3.0], [1.0, 0.5]])
    right = torch.tensor([0, 1])
    draws = torch.Generator().manual_seed(0)
    options = {"reach": (0.0, 9.0), "steps": 4, "low": None, "high": None}
    clean, far = attacked(lambda x: x, inputs, right, draws=draws, **options)  # type: ignore[arg-type]
    assert torch.equal(clean["inputs"], inputs)
    assert far["inputs"].min() == -2 and far["inputs"].max() == 3
