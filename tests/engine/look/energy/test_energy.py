"""Energies, basins and what is recalled of a net whose rests are known."""

import numpy as np
import torch

from engine.feed.feed import Probe
from tests.bench.setting import gallery_project
from tests.engine.look.taking import take
from tests.engine.train.networks import run_of, with_node


def test_the_landscape_of_hebbs_three_corners() -> None:
    run = run_of(gallery_project("hopfield-2d"))
    (found,) = take(run, Probe("n2", "energy"), steps=1)
    facts = found.extra
    assert found.array.shape == (30, 21) and facts["paths"].shape == (30, 21, 2)
    reach, line = facts["reach"], np.linspace(-facts["reach"], facts["reach"], 61)
    x, y = np.meshgrid(line, line)
    inside = np.maximum(abs(x), abs(y)) <= 1
    np.testing.assert_allclose(facts["plane"][inside], -(x * x + x * y + y * y)[inside], atol=1e-3)
    assert np.isinf(facts["plane"][~inside]).all()  # a saturating unit is never there
    a, b = facts["paths"][:, 0].T
    np.testing.assert_allclose(found.array[:, 0], -(a * a + a * b + b * b), rtol=1e-4)
    stable = {
        tuple(rest) for rest, held in zip(facts["rests"].tolist(), facts["stable"], strict=True) if held
    }
    assert stable == {(1, 1), (-1, -1), (1, -1), (-1, 1)}
    rings = {
        tuple(rest) for rest, held in zip(facts["rests"].tolist(), facts["stable"], strict=True) if not held
    }
    assert rings == {(0, 0), (0.5, -1), (-0.5, 1), (1, -0.5), (-1, 0.5)} and facts["scanned"]
    corner = facts["rests"][facts["basins"][-1, -1]]  # the first row is at the smallest y
    assert corner.tolist() == [1, 1] and reach > 1
    (other,) = take(run, Probe("n3", "energy"))
    known = dict(zip(map(tuple, other.extra["rests"].round(2).tolist()), other.extra["stable"], strict=True))
    assert {rest for rest, held in known.items() if held} == {(1, 1), (-1, -1), (1, -1), (-1, 1)}
    assert not known[(0, 0)] and not known[(1, 0)] and len(known) == 9
    ends = facts["rests"][facts["ends"]]
    np.testing.assert_allclose(ends, facts["paths"][:, -1], atol=1e-3)


def test_in_space_every_fixed_point_is_found_though_no_start_ends_there() -> None:
    project = with_node(gallery_project("hopfield-2d"), "n1", form="3-D")
    (found,) = take(run_of(project), Probe("n3", "energy"), steps=1)
    facts = found.extra
    rests = {
        tuple(rest): held
        for rest, held in zip(facts["rests"].round(2).tolist(), facts["stable"], strict=True)
    }
    assert {rest for rest, held in rests.items() if held} == {(-1, -1, 1), (1, -1, -1), (1, 1, 1)}
    assert sum(rests.values()) == 3 and len(rests) == 7 and facts["scanned"] and not facts["lines"]
    assert len(facts["levels"]) == 7 and (np.diff(found.array, axis=1) <= 1e-5).all()


def test_ten_digits_are_recalled_from_noise() -> None:
    project = with_node(gallery_project("hopfield-2d"), "n1", form="digits", noise=0.5)
    project = with_node(project, "n2", design="pseudo-inverse", activation="sign")
    run = run_of(project)
    (found,) = take(run, Probe("n2", "recall"), steps=1)
    facts = found.extra
    assert found.array.shape == (21, 10, 64) and facts["shape"] == (8, 8)
    data = run.data["validation"]
    np.testing.assert_allclose(found.array[0, 0], data["start"][0], atol=1e-3)
    np.testing.assert_array_equal(facts["stored"][0], data["stored"][0])
    assert len(np.unique(facts["stored"], axis=0)) == 10
    np.testing.assert_array_equal(found.array[-1].astype(float), facts["stored"])
    assert facts["right"][0].mean() < 1 and (facts["right"][-1] == 1).all()
    (energy,) = take(run, Probe("n2", "energy"))
    assert (
        "plane" not in energy.extra
        and not energy.extra["scanned"]
        and (np.diff(energy.array, axis=1) <= 1e-3).all()
    )


def test_a_dense_layer_has_no_energy() -> None:
    (found,) = take(run_of(gallery_project("iris")), Probe("n2", "energy"))
    assert "no energy" in found.extra["failed"]
    assert torch.is_grad_enabled()
