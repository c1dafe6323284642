"""A mixture in parts against EM written out in numpy, and against scikit-learn from the same start."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from scipy.stats import multivariate_normal
from sklearn.mixture import GaussianMixture
from torch import Tensor, nn

from engine.document.blocks import group
from engine.document.document import Document
from engine.document.files import load_project
from engine.document.graph import Project
from engine.emit.program import compile_program
from engine.layers.mixture import Covariances, Means, MixingWeights, Responsibilities
from engine.optim.together import in_one_step
from engine.shapes.shapes import check
from tests.engine.sketches import GALLERY, catalogue
from tests.engine.train.networks import DATASETS

K, D = 3, 2


def points(rows: int = 300) -> Tensor:
    source = torch.Generator().manual_seed(3)
    centre = torch.tensor([[-2.0, 0.0], [1.5, 1.0], [0.0, -1.5]])[torch.arange(rows) % K]
    return (centre + 0.7 * torch.randn(rows, D, generator=source)).double()


def parts() -> list[nn.Module]:
    torch.manual_seed(0)
    layers = [Means(D, K), Covariances(K, D), MixingWeights(K), Responsibilities()]
    return [layer.double() for layer in layers]


@torch.no_grad()
def step(layers: list[nn.Module], x: Tensor) -> float:
    """One of EM; returns minus the mean log-likelihood before it."""
    entered = [x]
    for layer in layers[:3]:
        entered.append(layer(entered[-1]))
    found, _ = layers[3](entered[3])
    given = zip(layers[:3], entered[:3], strict=True)
    updates = [layer.update(value, found) for layer, value in given]  # type: ignore[operator]
    return float(in_one_step(*updates, layers[3].update(entered[3]))["loss"])  # type: ignore[operator]


def by_hand(
    x: np.ndarray, mean: np.ndarray, covariance: np.ndarray, weight: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray, float]:
    """A step of EM as textbooks have it, with the log-likelihood before it."""
    pairs = zip(mean, covariance, strict=True)
    joint = weight * np.stack([multivariate_normal(m, s).pdf(x) for m, s in pairs], 1)
    r = joint / joint.sum(1, keepdims=True)
    count = r.sum(0)
    mean = (r.T @ x) / count[:, None]
    covariance = np.stack([((x - m).T * one) @ (x - m) / one.sum() for m, one in zip(mean, r.T, strict=True)])
    return mean, covariance + 1e-6 * np.eye(D), count / len(x), float(np.log(joint.sum(1)).mean())


def values(layers: list[nn.Module]) -> list[np.ndarray]:
    return [next(layer.parameters()).detach().numpy().copy() for layer in layers[:3]]


def test_each_step_is_that_of_the_textbook_and_the_likelihood_never_falls() -> None:
    x, layers = points(), parts()
    mean, covariance, weight = values(layers)
    before = np.inf
    for _ in range(40):
        loss = step(layers, x)
        mean, covariance, weight, likelihood = by_hand(x.numpy(), mean, covariance, weight)
        assert -loss == pytest.approx(likelihood, abs=1e-9)
        for found, wanted in zip(values(layers), (mean, covariance, weight), strict=True):
            assert found == pytest.approx(wanted, abs=1e-8)
        assert loss <= before + 1e-9
        before = loss


def test_it_ends_where_scikit_learn_ends() -> None:
    x, layers = points(), parts()
    with torch.no_grad():
        layers[2].weight /= layers[2].weight.sum()  # type: ignore[operator, union-attr]
    mean, covariance, weight = values(layers)
    reference = GaussianMixture(
        K, means_init=mean, weights_init=weight, precisions_init=np.linalg.inv(covariance), tol=0, max_iter=25
    )
    with pytest.warns(match="did not converge"):
        reference.fit(x.numpy())
    for _ in range(25):
        step(layers, x)
    for found, wanted in zip(
        values(layers), (reference.means_, reference.covariances_, reference.weights_), strict=True
    ):
        assert found == pytest.approx(wanted, abs=1e-6)


def test_a_component_without_points_does_no_harm() -> None:
    x, layers = points(), parts()
    with torch.no_grad():
        layers[0].mean[0] = 1e6  # type: ignore[operator, index]
    losses = [step(layers, x) for _ in range(20)]
    assert np.isfinite(losses).all() and losses == sorted(losses, reverse=True)


# -- as a rule of a plan


def grouped(project: Project, *ids: str, times: int = 1) -> Project:
    document = Document(project)
    with document.step("Group"):
        for edit in group(document.project, ids, "density"):
            document.apply(edit)
    return document.project


def trained(project: Project, epochs: int = 8) -> tuple[list[float], dict[str, Tensor]]:
    """Losses and weights of a run from one start, whatever the layers are called."""
    assert check(project, catalogue()).problems == []
    program = compile_program(project, catalogue())
    torch.manual_seed(0)
    model = program.make_model("cpu")
    data = program.load(DATASETS)
    [player] = program.phases[0].players(model, 1, epochs)
    losses = [float(program.take_turn(player, model, data["train"], turn)["loss"]) for turn in range(epochs)]
    return losses, {name.rpartition(".")[2]: value for name, value in model.state_dict().items()}


def same(one: Project, other: Project) -> None:
    losses, weights = trained(one)
    again, others = trained(other)
    assert again == losses and len(set(losses)) == len(losses)
    assert weights.keys() == others.keys()
    assert all(torch.equal(weights[name], others[name]) for name in weights)


@pytest.mark.parametrize("ids", [("n2", "n3"), ("n3", "n4"), ("n2", "n3", "n4", "n5"), ("n5",)])
def test_a_rule_reaches_into_blocks(ids: tuple[str, ...]) -> None:
    """All of it, or only the learners, or only what they learn from."""
    project = load_project(GALLERY / "mixture-em.nloom")
    same(project, grouped(project, *ids))


def test_a_rule_reaches_into_blocks_in_blocks() -> None:
    project = grouped(load_project(GALLERY / "mixture-em.nloom"), "n3", "n4")
    outer = next(one for one, node in project.graph.nodes.items() if node.block)
    same(load_project(GALLERY / "mixture-em.nloom"), grouped(project, "n2", outer, "n5"))
