"""What the engine must know of a node type beyond its ports and its line: traits that the type declares.

A type declares those that differ: `traits = LayerTraits(squashes=Squash.SIGMOID)`. Nothing in the engine asks
for a type by its name.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, StrEnum


class Answer(StrEnum):
    """What a prediction is, for the loss or metric that compares it with a target."""

    CLASSES = "classes"  # a score for each class against the number of the right one
    YES_NO = "yes or no"  # one logit against 0 and 1
    VALUES = "values"  # numbers against numbers


class Squash(Enum):
    """A function that squeezes numbers between two ends: its name among activations, and the ends.

    A softmax has none, for what it makes of one number depends on the others.
    """

    SIGMOID = "sigmoid", (0.0, 1.0)
    TANH = "tanh", (-1.0, 1.0)
    HARD_TANH = "hard tanh", (-1.0, 1.0)
    SOFTMAX = "softmax", None

    def __init__(self, word: str, ends: tuple[float, float] | None) -> None:
        self.word = word
        self.ends = ends


class Pieces(Enum):
    """A function that is straight but at its joints: its name among activations, and where they are."""

    RELU = "ReLU", (0.0,)
    LEAKY_RELU = "leaky ReLU", (0.0,)
    HARD_TANH = "hard tanh", (-1.0, 1.0)

    def __init__(self, word: str, joints: tuple[float, ...]) -> None:
        self.word = word
        self.joints = joints


class Pool(StrEnum):
    """What a pool keeps of the numbers of a window."""

    MAX = "max"
    MIN = "min"
    MEAN = "mean"
    LP = "Lp"


class FileForm(Enum):
    """What a file or folder of the user holds; one type of data node reads each."""

    TABLE = "a table"
    SERIES = "a series"
    TEXT = "a text"
    LABELLED = "texts with a class each"
    PAIRS = "pairs of texts"
    ANNOTATED = "annotated texts"
    GRAPH = "a list of edges"
    GRAPHS = "a folder of graphs"
    POINTS = "point clouds"
    IMAGES = "images"
    ARRAYS = "arrays"


class Preparation(StrEnum):
    """What a node does to data before the network learns from them, as the checks of data look for it."""

    SCALED = "scaled"
    FILLED = "filled"  # no number is missing
    WHOLE = "whole rows"  # rows that lack a number are left out
    DISTINCT = "distinct rows"  # rows that repeat another are left out
    VARYING = "varying"  # numbers that never change are left out
    BALANCED = "balanced"  # every class comes equally often


class Player(Enum):
    """Which of two adversaries a loss trains."""

    DISCRIMINATOR = "discriminator"
    GENERATOR = "generator"


@dataclass(frozen=True, slots=True)
class ClassCount:
    """The parameter of a layer that says how many classes may arrive at `port`, and what it counts.

    `exact` where more than there are is wrong, too, such as for a layer that draws one of them. `whose` is
    what has so many, where that isn't the layer itself.
    """

    port: str
    parameter: str
    unit: str
    exact: bool = False
    whose: str = ""


@dataclass(frozen=True, slots=True)
class LayerTraits:
    """What is known of a layer.

    `keeps_values`: its output has the numbers of its input in their order, at most in another shape; some
    may be dropped while training. `squashes`: the function that it is; one that is chosen as its
    `activation` needs no mention. `pieces`: the same for a function of straight pieces. `class_count`:
    how many classes may come in. `units`: the parameter that says how many numbers leave it along the
    last axis, and may be changed. `channels_first`: what it gives of a sequence is (C, L). `pools`: what
    it keeps of each window of its `size`. `dense`: it keeps one matrix of weights and biases, or
    `signals` of several. `matrix`: the parameters that are the sizes of its weight matrix, which a layer
    that `takes_matrix` may use as its own. `batch_statistics`: it goes by the statistics of a batch in
    training and by those that it has kept afterwards. `holds_rows`: its buffer `rows` (K, inputs) has the
    training rows on which its answer rests. `patch`: the parameter that is the size, height × width, of
    the patches that it cuts an image into, row by row. `leads`: how many steps it puts before a sequence.
    `part`: what its parameters are of a network, where that isn't the family of the node.
    """

    keeps_values: bool = False
    squashes: Squash | None = None
    pieces: Pieces | None = None
    class_count: ClassCount | None = None
    units: str = ""
    channels_first: bool = False
    pools: Pool | None = None
    dense: bool = False
    matrix: tuple[str, str] | None = None
    takes_matrix: bool = False
    batch_statistics: bool = False
    holds_rows: bool = False
    patch: str = ""
    leads: int = 0
    part: str = ""


@dataclass(frozen=True, slots=True)
class LossTraits:
    """What is known of a loss or a metric.

    `answers`: what it takes a prediction for; a metric of classes takes one score of the target's shape for a
    yes where it is above the middle of what it can be, 0 for a plain score. `contains`: the function that a
    loss applies itself, so that plain scores must come. `class_weights`: the parameter that weighs classes,
    or a yes. `trains`: the adversary whose loss it is. `saturates`: the parameter and its value with which a
    generator's loss loses its slope where the discriminator is sure. `mean_probability`: a metric is the mean
    of what its scores stand for. `unpaired`: it compares what comes in as wholes, so that no row of one input
    belongs to a row of another. `blank`: of a loss of labels along a sequence the parameter that
    names the label of steps at which none begins. `boxes`: it compares a grid of scores
    and sizes with boxes.
    """

    answers: Answer = Answer.VALUES
    contains: Squash | None = None
    class_weights: str = ""
    trains: Player | None = None
    saturates: tuple[str, str] | None = None
    mean_probability: bool = False
    unpaired: bool = False
    blank: str = ""
    boxes: bool = False


def pieces_of(made: object) -> Pieces | None:
    """The function of straight pieces that a layer's numbers have passed last."""
    chosen, traits = getattr(made, "activation", None), getattr(made, "traits", None)
    own = traits.pieces if isinstance(traits, LayerTraits) else None
    return next((one for one in Pieces if one.word == chosen), own)
