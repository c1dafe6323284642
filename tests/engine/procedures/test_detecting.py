"""Boxes that are listed, against a search by hand over the cells of a grid."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
import torch
from torch import Tensor

from engine.document.plan import Plan
from engine.procedures.detecting import detected
from tests.engine.procedures.running import in_three_ways, names_of
from tests.engine.sketches import Sketch
from tests.gallery.boxed import boxed

Box = tuple[float, float, float, float]


def shared(a: Box, b: Box) -> float:
    """Intersection over union of two boxes."""
    across, down = (max(0.0, min(a[at + 2], b[at + 2]) - max(a[at], b[at])) for at in (0, 1))
    areas = [(one[2] - one[0]) * (one[3] - one[1]) for one in (a, b)]
    return across * down / (sum(areas) - across * down)


def searched(grid: Tensor, least: float, overlap: float, most: int) -> list[tuple[int, float, Box]]:
    """The boxes of one grid (classes + 4, h, w), cell by cell, then from the most probable on."""
    *scores, across, down, wide, high = grid.tolist()
    rows, columns = grid.shape[1:]
    every = []
    for row in range(rows):
        for column in range(columns):
            x, y = column + across[row][column], row + down[row][column]
            w, h = math.exp(wide[row][column]), math.exp(high[row][column])
            left, right = (x - w / 2) / columns, (x + w / 2) / columns
            box = (left, (y - h / 2) / rows, right, (y + h / 2) / rows)
            every += [(1 / (1 + math.exp(-one[row][column])), kind, box) for kind, one in enumerate(scores)]
    kept: list[tuple[int, float, Box]] = []
    for probability, kind, box in sorted(every, reverse=True)[:most]:
        if all(kind != other or shared(box, known) <= overlap for other, _, known in kept):
            kept.append((kind, probability, box))
    return [one for one in kept if one[1] >= least]


@pytest.mark.parametrize(("least", "overlap", "most"), [(0.3, 0.5, 20), (0.6, 0.2, 60), (0.0, 0.9, 7)])
def test_boxes_are_those_of_a_search(least: float, overlap: float, most: int) -> None:
    draw = torch.Generator().manual_seed(most)
    grid = 1.5 * torch.randn(3, 7, 4, 5, generator=draw)
    grid[:, :3] -= 1
    options = {"draws": torch.Generator(), "least": least, "overlap": overlap, "most": most}
    states = list(detected(grid, **options))
    for row, one in enumerate(grid):
        right = searched(one, least, overlap, most)
        found = [state for state in states if state["row"] == row]
        assert right and [state["class"] for state in found] == [kind for kind, _, _ in right]
        for state, (_, probability, box) in zip(found, right, strict=True):
            assert state["probability"] == pytest.approx(probability, rel=1e-5)
            assert state["box"].tolist() == pytest.approx(box, rel=1e-4, abs=1e-5)


def test_an_image_without_objects_says_so() -> None:
    grid = torch.full((2, 6, 3, 3), -9.0)
    grid[1, 1, 2, 0], grid[1, 2:, 2, 0] = 9, torch.tensor([0.5, 0.5, 0, 0])
    options = {"least": 0.3, "overlap": 0.5, "most": 20}
    empty, found = detected(grid, draws=torch.Generator(), **options)
    assert (empty["row"], empty["class"], empty["probability"]) == (0, -1, 0)
    assert (found["row"], found["class"]) == (1, 1)
    assert found["box"].tolist() == pytest.approx([0, 2 / 3, 1 / 3, 1])


def test_a_grid_that_a_loss_and_a_metric_compare_is_read_once_and_two_by_their_names() -> None:
    assert names_of(boxed("MeanAveragePrecision", Plan())) == ["detect"]
    sketch = Sketch("Two grids")
    data = sketch.add("DigitScenes", "", {"scenes": 60})
    for name in ("coarse", "fine"):
        grid = sketch.add("Conv2d", name, {"filters": 14}, x=f"{data}.image")
        sketch.add("CentrePointLoss", prediction=grid, target=f"{data}.boxes")
    assert names_of(sketch.project)[:2] == ["detect_coarse", "detect_fine"]


def test_application_command_line_and_script_find_the_same_boxes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given = {"rows": (0, 3), "split": "test", "least": 0.5, "overlap": 0.3, "most": 9}
    here, told, alone = in_three_ways(boxed("CentrePointLoss", Plan()), tmp_path, capsys, "detect", **given)
    assert here == told == alone and {one["row"] for one in here} == {0, 1}
    assert all(one["class"] == -1 or one["probability"] >= 0.5 for one in here)
