"""Predictions of an answer of many numbers are those of one example, not the first number of each."""

from __future__ import annotations

import torch

from engine.feed.feed import Probe
from engine.look.predictions.predictions import predictions
from engine.look.registry import Taken
from engine.look.sight import Look
from engine.shapes.heads import loss_heads
from tests.engine.procedures.running import loaded
from tests.engine.sketches import gallery


def taken(project_id: str, pinned: int) -> tuple[Look, Taken]:
    program, model, data = loaded(gallery(project_id))
    look = Look(program, model, data, loss_heads(program.project, program.book), "cpu", pinned, 1)
    found = predictions(look, Probe("", "predictions"))
    assert isinstance(found, tuple)
    return look, found


def test_pixels_are_those_of_the_pinned_example() -> None:
    look, (pairs, facts) = taken("stacked-autoencoder", 3)
    assert facts["of"] in ("pixel", "number") and facts["example"] == 3
    head = look.heads[0]
    values = look.values({head.prediction[0], head.target[0]}, look.batch(3, 1))
    right = values[head.target[0]][head.target[1]].flatten()
    assert torch.equal(torch.from_numpy(pairs[:, 1]), right) and len(pairs) == len(right) >= 16


def test_a_single_number_is_shown_for_many_examples() -> None:
    _, (pairs, facts) = taken("linear-regression", 0)
    assert "of" not in facts and len(pairs) > 16 and pairs.shape[1] == 2
