"""Dreams start at the data and keep what is held; denoising is seen from noise to image."""

from collections.abc import Iterator

import numpy as np
import torch
from torch import Tensor, nn

from engine.feed.feed import Probe
from tests.bench.setting import gallery_project
from tests.engine.look.looking import look_at, taken
from tests.engine.look.taking import take
from tests.engine.train.networks import run_of


def test_the_upper_half_is_held_and_the_lower_is_dreamt() -> None:
    run = run_of(gallery_project("rbm-mnist"))
    before = torch.random.get_rng_state()
    plain, held, random, other = take(
        run,
        *(
            Probe("n3", "gibbs", (10, lines, begins, number))
            for lines, begins, number in (
                (0, "blank", 1),
                (14, "blank", 1),
                (14, "random", 1),
                (14, "random", 2),
            )
        ),
        pinned=4,
    )
    assert torch.equal(torch.random.get_rng_state(), before)
    assert plain.array.shape == (11, 8, 784) and plain.extra["shape"] == (28, 28)
    image = run.data["validation"]["image"][4].flatten()
    np.testing.assert_allclose(plain.array[0, 0] / 255, image, atol=0.003)
    assert held.extra["held"].sum() == 392 and not plain.extra["held"].any()
    np.testing.assert_allclose(held.array[:, 0, :392] / 255, np.tile(image[:392], (11, 1)), atol=0.003)
    for found in (plain, held, random):
        np.testing.assert_allclose(found.extra["examples"][0] / 255, image, atol=0.003)
    assert not held.array[0, :, 392:].any()  # what is held is all that the first hidden units see
    noise = random.array[0, :, 392:]
    assert set(np.unique(noise)) == {0, 255} and abs(noise.mean() / 255 - 0.5) < 0.05
    assert (noise != other.array[0, :, 392:]).any()
    rbm = run.model.get_submodule("rbm")
    hidden = torch.tensor(plain.extra["hidden"][3], dtype=torch.float32)
    expected = rbm.visible_of(hidden).detach() * 255
    np.testing.assert_allclose(plain.array[4], expected, atol=0.51)


class HalfWay(nn.Module):
    """Begins with noise and goes half the way to grey at every step."""

    def forward(self, x: Tensor) -> Tensor:
        return x

    def denoise_steps(self, shape: tuple[int, ...], generator: torch.Generator) -> Iterator[Tensor]:
        x = torch.randn(shape, generator=generator)
        for _ in range(30):
            yield x
            x = x / 2
        yield x


def test_a_film_runs_from_noise_to_the_image() -> None:
    look = look_at(HalfWay(), torch.randn(4, 1, 6, 6))
    array, facts = taken(look, "denoising", 3, 5)
    noise = torch.randn((3, 1, 6, 6), generator=torch.Generator().manual_seed(5))
    assert array.shape == (12, 3, 6, 6) and facts["total"] == 30
    assert facts["steps"][0] == 30 and facts["steps"][-1] == 0
    np.testing.assert_allclose(array[0], noise[:, 0])
    np.testing.assert_allclose(array[3], noise[:, 0] / 2 ** (30 - facts["steps"][3]), rtol=1e-5)
    other, _ = taken(look, "denoising", 3, 6)
    assert np.abs(other[0] - array[0]).max() > 0.1


def test_a_diffusion_model_is_filmed_by_its_procedure() -> None:
    project = gallery_project("diffusion-points")
    (mixture,) = (node.id for node in project.graph.nodes.values() if node.type == "Diffusion")
    run = run_of(project)
    one, again, other = take(
        run,
        Probe(mixture, "denoising", (3, 5)),
        Probe(mixture, "denoising", (3, 5)),
        Probe(mixture, "denoising", (3, 6)),
    )
    assert one.array.shape == (12, 3, 2) and one.extra["total"] == 50
    assert one.extra["steps"][0] == 50 and one.extra["steps"][-1] == 0
    np.testing.assert_array_equal(one.array, again.array)
    assert (one.array != other.array).any()


def test_layers_that_cannot_say_so() -> None:
    run = run_of(gallery_project("iris"))
    found = take(run, Probe("n2", "gibbs", (5, 0, "blank", 1)), Probe("n2", "denoising", (1, 1)))
    assert "no visible and hidden" in found[0].extra["failed"]
    assert "does not denoise" in found[1].extra["failed"]
