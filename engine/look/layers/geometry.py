"""Weights as matrices, and the outputs of layers for many examples, projected to the plane."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from engine.errors import NeuroloomError
from engine.feed.feed import Probe
from engine.look.first_weights import first_of
from engine.look.layers.projection import has_umap, likeness, neighbours_kept, principal, same_signs
from engine.look.registry import Taken, probe_kind
from engine.look.sight import Look
from engine.shapes.heads import VALUES

MOST_ROWS, MOST_COLUMNS = 128, 192
MOST_PARAMETERS = 64
ROWS = 400
FEW = 100
AT_ONCE = 100
MOST_FEATURES = 8192
MOST_CLASSES = 20
IMAGE_BYTES = 100_000
MOST_MEASUREMENTS = 16
MOST_LAYERS = 24
LIKENESS_ROWS = 200


@probe_kind("weight_matrix", every=0.5)
def weight_matrix(look: Look, probe: Probe) -> Taken | None:
    """A parameter of the node as a matrix `(outputs, the rest)`, a vector as one row.

    `detail` is (name of the parameter, "change"): the first parameter where there is none, and with "change"
    how far it has moved since training began, which was at step `since`. What is larger than 128 × 192 is
    shown by the means of blocks of `block` values.
    """
    weights = {name: weight for name, weight in look.weights(probe.node_id).items() if weight.dim() > 0}
    if not weights:
        return None
    name = str(probe.detail[0]) if probe.detail and probe.detail[0] in weights else next(iter(weights))
    weight, since = weights[name].detach().float(), None
    if "change" in probe.detail:
        before, since = first_of(look, probe.node_id)[name]
        weight = weight - before.float()
    matrix = weight[None] if weight.dim() == 1 else weight.flatten(1)
    down, across = -(-matrix.shape[0] // MOST_ROWS), -(-matrix.shape[1] // MOST_COLUMNS)
    if down > 1 or across > 1:
        matrix = F.avg_pool2d(matrix[None, None], (down, across), ceil_mode=True)[0, 0]
    module = look.module(probe.node_id)
    facts: dict[str, Any] = {
        "name": name,
        "names": tuple(weights)[:MOST_PARAMETERS],
        "shape": tuple(weight.shape),
        "layer": type(module).__name__,
        "block": (down, across),
        "size": weight.norm().item(),
        "first_size": None if since is None else before.float().norm().item(),
        "since": since,
    }
    return matrix.cpu().numpy(), facts


@probe_kind("projection", every=1.0, apart=True)
def projection(look: Look, probe: Probe) -> Taken | None:
    """The node's values for the first examples on their two principal components: `(n, 3)` x, y and label.

    `detail` is (examples,). The label is NaN where the data has none; `classes` are their names, empty for
    numbers. `shares` are fractions of the variance. Signs are those of the plot before.
    """
    rows = _rows_of(probe)
    values, facts = _many(look, probe.node_id, rows)
    places, explained = principal(values)
    key = ("projection", probe.node_id, rows)
    places = same_signs(places, look.memory.get(str(key)))
    look.memory[str(key)] = places
    return labelled(look, places, rows), {**facts, **classes_of(look, rows), "shares": tuple(explained)}


@probe_kind("embedding", apart=True, once=True)
def embedding(look: Look, probe: Probe) -> Taken | None:
    """The same with near examples kept near. `detail` is (examples, "t-SNE" or "UMAP", number of the try).

    Each try begins from the layout of the one before.
    """
    rows = _rows_of(probe)
    method = str(probe.detail[1]) if len(probe.detail) > 1 else "t-SNE"
    if method == "UMAP" and not has_umap():
        raise NeuroloomError("UMAP is not installed.", fix="Install the package umap-learn, or use t-SNE.")
    values, facts = _many(look, probe.node_id, rows)
    look.check()
    key = str((method, probe.node_id, rows))
    places = neighbours_kept(values, method, look.memory.get(key))
    look.memory[key] = places
    return labelled(look, places, rows), {**facts, **classes_of(look, rows), "method": method}


@probe_kind("example_pictures", once=True)
def example_images(look: Look, probe: Probe) -> Taken | None:
    """The first examples as the node's inputs: small images `(n, h, w)` or `(n, h, w, 3)`, uint8.

    Or their measurements `(n, k)`, where they are no images. `detail` is (examples,).
    """
    rows = _rows_of(probe)
    columns = look.input_columns(probe.node_id)
    split = split_of(look)
    batch = {name: one for name, one in look.batch(0, rows, split).items() if not look.ragged(name)}
    known = [name for name in columns if name in batch]
    name = next((name for name in known or batch if batch[name].is_floating_point()), None)
    if name is None:
        return None
    values = batch[name].detach().float().cpu()
    facts = {"column": name, "split": split}
    if values.dim() == 4 and values.shape[1] in (1, 3) and min(values.shape[2:]) > 3:
        channels = values.shape[1]
        side = max(4, int((IMAGE_BYTES / len(values) / channels) ** 0.5))
        if max(values.shape[2:]) > side:
            values = F.adaptive_avg_pool2d(values, (min(side, values.shape[2]), min(side, values.shape[3])))
        low, high = values.min(), values.max()
        grey = ((values - low) / (high - low).clamp_min(1e-12) * 255).to(torch.uint8)
        return (grey[:, 0] if channels == 1 else grey.permute(0, 2, 3, 1)).contiguous().numpy(), facts
    flat = values.flatten(1)
    return flat[:, :MOST_MEASUREMENTS].numpy(), {**facts, "of": flat.shape[1]}


@probe_kind("likeness", every=3.0, apart=True)
def layer_likeness(look: Look, probe: Probe) -> Taken | None:
    """Linear CKA (L, L) between the outputs of the network's layers for 200 examples; `nodes` are their ids.

    Of a deep network 24 layers evenly spread.
    """
    seen: dict[str, list[Tensor]] = {}
    graph = look.program.project.graph
    wanted = set(graph.nodes) - {head.node_id for head in look.heads}
    for start in range(0, min(LIKENESS_ROWS, look.rows()), AT_ONCE):
        look.check()
        count = min(AT_ONCE, LIKENESS_ROWS - start)
        for node_id, ports in look.values(wanted, look.batch(start, count)).items():
            value = next(iter(ports.values()))
            if value.is_floating_point() and value.dim() > 1:
                seen.setdefault(node_id, []).append(_thinned(value.flatten(1)))
    order = [node_id for node_id in graph.order() if node_id in seen]
    if len(order) > MOST_LAYERS:
        order = [order[round(at)] for at in np.linspace(0, len(order) - 1, MOST_LAYERS)]
    if len(order) < 2:
        return None
    rows = sum(len(part) for part in seen[order[0]])
    layers = [torch.cat(seen[node_id]) for node_id in order]
    if any(len(values) != rows for values in layers):
        raise NeuroloomError("Some layers do not keep the examples apart, so that they can't be compared.")
    return likeness(layers).astype(np.float32), {"nodes": tuple(order), "rows": rows, "split": look.split}


def _rows_of(probe: Probe) -> int:
    return int(probe.detail[0]) if probe.detail else ROWS


def split_of(look: Look) -> str:
    """The split whose examples are shown: that of other views, unless training has more and that has few."""
    return look.split if look.rows() >= FEW or look.rows("train") <= look.rows() else "train"


def _thinned(values: Tensor) -> Tensor:
    """Every k-th feature of a wide layer (N, D): its geometry from less than 8,192 numbers an example."""
    return values[:, :: -(-values.shape[1] // MOST_FEATURES)].float()


def _many(look: Look, node_id: str, rows: int) -> tuple[Tensor, dict[str, Any]]:
    """The node's values (n, D) for the first examples."""
    parts, width = [], 0
    split = split_of(look)
    count = min(rows, look.rows(split))
    for start in range(0, count, AT_ONCE):
        look.check()
        value = look.value(node_id, look.batch(start, min(AT_ONCE, rows - start), split))
        if value is None or not value.is_floating_point() or value.dim() == 0:
            raise NeuroloomError("This node gives no numbers an example.", node_id=node_id)
        flat = value.reshape(len(value), -1)
        width = flat.shape[1]
        parts.append(_thinned(flat).cpu())
    values = torch.cat(parts)
    if len(values) != count:
        raise NeuroloomError("This node does not give one row for each example.", node_id=node_id)
    if not torch.isfinite(values).all():
        raise NeuroloomError("Some of the values are not finite.", node_id=node_id)
    return values, {"split": split, "features": width}


def _label_column(look: Look) -> tuple[str, tuple[str, ...], bool] | None:
    """The column that says what each example is, the names of its classes, and whether it has classes."""
    for head in look.heads:
        if head.column and head.kind != VALUES:
            return head.column, head.labels, True
    batch = look.batch(0, ROWS, split_of(look))
    for name, column in batch.items():
        if column.dim() == 1 and not column.is_floating_point() and len(torch.unique(column)) <= MOST_CLASSES:
            return name, (), True
    for head in look.heads:
        if head.column and head.size == 1:
            return head.column, (), False
    return None


def classes_of(look: Look, rows: int) -> dict[str, Any]:
    found = _label_column(look)
    if found is None:
        return {"label": "", "classes": ()}
    column, names, classed = found
    if classed and not names:
        top = int(look.batch(0, rows, split_of(look))[column].max().item())
        names = tuple(str(number) for number in range(min(top, MOST_CLASSES) + 1))
    return {"label": column, "classes": names if classed else ()}


def labelled(look: Look, places: np.ndarray[Any, Any], rows: int) -> np.ndarray[Any, Any]:
    found = _label_column(look)
    labels = np.full(len(places), np.nan)
    if found is not None:
        column = look.batch(0, rows, split_of(look))[found[0]].detach().float().cpu().numpy()
        labels = column.reshape(len(places), -1)[:, 0]
    return np.column_stack([places, labels]).astype(np.float32)
