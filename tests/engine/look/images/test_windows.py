"""The numbers of a window are those of the model, on a graph made by hand with two branches."""

import numpy as np
import pytest
import torch

from engine.feed.feed import Probe
from engine.look.images.window_steps import Window
from engine.look.registry import probe_kinds
from engine.look.sight import Look
from engine.train.loop import Run
from tests.engine.look.image_nets import two_branches
from tests.engine.look.taking import take
from tests.engine.sketches import Sketch
from tests.engine.train.networks import digits, run_of

ACTIVATIONS = {"ReLU": torch.relu, "tanh": torch.tanh, "none": lambda x: x}


@pytest.mark.parametrize("node", ["n2", "n3", "n5"])
def test_every_sum_of_every_place_is_what_the_model_gives(node: str) -> None:
    run = run_of(two_branches())
    probe = Probe(node, "window", (2, 0))
    (found,) = take(run, probe, pinned=3)
    facts, x = found.extra, found.array
    at = Window(*facts["window"])
    made = Look.of(run, 3).value(node, Look.of(run, 3).batch(3, 1))[0, 2].detach()
    np.testing.assert_allclose(facts["made"], made, rtol=1e-5, atol=1e-6)
    assert at.made(x.shape) == made.shape == facts["others"].shape
    for row in range(made.shape[0]):
        for column in range(made.shape[1]):
            total = facts["others"][row, column] + facts["bias"]
            for i, y in enumerate(at.rows(row)):
                for j, z in enumerate(at.columns(column)):
                    if 0 <= y < x.shape[0] and 0 <= z < x.shape[1]:
                        total += x[y, z] * facts["kernel"][i, j]
            given = ACTIVATIONS[facts["activation"]](torch.tensor(total))
            assert abs(given - made[row, column]) < 1e-5
            assert abs(total - facts["plain"][row, column]) < 1e-5


def test_a_pool_keeps_the_largest_of_its_window() -> None:
    run = run_of(two_branches())
    (found,) = take(run, Probe("n6", "window", (0, 3)))
    at = Window(*found.extra["window"])
    assert found.extra["kind"] == "max" and found.extra["channel"] == 3 and found.extra["filters"] == 0
    for row in range(found.extra["made"].shape[0]):
        for column in range(found.extra["made"].shape[1]):
            cells = found.array[list(at.rows(row))][:, list(at.columns(column))]
            assert cells.max() == found.extra["made"][row, column]


def test_nodes_without_a_window_say_so() -> None:
    run = run_of(two_branches())
    (found,) = take(run, Probe("n8", "window"))
    assert "no window" in found.extra["failed"]


def test_the_field_of_a_unit_behind_two_branches() -> None:
    run = run_of(two_branches())
    before = torch.random.get_rng_state()
    (found,) = take(run, Probe("n5", "receptive_field", (1, 2, 2)))
    assert torch.equal(torch.random.get_rng_state(), before)
    facts = found.extra
    # 3 × 3 or 2 × 2 at first: 3; then a window of 5 with holes: 3 + 4 = 7, and every second place
    assert facts["size"] == (7, 7) and facts["stride"] == (2, 2)
    seen = facts["seen"]
    assert np.flatnonzero(seen.any(axis=1)).tolist() == [1, 2, 3, 4, 5, 6, 7]
    assert not (found.array[~seen] != 0).any() and found.array[seen].sum() > 0
    assert facts["image"].shape == (8, 8) and facts["map"] == (4, 4)


def test_a_dense_layer_sees_the_whole_image() -> None:
    run = run_of(digits())
    (found,) = take(run, Probe("n4", "receptive_field", (3,)))
    assert found.extra["seen"].all() and found.extra["size"] == (8, 8) and found.extra["stride"] == (0, 0)
    weight = run.model.get_submodule(run.program.modules["n4"]).weight
    assert weight.grad is None and probe_kinds()["receptive_field"].apart


VARIANTS = {
    "Conv2d": {"filters": 3, "kernel": (3, 2), "stride": (2, 1), "padding": 2, "border": "reflect"},
    "Conv3d": {"filters": 2, "kernel": (2, 3, 3), "padding": 1, "border": "circular"},
    "ConvTranspose2d": {"filters": 2, "kernel": 3, "stride": 2, "padding": 1, "output_padding": 1},
    "DepthwiseConv2d": {"multiplier": 3, "padding": "same", "dilation": 2},
    "LocallyConnected2d": {"filters": 3, "kernel": (3, 2), "stride": (2, 3)},
    "TypedKernel2d": {"kernel": "1 2; 0 -1", "padding": "full", "border": "replicate", "flip": True},
    "TypedKernel1d": {"kernel": "1 2 3", "padding": "same", "stride": 1},
    "Conv1d": {"filters": 3, "kernel": 3, "stride": 2, "padding": 2, "border": "circular"},
}


def variant(type_id: str) -> tuple[Run, str]:
    """A run of a net with one layer behind two channels made of the digits."""
    sketch = Sketch()
    data = sketch.add("Digits")
    shape = {"Conv3d": (2, 4, 2, 4), "TypedKernel1d": (4, 16), "Conv1d": (4, 16)}.get(type_id, (2, 4, 8))
    split = sketch.add("Reshape", "", {"shape": shape}, x=f"{data}.image")
    tried = sketch.add(type_id, "tried", VARIANTS[type_id], x=split)
    scores = sketch.add("Linear", "", {"units": 10}, x=sketch.add("Flatten", x=tried))
    sketch.add("CrossEntropy", prediction=scores, target=f"{data}.digit")
    return run_of(sketch.project), tried


@pytest.mark.parametrize("type_id", VARIANTS)
def test_every_variant_is_shown_as_sums_of_products_that_make_its_map(type_id: str) -> None:
    run, node = variant(type_id)
    (found,) = take(run, Probe(node, "window", (1, 1, 1)), pinned=5)
    facts, x = found.extra, found.array
    look = Look.of(run, 5)
    made = look.value(node, look.batch(5, 1))[0, facts["filter"]].detach()
    deep, count = facts["depth"]
    made = made[deep] if count > 1 else made[None] if made.dim() == 1 else made
    np.testing.assert_allclose(facts["made"], made, atol=1e-5)
    np.testing.assert_allclose(facts["plain"], made, atol=1e-5)
    at = Window(*facts["window"])
    assert at.made(x.shape) == made.shape
    framed = facts.get("framed", np.pad(x, tuple(zip(at.before, at.behind, strict=True))))
    for row, column in np.ndindex(*made.shape):
        kernel = facts["kernel"][row, column] if facts["kernel"].ndim == 4 else facts["kernel"]
        rows = [y + at.before[0] for y in at.rows(row)]
        columns = [z + at.before[1] for z in at.columns(column)]
        total = float((framed[np.ix_(rows, columns)] * kernel).sum()) + facts["others"][row, column]
        total += facts["bias"] if isinstance(facts["bias"], float) else facts["bias"][row, column]
        assert abs(total - made[row, column]) < 1e-4


def test_pixels_of_every_place_at_once_are_those_of_each_by_itself() -> None:
    run = run_of(two_branches())
    (every,) = take(run, Probe("n5", "fields"))
    assert every.array.shape == (8, 8)
    for row, column in ((0, 0), (2, 1)):
        (one,) = take(run, Probe("n5", "receptive_field", (1, row, column)))
        seen = every.extra["rows"][row][:, None] & every.extra["columns"][column][None, :]
        assert (seen == one.extra["seen"]).all()
