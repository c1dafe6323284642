"""Objects as centre points on a grid: their loss, boxes read off the grid, and how good these are.

Boxes (N, K, 5) have a class and the corners x0, y0, x1, y1 as fractions of the image's width and height; the
class -1 fills up rows with fewer boxes. A grid (N, classes + 4, h, w) has a score for each class in each
cell, then where in its cell a centre lies, across and down, and the logarithms of width and height in cells.
Portable: exports carry this source. Source: Zhou, Wang and Krähenbühl (2019).
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor


def box_overlap(a: Tensor, b: Tensor) -> Tensor:
    """Intersection over union of boxes (..., n, 4) with boxes (..., m, 4): (..., n, m), 0 for empty boxes."""
    low = torch.maximum(a[..., :, None, :2], b[..., None, :, :2])
    high = torch.minimum(a[..., :, None, 2:], b[..., None, :, 2:])
    both = (high - low).clamp(min=0).prod(-1)
    areas = [(one[..., 2:] - one[..., :2]).clamp(min=0).prod(-1) for one in (a, b)]
    return both / (areas[0][..., :, None] + areas[1][..., None, :] - both).clamp(min=1e-12)


def centre_point_loss(grid: Tensor, boxes: Tensor, size_weight: float) -> Tensor:
    """Focal loss of the centres' classes and `size_weight` times the error of their boxes, for each box."""
    classes, (rows, columns) = grid.shape[1] - 4, grid.shape[2:]
    real, corners, scale = (boxes[..., 0] >= 0).float(), boxes[..., 1:], boxes.new_tensor([columns, rows])
    centre = (corners[..., :2] + corners[..., 2:]) / 2 * scale
    extent = ((corners[..., 2:] - corners[..., :2]) * scale).clamp(min=1e-3).log()
    column, row = centre[..., 0].long().clamp(0, columns - 1), centre[..., 1].long().clamp(0, rows - 1)
    cell = row * columns + column
    scores = grid[:, :classes].flatten(1)
    place = boxes[..., 0].long().clamp(0) * rows * columns + cell
    right = torch.zeros_like(scores).scatter_add(1, place, real).clamp(max=1)
    wrong = (right - scores.sigmoid()) ** 2  # what is sure already counts little
    apart = F.binary_cross_entropy_with_logits(scores, right, reduction="none")
    wanted = torch.cat((centre - torch.stack((column, row), -1), extent), -1)
    shape = grid[:, classes:].flatten(2).gather(2, cell[:, None].expand(-1, 4, -1)).transpose(1, 2)
    far = ((shape - wanted).abs().sum(-1) * real).sum()
    return ((wrong * apart).sum() + size_weight * far) / real.sum().clamp(min=1)


def boxes_of(grid: Tensor, most: int = 20, overlap: float = 0.5) -> Tensor:
    """The `most` best boxes of each image: (N, most, 6) of class, corners and probability, the best first.

    A box that a better one of its class overlaps by more than `overlap` has class -1 and probability 0.
    """
    classes, (rows, columns) = grid.shape[1] - 4, grid.shape[2:]
    scores, cells = grid[:, :classes].sigmoid().flatten(1).topk(min(most, classes * rows * columns))
    kind, cell = cells // (rows * columns), cells % (rows * columns)
    shape = grid[:, classes:].flatten(2).gather(2, cell[:, None].expand(-1, 4, -1)).transpose(1, 2)
    centre = torch.stack((cell % columns, cell // columns), -1) + shape[..., :2]
    half = shape[..., 2:].clamp(max=6).exp() / 2
    scale = grid.new_tensor([columns, rows])
    boxes = torch.cat(((centre - half) / scale, (centre + half) / scale), -1)
    stays = not_suppressed(boxes, kind, overlap)
    return torch.cat(
        (torch.where(stays, kind, -1)[..., None].to(boxes), boxes, (scores * stays)[..., None]), -1
    )


def not_suppressed(boxes: Tensor, kind: Tensor, overlap: float) -> Tensor:
    """Which boxes (N, n, 4), best first, stay: no better one of their class that stays overlaps them more."""
    clash = (box_overlap(boxes, boxes) > overlap) & (kind[..., :, None] == kind[..., None, :])
    stays = torch.ones_like(kind, dtype=torch.bool)
    for one in range(kind.shape[-1] - 1):
        stays[..., one + 1 :] &= ~(stays[..., one, None] & clash[..., one, one + 1 :])
    return stays


def overlap_of_class(found: Tensor, boxes: Tensor) -> Tensor:
    """How much found boxes (N, n, 6) overlap boxes (N, m, 5) of their class, (N, n, m); others by 0."""
    same = (found[..., :1] == boxes[..., 0][:, None]) & (found[..., :1] >= 0)
    return box_overlap(found[..., 1:5], boxes[..., 1:]) * same


def mean_average_precision(found: Tensor, boxes: Tensor, *, overlap: float) -> Tensor:
    """The area below precision against recall of found boxes (N, n, 6), best first; mean over the classes.

    Boxes are taken from the best on; one is right where it overlaps a box of its class that no better one
    has taken by `overlap` or more. Precision is the largest at that recall or beyond (Everingham and others,
    2010).
    """
    fits = overlap_of_class(found, boxes)
    free, right = torch.ones_like(boxes[..., 0]), torch.zeros_like(found[..., 0])
    for one in range(found.shape[1]):
        best, place = (fits[:, one] * free).max(1)
        right[:, one] = best >= overlap
        free.scatter_(1, place[:, None], free.gather(1, place[:, None]) * (1 - right[:, one, None]))
    order = found[..., 5].flatten().argsort(descending=True, stable=True)
    order = order[found[..., 0].flatten()[order].argsort(stable=True)]  # class by class, the best first
    kind, right = found[..., 0].flatten()[order], right.flatten()[order]
    first = torch.searchsorted(kind, kind)
    hits = right.cumsum(0)
    hits = hits - hits[first] + right[first]
    precision = hits / (torch.arange(1, len(kind) + 1, device=kind.device) - first)
    precision = (precision - 2 * kind).flip(0).cummax(0).values.flip(0) + 2 * kind  # apart for each class
    true = boxes[..., 0].flatten().sort().values
    number = torch.searchsorted(true, kind, right=True) - torch.searchsorted(true, kind)
    classes = (F.pad(true, (1, 0), value=-1.0).diff() > 0).sum()
    return (precision * right / number.clamp(min=1)).sum() / classes
