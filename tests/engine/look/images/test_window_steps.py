"""Windows stand where torch puts them."""

import pytest
import torch
from torch import nn

from engine.look.images.window_steps import Window


@pytest.mark.parametrize("kernel", [1, 2, 3])
@pytest.mark.parametrize("stride", [1, 2])
@pytest.mark.parametrize("padding", [0, 2])
@pytest.mark.parametrize("dilation", [1, 2])
def test_the_size_and_every_number_are_torchs(kernel: int, stride: int, padding: int, dilation: int) -> None:
    conv = nn.Conv2d(1, 1, kernel, stride=stride, padding=padding, dilation=dilation)
    x = torch.randn(1, 1, 7, 8)
    made = conv(x)[0, 0]
    two = (padding, padding)
    window = Window((kernel, kernel), (stride, stride), two, two, (dilation, dilation))
    assert window.made((7, 8)) == tuple(made.shape)
    padded = torch.zeros(7 + 20, 8 + 20)
    padded[10:17, 10:18] = x[0, 0]
    for row in range(made.shape[0]):
        for column in range(made.shape[1]):
            rows = [at + 10 for at in window.rows(row)]
            columns = [at + 10 for at in window.columns(column)]
            value = (padded[rows][:, columns] * conv.weight[0, 0]).sum() + conv.bias[0]
            assert abs(value - made[row, column]) < 1e-5


def test_what_is_missing_is_added_behind() -> None:
    even = Window((2, 2)).fitted((5, 5), (5, 5))
    assert even.behind == (1, 1) and even.made((5, 5)) == (5, 5)
    rest = Window((2, 2), (2, 2)).fitted((5, 4), (3, 2))
    assert rest.behind == (1, 0)
    assert Window((3, 3), (2, 2)).fitted((6, 6), (2, 2)).behind == (0, 0)
