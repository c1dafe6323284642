"""Fields of nets whose size is known by the usual sums."""

import torch
from torch import nn

from engine.look.images.receptive import effective, reach


def test_two_convolutions_and_a_pool() -> None:
    net = nn.Sequential(nn.Conv2d(1, 2, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(2, 3, 3))
    found = reach(net, torch.randn(1, 1, 16, 12))
    # 3, then 4 with a stride of 2, then 4 + 2 * 2 = 8
    assert found.size() == (8, 8)
    assert found.stride() == (2, 2)
    assert found.rows.shape == (6, 16) and found.columns.shape == (4, 12)
    seen = found.of(2, 1)
    assert torch.nonzero(seen.any(1)).flatten().tolist() == list(range(3, 11))
    assert torch.nonzero(seen.any(0)).flatten().tolist() == list(range(1, 9))


def test_weights_of_zero_and_closed_relus_hide_nothing() -> None:
    net = nn.Sequential(nn.Conv2d(1, 1, 3), nn.ReLU(), nn.Conv2d(1, 1, 3))
    for weight in net.parameters():
        nn.init.zeros_(weight)
    assert reach(net, torch.zeros(1, 1, 9, 9)).size() == (5, 5)


def test_a_dilated_window_has_holes() -> None:
    found = reach(nn.Conv2d(1, 1, (1, 3), dilation=2), torch.randn(1, 1, 4, 9))
    assert torch.nonzero(found.columns[1]).flatten().tolist() == [1, 3, 5]
    assert found.size() == (1, 5) and found.stride() == (1, 1)


def test_a_dense_layer_sees_everything_and_a_sequence_is_one_row() -> None:
    found = reach(nn.Sequential(nn.Flatten(), nn.Linear(12, 5)), torch.randn(1, 1, 3, 4))
    assert found.rows.tolist() == [[True] * 3] and found.stride() == (0, 0)
    line = reach(nn.Conv1d(2, 3, 4, stride=2), torch.randn(1, 2, 10))
    assert line.size() == (1, 4) and line.stride() == (0, 2)


def test_the_effective_field_is_the_mean_size_of_the_gradient() -> None:
    conv = nn.Conv2d(2, 1, 3)
    x = torch.randn(4, 2, 5, 5, requires_grad=True)
    found = effective(conv(x)[:, 0, 1, 1], x)
    expected = torch.zeros(5, 5)
    expected[1:4, 1:4] = conv.weight[0].abs().sum(0).detach()
    torch.testing.assert_close(found, expected)
