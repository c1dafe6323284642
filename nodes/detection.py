"""Loss and metric of objects in images: a grid of scores and sizes beside the boxes that are right."""

from __future__ import annotations

from engine.catalogue import Emitted, Emitter, Metric, Port, Wire, param
from engine.catalogue.symbols import Expr, carried, without_defaults
from engine.catalogue.traits import LossTraits
from engine.errors import EmitError
from nodes.loss import WeightedLoss
from nodes.wires import sizes

PORTS = (
    Port(
        "prediction",
        label="grid",
        doc="(classes + 4, height, width): scores of classes in each cell, the centre in its cell, "
        "logarithms of width and height in cells",
    ),
    Port("target", label="boxes", doc="a row a box: class (-1: none) and corners x0, y0, x1, y1 in 0..1"),
)


def need_boxes(grid: Wire, boxes: Wire) -> None:
    """Refuse what is no grid of class scores and boxes, or no rows of boxes. Errors: `EmitError`."""
    if len(grid.shape) != 3 or grid.shape[0] < 5:
        raise EmitError(
            "A grid of boxes has a map for each class and four for the box, (classes + 4, height, width), "
            f"but the prediction is {sizes(grid)}.",
            fix="Connect a convolution with classes + 4 filters.",
        )
    if len(boxes.shape) != 2 or boxes.shape[1] != 5 or boxes.dtype != "float32":
        raise EmitError(
            f"Boxes are rows of five numbers, a class and four corners, but the target is {sizes(boxes)}.",
            fix="Connect a column of boxes.",
        )


class CentrePointLoss(WeightedLoss):
    """Finds objects by their centres: the class of each cell of a grid, and the box around each true centre.

    The cell in which a centre lies is to have a high score for its class, all others low ones, and answers
    that are right already count little; offset and size of a box count in its cell only. The value is that of
    a box.
    """

    title = "Centre points"
    aliases = ("object detection", "boxes", "centernet", "yolo", "focal loss")
    formula = "L = (1/boxes) ( Σ (y - p)² BCE(p, y) + w Σ |offset, log size - their targets| )"
    source = "Zhou, Wang and Krähenbühl, 2019; focal loss: Lin and others, 2017"
    traits = LossTraits(boxes=True)
    ports_in = PORTS
    size_weight: float = param(
        1.0, minimum=0, label="Weight of boxes", doc="factor of offsets and sizes beside the classes"
    )

    def emit(self, e: Emitter, prediction: Wire, target: Wire) -> Emitted:
        from engine.layers.detection.boxes import centre_point_loss

        need_boxes(prediction, target)
        return carried(centre_point_loss)(prediction, target, self.size_weight)

    def counts(self, **wires: Wire) -> Expr | None:
        return wires["target"].select(-1, 0).ge(0).sum()


class MeanAveragePrecision(Metric):
    """How well boxes are found: the area below precision against recall, averaged over the classes.

    The best boxes of all images of a split are taken from the most probable on. One is right where it
    overlaps a box of its class that no better one has taken; of several for one object only the best counts.
    """

    title = "Mean average precision"
    aliases = ("map", "object detection", "boxes", "average precision")
    formula = "mAP = mean over classes of Σ_i (R_i - R_{i-1}) max_{j ≥ i} P_j"
    source = "Everingham and others, 2010"
    traits = LossTraits(boxes=True)
    ports_in = PORTS
    overlap: float = param(
        0.5, above=0, maximum=1, doc="intersection over union from which on a box is right"
    )
    most: int = param(20, minimum=1, label="Boxes an image", doc="how many are looked at, the best ones")

    def emit(self, e: Emitter, prediction: Wire, target: Wire) -> Emitted:
        return self.of_kept(*self.kept(prediction=prediction, target=target))

    def kept(self, **wires: Wire) -> tuple[Expr, ...]:
        from engine.layers.detection.boxes import boxes_of

        need_boxes(wires["prediction"], wires["target"])
        return without_defaults(carried(boxes_of)(wires["prediction"], most=self.most)), wires["target"]

    def of_kept(self, *kept: Expr) -> Expr:
        from engine.layers.detection.boxes import mean_average_precision

        return carried(mean_average_precision)(*kept, overlap=self.overlap)
