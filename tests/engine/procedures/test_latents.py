"""Sources and bottlenecks are found, and where what they make comes out."""

from engine.procedures.latents import latent_of
from engine.shapes.heads import heads
from engine.shapes.shapes import check
from tests.engine.sketches import Sketch, catalogue, classifier, gallery


def test_the_generator_of_a_gan_makes_images_out_of_its_source() -> None:
    project = gallery("gan-digits")
    book = check(project, catalogue())
    for node in ("n13", "n14"):
        found = latent_of(project, book, node)
        assert found is not None
        assert found.code == ("n13", "output") and found.size == 64
        assert found.made[0] == "n14" and found.shape == (1, 28, 28)
        assert found.spread == ("normal", 1.0)
    for node in ("n11", "n15", "n17"):
        assert latent_of(project, book, node) is None


def test_a_code_is_what_a_narrow_layer_hands_on_to_a_wider_answer() -> None:
    project = gallery("stacked-autoencoder")
    book = check(project, catalogue())
    assert len(heads(project, book)) >= 3
    first, second = latent_of(project, book, "n3"), latent_of(project, book, "n7")
    assert first is not None and first.code == ("n3", "output") and first.made == ("n4", "output")
    assert first.shape == (784,) and first.spread is None
    assert second is not None and second.code == ("n6", "output") and second.size == 64


def test_a_classifier_has_no_code() -> None:
    sketch = classifier()
    book = sketch.check()
    assert all(latent_of(sketch.project, book, node) is None for node in ("n1", "n2", "n3", "n4", "gone"))


def test_even_noise_says_how_far_it_reaches() -> None:
    sketch = Sketch()
    noise = sketch.add("UniformNoise", "z", {"size": 2, "reach": 3.0})
    made = sketch.add("Linear", "wide", {"units": 9}, x=noise)
    found = latent_of(sketch.project, sketch.check(), made)
    assert found is not None and found.spread == ("even", 3.0) and found.made == (made, "output")
