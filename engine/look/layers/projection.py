"""Projects examples to the plane, and measures how alike two layers represent them."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

Points = NDArray[np.float64]


def principal(values: Tensor) -> tuple[Points, list[float]]:
    """Places (N, 2) of `values` (N, D) on two principal components, and the fractions of variance of both.

    What is constant gives places of zero and fractions of zero.
    """
    centred = values.float().cpu() - values.float().cpu().mean(0)
    count, size = centred.shape
    wide = size > count
    gram = centred @ centred.T if wide else centred.T @ centred
    found, directions = torch.linalg.eigh(gram.double())
    found, directions = found.flip(0)[:2].clamp_min(0), directions.flip(1)[:, :2]
    total = gram.diagonal().double().sum().clamp_min(0)
    places = directions * found.sqrt() if wide else centred.double() @ directions
    if places.shape[1] < 2:
        places = torch.nn.functional.pad(places, (0, 2 - places.shape[1]))
    explained = (found / total if total > 0 else found * 0).tolist()
    return places.numpy(force=True), [*explained, 0.0, 0.0][:2]


def same_signs(places: Points, before: Points | None) -> Points:
    """The same components, each turned to the side where it lay before, so that a plot does not flip."""
    if before is None or before.shape != places.shape:
        return places
    signs = np.where((places * before).sum(0) < 0, -1.0, 1.0)
    turned: Points = places * signs
    return turned


def turned_onto(places: Points, before: Points | None) -> Points:
    """The same layout moved, turned and mirrored onto an earlier one (orthogonal Procrustes, no scaling)."""
    if before is None or before.shape != places.shape:
        return places
    centred, goal = places - places.mean(0), before - before.mean(0)
    left, _, right = np.linalg.svd(centred.T @ goal)
    turned: Points = centred @ (left @ right) + before.mean(0)
    return turned


def has_umap() -> bool:
    """Whether UMAP is installed."""
    return find_spec("umap") is not None


def neighbours_kept(values: Tensor, method: str, before: Points | None = None, seed: int = 0) -> Points:
    """Places (N, 2) in which near examples of `values` (N, D) stay near, by "t-SNE" or "UMAP".

    It begins from an earlier layout, or else from the principal components.
    Sources: van der Maaten and Hinton (2008), McInnes et al. (2018).
    """
    numbers = values.float().numpy(force=True)
    begin = before if before is not None and len(before) == len(numbers) else principal(values)[0]
    spread = begin.std(0).max()
    if spread <= 0:
        return np.zeros((len(numbers), 2))
    if method == "UMAP":
        umap = import_module("umap")
        made = umap.UMAP(n_components=2, init=begin / spread * 10, random_state=seed, n_jobs=1)
        found = made.fit_transform(numbers)
    else:
        from sklearn.manifold import TSNE

        made = TSNE(
            perplexity=min(30.0, max(2.0, (len(numbers) - 1) / 3)),
            init=begin / spread * 1e-4,
            learning_rate="auto",
            random_state=seed,
            n_jobs=1,
        )
        found = made.fit_transform(numbers)
    return turned_onto(np.asarray(found, np.float64), before)


def likeness(layers: list[Tensor]) -> Points:
    """Linear CKA (L, L) between the values (N, D) of layers for the same examples, 0 to 1.

    1 where two layers hold the same up to rotation and scale; NaN where a layer is constant.
    Source: Kornblith et al. (2019).
    """
    kernels = []
    for values in layers:
        precise = values.cpu().double()
        centred = precise - precise.mean(0)
        kernels.append((centred @ centred.T).flatten())
    stacked = torch.stack(kernels)
    norms = stacked.norm(dim=1)
    scale = norms[:, None] * norms
    found = stacked @ stacked.T / torch.where(scale > 0, scale, torch.nan)
    array: Points = found.numpy(force=True)
    return array
