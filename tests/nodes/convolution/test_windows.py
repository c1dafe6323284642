"""Typed kernels, depthwise and locally connected layers, volumes and borders, against sums written out."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from engine.errors import EmitError
from nodes.wires import typed_rows
from tests.nodes.convolution.test_sliding import by_hand
from tests.nodes.values import built, close, through

SOBEL = "-1 0 1; -2 0 2; -1 0 1"
MODES = {"zeros": "constant", "reflect": "reflect", "replicate": "edge", "circular": "wrap"}  # of numpy


def framed(x: Tensor, border: str, rows: tuple[int, int], columns: tuple[int, int]) -> Tensor:
    """Images with cells around them, by numpy."""
    mode: Any = MODES[border]
    return torch.tensor(np.pad(x.numpy(), ((0, 0), (0, 0), rows, columns), mode=mode))


def whole(values: Tensor) -> Any:
    return values.to(torch.int64).squeeze().tolist()


def test_the_numbers_of_a_kernel_typed_for_an_image() -> None:
    """Each is a sum of two numbers on a diagonal, two steps apart."""
    image = torch.tensor([[1.0, 5, 0, 2], [7, 2, 3, 4], [2, 0, 5, 1], [9, 4, 8, 6]])[None, None]
    found = through("TypedKernel2d", {"kernel": "1 0; 0 1", "stride": 2}, image)
    assert whole(found) == [[3, 4], [6, 11]]


def test_a_kernel_for_vertical_edges() -> None:
    rows = [[2, 4, 9, 1, 4], [2, 1, 4, 4, 6], [1, 1, 2, 9, 2], [7, 3, 5, 1, 3], [2, 3, 4, 8, 5]]
    image = torch.tensor(rows, dtype=torch.float)[None, None]
    found = through("TypedKernel2d", {"kernel": SOBEL}, image)
    assert whole(found) == [[12, 11, -1], [2, 17, 0], [-1, 9, -3]]
    flipped = through("TypedKernel2d", {"kernel": SOBEL, "flip": True}, image)
    assert torch.equal(flipped, -found)


def test_convolution_and_cross_correlation_of_two_short_signals() -> None:
    signal = torch.tensor([[[1.0, 2, 3]]])
    for flip, wanted in ((True, [4, 13, 28, 27, 18]), (False, [6, 17, 32, 23, 12])):
        params = {"kernel": "4 5 6", "padding": "full", "flip": flip}
        assert whole(through("TypedKernel1d", params, signal)) == wanted
    other = {"kernel": "1 2 3", "padding": "full"}
    assert whole(through("TypedKernel1d", other, torch.tensor([[[4.0, 5, 6]]]))) == [12, 23, 32, 17, 6]
    assert np.convolve([1, 2, 3], [4, 5, 6]).tolist() == [4, 13, 28, 27, 18]


@pytest.mark.parametrize("border", MODES)
def test_borders_are_those_of_numpy(border: str) -> None:
    x = torch.randn(2, 2, 6, 7)
    for type_id, params in (
        ("Conv2d", {"filters": 3, "kernel": 3, "padding": (1, 2)}),
        ("DepthwiseConv2d", {"kernel": 3, "padding": (1, 2)}),
    ):
        model, layer = built(type_id, {**params, "border": border}, (2, 6, 7))
        conv = getattr(model, layer)
        padded = framed(x, border, (1, 1), (2, 2))
        if type_id == "Conv2d":
            assert close(model(x), by_hand(padded, conv.weight, conv.bias))
        else:
            each = [
                by_hand(padded[:, c : c + 1], conv.weight[c : c + 1], conv.bias[c : c + 1]) for c in (0, 1)
            ]
            assert close(model(x), torch.cat(each, 1))
    typed = through(
        "TypedKernel2d", {"kernel": "1 2 0; 0 1 0; 0 0 3", "padding": "same", "border": border}, x
    )
    padded = framed(x, border, (1, 1), (1, 1))
    kernel = torch.tensor([[1.0, 2, 0], [0, 1, 0], [0, 0, 3]])[None, None]
    assert close(typed[:, :1], by_hand(padded[:, :1], kernel, torch.zeros(1)))


def test_borders_of_an_even_kernel_keep_the_size() -> None:
    x = torch.randn(2, 1, 6, 7)
    model, layer = built(
        "Conv2d", {"filters": 2, "kernel": (2, 4), "padding": "same", "border": "circular"}, (1, 6, 7)
    )
    conv = getattr(model, layer)
    padded = torch.tensor(np.pad(x, ((0, 0), (0, 0), (0, 1), (1, 2)), mode="wrap"))
    assert close(model(x), by_hand(padded, conv.weight, conv.bias))


def test_a_border_that_does_not_fit_is_refused() -> None:
    for params in (
        {"padding": 3, "border": "reflect"},
        {"kernel": 9, "padding": "same", "border": "circular"},
    ):
        with pytest.raises(EmitError, match="cannot repeat"):
            built("Conv2d", params, (1, 3, 3))


def test_a_depthwise_and_a_pointwise_convolution_are_a_separable_one() -> None:
    model, layer = built("DepthwiseConv2d", {"multiplier": 2, "bias": False}, (3, 6, 6))
    depthwise = getattr(model, layer)
    assert tuple(depthwise.weight.shape) == (6, 1, 3, 3)
    x, mixed = torch.randn(2, 3, 6, 6), torch.randn(5, 6, 1, 1)
    kernel = torch.zeros(5, 3, 3, 3)
    for made in range(6):
        kernel[:, made // 2] += mixed[:, made] * depthwise.weight[made]
    assert torch.allclose(
        nn.functional.conv2d(model(x), mixed), by_hand(x, kernel, torch.zeros(5)), atol=1e-5
    )


def test_a_locally_connected_layer_has_weights_of_its_own_at_each_place() -> None:
    model, layer = built("LocallyConnected2d", {"filters": 3, "kernel": (2, 3), "stride": (2, 1)}, (2, 6, 5))
    local = getattr(model, layer)
    x = torch.randn(4, 2, 6, 5)
    found = model(x)
    assert tuple(found.shape) == (4, 3, 3, 3)
    for row in range(3):
        for column in range(3):
            window = x[:, :, 2 * row : 2 * row + 2, column : column + 3].reshape(4, -1)
            wanted = window @ local.weight[3 * row + column].T + local.bias[:, row, column]
            assert close(found[:, :, row, column], wanted)
    shared = sum(one.numel() for one in local.parameters())
    assert shared == 9 * 3 * (2 * 6 + 1)  # places × filters × (inputs + bias)


def test_a_convolution_of_a_volume_is_a_sum_over_each_window() -> None:
    model, layer = built(
        "Conv3d", {"filters": 2, "kernel": (2, 3, 1), "stride": 2, "padding": 1}, (2, 4, 5, 3)
    )
    conv = getattr(model, layer)
    x = torch.randn(3, 2, 4, 5, 3)
    found = model(x)
    padded = nn.functional.pad(x, (1, 1, 1, 1, 1, 1))
    for d, i, j in np.ndindex(*found.shape[2:]):
        window = padded[:, :, 2 * d : 2 * d + 2, 2 * i : 2 * i + 3, 2 * j : 2 * j + 1]
        assert close(found[:, :, d, i, j], torch.einsum("ncdij,fcdij->nf", window, conv.weight) + conv.bias)


@pytest.mark.parametrize(
    ("text", "words"),
    [("a b", "numbers"), ("1 2; 3", "as many"), ("", "one at least"), ("1e400", "ordinary size")],
)
def test_what_is_no_kernel_is_refused(text: str, words: str) -> None:
    with pytest.raises(EmitError, match=words):
        typed_rows(text)
    assert typed_rows("1, 2; -.5 3") == [[1, 2], [-0.5, 3]]
