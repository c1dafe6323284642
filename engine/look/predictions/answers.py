"""What a model answers over the plane of two features, along one, and for the examples held out."""

from __future__ import annotations

from dataclasses import replace
from math import sqrt
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from engine.catalogue import Layer
from engine.errors import NeuroloomError
from engine.feed.feed import Probe
from engine.look import asking
from engine.look.inputs import arriving_at, cloud_images, is_cloud
from engine.look.predictions.scores import class_losses
from engine.look.registry import Taken, probe_kind
from engine.look.sight import Look
from engine.shapes.heads import CLASSES, VALUES, YES_NO, Feature, Head

MOST_SIDE, LEAST_SIDE = 100, 24  # of the grid over the plane
MOST_PRODUCTS = 2e8  # multiply-adds for one plot of the plane
STEPS = 200  # along one feature
MOST_POINTS = 300  # of each split
MOST_ROWS = 2000
MOST_NUMBERS = 40_000
MOST_CURVES = 12
ROWS_AT_ONCE = 256
SHOWN = 24  # examples at once
WIDEST = 32  # numbers a row of examples shows


@probe_kind("regions", every=0.5)
def regions(look: Look, probe: Probe) -> Taken | None:
    """The answer at each point of a grid over two features, `detail` their numbers; others as pinned.

    For classes `(3, h, w)` float16: the likeliest class, its probability, and by how much its score is ahead
    of the next; for values `(h, w)`. Row 0 is at the smallest y. `x`, `y` are the ranges that are covered.
    """
    head = asking.asked(look, probe.node_id)
    known = asking.features(look, head)
    if len(known) < 2 or (head.kind != CLASSES and head.size != 1):
        raise NeuroloomError("A plot of the plane needs two features and a single answer.")
    pair = _chosen(probe, known, 2)
    side = _side(look)
    spans = [asking.reach(look, feature) for feature in pair]
    axes = [torch.linspace(*span, side, device=look.device) for span in spans]
    y, x = torch.meshgrid(axes[1], axes[0], indexing="ij")
    batch = asking.made_batch(look, side * side, {pair[0]: x.flatten(), pair[1]: y.flatten()})
    scores = asking.ask(look, head, batch).scores
    facts = {
        "kind": head.kind,
        "x": spans[0],
        "y": spans[1],
        "names": tuple(feature.name for feature in pair),
        "classes": asking.class_names(head),
        "target": head.column,
        "fixed": len(known) - 2,
        "example": look.example,
        "steps": False,
    }
    if head.kind == VALUES:
        return asking.array(scores[:, 0].reshape(side, side)), facts
    if head.kind == YES_NO:
        signs = asking.with_signs(look, head)
        middle = 0.0 if signs or head.plain_scores else 0.5
        both = asking.probabilities(head, scores, signs=signs)
        winner, ahead = (scores[:, 0] > middle).long(), (scores[:, 0] - middle).abs()
        sure = both.gather(1, winner[:, None])[:, 0]
        facts["steps"] = len(torch.unique(scores)) <= 3
    else:
        top = scores.topk(min(2, scores.shape[1]), 1)
        winner, ahead = top.indices[:, 0], top.values[:, 0] - top.values[:, -1]
        sure = scores.softmax(1).gather(1, winner[:, None])[:, 0]
    planes = torch.stack([winner.float(), sure, ahead.clamp(max=6e4)]).reshape(3, side, side)
    return asking.array(planes).astype(np.float16), facts


@probe_kind("points", every=2.0, once=True)
def points(look: Look, probe: Probe) -> Taken | None:
    """Rows `(n, features + 1)` of one or two features, `detail` their numbers, and what is right for them.

    At most 300 training rows, `training` of them, and after them as many that are held out.
    """
    head = asking.asked(look, probe.node_id)
    known = asking.features(look, head)
    chosen = _chosen(probe, known, min(2, max(1, len(probe.detail) or len(known))))
    parts = []
    counts = {}
    for split in ("train", "validation"):
        rows = asking.spread_over(look.rows(split), MOST_POINTS)
        counts[split] = len(rows)
        if rows:
            right = asking.ask_rows(look, head, rows, split).right.reshape(len(rows), -1)[:, :1]
            at = torch.as_tensor(rows, device=look.device)
            found = [asking.feature_values(look, feature, split)[at][:, None] for feature in chosen]
            parts.append(torch.cat([*found, right.to(found[0].dtype)], 1))
    if not parts:
        return None
    same = look.rows("train") == look.rows("validation") <= MOST_POINTS and torch.equal(*parts)
    facts = {"training": counts["train"], "kind": head.kind, "classes": asking.class_names(head)}
    return asking.array(parts[0] if same else torch.cat(parts)), facts


@probe_kind("held_rows", every=0.5)
def held_rows(look: Look, probe: Probe) -> Taken | None:
    """The training rows on which the answer rests, `(K, 2)` of two features, `detail` their numbers.

    `rows` is how many training rows there are. None where the layer that answers holds none.
    """
    head = asking.asked(look, probe.node_id)
    answering, known = head.prediction[0], asking.features(look, head)
    kind, module = look.program.book.types.get(answering), look.module(answering)
    if not (isinstance(kind, Layer) and kind.traits.holds_rows) or module is None:
        return None
    chosen = _chosen(probe, known, min(2, len(known)))
    count = look.rows("train")
    arriving = arriving_at(look, answering, look.batch(0, count, "train")).reshape(count, -1)
    parts, rows = torch.split(arriving, ROWS_AT_ONCE), module.get_buffer("rows")
    held = torch.cat([(part[:, None] == rows).all(2).any(1) for part in parts]).nonzero()[:, 0]
    found = [asking.feature_values(look, feature, "train")[held][:, None] for feature in chosen]
    return asking.array(torch.cat(found, 1)), {"rows": count}


@probe_kind("fit", every=0.5)
def fit(look: Look, probe: Probe) -> Taken | None:
    """The answers along one feature, `detail` its number: `(200, 1 + answers)`, the feature first.

    Answers are a value and perhaps its deviation, or the probability of each class; of a chain of samples the
    mean of their values, and how far these are from it. `residuals` are rows
    `(n, 3)` of held out examples: the feature, what is right, what is predicted.
    """
    head = asking.asked(look, probe.node_id)
    known = asking.features(look, head)
    if not known or (head.kind != CLASSES and head.size != 1):
        raise NeuroloomError("A curve needs features that are numbers and a single answer.")
    (feature,) = _chosen(probe, known, 1)
    span = asking.reach(look, feature)
    at = torch.linspace(*span, STEPS, device=look.device)
    batch = asking.made_batch(look, STEPS, {feature: at})
    drawn = [asking.ask(look, head, batch).scores for _ in look.drawn()] if head.kind == VALUES else []
    found = asking.ask(look, head, batch)
    if len(drawn) > 1:
        scores = torch.stack(drawn)
        found = replace(found, scores=scores.mean(0), spread=scores.std(0))
    facts = {
        "kind": head.kind,
        "name": feature.name,
        "classes": asking.class_names(head)[:MOST_CURVES],
        "target": head.column,
        "fixed": len(known) - 1,
        "example": look.example,
        "deviation": found.spread is not None,
    }
    if head.kind != VALUES:
        signs = head.kind == YES_NO and asking.with_signs(look, head)
        curves = asking.probabilities(head, found.scores, signs=signs)[:, :MOST_CURVES]
        return asking.array(torch.cat([at[:, None], curves], 1)), facts
    curves = found.scores if found.spread is None else torch.cat([found.scores, found.spread], 1)
    rows = asking.spread_over(look.rows(), MOST_POINTS)
    held_out = asking.ask_rows(look, head, rows)
    there = asking.feature_values(look, feature)[torch.as_tensor(rows, device=look.device)]
    facts["residuals"] = asking.array(
        torch.stack([there, held_out.right.flatten(), held_out.scores.flatten()], 1)
    )
    return asking.array(torch.cat([at[:, None], curves], 1)), facts


@probe_kind("answers", every=2.0, apart=True)
def answers(look: Look, probe: Probe) -> Taken | None:
    """Answers to at most 2,000 examples that are held out, evenly over all of them.

    For classes their probabilities `(n, classes)`, with what is `right` `(n,)`; for values `(n, 2)`: what is
    predicted and what is right. `rows` are the examples' numbers, `total` how many there are.
    """
    head = asking.asked(look, probe.node_id)
    width = head.size if head.kind == CLASSES else 2
    rows = asking.spread_over(look.rows(), max(64, min(MOST_ROWS, MOST_NUMBERS // width)))
    if not rows:
        return None
    found = asking.ask_rows(look, head, rows)
    facts = {
        "kind": head.kind,
        "classes": asking.class_names(head),
        "rows": np.asarray(rows, np.int32),
        "total": look.rows(),
        "split": look.split,
        "target": head.column,
    }
    if head.kind == VALUES:
        per_row = max(1, found.scores.shape[1])
        pairs = torch.stack([found.scores.flatten(), found.right.flatten()], 1)
        most = MOST_ROWS // per_row * per_row or per_row
        return asking.array(pairs[:most]), facts
    probabilities = _probabilities(look, head, found)
    facts["right"] = found.right.cpu().numpy().astype(np.int16)
    return asking.array(probabilities), facts


@probe_kind("worst_and_best", every=3.0, apart=True)
def worst_and_best(look: Look, probe: Probe) -> Taken | None:
    """The examples with the largest losses, then those with the smallest; `detail` is how many of each.

    The array is as that of "examples"; `loss` `(2k,)`, `predicted` and `right` are theirs, with the
    probability `sure` of what is predicted and `given` of what is right for classes.
    """
    head = asking.asked(look, probe.node_id)
    rows = asking.spread_over(look.rows(), MOST_ROWS)
    if not rows:
        return None
    found = asking.ask_rows(look, head, rows)
    if head.kind == VALUES:
        off = asking.array(found.scores - found.right.reshape(found.scores.shape))
        losses = (off.astype(np.float64) ** 2).mean(axis=1)
    else:
        probabilities = asking.array(_probabilities(look, head, found))
        right = found.right.cpu().numpy()
        losses = class_losses(probabilities, right)
    count = min(int(probe.detail[0]) if probe.detail else SHOWN // 4, len(rows) // 2 or 1)
    order = np.argsort(-losses, kind="stable")
    picked = np.r_[order[:count], order[::-1][:count]]
    facts: dict[str, Any] = {
        "kind": head.kind,
        "classes": asking.class_names(head),
        "loss": losses[picked],
        "mean_loss": float(losses.mean()),
        "looked_at": len(rows),
    }
    if head.kind == VALUES:
        facts |= {"predicted": asking.array(found.scores[:, 0])[picked]}
        facts |= {"right": asking.array(found.right.reshape(len(rows), -1)[:, 0])[picked]}
    else:
        best = probabilities.argmax(axis=1)
        facts |= {
            "predicted": best[picked],
            "right": right[picked],
            "sure": probabilities.max(axis=1)[picked],
        }
        facts["given"] = probabilities[np.arange(len(rows)), right][picked]
    shown, about = _inputs(look, head, [rows[index] for index in picked])
    return shown, {**facts, **about}


@probe_kind("examples", every=1.0, once=True)
def examples(look: Look, probe: Probe) -> Taken | None:
    """What goes into the model for the held out examples whose numbers are in `detail`.

    Images `(n, h, w)`, the mean of their channels, or numbers `(n, k)` with their `names`.
    """
    rows = [int(row) for row in probe.detail[:SHOWN] if 0 <= int(row) < look.rows()]
    if not rows:
        return None
    shown, about = _inputs(look, asking.asked(look, probe.node_id), rows)
    return shown, about


def _inputs(look: Look, head: Head, rows: list[int]) -> tuple[NDArray[Any], dict[str, Any]]:
    batch = asking.rows_of(look, rows)
    facts: dict[str, Any] = {"rows": tuple(rows), "split": look.split, "names": ()}
    known = asking.features(look, head)
    if known:
        found = [
            batch[one.column] if one.index is None else batch[one.column][:, one.index]
            for one in known[:WIDEST]
        ]
        facts["names"] = tuple(one.name for one in known[:WIDEST])
        return asking.array(torch.stack(found, 1)), facts
    names = look.input_columns(head.prediction[0])
    apart = {name: column for name, column in batch.items() if not look.ragged(name)}
    columns = [apart[name] for name in names if name in apart and name != head.column]
    columns = columns or list(apart.values())
    widest = max(columns, key=lambda column: (column.dim() == 4, column[0].numel()))
    if widest.dim() == 4:
        return asking.array(widest.float().mean(1)), facts
    if any(widest is column and is_cloud(name, column) for name, column in batch.items()):
        return cloud_images(asking.array(widest)), facts
    if widest.dim() == 2 and not widest.is_floating_point():
        facts["tokens"] = next(name for name, column in batch.items() if column is widest)
    if widest.dim() == 3 and widest.shape[2] == 1:
        widest = widest[:, :, 0]
    flat = widest.reshape(len(rows), -1) if widest.dim() < 3 else widest
    return asking.array(flat), facts


def _probabilities(look: Look, head: Head, found: asking.Answers) -> torch.Tensor:
    signs = head.kind == YES_NO and asking.with_signs(look, head)
    return asking.probabilities(head, found.scores, signs=signs)


def _chosen(probe: Probe, known: tuple[Feature, ...], count: int) -> tuple[Feature, ...]:
    """The features whose numbers the detail names, else the first ones."""
    named = [int(index) for index in probe.detail[:count]]
    fitting = [index for index in named if 0 <= index < len(known)]
    if len(fitting) < count:
        fitting = list(range(count))
    if max(fitting, default=0) >= len(known):
        raise NeuroloomError("The answer does not depend on so many features.")
    return tuple(known[index] for index in fitting)


def _side(look: Look) -> int:
    """How fine a grid over the plane may be, for what one row costs."""
    weights = sum(weight.numel() for weight in look.model.parameters())
    return int(min(MOST_SIDE, max(LEAST_SIDE, sqrt(MOST_PRODUCTS / max(1, weights)))))
