"""Objects that a network finds in images: the boxes of its grid that are left after suppression."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor

from engine.catalogue import Loss
from engine.catalogue.params import Ints, param
from engine.layers.detection.boxes import boxes_of
from engine.procedures.declare import Bound, Net, Procedure, Value


def detected(
    grid: Tensor, *, draws: torch.Generator, least: float, overlap: float, most: int
) -> Iterator[dict[str, Any]]:
    """Each box that is found in the images of a grid (N, classes + 4, h, w), the best of an image first.

    `box` is left, top, right and bottom as fractions of the image. The class -1 says that an image has none.
    """
    for row, boxes in enumerate(boxes_of(grid, most, overlap)):
        sure = boxes[(boxes[:, 0] >= 0) & (boxes[:, 5] >= least)]
        for box in sure if len(sure) else boxes.new_tensor([[-1.0, 0, 0, 0, 0, 0]]):
            yield {"row": row, "class": int(box[0]), "probability": float(box[5]), "box": box[1:5]}


class Detect(Procedure):
    """Finds objects in images: the class, probability and box of each, without boxes of the same object."""

    main = False
    loop = staticmethod(detected)
    shows = ("box",)
    rows: Ints = param((0, 1, 2, 3), minimum=0, doc="numbers of the examples, from 0")
    least: float = param(0.3, minimum=0, maximum=1, label="Least probability", doc="of a box that is listed")
    overlap: float = param(
        0.5, minimum=0, maximum=1, doc="intersection over union with a better box of its class that is kept"
    )
    most: int = param(20, minimum=1, maximum=1000, label="Boxes an image", doc="how many are looked at")

    @classmethod
    def bind(cls, net: Net) -> Iterator[Bound]:
        graph = net.project.graph
        compared = [
            one for one in graph.order() if isinstance(made := net.type_of(one), Loss) and made.traits.boxes
        ]
        links = [link for one in compared if (link := graph.feeding(one, "prediction")) is not None]
        for grid in dict.fromkeys((link.source, link.source_port) for link in links):
            yield Bound(grid[0], {"grid": Value(grid)})
