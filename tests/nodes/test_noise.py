"""Sources of noise, and layers that disturb what they compute while training."""

from __future__ import annotations

import pytest
import torch

from engine.catalogue.symbols import evaluate, name
from nodes import sources
from tests.nodes.values import built


def drawn(source: sources.Drawn, size: int = 4000) -> torch.Tensor:
    found = source.emit(None, name("size"), name("device"))  # type: ignore[call-arg, arg-type]
    torch.manual_seed(0)
    value: torch.Tensor = evaluate(found, {"size": size, "device": torch.device("cpu")})  # type: ignore[arg-type]
    return value


def test_normal_numbers() -> None:
    found = drawn(sources.GaussianNoise({"size": (3, 2), "deviation": 2.0}))
    assert found.shape == (4000, 3, 2) and found.dtype == torch.float32
    assert found.mean().item() == pytest.approx(0, abs=0.05) and found.std().item() == pytest.approx(2, 0.02)
    assert str(sources.GaussianNoise().emit(None, name("n"), name("d"))) == "torch.randn(n, 64, device=d)"  # type: ignore[call-arg, arg-type]


def test_numbers_from_a_range() -> None:
    found = drawn(sources.UniformNoise({"size": 5, "reach": 0.5}))
    assert found.shape == (4000, 5) and -0.5 <= found.min() < -0.49 and 0.49 < found.max() <= 0.5


X = torch.randn(2000, 16, generator=torch.Generator().manual_seed(1))


@pytest.mark.parametrize("type_id", ["AddNoise", "GaussianDropout", "DropConnect"])
def test_after_training_nothing_is_random(type_id: str) -> None:
    model, _ = built(type_id, None, (16,))
    assert torch.equal(model(X), model(X))
    if type_id != "DropConnect":
        assert torch.equal(model(X), X)
    model.train()
    assert not torch.equal(model(X), model(X))


def test_added_noise_has_its_deviation() -> None:
    model, _ = built("AddNoise", {"deviation": 0.3}, (16,))
    assert (model.train()(X) - X).std().item() == pytest.approx(0.3, rel=0.02)


def test_gaussian_dropout_has_the_variance_of_dropout() -> None:
    model, _ = built("GaussianDropout", {"share": 0.2}, (16,))
    factor = model.train()(X) / X
    assert factor.mean().item() == pytest.approx(1, abs=0.01)
    assert factor.var().item() == pytest.approx(0.2 / 0.8, rel=0.05)


def test_dropconnect_drops_weights_and_keeps_the_mean() -> None:
    model, _ = built("DropConnect", {"units": 3, "share": 0.25}, (16,))
    layer = model.layer
    torch.manual_seed(0)
    model.train()
    with torch.no_grad():
        tries = torch.stack([model(torch.eye(16)) - layer.bias for _ in range(2000)])  # rows of the weights
    wanted = layer.weight.T.detach()
    kept = tries.abs() > 1e-6
    assert kept.float().mean().item() == pytest.approx(0.75, abs=0.01)
    assert torch.allclose(tries.mean(0), wanted, atol=0.02)
    assert torch.allclose(tries[kept], (wanted / 0.75).expand_as(tries)[kept], atol=1e-6)
