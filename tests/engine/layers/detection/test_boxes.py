"""Boxes against counted pixels, suppression and mean average precision against searches by hand."""

from __future__ import annotations

import numpy as np
import torch
from sklearn.metrics import average_precision_score
from torch import Tensor

from engine.layers.detection.boxes import (
    box_overlap,
    boxes_of,
    centre_point_loss,
    mean_average_precision,
    not_suppressed,
)


def drawn(count: int, seed: int) -> Tensor:
    draw = torch.Generator().manual_seed(seed)
    corner = torch.randint(0, 12, (count, 2), generator=draw)
    size = torch.randint(1, 9, (count, 2), generator=draw)
    return torch.cat((corner, corner + size), 1).float()


def test_overlap_is_counted_pixels_over_counted_pixels() -> None:
    a, b = drawn(20, 1), drawn(15, 2)

    def pixels(box: Tensor) -> Tensor:
        grid = torch.zeros(24, 24, dtype=torch.bool)
        x0, y0, x1, y1 = (int(one) for one in box)
        grid[y0:y1, x0:x1] = True
        return grid

    found = box_overlap(a, b)
    for i, one in enumerate(a):
        for j, other in enumerate(b):
            left, right = pixels(one), pixels(other)
            assert abs(found[i, j] - (left & right).sum() / (left | right).sum()) < 1e-6


def test_suppression_takes_the_best_and_drops_what_overlaps_it_again_and_again() -> None:
    for seed in range(8):
        boxes = drawn(25, seed)
        draw = torch.Generator().manual_seed(seed)
        scores, classes = torch.rand(25, generator=draw), torch.randint(0, 2, (25,), generator=draw)
        order = scores.argsort(descending=True)
        boxes, scores, classes = boxes[order], scores[order], classes[order]
        left, wanted = set(range(25)), set()
        overlap, most = box_overlap(boxes, boxes).tolist(), 0.31
        while left:
            best = max(left, key=lambda one: float(scores[one]))
            wanted.add(best)
            left = {
                one for one in left - {best} if classes[one] != classes[best] or overlap[one][best] < most
            }
        stays = not_suppressed(boxes[None], classes[None], most)[0]
        assert set(torch.nonzero(stays).flatten().tolist()) == wanted


def test_mean_average_precision_by_hand() -> None:
    """Three boxes of one class, found: a right one, a wrong one, a right one, a second for the first."""
    target = torch.tensor([[[0, 0, 0, 4, 4], [0, 10, 10, 14, 14.0]], [[0, 0, 0, 4, 4], [-1, 0, 0, 0, 0]]])
    found = torch.tensor(
        [
            [[0, 0, 0, 4, 4, 0.9], [0, 0, 0, 4, 3.6, 0.6]],
            [[0, 8, 8, 12, 12, 0.8], [0, 0, 0, 4, 4, 0.7]],
        ]
    )
    # precision 1 at a recall of 1/3, 2/3 at 2/3; the third box is not found
    assert abs(mean_average_precision(found, target, overlap=0.5) - (1 / 3 + 2 / 3 * 1 / 3)) < 1e-6


def test_where_each_box_is_alone_it_is_the_area_that_precision_has_beyond_each_recall() -> None:
    """Boxes far apart are rankings of right and wrong ones; scikit-learn's is without the largest beyond."""
    draw = np.random.default_rng(1)
    right, scores = draw.random(60) < 0.5, draw.random(60)
    target = torch.full((60, 1, 5), -1.0)
    found = torch.zeros(60, 1, 6)
    for at in range(60):
        target[at, 0] = torch.tensor([0, 0, 0, 4, 4.0])
        box = [0, 0, 4, 4] if right[at] else [9, 9, 12, 12]
        found[at, 0] = torch.tensor([0, *box, scores[at]])
    order = np.argsort(-scores)
    precision = right[order].cumsum() / np.arange(1, 61)
    beyond = np.array([precision[at:].max() for at in range(60)])
    wanted = (beyond * right[order]).sum() / 60
    value = float(mean_average_precision(found, target, overlap=0.5))
    assert abs(value - wanted) < 1e-6
    assert value >= average_precision_score(right, scores) * right.mean() - 1e-6


def test_a_grid_that_says_the_boxes_has_no_loss_and_gives_them_back() -> None:
    target = torch.tensor([[[3, 5, 6, 17, 20.0], [7, 30, 28, 41, 44]], [[1, 2, 3, 9, 15], [-1] * 5]])
    grid = torch.zeros(2, 14, 12, 12)
    grid[:, :10] = -30
    for image, boxes in enumerate(target):
        for kind, x0, y0, x1, y1 in boxes.tolist():
            if kind >= 0:
                x, y = (x0 + x1) / 8, (y0 + y1) / 8
                grid[image, int(kind), int(y), int(x)] = 30
                shape = [x - int(x), y - int(y), np.log((x1 - x0) / 4), np.log((y1 - y0) / 4)]
                grid[image, 10:, int(y), int(x)] = torch.tensor(shape)
    target[..., 1:] /= 48
    assert float(centre_point_loss(grid, target, 1.0)) < 1e-5
    found = boxes_of(grid)
    for image, boxes in enumerate(target):
        sure = found[image][found[image, :, 5] > 0.5]
        real = boxes[boxes[:, 0] >= 0]
        assert len(sure) == len(real)
        for box in real:
            assert (sure[:, :5] - box).abs().sum(1).min() < 1e-4
    assert float(mean_average_precision(found, target, overlap=0.9)) == 1


def searched(found: Tensor, target: Tensor, overlap: float) -> float:
    """Mean average precision by loops over boxes, classes and thresholds."""
    per_class = []
    for kind in sorted({int(box[0]) for image in target.tolist() for box in image if box[0] >= 0}):
        ranked = sorted(
            (
                (box[5], image, box)
                for image, boxes in enumerate(found.tolist())
                for box in boxes
                if box[0] == kind
            ),
            key=lambda one: -one[0],
        )
        taken: set[tuple[int, int]] = set()
        hits = []
        for _, image, box in ranked:
            best, at = 0.0, -1
            for place, real in enumerate(target[image].tolist()):
                across = max(0.0, min(box[3], real[3]) - max(box[1], real[1]))
                both = across * max(0.0, min(box[4], real[4]) - max(box[2], real[2]))
                sides = [(one[2] - one[0]) * (one[3] - one[1]) for one in (box[1:5], real[1:5])]
                score = both / (sum(sides) - both)
                if real[0] == kind and (image, place) not in taken and score > best:
                    best, at = score, place
            hits.append(best >= overlap)
            if hits[-1]:
                taken.add((image, at))
        precision = [sum(hits[: end + 1]) / (end + 1) for end in range(len(hits))]
        area = sum(max(precision[at:]) for at, hit in enumerate(hits) if hit)
        per_class.append(area / sum(box[0] == kind for image in target.tolist() for box in image))
    return sum(per_class) / len(per_class)


def test_mean_average_precision_is_that_of_a_search() -> None:
    for seed in range(6):
        draw = torch.Generator().manual_seed(seed)
        target = torch.cat(
            (
                torch.randint(-1, 3, (12, 4, 1), generator=draw),
                torch.stack([drawn(4, 50 * seed + at) for at in range(12)]),
            ),
            2,
        )
        near = target[:, [0, 1, 2, 3, 0, 1]].clone()
        near[..., 1:] += torch.randint(-1, 2, near[..., 1:].shape, generator=draw) * 0.4
        scores = torch.rand(12, 6, 1, generator=draw).sort(1, descending=True).values
        found = torch.cat((near[:, torch.randperm(6, generator=draw)], scores), 2)
        for overlap in (0.3, 0.5, 0.75):
            value = float(mean_average_precision(found, target, overlap=overlap))
            assert 0 < value < 1 and abs(value - searched(found, target, overlap)) < 1e-6
