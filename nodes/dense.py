"""Layers that connect every input with every unit, and look-up tables."""

from __future__ import annotations

from engine.catalogue import Emitted, Emitter, Layer, Wire, param
from engine.catalogue.axes import Axes, looked_up
from engine.catalogue.params import Floats
from engine.catalogue.symbols import carried, nn, torch, without_defaults
from engine.catalogue.training.initialisers import init_param, init_scale_param, initialise
from engine.catalogue.traits import ClassCount, LayerTraits
from engine.errors import EmitError
from nodes.activation import CHOICES, NONE, activate
from nodes.wires import need_axes, plural, typed_rows


class Linear(Layer):
    """Every unit is a weighted sum of all inputs plus a bias: y = Wx + b."""

    common = True
    family = "dense"
    aliases = ("dense", "fc", "fully connected", "perceptron", "affine")
    formula = "y = f(W x + b)"
    source = "Rosenblatt, 1958; Rumelhart, Hinton and Williams, 1986"
    traits = LayerTraits(units="units", dense=True, takes_matrix=True)
    places_from = 2
    units: int = param(64, minimum=1, doc="how many outputs")
    bias: bool = param(True, doc="add a learned offset to each unit")
    activation: str = param(NONE, choices=CHOICES, doc="function applied to each unit")
    init: str = init_param()
    init_scale: float = init_scale_param()

    def emit(self, e: Emitter, x: Wire) -> Emitted:
        linear = e.module(without_defaults(nn.Linear(x.features, self.units, bias=self.bias)))
        e.begin(initialise(linear, self.init, self.init_scale, biases=("bias",) if self.bias else ()))
        return activate(self.activation, linear(x))

    def summary(self) -> str:
        units = f"{self.units:,} unit" + ("" if self.units == 1 else "s")
        return units if self.activation == NONE else f"{units} · {self.activation}"


class TypedLinear(Layer):
    """A dense layer whose first weights you type, to set a network by a formula or by hand.

    A plan that trains it moves them. A unit with weight 1 and bias -t bends at t where ReLU is behind it; of
    such units, one for each joint, the next layer makes any function of straight pieces.
    """

    family = "dense"
    title = "Typed linear"
    aliases = ("hand-set weights", "dense", "fixed weights", "constructed network", "formula")
    formula = "y = f(W x + b), with W and b as typed"
    source = "Arora, Basu, Mianjy and Mukherjee, 2018"
    takes_axes = ("features",)
    traits = LayerTraits(dense=True)
    rows: str = param(
        "0 1; 0 -1",
        label="Units",
        doc="of each unit its bias, then a weight for each input; a semicolon before the next",
    )
    activation: str = param(NONE, choices=CHOICES, doc="function applied to each unit")

    def emit(self, e: Emitter, x: Wire) -> Emitted:
        from engine.layers.typed_linear import TypedLinear as Made

        need_axes(x, self)
        rows = typed_rows(self.rows, "A matrix of weights")
        if len(rows[0]) != x.features + 1:
            raise EmitError(
                f"Each unit has a bias and {plural(x.features, 'weight')} here, but "
                f"{plural(len(rows[0]), 'number')} are typed."
            )
        return activate(self.activation, e.module(carried(Made)(self.rows))(x))

    def summary(self) -> str:
        units = plural(self.rows.count(";") + 1, "unit")
        return units if self.activation == NONE else f"{units} · {self.activation}"


class McCullochPitts(Layer):
    """Gives 1 where the weighted sum of its inputs reaches a threshold, else 0; it learns nothing.

    Of inputs 0 and 1, weights of 1 and a threshold of 1 make OR, one of as many as there are inputs AND; a
    weight of -1 and a threshold of 0 make NOT. Two layers of units make XOR, and any other logical function.
    """

    family = "dense"
    title = "McCulloch-Pitts unit"
    aliases = ("threshold", "logic", "gate", "artificial neuron", "step")
    formula = "y = 1 where w·x ≥ θ, else 0"
    source = "McCulloch and Pitts, 1943"
    takes_axes = ("features",)
    weights: Floats = param((1.0,), doc="one for each input, or one for all; negative ones inhibit")
    threshold: float = param(1.0, label="θ", doc="the sum from which on it gives 1")

    def emit(self, e: Emitter, x: Wire) -> Emitted:
        if len(self.weights) not in (1, x.features):
            raise EmitError(f"There are {len(self.weights)} weights, but {x.features} inputs come in.")
        alike = len(self.weights) == 1
        weights = self.weights[0] if alike else torch.tensor(list(self.weights), device=x.device)
        weighted = x if self.weights == (1,) else weights * x
        return weighted.sum(-1, keepdim=True).ge(self.threshold).float()

    def summary(self) -> str:
        return f"w {', '.join(f'{one:g}' for one in self.weights)} · θ {self.threshold:g}"


class GatedLinear(Layer):
    """Two dense layers side by side, one of which opens and closes the other number by number.

    With SiLU it is the first half of SwiGLU, with GELU of GEGLU, with the sigmoid the gated linear unit.
    """

    family = "dense"
    title = "Gated linear"
    aliases = ("swiglu", "geglu", "glu", "gated linear unit", "feed forward", "llama")
    formula = "y = f(W x + b) · (V x + c)"
    source = "Dauphin, Fan, Auli and Grangier, 2017; in transformers: Shazeer, 2020"
    places_from = 2
    traits = LayerTraits(units="units")
    units: int = param(64, minimum=1, doc="how many outputs")
    bias: bool = param(True, doc="add a learned offset to each unit")
    activation: str = param("SiLU", choices=CHOICES, doc="function of the gate")

    def emit(self, e: Emitter, x: Wire) -> Emitted:
        made = without_defaults(nn.Linear(x.features, self.units, bias=self.bias))
        gate, values = e.module(made, "gate"), e.module(made, "values")
        return activate(self.activation, gate(x)) * values(x)

    def summary(self) -> str:
        return f"{self.units:,} unit{'' if self.units == 1 else 's'} · {self.activation}"


class DropConnect(Layer):
    """A dense layer that drops a random fraction of its weights, not of its inputs, for each batch."""

    family = "dense"
    title = "DropConnect"
    aliases = ("dense", "dropped weights", "linear")
    formula = "y = f((M · W) x / (1 - p) + b), M = 0 with probability p, else 1; all of W after training"
    source = "Wan, Zeiler, Zhang, LeCun and Fergus, 2013"
    traits = LayerTraits(units="units")
    places_from = 2
    units: int = param(64, minimum=1, doc="how many outputs")
    share: float = param(
        0.5, minimum=0, below=1, label="Drop rate", doc="probability of each weight to be dropped"
    )
    bias: bool = param(True, doc="add a learned offset to each unit")
    activation: str = param(NONE, choices=CHOICES, doc="function applied to each unit")
    init: str = init_param()
    init_scale: float = init_scale_param()

    def emit(self, e: Emitter, x: Wire) -> Emitted:
        from engine.layers.noisy import DropConnect as Made

        made = carried(Made)(x.features, self.units, self.share, bias=self.bias)
        linear = e.module(without_defaults(made))
        e.begin(initialise(linear, self.init, self.init_scale, biases=("bias",) if self.bias else ()))
        return activate(self.activation, linear(x))

    def summary(self) -> str:
        text = f"{self.units:,} unit{'' if self.units == 1 else 's'} · keeps {100 * (1 - self.share):g} %"
        return text if self.activation == NONE else f"{text} · {self.activation}"


class NoisyLinear(Layer):
    """A dense layer whose weights get new noise for each batch, so that training finds flat valleys."""

    family = "dense"
    title = "Noisy weights"
    aliases = ("dense", "weight noise", "linear", "gaussian noise")
    formula = "y = f((W + N(0, s²)) x + b); W alone after training"
    source = "An, 1996; Graves, 2011"
    traits = LayerTraits(units="units")
    places_from = 2
    units: int = param(64, minimum=1, doc="how many outputs")
    deviation: float = param(0.05, minimum=0, label="Standard deviation", doc="of the noise on each weight")
    bias: bool = param(True, doc="add a learned offset to each unit")
    activation: str = param(NONE, choices=CHOICES, doc="function applied to each unit")
    init: str = init_param()
    init_scale: float = init_scale_param()

    def emit(self, e: Emitter, x: Wire) -> Emitted:
        from engine.layers.noisy import NoisyLinear as Made

        made = carried(Made)(x.features, self.units, self.deviation, bias=self.bias)
        linear = e.module(without_defaults(made))
        e.begin(initialise(linear, self.init, self.init_scale, biases=("bias",) if self.bias else ()))
        return activate(self.activation, linear(x))

    def summary(self) -> str:
        text = f"{self.units:,} unit{'' if self.units == 1 else 's'} · deviation {self.deviation:g}"
        return text if self.activation == NONE else f"{text} · {self.activation}"


class Embedding(Layer):
    """A table with one learned vector for each word or category; the input is whole numbers."""

    common = True
    family = "dense"
    aliases = ("lookup", "token", "word vectors")
    takes_whole = True
    formula = "y = W[x], row x of the table"
    source = "Bengio, Ducharme, Vincent and Jauvin, 2003"
    traits = LayerTraits(
        class_count=ClassCount("x", "entries", "rows", whose="the table"),
        matrix=("entries", "size"),
        part="embedding",
    )
    places_from = 1
    entries: int = param(1000, minimum=1, label="Vocabulary", doc="how many different words or categories")
    size: int = param(64, minimum=1, label="Vector size", doc="numbers in each vector")
    padding: int | None = param(
        None, minimum=0, label="Filler", doc="entry that only fills short texts: all zeros, never learned"
    )
    init: str = init_param()
    init_scale: float = init_scale_param()

    def axes_after(self, axes: Axes, rank: int) -> Axes:
        return looked_up(axes, rank)

    def emit(self, e: Emitter, x: Wire) -> Emitted:
        if x.dtype != "int64":
            raise EmitError("Embedding needs whole numbers, such as words or classes; measurements come in.")
        if self.padding is not None and self.padding >= self.entries:
            raise EmitError(f"The filler is entry {self.padding}, but the last is {self.entries - 1}.")
        made = nn.Embedding(self.entries, self.size, padding_idx=self.padding)
        table = e.module(without_defaults(made))
        first = initialise(table, self.init, self.init_scale, biases=())
        if first and self.padding is not None:  # torch's own way leaves it zero, the others draw it too
            first.append(nn.init.zeros_(table.weight[self.padding]))
        e.begin(first)
        return table(x)

    def summary(self) -> str:
        text = f"{self.entries:,} × {self.size}"
        return text if self.padding is None else f"{text} · filler {self.padding}"
