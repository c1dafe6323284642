"""Layers that make images fit, against what torch and plain indexing give."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F

from engine.shapes.shapes import ShapeBook, Signature
from tests.engine.sketches import catalogue
from tests.nodes.values import close, through

X = torch.rand(2, 3, 8, 6, generator=torch.Generator().manual_seed(1))


def problem(type_id: str, params: dict[str, object], shape: tuple[int, ...]) -> str:
    found = ShapeBook(catalogue()).trial(type_id, params, {"x": Signature(shape)}).problem
    assert found is not None
    return found.message


def test_resized() -> None:
    half = through("Resize", {"size": (4, 3), "mode": "area"}, X)
    assert close(half, F.avg_pool2d(X, 2))
    double = through("Resize", {"size": (16, 12), "mode": "nearest"}, X)
    assert torch.equal(double, X.repeat_interleave(2, 2).repeat_interleave(2, 3))
    middle = through("Resize", {"size": 2, "mode": "nearest"}, torch.arange(9.0).reshape(1, 1, 3, 3))
    assert middle.flatten().tolist() == [0, 2, 6, 8]
    assert torch.equal(through("Resize", {"size": (8, 6)}, X), X)
    smooth, sharp = (through("Resize", {"size": 3, "antialias": on}, X) for on in (True, False))
    assert not torch.equal(smooth, sharp)


def test_cropped_and_padded() -> None:
    assert torch.equal(through("Crop", {"size": (4, 3)}, X), X[:, :, 2:6, 1:4])
    assert torch.equal(through("Pad", {"pixels": (1, 2), "value": 0.5}, X), F.pad(X, (2, 2, 1, 1), value=0.5))
    for border, mode in (("edge", "replicate"), ("reflection", "reflect"), ("wrap", "circular")):
        assert torch.equal(through("Pad", {"pixels": 2, "border": border}, X), F.pad(X, (2,) * 4, mode))
    assert problem("Crop", {"size": 9}, (3, 8, 6)) == "A window of 9×9 does not fit into an image of 3×8×6."
    told = problem("Pad", {"pixels": 6, "border": "reflection"}, (3, 8, 6))
    assert told == "A border of 6×6 pixels cannot repeat an image of 3×8×6."


def test_grey_and_back() -> None:
    grey = through("Grey", None, X)
    assert close(grey, (X * torch.tensor([0.299, 0.587, 0.114])[:, None, None]).sum(1, keepdim=True))
    assert torch.equal(through("RGB", None, grey), grey.repeat(1, 3, 1, 1))
    assert problem("RGB", {}, (3, 8, 6)) == "Grey to RGB needs one channel, but 3 come in."


def test_normalised() -> None:
    means, deviations = (0.1, 0.2, 0.3), (0.5, 1.0, 2.0)
    found = through("Normalise", {"means": means, "deviations": deviations}, X)
    for channel in range(3):
        assert close(found[:, channel], (X[:, channel] - means[channel]) / deviations[channel])
    assert close(through("Normalise", None, X), (X - 0.5) / 0.5)
    told = problem("Normalise", {"means": (0.1, 0.2)}, (3, 8, 6))
    assert told.startswith("Normalise has 2 means, but 3 channels come in.")


@pytest.mark.parametrize("size", [1, 2, (4, 3), (8, 6)])
def test_patches_and_back(size: int | tuple[int, int]) -> None:
    found = through("Patches", {"size": size}, X)
    height, width = (size, size) if isinstance(size, int) else size
    assert torch.equal(found[:, 0], X[:, :, :height, :width].flatten(1))
    assert torch.equal(found[:, -1], X[:, :, 8 - height :, 6 - width :].flatten(1))
    assert torch.equal(through("JoinPatches", {"size": size, "image": (8, 6)}, found), X)


def test_patches_that_do_not_fill_the_image() -> None:
    told = problem("Patches", {"size": 4}, (3, 8, 6))
    assert told.startswith("Patches of 4×4 do not fill an image of 3×8×6.")


def test_coordinates() -> None:
    found = through("Coordinates", {"radius": True}, X)
    assert torch.equal(found[:, :3], X) and found.shape == (2, 6, 8, 6)
    assert torch.allclose(found[0, 3, :, 2], torch.linspace(-1, 1, 8))
    assert torch.allclose(found[1, 4, 5], torch.linspace(-1, 1, 6))
    assert torch.allclose(found[0, 5], (found[0, 3] ** 2 + found[0, 4] ** 2).sqrt())
