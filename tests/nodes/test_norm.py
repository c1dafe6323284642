"""Norms give mean 0 and variance 1 where they say so; dropout drops its share in training only."""

from __future__ import annotations

import pytest
import torch

from tests.nodes.values import built, close, through


@pytest.mark.parametrize("shape", [(4,), (4, 9), (4, 5, 6), (4, 3, 3, 3)])
def test_batch_norm_takes_each_channel_over_the_batch(shape: tuple[int, ...]) -> None:
    model, _ = built("BatchNorm", {"channels": "first"}, shape)
    x = 5 + 3 * torch.randn(64, *shape)
    model.train()
    found = model(x).transpose(0, 1).reshape(4, -1)
    assert close(found.mean(1), torch.zeros(4))
    assert torch.allclose(found.var(1, correction=0), torch.ones(4), atol=1e-3)
    assert not close(model.eval()(x), model.train()(x))


def test_batch_norm_takes_each_feature_of_a_sequence_over_batch_and_time() -> None:
    model, layer = built("BatchNorm", {"momentum": 1.0}, (9, 4))
    x = torch.randn(64, 9, 4) * torch.tensor([1.0, 2, 3, 4]) + torch.arange(9.0)[:, None]
    mean, variance = x.mean((0, 1)), x.var((0, 1), correction=0)
    wanted = (x - mean) / (variance + 1e-5).sqrt()
    assert torch.allclose(model.train()(x), wanted, atol=1e-5)
    assert close(getattr(model, layer).running_mean, mean)
    assert getattr(model, layer).weight.shape == (4,)


def test_batch_norm_remembers_as_fast_as_told() -> None:
    model, layer = built("BatchNorm", {"momentum": 0.25}, (2,))
    model.train()(torch.full((8, 2), 4.0))
    assert close(getattr(model, layer).running_mean, torch.full((2,), 1.0))


def test_layer_norm_takes_each_step_of_a_sequence_by_itself() -> None:
    model, layer = built("LayerNorm", {"epsilon": 0.5}, (3, 6))
    x = torch.randn(4, 3, 6)
    wanted = (x - x.mean(2, keepdim=True)) / (x.var(2, correction=0, keepdim=True) + 0.5).sqrt()
    assert close(model(x), wanted)
    assert getattr(model, layer).weight.shape == (6,)


@pytest.mark.parametrize("shape", [(5, 6, 7), (2, 3, 4, 5)])
def test_layer_norm_takes_an_image_as_a_whole(shape: tuple[int, ...]) -> None:
    model, layer = built("LayerNorm", None, shape)
    x = 3 + 2 * torch.randn(4, *shape)
    rows = x.flatten(1)
    wanted = (rows - rows.mean(1, keepdim=True)) / (rows.var(1, correction=0, keepdim=True) + 1e-5).sqrt()
    assert torch.allclose(model(x).flatten(1), wanted, atol=1e-5)
    assert getattr(model, layer).weight.shape == shape


def test_dropout_drops_its_share_in_training_and_nothing_later() -> None:
    model, _ = built("Dropout", {"share": 0.25}, (1000,))
    x = torch.ones(50, 1000)
    torch.manual_seed(0)
    dropped = model.train()(x)
    assert dropped.unique().tolist() == pytest.approx([0.0, 4 / 3])
    assert (dropped == 0).float().mean().item() == pytest.approx(0.25, abs=0.01)
    assert torch.equal(model.eval()(x), x)
    assert torch.equal(through("Dropout", {"share": 0.0}, x), x)
