"""Joins take their inputs in the order of their ports."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from engine.document.shipped import datasets_folder
from engine.errors import EmitError
from engine.train.headless import run_headless
from tests.engine.sketches import gallery
from tests.engine.train.networks import catalogue
from tests.nodes.values import through

A, B, C = (torch.randn(2, 3, 4) for _ in range(3))


def test_sums_and_products_are_taken_number_by_number() -> None:
    assert torch.equal(through("Add", None, A, B, C), A + B + C)
    torch.testing.assert_close(through("Mean", None, A, B, C), (A + B + C) / 3)
    assert torch.equal(through("Multiply", None, A, B, C), A * B * C)


def test_a_gate_of_one_number_a_channel_scales_the_channel() -> None:
    gate = torch.rand(2, 3, 1)
    assert torch.equal(through("Multiply", None, A, gate), A * gate)


def test_wires_are_laid_side_by_side_in_order() -> None:
    assert torch.equal(through("Concatenate", None, A, B, C), torch.cat((A, B, C), 1))
    assert torch.equal(through("Concatenate", {"axis": -1}, A, B), torch.cat((A, B), 2))


def test_a_committee_is_never_worse_than_its_members_are_on_average() -> None:
    """Of convex losses: Krogh and Vedelsby, 1995, for squares; Jensen's inequality for cross-entropy."""
    run = run_headless(gallery("committee"), catalogue(), datasets_folder(), device="cpu", epochs=3).run
    members, committee = (run.feed.read(name)["value"] for name in ("val_loss", "val_committee_loss"))
    parts = [run.feed.read(f"val_loss_{at}")["value"] for at in range(1, 6)]
    assert len(members) == 3 and (committee < members).all()
    np.testing.assert_allclose(members, np.mean(parts, axis=0), rtol=1e-5)


def test_a_mean_of_unlike_shapes_is_refused() -> None:
    with pytest.raises(EmitError, match="Mean needs inputs of one shape"):
        through("Mean", None, A, A[..., :2])
