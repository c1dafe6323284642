"""What an augmentation does is shown on training images, by random numbers of its own."""

import numpy as np
import torch

from engine.document.files import load_project
from engine.document.graph import Project
from engine.feed.feed import Probe
from tests.engine.look.taking import take
from tests.engine.sketches import GALLERY, Sketch
from tests.engine.train.networks import run_of


def flipping(type_id: str = "RandomFlip", params: dict | None = None, port: str = "output") -> Project:
    sketch = Sketch()
    data = sketch.add("Digits", "digits")
    wires = {"x": f"{data}.image"}
    if type_id == "MixUp":
        wires["target"] = f"{data}.digit"
    tried = sketch.add(type_id, "tried", params, **wires)
    flat = sketch.add("Flatten", "flat", x=tried)
    scores = sketch.add("Linear", "scores", {"units": 10}, x=flat)
    target = f"{tried}.target" if type_id == "MixUp" else f"{data}.digit"
    sketch.add("CrossEntropy", "loss", prediction=scores, target=target)
    return sketch.project


def test_the_originals_stand_first_and_the_results_are_the_nodes() -> None:
    run = run_of(flipping(params={"horizontal": 1.0}))
    (found,) = take(run, Probe("n2", "augmented", (0,)))
    images = run.data["train"]["image"][list(found.extra["rows"])][:, 0].numpy()
    np.testing.assert_array_equal(found.array[:, 0], images)
    for column in range(1, found.array.shape[1]):
        np.testing.assert_array_equal(found.array[:, column], images[:, :, ::-1])


def test_training_is_as_if_nobody_looked() -> None:
    project = load_project(GALLERY / "digits-augmented.nloom")
    weights = []
    for looks in (False, True):
        run = run_of(project)
        for number in range(4):
            run.advance()
            if looks:
                take(run, Probe("n2", "augmented", (number,)), Probe("n3", "augmented", (number,)))
        weights.append(run.model.state_dict())
    assert all(torch.equal(weights[0][name], weights[1][name]) for name in weights[0])


def test_a_draw_is_the_same_again_and_another_is_another() -> None:
    run = run_of(flipping("RandomShift"))
    before = torch.get_rng_state()
    same, again, other = (take(run, Probe("n2", "augmented", (draw,)))[0].array for draw in (1, 1, 2))
    assert torch.equal(before, torch.get_rng_state())
    np.testing.assert_array_equal(same, again)
    assert not np.array_equal(same, other)


def test_what_is_cut_out_and_what_is_mixed_says_so() -> None:
    (found,) = take(run_of(flipping("RandomCrop", {"size": 6})), Probe("n2", "augmented"))
    assert found.extra["sizes"] == ((8, 8), (6, 6)) and found.array.shape[2:] == (8, 8)
    (found,) = take(run_of(flipping("MixUp")), Probe("n2", "augmented"))
    mixed = found.extra["mixed"]
    assert mixed.shape == (5, 9, 10)
    np.testing.assert_allclose(mixed.sum(2), 1, rtol=1e-5)
