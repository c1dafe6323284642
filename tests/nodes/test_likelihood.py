"""The Gaussian likelihood, by its formula."""

import math

import pytest
import torch

from engine.catalogue.emitter import build
from engine.catalogue.symbols import evaluate
from engine.shapes.shapes import Signature, wires_of
from nodes.likelihood import GaussianLikelihood


def loss(mean, log_variance, target, **values):
    arriving = {port: Signature((1,), "float32") for port in ("prediction", "log_variance", "target")}
    code = build(GaussianLikelihood(values), "loss", wires_of(arriving))
    given = {"prediction": mean, "log_variance": log_variance, "target": target}
    tensors = {name: torch.tensor(found)[:, None] for name, found in given.items()}
    return evaluate(next(iter(code.ports.values())), tensors).item()


def test_it_is_the_mean_of_its_formula():
    variances = [math.log(0.25), math.log(4.0)]
    wanted = [(math.log(0.25) + 1 / 0.25) / 2, math.log(4.0) / 2]
    assert loss([0.0, 1.0], variances, [1.0, 1.0]) == pytest.approx(sum(wanted) / 2)


def test_a_variance_is_never_less_than_the_least():
    assert loss([0.0], [-99.0], [0.1], least=0.01) == pytest.approx((math.log(0.01) + 1) / 2)
