"""Matrices, projections and likeness of layers are those of the model."""

import numpy as np
import pytest
import torch
from sklearn.decomposition import PCA

from engine.feed.feed import Probe
from engine.look.sight import Look
from engine.train.loop import Run
from tests.engine.look.taking import take
from tests.engine.train.networks import digits, iris, run_of


def layer(run: Run, node_id: str) -> torch.nn.Module:
    return run.model.get_submodule(run.program.modules[node_id])


def test_a_matrix_is_the_weight_and_a_vector_one_row() -> None:
    run = run_of(iris())
    weights, bias = take(run, Probe("n2", "weight_matrix"), Probe("n2", "weight_matrix", ("bias",)))
    np.testing.assert_array_equal(weights.array, layer(run, "n2").weight.detach().numpy())
    assert weights.extra["names"] == ("weight", "bias")
    assert weights.extra["layer"] == "Linear" and weights.extra["since"] is None
    np.testing.assert_array_equal(bias.array, layer(run, "n2").bias.detach().numpy()[None])


def test_the_change_is_measured_from_the_first_weights() -> None:
    run = run_of(iris())
    before = layer(run, "n2").weight.detach().clone()
    (change,) = take(run, Probe("n2", "weight_matrix", ("weight", "change")), steps=3)
    right = (layer(run, "n2").weight.detach() - before).numpy()
    np.testing.assert_allclose(change.array, right, atol=1e-7)
    assert change.extra["since"] == 0
    assert abs(change.extra["first_size"] - before.norm().item()) < 1e-5


def test_a_large_matrix_is_shown_by_means_of_blocks() -> None:
    run = run_of(iris(hidden=300))
    (shown,) = take(run, Probe("n2", "weight_matrix"))
    weight = layer(run, "n2").weight.detach().numpy()
    assert shown.extra["block"] == (3, 1) and shown.array.shape == (100, 4)
    np.testing.assert_allclose(shown.array[5], weight[15:18].mean(0), rtol=1e-5)


def test_a_kernel_is_a_row_of_its_filter() -> None:
    run = run_of(digits())
    (shown,) = take(run, Probe("n2", "weight_matrix"))
    np.testing.assert_array_equal(shown.array, layer(run, "n2").weight.detach().flatten(1).numpy())
    assert shown.extra["shape"] == (6, 1, 3, 3)


def test_a_projection_has_the_components_and_labels_of_the_examples() -> None:
    run = run_of(digits())
    (found,) = take(run, Probe("n2", "projection", (150,)))
    look = Look.of(run, 0)
    values = look.value("n2", look.batch(0, 150))
    assert values is not None
    reference = PCA(2).fit(values.flatten(1).numpy())
    np.testing.assert_allclose(found.extra["shares"], reference.explained_variance_ratio_, rtol=1e-3)
    right = reference.transform(values.flatten(1).numpy())
    np.testing.assert_allclose(np.abs(found.array[:, :2]), np.abs(right), atol=2e-2)
    np.testing.assert_array_equal(found.array[:, 2], look.batch(0, 150)["digit"].numpy())
    assert found.extra["classes"] == tuple("0123456789")


def test_the_next_projection_does_not_flip() -> None:
    run = run_of(digits())
    probe = Probe("n4", "projection", (150,))
    (first,) = take(run, probe)
    run.memory[str(("projection", "n4", 150))] *= -1
    run.feed.forget_views()
    (second,) = take(run, probe)
    np.testing.assert_allclose(second.array[:, :2], -first.array[:, :2], rtol=1e-5)


def test_an_embedding_begins_from_the_last_one() -> None:
    run = run_of(iris())
    (one,) = take(run, Probe("n2", "embedding", (90, "t-SNE", 1)))
    assert one.extra["method"] == "t-SNE" and one.extra["split"] == "train"
    assert str(("t-SNE", "n2", 90)) in run.memory
    (other,) = take(run, Probe("n2", "embedding", (90, "t-SNE", 2)))
    assert np.corrcoef(one.array[:, 0], other.array[:, 0])[0, 1] > 0.5


def test_an_embedding_whose_library_is_missing_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("engine.look.layers.geometry.has_umap", lambda: False)
    (found,) = take(run_of(iris()), Probe("n2", "embedding", (90, "UMAP", 1)))
    assert "not installed" in found.extra["failed"]


def test_examples_are_small_pictures_or_measurements() -> None:
    run = run_of(digits())
    (images,) = take(run, Probe("n2", "example_pictures", (50,)))
    assert images.array.shape == (50, 8, 8) and images.array.dtype == np.uint8
    assert images.array.max() == 255 and images.array.min() == 0
    run = run_of(iris())
    (rows,) = take(run, Probe("n2", "example_pictures", (50,)))
    np.testing.assert_array_equal(rows.array, run.data["train"]["features"][:50].numpy())


def test_layers_that_hold_the_same_are_alike() -> None:
    run = run_of(digits())
    (found,) = take(run, Probe("", "likeness"))
    nodes = found.extra["nodes"]
    assert nodes == ("n1", "n2", "n3", "n4")
    np.testing.assert_allclose(np.diag(found.array), 1, rtol=1e-5)
    assert abs(found.array[nodes.index("n2"), nodes.index("n3")] - 1) < 1e-5
    assert found.array[0, 3] < 0.99
    np.testing.assert_allclose(found.array, found.array.T, rtol=1e-6)
