"""Layers for graphs and for sets: sums over neighbours, and one row for all nodes or points."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from engine.catalogue import Emitted, Emitter, Layer, Port, Wire, param
from engine.catalogue.symbols import Expr, carried, nn, without_defaults
from engine.catalogue.training.initialisers import init_param, init_scale_param, initialise
from engine.catalogue.traits import LayerTraits
from engine.errors import EmitError
from nodes.activation import CHOICES, NONE, activate
from nodes.wires import sizes as shown

MEAN, SUM, MAXIMUM = "mean", "sum", "maximum"
SYMMETRIC = "symmetric"
EDGES = Port("edges", doc="edges of graphs side by side, or the adjacency matrix of graphs filled up")
WEIGHTS = Port("weights", optional=True, doc="of the edges; the matrix holds its own")


class AlongEdges(Layer, abstract=True):
    """Reads what comes into each node along the edges."""

    family = "graphs"
    takes_whole = True
    ports_in = (Port("nodes", doc="features of each node"), EDGES, WEIGHTS)

    def _packed(self, nodes: Wire, edges: Wire, weights: Wire | None) -> bool:
        """Whether graphs lie side by side. Errors: `EmitError` where the wires do not fit each other."""
        if nodes.dtype == "int64" or len(nodes.shape) != (1 if nodes.rows else 2):
            raise EmitError(f"{self.title} needs features of nodes, but {shown(nodes)} comes in.")
        if edges.rows == "edges" and edges.dtype == "int64":
            if nodes.rows != "nodes":
                raise EmitError(f"{self.title} needs the nodes of the same graphs, one row for each node.")
            if weights is not None and (weights.rows, weights.shape) != ("edges", ()):
                raise EmitError(
                    f"{self.title} needs one weight for each edge, but {shown(weights)} comes in."
                )
            return True
        if nodes.rows:
            raise EmitError(f"{self.title} needs the edges of the same graphs, but {shown(edges)} comes in.")
        count = nodes.shape[0]
        if edges.rows or edges.dtype == "int64" or edges.shape != (count, count):
            raise EmitError(
                f"{self.title} needs an adjacency matrix with a row and a column for each of the {count:,} "
                f"nodes, but {shown(edges)} comes in."
            )
        if weights is not None:
            raise EmitError(f"{self.title}: the adjacency matrix holds the weights; take the wire away.")
        return False


class NeighbourSum(AlongEdges):
    """Adds up, or averages, the features of the nodes from which edges lead to each node."""

    title = "Neighbour sum"
    aliases = ("message passing", "aggregate", "adjacency", "graph", "gnn")
    formula = "yᵢ = Σⱼ wⱼᵢ xⱼ over the edges j → i; mean: that over Σⱼ |wⱼᵢ|"
    source = "Scarselli, Gori, Tsoi, Hagenbuchner and Monfardini, 2009"
    how: str = param(SUM, choices=(SUM, MEAN), doc="what is made of the neighbours; 0 for a node without any")

    def emit(self, e: Emitter, nodes: Wire, edges: Wire, weights: Wire | None = None) -> Emitted:
        from engine.layers import graph_layers as made

        if not self._packed(nodes, edges, weights):
            if self.how == SUM:
                return edges @ nodes
            return carried(made.neighbour_means_padded)(nodes, edges)
        along = made.neighbour_sums if self.how == SUM else made.neighbour_means
        return carried(along)(nodes, edges, *(() if weights is None else (weights,)))

    def summary(self) -> str:
        return f"{self.how} of the neighbours"


class GraphConvolution(AlongEdges):
    """A dense layer on each node together with its neighbours, with one set of weights for all nodes."""

    title = "Graph convolution"
    aliases = ("gcn", "kipf", "graph network", "gnn", "message passing", "conv")
    formula = "y = f(D^(-1/2) (A + I) D^(-1/2) x W + b), D: the degrees with the node itself"
    source = "Kipf and Welling, 2017"
    traits = LayerTraits(dense=True)
    units: int = param(16, minimum=1, doc="how many outputs each node has")
    how: str = param(
        SYMMETRIC,
        choices=(SYMMETRIC, MEAN, SUM),
        label="Neighbours",
        doc="symmetric: each edge counts by one over the root of both ends' degrees; mean: by one over the "
        "degree of where it leads to; sum: all alike, so that degrees are seen",
    )
    bias: bool = param(True, doc="add a learned offset to each unit")
    activation: str = param(NONE, choices=CHOICES, doc="function applied to each unit")
    init: str = init_param()
    init_scale: float = init_scale_param()

    def emit(self, e: Emitter, nodes: Wire, edges: Wire, weights: Wire | None = None) -> Emitted:
        from engine.layers import graph_layers as made

        packed = self._packed(nodes, edges, weights)
        linear = e.module(without_defaults(nn.Linear(nodes.features, self.units, bias=self.bias)))
        e.begin(initialise(linear, self.init, self.init_scale, biases=("bias",) if self.bias else ()))
        options: dict[str, Any] = {} if self.how == SYMMETRIC else {"how": self.how}
        if packed:
            given = (nodes, edges) if weights is None else (nodes, edges, weights)
            around = carried(made.convolved)(*given, **options)
        else:
            around = carried(made.convolved_padded)(nodes, edges, **options)
        return activate(self.activation, linear(around))

    def summary(self) -> str:
        units = f"{self.units:,} unit" + ("" if self.units == 1 else "s")
        return units if self.activation == NONE else f"{units} · {self.activation}"


class GraphReadout(Layer):
    """Makes one row for each graph out of those of its nodes, whatever their number and order."""

    title = "Graph read-out"
    family = "graphs"
    takes_whole = True
    aliases = ("global pool", "graph mean", "graph pooling", "gnn", "readout")
    formula = "y = (1/n) Σᵢ xᵢ over the nodes i of each graph; or their sum, or largest"
    source = "Duvenaud and others, 2015; sum: Xu, Hu, Leskovec and Jegelka, 2019"
    ports_in = (
        Port("nodes", doc="rows of the nodes of graphs side by side"),
        Port("sizes", doc="how many nodes each graph has"),
    )
    how: str = param(MEAN, choices=(MEAN, SUM, MAXIMUM), doc="what is made of the nodes' features")

    def emit(self, e: Emitter, nodes: Wire, sizes: Wire) -> Emitted:
        from engine.layers import graph_layers as made

        if nodes.rows != "nodes" or nodes.dtype == "int64" or len(nodes.shape) != 1:
            raise EmitError(
                f"{self.title} needs features of nodes of graphs side by side, but {shown(nodes)} comes in; "
                "of graphs that are filled up, take Masked pool."
            )
        if sizes.rows or sizes.shape or sizes.dtype != "int64":
            raise EmitError(f"{self.title} needs the number of nodes of each graph as sizes.")
        ways = {MEAN: made.graph_means, SUM: made.graph_sums, MAXIMUM: made.graph_maxima}
        return carried(ways[self.how])(nodes, sizes)

    def summary(self) -> str:
        return f"{self.how} of the nodes"


class MaskedPool(Layer):
    """Makes one row out of many, such as points, tokens or nodes, and leaves out those that only fill up."""

    takes_axes = ("places", "features")
    title = "Masked pool"
    family = "graphs"
    takes_whole = True
    aliases = ("masked mean", "global pool", "pointnet", "deep sets", "set", "max")
    formula = "y = (1/n) Σₜ xₜ over the n places t whose mask is not 0; or their sum, or largest"
    source = "sets: Zaheer and others, 2017; maximum: Qi, Su, Mo and Guibas, 2017"
    ports_in = (
        Port("x", doc="rows of features, such as points × features"),
        Port("mask", optional=True, doc="0 leaves a row out; rows that only fill up are left out anyway"),
    )
    reads_lengths = True
    how: str = param(MEAN, choices=(MEAN, SUM, MAXIMUM), doc="what is made of the rows")

    def asks_for_lengths(self, ports: Collection[str]) -> bool:
        return "mask" not in ports

    def emit(self, e: Emitter, x: Wire, mask: Wire | None = None) -> Emitted:
        from engine.layers import graph_layers as made
        from engine.layers.ragged import places_there

        if x.rows or x.dtype == "int64" or len(x.shape) != 2:
            raise EmitError(f"{self.title} needs rows × features, but {shown(x)} comes in.")
        if mask is None and not x.ragged:
            raise EmitError(f"{self.title} needs a mask, for nothing says which rows only fill up.")
        if mask is not None and (mask.rows or mask.shape != x.shape[:1]):
            raise EmitError(
                f"{self.title} needs a mask of {x.shape[0]:,} numbers, one a row, but {shown(mask)} comes in."
            )
        ways = {MEAN: made.masked_means, SUM: made.masked_sums, MAXIMUM: made.masked_maxima}
        there: Expr = x.sum(-1) if mask is None else mask  # any numbers, where only sizes are looked for
        if mask is None and x.lengths is not None:
            there = carried(places_there)(x.lengths, x.size(1))
        return carried(ways[self.how])(x, there)

    def summary(self) -> str:
        return f"{self.how} of the rows"
