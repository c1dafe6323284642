"""Convolutions against sums written out, and padding that keeps the size."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch
from torch import nn

from tests.nodes.values import built, close


def by_hand(image: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor, stride: int = 1) -> torch.Tensor:
    """One 2-D convolution as a sum over each window."""
    rows, columns = weight.shape[2:]
    high = (image.shape[2] - rows) // stride + 1
    wide = (image.shape[3] - columns) // stride + 1
    found = torch.empty(image.shape[0], weight.shape[0], high, wide)
    for row in range(high):
        for column in range(wide):
            window = image[:, :, row * stride :, column * stride :][:, :, :rows, :columns]
            found[:, :, row, column] = torch.einsum("nchw,fchw->nf", window, weight) + bias
    return found


def test_a_convolution_is_a_sum_over_each_window() -> None:
    model, layer = built("Conv2d", {"filters": 3, "kernel": (2, 3), "stride": 2}, (2, 7, 8))
    image = torch.randn(4, 2, 7, 8)
    conv = getattr(model, layer)
    assert close(model(image), by_hand(image, conv.weight, conv.bias, 2))


@pytest.mark.parametrize("kernel", [1, 2, 3, 4, (2, 3), (5, 2)])
@pytest.mark.parametrize("dilation", [1, 2, (3, 1)])
@pytest.mark.filterwarnings("ignore:Using padding='same' with even kernel lengths")
def test_padding_same_is_that_of_torch(kernel: Any, dilation: Any) -> None:
    model, layer = built(
        "Conv2d", {"filters": 3, "kernel": kernel, "dilation": dilation, "padding": "same"}, (2, 7, 8)
    )
    image = torch.randn(4, 2, 7, 8)
    reference = nn.Conv2d(2, 3, kernel, dilation=dilation, padding="same")
    reference.load_state_dict(getattr(model, layer).state_dict())
    assert close(model(image), reference(image))


def test_a_sequence_is_convolved_along_its_steps() -> None:
    model, layer = built("Conv1d", {"filters": 3, "kernel": 4, "stride": 2, "padding": 1}, (2, 9))
    x = torch.randn(4, 2, 9)
    conv = getattr(model, layer)
    padded = nn.functional.pad(x, (1, 1))[:, :, None]
    assert close(model(x), by_hand(padded, conv.weight[:, :, None], conv.bias, 2)[:, :, 0])


def test_groups_keep_channels_apart() -> None:
    model, _ = built("Conv2d", {"filters": 4, "groups": 2}, (2, 5, 5))
    image = torch.randn(1, 2, 5, 5)
    other = image.clone()
    other[:, 1] += 1
    before, after = model(image), model(other)
    assert torch.equal(before[:, :2], after[:, :2]) and not torch.equal(before[:, 2:], after[:, 2:])


def test_a_transposed_convolution_spreads_each_number() -> None:
    model, layer = built("ConvTranspose2d", {"filters": 1, "kernel": 2, "stride": 2}, (1, 2, 2))
    conv = getattr(model, layer)
    image = torch.tensor([[[[1.0, 2.0], [3.0, 4.0]]]])
    wanted = torch.kron(image[0, 0], conv.weight[0, 0]) + conv.bias
    assert close(model(image)[0, 0], wanted)


@pytest.mark.parametrize(("kernel", "stride"), [(2, 2), (3, 1), (4, 2), ((3, 4), (1, 2)), (3, 2)])
@pytest.mark.parametrize(
    ("init", "gain", "both"),
    [
        ("LeCun normal", 1, False),
        ("LeCun uniform", 1, False),
        ("He normal", 2, False),
        ("He uniform", 2, False),
        ("Xavier normal", 2, True),
        ("Xavier uniform", 2, True),
        ("NTK", 1, False),
    ],
)
def test_first_weights_of_a_transposed_convolution_count_what_an_output_gets(
    init: str, gain: int, both: bool, kernel: int | tuple[int, int], stride: int | tuple[int, int]
) -> None:
    """An output of a window of kernel k at stride s has C k / s inputs on average, an input F k outputs."""
    torch.manual_seed(1)
    params = {"filters": 64, "kernel": kernel, "stride": stride, "init": init}
    model, layer = built("ConvTranspose2d", params, (96, 4, 4))
    conv = getattr(model, layer)
    inside, step = (math.prod(one if isinstance(one, tuple) else (one, one)) for one in (kernel, stride))
    n, m = 96 * inside / step, 64 * inside
    variance = gain / (n + m if both else n)
    assert conv.weight.var().item() == pytest.approx(variance, rel=0.05)
    if "uniform" in init:
        assert conv.weight.abs().max().item() == pytest.approx(math.sqrt(3 * variance), rel=0.01)
    if init == "NTK":
        assert conv.bias.var().item() == pytest.approx(variance, rel=0.5)
    if init.startswith("LeCun"):  # numbers of variance 1 leave with variance 1, apart from the margin
        conv.bias.data.zero_()
        made = conv(torch.randn(16, 96, 12, 12))[:, :, 4:-4, 4:-4]
        assert made.var().item() == pytest.approx(1, rel=0.1)


def test_without_a_number_there_are_as_many_filters_as_channels() -> None:
    model, layer = built("Conv2d", {"filters": None}, (5, 6, 6))
    assert tuple(getattr(model, layer).weight.shape) == (5, 5, 3, 3)
