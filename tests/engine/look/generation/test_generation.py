"""What is made of codes is what the network makes of them; two players are seen as they stand."""

import numpy as np
import torch

from engine.feed.feed import Probe
from tests.bench.setting import gallery_project
from tests.engine.look.taking import take
from tests.engine.train.networks import run_of


def test_a_point_of_a_generators_prior_is_decoded() -> None:
    run = run_of(gallery_project("gan-digits"))
    probe = Probe("n14", "decoding", ("point", 3, 7, 0, 1.5, -0.5))
    (found,) = take(run, probe)
    z = torch.zeros(1, 64)
    z[0, 3], z[0, 7] = 1.5, -0.5
    generator = run.model.get_submodule("generator")
    with torch.no_grad():
        np.testing.assert_allclose(found.array, generator(z)[:, 0], rtol=1e-5)
    assert found.extra["names"] == ("number 4", "number 8") and found.extra["size"] == 64


def test_a_grid_of_the_prior_runs_from_the_upper_left() -> None:
    run = run_of(gallery_project("gan-digits"))
    (found,) = take(run, Probe("n13", "decoding", ("grid", 0, 1, 0, 3)))
    places = found.extra["places"]
    edge = 0.967422  # the inverse normal distribution at 5/6
    np.testing.assert_allclose(places[0], [-edge, edge], atol=1e-5)
    np.testing.assert_allclose(places[-1], [edge, -edge], atol=1e-5)
    np.testing.assert_allclose(places[4], [0, 0], atol=1e-6)
    assert found.array.shape == (9, 28, 28)


def test_the_way_between_two_codes_of_an_autoencoder() -> None:
    run = run_of(gallery_project("stacked-autoencoder"))
    (found,) = take(run, Probe("n3", "decoding", ("way", -1, -1, 0, 2, 5, 7)))
    batch = {name: column[:8] for name, column in run.data["validation"].items()}
    model = run.model
    with torch.no_grad():
        code = model.get_submodule("encoder_1")(batch["image"].flatten(1)).relu()
        middle = torch.sigmoid(model.get_submodule("decoder_1")((code[2] + code[5]) / 2))
    assert found.array.shape == (7, 28, 28) and found.extra["ends"] == (2, 5)
    np.testing.assert_allclose(found.array[3].ravel(), middle, rtol=1e-4, atol=1e-5)


def test_a_point_in_the_plane_of_the_codes_keeps_what_the_plane_leaves_open() -> None:
    run = run_of(gallery_project("stacked-autoencoder"))
    codes, there = take(run, Probe("n3", "codes"), Probe("n3", "decoding", ("way", -1, -1, 0, 4, 4, 1)))
    assert codes.array.shape == (256, 3) and len(codes.extra["classes"]) == 10
    np.testing.assert_array_equal(codes.array[:, 2], run.data["validation"]["digit"][:256])
    x, y = codes.array[4, :2].tolist()
    (found,) = take(run, Probe("n3", "decoding", ("point", -1, -1, 5, x, y)))  # base 5: as in example 4
    np.testing.assert_allclose(found.array, there.array, rtol=1e-3, atol=1e-4)


def test_two_players_that_know_nothing_stand_at_a_half() -> None:
    run = run_of(gallery_project("gan-digits"))
    score = run.model.get_submodule("discriminator.real")
    with torch.no_grad():
        score.weight.zero_()
        score.bias.zero_()
    before = torch.random.get_rng_state()
    (first,) = take(run, Probe("n17", "players"))
    assert torch.equal(torch.random.get_rng_state(), before)
    np.testing.assert_allclose(first.array, [[0, 0.5, 0.5, 2 * np.log(2), np.log(2)]], rtol=1e-5)
    assert first.extra["samples"].shape == (16, 28, 28)
    with torch.no_grad():
        score.bias.fill_(np.log(3))
    (second,) = take(run, Probe("n17", "players"), steps=1)
    assert second.array.shape == (2, 5) and second.array[1, 0] == 1
    assert abs(second.array[1, 1] - 0.75) < 0.02
    run.step = 0  # as after going back
    (third,) = take(run, Probe("n17", "players"))
    assert third.array[:, 0].tolist() == [0]


def test_a_classifier_makes_nothing() -> None:
    run = run_of(gallery_project("iris"))
    (found,) = take(run, Probe("n2", "codes"))
    assert "generated from a few numbers" in found.extra["failed"]
