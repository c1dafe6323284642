"""Layers that learn by a rule of their own instead of by gradients."""

from __future__ import annotations

import math
from typing import ClassVar

from engine.catalogue import Emitted, Emitter, Layer, Port, Wire, param
from engine.catalogue.axes import Axes
from engine.catalogue.symbols import Expr, carried, without_defaults
from engine.catalogue.traits import LayerTraits
from engine.errors import EmitError
from nodes.wires import need_axes, plural, sizes

SIGNS, BITS = "-1 and 1", "0 and 1"
ROW = "numbers in a row"


class RuleBearer(Layer, abstract=True):
    """A layer with an `update`; a plan lets it learn by the step `Rule`."""

    takes_axes: ClassVar[Axes] = ("features",)
    family = "rules"
    learns_by_rule = True

    def need_target(self, made: int, target: Wire) -> None:
        """Errors: `EmitError` where the target does not hold one number for each unit."""
        if math.prod(target.shape) != made:
            raise EmitError(
                f"{self.title} gives {plural(made, 'number')} for each example, but the target is "
                f"{sizes(target)}."
            )


class TaughtByRule(RuleBearer, abstract=True):
    """A layer whose rule compares its outputs with a target."""

    rule_ports = (Port("target", doc="what should come out; only the rule reads it"),)
    traits = LayerTraits(dense=True)
    units: int = param(1, minimum=1, doc="how many outputs")

    def emit_rule(self, e: Emitter, layer: Expr, **wires: Wire) -> Expr:
        self.need_target(self.units, wires["target"])
        return super().emit_rule(e, layer, **wires)


class Perceptron(TaughtByRule):
    """Outputs a sign and learns from mistakes only, by adding the example to the weights or subtracting it.

    If a straight boundary exists it is found after at most R² / γ² mistakes (Novikoff), R the length of the
    longest example and γ the margin, both with the bias as one more input of 1: 51 for AND of 0 and 1. If
    none does, as for XOR, it never rests.
    """

    aliases = ("sign unit", "threshold", "mcculloch-pitts", "rosenblatt")
    formula = "y = sign(w·x + b); on a mistake: w += η t x, b += η t"
    source = "Rosenblatt, 1958; Novikoff, 1962"
    shows = ("version space",)
    lr: float = param(1.0, above=0, label="Step", doc="factor on each change; any is as good from zero")
    targets: str = param(SIGNS, choices=(SIGNS, BITS), label="Answers", doc="the two answers it gives")

    def emit(self, e: Emitter, x: Wire) -> Emitted:
        from engine.layers.perceptron import Perceptron as Made

        need_axes(x, self, ROW)
        made = carried(Made)(x.features, self.units, lr=self.lr, low=-1 if self.targets == SIGNS else 0)
        return e.module(without_defaults(made))(x)

    def summary(self) -> str:
        return f"{plural(self.units, 'unit')} · {self.targets}"


class DeltaRule(TaughtByRule):
    """A small net that learns by the delta rule, written out by hand: error × slope × input.

    Without hidden units it is Widrow and Hoff's Adaline. With the slope of a sigmoid behind a linear output
    it does what is often printed, which is not the gradient of its loss.
    """

    title = "Delta rule"
    aliases = ("adaline", "widrow-hoff", "lms", "backpropagation by hand")
    formula = "δ = (y - t) f'(ξ), δ of a layer before = (Σ δ w) f'(ξ); w -= η · mean of δ x"
    source = "Widrow and Hoff, 1960; Rumelhart, Hinton and Williams, 1986"
    hidden: int = param(0, minimum=0, label="Hidden units", doc="sigmoids in between; 0 for none")
    lr: float = param(0.1, above=0, label="Learning rate", doc="how far each step goes")
    output: str = param("linear", choices=("linear", "sigmoid"), doc="the function of the output units")
    slope: str = param(
        "its own",
        choices=("its own", "sigmoid's"),
        label="Slope at the output",
        doc="its own gives the gradient; the sigmoid's is used by some texts also for linear outputs",
    )
    online: bool = param(False, label="Row by row", doc="change the weights after each example")
    start: str = param(
        "", label="First weights", doc="unit by unit: bias, then weights; layer by layer; empty draws them"
    )

    def emit(self, e: Emitter, x: Wire) -> Emitted:
        from engine.layers.delta_rule import DeltaRule as Made

        need_axes(x, self, ROW)
        middle = self.hidden or x.features
        wanted = self.hidden * (x.features + 1) + self.units * (middle + 1)
        made = carried(Made)(
            x.features,
            self.hidden,
            self.units,
            lr=self.lr,
            output=self.output,
            slope=self.slope,
            online=self.online,
            start=numbers_of(self.start, wanted),
        )
        return e.module(without_defaults(made))(x)

    def summary(self) -> str:
        hidden = f"{self.hidden} hidden · " if self.hidden else ""
        return f"{hidden}{plural(self.units, 'unit')} · {'row by row' if self.online else 'batch'}"


class Hopfield(RuleBearer):
    """An associative memory: it stores the rows of a batch and restores a stored row from a disturbed one.

    Storing takes one batch that holds all patterns. Its outputs are the state after so many steps and the
    energy of that state. Hebbian weights without a diagonal want one unit at a time: the energy then never
    rises, while units that are renewed all at once may swing between two states.
    """

    shows = ("energy",)
    aliases = ("associative memory", "attractor", "hebb", "newhop")
    formula = "W = Σ s sᵀ; x ← a(W x + b), again and again; E = -½ xᵀW x - b·x + Σ ∫ a⁻¹"
    source = "Hopfield, 1982 and 1984; Personnaz, Guyon and Dreyfus, 1985; Li, Michel and Porod, 1989"
    ports_out = (Port("output", doc="the state at the end"), Port("energy", doc="its energy, one number"))
    steps: int = param(20, minimum=0, maximum=10_000, doc="how often the state is renewed")
    design: str = param(
        "Hebbian",
        choices=("Hebbian", "pseudo-inverse", "saturating"),
        doc="how patterns become weights; saturating avoids false memories",
    )
    diagonal: bool = param(False, when=("design", ("Hebbian",)), doc="keep the weight of each unit to itself")
    activation: str = param(
        "saturating", choices=("saturating", "sign"), doc="a line cut off at -1 and 1, or the sign"
    )
    in_turn: bool = param(False, label="One unit at a time", doc="renew units in turn, not all at once")

    def emit(self, e: Emitter, x: Wire) -> Emitted:
        from engine.layers.hopfield import Hopfield as Made

        need_axes(x, self, ROW)
        made = carried(Made)(
            x.features,
            steps=self.steps,
            design=self.design,
            diagonal=self.diagonal,
            activation=self.activation,
            in_turn=self.in_turn,
        )
        layer = e.module(without_defaults(made))
        output, energy = e.unpack(layer(x), "state", "energy")
        return {"output": output, "energy": energy}

    def summary(self) -> str:
        return f"{self.design} · {plural(self.steps, 'step')}"


class RBM(RuleBearer):
    """Learns hidden causes of binary data, until what it generates looks like the data.

    Contrastive divergence compares the data with samples after `k` Gibbs steps; the loss that is shown is the
    squared error of the reconstruction, which falls although training does not minimise it. The
    pseudo-likelihood is measured once an epoch, on all rows of a split.
    """

    title = "Restricted Boltzmann machine"
    shows = ("gibbs",)
    scores = ("pseudo_likelihood",)
    aliases = ("rbm", "contrastive divergence", "cd", "gibbs", "harmonium")
    formula = "p(h = 1 | v) = σ(W v + b); W += η (h vᵀ of the data - h vᵀ of the samples)"
    source = "Smolensky, 1986; Hinton, 2002; persistent: Tieleman, 2008"
    ports_out = (
        Port("output", doc="probabilities of the hidden units"),
        Port("reconstruction", doc="the input as it is reconstructed from them"),
    )
    hidden: int = param(100, minimum=1, label="Hidden units", doc="causes it may find")
    lr: float = param(0.01, above=0, label="Learning rate", doc="how far each step goes")
    k: int = param(1, minimum=1, maximum=1000, label="Gibbs steps", doc="the k of CD-k")
    chains: int = param(
        0, minimum=0, label="Persistent chains", doc="chains that go on between batches; 0 starts at the data"
    )

    def emit(self, e: Emitter, x: Wire) -> Emitted:
        from engine.layers.boltzmann import RBM as Made

        need_axes(x, self, ROW)
        made = carried(Made)(x.features, self.hidden, lr=self.lr, k=self.k, chains=self.chains)
        layer = e.module(without_defaults(made))
        output, reconstruction = e.unpack(layer(x), "hidden", "reconstruction")
        return {"output": output, "reconstruction": reconstruction}

    def summary(self) -> str:
        kind = f"persistent CD-{self.k}" if self.chains else f"CD-{self.k}"
        return f"{self.hidden:,} hidden · {kind}"


class Oja(RuleBearer):
    """Linear units that find the principal components of centred data by a Hebbian rule with decay."""

    title = "Oja's rule"
    aliases = ("hebbian", "pca", "principal components", "sanger")
    formula = "y = W x; W += η (y xᵀ - lower(y yᵀ) W)"
    source = "Oja, 1982; Sanger, 1989"
    traits = LayerTraits(dense=True)
    units: int = param(1, minimum=1, doc="how many components")
    lr: float = param(0.01, above=0, label="Learning rate", doc="how far each step goes")

    def emit(self, e: Emitter, x: Wire) -> Emitted:
        from engine.layers.oja import Oja as Made

        need_axes(x, self, ROW)
        return e.module(without_defaults(carried(Made)(x.features, self.units, lr=self.lr)))(x)

    def summary(self) -> str:
        return plural(self.units, "component")


def numbers_of(text: str, wanted: int) -> tuple[float, ...]:
    """The numbers in a text, apart by spaces, commas or semicolons; none for an empty one.

    Errors: `EmitError` where one is no number, or where there are not `wanted` of them.
    """
    found = []
    for word in text.replace(",", " ").replace(";", " ").split():
        try:
            found.append(float(word))
        except ValueError:
            raise EmitError(f"The first weights are numbers; {word[:20]!r} is none.") from None
        if not math.isfinite(found[-1]):
            raise EmitError("The first weights must be finite numbers.")
    if found and len(found) != wanted:
        raise EmitError(f"This net has {wanted} weights and biases, but {len(found)} are given.")
    return tuple(found)
