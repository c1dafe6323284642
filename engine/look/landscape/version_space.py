"""Which weights of a sign unit classify all rows right, and how soon its rule must find some."""

from __future__ import annotations

from math import comb, inf
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from engine.feed.feed import Probe
from engine.look import asking
from engine.look.inputs import arriving_at
from engine.look.registry import Taken, probe_kind
from engine.look.sight import Look

MOST_ROWS = 500
HEIGHT, WIDTH = 61, 121  # of the map of directions
PLANE = 3  # weights that have a map: two inputs and the bias

Numbers = NDArray[np.float64]


@probe_kind("version_space", every=0.2)
def version_space(look: Look, probe: Probe) -> Taken | None:
    """How many training rows each direction of the first unit's weights gets wrong, `(61, 121)`; else empty.

    Columns are the angle of (w1, w2) from -180 to 180 degrees, rows the bias over |(w, b)| from -1 to 1:
    equal areas are equally likely for a random direction. `weights` are those of now, the bias last; `margin`
    is the least distance of a row on its right side, `widest` the largest that any weights have, `bound`
    (R / widest)², all with the bias as one more input of 1 (Novikoff, 1962). `separable` of `labellings` ways
    to label as many rows in general position have a boundary (Cover, 1965).
    """
    head, module = asking.asked(look, probe.node_id), look.module(probe.node_id)
    chosen = asking.spread_over(look.rows("train"), MOST_ROWS)
    if module is None or not chosen:
        return None
    inputs = arriving_at(look, probe.node_id, asking.rows_of(look, chosen, "train")).reshape(len(chosen), -1)
    right = asking.ask_rows(look, head, chosen, "train").right.reshape(len(chosen), -1)[:, 0]
    rows = asking.numbers(torch.cat([inputs, torch.ones_like(inputs[:, :1])], 1))
    signed = np.where(asking.numbers(right) > 0, 1.0, -1.0)[:, None] * rows
    layer = {name: asking.numbers(value[0]) for name, value in module.named_parameters()}
    weights = np.append(layer["weight"], layer["bias"])
    length = float(np.linalg.norm(weights))
    widest = widest_margin(signed)
    reach = float(np.linalg.norm(rows, axis=1).max())
    different, dimensions = len(np.unique(rows, axis=0)), rows.shape[1]
    facts: dict[str, Any] = {
        "weights": weights,
        "updates": int(module.get_buffer("updates")),
        "mistakes": int((signed @ weights <= 0).sum()),
        "margin": float((signed @ weights).min()) / length if length else 0.0,
        "widest": widest,
        "bound": (reach / widest) ** 2 if widest else inf,
        "rows": len(rows),
        "different": different,
        "separable": separable_labellings(different, dimensions),
        "labellings": 2**different,
    }
    return mistakes_by_direction(signed) if dimensions == PLANE else np.zeros((0, 0), np.float32), facts


def mistakes_by_direction(signed: Numbers) -> NDArray[np.float32]:
    """How many rows times their sign (n, 3) the weights of each direction get wrong, as `version_space`."""
    angle, bias = np.meshgrid(np.linspace(-np.pi, np.pi, WIDTH), np.linspace(-1, 1, HEIGHT))
    around = np.sqrt(1 - bias**2)
    directions = np.stack([around * np.cos(angle), around * np.sin(angle), bias], -1)
    wrong: NDArray[np.float32] = (directions @ signed.T <= 0).sum(-1).astype(np.float32)
    return wrong


def widest_margin(signed: Numbers) -> float:
    """The largest margin that a boundary through 0 has about rows times their sign (n, d); 0 where none has.

    It is the distance from 0 of the convex hull of the rows, by non-negative least squares.
    """
    from scipy.optimize import nnls

    scale = float(np.abs(signed).max()) or 1.0
    system = np.vstack([signed.T / scale, np.ones(len(signed))])
    mixed, off = nnls(system, np.append(np.zeros(signed.shape[1]), 1.0), maxiter=100 * len(signed) + 300)
    if off < 1e-9:
        return 0.0
    nearest = signed.T @ (mixed / mixed.sum())
    found = float(np.linalg.norm(nearest))
    return found if float((signed @ nearest).min()) > 1e-9 * found else 0.0


def separable_labellings(rows: int, dimensions: int) -> int:
    """How many ways to label rows in general position a plane through 0 separates: Cover's C(N, D)."""
    return 2 * sum(comb(rows - 1, at) for at in range(dimensions))
