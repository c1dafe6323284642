"""Joins take their inputs in the order of their ports."""

from __future__ import annotations

import torch

from tests.nodes.values import through

A, B, C = (torch.randn(2, 3, 4) for _ in range(3))


def test_sums_and_products_are_taken_number_by_number() -> None:
    assert torch.equal(through("Add", None, A, B, C), A + B + C)
    assert torch.equal(through("Multiply", None, A, B, C), A * B * C)


def test_a_gate_of_one_number_a_channel_scales_the_channel() -> None:
    gate = torch.rand(2, 3, 1)
    assert torch.equal(through("Multiply", None, A, gate), A * gate)


def test_wires_are_laid_side_by_side_in_order() -> None:
    assert torch.equal(through("Concatenate", None, A, B, C), torch.cat((A, B, C), 1))
    assert torch.equal(through("Concatenate", {"axis": -1}, A, B), torch.cat((A, B), 2))
