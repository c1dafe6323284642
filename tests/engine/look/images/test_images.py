"""Copies, samples, class means and kernels are those of the model and the data."""

import numpy as np
import torch

from engine.feed.feed import Probe
from tests.bench.setting import gallery_project
from tests.engine.look.image_nets import copying, two_branches
from tests.engine.look.taking import take
from tests.engine.train.networks import digits, run_of, with_node


def test_copies_stand_beside_their_originals() -> None:
    run = run_of(copying())
    (found,) = take(run, Probe("n4", "reconstructions"), pinned=6)
    images = run.data["validation"]["image"]
    assert found.extra["rows"][:2] == (6, 0) and found.array.shape == (2, 8, 8, 8)
    np.testing.assert_allclose(found.array[0, 0], images[6, 0])
    first, second = (run.model.get_submodule(run.program.modules[node]) for node in ("n3", "n4"))
    with torch.no_grad():
        made = second(first(images[6].flatten()))
    np.testing.assert_allclose(found.array[1, 0].ravel(), made, rtol=1e-4, atol=1e-6)
    error = ((found.array[1] - found.array[0]) ** 2).mean(axis=(1, 2))
    np.testing.assert_allclose(found.extra["errors"], error, rtol=1e-4)


def test_samples_are_of_the_same_noise_each_time() -> None:
    run = run_of(gallery_project("gan-digits"))
    before = torch.random.get_rng_state()
    one, other = (take(run, Probe("n14", "samples", (n,)))[0].array for n in (1, 2))
    again = take(run, Probe("n14", "samples", (1,)))[0].array
    assert torch.equal(torch.random.get_rng_state(), before)
    assert one.ndim == 3 and one.shape[1] == one.shape[2]
    np.testing.assert_array_equal(one, again)
    assert np.abs(one - other).max() > 1e-3


def test_the_mean_image_of_each_class() -> None:
    run = run_of(digits())
    (found,) = take(run, Probe("n1", "class_images", ("image", "digit")))
    train = run.data["train"]
    for digit in (0, 9):
        mine = train["image"][train["digit"] == digit]
        np.testing.assert_allclose(found.array[digit], mine.mean((0, 1)), rtol=1e-4, atol=1e-5)
        assert found.extra["counts"][digit] == len(mine)


def test_classes_that_nothing_reads_have_no_mean_image() -> None:
    (found,) = take(run_of(gallery_project("gan-digits")), Probe("n11", "class_images", ("image", "digit")))
    assert found.extra["failed"].startswith("The column 'digit' is not read")


def test_weights_lie_on_the_image() -> None:
    run = run_of(copying())
    found, none = take(run, Probe("n3", "pixel_weights"), Probe("n4", "pixel_weights"))
    weight = run.model.get_submodule(run.program.modules["n3"]).weight.detach()
    np.testing.assert_allclose(found.array, weight.reshape(12, 8, 8))
    assert "do not lie" in none.extra["failed"]


def test_the_kernels_of_a_filter_and_their_sum() -> None:
    run = run_of(with_node(two_branches(), "n5", bias=False))
    (found,) = take(run, Probe("n5", "filter_kernels", (3,)))
    weight = run.model.get_submodule(run.program.modules["n5"]).weight.detach()
    np.testing.assert_allclose(found.array, weight[3])
    np.testing.assert_allclose(found.extra["combined"], weight[3].sum(0), rtol=1e-5, atol=1e-6)
    assert found.extra["bias"] == 0 and found.extra["filters"] == 4
